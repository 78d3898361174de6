#!/usr/bin/env bash
# Runs random kernels for hours (tests/random/README.md): tools/random_kernels.sh FROM:TO [options of random_kernels].
# Builds with optimisation; what is found goes to standard output, the exit code is 1 if there is anything.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] ||
  { echo "usage: tools/random_kernels.sh FROM:TO [--vendor nvidia|amd] [--target NAME] [--minutes M]" >&2; exit 2; }
seeds=$1; shift
cmake --preset release >/dev/null
cmake --build --preset release --target random_kernels >&2
exec nice -n 19 build-release/tests/random/random_kernels --seeds "$seeds" "$@"
