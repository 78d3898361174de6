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

# Only the text differs: the summary says so.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for value in 1 2; do
  cat >"$folder/$value.ttir" <<EOF
tt.func public @k(%p: !tt.ptr<i32>) {
  %c = arith.constant $value : i32
  tt.store %p, %c : !tt.ptr<i32>
  tt.return
} loc("k.py":1:1)
EOF
done
text=$(compare "$1" "$2" "$folder/1.ttir" "$folder/2.ttir" --target gfx942 --summary) && exit 1
[ "$text" = "text differs: ttgir" ] || { echo "expected that the text differs: $text"; exit 1; }

rc=0
pipelined=$2/tests/kernels/mm_desc/mm_desc.ttir
stages=$(compare "$1" "$2" "$pipelined" --target sm_90a --summary -- --num-stages 3 -- --num-stages 4) || rc=$?
[ $rc = 1 ] || { echo "exit code $rc, expected 1"; exit 1; }
for line in '^buffers in shared memory' '^  .*:[0-9]*:[0-9]* ttg.local_alloc: 24576 -> 32768 (+8192)$'; do
  grep -q -- "$line" <<<"$stages" || { echo "no line matches '$line' in:"; echo "$stages"; exit 1; }
done
# What is there on one side alone: its purpose, too.
more=$(compare "$1" "$2" "$2/tests/kernels/attn/attn.ttir" --target sm_80 --summary -- --num-warps 4 \
  -- --num-warps 8) || true
line='ttg.local_alloc: 0 -> 4096 (+4096), buffer of type !ttg.memdesc<'
grep -qF -- "$line" <<<"$more" || { echo "no line has '$line': $more"; exit 1; }
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

# Two buffers, too large to lie apart anyway, whose lifetimes overlap in the second text only; their ends have the same
# names and places in both.
buffers() { # FILE, then the operations in their order: alloc1, load2, …
  cat >"$folder/$1" <<'EOF'
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @buffers(%p: !tt.ptr<i32>) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #b>
    %q = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>, #b>
    %a = tt.addptr %q, %r : tensor<1024x!tt.ptr<i32>, #b>, tensor<1024xi32, #b>
EOF
  local memory='!ttg.memdesc<1024xi32, #s, #smem, mutable>' operation n
  for operation in "${@:2}"; do
    n=${operation: -1}
    case $operation in
    alloc*) echo "    %m$n = ttg.local_alloc %r : (tensor<1024xi32, #b>) -> $memory loc(\"k.py\":1$n:1)" ;;
    load*) echo "    %v$n = ttg.local_load %m$n : $memory -> tensor<1024xi32, #b> loc(\"k.py\":2$n:1)"
           echo "    tt.store %a, %v$n : tensor<1024x!tt.ptr<i32>, #b>" ;;
    esac
  done >>"$folder/$1"
  printf '    tt.return\n  }\n}\n' >>"$folder/$1"
}
buffers apart.ttgir alloc1 load1 alloc2 load2
buffers together.ttgir alloc1 alloc2 load1 load2
rc=0
overlapping=$(compare "$1" "$2" "$folder/apart.ttgir" "$folder/together.ttgir" --target sm_90a --summary) || rc=$?
[ $rc = 1 ] || { echo "exit code $rc, expected 1: $overlapping"; exit 1; }
for line in '^buffers that cannot share bytes any more (+), and that now can (-):$' \
            '^  + k.py:11:1 ttg.local_alloc and k.py:12:1 ttg.local_alloc (4096 bytes)$'; do
  grep -q -- "$line" <<<"$overlapping" || { echo "no line matches '$line' in:"; echo "$overlapping"; exit 1; }
done

rc=0
compare "$1" "$2" "$kernel" --target sm_1 2>/dev/null || rc=$?
[ $rc = 3 ] || { echo "exit code $rc of a compilation that fails, expected 3"; exit 1; }
