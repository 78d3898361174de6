// Costs of instructions by their unit and mnemonic (see instruction_cost.h).
#include "runtime/timing/instruction_cost.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include <algorithm>

namespace tessera::timing {
using code_object::Instruction;
using code_object::Unit;

llvm::StringRef name(Resource r) {
  switch (r) {
  case Resource::None: return "internal";
  case Resource::Scalar: return "salu";
  case Resource::Vector: return "valu";
  case Resource::Matrix: return "matrix";
  case Resource::Branch: return "branch";
  case Resource::LdsIssue: return "lds";
  case Resource::MemoryIssue: return "memory";
  case Resource::ScalarMemory: return "smem";
  }
  return "";
}

namespace {

/// The format of operand A (cbsz) or B (blgp) of …_f8f6f4 has 8 bits: 0 and 1 (CDNA4 guide, "Matrix operand formats").
bool hasEightBits(llvm::StringRef text, llvm::StringRef modifier) {
  auto at = text.find(modifier);
  if (at == llvm::StringRef::npos) return true; // 0
  char digit = text.drop_front(at + modifier.size()).front();
  return digit == '0' || digit == '1';
}

/// Vector instructions take as many passes as the wave is wider than the machine's native one.
unsigned passes(const Machine &m, unsigned waveSize) { return std::max(1u, waveSize / m.nativeLanes); }

absl::StatusOr<InstructionCost> matrixCost(const Instruction &i, const Machine &m) {
  llvm::StringRef text = i.text;
  bool wide = hasEightBits(text, "cbsz:") || hasEightBits(text, "blgp:");
  InstructionCost c;
  c.resource = Resource::Matrix;
  c.occupies = m.matrixCycles(i.mnemonic, wide);
  if (c.occupies == 0)
    return absl::NotFoundError(absl::StrCat("no timing of ", i.mnemonic, " on ", m.target, " (", i.text, ")"));
  c.latency = c.occupies + m.matrixResultExtra;
  c.accumulateLatency = c.occupies + m.matrixAccumulateExtra;
  c.alsoVector = m.matrixSharesValu != 0;
  return c;
}

InstructionCost vectorCost(const Instruction &i, const Machine &m, unsigned waveSize) {
  InstructionCost c;
  c.resource = Resource::Vector;
  unsigned p = passes(m, waveSize);
  if (const Rate *r = m.rate(i.mnemonic, i.unit == Unit::Transcendental)) {
    c.occupies = r->issue * p;
    c.latency = r->latency + r->issue * (p - 1);
  } else {
    c.occupies = m.valuCycles * p;
    c.latency = m.valuLatency + m.valuCycles * (p - 1);
  }
  return c;
}

/// The counters that a memory instruction increments (ISA guides, "Data dependency resolution").
InstructionCost memoryCost(const Instruction &i, const Machine &m) {
  InstructionCost c;
  c.isMemory = true;
  auto count = [&](Counter k) { c.counts[unsigned(k)] = true; };
  c.occupies = m.issueCycles;
  if (i.unit == Unit::Lds) {
    c.resource = Resource::LdsIssue;
    count(Counter::Lds);
    return c;
  }
  if (i.unit == Unit::Smem) {
    c.resource = Resource::ScalarMemory;
    count(m.family == Family::Gfx12 ? Counter::Scalar : Counter::Lds);
    return c;
  }
  c.resource = Resource::MemoryIssue;
  bool returns = i.isLoad || i.toLds || !i.defs.empty();
  count(returns || m.family == Family::Gfx9 ? Counter::Vector : Counter::Store);
  if (i.unit == Unit::Flat) count(Counter::Lds);
  return c;
}

InstructionCost barrierCost(const Instruction &i) {
  InstructionCost c;
  llvm::StringRef m = i.mnemonic;
  if (m.contains("signal"))
    c.effect = Effect::Signal;
  else if (m == "s_barrier")
    c.effect = Effect::SignalAndWait;
  else if (m.contains("wait"))
    c.effect = Effect::Await;
  return c; // s_barrier_leave, s_get_barrier_state: nothing
}

InstructionCost waitCost(const Instruction &i, const Machine &m) {
  InstructionCost c;
  c.effect = Effect::Wait;
  auto &w = i.waits;
  c.limits[unsigned(Counter::Vector)] = w.vm;
  c.limits[unsigned(Counter::Store)] = w.store;
  c.limits[unsigned(Counter::Lds)] = m.family == Family::Gfx12 ? w.ds : w.lgkm;
  c.limits[unsigned(Counter::Scalar)] = w.km;
  return c;
}

InstructionCost controlCost(const Instruction &i) {
  InstructionCost c;
  c.amount = i.immediate;
  llvm::StringRef m = i.mnemonic;
  if (m == "s_nop") {
    c.effect = Effect::Nop;
    c.amount = (i.immediate & 15) + 1;
  } else if (m == "s_sleep") {
    c.effect = Effect::Sleep;
    c.amount = i.immediate & 127;
  } else if (m == "s_setprio") {
    c.effect = Effect::SetPriority;
    c.amount = i.immediate & 3;
  } else if (m == "s_endpgm")
    c.effect = Effect::End;
  return c;
}

} // namespace

absl::StatusOr<InstructionCost> costOf(const Instruction &i, const Machine &m, unsigned waveSize) {
  InstructionCost c;
  switch (i.unit) {
  case Unit::Salu:
    c.resource = Resource::Scalar;
    c.occupies = m.saluCycles;
    c.latency = m.saluLatency;
    return c;
  case Unit::Branch:
    c.resource = Resource::Branch;
    c.effect = i.mnemonic == "s_endpgm" ? Effect::End : Effect::Branch;
    c.occupies = m.saluCycles;
    return c;
  case Unit::Wait: return waitCost(i, m);
  case Unit::Barrier: return barrierCost(i);
  case Unit::Control: return controlCost(i);
  case Unit::Valu:
  case Unit::Transcendental: return vectorCost(i, m, waveSize);
  case Unit::Matrix: return matrixCost(i, m);
  case Unit::Smem:
  case Unit::Lds:
  case Unit::Global:
  case Unit::Flat:
  case Unit::Buffer:
  case Unit::Scratch: return memoryCost(i, m);
  }
  return c;
}

} // namespace tessera::timing
