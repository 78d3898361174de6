#!/usr/bin/env bash
# Runs a file of tests with a library: run.sh LIBTESSERA.SO test_NAME.py. Exit status 77: skipped, as ctest takes it.
# TESSERA_TEST_PYTHON names the interpreter, which needs pytest, and numpy and triton for most tests.
set -uo pipefail
cd "$(dirname "$0")/.."
python=${TESSERA_TEST_PYTHON:-python3}
if ! "$python" -c 'import pytest' 2>/dev/null; then
  echo "skipped: $python has no pytest (TESSERA_TEST_PYTHON names another interpreter)"
  exit 77
fi
TESSERA_LIBRARY=$1 "$python" -m pytest -q -p no:cacheprovider "tests/$2"
status=$?
if [ $status -eq 5 ]; then # no test was collected: a package is missing
  echo "skipped: $python lacks a package that $2 needs"
  exit 77
fi
exit $status
