// Further compilations (see recompilation.h): the two conditions of each, its reason, and the PTX that they compile.
// The numbers are in ir/tuning.def.
#include "codegen_nvidia/recompilation.h"

namespace tessera::nvidia {
using codegen::ObjectInfo;
using llvm::StringRef;

namespace {

/// Whether ptxas spilled although a thread may have more registers than it used: its allocation of a kernel that needs
/// more than there are can fail and fall back to 168, 64 or 32.
bool gaveUp(const ObjectInfo &info, const Compilations &c) {
  bool mayCompileAgain = c.options.optLevel >= 3;
  if (!info.spillBytes || c.options.maxRegisters || !mayCompileAgain) return false;
  int exist = c.target.registersPerThread(c.options.numWarps, ir::RegisterSplit::Allocated);
  return info.registers + c.target.tuning.abandonedRegistersMargin < exist;
}

/// The registers that one more block on a multiprocessor leaves a thread; 0 where registers are not the limit.
int registersForOneMore(const Compilations &c) {
  int64_t shared = c.first.staticSharedBytes + c.options.dynamicSharedBytes;
  for (int r = c.first.registers; r > 0; --r)
    if (c.target.occupancy({c.options.numWarps, shared, r}) > c.first.occupancy) return r;
  return 0;
}

/// Whether one more block is missed by few registers, and computes while another one waits.
bool missesOneMoreBlock(const Compilations &c) {
  const OccupancyPlan &plan = c.plan;
  const ir::Tuning &tuning = c.target.tuning;
  bool mayCompileAgain = c.options.optLevel >= 3 && !c.options.maxRegisters;
  bool othersCompute = plan.minBlocks ? plan.waitsInLoops && c.first.occupancy >= plan.minBlocks
                                      : plan.hasWarpGroupDots || plan.loadsInBulk;
  if (!othersCompute || c.first.spillBytes || !mayCompileAgain) return false;
  int percent = plan.minBlocks           ? tuning.requestedBlockPercent
                : c.first.occupancy == 1 ? tuning.secondBlockPercent
                                         : tuning.oneMoreBlockPercent;
  return registersForOneMore(c) * 100 >= c.first.registers * percent;
}

bool spillsLess(const ObjectInfo &made, const Compilations &c) { return made.spillBytes < c.best.spillBytes; }

/// Whether more blocks fit, and nothing is spilled; little, if they are two instead of one.
bool gainsBlock(const ObjectInfo &made, const Compilations &c) {
  int64_t mostSpilled = c.best.occupancy == 1 ? c.target.tuning.secondBlockSpills : 0;
  return made.spillBytes <= mostSpilled && made.occupancy > c.best.occupancy;
}

/// The two conditions of an attempt.
struct Conditions {
  bool (*isWorthTrying)(const Compilations &);
  bool (*isBetter)(const ObjectInfo &made, const Compilations &);
};

Conditions conditionsOf(Attempt attempt) {
  switch (attempt) {
  case Attempt::WithoutRequest: // the request must not cost spills, nor blocks
    return {[](const Compilations &c) {
              bool mayCost = c.first.spillBytes || c.plan.loadsLittle;
              return mayCost && c.plan.requestMayCostSpills(c.target, c.options);
            },
            [](const ObjectInfo &made, const Compilations &c) {
              if (c.best.spillBytes) return spillsLess(made, c);
              return !made.spillBytes && made.occupancy > c.best.occupancy;
            }};
  case Attempt::BlocksThatFit:
    // The request was dropped, since it cost spills. Left alone, ptxas keeps few loads in flight although the blocks
    // that fit leave registers for more (a sum of 16 masked rows: two loads in 142 registers, twelve in 168).
    return {[](const Compilations &c) {
              return c.best.occupancy < c.plan.minBlocks && c.best.registers > c.first.registers && !c.best.spillBytes;
            },
            [](const ObjectInfo &made, const Compilations &c) {
              return !made.spillBytes && made.occupancy == c.best.occupancy;
            }};
  case Attempt::OneBlock:
    // With a request for one block, ptxas mostly does not give up (10 KiB of spills in 32 registers became 1.5 in 255
    // for a gradient through a gate).
    return {[](const Compilations &c) { return !c.plan.minBlocks && gaveUp(c.first, c); }, spillsLess};
  case Attempt::OneMoreBlock:
    // A kernel with warp-group dots that misses one more block by few registers is compiled for them: another block
    // computes while this one does something else (attention with blocks of 128 x 64: 172 registers become 168, 11 %
    // faster on an H200). So is one that loads by bulk copies, which take no registers, and one that waits at barriers
    // in a loop: asked for few blocks, ptxas takes more registers than the loads need (72 instead of 64 for a sum of
    // eight rows, and seven blocks instead of eight).
    return {missesOneMoreBlock, gainsBlock};
  case Attempt::FewerRegisters:
    // ptxas's allocation is a heuristic: what spills with all registers of one more block may fit into fewer (attention
    // with blocks of 128 x 64: 40 bytes in 168 registers, none in 160).
    return {[](const Compilations &c) {
              bool hasMoreBlocks = c.best.occupancy > c.first.occupancy;
              return !hasMoreBlocks && missesOneMoreBlock(c) &&
                     fewerRegisters(c) * 100 >= c.first.registers * c.target.tuning.fewerRegistersPercent;
            },
            gainsBlock};
  case Attempt::LowerLevel:
    // Level 1 schedules less far and often does not give up either: 21 KiB of spills in 32 registers became 2.5 KiB in
    // 255 for the backward pass of a gated linear attention. What spills for one more block was not given up.
    return {[](const Compilations &c) { return c.first.spillBytes && gaveUp(c.best, c); }, spillsLess};
  }
  llvm_unreachable("every attempt has conditions");
}

} // namespace

bool isWorthTrying(Attempt attempt, const Compilations &c) { return conditionsOf(attempt).isWorthTrying(c); }

bool isBetter(Attempt attempt, const ObjectInfo &made, const Compilations &c) {
  // Blocks are no use if each of their dots then waits for the one before it.
  bool losesOverlap = !made.dotsSerialized.empty() && c.best.dotsSerialized.empty() && !c.best.spillBytes;
  return !losesOverlap && conditionsOf(attempt).isBetter(made, c);
}

int fewerRegisters(const Compilations &c) { return registersForOneMore(c) - c.target.registerAllocationUnit; }

std::string withoutRequests(StringRef ptx) {
  // Directives of a kernel stand on lines of their own, between its parameters and its body.
  std::string other;
  other.reserve(ptx.size());
  for (auto [line, rest] = ptx.split('\n'); !line.empty() || !rest.empty(); std::tie(line, rest) = rest.split('\n'))
    if (!line.starts_with(".minnctapersm")) (other += line) += '\n';
  return other;
}

std::string withRegisterLimit(StringRef ptx, int registers) {
  std::string unlimited = withoutRequests(ptx), other;
  for (auto [line, rest] = StringRef(unlimited).split('\n'); !line.empty() || !rest.empty();
       std::tie(line, rest) = rest.split('\n')) {
    (other += line) += '\n';
    if (line.starts_with(".reqntid")) (other += ".maxnreg " + std::to_string(registers)) += '\n';
  }
  return other;
}

} // namespace tessera::nvidia
