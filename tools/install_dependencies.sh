#!/usr/bin/env bash
# Installs the Debian 12 packages that building Tessera needs, if some are missing. LLVM 22 and LLD come from Debian's
# security archive, which is added where a minimal installation lacks it. The CUDA toolkit is optional: without ptxas or
# libnvJitLink no cubin is made, everything else works.
#   tools/install_dependencies.sh          what building and testing need
#   tools/install_dependencies.sh --ci     also what .ci/run needs: formatting, static checks, a compiler cache
set -euo pipefail
packages=(cmake ninja-build g++ clang-22 lld-22 llvm-22-dev llvm-22-tools liblld-22-dev libclang-rt-22-dev
  zlib1g-dev libzstd-dev libabsl-dev libre2-dev libcli11-dev libgtest-dev libgmock-dev rocm-device-libs python3)
[ "${1:-}" = --ci ] && packages+=(clang-format-22 clang-tidy-22 universal-ctags ccache pkg-config git dpkg-dev)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q "ok installed" || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
sudo=""
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "missing: ${missing[*]}; run this as root once: $(realpath "$0") $*" >&2
    exit 1
  fi
  sudo=sudo
fi
echo "installing: ${missing[*]}"
$sudo apt-get update -qq
if ! apt-cache show clang-22 >/dev/null 2>&1 && grep -q '^VERSION_CODENAME=bookworm' /etc/os-release; then
  list=/etc/apt/sources.list.d/debian-security.list
  echo "adding Debian's security archive to $list"
  echo "deb http://deb.debian.org/debian-security bookworm-security main" | $sudo tee $list >/dev/null
  $sudo apt-get update -qq
fi
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
