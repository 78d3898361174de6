// Parameters of layout attributes (see encoding_parameters.h). Keys may come in any order.
#include "frontend/encoding_parameters.h"
#include "ir/nearest_name.h"
#include <utility>

namespace tessera::frontend {
using namespace layouts;

/// An integer in [low, high].
bool EncodingParameters::parseInRange(int64_t &v, int64_t low, int64_t high) {
  const char *at = (p_.lex.skipSpace(), p_.lex.position());
  if (!p_.parseInteger(v)) return false;
  return (v >= low && v <= high) || p_.error("the number is out of range", at);
}

/// `[1, 2]` or `[[0, 1], [2, 0]]`.
bool EncodingParameters::parseEntryList(Entry &e) {
  auto &lex = p_.lex;
  int64_t v;
  lex.bump(); // [
  e.isList = true;
  if (!lex.lookingAt("]")) do {
      if (!lex.eat("[")) {
        if (!parseInRange(v, INT32_MIN, INT32_MAX)) return false;
        e.list.push_back(v);
        continue;
      }
      e.isLists = true;
      Basis b;
      if (!lex.lookingAt("]")) do {
          if (!parseInRange(v, 0, 1 << 28)) return false;
          b.push_back(v);
        } while (lex.eat(","));
      if (!p_.expect("]", "a basis")) return false;
      e.lists.push_back(b);
    } while (lex.eat(","));
  if (!p_.expect("]", "a layout parameter")) return false;
  bool isMixed = !e.list.empty() && !e.lists.empty();
  return !isMixed || p_.error("'" + e.key + "' mixes numbers and lists", e.at);
}

/// `key = value, …` up to what closes them; nothing is interpreted yet.
bool EncodingParameters::parseEntries(EncodingEntries &out, const char *closer) {
  ParserState &p = p_;
  DepthGuard guard(p);
  if (!guard.ok) return false;
  auto &lex = p.lex;
  if (lex.lookingAt(closer)) return true;
  do {
    Entry e;
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
      if (!parseEntryList(e)) return false;
    } else if (c == '{') {
      lex.bump();
      e.nested = std::make_unique<EncodingEntries>();
      if (!parseEntries(*e.nested, "}") || !p.expect("}", "a layout parameter")) return false;
    } else {
      int64_t v;
      if (!parseInRange(v, INT32_MIN, INT32_MAX)) return false;
      e.number = v;
    }
    out.entries.push_back(std::move(e));
  } while (lex.eat(","));
  return true;
}

bool EncodingParameters::parse(llvm::SmallVectorImpl<PaddedSharedParams::Padding> *paddings, int64_t *alignment) {
  ParserState &p = p_;
  auto &lex = p.lex;
  if (!p.expect("<", "a layout")) return false;
  if (paddings) {
    if (!p.expect("[", "the paddings")) return false;
    do {
      int64_t interval, padding;
      const char *at = (lex.skipSpace(), lex.position());
      if (!p.parseInteger(interval) || !p.expect(":", "a padding") || !p.expect("+", "a padding") ||
          !p.parseInteger(padding))
        return false;
      auto power = [](int64_t v) { return v > 0 && v <= (1 << 28) && !(v & (v - 1)); };
      if (!power(interval) || !power(padding)) return p.error("intervals and paddings must be powers of two", at);
      paddings->push_back({int32_t(interval), int32_t(padding)});
    } while (lex.eat(","));
    if (!p.expect("]", "the paddings")) return false;
  }
  bool braces = lex.eat("{");
  if (!parseEntries(entries_, braces ? "}" : ">")) return false;
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

EncodingParameters::Entry *EncodingParameters::find(llvm::StringRef k) {
  queried_.push_back(k);
  return entries_.find(k);
}

EncodingParameters::Entry *EncodingParameters::need(llvm::StringRef k) {
  auto *e = find(k);
  if (!e && missing_.empty()) missing_ = k;
  return e;
}

llvm::SmallVector<int32_t, 4> EncodingParameters::list(llvm::StringRef k) {
  auto *e = need(k);
  if (e && (!e->isList || e->isLists)) complain("'" + k + "' must be a list of integers", e->at);
  return e ? e->list : llvm::SmallVector<int32_t, 4>();
}

int64_t EncodingParameters::number(llvm::StringRef k, std::optional<int64_t> otherwise) {
  auto *e = otherwise ? find(k) : need(k);
  if (!e) return otherwise.value_or(0);
  if (!e->number) complain("'" + k + "' must be an integer", e->at);
  int64_t v = e->number.value_or(0);
  if (v < INT32_MIN || v > INT32_MAX) complain("'" + k + "' is out of range", e->at);
  return v;
}

bool EncodingParameters::boolean(llvm::StringRef k, std::optional<bool> otherwise) {
  auto *e = otherwise ? find(k) : need(k);
  if (!e) return otherwise.value_or(false);
  if (!e->boolean) complain("'" + k + "' must be true or false", e->at);
  return e->boolean.value_or(false);
}

const Encoding *EncodingParameters::parent() {
  auto *e = need("parent");
  if (e && !e->encoding) complain("'parent' must be a layout", e->at);
  return e ? e->encoding : nullptr;
}

CtaLayout EncodingParameters::cta(unsigned rank) {
  CtaLayout c;
  if (auto *e = find("CGALayout")) {
    if (!e->isLists && !(e->isList && e->list.empty())) complain("'CGALayout' must be a list of bases", e->at);
    c.bases.assign(e->lists.begin(), e->lists.end());
  } else if (find("CTAsPerCGA")) { // older spelling
    auto per = list("CTAsPerCGA"), split = list("CTASplitNum"), order = list("CTAOrder");
    if (per.size() != rank || split.size() != rank || order.size() != rank)
      complain("CTAsPerCGA, CTASplitNum and CTAOrder must have the layout's rank", at_);
    for (auto l : {&per, &split})
      for (auto x : *l)
        if (x <= 0 || (x & (x - 1)) || x > 16)
          complain("CTAsPerCGA and CTASplitNum must be powers of two up to 16", at_);
    llvm::SmallVector<bool, 8> seen(rank);
    for (auto x : order)
      if (x < 0 || x >= int(rank) || std::exchange(seen[x], true)) complain("CTAOrder is not a permutation", at_);
    if (ok_) c = CtaLayout::fromSplitParams(per, split, order);
  }
  return c;
}

LinearLayout::InDim EncodingParameters::bases(Entry *e, Dim dim) {
  LinearLayout::InDim in{dim, {}};
  if (!e) return in;
  if (!e->isList || (!e->isLists && !e->list.empty())) {
    complain("'" + e->key + "' must be a list of bases", e->at);
    return in;
  }
  for (auto &b : e->lists) {
    if (!rank_) rank_ = b.size();
    if (b.size() != rank_ || rank_ == 0 || rank_ > kMaxRank)
      complain("the bases must all have the tensor's rank", e->at);
    in.bases.push_back(b);
  }
  if (in.bases.size() > 24) complain("too many bases", e->at);
  return in;
}

LinearLayout EncodingParameters::layoutOf(llvm::SmallVector<LinearLayout::InDim, 4> ins) {
  llvm::SmallVector<LinearLayout::OutDim, 4> outs;
  for (unsigned d = 0; d < rank_; ++d) {
    uint32_t all = 0;
    for (auto &i : ins)
      for (auto &b : i.bases) all |= b[d];
    outs.push_back({tensorDim(d), int32_t(llvm::PowerOf2Ceil(uint64_t(all) + 1))});
  }
  return LinearLayout(std::move(ins), std::move(outs));
}

bool EncodingParameters::finish() {
  for (auto &e : entries_.entries)
    if (!e.used) unknown(mnemonic_, e.key, e.at, queried_);
  if (!missing_.empty()) complain("layout '" + mnemonic_ + "' needs parameter '" + missing_ + "'", at_);
  return ok_;
}

/// With the parameter whose name is nearest to what was written, for a suggestion.
void EncodingParameters::unknown(llvm::StringRef mnemonic, llvm::StringRef key, const char *at,
                                 llvm::ArrayRef<llvm::StringRef> known) {
  if (!ok_) return;
  ir::Diagnostic d = p_.makeError("layout '" + mnemonic + "' has no parameter '" + key + "'", at);
  constexpr unsigned kMaxEdits = 4;
  llvm::StringRef meant = ir::nearestName(key, known, kMaxEdits);
  if (!meant.empty()) d.note("did you mean '" + meant + "'?");
  ok_ = p_.report(std::move(d));
}

} // namespace tessera::frontend
