// Layout attributes: `#ttg.blocked<{…}>` and the older spellings (see parser_state.h). Keys may come in any order; an
// unknown one is an error at its place.
#include "frontend/parser_state.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::frontend {
using namespace layouts;

namespace {

/// The parameters of one encoding: values by key, with positions, read before any is interpreted.
struct Params {
  struct Entry {
    llvm::StringRef key;
    const char *at;
    std::optional<int64_t> number;
    std::optional<bool> boolean;
    llvm::SmallVector<int32_t, 4> list;
    llvm::SmallVector<Basis, 8> lists;
    bool isList = false, isLists = false;
    const Encoding *encoding = nullptr;
    bool used = false;
  };
  std::vector<Entry> entries;
  const char *at;

  Entry *find(llvm::StringRef k) {
    for (auto &e : entries)
      if (e.key == k) {
        e.used = true;
        return &e;
      }
    return nullptr;
  }
};

} // namespace

static bool parseParams(ParserState &p, Params &out) {
  auto &lex = p.lex;
  if (!p.expect("<", "a layout")) return false;
  bool braces = lex.eat("{");
  const char *closer = braces ? "}" : ">";
  if (!lex.lookingAt(closer)) do {
      Params::Entry e;
      lex.skipSpace();
      e.at = lex.position();
      e.key = lex.identifier();
      if (e.key.empty()) return p.error("expected a parameter name", e.at);
      for (auto &o : out.entries)
        if (o.key == e.key) return p.error("parameter '" + e.key + "' is given twice", e.at);
      if (!p.expect("=", "a layout parameter")) return false;
      char c = lex.peek();
      if (lex.eatWord("true"))
        e.boolean = true;
      else if (lex.eatWord("false"))
        e.boolean = false;
      else if (c == '#') {
        if (!(e.encoding = p.parseEncoding())) return false;
      } else if (c == '[') {
        lex.bump();
        e.isList = true;
        if (!lex.lookingAt("]")) do {
            if (lex.peek() == '[') {
              e.isLists = true;
              lex.bump();
              Basis b;
              if (!lex.lookingAt("]")) do {
                  int64_t v;
                  const char *at = lex.position();
                  if (!p.parseInteger(v)) return false;
                  if (v < 0 || v > (1 << 28)) return p.error("basis entry out of range", at);
                  b.push_back(v);
                } while (lex.eat(","));
              if (!p.expect("]", "a basis")) return false;
              e.lists.push_back(b);
            } else {
              int64_t v;
              const char *at = lex.position();
              if (!p.parseInteger(v)) return false;
              if (v < INT32_MIN || v > INT32_MAX) return p.error("parameter out of range", at);
              e.list.push_back(v);
            }
          } while (lex.eat(","));
        if (!p.expect("]", "a layout parameter")) return false;
      } else if (c == '{') {
        llvm::StringRef body; // nested parameters (ctaLayout = {…}) are kept as text by the carried kinds
        if (!p.balanced('{', '}', body)) return false;
      } else {
        int64_t v;
        if (!p.parseInteger(v)) return false;
        e.number = v;
      }
      out.entries.push_back(std::move(e));
    } while (lex.eat(","));
  if (braces && !p.expect("}", "a layout")) return false;
  return p.expect(">", "a layout");
}

const Encoding *ParserState::parseEncoding() {
  lex.skipSpace();
  const char *at = lex.position();
  if (lex.peek() != '#') return error("expected a layout attribute", at), nullptr;
  Attribute a = parseHashAttribute();
  if (!a) return nullptr;
  if (auto e = a.dyn_cast<EncodingAttr>()) return e.value();
  return error("'" + a.str() + "' is not a layout", at), nullptr;
}

const Encoding *ParserState::parseEncodingBody(llvm::StringRef mnemonic, const char *at) {
  auto &pool = ctx.encodings();
  const char *bodyAt = lex.position();
  auto take = [&](auto status) -> const Encoding * {
    if (status.ok()) return *status;
    error(std::string(status.status().message()), at);
    return nullptr;
  };

  // Kinds kept as text.
  struct CarriedKind {
    llvm::StringRef mnemonic;
    EncodingKind kind;
    llvm::StringRef prefix;
  };
  static constexpr CarriedKind carried[] = {
      {"amd_mfma", EncodingKind::AmdMfma, "#ttg.amd_mfma"},
      {"mfma", EncodingKind::AmdMfma, "#ttg.amd_mfma"},
      {"amd_wmma", EncodingKind::AmdWmma, "#ttg.amd_wmma"},
      {"wmma", EncodingKind::AmdWmma, "#ttg.amd_wmma"},
      {"nvmma_shared", EncodingKind::NvmmaShared, "#ttg.nvmma_shared"},
      {"padded_shared", EncodingKind::PaddedShared, "#ttg.padded_shared"},
      {"shared_linear", EncodingKind::SharedLinear, "#ttg.shared_linear"},
      {"partitioned_shared", EncodingKind::PartitionedShared, "#ttg.partitioned_shared"},
      {"tensor_memory_encoding", EncodingKind::TensorMemory, "#ttng.tensor_memory_encoding"},
      {"tensor_memory_scales_encoding", EncodingKind::TensorMemoryScales, "#ttng.tensor_memory_scales_encoding"}};
  for (auto &k : carried) {
    if (k.mnemonic != mnemonic) continue;
    llvm::StringRef body;
    if (lex.raw() != '<' || !balanced('<', '>', body))
      return error("expected '<' after the layout's name", bodyAt), nullptr;
    unsigned rank = 2;
    if (auto w = body.find("warpsPerCTA = ["); w != llvm::StringRef::npos)
      rank = body.substr(w).take_until([](char c) { return c == ']'; }).count(',') + 1;
    else if (auto o = body.find("order = ["); o != llvm::StringRef::npos)
      rank = body.substr(o).take_until([](char c) { return c == ']'; }).count(',') + 1;
    else if (auto r = body.find("rank = "); r != llvm::StringRef::npos)
      body.substr(r + 7).take_while(llvm::isDigit).getAsInteger(10, rank);
    return pool.getCarried(k.kind, k.prefix.str(), body.str(), rank);
  }

  Params p;
  p.at = at;
  if (!parseParams(*this, p)) return nullptr;
  bool ok = true;
  auto need = [&](llvm::StringRef k) -> Params::Entry * {
    auto *e = p.find(k);
    if (!e && ok) ok = error("layout '" + mnemonic + "' needs parameter '" + k + "'", at);
    return e;
  };
  auto list = [&](llvm::StringRef k) {
    auto *e = need(k);
    if (e && (!e->isList || e->isLists) && ok) ok = error("'" + k + "' must be a list of integers", e->at);
    return e ? e->list : llvm::SmallVector<int32_t, 4>();
  };
  auto number = [&](llvm::StringRef k, std::optional<int64_t> otherwise) -> int64_t {
    auto *e = otherwise ? p.find(k) : need(k);
    if (!e) return otherwise.value_or(0);
    if (!e->number && ok) ok = error("'" + k + "' must be an integer", e->at);
    int64_t v = e->number.value_or(0);
    if ((v < INT32_MIN || v > INT32_MAX) && ok) ok = error("'" + k + "' is out of range", e->at);
    return v;
  };
  auto parent = [&]() -> const Encoding * {
    auto *e = need("parent");
    if (e && !e->encoding && ok) ok = error("'parent' must be a layout", e->at);
    return e ? e->encoding : nullptr;
  };
  auto cta = [&](unsigned rank) {
    CtaLayout c;
    if (auto *e = p.find("CGALayout")) {
      if (!e->isLists && !(e->isList && e->list.empty()) && ok)
        ok = error("'CGALayout' must be a list of bases", e->at);
      c.bases.assign(e->lists.begin(), e->lists.end());
    } else if (p.find("CTAsPerCGA")) { // older spelling
      auto per = list("CTAsPerCGA"), split = list("CTASplitNum"), order = list("CTAOrder");
      if (ok && (per.size() != rank || split.size() != rank || order.size() != rank))
        ok = error("CTAsPerCGA, CTASplitNum and CTAOrder must have the layout's rank", at);
      for (auto l : {&per, &split})
        for (auto x : *l)
          if (ok && (x <= 0 || (x & (x - 1)) || x > 16))
            ok = error("CTAsPerCGA and CTASplitNum must be powers of two up to 16", at);
      for (auto x : order)
        if (ok && (x < 0 || x >= int(rank))) ok = error("CTAOrder is not a permutation", at);
      if (ok) c = CtaLayout::fromSplitParams(per, split, order);
    }
    return c;
  };
  auto finish = [&]() {
    for (auto &e : p.entries)
      if (!e.used && ok) ok = error("layout '" + mnemonic + "' has no parameter '" + e.key + "'", e.at);
    return ok;
  };

  if (mnemonic == "blocked") {
    BlockedParams b;
    b.sizePerThread = list("sizePerThread");
    b.threadsPerWarp = list("threadsPerWarp");
    b.warpsPerCta = list("warpsPerCTA");
    b.order = list("order");
    b.cta = cta(b.order.size());
    return finish() ? take(pool.getBlocked(std::move(b))) : nullptr;
  }
  if (mnemonic == "slice") {
    int64_t dim = number("dim", std::nullopt);
    auto *e = parent();
    return finish() ? take(pool.getSlice(dim, e)) : nullptr;
  }
  if (mnemonic == "dot_op") {
    int64_t idx = number("opIdx", std::nullopt);
    auto *e = parent();
    int64_t width = number("kWidth", 0);
    p.find("isMMAv1Row"); // older spelling for Volta
    return finish() ? take(pool.getDotOperand(idx, e, width)) : nullptr;
  }
  if (mnemonic == "swizzled_shared" || mnemonic == "shared" || mnemonic == "amd_rotating_shared") {
    SwizzledSharedParams s;
    s.vec = number("vec", std::nullopt);
    s.perPhase = number("perPhase", std::nullopt);
    s.maxPhase = number("maxPhase", std::nullopt);
    s.order = list("order");
    p.find("hasLeadingOffset"); // older spelling
    s.cta = cta(s.order.size());
    return finish() ? take(pool.getSwizzledShared(std::move(s), mnemonic == "amd_rotating_shared")) : nullptr;
  }
  if (mnemonic == "nvidia_mma" || mnemonic == "mma") {
    NvidiaMmaParams m;
    if (p.find("version"))
      m.versionMajor = number("version", 2); // the oldest spelling
    else
      m.versionMajor = number("versionMajor", std::nullopt);
    m.versionMinor = number("versionMinor", 0);
    m.warpsPerCta = list("warpsPerCTA");
    m.instrShape = p.find("instrShape") ? list("instrShape") : llvm::SmallVector<int32_t, 4>{16, 8};
    m.cta = cta(m.warpsPerCta.size());
    return finish() ? take(pool.getNvidiaMma(std::move(m))) : nullptr;
  }
  if (mnemonic == "linear" || mnemonic == "generic_linear") {
    llvm::SmallVector<LinearLayout::InDim, 4> ins;
    unsigned rank = 0;
    for (auto d : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block}) {
      auto *e = need(dimName(d));
      if (!e) break;
      if (!e->isList || (!e->isLists && !e->list.empty())) {
        ok = error("'" + dimName(d) + "' must be a list of bases", e->at);
        break;
      }
      LinearLayout::InDim in{d, {}};
      for (auto &b : e->lists) {
        if (!rank) rank = b.size();
        if (b.size() != rank || rank == 0 || rank > kMaxRank) {
          ok = error("the bases must all have the tensor's rank", e->at);
          break;
        }
        in.bases.push_back(b);
      }
      if (in.bases.size() > 24 && ok) ok = error("too many bases", e->at);
      ins.push_back(in);
    }
    if (!finish()) return nullptr;
    if (!rank) return error("a linear layout needs at least one basis", at), nullptr;
    llvm::SmallVector<LinearLayout::OutDim, 4> outs;
    for (unsigned d = 0; d < rank; ++d) {
      uint32_t all = 0;
      for (auto &i : ins)
        for (auto &b : i.bases) all |= b[d];
      outs.push_back({tensorDim(d), int32_t(llvm::PowerOf2Ceil(uint64_t(all) + 1))});
    }
    return take(pool.getLinear(LinearLayout(std::move(ins), std::move(outs)), mnemonic == "generic_linear"));
  }
  return error("unknown layout '" + mnemonic + "'", at), nullptr;
}

} // namespace tessera::frontend
