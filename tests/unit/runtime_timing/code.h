// Instructions and traces made by hand for the tests of the timing model.
#pragma once
#include "runtime/code_object/instruction.h"
#include "runtime/code_object/trace.h"
#include "runtime/timing/replay.h"
#include <initializer_list>
#include <string>
#include <vector>

namespace tessera::timing::testing {
using code_object::Instruction;
using code_object::RegisterFile;
using code_object::RegisterRange;
using code_object::TraceEvent;
using code_object::Unit;
using code_object::WaveTrace;

inline RegisterRange v(unsigned index, unsigned count = 1) {
  return {RegisterFile::Vgpr, uint16_t(index), uint16_t(count)};
}
inline RegisterRange s(unsigned index, unsigned count = 1) {
  return {RegisterFile::Sgpr, uint16_t(index), uint16_t(count)};
}

/// Code in which every wave of a test executes all instructions once, in order.
struct Code {
  std::vector<Instruction> instructions;

  Instruction &add(Unit unit, std::string mnemonic, std::vector<RegisterRange> defs = {},
                   std::vector<RegisterRange> uses = {}) {
    Instruction i;
    i.unit = unit;
    i.address = instructions.size() * 8;
    i.mnemonic = i.text = std::move(mnemonic);
    i.defs = std::move(defs);
    i.uses = std::move(uses);
    instructions.push_back(std::move(i));
    return instructions.back();
  }
  void matrix(unsigned d, unsigned c, const char *mnemonic = "v_mfma_f32_16x16x16_f16") {
    add(Unit::Matrix, mnemonic, {v(d, 4)}, {v(100, 2), v(102, 2), v(c, 4)});
  }
  void valu(unsigned d, unsigned a) { add(Unit::Valu, "v_add_f32", {v(d)}, {v(a)}); }
  void waitVector(int most) { add(Unit::Wait, "s_waitcnt").waits.vm = int16_t(most); }
  void waitLds(int most) { add(Unit::Wait, "s_waitcnt").waits.lgkm = int16_t(most); }
  void control(const char *mnemonic, unsigned amount) { add(Unit::Control, mnemonic).immediate = amount; }
  void barrier() { add(Unit::Barrier, "s_barrier"); }
  void end() { add(Unit::Branch, "s_endpgm"); }
  void load(unsigned d) {
    Instruction &i = add(Unit::Global, "global_load_dword", {v(d)}, {v(110, 2)});
    i.isLoad = true;
  }
  void ldsRead(unsigned d, unsigned bytes) {
    Instruction &i = add(Unit::Lds, "ds_read", {v(d, bytes / 4)}, {v(110)});
    i.isLoad = true;
    i.accessBytes = uint8_t(bytes);
  }
};

inline std::vector<const WaveTrace *> pointers(const std::vector<WaveTrace> &waves) {
  std::vector<const WaveTrace *> to;
  for (auto &w : waves) to.push_back(&w);
  return to;
}

/// A wave that executes all of the code. Memory instructions access `address(lane)`, or LDS likewise, all lanes active.
template <typename F>
WaveTrace execute(const Code &code, unsigned workgroup, unsigned wave, F address, unsigned lanes = 64) {
  WaveTrace t;
  t.workgroup = {workgroup, 0, 0};
  t.wave = wave;
  for (uint32_t i = 0; i < code.instructions.size(); ++i) {
    const Instruction &instruction = code.instructions[i];
    TraceEvent e;
    e.instruction = i;
    e.mask = lanes == 64 ? ~uint64_t(0) : (uint64_t(1) << lanes) - 1;
    e.bytes = instruction.accessBytes ? instruction.accessBytes : 4;
    e.firstAddress = uint32_t(t.addresses.size());
    e.firstLds = uint32_t(t.ldsAddresses.size());
    for (unsigned lane = 0; lane < lanes; ++lane) {
      if (instruction.unit == Unit::Global) t.addresses.push_back(address(lane));
      if (instruction.unit == Unit::Lds) t.ldsAddresses.push_back(uint32_t(address(lane)));
    }
    e.addressCount = uint16_t(t.addresses.size() - e.firstAddress);
    e.ldsCount = uint16_t(t.ldsAddresses.size() - e.firstLds);
    t.events.push_back(e);
  }
  return t;
}
inline WaveTrace execute(const Code &code, unsigned workgroup = 0, unsigned wave = 0) {
  return execute(code, workgroup, wave, [](unsigned lane) { return uint64_t(4) * lane; });
}

inline Machine machine(const char *target, std::vector<std::string> numbers = {}) {
  MachineOverrides o;
  o.numbers = std::move(numbers);
  return *machineOf(target, o);
}

inline CuReplay run(const Machine &m, const Code &code, const std::vector<WaveTrace> &waves, unsigned resident = 8,
                    size_t records = 1000) {
  ReplayInput in;
  in.code = code.instructions;
  in.waveSize = m.family == Family::Gfx9 ? 64 : 32;
  auto to = pointers(waves);
  in.waves = to;
  in.residentWorkgroups = resident;
  in.mostRecords = records;
  in.share.behindLatency = m.cacheLatency;
  auto r = replay(m, in);
  if (!r.ok()) return {};
  return *std::move(r);
}

} // namespace tessera::timing::testing
