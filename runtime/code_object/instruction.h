// Machine code of an AMD kernel, decoded: what the executor runs and what a model of its timing reads.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::code_object {

/// Vcc, Exec, M0 and the trap handler's registers are SGPRs with the numbers below; Scc is its own.
enum class RegisterFile : uint8_t { None, Sgpr, Vgpr, Agpr, Scc };

// SGPRs that are no general ones. Numbers of this model; up to ttmp15 also the encoding's of gfx9.
inline constexpr unsigned kVccLo = 106, kTtmp0 = 108, kM0 = 124, kNull = 125, kExecLo = 126;
inline constexpr unsigned kFlatScratchLo = 102; // of gfx90a, gfx94x and gfx950
inline constexpr unsigned kSgprs = 128;
inline constexpr uint32_t kNoInstruction = ~0u;

/// `count` consecutive 32-bit registers.
struct RegisterRange {
  RegisterFile file = RegisterFile::None;
  uint16_t index = 0;
  uint16_t count = 0;
};

/// Whose work an instruction is. What the letters mean is in the ISA guides' "Instruction formats".
enum class Unit : uint8_t {
  Salu,    // SOP1, SOP2, SOPK, SOPC
  Branch,  // s_branch, s_cbranch_*, s_setpc, s_endpgm
  Wait,    // s_waitcnt*, s_wait_*
  Barrier, // s_barrier*
  Control, // the rest of SOPP: s_nop, s_sleep, s_setprio, s_delay_alu, …
  Smem,
  Valu,
  Transcendental, // v_exp_f32, v_rcp_f32, v_sin_f32, …
  Matrix,         // MFMA, WMMA
  Lds,            // DS
  Global,         // GLOBAL
  Flat,
  Buffer,
  Scratch,
};

/// Counters of a wait instruction: it waits until at most so many are outstanding; -1: it does not wait for them.
/// `vm` is loadcnt of gfx12; `lgkm` covers LDS, scalar memory and messages before gfx12, `ds` and `km` are gfx12's.
struct WaitCounts {
  int16_t vm = -1, lgkm = -1, exp = -1, store = -1, ds = -1, km = -1, sample = -1, bvh = -1;
};

struct Instruction {
  uint64_t address = 0;
  uint32_t opcode = 0;              // LLVM's, for MCInstrInfo
  uint32_t sourceLine = 0;          // 0: not known
  uint32_t target = kNoInstruction; // of a branch: index of an instruction
  uint8_t bytes = 4;
  Unit unit = Unit::Salu;
  uint8_t accessBytes = 0; // of a memory instruction, by a lane (of a scalar load: all of it)
  bool isLoad = false, isStore = false, isAtomic = false;
  bool toLds = false;   // a load from memory straight into LDS
  bool scaled = false;  // of a matrix instruction
  std::string mnemonic; // without _e32, _e64, _dpp, _sdwa: "v_add_f32"
  std::string text;     // assembly
  WaitCounts waits;
  uint32_t immediate = 0; // of s_nop, s_sleep, s_setprio, s_barrier and others: SIMM16
  /// Registers written and read, implicit ones included, of accumulators both.
  std::vector<RegisterRange> defs, uses;
};

struct Code; // code.h: what the executor runs

/// A kernel's instructions from its entry on, in the order of their addresses.
struct Program {
  std::string kernel, target;
  unsigned waveSize = 64;
  std::vector<Instruction> instructions;
  std::string sourceFile; // that most lines are of; empty: no debug information
  std::unique_ptr<Code> code;

  Program();
  Program(Program &&) noexcept;
  Program &operator=(Program &&) noexcept;
  ~Program();
  /// "0x1a40: v_add_f32_e32 v0, v1, v2"
  std::string describe(uint32_t instruction) const;
};

} // namespace tessera::code_object
