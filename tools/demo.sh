#!/usr/bin/env bash
# Installs, builds and runs the main job: a real Triton kernel is compiled for both vendors, evaluated by the
# interpreter and executed by the emulator.
set -euo pipefail
cd "$(dirname "$0")/.."
./tools/install_dependencies.sh
cmake --preset release >/dev/null
cmake --build --preset release --target tessera
t=build-release/tools/tessera
out=build-release/softmax_row
k=tests/kernels/softmax_row
"$t" version
"$t" compile $k/softmax_row.ttir --target sm_90a --emit ptx -o $out.ptx
"$t" compile $k/softmax_row.ttir --target gfx942 --emit hsaco -o $out.hsaco --metadata $out.json
echo "made $out.ptx and $out.hsaco"
for device in interpreter emulator:sm_90a emulator:gfx942; do
  echo "$device:"
  "$t" run $k/launch.json --device $device --check
done
