// From a mnemonic to what it does: the tables of all families in one map, then names that are made of parts. Also what
// all vector instructions with a row function have in common.
#include "runtime/code_object/rows.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace tessera::code_object {
using namespace llvm;

void vectorOperation(Wave &w, const Step &s) {
  const Semantic &m = *s.semantic;
  if (s.isPlain && !w.mode.flush32) {
    Row result, scratch[3];
    const uint32_t *sources[3] = {};
    for (unsigned i = 0; i < 3 && m.sources[i] != Type::None; ++i) sources[i] = readRow(w, s[i + 1], 0, scratch[i]);
    m.rows(result.lane, sources[0], sources[1], sources[2]);
    writeRow(w, s[0], 0, result.lane, w.exec());
    return;
  }
  Row64 result, scratch[3];
  const void *sources[3] = {};
  for (unsigned i = 0; i < 3 && m.sources[i] != Type::None; ++i)
    sources[i] = readSource(w, s, i + 1, i, m.sources[i], scratch[i]);
  m.rows(result.lane, sources[0], sources[1], sources[2]);
  writeResult(w, s, s[0], m.result, result);
}

/// Both halves read their sources before either writes (RDNA3 and RDNA4 ISA guides, "Dual Issue VALU"); they write
/// different registers.
static void dualOperation(Wave &w, const Step &x) {
  const Step &y = w.program->code->steps[size_t(x.immediate)];
  uint32_t *to = w.row(y[0].index);
  Row old, result;
  std::memcpy(old.lane, to, sizeof old);
  y.semantic->handler(w, y);
  std::memcpy(result.lane, to, sizeof result);
  std::memcpy(to, old.lane, sizeof old);
  x.semantic->handler(w, x);
  std::memcpy(to, result.lane, sizeof result);
}
Handler dualHandler() { return dualOperation; }

static const StringMap<Semantic> &allTables() {
  static const StringMap<Semantic> map = [] {
    StringMap<Semantic> m;
    for (auto &table : {scalarSemantics(), integerSemantics(), floatSemantics(), packedSemantics(),
                        conversionSemantics(), compareSemantics(), laneSemantics()})
      for (const Semantic &s : table) m[s.mnemonic] = s;
    return m;
  }();
  return map;
}

/// Results of 16 bits on gfx9 clear the upper half, but for those that came with gfx9 (LLVM,
/// GCNSubtarget::zeroesHigh16BitsOfDest).
static bool zeroesHighHalf(StringRef mnemonic) {
  return !StringSwitch<bool>(mnemonic)
              .Cases({"v_mad_f16", "v_fma_f16", "v_div_fixup_f16", "v_mad_u16", "v_mad_i16"}, true)
              .Cases({"v_fma_mixlo_f16", "v_fma_mixhi_f16", "v_mad_mixlo_f16", "v_mad_mixhi_f16"}, true)
              .Cases({"v_interp_p2_f16"}, true)
              .Default(false);
}

const Semantic *findSemantic(Code &code, StringRef mnemonic, StringRef target) {
  auto keep = [&](Semantic s) -> const Semantic * {
    if (!s.handler) return nullptr;
    s.mnemonic = mnemonic.str();
    code.semantics.push_back(std::move(s));
    return &code.semantics.back();
  };
  const auto &map = allTables();
  if (auto at = map.find(mnemonic); at != map.end()) {
    const Semantic &s = at->second;
    if (typeBits(s.result) != 16 || !target.starts_with("gfx9")) return &s;
    Semantic mine = s;
    mine.zeroesHighHalf = zeroesHighHalf(mnemonic);
    return keep(std::move(mine));
  }
  if (mnemonic.starts_with("v_mfma_") || mnemonic.starts_with("v_wmma_")) return keep(matrixSemantic(mnemonic, target));
  if (mnemonic.starts_with("ds_")) return keep(ldsSemantic(mnemonic));
  if (mnemonic.starts_with("v_cvt_")) return keep(scaledConversion(mnemonic, target));
  return keep(memorySemantic(mnemonic));
}

} // namespace tessera::code_object
