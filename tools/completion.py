#!/usr/bin/env python3
"""Writes the shells' completion of `tessera` from its help texts.

  completion.py PROGRAM bash|zsh|fish [-o FILE]
  completion.py PROGRAM --check FILE...

A command is completed from the list in `tessera --help`, an option from `tessera COMMAND --help`, anything else as a
file name. `--check` says which commands and options of the help texts are missing in the files.
"""
import argparse, re, subprocess, sys

OPTION_NAME = re.compile(r"--?[A-Za-z][A-Za-z0-9-]*")
COMMAND_LINE = re.compile(r"^  ([a-z]+)\s+(\S.*)$")


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands_of(program):
    """[(command, description, [(option, description)])]"""
    result = []
    for line in help_of(program).splitlines():
        match = COMMAND_LINE.match(line)
        if match:
            result.append((match[1], match[2], options_of(help_of(program, match[1]))))
    return result


def options_of(text):
    """[(option, description)] of lines such as `  -o,--output TEXT   what it does`. Long names push the description to
    the next line."""
    options, waiting = {}, []
    for line in text.splitlines():
        if line.startswith("  -"):
            left, _, description = re.sub(r"\s{2,}", "\n", line.strip(), count=1).partition("\n")
            names = OPTION_NAME.findall(left.split()[0])
            if not description and left.startswith("-") and " " in left and not left.split()[1].isupper():
                description = left.split(None, 1)[1]
            waiting = [] if description else names
        elif line.startswith("      ") and waiting:
            names, description, waiting = waiting, line.strip(), []
        else:
            waiting = []
            continue
        for name in names:
            options[name] = options.get(name) or description
    return sorted(options.items())


def bash(commands):
    cases = "\n".join(f"    {name}) words='{' '.join(o for o, _ in options)}' ;;" for name, _, options in commands)
    return f"""# bash completion of tessera; made by tools/completion.py
_tessera() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{" ".join(name for name, _, _ in commands)}' -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
    *) return ;;
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
  esac
}}
complete -o default -F _tessera tessera
"""


def zsh(commands):
    def quoted(name, description):
        return "'" + (name + ":" + description).replace("'", "'\\''") + "'"

    names = "\n".join(f"    {quoted(name, description)}" for name, description, _ in commands)
    cases = "\n".join(f"    {name}) options=(\n" + "\n".join(f"      {quoted(o, d)}" for o, d in options) + "\n    ) ;;"
                      for name, _, options in commands)
    return f"""#compdef tessera
# zsh completion of tessera; made by tools/completion.py
_tessera() {{
  local -a commands options
  commands=(
{names}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
{cases}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe option options
  else
    _files
  fi
}}
_tessera "$@"
"""


def fish(commands):
    def quoted(text):
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["# fish completion of tessera; made by tools/completion.py"]
    for name, description, _ in commands:
        lines.append(f"complete -c tessera -n __fish_use_subcommand -f -a {name} -d {quoted(description)}")
    for name, _, options in commands:
        for option, description in options:
            # As arguments: fish's own kinds of options do not know -long-name.
            condition = f"__fish_seen_subcommand_from {name}; and string match -q -- \"-*\" (commandline -ct)"
            lines.append(f"complete -c tessera -n '{condition}' -a {quoted(option)} -d {quoted(description)}")
    return "\n".join(lines) + "\n"


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def check(program, files):
    """Looks for every option-like word of the help texts, not only for those that options_of() recognises."""
    missing = []
    for path in files:
        with open(path) as f:
            written = f.read()
        words = set(re.findall(r"(?<![\w-])-{0,2}[A-Za-z][\w-]*", written))
        for name, _, _ in commands_of(program):
            # The first column, two spaces in: names, and what an option takes.
            columns = re.findall(r"^  (-\S+)", help_of(program, name), re.M)
            names = {n for column in columns for n in re.findall(r"(?<![\w-])--?[A-Za-z][A-Za-z0-9-]*", column)}
            missing += [f"{path}: '{w}' of `tessera {name}`" for w in sorted(names | {name}) if w not in words]
    print("\n".join(missing), end="\n" if missing else "")
    return 1 if missing else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("shell", nargs="?", choices=SHELLS)
    parser.add_argument("-o", dest="output")
    parser.add_argument("--check", nargs="+")
    options = parser.parse_args()
    if options.check:
        return check(options.program, options.check)
    if not options.shell:
        parser.error("which shell?")
    text = SHELLS[options.shell](commands_of(options.program))
    if options.output:
        with open(options.output, "w") as f:
            f.write(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
