// Layout attributes: `#ttg.blocked<{…}>` and the older spellings (see parser_state.h). Keys may come in any order; an
// unknown one is an error at its place. Kinds that the layouts library does not model are checked for the form of their
// parameters and put into Triton's order, so that equal ones become the same object.
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

/// A parameter of a kind that is carried along: its form, and whether it must be there.
struct CarriedParam {
  llvm::StringRef key;
  enum Form : uint8_t { Number, Bool, List, Bases, BasesByDim, Layout } form;
  bool needed = false;
};

struct CarriedKind {
  llvm::StringRef mnemonic;
  EncodingKind kind;
  llvm::StringRef prefix;
  llvm::ArrayRef<CarriedParam> params; // in the order in which they are printed
  llvm::StringRef rankFrom;            // the parameter whose length is the rank
};

using P = CarriedParam;
constexpr CarriedParam kMfma[] = {{"version", P::Number, true},  {"warpsPerCTA", P::List, true},
                                  {"instrShape", P::List, true}, {"isTransposed", P::Bool, true},
                                  {"CGALayout", P::Bases},       {"tilesPerWarp", P::List},
                                  {"elementBitWidth", P::Number}};
constexpr CarriedParam kWmma[] = {{"version", P::Number, true}, {"isTranspose", P::Bool}, {"warpsPerCTA", P::List},
                                  {"ctaLayout", P::BasesByDim}, {"CGALayout", P::Bases},  {"tilesPerWarp", P::List},
                                  {"instrShape", P::List},      {"rank", P::Number}};
constexpr CarriedParam kNvmma[] = {{"swizzlingByteWidth", P::Number, true},
                                   {"transposed", P::Bool, true},
                                   {"elementBitWidth", P::Number, true},
                                   {"fp4Padded", P::Bool},
                                   {"CGALayout", P::Bases},
                                   {"rank", P::Number}};
constexpr CarriedParam kPadded[] = {
    {"order", P::List}, {"shape", P::List}, {"offset", P::Bases}, {"block", P::Bases}, {"CGALayout", P::Bases}};
constexpr CarriedParam kSharedLinear[] = {{"offset", P::Bases, true}, {"block", P::Bases}};
constexpr CarriedParam kPartitioned[] = {{"numPartitions", P::Number, true},
                                         {"numGroups", P::Number, true},
                                         {"partitionDim", P::Number, true},
                                         {"partitionLayout", P::Layout, true}};
constexpr CarriedParam kTensorMemory[] = {
    {"blockM", P::Number, true}, {"blockN", P::Number, true}, {"colStride", P::Number},
    {"unpacked", P::Bool},       {"CGALayout", P::Bases},     {"CTASplitM", P::Number},
    {"CTASplitN", P::Number},    {"twoCTAs", P::Bool},        {"fp4Padded", P::Bool}};
constexpr CarriedParam kTensorMemoryScales[] = {
    {"CGALayout", P::Bases}, {"CTASplitM", P::Number}, {"CTASplitN", P::Number}};

constexpr CarriedKind kCarried[] = {
    {"amd_mfma", EncodingKind::AmdMfma, "#ttg.amd_mfma", kMfma, "warpsPerCTA"},
    {"mfma", EncodingKind::AmdMfma, "#ttg.amd_mfma", kMfma, "warpsPerCTA"},
    {"amd_wmma", EncodingKind::AmdWmma, "#ttg.amd_wmma", kWmma, "warpsPerCTA"},
    {"wmma", EncodingKind::AmdWmma, "#ttg.amd_wmma", kWmma, "warpsPerCTA"},
    {"nvmma_shared", EncodingKind::NvmmaShared, "#ttg.nvmma_shared", kNvmma, "rank"},
    {"padded_shared", EncodingKind::PaddedShared, "#ttg.padded_shared", kPadded, "order"},
    {"shared_linear", EncodingKind::SharedLinear, "#ttg.shared_linear", kSharedLinear, "offset"},
    {"partitioned_shared", EncodingKind::PartitionedShared, "#ttg.partitioned_shared", kPartitioned, ""},
    {"tensor_memory_encoding", EncodingKind::TensorMemory, "#ttng.tensor_memory_encoding", kTensorMemory, ""},
    {"tensor_memory_scales_encoding", EncodingKind::TensorMemoryScales, "#ttng.tensor_memory_scales_encoding",
     kTensorMemoryScales, ""},
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

static bool parseParams(ParserState &p, Params &out) {
  if (!p.expect("<", "a layout")) return false;
  bool braces = p.lex.eat("{");
  if (!parseEntries(p, out, braces ? "}" : ">")) return false;
  return (!braces || p.expect("}", "a layout")) && p.expect(">", "a layout");
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

static void printBases(llvm::raw_ostream &o, llvm::ArrayRef<Basis> bases) {
  o << "[";
  llvm::interleaveComma(bases, o, [&](auto &b) { printList(o, b); });
  o << "]";
}

/// Bases as a layout of `in`, into as many elements per dimension as they reach.
static LinearLayout layoutOfBases(llvm::ArrayRef<std::pair<Dim, llvm::ArrayRef<Basis>>> ins, unsigned rank) {
  llvm::SmallVector<LinearLayout::InDim, 4> dims;
  llvm::SmallVector<LinearLayout::OutDim, 4> outs;
  llvm::SmallVector<int64_t, 4> largest(rank, 0);
  for (auto &[dim, bases] : ins) {
    dims.push_back({dim, {}});
    for (auto &b : bases) {
      dims.back().bases.push_back(b);
      for (unsigned d = 0; d < rank; ++d) largest[d] |= b[d];
    }
  }
  for (unsigned d = 0; d < rank; ++d) outs.push_back({tensorDim(d), int32_t(llvm::PowerOf2Ceil(largest[d] + 1))});
  return LinearLayout(std::move(dims), std::move(outs));
}

/// The kind's own class, made of its parameters, or null where these are not what the class knows: then the text is
/// carried along, and only lowering it is an error.
static const Encoding *modelled(EncodingPool &pool, EncodingKind kind, Params &p, llvm::ArrayRef<PaddedSharedParams::Padding> paddings, int64_t alignment) {
  auto number = [&](llvm::StringRef k, int64_t otherwise) {
    auto *e = p.find(k);
    return e && e->number ? *e->number : otherwise;
  };
  auto boolean = [&](llvm::StringRef k) {
    auto *e = p.find(k);
    return e && e->boolean.value_or(false);
  };
  auto list = [&](llvm::StringRef k) {
    auto *e = p.find(k);
    return e ? e->list : llvm::SmallVector<int32_t, 4>();
  };
  auto bases = [&](llvm::StringRef k) {
    auto *e = p.find(k);
    return e ? llvm::ArrayRef<Basis>(e->lists) : llvm::ArrayRef<Basis>();
  };
  auto sameRank = [](llvm::ArrayRef<Basis> b, unsigned rank) {
    return rank && rank <= kMaxRank && llvm::all_of(b, [&](auto &x) { return x.size() == rank && llvm::all_of(x, [](auto v) { return v >= 0 && v < (1 << 24); }); });
  };
  auto take = [](auto status) -> const Encoding * { return status.ok() ? *status : nullptr; };
  CtaLayout cta;
  cta.bases.assign(bases("CGALayout").begin(), bases("CGALayout").end());
  switch (kind) {
  case EncodingKind::AmdMfma: {
    AmdMfmaParams m;
    m.version = number("version", 3);
    m.warpsPerCta = list("warpsPerCTA");
    m.instrShape = list("instrShape");
    m.isTransposed = boolean("isTransposed");
    m.tilesPerWarp = list("tilesPerWarp");
    m.elementBitWidth = number("elementBitWidth", 32);
    if (!sameRank(cta.bases, m.warpsPerCta.size())) return nullptr;
    m.cta = std::move(cta);
    return take(pool.getAmdMfma(std::move(m)));
  }
  case EncodingKind::AmdWmma: {
    AmdWmmaParams w;
    w.version = number("version", 2);
    w.isTransposed = boolean("isTranspose");
    if (auto shape = list("instrShape"); !shape.empty()) w.instrShape = shape;
    if (auto *tiles = p.find("ctaLayout")) {
      auto *r = tiles->nested->find("register"), *warp = tiles->nested->find("warp");
      llvm::ArrayRef<Basis> registers, warps;
      if (r) registers = r->lists;
      if (warp) warps = warp->lists;
      unsigned rank = !warps.empty() ? warps[0].size() : registers.empty() ? 0 : registers[0].size();
      if (!sameRank(registers, rank) || !sameRank(warps, rank)) return nullptr;
      w.tiles = layoutOfBases({{Dim::Register, registers}, {Dim::Warp, warps}}, rank);
    } else {
      auto warps = list("warpsPerCTA"), own = list("tilesPerWarp");
      if (warps.empty() || (!own.empty() && own.size() != warps.size())) return nullptr;
      for (auto x : warps)
        if (x < 1 || !llvm::isPowerOf2_32(x)) return nullptr;
      for (auto x : own)
        if (x < 1 || !llvm::isPowerOf2_32(x)) return nullptr;
      w.tiles = AmdWmmaParams::tilesOf(warps, own);
    }
    if (!sameRank(cta.bases, w.tiles.numOutDims())) return nullptr;
    w.cta = std::move(cta);
    return take(pool.getAmdWmma(std::move(w)));
  }
  case EncodingKind::NvmmaShared: {
    NvmmaSharedParams n;
    n.swizzlingByteWidth = number("swizzlingByteWidth", 0);
    n.transposed = boolean("transposed");
    n.elementBitWidth = number("elementBitWidth", 16);
    n.fp4Padded = boolean("fp4Padded");
    n.rank = number("rank", cta.bases.empty() ? 2 : cta.bases[0].size());
    if (!sameRank(cta.bases, n.rank)) return nullptr;
    n.cta = std::move(cta);
    return take(pool.getNvmmaShared(std::move(n)));
  }
  case EncodingKind::PaddedShared: {
    PaddedSharedParams d;
    d.paddings.assign(paddings.begin(), paddings.end());
    auto order = list("order"), shape = list("shape");
    if (!shape.empty()) {
      llvm::SmallVector<bool, 8> seen(order.size());
      for (auto o : order)
        if (o < 0 || o >= int(order.size()) || std::exchange(seen[o], true)) return nullptr;
      for (auto x : shape)
        if (x < 1 || !llvm::isPowerOf2_32(x)) return nullptr;
      if (order.size() != shape.size() || order.size() > kMaxRank || !cta.bases.empty()) return nullptr;
      d.layout = PaddedSharedEncoding::identityLayout(order, shape);
    } else {
      auto offset = bases("offset"), block = bases("block");
      if (offset.empty() || !sameRank(offset, offset[0].size()) || !sameRank(block, offset[0].size())) return nullptr;
      d.layout = layoutOfBases({{Dim::Offset, offset}, {Dim::Block, block}}, offset[0].size());
    }
    return take(pool.getPaddedShared(std::move(d)));
  }
  case EncodingKind::SharedLinear: {
    auto offset = bases("offset"), block = bases("block");
    if (offset.empty() || !sameRank(offset, offset[0].size()) || !sameRank(block, offset[0].size())) return nullptr;
    return take(pool.getSharedLinear(layoutOfBases({{Dim::Offset, offset}, {Dim::Block, block}}, offset[0].size()), alignment ? alignment : 16));
  }
  default: return nullptr;
  }
}

/// A kind that may have to be kept as text: parameters are checked for their form and written in Triton's order.
static const Encoding *parseCarried(ParserState &p, const CarriedKind &k, llvm::StringRef mnemonic, const char *at) {
  auto &lex = p.lex;
  std::string body;
  llvm::raw_string_ostream o(body);
  Params params;
  int64_t alignment = 0;
  llvm::SmallVector<PaddedSharedParams::Padding, 2> paddings;
  if (!p.expect("<", "a layout")) return nullptr;
  if (k.kind == EncodingKind::PaddedShared) { // [256:+8, 512:+16]
    if (!p.expect("[", "the paddings")) return nullptr;
    bool first = true;
    do {
      int64_t interval, padding;
      const char *iat = (lex.skipSpace(), lex.position());
      if (!p.parseInteger(interval) || !p.expect(":", "a padding") || !p.expect("+", "a padding") ||
          !p.parseInteger(padding))
        return nullptr;
      auto power = [](int64_t v) { return v > 0 && v <= (1 << 28) && !(v & (v - 1)); };
      if (!power(interval) || !power(padding))
        return p.error("intervals and paddings must be powers of two", iat), nullptr;
      o << (first ? "[" : ", ") << interval << ":+" << padding;
      paddings.push_back({int32_t(interval), int32_t(padding)});
      first = false;
    } while (lex.eat(","));
    if (!p.expect("]", "the paddings")) return nullptr;
    o << "]";
  }
  bool braces = lex.eat("{");
  if (!parseEntries(p, params, braces ? "}" : ">")) return nullptr;
  if (braces && !p.expect("}", "a layout")) return nullptr;
  if (k.kind == EncodingKind::SharedLinear && lex.eat(",")) {
    if (!lex.eatWord("alignment")) return p.error("expected 'alignment'"), nullptr;
    const char *nat = (p.expect("=", "a layout"), lex.skipSpace(), lex.position());
    if (!p.parseInteger(alignment)) return nullptr;
    if (alignment <= 0 || alignment > (1 << 20)) return p.error("the alignment is out of range", nat), nullptr;
  }
  if (!p.expect(">", "a layout")) return nullptr;

  // Older spellings.
  for (auto &e : params.entries) {
    if (k.kind == EncodingKind::AmdMfma && e.key == "versionMajor") e.key = "version";
    if (k.kind == EncodingKind::AmdWmma && e.key == "isTransposed") e.key = "isTranspose";
  }
  auto saysNothing = [&](const Params::Entry &e) {
    bool split = e.key == "CTAsPerCGA" || e.key == "CTASplitNum" || e.key == "CTAOrder";
    return (split && (e.key == "CTAOrder" || llvm::all_of(e.list, [](int x) { return x == 1; }))) ||
           (e.key == "versionMinor" && k.kind == EncodingKind::AmdMfma) ||
           (e.key == "CGALayout" && e.isList && e.lists.empty() && e.list.empty());
  };
  params.entries.erase(llvm::remove_if(params.entries, saysNothing), params.entries.end());

  llvm::SmallVector<llvm::StringRef, 8> known;
  for (auto &want : k.params) known.push_back(want.key);
  for (auto &e : params.entries)
    if (!llvm::is_contained(known, e.key)) return unknownParam(p, mnemonic, e.key, e.at, known), nullptr;

  bool first = true;
  unsigned rank = 2;
  auto separate = [&] {
    if (first && braces)
      o << (k.kind == EncodingKind::PaddedShared ? " {" : "{");
    else if (!first)
      o << ", ";
    first = false;
  };
  for (auto &want : k.params) {
    auto *e = params.find(want.key);
    if (!e) {
      if (want.needed) return p.error("layout '" + mnemonic + "' needs parameter '" + want.key + "'", at), nullptr;
      continue;
    }
    auto wrong = [&](llvm::StringRef what) { return p.error("'" + want.key + "' must be " + what, e->at), nullptr; };
    if (want.key == k.rankFrom || (k.kind == EncodingKind::PaddedShared && want.key == "offset")) {
      rank = want.form == P::Number  ? e->number.value_or(2)
             : want.form == P::Bases ? (e->lists.empty() ? 2 : e->lists[0].size())
                                     : e->list.size();
      if (rank < 1 || rank > kMaxRank) return wrong("for 1 to 8 dimensions");
    }
    separate();
    o << want.key << " = ";
    switch (want.form) {
    case P::Number:
      if (!e->number) return wrong("an integer");
      if (*e->number < 0) return wrong("at least 0");
      o << *e->number;
      break;
    case P::Bool:
      if (!e->boolean) return wrong("true or false");
      o << (*e->boolean ? "true" : "false");
      break;
    case P::List:
      if (!e->isList || e->isLists) return wrong("a list of integers");
      for (auto x : e->list)
        if (x < 0) return wrong("a list of integers that are at least 0");
      printList(o, e->list);
      break;
    case P::Bases:
      if (!e->isList || !e->list.empty()) return wrong("a list of bases");
      printBases(o, e->lists);
      break;
    case P::BasesByDim: {
      if (!e->nested) return wrong("bases by dimension, such as {register = [[0, 1]], warp = []}");
      o << "{";
      llvm::interleaveComma(e->nested->entries, o, [&](auto &d) {
        o << d.key << " = ";
        printBases(o, d.lists);
        for (auto &b : d.lists) rank = b.size();
      });
      o << "}";
      for (auto &d : e->nested->entries)
        if (!d.isList || !d.list.empty()) return wrong("bases by dimension, such as {register = [[0, 1]], warp = []}");
      break;
    }
    case P::Layout:
      if (!e->encoding) return wrong("a layout");
      rank = e->encoding->rank();
      e->encoding->print(o);
      break;
    }
  }
  if (braces) o << (first ? "{}" : "}");
  if (alignment) o << ", alignment = " << alignment;
  if (auto *own = modelled(p.ctx.encodings(), k.kind, params, paddings, alignment)) return own;
  return p.ctx.encodings().getCarried(k.kind, k.prefix.str(), body, rank);
}

const Encoding *ParserState::parseEncodingBody(llvm::StringRef mnemonic, const char *at, bool older) {
  auto &pool = ctx.encodings();
  for (auto &k : kCarried)
    if (k.mnemonic == mnemonic) return parseCarried(*this, k, mnemonic, at);

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
  if (!parseParams(*this, p)) return nullptr;
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
      bool transposed = s.order[0] == 0;
      NvmmaSharedParams n;
      n.swizzlingByteWidth = s.maxPhase * 16;
      n.transposed = transposed;
      n.elementBitWidth = 128 / s.vec;
      if (auto own = pool.getNvmmaShared(n); own.ok()) return *own;
      std::string body = "{swizzlingByteWidth = " + std::to_string(s.maxPhase * 16) +
                         ", transposed = " + (transposed ? "true" : "false") +
                         ", elementBitWidth = " + std::to_string(128 / s.vec) + "}";
      return pool.getCarried(EncodingKind::NvmmaShared, "#ttg.nvmma_shared", body, 2);
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
    m.instrShape = find("instrShape") ? list("instrShape") : llvm::SmallVector<int32_t, 4>{16, 8};
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
  error("unknown layout '" + mnemonic + "'", at);
  return nullptr;
}

} // namespace tessera::frontend
