#!/usr/bin/env bash
# Builds the wheel of tessera-gpu into dist/. Needs pip, and the network for its build tools. LIBRARY: a libtessera.so
# of the static preset that is packaged as it is, else it is built (tools/static_dependencies.sh, once, before).
#   tools/build_wheel.sh [LIBRARY]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=()
[ $# -eq 0 ] || options=(-C "cmake.define.TESSERA_LIBRARY=$(realpath "$1")")
"$python" -m pip wheel ./python --no-deps -w "$work" "${options[@]}"

# The tag says which C library the wheel needs: the newest version among those of the library's symbols.
"$python" - "$work" dist <<'PYTHON'
import base64, hashlib, pathlib, re, subprocess, sys, tempfile, zipfile

work, out = map(pathlib.Path, sys.argv[1:])
[wheel] = work.glob("*.whl")
with zipfile.ZipFile(wheel) as z:
    files = {name: z.read(name) for name in z.namelist()}
    modes = {info.filename: info.external_attr for info in z.infolist()}
[library] = [name for name in files if name.endswith("libtessera.so")]
with tempfile.NamedTemporaryFile() as f:
    f.write(files[library]), f.flush()
    symbols = subprocess.run(["objdump", "-T", f.name], check=True, capture_output=True, text=True).stdout
minor = max(int(m) for m in re.findall(r"GLIBC_2\.(\d+)", symbols))
old = re.search(r"^Tag: py3-none-(\S+)$", next(v for k, v in files.items() if k.endswith("/WHEEL")).decode(), re.M)[1]
new = f"manylinux_2_{minor}_{old.removeprefix('linux_')}"
record = next(name for name in files if name.endswith("/RECORD"))
for name in files:
    if name.endswith("/WHEEL"):
        files[name] = files[name].replace(f"py3-none-{old}".encode(), f"py3-none-{new}".encode())
rows = []
for name, data in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    rows.append(f"{name},," if name == record else f"{name},sha256={digest},{len(data)}")
files[record] = ("\n".join(rows) + "\n").encode()
out.mkdir(exist_ok=True)
target = out / wheel.name.replace(old, new)
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    for name, data in files.items():
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        info.external_attr, info.compress_type = modes[name], zipfile.ZIP_DEFLATED
        z.writestr(info, data)
print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")
PYTHON
