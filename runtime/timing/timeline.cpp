// The page of a replay: its data as JSON within the fixed page (timeline_page.inc).
#include "runtime/timing/timeline.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::timing {
using code_object::Instruction;
using code_object::Program;

static constexpr char kPage[] =
#include "runtime/timing/timeline_page.inc"
    ;
static constexpr llvm::StringRef kDataMark = "@DATA@";

std::optional<Loop> hottestLoop(llvm::ArrayRef<Instruction> code, const CuReplay &r) {
  std::optional<Loop> best;
  uint64_t most = 0;
  for (uint32_t last = 0; last < code.size(); ++last) {
    uint32_t first = code[last].target;
    if (first == code_object::kNoInstruction || first > last || r.instructions[last].executions == 0) continue;
    // Repeated: its first instruction was executed more often than it was entered.
    if (r.instructions[first].executions < 2 * r.waves.size()) continue;
    uint64_t cycles = 0;
    for (uint32_t i = first; i <= last; ++i) cycles += r.instructions[i].occupied + r.instructions[i].allStalled();
    // Of nested loops the inner one, unless the outer one costs twice as much.
    bool inner = best && first >= best->first && last <= best->last;
    bool outer = best && first <= best->first && last >= best->last;
    if (!best || (inner ? 2 * cycles > most : cycles > (outer ? 2 * most : most))) {
      best = Loop{first, last, r.instructions[last].executions};
      most = cycles;
    }
  }
  return best;
}

namespace {

void writeCode(llvm::json::OStream &j, const Program &p, const CuReplay &r) {
  j.attributeArray("code", [&] {
    for (size_t i = 0; i < p.instructions.size(); ++i) {
      const Instruction &instruction = p.instructions[i];
      const InstructionTotals &t = r.instructions[i];
      j.array([&] {
        j.value(int64_t(instruction.address));
        j.value(instruction.text);
        j.value(int64_t(instruction.sourceLine));
        j.value(int64_t(t.executions));
        j.value(int64_t(t.occupied));
        j.value(int64_t(t.conflicts));
        for (uint64_t s : t.stalled) j.value(int64_t(s));
      });
    }
  });
}

void writeWaves(llvm::json::OStream &j, const CuReplay &r) {
  j.attributeArray("waves", [&] {
    for (auto &w : r.waves)
      j.array([&] {
        j.value(llvm::formatv("{0},{1},{2}", w.workgroup[0], w.workgroup[1], w.workgroup[2]).str());
        for (uint64_t n : {uint64_t(w.wave), uint64_t(w.simd), w.start, w.end}) j.value(int64_t(n));
        for (uint64_t s : w.stalled) j.value(int64_t(s));
      });
  });
}

/// Seven numbers each; the cycle as the difference from the record before.
void writeRecords(llvm::json::OStream &j, const CuReplay &r) {
  j.attributeArray("records", [&] {
    Cycle before = 0;
    for (auto &i : r.records) {
      for (int64_t n : {int64_t(i.instruction), int64_t(i.wave), int64_t(i.resource), int64_t(i.stall),
                        int64_t(i.cycle - before), int64_t(i.stalled), int64_t(i.busy)})
        j.value(n);
      before = i.cycle;
    }
  });
}

} // namespace

std::string timelinePage(const KernelTime &t, const Program &p) {
  std::string data;
  llvm::raw_string_ostream o(data);
  llvm::json::OStream j(o);
  j.object([&] {
    j.attribute("kernel", llvm::json::fixUTF8(p.kernel));
    j.attribute("target", p.target);
    j.attribute("source", llvm::json::fixUTF8(p.sourceFile));
    j.attribute("clockMHz", int64_t(t.machine.clockMHz));
    j.attribute("microseconds", t.microseconds);
    j.attribute("cycles", int64_t(t.replay.cycles));
    j.attribute("cut", t.replay.recordsCut);
    j.attributeArray("units", [&] {
      for (unsigned u = 0; u < kResources; ++u) j.value(name(Resource(u)));
    });
    j.attributeArray("stalls", [&] {
      for (unsigned s = 0; s < kStalls; ++s) j.value(name(Stall(s)));
    });
    if (auto loop = hottestLoop(p.instructions, t.replay))
      j.attributeArray("loop", [&] {
        j.value(int64_t(loop->first));
        j.value(int64_t(loop->last));
      });
    writeCode(j, p, t.replay);
    writeWaves(j, t.replay);
    writeRecords(j, t.replay);
  });
  o.flush();
  // Within a script element only "</" ends it; in JSON a slash may be escaped.
  std::string safe;
  safe.reserve(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i] == '/' && i > 0 && data[i - 1] == '<') safe += '\\';
    safe += data[i];
  }
  llvm::StringRef page(kPage);
  auto [before, after] = page.split(kDataMark);
  return (before + safe + after).str();
}

} // namespace tessera::timing
