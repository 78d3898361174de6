#!/usr/bin/env bash
# What a static build promises: program and library need the C library only; the library shows the API and nothing else,
# replaces no symbol of the C library, and works beside another LLVM; the Debian package has what an installation has.
# usage: static.sh BUILD SOURCE CC
set -euo pipefail
build=$1
source=$2
cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
vecadd=$source/tests/kernels/vecadd/vecadd.ttir

# The C library's own files are all that may be needed.
check_needed() {
  local others
  others=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE '^(libc|libm|ld-linux-x86-64|libdl|libpthread|librt)\.so' || true)
  [ -z "$others" ] || { echo "$1 needs $others" >&2; exit 1; }
}

echo "- package"
(cd "$build" && cpack -G DEB -B "$work/package" >"$work/log") || { cat "$work/log"; exit 1; }
package=$(ls "$work"/package/*.deb)
dpkg-deb -I "$package" | grep -E '^ (Package|Version|Depends|Installed-Size)'
[ "$(dpkg-deb -f "$package" Depends | tr -d ' ' | sed 's/(.*//')" = libc6 ]
dpkg-deb -x "$package" "$work/root"
# What apt says that the package needs is what it needs, to 5 %.
stated=$(dpkg-deb -f "$package" Installed-Size)
needed=$(find "$work/root" -type f -printf '%s\n' | awk '{bytes += $1} END {print int(bytes / 1024)}')
[ $((stated * 100)) -ge $((needed * 95)) ] && [ $((stated * 95)) -le $((needed * 100)) ] ||
  { echo "Installed-Size is $stated KB, the files have $needed KB" >&2; exit 1; }
usr=$work/root/usr
for file in bin/tessera lib/libtessera.so include/tessera.h lib/pkgconfig/tessera.pc \
  lib/cmake/Tessera/TesseraConfig.cmake \
  share/doc/tessera/LICENSE share/doc/tessera/licences/libllvm22 share/bash-completion/completions/tessera \
  share/zsh/vendor-completions/_tessera share/fish/vendor_completions.d/tessera.fish; do
  [ -e "$usr/$file" ] || { echo "the package lacks $file" >&2; exit 1; }
done
check_needed "$usr/bin/tessera"
check_needed "$usr/lib/libtessera.so"

echo "- program"
env -i "$usr/bin/tessera" version | head -1
env -i HOME="$work" "$usr/bin/tessera" compile "$vecadd" --target sm_90a --emit ptx -o - |
  grep -q '^.visible .entry vecadd'
env -i HOME="$work" "$usr/bin/tessera" run "$source/tests/kernels/vecadd/launch.json" --device emulator:gfx942 --check

echo "- library"
nm -D --defined-only "$usr/lib/libtessera.so" | awk '{print $3}' | sort >"$work/shown"
diff "$work/shown" <(sort "$source/capi/exports.txt")
# Hidden definitions would not show above, but would still take calls from inside the library.
nm "$build/capi/libtessera.so" | awk '$2 ~ /[TtWw]/ {print $3}' | sort >"$work/defined"
grep -qx tessera_compile "$work/defined" || { echo "the library's symbols cannot be listed" >&2; exit 1; }
grep -xE 'malloc|free|calloc|realloc|sbrk|brk|__cxa_atexit|sigaction|signal|madvise|mmap' "$work/defined" \
  >"$work/replaced" || true
[ ! -s "$work/replaced" ] || { echo "the library replaces:"; cat "$work/replaced"; exit 1; } >&2
"$cc" -std=gnu11 -Wall -Wextra -Werror -I"$usr/include" "$source/tests/install/beside_llvm.c" -o "$work/beside_llvm"
llvm=$(find /usr/lib -name 'libLLVM*.so*' 2>/dev/null | grep 22 | head -1)
"$work/beside_llvm" "$usr/lib/libtessera.so" "$llvm" "$vecadd"
