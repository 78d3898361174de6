// AMD's accesses through buffer resources, and loads into LDS (see amd_buffers.h).
#include "runtime/emulator/amd_buffers.h"
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tessera::emulator {
using namespace llvm;

namespace {

void makeResource(Warp &w, const Instruction &i) { // a: base, b: stride, c: records (8 bytes), more: flags
  forLanes(w, [&](unsigned l) {
    u128 base = w.row<uint64_t>(i.a)[l] & 0xffffffffffffull, stride = w.row<uint16_t>(i.b)[l];
    u128 records = uint32_t(w.row<uint64_t>(i.c)[l]), flags = w.row<uint32_t>(i.more[0])[l];
    w.row<u128>(i.to)[l] = base | stride << 48 | records << 64 | flags << 96;
  });
}
/// `offsets`: the operand of the lanes' offsets, before that of the wave's.
Access bufferAccess(Decoder &d, CallInst &c, Type *type, unsigned resource, unsigned offsets) {
  Access a;
  a.space = Space::Global;
  a.resource = d.row(c.getArgOperand(resource));
  a.address = d.row(c.getArgOperand(offsets));
  a.addressBytes = 4;
  a.scalarOffset = d.row(c.getArgOperand(offsets + 1));
  for (Type *t : d.elements(type)) {
    unsigned bytes = d.bytesOf(t);
    a.elements.push_back({kNoRow, uint8_t(bytes), uint8_t(bytes)});
    a.bytes += bytes;
  }
  a.alignment = std::min(a.bytes, 4u); // buffer accesses of dwords need dword alignment
  return a;
}
/// Where a wave's load into LDS puts what its lanes bring: lane l's bytes go to the place of the first lane that is on,
/// plus l times their number.
void placesOfLanes(Warp &w, const Instruction &i) { // a: the address, immediate: bytes
  if (!w.mask) return;
  uint32_t first = w.row<uint32_t>(i.a)[std::countr_zero(w.mask)];
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = first + l * uint32_t(i.immediate); });
}
void startsGroup(Warp &w, const Instruction &) { ++w.copyGroup; }
void waitForLoads(Warp &w, const Instruction &i) { waitForCopies(w, i.immediate, false); }
/// A load into LDS: an access `from` memory, and a store that arrives only when it is waited for.
void emitLoadToLds(Decoder &d, Access from, Value *place, unsigned bytes) {
  Access to;
  Row places = d.fresh(4);
  d.emit(placesOfLanes, places, d.row(place), kNoRow, kNoRow, bytes);
  to.kind = Access::Kind::Store;
  to.space = Space::Shared;
  to.address = places;
  to.addressBytes = 4;
  to.asynchronous = true;
  to.bytes = to.alignment = bytes;
  for (auto &p : from.elements) {
    p.row = d.fresh(p.rowBytes);
    to.elements.push_back({p.row, p.rowBytes, p.memoryBytes});
  }
  d.emitAccess(std::move(from));
  d.emitAccess(std::move(to));
  d.emit(startsGroup);
}
Type *wordsOf(CallInst &c, unsigned bytes) {
  return FixedVectorType::get(Type::getInt32Ty(c.getContext()), std::max(1u, bytes / 4));
}

} // namespace

void decodeMakeResource(Decoder &d, CallInst &c) {
  Value *records = c.getArgOperand(2);
  Row more[1] = {d.row(c.getArgOperand(3))};
  d.emit(makeResource, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)),
         d.resized(d.row(records), d.bytesOf(records->getType()), 8))
      .more = d.list(more);
}
void decodeBufferLoad(Decoder &d, CallInst &c) {
  Access a = bufferAccess(d, c, c.getType(), 0, 1);
  for (auto [p, r] : zip(a.elements, d.defineFresh(&c))) p.row = r;
  d.emitAccess(a);
}
void decodeWaitCount(Decoder &d, CallInst &c) {
  uint64_t counts = d.constantOperand(c, 0);
  uint64_t loads = (counts & 15) | (counts >> 14 & 3) << 4;
  // Of the loads that are counted, those into LDS are the only ones that are in flight here.
  if (d.target().asyncCopyBytes) d.emit(waitForLoads, kNoRow, kNoRow, kNoRow, kNoRow, loads);
}
void decodeBufferLoadToLds(Decoder &d, CallInst &c) {
  unsigned bytes = unsigned(d.constantOperand(c, 2));
  Access a = bufferAccess(d, c, wordsOf(c, bytes), 0, /*offsets=*/3);
  emitLoadToLds(d, std::move(a), c.getArgOperand(1), bytes);
}
void decodeGlobalLoadToLds(Decoder &d, CallInst &c) {
  unsigned bytes = unsigned(d.constantOperand(c, 2));
  Access a = d.memoryAccess(wordsOf(c, bytes), c.getArgOperand(0), bytes);
  a.kind = Access::Kind::Load;
  emitLoadToLds(d, std::move(a), c.getArgOperand(1), bytes);
}
void decodeBufferStore(Decoder &d, CallInst &c) {
  Access a = bufferAccess(d, c, c.getArgOperand(0)->getType(), 1, 2);
  a.kind = Access::Kind::Store;
  for (auto [p, r] : zip(a.elements, d.rows(c.getArgOperand(0)))) p.row = r;
  d.emitAccess(a);
}
void decodeBufferAtomic(Decoder &d, CallInst &c) {
  Access a = bufferAccess(d, c, c.getType(), 1, 2);
  a.kind = Access::Kind::Atomic;
  StringRef name = Intrinsic::getBaseName(c.getCalledFunction()->getIntrinsicID());
  StringRef op = name.rsplit('.').second;
  if (name.ends_with("fadd") || name.ends_with("fmin") || name.ends_with("fmax")) op = name.take_back(4);
  a.atomic = op == "swap"   ? AtomicKind::Exchange
             : op == "add"  ? AtomicKind::Add
             : op == "sub"  ? AtomicKind::Sub
             : op == "smin" ? AtomicKind::Min
             : op == "umin" ? AtomicKind::UMin
             : op == "smax" ? AtomicKind::Max
             : op == "umax" ? AtomicKind::UMax
             : op == "and"  ? AtomicKind::And
             : op == "or"   ? AtomicKind::Or
             : op == "xor"  ? AtomicKind::Xor
             : op == "fadd" ? AtomicKind::FAdd
             : op == "fmin" ? AtomicKind::FMin
                            : AtomicKind::FMax;
  Type *t = c.getType()->getScalarType();
  a.format = t->isHalfTy()     ? FloatFormat::F16
             : t->isBFloatTy() ? FloatFormat::BF16
             : t->isFloatTy()  ? FloatFormat::F32
             : t->isDoubleTy() ? FloatFormat::F64
                               : FloatFormat::None;
  for (auto [p, r] : zip(a.elements, d.rows(c.getArgOperand(0)))) p.row = r;
  a.old.assign(d.defineFresh(&c));
  d.emitAccess(a);
}

} // namespace tessera::emulator
