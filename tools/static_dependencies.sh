#!/usr/bin/env bash
# Fetches the sources of Abseil that Debian 12 builds its package from, into build-sources/. The static preset compiles
# the parts that Tessera needs: the package's archives are not position-independent, so that they can go into a program
# but not into libtessera.so.
#   tools/static_dependencies.sh           needs dpkg-dev, which tools/install_dependencies.sh --ci installs
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build-sources
[ -f "$out/complete" ] && exit 0
command -v dpkg-source >/dev/null || {
  echo "static_dependencies.sh: dpkg-source is missing; as root: apt-get install dpkg-dev" >&2
  exit 1
}
rm -rf "$out"
mkdir -p "$out/lists/partial"
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb-src [signed-by=$key] http://deb.debian.org/debian bookworm main" >"$out/sources.list"
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$out/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$out/lists" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=" -o APT::Sandbox::User=)
echo "fetching the sources of Abseil"
"${apt[@]}" update
(cd "$out" && "${apt[@]}" source abseil >/dev/null)
mv "$out"/abseil-*/ "$out/abseil"
rm -rf "$out"/lists "$out"/*.dsc "$out"/*.tar.* "$out/sources.list"
touch "$out/complete"
