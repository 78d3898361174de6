// Layout attributes: `#ttg.blocked<{…}>` and the older spellings (see parser_state.h). Keys may come in any order; an
// unknown one is an error at its place; a complaint of the layouts library that starts with a parameter's name is shown
// there.
#include "frontend/parser_state.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <utility>

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
    std::unique_ptr<Params> nested; // {register = …, warp = …}
    bool used = false;
  };
  std::vector<Entry> entries;

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

/// `key = value, …` up to what closes them; nothing is interpreted yet.
static bool parseEntries(ParserState &p, Params &out, const char *closer) {
  DepthGuard guard(p);
  if (!guard.ok) return false;
  auto &lex = p.lex;
  auto number = [&](int64_t &v, int64_t low, int64_t high) {
    const char *at = (lex.skipSpace(), lex.position());
    if (!p.parseInteger(v)) return false;
    return (v >= low && v <= high) || p.error("the number is out of range", at);
  };
  if (lex.lookingAt(closer)) return true;
  do {
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
          int64_t v;
          if (lex.eat("[")) {
            e.isLists = true;
            Basis b;
            if (!lex.lookingAt("]")) do {
                if (!number(v, 0, 1 << 28)) return false;
                b.push_back(v);
              } while (lex.eat(","));
            if (!p.expect("]", "a basis")) return false;
            e.lists.push_back(b);
          } else {
            if (!number(v, INT32_MIN, INT32_MAX)) return false;
            e.list.push_back(v);
          }
        } while (lex.eat(","));
      if (!p.expect("]", "a layout parameter")) return false;
      if (!e.list.empty() && !e.lists.empty()) return p.error("'" + e.key + "' mixes numbers and lists", e.at);
    } else if (c == '{') {
      lex.bump();
      e.nested = std::make_unique<Params>();
      if (!parseEntries(p, *e.nested, "}") || !p.expect("}", "a layout parameter")) return false;
    } else {
      int64_t v;
      if (!number(v, INT32_MIN, INT32_MAX)) return false;
      e.number = v;
    }
    out.entries.push_back(std::move(e));
  } while (lex.eat(","));
  return true;
}

/// `<{key = value, …}>`, or without braces; before the braces `[256:+8, …]` where paddings are asked for, after them
/// `, alignment = 16` where an alignment is.
static bool parseParams(ParserState &p, Params &out, llvm::SmallVectorImpl<PaddedSharedParams::Padding> *paddings, int64_t *alignment) {
  auto &lex = p.lex;
  if (!p.expect("<", "a layout")) return false;
  if (paddings) {
    if (!p.expect("[", "the paddings")) return false;
    do {
      int64_t interval, padding;
      const char *at = (lex.skipSpace(), lex.position());
      if (!p.parseInteger(interval) || !p.expect(":", "a padding") || !p.expect("+", "a padding") || !p.parseInteger(padding)) return false;
      auto power = [](int64_t v) { return v > 0 && v <= (1 << 28) && !(v & (v - 1)); };
      if (!power(interval) || !power(padding)) return p.error("intervals and paddings must be powers of two", at);
      paddings->push_back({int32_t(interval), int32_t(padding)});
    } while (lex.eat(","));
    if (!p.expect("]", "the paddings")) return false;
  }
  bool braces = lex.eat("{");
  if (!parseEntries(p, out, braces ? "}" : ">")) return false;
  if (braces && !p.expect("}", "a layout")) return false;
  if (alignment && lex.eat(",")) {
    if (!lex.eatWord("alignment")) return p.error("expected 'alignment'");
    if (!p.expect("=", "a layout")) return false;
    const char *at = (lex.skipSpace(), lex.position());
    if (!p.parseInteger(*alignment)) return false;
    if (*alignment <= 0 || *alignment > (1 << 20)) return p.error("the alignment is out of range", at);
  }
  return p.expect(">", "a layout");
}

const Encoding *ParserState::parseEncoding() {
  lex.skipSpace();
  const char *at = lex.position();
  if (lex.peek() != '#') return error("expected a layout attribute", at), nullptr;
  Attribute a = parseHashAttribute();
  if (!a) return nullptr;
  if (auto e = a.dyn_cast<EncodingAttr>()) return e.value();
  Diagnostic d = makeError("'" + a.str() + "' is not a layout", at);
  auto name = llvm::StringRef(at, lex.position() - at).drop_front().take_while([](char c) { return c != '<'; });
  std::string best;
  unsigned distance = 5;
  for (llvm::StringRef known : {"ttg.blocked", "ttg.slice", "ttg.dot_op", "ttg.nvidia_mma", "ttg.amd_mfma", "ttg.amd_wmma",
                                "ttg.linear", "ttg.generic_linear", "ttg.swizzled_shared", "ttg.nvmma_shared",
                                "ttg.amd_rotating_shared", "ttg.padded_shared", "ttg.shared_linear",
                                "ttg.partitioned_shared", "ttng.tensor_memory_encoding"})
    if (unsigned e = known.edit_distance(name, true, 5); e < distance) distance = e, best = known.str();
  if (!best.empty()) d.note("did you mean '#" + best + "'?");
  return report(std::move(d)), nullptr;
}

/// The parameter of that name that is nearest to what was written, for a suggestion.
static bool unknownParam(ParserState &p, llvm::StringRef mnemonic, llvm::StringRef key, const char *at,
                         llvm::ArrayRef<llvm::StringRef> known) {
  Diagnostic d = p.makeError("layout '" + mnemonic + "' has no parameter '" + key + "'", at);
  llvm::StringRef best;
  unsigned distance = 4;
  for (auto k : known)
    if (unsigned e = k.edit_distance(key, true, 4); e < distance) distance = e, best = k;
  if (!best.empty()) d.note("did you mean '" + best + "'?");
  return p.report(std::move(d));
}

const Encoding *ParserState::parseEncodingBody(llvm::StringRef mnemonic, const char *at, bool older) {
  auto &pool = ctx.encodings();
  Params p;
  auto take = [&](auto status) -> const Encoding * {
    if (status.ok()) return *status;
    // A message that starts with a parameter's name is about that parameter.
    llvm::StringRef message(status.status().message().data(), status.status().message().size());
    auto word = message.take_while([](char c) { return llvm::isAlnum(c); });
    auto *e = word.empty() ? nullptr : p.find(word);
    error(message, e ? e->at : at);
    return nullptr;
  };
  llvm::SmallVector<llvm::StringRef, 8> asked;
  llvm::SmallVector<PaddedSharedParams::Padding, 2> paddings;
  int64_t alignment = 16;
  if (!parseParams(*this, p, mnemonic == "padded_shared" ? &paddings : nullptr, mnemonic == "shared_linear" ? &alignment : nullptr)) return nullptr;
  bool ok = true;
  auto find = [&](llvm::StringRef k) {
    asked.push_back(k);
    return p.find(k);
  };
  // What is missing is reported last: a misspelt parameter explains it better.
  llvm::StringRef missing;
  auto need = [&](llvm::StringRef k) -> Params::Entry * {
    auto *e = find(k);
    if (!e && missing.empty()) missing = k;
    return e;
  };
  auto list = [&](llvm::StringRef k) {
    auto *e = need(k);
    if (e && (!e->isList || e->isLists) && ok) ok = error("'" + k + "' must be a list of integers", e->at);
    return e ? e->list : llvm::SmallVector<int32_t, 4>();
  };
  auto number = [&](llvm::StringRef k, std::optional<int64_t> otherwise) -> int64_t {
    auto *e = otherwise ? find(k) : need(k);
    if (!e) return otherwise.value_or(0);
    if (!e->number && ok) ok = error("'" + k + "' must be an integer", e->at);
    int64_t v = e->number.value_or(0);
    if ((v < INT32_MIN || v > INT32_MAX) && ok) ok = error("'" + k + "' is out of range", e->at);
    return v;
  };
  auto boolean = [&](llvm::StringRef k, std::optional<bool> otherwise) {
    auto *e = otherwise ? find(k) : need(k);
    if (!e) return otherwise.value_or(false);
    if (!e->boolean && ok) ok = error("'" + k + "' must be true or false", e->at);
    return e->boolean.value_or(false);
  };
  /// Bases of one kind of index, all of one rank: of those read before, or the first's.
  unsigned rank = 0;
  auto bases = [&](Params::Entry *e, Dim dim) {
    LinearLayout::InDim in{dim, {}};
    if (!e) return in;
    if (!e->isList || (!e->isLists && !e->list.empty())) {
      if (ok) ok = error("'" + e->key + "' must be a list of bases", e->at);
      return in;
    }
    for (auto &b : e->lists) {
      if (!rank) rank = b.size();
      if ((b.size() != rank || rank == 0 || rank > kMaxRank) && ok) ok = error("the bases must all have the tensor's rank", e->at);
      in.bases.push_back(b);
    }
    if (in.bases.size() > 24 && ok) ok = error("too many bases", e->at);
    return in;
  };
  /// The map of those bases; each dimension is as large as they reach.
  auto layoutOf = [&](llvm::SmallVector<LinearLayout::InDim, 4> ins) {
    llvm::SmallVector<LinearLayout::OutDim, 4> outs;
    for (unsigned d = 0; d < rank; ++d) {
      uint32_t all = 0;
      for (auto &i : ins)
        for (auto &b : i.bases) all |= b[d];
      outs.push_back({tensorDim(d), int32_t(llvm::PowerOf2Ceil(uint64_t(all) + 1))});
    }
    return LinearLayout(std::move(ins), std::move(outs));
  };
  auto parent = [&]() -> const Encoding * {
    auto *e = need("parent");
    if (e && !e->encoding && ok) ok = error("'parent' must be a layout", e->at);
    return e ? e->encoding : nullptr;
  };
  auto cta = [&](unsigned rank) {
    CtaLayout c;
    if (auto *e = find("CGALayout")) {
      if (!e->isLists && !(e->isList && e->list.empty()) && ok)
        ok = error("'CGALayout' must be a list of bases", e->at);
      c.bases.assign(e->lists.begin(), e->lists.end());
    } else if (find("CTAsPerCGA")) { // older spelling
      auto per = list("CTAsPerCGA"), split = list("CTASplitNum"), order = list("CTAOrder");
      if (ok && (per.size() != rank || split.size() != rank || order.size() != rank))
        ok = error("CTAsPerCGA, CTASplitNum and CTAOrder must have the layout's rank", at);
      for (auto l : {&per, &split})
        for (auto x : *l)
          if (ok && (x <= 0 || (x & (x - 1)) || x > 16))
            ok = error("CTAsPerCGA and CTASplitNum must be powers of two up to 16", at);
      llvm::SmallVector<bool, 8> seen(rank);
      for (auto x : order)
        if (ok && (x < 0 || x >= int(rank) || std::exchange(seen[x], true)))
          ok = error("CTAOrder is not a permutation", at);
      if (ok) c = CtaLayout::fromSplitParams(per, split, order);
    }
    return c;
  };
  auto finish = [&]() {
    for (auto &e : p.entries)
      if (!e.used && ok) ok = unknownParam(*this, mnemonic, e.key, e.at, asked);
    if (!missing.empty() && ok) ok = error("layout '" + mnemonic + "' needs parameter '" + missing + "'", at);
    return ok;
  };

  if (mnemonic == "blocked") {
    BlockedParams b;
    b.sizePerThread = list("sizePerThread");
    b.threadsPerWarp = list("threadsPerWarp");
    b.warpsPerCta = list("warpsPerCTA");
    b.order = list("order");
    b.cta = cta(b.order.size());
    if (!finish()) return nullptr;
    // Dumps of 2022 leave lanes out that a small tensor does not need: they repeat what others hold, as lanes beyond a
    // tensor's end do.
    int64_t threads = 1;
    for (int64_t n : b.threadsPerWarp) threads = n > 0 && n <= 32 && threads <= 32 ? threads * n : 0;
    if (older && !layoutAlone && threads > 0 && threads < 32 && llvm::isPowerOf2_64(threads) && !b.order.empty() && b.order.back() >= 0 && size_t(b.order.back()) < b.threadsPerWarp.size())
      b.threadsPerWarp[b.order.back()] *= 32 / threads;
    return take(pool.getBlocked(std::move(b)));
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
    find("isMMAv1Row"); // older spelling for Volta
    // The older spelling left out a kWidth of 32 bits' worth of elements.
    if (auto *mma = dynCast<NvidiaMmaEncoding>(e); mma && mma->versionMajor() >= 2 && older && !width && layoutElement_)
      if (unsigned bits = layoutElement_.bitWidth()) width = std::max(1u, 32 / bits);
    return finish() ? take(pool.getDotOperand(idx, e, width)) : nullptr;
  }
  if (mnemonic == "swizzled_shared" || mnemonic == "shared" || mnemonic == "amd_rotating_shared") {
    SwizzledSharedParams s;
    s.vec = number("vec", std::nullopt);
    s.perPhase = number("perPhase", std::nullopt);
    s.maxPhase = number("maxPhase", std::nullopt);
    s.order = list("order");
    auto *leading = find("hasLeadingOffset"); // older spelling of nvmma_shared, where true
    if (leading && !leading->boolean && ok) ok = error("'hasLeadingOffset' must be true or false", leading->at);
    s.cta = cta(s.order.size());
    if (leading && leading->boolean.value_or(false)) {
      if (!finish()) return nullptr;
      if (s.order.size() < 2 || s.vec <= 0 || 128 % s.vec || s.perPhase <= 0 || s.perPhase * s.maxPhase != 8 ||
          !s.cta.isTrivial())
        return error("these parameters have no form with a leading offset", at), nullptr;
      NvmmaSharedParams n;
      n.swizzlingByteWidth = s.maxPhase * 16;
      n.transposed = s.order[0] == 0;
      n.elementBitWidth = 128 / s.vec;
      n.rank = s.order.size();
      return take(pool.getNvmmaShared(std::move(n)));
    }
    return finish() ? take(pool.getSwizzledShared(std::move(s), mnemonic == "amd_rotating_shared")) : nullptr;
  }
  if (mnemonic == "nvidia_mma" || mnemonic == "mma") {
    NvidiaMmaParams m;
    if (find("version"))
      m.versionMajor = number("version", 2); // the oldest spelling
    else
      m.versionMajor = number("versionMajor", std::nullopt);
    m.versionMinor = number("versionMinor", 0);
    m.warpsPerCta = list("warpsPerCTA");
    bool volta = m.versionMajor == 1;
    m.instrShape = find("instrShape") ? list("instrShape") : llvm::SmallVector<int32_t, 4>{16, volta ? 16 : 8};
    m.cta = cta(m.warpsPerCta.size());
    return finish() ? take(pool.getNvidiaMma(std::move(m))) : nullptr;
  }
  if (mnemonic == "linear" || mnemonic == "generic_linear") {
    llvm::SmallVector<LinearLayout::InDim, 4> ins;
    for (auto d : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block}) ins.push_back(bases(need(dimName(d)), d));
    if (!finish()) return nullptr;
    if (!rank) return error("a linear layout needs at least one basis", at), nullptr;
    return take(pool.getLinear(layoutOf(std::move(ins)), mnemonic == "generic_linear"));
  }
  if (mnemonic == "amd_mfma" || mnemonic == "mfma") {
    AmdMfmaParams m;
    if (find("versionMajor")) { // older spelling
      m.version = number("versionMajor", std::nullopt);
      number("versionMinor", 0);
    } else
      m.version = number("version", std::nullopt);
    m.warpsPerCta = list("warpsPerCTA");
    m.instrShape = list("instrShape");
    m.isTransposed = boolean(find("isTranspose") ? "isTranspose" : "isTransposed", std::nullopt);
    m.cta = cta(m.warpsPerCta.size());
    if (find("tilesPerWarp")) m.tilesPerWarp = list("tilesPerWarp");
    m.elementBitWidth = number("elementBitWidth", 32);
    return finish() ? take(pool.getAmdMfma(std::move(m))) : nullptr;
  }
  if (mnemonic == "amd_wmma" || mnemonic == "wmma") {
    AmdWmmaParams w;
    w.version = number("version", std::nullopt);
    w.isTransposed = boolean(find("isTransposed") ? "isTransposed" : "isTranspose", false);
    if (find("instrShape")) w.instrShape = list("instrShape");
    int64_t given = number("rank", 2);
    if (auto *e = find("ctaLayout")) {
      if (!e->nested && ok) ok = error("'ctaLayout' must be bases by dimension, such as {register = [[0, 1]], warp = []}", e->at);
      llvm::SmallVector<LinearLayout::InDim, 4> ins{{Dim::Register, {}}, {Dim::Warp, {}}};
      if (ok && e->nested)
        for (auto &n : e->nested->entries) {
          int which = n.key == "register" ? 0 : n.key == "warp" ? 1 : -1;
          if (which < 0 && ok) ok = unknownParam(*this, "ctaLayout", n.key, n.at, {"register", "warp"});
          if (which >= 0) ins[which] = bases(&n, ins[which].dim);
        }
      if (!rank && (given < 2 || given > 3) && ok) ok = error("'rank' must be 2 or 3", at);
      if (!rank) rank = given;
      w.cta = cta(rank);
      if (ok) w.tiles = layoutOf(std::move(ins));
    } else {
      auto warps = list("warpsPerCTA");
      auto tiles = find("tilesPerWarp") ? list("tilesPerWarp") : llvm::SmallVector<int32_t, 4>();
      w.cta = cta(warps.size());
      for (auto l : {&warps, &tiles})
        for (auto x : *l)
          if ((x <= 0 || (x & (x - 1)) || x > 64) && ok)
            ok = error((l == &warps ? "warpsPerCTA" : "tilesPerWarp") + llvm::Twine(": every entry must be a power of two up to 64"), find(l == &warps ? "warpsPerCTA" : "tilesPerWarp")->at);
      if ((warps.empty() || warps.size() > 3) && ok && missing.empty()) ok = error("'warpsPerCTA' must be for 1 to 3 dimensions", find("warpsPerCTA")->at);
      if (!tiles.empty() && tiles.size() != warps.size() && ok) ok = error("'tilesPerWarp' must have as many entries as 'warpsPerCTA'", find("tilesPerWarp")->at);
      if (ok && missing.empty()) w.tiles = AmdWmmaParams::tilesOf(warps, tiles);
    }
    return finish() ? take(pool.getAmdWmma(std::move(w))) : nullptr;
  }
  if (mnemonic == "nvmma_shared") {
    NvmmaSharedParams n;
    n.swizzlingByteWidth = number("swizzlingByteWidth", std::nullopt);
    n.transposed = boolean("transposed", std::nullopt);
    n.elementBitWidth = number("elementBitWidth", std::nullopt);
    n.fp4Padded = boolean("fp4Padded", false);
    // The rank is said by the blocks' bases where there are any.
    auto *cga = find("CGALayout"), *older = find("CTAsPerCGA");
    n.rank = cga && !cga->lists.empty() ? cga->lists[0].size() : older && !older->list.empty() ? older->list.size() : 2;
    n.rank = number("rank", n.rank);
    n.cta = cta(n.rank);
    return finish() ? take(pool.getNvmmaShared(std::move(n))) : nullptr;
  }
  if (mnemonic == "padded_shared") {
    PaddedSharedParams s;
    s.paddings = std::move(paddings);
    if (find("order")) {
      auto order = list("order"), shape = list("shape");
      for (auto x : shape)
        if ((x <= 0 || (x & (x - 1)) || x > (1 << 20)) && ok) ok = error("'shape' must be powers of two up to 1048576", find("shape")->at);
      llvm::SmallVector<bool, 8> seen(order.size());
      for (auto x : order)
        if ((x < 0 || x >= int(order.size()) || std::exchange(seen[x], true)) && ok) ok = error("'order' is not a permutation", find("order")->at);
      if ((order.empty() || order.size() > kMaxRank || order.size() != shape.size()) && ok && missing.empty())
        ok = error("'order' and 'shape' must have one entry for each of 1 to " + llvm::Twine(kMaxRank) + " dimensions", find("order")->at);
      CtaLayout blocks = cta(order.size());
      if (!finish()) return nullptr;
      // The elements of one block lie one after the other; the blocks are side by side.
      auto splits = blocks.splits(order.size());
      llvm::SmallVector<int32_t, 8> perBlock;
      for (unsigned d = 0; d < shape.size(); ++d) perBlock.push_back(std::max(1, shape[d] / splits[d]));
      s.layout = PaddedSharedEncoding::identityLayout(order, perBlock);
      if (!blocks.isTrivial()) {
        rank = order.size();
        llvm::SmallVector<LinearLayout::InDim, 4> ins{{Dim::Offset, {}}, {Dim::Block, {}}};
        for (auto &in : s.layout.ins())
          if (in.dim == Dim::Offset) ins[0].bases = in.bases;
        for (auto b : blocks.bases) {
          for (unsigned d = 0; d < rank; ++d) b[d] *= perBlock[d];
          ins[1].bases.push_back(b);
        }
        s.layout = layoutOf(std::move(ins));
      }
      return take(pool.getPaddedShared(std::move(s)));
    }
    llvm::SmallVector<LinearLayout::InDim, 4> ins;
    ins.push_back(bases(need("offset"), Dim::Offset));
    ins.push_back(bases(find("block"), Dim::Block));
    if (!finish()) return nullptr;
    if (!rank) return error("a padded layout needs at least one basis", at), nullptr;
    s.layout = layoutOf(std::move(ins));
    return take(pool.getPaddedShared(std::move(s)));
  }
  if (mnemonic == "shared_linear") {
    llvm::SmallVector<LinearLayout::InDim, 4> ins;
    ins.push_back(bases(need("offset"), Dim::Offset));
    ins.push_back(bases(find("block"), Dim::Block));
    if (!finish()) return nullptr;
    if (!rank) return error("a linear layout needs at least one basis", at), nullptr;
    return take(pool.getSharedLinear(layoutOf(std::move(ins)), alignment));
  }
  if (mnemonic == "partitioned_shared") {
    int64_t partitions = number("numPartitions", std::nullopt), groups = number("numGroups", std::nullopt), dim = number("partitionDim", std::nullopt);
    auto *e = need("partitionLayout");
    if (e && !e->encoding && ok) ok = error("'partitionLayout' must be a layout", e->at);
    return finish() ? take(pool.getPartitionedShared(partitions, groups, dim, e->encoding)) : nullptr;
  }
  if (mnemonic == "tensor_memory_encoding") {
    TensorMemoryParams t;
    t.blockM = number("blockM", std::nullopt);
    t.blockN = number("blockN", std::nullopt);
    t.colStride = number("colStride", 1);
    t.ctaSplitM = number("CTASplitM", 1);
    t.ctaSplitN = number("CTASplitN", 1);
    t.twoCtas = boolean("twoCTAs", false);
    t.cta = cta(2);
    return finish() ? take(pool.getTensorMemory(std::move(t))) : nullptr;
  }
  if (mnemonic == "tensor_memory_scales_encoding") {
    TensorMemoryScalesParams t;
    t.ctaSplitM = number("CTASplitM", 1);
    t.ctaSplitN = number("CTASplitN", 1);
    t.cta = cta(2);
    return finish() ? take(pool.getTensorMemoryScales(std::move(t))) : nullptr;
  }
  error("unknown layout '" + mnemonic + "'", at);
  return nullptr;
}

} // namespace tessera::frontend
