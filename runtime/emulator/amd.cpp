// AMD's intrinsics. Sources: LLVM "User Guide for AMDGPU Backend" (AMDGPUUsage) for the intrinsics; the ISA guides
// ("AMD Instinct MI300" for gfx9, "RDNA3" and "RDNA4" for gfx11 and gfx12), by section, for what the instructions do.
// What is peculiar: a wave goes through divergent code with lanes switched off (EXEC), so an operation across lanes
// in such code is well defined; each says below what it gives for a lane that is off.
#include "codegen/attribute_names.h"
#include "runtime/amd_functions.h"
#include "runtime/emulator/amd_buffers.h"
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"

namespace tessera::emulator {
using namespace llvm;

namespace {

// ---- ids ----

void waveInGroup(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned) { return w.index; });
}

// ---- barriers ----

/// s_barrier itself orders nothing: the fences before and after it do, shared memory alone where they say so.
void decodeBarrier(Decoder &d, CallInst &c) {
  auto fence = [](const llvm::Instruction *i) -> const FenceInst * {
    while (i && isa<DbgInfoIntrinsic>(i)) i = i->getNextNode();
    return dyn_cast_or_null<FenceInst>(i);
  };
  const FenceInst *before = fence(c.getPrevNode()), *after = fence(c.getNextNode());
  uint8_t orders = 0;
  if (before && after && isReleaseOrStronger(before->getOrdering()) && isAcquireOrStronger(after->getOrdering())) {
    auto localOnly = [](const FenceInst *f) {
      auto *m = f->getMetadata(LLVMContext::MD_mmra);
      if (!m) return false;
      bool local = false, global = false;
      auto tag = [&](const MDNode *t) {
        if (t->getNumOperands() != 2) return;
        auto *key = dyn_cast<MDString>(t->getOperand(0)), *value = dyn_cast<MDString>(t->getOperand(1));
        if (!key || !value || key->getString() != "amdgpu-synchronize-as") return;
        local |= value->getString() == "local";
        global |= value->getString() == "global";
      };
      tag(m);
      for (auto &o : m->operands())
        if (auto *t = dyn_cast<MDNode>(o)) tag(t);
      return local && !global;
    };
    orders = localOnly(before) || localOnly(after) ? BarrierForm::kShared : BarrierForm().orders;
    d.program().hasSharedBarriers |= orders == BarrierForm::kShared;
  }
  // Waves that alternate wait at different barriers of the program (codegen_amd/passes/alternate_waves.cpp).
  if (c.getFunction()->hasFnAttribute(codegen::kAlternatingWaves)) orders |= BarrierForm::kMeetsOthers;
  d.emitImmediate(barrier, BarrierForm{.orders = orders}.packed());
}

void waveBarrier(Warp &w, const Instruction &i) { w.lastSync = ++w.block->launch->stamp; }

// ---- arithmetic ----

template <auto F> void anyFloat1(Decoder &d, CallInst &c) {
  d.elementwiseFloat(c, unary<float, float, [](float x) { return float(F(double(x))); }>,
                     unary<double, double, [](double x) { return double(F(x)); }>, 1);
}
/// v_exp_f32 and v_log_f32 flush denormals; the others keep them.
float exp2Flushed(float x) { return flush(float(std::exp2(double(x)))); }
float log2Flushed(float x) { return float(std::log2(double(flush(x)))); }
float rsqFlushed(float x) { return float(1.0 / std::sqrt(double(flush(x)))); }
void median3(Decoder &d, CallInst &c) {
  d.elementwiseFloat(c,
                     ternary<float, float,
                             [](float x, float y, float z) {
                               if (std::isnan(x) || std::isnan(y) || std::isnan(z)) return minNum(minNum(x, y), z);
                               return std::max(std::min(x, y), std::min(std::max(x, y), z));
                             }>,
                     nullptr, 3);
}
void fractionPart(Decoder &d, CallInst &c) {
  d.elementwiseFloat(c,
                     unary<float, float,
                           [](float x) {
                             float m;
                             return std::isinf(x) ? std::nanf("") : (m = x - std::floor(x), m < 1 ? m : 0x1.fffffep-1f);
                           }>,
                     unary<double, double,
                           [](double x) {
                             double m;
                             return std::isinf(x) ? std::nan("")
                                                  : (m = x - std::floor(x), m < 1 ? m : 0x1.fffffffffffffp-1);
                           }>,
                     1);
}
void trigPreopOf(Decoder &d, CallInst &c) {
  d.emit(binaryMixed<double, double, uint32_t, runtime::amd::trigPreop>, d.defineFresh(&c)[0],
         d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)));
}
/// v_frexp_mant: in [1/2, 1); v_frexp_exp: the exponent, 0 for zero, infinity and NaN.
void mantissa(Decoder &d, CallInst &c) {
  d.elementwiseFloat(c,
                     unary<float, float,
                           [](float x) {
                             int e;
                             return std::frexp(x, &e);
                           }>,
                     unary<double, double,
                           [](double x) {
                             int e;
                             return std::frexp(x, &e);
                           }>,
                     1);
}
void exponent(Decoder &d, CallInst &c) {
  Type *t = c.getArgOperand(0)->getType();
  auto f = [](auto x) {
    int e = 0;
    if (std::isfinite(x)) std::frexp(x, &e);
    return e;
  };
  Row in = d.toFloat(d.row(c.getArgOperand(0)), t), out = d.defineFresh(&c)[0];
  if (c.getType()->isIntegerTy(16))
    d.emit(unary<int16_t, float, f>, out, in);
  else
    d.emit(t->isDoubleTy() ? Handler(unary<int32_t, double, f>) : Handler(unary<int32_t, float, f>), out, in);
}
template <class T> uint32_t classOf(T x) {
  bool negative = std::signbit(x);
  switch (std::fpclassify(x)) {
  case FP_NAN: return 3; // signalling or quiet: the tests mean both
  case FP_INFINITE: return negative ? 4 : 512;
  case FP_NORMAL: return negative ? 8 : 256;
  case FP_SUBNORMAL: return negative ? 16 : 128;
  default: return negative ? 32 : 64;
  }
}
void classTest(Decoder &d, CallInst &c) {
  Type *t = c.getArgOperand(0)->getType();
  Row in = d.toFloat(d.row(c.getArgOperand(0)), t), mask = d.row(c.getArgOperand(1)), out = d.defineFresh(&c)[0];
  if (t->isDoubleTy())
    d.emit(binaryMixed<uint8_t, double, uint32_t, [](double x, uint32_t m) { return (classOf(x) & m) != 0; }>, out, in,
           mask);
  else
    d.emit(binaryMixed<uint8_t, float, uint32_t, [](float x, uint32_t m) { return (classOf(x) & m) != 0; }>, out, in,
           mask);
}

/// A conversion to an 8-bit kind without saturation: beyond the largest value NaN, or infinity where the kind has one.
uint8_t toFloat8(ir::FloatKind kind, float x) {
  if (std::isnan(x)) return uint8_t(runtime::encodeFloat(kind, x));
  double most = kind == ir::FloatKind::F8E4M3FN ? 448 : kind == ir::FloatKind::F8E4M3FNUZ ? 240 : 57344;
  double unit = kind == ir::FloatKind::F8E4M3FN ? 32 : kind == ir::FloatKind::F8E4M3FNUZ ? 16 : 8192;
  if (std::fabs(double(x)) < most + unit / 2) return uint8_t(runtime::encodeFloat(kind, x));
  if (kind == ir::FloatKind::F8E5M2) return std::signbit(x) ? 0xfc : 0x7c;
  return kind == ir::FloatKind::F8E4M3FN ? (std::signbit(x) ? 0xff : 0x7f) : 0x80;
}
/// immediate: kind | upper half << 8. a, b: values; c: old.
void convertToPairOf8(Warp &w, const Instruction &i) {
  auto kind = ir::FloatKind(i.immediate & 0xff);
  unsigned shift = i.immediate >> 8 ? 16 : 0;
  forLanes(w, [&](unsigned l) {
    uint32_t pair = toFloat8(kind, w.row<float>(i.a)[l]) | uint32_t(toFloat8(kind, w.row<float>(i.b)[l])) << 8;
    w.row<uint32_t>(i.to)[l] = (w.row<uint32_t>(i.c)[l] & ~(0xffffu << shift)) | pair << shift;
  });
}
void convertFromPairOf8(Warp &w, const Instruction &i) { // more: the two results
  auto kind = ir::FloatKind(i.immediate & 0xff);
  unsigned shift = unsigned(i.immediate >> 8);
  forLanes(w, [&](unsigned l) {
    uint32_t v = w.row<uint32_t>(i.a)[l] >> shift;
    for (unsigned k = 0; k < i.more.size(); ++k)
      w.row<float>(i.more[k])[l] = float(runtime::decodeFloat(kind, v >> (8 * k) & 0xff));
  });
}
ir::FloatKind kindOf(Decoder &d, bool fp8) {
  if (d.target().convertsE4M3FNUZ) return fp8 ? ir::FloatKind::F8E4M3FNUZ : ir::FloatKind::F8E5M2FNUZ;
  return fp8 ? ir::FloatKind::F8E4M3FN : ir::FloatKind::F8E5M2;
}
template <bool Fp8> void decodeToPairOf8(Decoder &d, CallInst &c) {
  d.emit(convertToPairOf8, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)),
         d.row(c.getArgOperand(2)), uint64_t(kindOf(d, Fp8)) | d.constantOperand(c, 3) << 8);
}
template <bool Fp8> void decodeFromPairOf8(Decoder &d, CallInst &c) {
  Row in = d.row(c.getArgOperand(0));
  auto out = d.list(d.defineFresh(&c));
  d.emit(convertFromPairOf8, kNoRow, in, kNoRow, kNoRow,
         uint64_t(kindOf(d, Fp8)) | (d.constantOperand(c, 1) ? 16 : 0) << 8)
      .more = out;
}
template <bool Fp8> void decodeFromOneOf8(Decoder &d, CallInst &c) {
  Row in = d.row(c.getArgOperand(0));
  auto out = d.list(d.defineFresh(&c));
  d.emit(convertFromPairOf8, kNoRow, in, kNoRow, kNoRow, uint64_t(kindOf(d, Fp8)) | d.constantOperand(c, 1) * 8 << 8)
      .more = out;
}
void convertPairTowardZero(Decoder &d, CallInst &c) {
  SmallVector<Row, 4> out(d.defineFresh(&c));
  for (unsigned k = 0; k < 2; ++k)
    d.emit(unary<uint16_t, float,
                 [](float x) { return runtime::encodeFloat(ir::FloatKind::F16, x, runtime::Rounding::TowardZero); }>,
           out[k], d.row(c.getArgOperand(k)));
}
void ignore(Decoder &, CallInst &) {}

} // namespace

// Table: the intrinsics of AMDGPU.
ArrayRef<IntrinsicRow> amdIntrinsics() {
  static constexpr const char
      *kIds = "AMDGPUUsage, Initial Kernel Execution State, Kernel Arguments (code object V5)",
      *kSync = "ISA guide, S_BARRIER; AMDGPUUsage, Memory Model",
      *kBuffer = "ISA guide, Vector Memory Buffer Instructions, Buffer Resource Descriptor",
      *kFloat = "ISA guide, Vector ALU: V_EXP_F32, V_LOG_F32, V_RCP_F32, V_RSQ_F32, V_SQRT_F32, V_FREXP, V_FRACT, "
                "V_MED3, V_CMP_CLASS",
      *kFp8 = "ISA guide, V_CVT_PK_FP8_F32, V_CVT_PK_F32_FP8, V_CVT_PKRTZ_F16_F32",
      *kBits = "ISA guide, V_PERM_B32, V_BFE";
  static const IntrinsicRow rows[] = {
      {"llvm.amdgcn.workitem.id.x", kIds, reads<threadX>},
      {"llvm.amdgcn.workitem.id.y", kIds, reads<zero>},
      {"llvm.amdgcn.workitem.id.z", kIds, reads<zero>},
      {"llvm.amdgcn.workgroup.id.x", kIds, reads<blockId<0>>},
      {"llvm.amdgcn.workgroup.id.y", kIds, reads<blockId<1>>},
      {"llvm.amdgcn.workgroup.id.z", kIds, reads<blockId<2>>},
      {"llvm.amdgcn.wave.id", kIds, reads<waveInGroup>},
      {"llvm.amdgcn.implicitarg.ptr", kIds,
       [](Decoder &d, CallInst &c) { d.define(&c, {d.constant(kConstantBase, 8)}); }},
      {"llvm.amdgcn.s.memtime", kIds, readsTime<clock64>},
      {"llvm.amdgcn.s.memrealtime", kIds, readsTime<clock64>},
      {"llvm.amdgcn.s.barrier", kSync, decodeBarrier},
      {"llvm.amdgcn.wave.barrier", kSync, [](Decoder &d, CallInst &) { d.emit(waveBarrier); }},
      {"llvm.amdgcn.s.waitcnt", kSync, decodeWaitCount},
      {"llvm.amdgcn.s.sleep", kSync, ignore},
      {"llvm.amdgcn.s.setprio", kSync, ignore},
      {"llvm.amdgcn.sched.barrier", kSync, ignore},
      {"llvm.amdgcn.sched.group.barrier", kSync, ignore},
      {"llvm.amdgcn.iglp.opt", kSync, ignore},
      {"llvm.amdgcn.make.buffer.rsrc", kBuffer, decodeMakeResource},
      {"llvm.amdgcn.raw.ptr.buffer.load", kBuffer, decodeBufferLoad},
      {"llvm.amdgcn.raw.ptr.buffer.load.lds", kBuffer, decodeBufferLoadToLds},
      {"llvm.amdgcn.global.load.lds", kBuffer, decodeGlobalLoadToLds},
      {"llvm.amdgcn.raw.ptr.buffer.store", kBuffer, decodeBufferStore},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.swap", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.add", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.sub", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.smin", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.umin", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.smax", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.umax", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.and", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.or", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.xor", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.fadd", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.fmin", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.raw.ptr.buffer.atomic.fmax", kBuffer, decodeBufferAtomic},
      {"llvm.amdgcn.exp2", kFloat,
       [](Decoder &d, CallInst &c) { d.elementwiseFloat(c, unary<float, float, exp2Flushed>, nullptr, 1); }},
      {"llvm.amdgcn.log", kFloat,
       [](Decoder &d, CallInst &c) { d.elementwiseFloat(c, unary<float, float, log2Flushed>, nullptr, 1); }},
      {"llvm.amdgcn.rcp", kFloat, anyFloat1<[](double x) { return 1.0 / x; }>},
      {"llvm.amdgcn.rsq", kFloat,
       [](Decoder &d, CallInst &c) {
         d.elementwiseFloat(c, unary<float, float, rsqFlushed>,
                            unary<double, double, [](double x) { return 1.0 / std::sqrt(x); }>, 1);
       }},
      {"llvm.amdgcn.sqrt", kFloat, anyFloat1<[](double x) { return std::sqrt(x); }>},
      {"llvm.amdgcn.sin", kFloat, anyFloat1<[](double x) { return std::sin(x * 6.283185307179586476925); }>},
      {"llvm.amdgcn.cos", kFloat, anyFloat1<[](double x) { return std::cos(x * 6.283185307179586476925); }>},
      {"llvm.amdgcn.tanh", kFloat, anyFloat1<[](double x) { return std::tanh(x); }>},
      {"llvm.amdgcn.fract", kFloat, fractionPart},
      {"llvm.amdgcn.fmed3", kFloat, median3},
      {"llvm.amdgcn.fdiv.fast", kFloat,
       [](Decoder &d, CallInst &c) {
         d.elementwise(c, binary<float, float, [](float x, float y) { return x / y; }>, 2);
       }},
      {"llvm.amdgcn.div.fixup", kFloat,
       [](Decoder &d, CallInst &c) { d.elementwise(c, ternary<float, float, runtime::amd::divisionFixup<float>>, 3); }},
      {"llvm.amdgcn.frexp.mant", kFloat, mantissa},
      {"llvm.amdgcn.frexp.exp", kFloat, exponent},
      {"llvm.amdgcn.trig.preop", kFloat, trigPreopOf},
      {"llvm.amdgcn.class", kFloat, classTest},
      {"llvm.amdgcn.cvt.pk.fp8.f32", kFp8, decodeToPairOf8<true>},
      {"llvm.amdgcn.cvt.pk.bf8.f32", kFp8, decodeToPairOf8<false>},
      {"llvm.amdgcn.cvt.pk.f32.fp8", kFp8, decodeFromPairOf8<true>},
      {"llvm.amdgcn.cvt.pk.f32.bf8", kFp8, decodeFromPairOf8<false>},
      {"llvm.amdgcn.cvt.f32.fp8", kFp8, decodeFromOneOf8<true>},
      {"llvm.amdgcn.cvt.f32.bf8", kFp8, decodeFromOneOf8<false>},
      {"llvm.amdgcn.cvt.pkrtz", kFp8, convertPairTowardZero},
      {"llvm.amdgcn.perm", kBits,
       [](Decoder &d, CallInst &c) { d.elementwise(c, ternary<uint32_t, uint32_t, runtime::amd::permuteBytes>, 3); }},
      {"llvm.amdgcn.ubfe", kBits,
       [](Decoder &d, CallInst &c) {
         d.elementwise(c,
                       ternary<uint32_t, uint32_t,
                               [](uint32_t x, uint32_t o, uint32_t n) {
                                 return n & 31 ? x >> (o & 31) & ((1u << (n & 31)) - 1) : 0;
                               }>,
                       3);
       }},
      {"llvm.amdgcn.sbfe", kBits,
       [](Decoder &d, CallInst &c) {
         d.elementwise(c,
                       ternary<uint32_t, uint32_t,
                               [](uint32_t x, uint32_t o, uint32_t n) {
                                 n &= 31;
                                 o &= 31;
                                 return n ? uint32_t(int32_t(x >> o << (32 - n)) >> (32 - n)) : 0;
                               }>,
                       3);
       }},
      {"llvm.amdgcn.mulhi.u24", kBits,
       [](Decoder &d, CallInst &c) {
         d.elementwise(
             c,
             binary<uint32_t, uint32_t,
                    [](uint32_t a, uint32_t b) { return uint32_t(uint64_t(a & 0xffffff) * (b & 0xffffff) >> 32); }>,
             2);
       }},
      {"llvm.amdgcn.mul.u24", kBits,
       [](Decoder &d, CallInst &c) {
         d.elementwise(
             c, binary<uint32_t, uint32_t, [](uint32_t a, uint32_t b) { return (a & 0xffffff) * (b & 0xffffff); }>, 2);
       }},
      {"llvm.amdgcn.mul.i24", kBits,
       [](Decoder &d, CallInst &c) {
         d.elementwise(
             c,
             binary<uint32_t, uint32_t,
                    [](uint32_t a, uint32_t b) { return uint32_t((int32_t(a << 8) >> 8) * (int32_t(b << 8) >> 8)); }>,
             2);
       }},
  };
  return rows;
}

} // namespace tessera::emulator
