#!/usr/bin/env bash
# Rewrites the files that tests compare exactly, so that `git diff` shows what a change of the compiler changed.
#
#   tools/bless.sh                 everything: see tests/README.md for the list
#   tools/bless.sh alias_cycle     only tests whose name contains this
#   tools/bless.sh --no-build …    with the programs as they are in the build folder
#
# Review the diff before committing it. FileCheck tests are not rewritten: their CHECK lines say what matters, by hand.
# TESSERA_BUILD names the build folder (default: build).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${TESSERA_BUILD:-build}
if [ "${1:-}" = --no-build ]; then
  compile=false
  shift
else
  compile=true
fi
filter=${1:-}
if [[ $filter == -* ]]; then
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' tools/bless.sh
  [[ $filter == -h || $filter == --help ]] && exit 0
  exit 2
fi

# Every unit test that knows TESSERA_BLESS, by program: tests/unit/FOLDER is test_FOLDER.
mapfile -t sources < <(grep -lE 'TESSERA_BLESS|\bbless\(\)' tests/unit/*/*.cpp)
declare -A patterns
for source in "${sources[@]}"; do
  folder=$(basename "$(dirname "$source")")
  for suite in $(sed -nE 's/^TEST(_P|_F)?\((\w+), *(\w+)\).*/\2/p' "$source" | sort -u); do
    if [[ $suite == *"$filter"* ]]; then
      patterns[$folder]+="*$suite.*:"
    else
      patterns[$folder]+="*$suite.*$filter*:"
    fi
  done
done

if $compile; then
  folders=("${!patterns[@]}")
  cmake --build "$build" --target tessera "${folders[@]/#/test_}"
fi
failed=0
for folder in "${!patterns[@]}"; do
  log=$build/bless_$folder.log
  if ! TESSERA_BLESS=1 "$build/tests/test_$folder" --gtest_filter="${patterns[$folder]%:}" >"$log" 2>&1; then
    grep -E 'Failure|FAILED' -A 4 "$log" | head -20
    echo "bless: test_$folder failed, see $log" >&2
    failed=1
  fi
done

# Documents that the program prints.
if [ -f docs/passes.md ] && [[ docs.passes == *"$filter"* ]]; then
  "$build/tools/tessera" opt --list-passes=markdown >docs/passes.md
fi
if [ -f tools/generate_tuning_docs.py ] && [[ docs.tuning == *"$filter"* ]]; then
  python3 tools/generate_tuning_docs.py
fi
git --no-pager diff --stat
exit $failed
