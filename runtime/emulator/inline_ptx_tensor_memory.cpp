// Forms of inline PTX: tcgen05. Source: PTX ISA, "TensorCore 5th Generation Family Instructions".
#include "runtime/emulator/inline_ptx.h"
#include "runtime/emulator/tensor_memory.h"
#include "llvm/ADT/StringSwitch.h"

namespace tessera::emulator::ptx {
using namespace llvm;

static bool isAddress(const Operand &o) { return o.kind == Operand::Address && o.bytes == 4 && !o.offset; }
static bool isColumns(const Operand &o) { return o.kind == Operand::Immediate && !o.isReal; }

bool PtxDecoder::emitTensorMemoryForm(Statement &s) {
  if (s.modifiers.empty()) return false;
  StringRef kind = s.modifiers[0];
  auto modifiersAre = [&](std::initializer_list<StringRef> rest) {
    return ArrayRef(s.modifiers).drop_front() == ArrayRef(rest);
  };
  if (kind == "ld" || kind == "st") return emitTensorMemoryAccess(s, kind == "ld");
  if (kind == "mma") return emitTensorMemoryDot(s);
  if (kind == "commit") {
    bool known = modifiersAre({"cta_group::1", "mbarrier::arrive::one", "b64"}) ||
                 modifiersAre({"cta_group::1", "mbarrier::arrive::one", "shared::cluster", "b64"});
    if (!known) return bad("modifiers");
    if (s.operands.size() != 1 || !isAddress(s.operands[0])) return bad("operands");
    emitTensorMemoryCommit(d_, s.operands[0].row, s.guard, s.guardNegated);
    return true;
  }
  if (s.guard != kNoRow) return bad("guard");
  if (kind == "wait::ld" || kind == "wait::st") {
    if (!modifiersAre({"sync", "aligned"}) || !s.operands.empty()) return bad("operands");
    if (kind == "wait::ld") loadsTensorMemory_ = false;
    emitTensorMemoryWait(d_, kind == "wait::ld");
    return true;
  }
  if (kind == "fence::before_thread_sync" || kind == "fence::after_thread_sync") {
    if (!modifiersAre({}) || !s.operands.empty()) return bad("operands");
    emitTensorMemoryFence(d_, kind == "fence::before_thread_sync");
    return true;
  }
  if (kind == "relinquish_alloc_permit") {
    if (!modifiersAre({"cta_group::1", "sync", "aligned"}) || !s.operands.empty()) return bad("operands");
    emitTensorMemoryRelinquish(d_);
    return true;
  }
  bool allocates = kind == "alloc" && modifiersAre({"cta_group::1", "sync", "aligned", "shared::cta", "b32"});
  bool frees = kind == "dealloc" && modifiersAre({"cta_group::1", "sync", "aligned", "b32"});
  if (!allocates && !frees) return bad("form");
  if (s.operands.size() != 2 || !isColumns(s.operands[1])) return bad("operands");
  if (allocates ? !isAddress(s.operands[0]) : s.operands[0].kind != Operand::Register || s.operands[0].bytes != 4)
    return bad("operands");
  (allocates ? emitTensorMemoryAlloc : emitTensorMemoryFree)(d_, s.operands[0].row, s.operands[1].immediate);
  return true;
}

// tcgen05.ld.sync.aligned.shape.num.b32 {r…}, [address]{, offset}; tcgen05.st has the registers at the end.
bool PtxDecoder::emitTensorMemoryAccess(Statement &s, bool isLoad) {
  TensorMemoryAccessForm form;
  unsigned count = 0;
  bool isKnown = s.modifiers.size() == 6 && s.modifiers[1] == "sync" && s.modifiers[2] == "aligned" &&
                 s.modifiers[5] == "b32" && !s.modifiers[4].drop_front().getAsInteger(10, count);
  form.halves = isKnown && s.modifiers[3] == "16x32bx2";
  if (!isKnown || (!form.halves && s.modifiers[3] != "32x32b")) return bad("form");
  if (!isPowerOf2_32(count) || count > 128) return bad("number of registers");
  size_t operands = form.halves ? 3 : 2;
  if (s.operands.size() != operands) return bad("operands");
  const Operand &address = s.operands[isLoad ? 1 : 0], &words = isLoad ? s.operands[0] : s.operands.back();
  if (!isAddress(address)) return bad("address");
  if (form.halves) {
    const Operand &offset = s.operands[isLoad ? 2 : 1];
    if (!isColumns(offset) || offset.immediate >= kTensorColumns) return bad("offset of the second half");
    form.offset = unsigned(offset.immediate);
  }
  for (const Operand &o : words.kind == Operand::Vector ? words.parts : std::vector<Operand>{words}) {
    if (o.kind == Operand::Immediate && !isLoad)
      form.words.push_back(d_.constant(o.immediate, 4));
    else if (o.kind == Operand::Register && o.bytes == 4)
      form.words.push_back(o.row);
    else
      return bad("register");
  }
  if (form.words.size() != count) return bad("number of registers");
  if (isLoad && s.guard != kNoRow) return bad("guard");
  form.isLoad = isLoad;
  form.address = address.row;
  form.guard = s.guard;
  form.guardNegated = s.guardNegated;
  loadsTensorMemory_ |= isLoad;
  emulator::emitTensorMemoryAccess(d_, std::move(form));
  return true;
}

// tcgen05.mma.cta_group::1.kind::… [d], a-desc or [a], b-desc, i-desc, enable-d
bool PtxDecoder::emitTensorMemoryDot(Statement &s) {
  using Kind = TensorMemoryDotForm::Kind;
  TensorMemoryDotForm form;
  if (s.modifiers.size() != 3 || s.modifiers[1] != "cta_group::1") return bad("form");
  auto kind = StringSwitch<std::optional<Kind>>(s.modifiers[2])
                  .Case("kind::f16", Kind::F16)
                  .Case("kind::tf32", Kind::TF32)
                  .Case("kind::f8f6f4", Kind::F8F6F4)
                  .Case("kind::i8", Kind::I8)
                  .Default(std::nullopt);
  if (!kind) return bad("kind");
  form.kind = *kind;
  if (s.operands.size() != 5 || !isAddress(s.operands[0])) return bad("operands");
  auto isRegister = [](const Operand &o, unsigned bytes) { return o.kind == Operand::Register && o.bytes == bytes; };
  if (isAddress(s.operands[1]))
    form.aAddress = s.operands[1].row;
  else if (isRegister(s.operands[1], 8))
    form.aDescriptor = s.operands[1].row;
  else
    return bad("operand A");
  if (!isRegister(s.operands[2], 8) || !isRegister(s.operands[3], 4) || !isRegister(s.operands[4], 1))
    return bad("operands");
  form.d = s.operands[0].row;
  form.bDescriptor = s.operands[2].row;
  form.instruction = s.operands[3].row;
  form.accumulate = s.operands[4].row;
  form.guard = s.guard;
  form.guardNegated = s.guardNegated;
  emulator::emitTensorMemoryDot(d_, form);
  return true;
}

} // namespace tessera::emulator::ptx
