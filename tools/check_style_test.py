#!/usr/bin/env python3
"""The checks of check_style.py on lists of files in READMEs."""
import os
import subprocess
import tempfile
import unittest

import check_style


class Lists(unittest.TestCase):

    def messages(self, check, readme, *others):
        """What `check` reports on folder/README.md with these lines, in a repository that has these files, too."""
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as root:
            os.chdir(root)
            try:
                subprocess.run(["git", "init", "--quiet"], check=True)
                for path, text in [("README.md", readme)] + [(other, "") for other in others]:
                    os.makedirs(os.path.dirname("folder/" + path), exist_ok=True)
                    with open("folder/" + path, "w", encoding="utf-8") as file:
                        file.write(text)
                return [f"{line}: {message}" for _, line, message in check("folder/README.md")]
            finally:
                os.chdir(before)

    def test_a_file_has_one_row_of_a_table(self):
        rows = "| file | what |\n|---|---|\n| [`a.h`](a.h) | one |\n| [`b.h`](b.h), `c.h` | two |\n"
        self.assertEqual(self.messages(check_style.check_rows, rows + "| `d.h` | mentions [`a.h`](a.h) |\n"), [])
        self.assertEqual(self.messages(check_style.check_rows, rows + "\nAnother table:\n\n" + rows), [])
        self.assertEqual(self.messages(check_style.check_rows, rows + "| `a.h` | three |\n| [c](./c.h) | four |\n"),
                         ["5: 'a.h' has a row already, in line 3", "6: 'c.h' has a row already, in line 4"])

    def test_results_are_listed_newest_first(self):
        rows = "| result | what |\n|---|---|\n| [2026-02-01, b](b.md) | |\n| [2026-02-01, a](a.md) | |\n"
        self.assertEqual(self.messages(check_style.check_rows, rows + "\n" + rows), [])
        self.assertEqual(self.messages(check_style.check_rows, rows + "| [2026-02-02, c](c.md) | |\n"),
                         ["5: 2026-02-02 is listed after 2026-02-01: newest first"])

    def test_a_table_of_files_names_all_files(self):
        rows = "| file | what |\n|---|---|\n| `x.h`, `print_{a,b}`, `on_*` | |\n"
        files = ["x.h", "x.cpp", "print_a.cpp", "print_b.cpp", "on_c.cpp", "notes.md", "below/y.cpp"]
        self.assertEqual(self.messages(check_style.check_completeness, rows, *files), [])
        self.assertEqual(self.messages(check_style.check_completeness, rows, *files, "z.py"),
                         ["1: it does not name 'z.py'"])

    def test_a_table_of_results_names_all_results(self):
        rows = "| result | what |\n|---|---|\n| [2026-02-01, b](2026-02-01-b.md) | |\n"
        self.assertEqual(self.messages(check_style.check_completeness, rows, "2026-02-01-b.md", "x.py"), [])
        self.assertEqual(self.messages(check_style.check_completeness, rows, "2026-02-01-b.md", "2026-02-02-c.md"),
                         ["1: it does not name '2026-02-02-c.md'"])

    def test_contents_of_folders_name_all_files_of_those_without_a_readme(self):
        rows = "| folder | contents |\n|---|---|\n| `below/` | `x` |\n"
        files = ["x.h", "below/x.h", "own/README.md", "own/y.cpp"]
        self.assertEqual(self.messages(check_style.check_completeness, rows, *files), [])
        self.assertEqual(self.messages(check_style.check_completeness, rows, *files, "below/z.cpp", "below/in/z.c"),
                         ["1: it does not name 'below/in/z.c'", "1: it does not name 'below/z.cpp'"])
        # A table that only says what folders are for.
        rows = rows.replace("contents", "what")
        self.assertEqual(self.messages(check_style.check_completeness, rows, *files, "below/z.cpp"), [])


if __name__ == "__main__":
    unittest.main()
