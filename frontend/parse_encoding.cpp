// Layout attributes: `#ttg.blocked<{…}>` and the older spellings (see parser_state.h), a function for each layout.
// How their parameters are read is encoding_parameters.h's; an unknown one is an error at its place; a complaint of
// the layouts library that starts with a parameter's name is shown there.
#include "frontend/encoding_parameters.h"
#include "ir/nearest_name.h"
#include "layouts/parameter_checks.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

namespace tessera::frontend {
using namespace ir;
using namespace layouts;

namespace {

class EncodingReader : EncodingParameters {
public:
  /// `element`: of the tensor whose layout it is, if that is known; `older`: the dialect is triton_gpu.
  EncodingReader(ParserState &p, llvm::StringRef mnemonic, const char *at, bool older, const Type &element)
      : EncodingParameters(p, mnemonic, at), older_(older), element_(element), pool_(p.ctx.encodings()) {}

  using Form = const Encoding *(EncodingReader::*)();
  static Form formOf(llvm::StringRef mnemonic) {
    static constexpr std::pair<llvm::StringLiteral, Form> kForms[] = {
        {"blocked", &EncodingReader::blocked},
        {"slice", &EncodingReader::slice},
        {"dot_op", &EncodingReader::dotOperand},
        {"swizzled_shared", &EncodingReader::swizzledShared},
        {"shared", &EncodingReader::swizzledShared},
        {"amd_rotating_shared", &EncodingReader::swizzledShared},
        {"nvidia_mma", &EncodingReader::nvidiaMma},
        {"mma", &EncodingReader::nvidiaMma},
        {"linear", &EncodingReader::linear},
        {"generic_linear", &EncodingReader::linear},
        {"amd_mfma", &EncodingReader::amdMfma},
        {"mfma", &EncodingReader::amdMfma},
        {"amd_wmma", &EncodingReader::amdWmma},
        {"wmma", &EncodingReader::amdWmma},
        {"nvmma_shared", &EncodingReader::nvmmaShared},
        {"padded_shared", &EncodingReader::paddedShared},
        {"shared_linear", &EncodingReader::sharedLinear},
        {"partitioned_shared", &EncodingReader::partitionedShared},
        {"tensor_memory_encoding", &EncodingReader::tensorMemory},
        {"tensor_memory_scales_encoding", &EncodingReader::tensorMemoryScales},
    };
    auto *f = llvm::find_if(kForms, [&](auto &f) { return f.first == mnemonic; });
    return f == std::end(kForms) ? nullptr : f->second;
  }

  const Encoding *read() {
    if (!parse(mnemonic_ == "padded_shared" ? &paddings_ : nullptr,
               mnemonic_ == "shared_linear" ? &alignment_ : nullptr))
      return nullptr;
    return (this->*formOf(mnemonic_))();
  }

private:
  const Encoding *blocked() {
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
    if (older_ && !p_.layoutAlone && threads > 0 && threads < 32 && llvm::isPowerOf2_64(threads) && !b.order.empty() &&
        b.order.back() >= 0 && size_t(b.order.back()) < b.threadsPerWarp.size())
      b.threadsPerWarp[b.order.back()] *= 32 / threads;
    return take(pool_.getBlocked(std::move(b)));
  }
  const Encoding *slice() {
    int64_t dim = number("dim", std::nullopt);
    auto *e = parent();
    return finish() ? take(pool_.getSlice(dim, e)) : nullptr;
  }
  const Encoding *dotOperand() {
    int64_t idx = number("opIdx", std::nullopt);
    auto *e = parent();
    int64_t width = number("kWidth", 0);
    find("isMMAv1Row"); // older spelling for Volta
    // The older spelling left out a kWidth of 32 bits' worth of elements.
    if (auto *mma = dynCast<NvidiaMmaEncoding>(e); mma && mma->versionMajor() >= 2 && older_ && !width && element_)
      if (unsigned bits = element_.bitWidth()) width = std::max(1u, 32 / bits);
    return finish() ? take(pool_.getDotOperand(idx, e, width)) : nullptr;
  }
  const Encoding *swizzledShared() {
    SwizzledSharedParams s;
    s.vec = number("vec", std::nullopt);
    s.perPhase = number("perPhase", std::nullopt);
    s.maxPhase = number("maxPhase", std::nullopt);
    s.order = list("order");
    auto *leading = find("hasLeadingOffset"); // older spelling of nvmma_shared, where true
    if (leading && !leading->boolean) complain("'hasLeadingOffset' must be true or false", leading->at);
    s.cta = cta(s.order.size());
    if (leading && leading->boolean.value_or(false)) {
      if (!finish()) return nullptr;
      if (s.order.size() < 2 || s.vec <= 0 || 128 % s.vec || s.perPhase <= 0 || int64_t(s.perPhase) * s.maxPhase != 8 ||
          !s.cta.isTrivial())
        return p_.error("these parameters have no form with a leading offset", at_), nullptr;
      NvmmaSharedParams n;
      n.swizzlingByteWidth = s.maxPhase * 16;
      n.transposed = s.order[0] == 0;
      n.elementBitWidth = 128 / s.vec;
      n.rank = s.order.size();
      return take(pool_.getNvmmaShared(std::move(n)));
    }
    return finish() ? take(pool_.getSwizzledShared(std::move(s), mnemonic_ == "amd_rotating_shared")) : nullptr;
  }
  const Encoding *nvidiaMma() {
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
    return finish() ? take(pool_.getNvidiaMma(std::move(m))) : nullptr;
  }
  const Encoding *linear() {
    llvm::SmallVector<LinearLayout::InDim, 4> ins;
    for (auto d : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block}) ins.push_back(bases(need(dimName(d)), d));
    if (!finish()) return nullptr;
    if (!rank_) return p_.error("a linear layout needs at least one basis", at_), nullptr;
    return take(pool_.getLinear(layoutOf(std::move(ins)), mnemonic_ == "generic_linear"));
  }
  const Encoding *amdMfma() {
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
    return finish() ? take(pool_.getAmdMfma(std::move(m))) : nullptr;
  }
  const Encoding *amdWmma() {
    AmdWmmaParams w;
    w.version = number("version", std::nullopt);
    w.isTransposed = boolean(find("isTransposed") ? "isTransposed" : "isTranspose", false);
    if (find("instrShape")) w.instrShape = list("instrShape");
    w.consecutiveRows = boolean("consecutiveRows", false);
    int64_t rank = number("rank", 2);
    if (Entry *e = find("ctaLayout"))
      wmmaTilesOfBases(*e, rank, w);
    else
      wmmaTilesOfWarps(w);
    return finish() ? take(pool_.getAmdWmma(std::move(w))) : nullptr;
  }
  /// `ctaLayout = {register = …, warp = …}`; its rank is `rank` if it has no bases.
  void wmmaTilesOfBases(const Entry &e, int64_t rank, AmdWmmaParams &w) {
    if (!e.nested) complain("'ctaLayout' must be bases by dimension, such as {register = [[0, 1]], warp = []}", e.at);
    llvm::SmallVector<LinearLayout::InDim, 4> ins{{Dim::Register, {}}, {Dim::Warp, {}}};
    if (ok_ && e.nested)
      for (auto &n : e.nested->entries) {
        int which = n.key == "register" ? 0 : n.key == "warp" ? 1 : -1;
        if (which < 0) unknown("ctaLayout", n.key, n.at, {"register", "warp"});
        if (which >= 0) ins[which] = bases(&n, ins[which].dim);
      }
    if (!rank_ && (rank < 2 || rank > 3)) complain("'rank' must be 2 or 3", at_);
    if (!rank_) rank_ = rank;
    w.cta = cta(rank_);
    if (ok_) w.tiles = layoutOf(std::move(ins));
  }
  /// The older spelling: `warpsPerCTA`, and maybe `tilesPerWarp`.
  void wmmaTilesOfWarps(AmdWmmaParams &w) {
    auto warps = list("warpsPerCTA");
    auto tiles = find("tilesPerWarp") ? list("tilesPerWarp") : llvm::SmallVector<int32_t, 4>();
    w.cta = cta(warps.size());
    for (auto l : {&warps, &tiles})
      for (auto x : *l)
        if (x <= 0 || (x & (x - 1)) || x > 64)
          complain((l == &warps ? "warpsPerCTA" : "tilesPerWarp") +
                       llvm::Twine(": every entry must be a power of two up to 64"),
                   find(l == &warps ? "warpsPerCTA" : "tilesPerWarp")->at);
    if ((warps.empty() || warps.size() > 3) && missing_.empty())
      complain("'warpsPerCTA' must be for 1 to 3 dimensions", find("warpsPerCTA")->at);
    if (!tiles.empty() && tiles.size() != warps.size())
      complain("'tilesPerWarp' must have as many entries as 'warpsPerCTA'", find("tilesPerWarp")->at);
    if (ok_ && missing_.empty()) w.tiles = AmdWmmaParams::tilesOf(warps, tiles);
  }
  const Encoding *nvmmaShared() {
    NvmmaSharedParams n;
    n.swizzlingByteWidth = number("swizzlingByteWidth", std::nullopt);
    n.transposed = boolean("transposed", std::nullopt);
    n.elementBitWidth = number("elementBitWidth", std::nullopt);
    n.fp4Padded = boolean("fp4Padded", false);
    // The rank is said by the blocks' bases where there are any.
    auto *cga = find("CGALayout"), *perCga = find("CTAsPerCGA");
    n.rank = cga && !cga->lists.empty()        ? cga->lists[0].size()
             : perCga && !perCga->list.empty() ? perCga->list.size()
                                               : 2;
    n.rank = number("rank", n.rank);
    n.cta = cta(n.rank);
    return finish() ? take(pool_.getNvmmaShared(std::move(n))) : nullptr;
  }
  const Encoding *paddedShared() {
    if (find("order")) return paddedSharedOfOrder();
    PaddedSharedParams s;
    s.paddings = std::move(paddings_);
    llvm::SmallVector<LinearLayout::InDim, 4> ins;
    ins.push_back(bases(need("offset"), Dim::Offset));
    ins.push_back(bases(find("block"), Dim::Block));
    if (!finish()) return nullptr;
    if (!rank_) return p_.error("a padded layout needs at least one basis", at_), nullptr;
    s.layout = layoutOf(std::move(ins));
    return take(pool_.getPaddedShared(std::move(s)));
  }
  /// `order = …, shape = …`: the elements of one block lie one after the other; the blocks are side by side.
  const Encoding *paddedSharedOfOrder() {
    PaddedSharedParams s;
    s.paddings = std::move(paddings_);
    auto order = list("order"), shape = list("shape");
    for (auto x : shape)
      if ((x <= 0 || (x & (x - 1)) || x > (1 << 20)))
        complain("'shape' must be powers of two up to 1048576", find("shape")->at);
    llvm::SmallVector<bool, 8> seen(order.size());
    for (auto x : order)
      if ((x < 0 || x >= int(order.size()) || std::exchange(seen[x], true)))
        complain("'order' is not a permutation", find("order")->at);
    if ((order.empty() || order.size() > kMaxRank || order.size() != shape.size()) && missing_.empty())
      complain("'order' and 'shape' must have one entry for each of 1 to " + llvm::Twine(kMaxRank) + " dimensions",
               find("order")->at);
    CtaLayout blocks = cta(order.size());
    if (!finish()) return nullptr;
    if (absl::Status wrong = checkCta(blocks, order.size()); !wrong.ok())
      return take(absl::StatusOr<const Encoding *>(wrong));
    auto splits = blocks.splits(order.size());
    llvm::SmallVector<int32_t, 8> perBlock;
    for (unsigned d = 0; d < shape.size(); ++d) perBlock.push_back(std::max(1, shape[d] / splits[d]));
    s.layout = PaddedSharedEncoding::identityLayout(order, perBlock);
    if (!blocks.isTrivial()) {
      rank_ = order.size();
      llvm::SmallVector<LinearLayout::InDim, 4> ins{{Dim::Offset, {}}, {Dim::Block, {}}};
      for (auto &in : s.layout.ins())
        if (in.dim == Dim::Offset) ins[0].bases = in.bases;
      for (auto b : blocks.bases) {
        for (unsigned d = 0; d < rank_; ++d) b[d] *= perBlock[d];
        ins[1].bases.push_back(b);
      }
      s.layout = layoutOf(std::move(ins));
    }
    return take(pool_.getPaddedShared(std::move(s)));
  }
  const Encoding *sharedLinear() {
    llvm::SmallVector<LinearLayout::InDim, 4> ins;
    ins.push_back(bases(need("offset"), Dim::Offset));
    ins.push_back(bases(find("block"), Dim::Block));
    if (!finish()) return nullptr;
    if (!rank_) return p_.error("a linear layout needs at least one basis", at_), nullptr;
    return take(pool_.getSharedLinear(layoutOf(std::move(ins)), alignment_));
  }
  const Encoding *partitionedShared() {
    int64_t partitions = number("numPartitions", std::nullopt), groups = number("numGroups", std::nullopt),
            dim = number("partitionDim", std::nullopt);
    auto *e = need("partitionLayout");
    if (e && !e->encoding) complain("'partitionLayout' must be a layout", e->at);
    return finish() ? take(pool_.getPartitionedShared(partitions, groups, dim, e->encoding)) : nullptr;
  }
  const Encoding *tensorMemory() {
    TensorMemoryParams t;
    t.blockM = number("blockM", std::nullopt);
    t.blockN = number("blockN", std::nullopt);
    t.colStride = number("colStride", 1);
    t.ctaSplitM = number("CTASplitM", 1);
    t.ctaSplitN = number("CTASplitN", 1);
    t.twoCtas = boolean("twoCTAs", false);
    t.cta = cta(2);
    return finish() ? take(pool_.getTensorMemory(std::move(t))) : nullptr;
  }
  const Encoding *tensorMemoryScales() {
    TensorMemoryScalesParams t;
    t.ctaSplitM = number("CTASplitM", 1);
    t.ctaSplitN = number("CTASplitN", 1);
    t.cta = cta(2);
    return finish() ? take(pool_.getTensorMemoryScales(std::move(t))) : nullptr;
  }

  bool older_;
  const Type &element_;
  EncodingPool &pool_;
  llvm::SmallVector<PaddedSharedParams::Padding, 2> paddings_;
  int64_t alignment_ = 16;
};

} // namespace

const Encoding *ParserState::parseEncoding() {
  lex.skipSpace();
  const char *at = lex.position();
  if (lex.peek() != '#') return error("expected a layout attribute", at), nullptr;
  Attribute a = parseHashAttribute();
  if (!a) return nullptr;
  if (auto e = a.dyn_cast<EncodingAttr>()) return e.value();
  Diagnostic d = makeError("'" + a.str() + "' is not a layout", at);
  auto name = llvm::StringRef(at, lex.position() - at).drop_front().take_while([](char c) { return c != '<'; });
  static constexpr llvm::StringRef kKnown[] = {"ttg.blocked",
                                               "ttg.slice",
                                               "ttg.dot_op",
                                               "ttg.nvidia_mma",
                                               "ttg.amd_mfma",
                                               "ttg.amd_wmma",
                                               "ttg.linear",
                                               "ttg.generic_linear",
                                               "ttg.swizzled_shared",
                                               "ttg.nvmma_shared",
                                               "ttg.amd_rotating_shared",
                                               "ttg.padded_shared",
                                               "ttg.shared_linear",
                                               "ttg.partitioned_shared",
                                               "ttng.tensor_memory_encoding"};
  constexpr unsigned kMaxEdits = 5;
  llvm::StringRef meant = nearestName(name, kKnown, kMaxEdits);
  if (!meant.empty()) d.note("did you mean '#" + meant + "'?");
  return report(std::move(d)), nullptr;
}

bool ParserState::isEncoding(llvm::StringRef mnemonic) { return EncodingReader::formOf(mnemonic); }

const Encoding *ParserState::parseEncodingBody(llvm::StringRef mnemonic, const char *at, bool older) {
  return EncodingReader(*this, mnemonic, at, older, layoutElement_).read();
}

} // namespace tessera::frontend
