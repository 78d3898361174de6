#!/usr/bin/env bash
# Runs one golden test: the `RUN:` lines of a file, as LLVM's lit runs them.
#
#   tests/golden/run.sh TESSERA FILECHECK NOT FILE
#
#   // RUN: tessera opt %s -cse --split-input-file | FileCheck %s   a shell command; a line that ends in \ continues
#   // XFAIL: the reason                                             the commands must fail: a known gap
#   // REQUIRES: ptxas                                               programs without which the test is skipped
#
# %s is the file, %S its folder, %t a scratch path of this test. Every part of a pipe must succeed; `not` (LLVM's) in
# front of a command turns its failure into success. Exit code: 0 passed, 1 failed, 77 skipped.
set -uo pipefail
[ $# -eq 4 ] || { echo "usage: $0 TESSERA FILECHECK NOT FILE" >&2; exit 2; }
file=$4
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$(realpath "$1")" "$scratch/bin/tessera"
ln -s "$(realpath "$2")" "$scratch/bin/FileCheck"
ln -s "$(realpath "$3")" "$scratch/bin/not"
export PATH="$scratch/bin:$PATH"

for program in $(sed -n 's/^.*REQUIRES: *//p' "$file"); do
  command -v "$program" >/dev/null || { echo "skipped: no $program"; exit 77; }
done
commands=()
pending=""
while IFS= read -r line; do
  line="$pending${line#*RUN:}"
  pending=""
  if [[ $line == *\\ ]]; then pending="${line%\\}"; continue; fi
  line=${line//%s/$file}
  line=${line//%S/$(dirname "$file")}
  line=${line//%t/$scratch/t}
  commands+=("$line")
done < <(grep -E '^[[:space:]]*(//|#) *RUN:' "$file")
[ ${#commands[@]} -gt 0 ] && [ -z "$pending" ] || { echo "$file: no complete RUN line"; exit 1; }

failed=""
for c in "${commands[@]}"; do
  output=$(set -o pipefail; eval "$c" 2>&1) || { failed=$c; break; }
done
if reason=$(grep -m1 -oE 'XFAIL:.*' "$file"); then
  [ -n "$failed" ] && { echo "failed as expected: $reason"; exit 0; }
  echo "$file: passes although marked $reason"
  exit 1
fi
[ -z "$failed" ] && exit 0
printf '%s\n\nfailed:%s\n' "$output" "$failed"
exit 1
