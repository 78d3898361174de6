#!/usr/bin/env bash
# Installs, builds and tests everything: unit tests, golden tests, kernels on every device that needs no GPU.
#   tools/test.sh [CTEST ARGUMENTS]
set -euo pipefail
cd "$(dirname "$0")/.."
./tools/install_dependencies.sh
cmake --preset dev >/dev/null
cmake --build --preset dev
ctest --test-dir build --output-on-failure --timeout 900 -j "$(nproc)" "$@"
