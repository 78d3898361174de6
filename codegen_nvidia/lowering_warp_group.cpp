// Dots of warp groups: wgmma. An instruction of four warps is asynchronous. It reads its B operand (and its A operand,
// if that is not in registers) from shared memory through 64-bit descriptors, and owns the accumulator's registers
// until it is waited for. The instructions of one dot and their fence are one inline PTX statement, so that nothing
// comes between the registers' last writes and the first instruction:
//
//   wgmma.fence.sync.aligned;
//   wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {d…}, descriptor of A, descriptor of B, p, 1, 1, 0, 1;
//
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions": "Matrix Descriptor Format",
// "Strides", "wgmma.mma_async", "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group".
#include "codegen_nvidia/inline_ptx.h"
#include "codegen_nvidia/lowering_target.h"
#include "codegen_nvidia/matrix_words.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::nvidia {
using namespace llvm;
using codegen::SharedMatrix;
using codegen::WarpGroupDot;
using ir::MatrixType;

namespace {

/// The descriptor of a matrix: bits 0-13 address, 16-29 leading and 32-45 stride offset, all in units of 16 bytes; bits
/// 62-63 the swizzle.
Value *descriptor(IRBuilder<> &b, const SharedMatrix &m) {
  uint64_t swizzle = m.swizzleBytes == 128 ? 1 : m.swizzleBytes == 64 ? 2 : 3;
  uint64_t constant = swizzle << 62 | uint64_t(m.strideBytes >> 4 & 0x3fff) << 32 |
                      uint64_t(m.kMajor ? 1 : m.leadingBytes >> 4 & 0x3fff) << 16;
  Value *address = b.CreateAnd(b.CreateLShr(b.CreatePtrToInt(m.pointer, b.getInt32Ty()), 4), 0x3fff);
  return b.CreateOr(b.CreateZExt(address, b.getInt64Ty()), b.getInt64(constant));
}

void sideEffect(IRBuilder<> &b, StringRef text) { InlinePtx(b).emitConvergent(text); }

/// The accumulator's values as the registers of an instruction: halves in pairs.
SmallVector<Value *, 128> registersOf(IRBuilder<> &b, ArrayRef<Value *> values) {
  SmallVector<Value *, 128> out;
  if (values[0]->getType()->getPrimitiveSizeInBits() < 32)
    words(b, values, out);
  else
    out.append(values.begin(), values.end());
  return out;
}
void valuesOf(IRBuilder<> &b, ArrayRef<Value *> registers, MutableArrayRef<Value *> values) {
  Type *type = values[0]->getType();
  unsigned perWord = values.size() / registers.size();
  for (auto [i, v] : enumerate(registers)) {
    if (perWord == 1) {
      values[i] = v;
      continue;
    }
    Value *pair = b.CreateBitCast(v, FixedVectorType::get(type, perWord));
    for (unsigned k = 0; k < perWord; ++k) values[perWord * i + k] = b.CreateExtractElement(pair, k);
  }
}

} // namespace

void NvidiaTarget::warpGroupMultiply(IRBuilder<> &b, const WarpGroupDot &t, MutableArrayRef<Value *> acc) const {
  auto *constant = dyn_cast_or_null<ConstantInt>(t.accumulates);
  bool fresh = constant && constant->isZero(); // the first step does not read the accumulator
  if (constant && !fresh) constant = nullptr;
  SmallVector<Value *, 128> in = registersOf(b, acc);
  unsigned n = in.size();
  unsigned perTile = n / (t.steps.back().tile + 1);
  InlinePtx ptx(b);
  ptx.addResults(in[0]->getType(), n, /*areEarly=*/fresh);
  if (!fresh)
    for (auto [i, v] : enumerate(in)) ptx.addTied(v, i);
  Value *da = t.matrixA ? descriptor(b, *t.matrixA) : nullptr, *db = descriptor(b, t.matrixB);
  auto at = [&](Value *d, int64_t bytes) { return ptx.operand(bytes ? b.CreateAdd(d, b.getInt64(bytes >> 4)) : d); };

  std::string text = "{\n.reg .pred first;\n.reg .pred more;\nsetp.eq.u32 more, 1, 1;\n";
  if (fresh)
    text += "setp.eq.u32 first, 0, 1;\n";
  else if (t.accumulates && !constant)
    text += "setp.ne.b32 first, " + ptx.operand(b.CreateZExt(t.accumulates, b.getInt32Ty())) + ", 0;\n";
  else
    text += "setp.eq.u32 first, 1, 1;\n";
  text += "wgmma.fence.sync.aligned;\n";
  std::string name = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(t.n) + "k" + std::to_string(t.k) + "." +
                     matrixTypeName(t.c).str() + "." + matrixTypeName(t.a).str() + "." + matrixTypeName(t.b).str() +
                     " ";
  bool halves = bitWidthOf(t.a) == 16;
  for (auto [i, step] : enumerate(t.steps)) {
    std::string a, bb;
    if (t.matrixA)
      a = at(da, step.offsetA);
    else {
      // [row][half of K] → the instruction's order, rows first.
      SmallVector<Value *, 4> w, ordered;
      words(b, step.a, w);
      unsigned perRow = w.size() / 2;
      for (unsigned half = 0; half < perRow; ++half)
        for (unsigned row = 0; row < 2; ++row) ordered.push_back(w[row * perRow + half]);
      a = ptx.operands(ordered);
    }
    bb = at(db, step.offsetB);
    bool begins = i == 0 || t.steps[i - 1].tile != step.tile;
    text += name + InlinePtx::list(step.tile * perTile, perTile) + ", " + a + ", " + bb + ", " +
            (begins ? "first" : "more");
    if (t.c != MatrixType::I32) text += ", 1, 1";
    if (halves) {
      if (t.matrixA) text += t.matrixA->kMajor ? ", 0" : ", 1";
      text += t.matrixB.kMajor ? ", 0" : ", 1";
    }
    text += ";\n";
  }
  text += "}";
  auto *call = ptx.emitConvergent(text);
  recordMatrixInstruction(*call, /*ofWarpGroup=*/true);
  valuesOf(b, ptx.resultsOf(call), acc);
}

/// No grid has 2^31 blocks along x. LLVM would know it of the number of blocks, but not after a statement of its own.
Value *NvidiaTarget::opaqueFalse(IRBuilder<> &b) const {
  Value *blocks = b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {});
  InlinePtx ptx(b);
  ptx.addResults(b.getInt32Ty(), 1);
  auto *moved = ptx.emit("mov.b32 $0, " + ptx.operand(blocks) + ";", InlinePtx::Effects::None);
  return b.CreateICmpSLT(moved, b.getInt32(0));
}

void NvidiaTarget::commitDots(IRBuilder<> &b) const { sideEffect(b, "wgmma.commit_group.sync.aligned;"); }

void NvidiaTarget::waitForDots(IRBuilder<> &b, unsigned pending, MutableArrayRef<Value *> values) const {
  std::string text = "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";";
  if (values.empty()) return sideEffect(b, text);
  // Values of several kinds may be waited for together: each passes through the statement as its register.
  SmallVector<Value *, 128> in;
  SmallVector<std::pair<unsigned, unsigned>, 4> runs; // of values of one type: first, count
  for (unsigned i = 0; i < values.size();) {
    unsigned k = i;
    while (k < values.size() && values[k]->getType() == values[i]->getType()) ++k;
    in.append(registersOf(b, values.slice(i, k - i)));
    runs.push_back({i, k - i});
    i = k;
  }
  InlinePtx ptx(b);
  for (Value *v : in) ptx.addResults(v->getType(), 1);
  for (auto [i, v] : enumerate(in)) ptx.addTied(v, i);
  auto *call = ptx.emitConvergent(text);
  auto out = ptx.resultsOf(call);
  unsigned next = 0;
  for (auto [first, count] : runs) {
    unsigned bits = values[first]->getType()->getPrimitiveSizeInBits(), n = bits < 32 ? count * bits / 32 : count;
    valuesOf(b, ArrayRef(out).slice(next, n), values.slice(first, count));
    next += n;
  }
}

void NvidiaTarget::fenceAsyncShared(IRBuilder<> &b) const { sideEffect(b, "fence.proxy.async.shared::cta;"); }

} // namespace tessera::nvidia
