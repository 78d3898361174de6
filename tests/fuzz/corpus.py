#!/usr/bin/env python3
"""corpus.py FOLDER: makes first corpora for the fuzz targets from the files of the tests, one folder per target."""
import pathlib
import re
import sys

tests = pathlib.Path(__file__).resolve().parent.parent
out = pathlib.Path(sys.argv[1])


def put(target, data):
    folder = out / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{len(list(folder.iterdir())):05}").write_bytes(data)


texts = [*tests.rglob("*.mlir"), *tests.rglob("*.ttir"), *tests.rglob("*.ttgir")]
for path in texts:
    data = path.read_bytes()
    for part in re.split(rb"(?m)^// -----.*\n", data):
        if len(part) < 20000:
            put("parser", b"M" + part)
            put("parser", b"U" + part)
            for target in (3, 7):
                put("pipeline", bytes([target, 255]) + part)
                put("pipeline", bytes([target, len(part) % 40]) + part)
    for layout in set(re.findall(rb"#ttn?g\.\w+<.*", data)):
        put("parser", b"L" + layout)
for path in tests.rglob("*.json"):
    put("launch", b"J" + path.read_bytes())
for path in tests.rglob("*.npy"):
    if path.stat().st_size < 8192:
        put("launch", b"N" + path.read_bytes())
for path in (tests / "malformed" / "cli").glob("launch.test"):
    for case in re.findall(r"file l.json\n((?:\|.*\n)+)", path.read_text()):
        put("launch", b"J" + re.sub(r"(?m)^\| ?", "", case).encode())
