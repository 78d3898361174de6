#!/usr/bin/env bash
# The C API as an outside user meets it: installed, its example built by a C99 compiler through pkg-config and run; and the
# library shows the symbols of capi/exports.txt and no others.
# usage: installed.sh BUILD SOURCE CC      (exit code 77: no pkg-config)
set -euo pipefail
build=$1 source=$2 cc=$3
command -v pkg-config >/dev/null || exit 77
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --component capi --prefix "$prefix" >/dev/null
library=$(find "$prefix" -name 'libtessera.so')
export PKG_CONFIG_PATH=$(dirname "$library")/pkgconfig LD_LIBRARY_PATH=$(dirname "$library")
diff <(nm -D --defined-only "$library" | awk '{print $3}' | sort) <(sort "$source/capi/exports.txt")
"$cc" -std=c99 -Wall -Wextra -Wpedantic -Werror "$source/capi/example.c" $(pkg-config --cflags --libs tessera) -o "$prefix/example"
"$prefix/example" "$source/tests/kernels/vecadd/vecadd.ttir" sm_90a gfx942 >"$prefix/out"
grep -q '^sm_90a: [1-9][0-9]* bytes of ptx$' "$prefix/out"
grep -q '^gfx942: [1-9][0-9]* bytes of hsaco$' "$prefix/out"
code=0
"$prefix/example" "$source/tests/malformed/unknown_op.mlir" sm_90a >/dev/null 2>"$prefix/err" || code=$?
[ "$code" = 1 ] && grep -q "unknown_op.mlir:[0-9]*:[0-9]*: error: unknown operation" "$prefix/err"
