#!/usr/bin/env bash
# Installs, builds and runs the main job: a real Triton kernel is compiled for both vendors and run on the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
./tools/install_dependencies.sh
cmake --preset release >/dev/null
cmake --build --preset release --target tessera
t=build-release/tools/tessera
k=tests/kernels/softmax_row
"$t" version
"$t" compile $k/softmax_row.ttir --target sm_90a --emit ptx -o build-release/softmax_row.ptx
"$t" compile $k/softmax_row.ttir --target gfx942 --emit hsaco -o build-release/softmax_row.hsaco --metadata build-release/softmax_row.json
echo "made build-release/softmax_row.ptx and build-release/softmax_row.hsaco"
"$t" run $k/launch.json --device interpreter --check
