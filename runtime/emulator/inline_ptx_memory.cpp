// Inline PTX: loads, stores, atomics, asynchronous copies, fences, barrier objects (PTX ISA, "Data Movement and
// Conversion Instructions", "Parallel Synchronization and Communication Instructions").
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/inline_ptx.h"
#include "runtime/emulator/mbarrier.h"
#include "runtime/emulator/tensor_copy.h"
#include "runtime/emulator/tensor_map.h"
#include "runtime/emulator/warpgroup.h"
#include "llvm/ADT/StringSwitch.h"

namespace tessera::emulator::ptx {
using namespace llvm;

namespace {

void commitGroup(Warp &w, const Instruction &) { ++w.copyGroup; }
void waitGroup(Warp &w, const Instruction &i) { waitForCopies(w, i.immediate, i.a != kNoRow); }
/// Lanes of `a` (source size) that copy anything; immediate: the copy's size. Partial sizes do not occur.
void copiesAnything(Warp &w, const Instruction &i) {
  forLanes(w, [&](unsigned l) {
    uint64_t size = w.row<uint32_t>(i.a)[l];
    bool on = i.b == kNoRow || bool(w.row<uint8_t>(i.b)[l] & 1) != bool(i.immediate >> 32);
    if (on && size && size != (i.immediate & 0xffffffff))
      fail(w, &i, int(l), "an asynchronous copy of part of its size, which the emulator does not know");
    w.row<uint8_t>(i.to)[l] = on && size != 0;
  });
}
void clearRow(Warp &w, const Instruction &i) {
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = 0; });
}

} // namespace

Access PtxDecoder::access(const Statement &s, const Operand &address) {
  Access a;
  a.address = address.row;
  a.addressBytes = uint8_t(address.bytes);
  a.offset = address.offset;
  a.space = Space::Generic;
  for (StringRef m : s.modifiers) {
    if (m == "global") a.space = Space::Global;
    if (m == "shared" || m == "shared::cta") a.space = Space::Shared;
    if (m == "local") a.space = Space::Private;
    if (m == "volatile" || m == "relaxed") a.isVolatile = true;
    if (m == "acquire" || m == "acq_rel") a.acquires = a.isVolatile = true;
    if (m == "release" || m == "acq_rel") a.releases = a.isVolatile = true;
    if (m == "cta" || m == "cluster") a.isOfBlock = true; // clusters here have one block
  }
  a.predicate = s.guard;
  a.predicateNegated = s.guardNegated;
  return a;
}

bool PtxDecoder::isHint(StringRef m) {
  static constexpr StringRef kHints[] = {"weak",
                                         "volatile",
                                         "relaxed",
                                         "acquire",
                                         "release",
                                         "acq_rel",
                                         "cta",
                                         "gpu",
                                         "sys",
                                         "cluster",
                                         "global",
                                         "shared",
                                         "shared::cta",
                                         "local",
                                         "const",
                                         "ca",
                                         "cg",
                                         "cs",
                                         "lu",
                                         "cv",
                                         "wb",
                                         "wt",
                                         "nc",
                                         "L1::evict_first",
                                         "L1::evict_last",
                                         "L1::evict_normal",
                                         "L1::evict_unchanged",
                                         "L1::no_allocate",
                                         "L2::evict_first",
                                         "L2::evict_last",
                                         "L2::evict_normal",
                                         "L2::cache_hint",
                                         "L2::64B",
                                         "L2::128B",
                                         "L2::256B"};
  return is_contained(kHints, m);
}

bool PtxDecoder::emitLoadStore(Statement &s) {
  bool load = s.opcode == "ld";
  unsigned count = 1;
  PtxType type;
  for (StringRef m : s.modifiers) {
    unsigned n;
    if (isHint(m)) continue;
    if (m.size() == 2 && m[0] == 'v' && !m.drop_front().getAsInteger(10, n))
      count = n;
    else if (PtxType t = typeOf(m))
      type = t;
    else
      return bad("modifier ." + m);
  }
  if (!type || s.operands.size() < 2) return false;
  Operand &address = s.operands[load ? 1 : 0], &data = s.operands[load ? 0 : 1];
  if (address.kind != Operand::Address) return false;
  std::vector<Operand> parts;
  if (data.kind == Operand::Vector)
    parts = data.parts;
  else
    parts = {data};
  if (parts.size() != count) return bad("number of registers");
  Access a = access(s, address);
  a.kind = load ? Access::Kind::Load : Access::Kind::Store;
  for (Operand &p : parts) {
    unsigned bytes = type.bytes();
    if (p.kind == Operand::Immediate) {
      p.row = d_.constant(p.immediate, bytes);
      p.bytes = bytes;
    }
    if (p.bytes < bytes) return bad("register narrower than the access");
    if (load && type.kind == 's' && p.bytes > bytes) return bad("sign extension");
    a.elements.push_back({p.row, uint8_t(p.bytes), uint8_t(bytes)});
    a.bytes += bytes;
  }
  a.alignment = a.bytes; // PTX: naturally aligned, vectors as a whole
  d_.emitAccess(std::move(a));
  return true;
}

static constexpr StringRef kAtomicOps[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};

static FloatFormat floatFormat(const PtxType &type) {
  switch (type.kind) {
  case 'f': return type.bits == 32 ? FloatFormat::F32 : FloatFormat::F64;
  case 'h': return type.pair ? FloatFormat::F16x2 : FloatFormat::F16;
  case 'y': return type.pair ? FloatFormat::BF16x2 : FloatFormat::BF16;
  default: return FloatFormat::None;
  }
}

/// @pre op is one of kAtomicOps
static AtomicKind atomicKind(StringRef op, const PtxType &type) {
  bool isFloat = floatFormat(type) != FloatFormat::None;
  bool isSigned = type.kind == 's';
  auto ofSign = [&](AtomicKind ofFloats, AtomicKind ofSigned, AtomicKind ofUnsigned) {
    return isFloat ? ofFloats : isSigned ? ofSigned : ofUnsigned;
  };
  return StringSwitch<AtomicKind>(op)
      .Case("add", isFloat ? AtomicKind::FAdd : AtomicKind::Add)
      .Case("min", ofSign(AtomicKind::FMin, AtomicKind::Min, AtomicKind::UMin))
      .Case("max", ofSign(AtomicKind::FMax, AtomicKind::Max, AtomicKind::UMax))
      .Case("inc", AtomicKind::IncWrap)
      .Case("dec", AtomicKind::DecWrap)
      .Case("and", AtomicKind::And)
      .Case("or", AtomicKind::Or)
      .Case("xor", AtomicKind::Xor)
      .Case("exch", AtomicKind::Exchange)
      .Case("cas", AtomicKind::Cas);
}

bool PtxDecoder::emitAtomic(Statement &s) {
  bool result = s.opcode == "atom";
  StringRef op;
  unsigned count = 1;
  PtxType type;
  for (StringRef m : s.modifiers) {
    unsigned n;
    if (is_contained(kAtomicOps, m))
      op = m;
    else if (m == "noftz" || isHint(m))
      continue;
    else if (m.size() == 2 && m[0] == 'v' && !m.drop_front().getAsInteger(10, n))
      count = n;
    else if (PtxType t = typeOf(m))
      type = t;
    else
      return bad("modifier ." + m);
  }
  size_t first = result ? 1 : 0;
  if (!type || op.empty() || s.operands.size() < first + 2 + (op == "cas") ||
      s.operands[first].kind != Operand::Address)
    return false;
  Access a = access(s, s.operands[first]);
  a.kind = Access::Kind::Atomic;
  a.isVolatile = false;
  a.format = floatFormat(type);
  bool isFloat = a.format != FloatFormat::None;
  if (isFloat && op != "add" && op != "min" && op != "max" && op != "exch") return bad("operation on floats");
  if (isFloat && op != "add" && op != "exch" && type.pair) return bad("operation on pairs");
  a.atomic = atomicKind(op, type);
  unsigned bytes = type.bytes();
  auto list = [](const Operand &o) { return o.kind == Operand::Vector ? o.parts : std::vector<Operand>{o}; };
  auto values = list(s.operands[first + 1 + (op == "cas")]);
  if (values.size() != count) return bad("number of registers");
  for (Operand &v : values) {
    a.elements.push_back({source(v, bytes), uint8_t(bytes), uint8_t(bytes)});
    a.bytes += bytes;
  }
  if (op == "cas") a.compare = source(s.operands[first + 1], bytes);
  a.alignment = a.bytes;
  if (result) {
    auto olds = list(s.operands[0]);
    if (olds.size() != count) return bad("number of results");
    for (Operand &o : olds) {
      if (o.bytes != bytes) return bad("width of the result");
      a.old.push_back(o.row);
    }
  }
  d_.emitAccess(std::move(a));
  return true;
}

bool PtxDecoder::emitCopy(Statement &s) {
  if (s.modifiers.empty() || s.modifiers[0] != "async") return false;
  if (s.has("commit_group")) {
    d_.emit(commitGroup);
    return true;
  }
  if (s.has("wait_all")) {
    d_.emit(waitGroup, kNoRow, d_.constant(0, 1));
    return true;
  }
  if (s.has("wait_group")) {
    if (s.operands.size() != 1 || s.operands[0].kind != Operand::Immediate) return false;
    d_.emitImmediate(waitGroup, s.operands[0].immediate);
    return true;
  }
  for (StringRef m : ArrayRef(s.modifiers).drop_front())
    if (!isHint(m)) return bad("modifier ." + m);
  if (s.operands.size() < 3 || s.operands.size() > 4 || s.operands[0].kind != Operand::Address ||
      s.operands[1].kind != Operand::Address || s.operands[2].kind != Operand::Immediate)
    return false;
  unsigned bytes = unsigned(s.operands[2].immediate);
  if (bytes != 4 && bytes != 8 && bytes != 16) return bad("size");
  Access from = access(s, s.operands[1]), to = access(s, s.operands[0]);
  from.space = Space::Global;
  to.space = Space::Shared;
  from.kind = Access::Kind::Load;
  to.kind = Access::Kind::Store;
  to.asynchronous = true;
  from.bytes = to.bytes = from.alignment = to.alignment = bytes;
  for (unsigned k = 0; k < bytes / 4; ++k) {
    Row word = d_.fresh(4);
    d_.emit(clearRow, word);
    from.elements.push_back({word, 4, 4});
    to.elements.push_back({word, 4, 4});
  }
  if (s.operands.size() == 4) {
    Row any = d_.fresh(1);
    d_.emit(copiesAnything, any, source(s.operands[3], 4), s.guard, kNoRow, bytes | uint64_t(s.guardNegated) << 32);
    from.predicate = any;
    from.predicateNegated = false;
  }
  d_.emitAccess(std::move(from));
  d_.emitAccess(std::move(to));
  return true;
}

/// The barrier of all threads, which orders shared and global memory.
bool PtxDecoder::emitBarrier(const Statement &s) {
  for (StringRef m : s.modifiers)
    if (m != "sync" && m != "aligned" && m != "cta") return bad("modifier ." + m);
  if (s.guard != kNoRow) return bad("guard");
  if (s.operands.size() != 1 || s.operands[0].kind != Operand::Immediate || s.operands[0].immediate)
    return bad("operands");
  d_.emitImmediate(barrier, BarrierForm().packed());
  return true;
}

bool PtxDecoder::emitFence(Statement &s) {
  if (s.modifiers.size() == 4 && s.modifiers[0] == "proxy" &&
      s.modifiers[1] == "tensormap::generic") { // .acquire.scope [map], 128
    if (s.modifiers[2] != "acquire" || s.guard != kNoRow || s.operands.size() != 2 ||
        s.operands[0].kind != Operand::Address || s.operands[0].bytes != 8 || s.operands[0].offset ||
        s.operands[1].immediate != 128)
      return bad("operands");
    emitTensorMapAcquire(d_, s.operands[0].row);
    return true;
  }
  if (!s.operands.empty() || s.modifiers.empty()) return false;
  if (s.modifiers[0] == "proxy") {
    if (s.modifiers.size() < 2 || s.modifiers[1] != "async" || s.modifiers.size() > 3) return bad("proxy");
    StringRef space = s.modifiers.size() == 3 ? s.modifiers[2] : "";
    if (space == "global") return true; // no MMA reads global memory
    if (!space.empty() && space != "shared::cta" && space != "shared::cluster") return bad("modifier ." + space);
    emitProxyFence(d_);
    return true;
  }
  // Order within the thread, which accesses here have anyway; between threads, acquires, releases and barriers count.
  for (StringRef m : s.modifiers)
    if (!StringRef(" acq_rel sc acquire release cta cluster gpu sys mbarrier_init ").contains((" " + m + " ").str()))
      return bad("modifier ." + m);
  return true;
}

using MbarrierKind = MbarrierOperation::Kind;

/// What mbarrier.`name` does; waits take the phase's parity or its state. Nothing for others.
static std::optional<MbarrierKind> mbarrierKind(StringRef name, bool parity) {
  bool waits = name == "try_wait" || name == "test_wait";
  if (waits) return parity ? MbarrierKind::WaitParity : MbarrierKind::Wait;
  return StringSwitch<std::optional<MbarrierKind>>(name)
      .Case("init", MbarrierKind::Init)
      .Case("inval", MbarrierKind::Invalidate)
      .Case("arrive", MbarrierKind::Arrive)
      .Case("expect_tx", MbarrierKind::ExpectTx)
      .Case("complete_tx", MbarrierKind::CompleteTx)
      .Default(std::nullopt);
}

bool PtxDecoder::emitMbarrierForm(Statement &s) {
  if (s.modifiers.empty()) return false;
  MbarrierOperation op;
  StringRef name = s.modifiers[0];
  bool parity = false, b64 = false;
  for (StringRef m : ArrayRef(s.modifiers).drop_front()) {
    if (m == "parity")
      parity = true;
    else if (m == "expect_tx" && name == "arrive")
      op.expectsTx = true;
    else if (m == "b64")
      b64 = true;
    else if (!StringRef(" shared shared::cta release acquire relaxed cta cluster ").contains((" " + m + " ").str()))
      return bad("modifier ." + m);
  }
  auto kind = mbarrierKind(name, parity);
  if (!kind) return bad("operation ." + name);
  op.kind = *kind;
  bool waits = *kind == MbarrierKind::Wait || *kind == MbarrierKind::WaitParity;
  if (!b64 || (parity && !waits)) return bad("type");
  op.guard = s.guard;
  op.guardNegated = s.guardNegated;
  // {result,} [address]{, operand{, hint}}
  bool invalidates = op.kind == MbarrierKind::Invalidate;
  bool mayOmitOperand = invalidates || (op.kind == MbarrierKind::Arrive && !op.expectsTx);
  size_t at = op.kind == MbarrierKind::Arrive || waits ? 1 : 0;
  size_t least = at + (mayOmitOperand ? 1 : 2);
  size_t most = invalidates ? 1 : at + (waits ? 3 : 2);
  if (s.operands.size() < least || s.operands.size() > most || s.operands[at].kind != Operand::Address)
    return bad("operands");
  const Operand &address = s.operands[at];
  op.address = address.row;
  op.addressBytes = uint8_t(address.bytes);
  op.offset = address.offset;
  if (at && s.operands[0].kind != Operand::Sink) {
    unsigned resultBytes = waits ? 1 : 8; // a predicate, or the state
    if (s.operands[0].kind != Operand::Register || s.operands[0].bytes != resultBytes) return bad("result");
    (waits ? op.complete : op.state) = s.operands[0].row;
  }
  if (waits && op.complete == kNoRow) return bad("result");
  if (s.operands.size() > at + 1) {
    Row value = source(s.operands[at + 1], op.kind == MbarrierKind::Wait ? 8 : 4);
    (waits ? op.state : op.count) = value;
  }
  emitMbarrier(d_, op);
  return true;
}

bool PtxDecoder::emitTensorMapForm(Statement &s) {
  if (s.modifiers.empty()) return false;
  if (s.modifiers[0] == "cp_fenceproxy") {
    if (!s.has("global") || !s.has("shared::cta") || !s.has("tensormap::generic") || !s.has("release") ||
        s.guard != kNoRow || s.operands.size() != 3 || s.operands[2].immediate != 128)
      return bad("operands");
    const Operand &to = s.operands[0], &from = s.operands[1];
    if (to.kind != Operand::Address || from.kind != Operand::Address || to.bytes != 8 || to.offset || from.offset)
      return bad("operands");
    emitTensorMapPublish(d_, to.row, from.row, uint8_t(from.bytes));
    return true;
  }
  static constexpr std::pair<StringRef, TensorMapField::Field> kFields[] = {
      {"global_address", TensorMapField::Address}, {"rank", TensorMapField::Rank},
      {"box_dim", TensorMapField::BoxSize},        {"global_dim", TensorMapField::Size},
      {"global_stride", TensorMapField::Stride},   {"element_stride", TensorMapField::ElementStride},
      {"elemtype", TensorMapField::ElementType},   {"interleave_layout", TensorMapField::Interleave},
      {"swizzle_mode", TensorMapField::Swizzle},   {"fill_mode", TensorMapField::Fill}};
  if (s.modifiers.size() != 6 || s.modifiers[0] != "replace" || s.modifiers[1] != "tile" ||
      s.modifiers[3] != "shared::cta" || s.modifiers[4] != "b1024")
    return bad("form");
  auto *found = llvm::find_if(kFields, [&](auto &f) { return f.first == s.modifiers[2]; });
  if (found == std::end(kFields)) return bad("field ." + s.modifiers[2]);
  TensorMapField op;
  op.field = found->second;
  bool wide = op.field == TensorMapField::Address || op.field == TensorMapField::Stride;
  bool numbered = op.field == TensorMapField::BoxSize || op.field == TensorMapField::Size ||
                  op.field == TensorMapField::Stride || op.field == TensorMapField::ElementStride;
  if (s.modifiers[5] != (wide ? "b64" : "b32")) return bad("type");
  if (s.operands.size() != 2u + numbered || s.operands[0].kind != Operand::Address) return bad("operands");
  if (numbered) {
    if (s.operands[1].kind != Operand::Immediate ||
        s.operands[1].immediate >= (op.field == TensorMapField::Stride ? 4u : 5u))
      return bad("ordinal");
    op.ordinal = unsigned(s.operands[1].immediate);
  }
  op.address = s.operands[0].row;
  op.addressBytes = uint8_t(s.operands[0].bytes);
  op.offset = s.operands[0].offset;
  op.value = source(s.operands.back(), wide ? 8 : 4);
  op.guard = s.guard;
  op.guardNegated = s.guardNegated;
  emitTensorMapField(d_, op);
  return true;
}

namespace {

/// The modifiers of cp.async.bulk and cp.reduce.async.bulk.
struct BulkCopyModifiers {
  StringRef control;   // commit_group or wait_group: no copy, but a group of them
  bool read = false;   // of wait_group: until the sources are read
  bool reduce = false; // cp.reduce
  StringRef reduction; // its operation
  bool tensor = false;
  unsigned dims = 0; // .1d to .5d
  bool global = false;
  bool shared = false;
  bool toShared = false;       // .shared comes before .global: the destination comes first
  bool completesBytes = false; // on an mbarrier
  bool inGroup = false;        // bulk_group

  /// False if the modifier is unknown.
  bool take(StringRef m) {
    if (m == "async" || m == "bulk" || m == "tile") return true;
    bool isDims = m.size() == 2 && m[1] == 'd' && m[0] >= '1' && m[0] <= '5';
    if (m == "reduce")
      reduce = true;
    else if (m == "tensor")
      tensor = true;
    else if (isDims)
      dims = unsigned(m[0] - '0');
    else if (m == "global")
      global = true;
    else if (m == "shared::cluster" || m == "shared::cta") {
      toShared = !global;
      shared = true;
    } else if (m == "mbarrier::complete_tx::bytes")
      completesBytes = true;
    else if (m == "bulk_group")
      inGroup = true;
    else if (m == "commit_group" || m == "wait_group")
      control = m;
    else if (m == "read")
      read = true;
    else if (reduce && StringRef(" add min max inc dec and or xor ").contains((" " + m + " ").str()))
      reduction = m;
    else
      return false;
    return true;
  }

  /// Whether they name a copy of a tensor that is completed in one of the two ways: copies into shared memory on an
  /// mbarrier, others in a group.
  bool isTensorCopy() const {
    bool isCompleted = toShared ? completesBytes && !inGroup : inGroup && !completesBytes;
    bool isReduction = reduce && !reduction.empty() && !toShared;
    return tensor && dims && global && shared && !read && isCompleted && (!reduce || isReduction);
  }
};

} // namespace

bool PtxDecoder::emitTensorCopyForm(Statement &s) { // cp{.reduce}.async.bulk…
  BulkCopyModifiers form;
  for (StringRef m : s.modifiers)
    if (!form.take(m)) return bad("modifier ." + m);
  if (form.control == "commit_group") {
    if (s.guard != kNoRow || !s.operands.empty()) return bad("operands");
    emitTensorCopyCommit(d_);
    return true;
  }
  if (form.control == "wait_group") {
    if (s.guard != kNoRow || s.operands.size() != 1 || s.operands[0].kind != Operand::Immediate) return bad("operands");
    emitTensorCopyWait(d_, s.operands[0].immediate, form.read);
    return true;
  }
  if (!form.isTensorCopy()) return bad("form");
  TensorCopyOperation op;
  op.kind = form.reduce     ? TensorCopyOperation::Reduce
            : form.toShared ? TensorCopyOperation::ToShared
                            : TensorCopyOperation::ToGlobal;
  op.reduction = form.reduction.str();
  // [shared], [map, {coordinates}], [mbarrier] into shared memory; [map, {coordinates}], [shared] from there.
  if (s.operands.size() != (form.toShared ? 3u : 2u)) return bad("operands");
  const Operand &memory = s.operands[form.toShared ? 0 : 1];
  const Operand &place = s.operands[form.toShared ? 1 : 0];
  bool isPlace = place.kind == Operand::Vector && place.parts.size() == 2 && place.parts[0].kind == Operand::Address &&
                 place.parts[0].bytes == 8 && place.parts[1].kind == Operand::Vector &&
                 place.parts[1].parts.size() == form.dims;
  if (memory.kind != Operand::Address || !isPlace) return bad("operands");
  op.shared = memory.row;
  op.sharedBytes = uint8_t(memory.bytes);
  op.sharedOffset = memory.offset;
  op.map = place.parts[0].row;
  op.mapOffset = place.parts[0].offset;
  for (const Operand &c : place.parts[1].parts) op.coordinates.push_back(source(c, 4));
  if (form.toShared) {
    const Operand &barrier = s.operands[2];
    if (barrier.kind != Operand::Address) return bad("operands");
    op.barrier = barrier.row;
    op.barrierBytes = uint8_t(barrier.bytes);
    op.barrierOffset = barrier.offset;
  }
  op.guard = s.guard;
  op.guardNegated = s.guardNegated;
  emitTensorCopy(d_, std::move(op));
  return true;
}

bool PtxDecoder::emitElectForm(Statement &s) { // elect.sync d|p, members
  if (s.modifiers.size() != 1 || s.modifiers[0] != "sync" || s.guard != kNoRow || s.operands.size() != 2 ||
      s.operands[0].kind != Operand::Vector || s.operands[0].parts.size() != 2)
    return bad("operands");
  Row out[2];
  for (unsigned k : {0u, 1u}) {
    const Operand &o = s.operands[0].parts[k];
    if (o.kind != Operand::Sink && (o.kind != Operand::Register || o.bytes != (k ? 1u : 4u))) return bad("result");
    out[k] = o.kind == Operand::Sink ? kNoRow : o.row;
  }
  emitElect(d_, out[0], out[1], source(s.operands[1], 4));
  return true;
}

} // namespace tessera::emulator::ptx
