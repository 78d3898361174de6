#!/usr/bin/env bash
# tools/compare_compilations.py: equal and different options, and what it exits with.
#   tests/cli/compare_compilations.sh TESSERA SOURCE_DIR
set -euo pipefail
command -v python3 >/dev/null || exit 77
compare() { python3 "$2/tools/compare_compilations.py" --old "$1" --new "$1" "${@:3}"; }
kernel=$2/tests/kernels/mm_f16/mm_f16.ttir

same=$(compare "$1" "$2" "$kernel" --target gfx942)
[ "$same" = "no difference" ] || { echo "expected no difference: $same"; exit 1; }

rc=0
different=$(compare "$1" "$2" "$kernel" --target gfx942 -- --num-warps 4 -- --num-warps 8) || rc=$?
[ $rc = 1 ] || { echo "exit code $rc, expected 1"; exit 1; }
patterns=('^metadata:$' '^  num_warps: 4 -> 8 (+4)$' '^remarks:$' '^  + .*DotInstruction'
          '^+module.*"ttg.num-warps" = 8')
for line in "${patterns[@]}"; do
  grep -q -- "$line" <<<"$different" || { echo "no line matches '$line' in:"; echo "$different"; exit 1; }
done

rc=0
pipelined=$2/tests/kernels/mm_desc/mm_desc.ttir
stages=$(compare "$1" "$2" "$pipelined" --target sm_90a --summary -- --num-stages 3 -- --num-stages 4) || rc=$?
[ $rc = 1 ] || { echo "exit code $rc, expected 1"; exit 1; }
for line in '^buffers in shared memory' '^  .*:[0-9]*:[0-9]* ttg.local_alloc: 24576 -> 32768 (+8192)$'; do
  grep -q -- "$line" <<<"$stages" || { echo "no line matches '$line' in:"; echo "$stages"; exit 1; }
done
# The sample of the document. Without ptxas, registers and occupancy are unknown, and the sample has none.
sample=$(awk '/^Sample of `compare_compilations/ { inside = 1; next } inside && /^    / { print substr($0, 5) }' \
         "$2/docs/finding_causes.md")
[ -n "$sample" ] || { echo "docs/finding_causes.md has no sample"; exit 1; }
while IFS= read -r line; do
  grep -qxF -- "$line" <<<"$stages" && continue
  echo "docs/finding_causes.md: no line is '$line' in:"
  echo "$stages"
  exit 1
done <<<"$sample"
if grep -q 'SharedMemoryBuffer' <<<"$stages"; then echo "a buffer is listed as a remark:"; echo "$stages"; exit 1; fi

rc=0
compare "$1" "$2" "$kernel" --target sm_1 2>/dev/null || rc=$?
[ $rc = 3 ] || { echo "exit code $rc of a compilation that fails, expected 3"; exit 1; }
