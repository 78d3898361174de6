// Pass tritonamdgpu-in-thread-transpose: operands of matrix instructions whose memory does not run along K, loaded
// element by element, are loaded by columns.
//
// Instructions take elements that follow each other along K, narrower than a word. Where a matrix [K, N] has rows in
// memory whose alignment is not known, every element is an access of its own, and it costs nothing to give a thread
// elements of one column instead of elements all over: it then writes them to shared memory as one vector.
// Neighbouring lanes still load neighbouring elements of a row.
//
//   sizePerThread = [1, 1], a thread's elements are rows apart   →   sizePerThread = [8, 1], eight consecutive rows
//
// Rows loaded as vectors would be written element by element as well. Where MFMA read them from LDS without transposing
// (gfx942), a thread's vectors are of consecutive rows, too, and it permutes them (v_perm_b32):
//
//   sizePerThread = [1, 8], a thread's vectors are rows apart   →   sizePerThread = [2, 8]: 8 words, not 16 halves
//
// Words that MFMA take in runs along K (f32) are not permuted: a thread's vectors are of consecutive rows, and it
// writes pairs along K instead of single words, half as often and to fewer banks at a time.
//
//   %x = tt.load %p : #L                                     %q = ttg.convert_layout %p : #L -> #T
//   %o = ttg.convert_layout %x : #L -> #ttg.dot_op<…>   →    %x = tt.load %q : #T
//                                                            %o = ttg.convert_layout %x : #T -> #ttg.dot_op<…>
//
// The conversions of addresses go with tritongpu-remove-layout-conversions, which runs next. Targets: those whose
// matrix instructions read their operands from registers that shared memory fills by elements (MFMA, WMMA); ldmatrix
// transposes by itself.
//
// Limits: elements of at most a word, by a load that has no other use.
//
// Runs: AMD pipeline, after tritongpu-accelerate-matmul.
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/dots.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/matrix_instruction_choice.h"
#include "transforms/passes.h"
#include "transforms/required_target.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// The load that the operand is converted from, if nothing else uses it.
tt::LoadOp loadOf(Value operand) {
  auto convert = operand.definedBy<ttg::ConvertLayoutOp>();
  if (!convert || !convert.result().hasOneUse()) return {};
  Value v = beforeConversions(convert.src());
  auto load = v.definedBy<tt::LoadOp>();
  if (!load || !load.ptr().type().isTensor()) return {};
  // Conversions back to what the load was before it was coalesced may be left over, without uses.
  for (auto *user : v.users()) {
    bool isUnusedConversion = user->is<ttg::ConvertLayoutOp>() && user->result().useEmpty();
    if (user != convert.op && !isUnusedConversion) return {};
  }
  return load;
}

/// Whether rows loaded as vectors are permuted in registers. Only where vector instructions just feed this dot: by the
/// timing model on gfx942, 2026-11-23, attention with heads of 128, whose other operand is computed, has 16 % more
/// instructions so and takes 7 % longer. On gfx11 and gfx12 it has 2 to 5 % more in f16, and up to a sixth more
/// registers; bytes, which are stored or read one by one otherwise, gain.
bool mayPermuteVectors(tt::DotOp dot, const TargetInfo &target) {
  int64_t bits = tensorOf(dot.a()).element().bitWidth();
  return bits <= target.tuning.permutesLoadedBits && !target.hasTransposedLdsRead && loadOf(dot.a()) && loadOf(dot.b());
}

/// The layout of the load by columns, or null.
const layouts::Encoding *transposed(tt::LoadOp load, const layouts::DotOperandEncoding &to, bool mayPermute,
                                    const TargetInfo &target, Module &m) {
  unsigned k = to.kDim();
  auto type = tensorOf(load.result());
  auto *from = layouts::dynCast<layouts::BlockedEncoding>(type.encoding());
  int64_t bits = type.element().bitWidth();
  constexpr int64_t kByteBits = 8;
  bool isWord = bits == kWordBits && target.matrixUnit == MatrixUnit::Mfma && to.kWidth() > 1;
  if (!from || bits < kByteBits || (bits >= kWordBits && !isWord)) return nullptr;
  unsigned fastest = from->order()[0];
  if (fastest == k || from->sizePerThread()[k] != 1) return nullptr;
  int64_t vector = from->sizePerThread()[fastest];
  if (vector > 1 && !mayPermute && !isWord) return nullptr;
  int64_t warps = numWarps(m.op()), lanes = threadsPerWarp(m.op());
  int64_t elementsOfThread = type.numElements() / (warps * lanes);
  int64_t elementsOfWrite = target.maxSharedAccessBytes * 8 / bits;
  if (isWord) elementsOfWrite = std::min<int64_t>(elementsOfWrite, to.kWidth());
  auto rowsOf = [&](int64_t v) { return std::min({elementsOfThread / v, elementsOfWrite, type.dim(k)}); };
  // Loads of 8 bytes rather than 16, if so a thread has a word of each column.
  while (rowsOf(vector) * bits < kWordBits && vector * bits > target.tuning.transposedLoadBits) vector /= 2;
  int64_t run = rowsOf(vector);
  if (run < 2) return nullptr;
  // Modelled: gfx1100 and gfx1201, 2026-11: pairs of bytes have 12 % more instructions than bytes stored one by one.
  if (vector > 1 && target.matrixUnit == MatrixUnit::Wmma && run * bits < kWordBits) return nullptr;
  llvm::SmallVector<int32_t, 4> size(from->sizePerThread());
  size[fastest] = vector;
  size[k] = run;
  auto e = m.context().encodings().getBlocked(
      layouts::blockedParamsFor(type.shape(), size, from->order(), warps, lanes, from->cta()));
  return e.ok() ? *e : nullptr;
}

} // namespace

absl::StatusOr<bool> inThreadTranspose(Module &m, PassContext &c) {
  if (!c.target) return requiresTarget(c, m, "tritonamdgpu-in-thread-transpose");
  if (!isMfmaOrWmma(c.target->matrixUnit)) return false;
  std::vector<std::pair<tt::LoadOp, const layouts::Encoding *>> loads;
  m.op()->walk([&](Operation *op) {
    auto dot = op->dyn<tt::DotOp>();
    if (!dot && !op->is<tt::DotScaledOp>()) return;
    bool mayPermute = dot && mayPermuteVectors(dot, *c.target);
    for (Value operand : {op->operand(0), op->operand(1)}) {
      auto *to = layouts::dynCast<layouts::DotOperandEncoding>(encodingOf(operand));
      bool isOfFma = to && layouts::dynCast<layouts::BlockedEncoding>(to->parent());
      if (!to || isOfFma) continue;
      if (auto load = loadOf(operand))
        if (auto *e = transposed(load, *to, mayPermute, *c.target, m)) loads.push_back({load, e});
    }
  });
  for (auto [load, e] : loads) computeInLayout(load.op, e);
  return !loads.empty();
}

} // namespace tessera::transforms
