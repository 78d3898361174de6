#!/usr/bin/env bash
# The C API as an outside user meets it: installed, an example built by a C99 compiler through pkg-config and run; and
# the library shows the symbols of capi/exports.txt and no others. usage: capi.sh BUILD SOURCE CC      (exit code 77: no
# pkg-config)
set -euo pipefail
build=$1
source=$2
cc=$3
command -v pkg-config >/dev/null || exit 77
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --component capi --prefix "$prefix" >/dev/null
library=$(find "$prefix" -name 'libtessera.so')
export PKG_CONFIG_PATH=$(dirname "$library")/pkgconfig LD_LIBRARY_PATH=$(dirname "$library")
diff <(nm -D --defined-only "$library" | awk '{print $3}' | sort) <(sort "$source/capi/exports.txt")
diff <(grep -o '\btessera_[a-z_]*(' "$source/capi/tessera.h" | tr -d '(' | sort -u) <(sort "$source/capi/exports.txt")
"$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror "$source/examples/launch/launch.c" \
  $(pkg-config --cflags --libs tessera) -o "$prefix/launch"
vecadd=$source/tests/kernels/vecadd/vecadd.ttir
# No GPU's driver: the interpreter is the first device.
export TESSERA_CUDA_LIBRARY=/no/libcuda.so TESSERA_HIP_LIBRARY=/no/libamdhip64.so
"$prefix/launch" "$vecadd" >"$prefix/out"
grep -q '^interpreter (interpreter): 5000 sums are right' "$prefix/out"
for device in emulator:sm_90a emulator:gfx942; do
  "$prefix/launch" "$vecadd" $device | grep -q "^$device (.*): 5000 sums are right"
done
# Not `[ … ] && grep`: `set -e` does not see such a line fail.
expect_code() {
  [ "$code" = "$1" ] || { echo "exit code $code, not $1:" >&2; cat "$prefix/err" >&2; exit 1; }
}
code=0
"$prefix/launch" "$source/tests/malformed/unknown_op.mlir" >/dev/null 2>"$prefix/err" || code=$?
expect_code 1
grep -q "unknown_op.mlir:[0-9]*:[0-9]*: error: unknown operation" "$prefix/err"
code=0
"$prefix/launch" "$vecadd" emulator:vax 2>"$prefix/err" || code=$?
expect_code 2
grep -q "unknown target 'vax' of the emulator" "$prefix/err"
code=0
"$prefix/launch" "$vecadd" cuda 2>"$prefix/err" || code=$?
expect_code 3
grep -q "TESSERA_CUDA_LIBRARY names a library that does not load" "$prefix/err"
