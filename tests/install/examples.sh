#!/usr/bin/env bash
# Installs a build, then builds and runs every program of examples/ against the installed package.
# usage: examples.sh BUILD SOURCE
set -euo pipefail
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
kernels=$work/prefix/share/doc/tessera/examples/kernels
for example in compile launch variants run service; do
  cmake -S "$source/examples/$example" -B "$work/$example" \
    -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
  cmake --build "$work/$example" >"$work/log" || { cat "$work/log"; exit 1; }
done
export TESSERA_CUDA_LIBRARY=/no/libcuda.so TESSERA_HIP_LIBRARY=/no/libamdhip64.so
"$work/compile/compile" "$kernels/vecadd.ttir" sm_90a | grep '^.visible .entry vecadd'
"$work/compile/compile" "$kernels/vecadd.ttir" gfx942 | grep '^vecadd:'
"$work/launch/launch" "$kernels/vecadd.ttir"
for program in "$work/compile/compile /no/kernel.ttir sm_90a" "$work/launch/launch /no/kernel.ttir"; do
  { $program 2>&1 || [ $? -eq 1 ]; } | grep '^/no/kernel.ttir: No such file or directory'
done
"$work/variants/variants" emulator:gfx942 | grep "stride = 16: right; variants: 3"
"$work/run/run" "$kernels/softmax_row.ttir"
"$work/service/service" "$kernels/vecadd.ttir" "$kernels/softmax_row.ttir"
"$work/prefix/bin/tessera" version | head -1
