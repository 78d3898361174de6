#!/usr/bin/env python3
"""Runs clang-tidy-22 with the checks of .clang-tidy for a limited time: first on the files that changed since the last
release (or in the last 30 commits), then on the others, in an order that the commit chooses.

  clang_tidy.py --build BUILD [--minutes M] [FILE...]

Exit code: 0 nothing found, 1 findings, or no file was checked. Files that the time did not suffice for are counted in
the last line.
"""
import argparse, atexit, concurrent.futures, hashlib, json, os, re, shutil, subprocess, sys, tempfile, time

PRECOMPILED = re.compile(r"-Winvalid-pch|-Xclang -include(?:-pch)? -Xclang \S+")


def git(*arguments):
    result = subprocess.run(["git", *arguments], capture_output=True, text=True)
    return result.stdout.strip() if result.returncode == 0 else ""


def changed_files():
    base = git("describe", "--tags", "--abbrev=0") or git("rev-list", "--max-count=30", "HEAD").splitlines()[-1]
    return set(git("diff", "--name-only", base, "HEAD").splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    with open(os.path.join(options.build, "compile_commands.json")) as f:
        entries = json.load(f)
    known = {os.path.relpath(entry["file"]) for entry in entries}
    known = {path for path in known if not path.startswith(("build", "tests"))}
    # Without precompiled headers, which would hide that a file lacks an include.
    database = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, database)
    for entry in entries:
        entry["command"] = PRECOMPILED.sub("", entry["command"])
    with open(os.path.join(database, "compile_commands.json"), "w") as f:
        json.dump(entries, f)
    commit = git("rev-parse", "HEAD")
    changed = set() if options.files else changed_files()
    order = sorted(options.files or known,
                   key=lambda p: (p not in changed, hashlib.sha256((commit + p).encode()).digest()))
    deadline = time.monotonic() + 60 * options.minutes

    def check(path):
        if time.monotonic() > deadline:
            return path, None
        result = subprocess.run(["clang-tidy-22", "--quiet", "-p", database, path], capture_output=True, text=True)
        if result.returncode == 0 and "warning:" not in result.stdout:
            return path, ""
        # Without findings: clang-tidy itself failed, and says why on standard error.
        said = result.stdout if re.search(r"(?:warning|error):", result.stdout) else result.stdout + result.stderr
        return path, said or f"{path}: clang-tidy ended with {result.returncode}\n"

    skipped, findings = 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for _, output in pool.map(check, order):
            skipped += output is None
            if output:
                findings += 1
                print(output, end="", flush=True)
    checked = len(order) - skipped
    print(f"clang-tidy: {checked} of {len(order)} files checked, {findings} with findings")
    return 1 if findings or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
