#!/usr/bin/env bash
# Installs the Debian 12 packages that building Tessera needs (LLVM 22 and LLD from Debian's backports of LLVM), if some
# are missing. The CUDA toolkit is optional: without ptxas or libnvJitLink no cubin is made, everything else works.
set -euo pipefail
packages=(cmake ninja-build g++ clang-22 lld-22 llvm-22-dev llvm-22-tools liblld-22-dev libclang-rt-22-dev zlib1g-dev libzstd-dev
  libabsl-dev libre2-dev libcli11-dev libgtest-dev libgmock-dev rocm-device-libs python3)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q "ok installed" || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
sudo=""
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "installing: ${missing[*]}"
$sudo apt-get update -qq
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
