// Matrix instructions: a multiplication whose result has a blocked layout gets that of an instruction of the target's
// table (TargetInfo::matrixInstructions), its operands the instruction's operand layouts:
//
//   %d = tt.dot %a, %b, %c : (dot_op over #blocked) … -> tensor<64x64xf32, #blocked>
//   →
//   %c1 = ttg.convert_layout %c : #blocked -> #mma
//   %a1 = ttg.convert_layout %a : … -> #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>      (%b likewise)
//   %d1 = tt.dot %a1, %b1, %c1 : … -> tensor<64x64xf32, #mma>
//   %d = ttg.convert_layout %d1 : #mma -> #blocked
//
// What an instruction does not take is brought into a form that one does:
//   accumulators of f16 and bf16 without an instruction of their own are f32 during the multiplication 8-bit floats
//   without an instruction for the pair, and mixed kinds, become f16 or bf16, which hold them exactly f32 by
//   precision: tf32 uses tf32 instructions, else those of f32; tf32x3 those of f32 where the target has them, else
//   three tf32 multiplications of the operands' high and low parts; bf16x3 and bf16x6 three and six of bf16 parts
//   (each operand the sum of up to three bf16), the small products first
// A multiplication that fits no instruction (types, or, but for AMD's, a shape smaller than its tile) stays, and is
// lowered by fma.
//
// Where the target multiplies by warp groups (wgmma) and the shape has a tile of 64 rows for each, the operands are
// brought to shared memory instead, where their values are made; a left operand that is made from another
// multiplication's result stays in registers (but for warps along the columns, which each have a part of its rows),
// and so does one that a loop computes from what it loads (accelerateByWarpGroups says what else does):
//
//   %m = ttg.local_alloc %b : (tensor<64x256xf16, #blocked>) -> !ttg.memdesc<64x256xf16, #nvmma_shared, #smem>   (%a likewise)
//   %d1 = ttng.warp_group_dot %l, %m, %c1 : … -> tensor<128x256xf32, #mma>
//
// Choice of the tile: the one with the least work, copies that several warps or lanes compute included, and then the
// largest (AMD's 4 by 64 and 64 by 4, for few rows or columns, last). Where AMD's is asked for
// (matrix-instruction-size), those of 16 by 16 or 32 by 32 are taken if the types have one and K fills it. Choice of
// the warps: those of a chain (the result goes on as an operand of another multiplication, as in attention) stand
// along the dimension that the chain keeps, so that values stay in their threads (for mma.sync through the left
// operand only), but for the end of a chain in a loop that has MFMA's larger tile otherwise (endsChainByItself); else
// they are dealt so that each reads as little of the operands as possible.
#include "ir/builder.h"
#include "ir/constants.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "layouts/layout_order.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

namespace {

/// How a multiplication of given types is done.
struct Way {
  MatrixType a, b, c;      // the instruction's
  Type operandA, operandB; // what the operands are converted to first
  Type accumulator;        // likewise
  enum Split { None, Tf32x3, Bf16x3, Bf16x6 } split = None;
};

class Acceleration {
public:
  Acceleration(Module &m, const AccelerateMatmulOptions &o, const PassContext &c)
      : m_(m), context_(c), target_(*c.target), tile_(o.matrixInstructionSize), pool_(m.context().encodings()) {}

  bool run() {
    std::vector<tt::DotOp> dots;
    m_.op()->walk([&](Operation *op) {
      if (auto d = op->dyn<tt::DotOp>();
          d && layouts::dynCast<layouts::BlockedEncoding>(d.d().type().cast<TensorType>().encoding()))
        dots.push_back(d);
    });
    // Chains are looked for before anything changes.
    std::vector<std::pair<unsigned, unsigned>> chains;
    for (auto d : dots) {
      chains.push_back(chainOf(d));
      throughLeft_ |= (chains.back().first | chains.back().second) & kThroughA;
    }
    bool changed = false;
    for (auto [i, d] : llvm::enumerate(dots)) {
      if (accelerate(d, chains[i].first, chains[i].second))
        changed = true;
      else
        tell(d, Remark::Missed, "stays a sum of fma: " + whyFma(d));
    }
    return changed;
  }

private:
  // ---- remarks ----

  static std::string typesOf(tt::DotOp d) {
    return d.a().type().scalar().str() + " by " + d.b().type().scalar().str() + " into " + d.d().type().scalar().str();
  }
  void tell(tt::DotOp d, Remark::Kind kind, const std::string &what, llvm::json::Object facts = {}) {
    if (!context_.wantsRemarks()) return;
    context_.remark(
        {kind, "", "DotInstruction", d->loc(), "the multiplication of " + typesOf(d) + " " + what, std::move(facts)});
  }
  std::string whyFma(tt::DotOp d) {
    if (!wayOf(d))
      return llvm::formatv("{0} has no matrix instruction for the types{1}", target_.name,
                           d.a().type().scalar().isF32() ? " and this precision" : "")
          .str();
    return "the shape is smaller than the tiles of the instructions for its types";
  }
  std::string unitName() const {
    switch (target_.matrixUnit) {
    case MatrixUnit::None: break;
    case MatrixUnit::MmaSync:
    case MatrixUnit::Wgmma:
    case MatrixUnit::Tcgen05: return "mma.sync";
    case MatrixUnit::Mfma: return "MFMA";
    case MatrixUnit::Wmma: return "WMMA";
    }
    return "";
  }
  bool notByWarpGroups(std::string why) {
    whyNotByWarpGroups_ = std::move(why);
    return false;
  }

  static Value unconverted(Value v) {
    while (auto c = v.definedBy<ttg::ConvertLayoutOp>()) v = c.src();
    return v;
  }

  enum Chain : unsigned { kNone = 0, kThroughA = 1, kThroughB = 2 };

  /// Values that a value is made from, or made into, by elementwise work on whole tensors of the same shape.
  static bool passes(Operation *op) {
    return op &&
           (op->info().has(kElementwise) || op->is<ttg::ConvertLayoutOp>() || op->is<arith::SelectOp>() ||
            op->is<tt::FpToFpOp>()) &&
           op->numResults() == 1;
  }
  unsigned uses(Value v, llvm::DenseSet<Value> &seen) {
    if (!seen.insert(v).second) return kNone;
    unsigned found = kNone;
    for (auto *use = v.firstUse(); use; use = use->nextUse) {
      if (use->owner->is<tt::DotOp>())
        found |= use->index() == 0 ? kThroughA : use->index() == 1 ? kThroughB : kNone;
      else if (passes(use->owner) && use->owner->result().type().isTensor() &&
               use->owner->result().type().cast<TensorType>().shape() == v.type().cast<TensorType>().shape())
        found |= uses(use->owner->result(), seen);
    }
    return found;
  }
  bool fromDot(Value v, llvm::DenseSet<Value> &seen) {
    if (!seen.insert(v).second || !v.type().isTensor()) return false;
    Operation *def = v.definingOp();
    if (!def) return false;
    if (def->is<tt::DotOp>()) return true;
    if (!passes(def)) return false;
    for (auto o : def->operands())
      if (o.type().isTensor() && o.type().cast<TensorType>().shape() == v.type().cast<TensorType>().shape() &&
          fromDot(o, seen))
        return true;
    return false;
  }
  /// Whether a value is made elementwise from one tensor that is loaded in the loop whose body has the
  /// multiplication, with nothing else of its size: in registers from the copy's buffer on, it passes shared memory
  /// once instead of twice.
  static bool computedFromLoad(Value v, Block *body) {
    if (!body->parentOp()->is<scf::ForOp>()) return false;
    bool computed = false;
    unsigned width = v.type().scalar().bitWidth(); // narrower elements would be read one by one
    for (v = unconverted(v);; computed = true) {
      Operation *def = v.definingOp();
      if (!def || def->block() != body) return false;
      if (def->is<tt::LoadOp>()) return computed && v.type().scalar().bitWidth() >= width;
      if (!passes(def) || !isPure(def)) return false;
      Value large;
      for (auto o : def->operands()) {
        Operation *of = unconverted(o).definingOp();
        if (!o.type().isTensor() ||
            (of && (of->is<tt::BroadcastOp>() || of->is<tt::SplatOp>() || of->is<arith::ConstantOp>())) ||
            (of && of->block() != body))
          continue;
        if (large && large != o) return false;
        large = o;
      }
      if (!large) return false;
      v = unconverted(large);
    }
  }
  /// First: through which operand of another multiplication the result goes on. Second: which operands of this one are
  /// made from another's result.
  std::pair<unsigned, unsigned> chainOf(tt::DotOp d) {
    llvm::DenseSet<Value> seen, seenA, seenB;
    unsigned from = (fromDot(d.a(), seenA) ? kThroughA : kNone) | (fromDot(d.b(), seenB) ? kThroughB : kNone);
    return {uses(d.d(), seen), from};
  }

  bool has(MatrixType a, MatrixType b, MatrixType c) {
    return llvm::any_of(target_.matrixInstructions, [&](auto &r) { return r.a == a && r.b == b && r.c == c; });
  }

  std::optional<Way> wayOf(tt::DotOp d) {
    auto &c = m_.context();
    Type at = d.a().type().scalar(), bt = d.b().type().scalar(), ct = d.d().type().scalar();
    auto a = matrixTypeOf(at), b = matrixTypeOf(bt), acc = matrixTypeOf(ct);
    if (!acc) return std::nullopt;
    Way w{a.value_or(MatrixType::F16), b.value_or(MatrixType::F16), *acc, at, bt, ct};
    if (at.isInteger() || bt.isInteger()) {
      if (a && b && has(*a, *b, *acc)) return w;
      return std::nullopt;
    }
    bool narrow = *acc == MatrixType::F16 || *acc == MatrixType::BF16;
    // f32 operands: by precision.
    if (at.isF32() && bt.isF32()) {
      if (narrow) w.c = MatrixType::F32, w.accumulator = c.f32();
      if (w.c != MatrixType::F32) return std::nullopt;
      bool tf32 = has(MatrixType::TF32, MatrixType::TF32, MatrixType::F32),
           f32 = has(MatrixType::F32, MatrixType::F32, MatrixType::F32);
      switch (d.inputPrecision()) {
      case InputPrecision::Tf32:
        if (tf32) w.a = w.b = MatrixType::TF32;
        return tf32 || f32 ? std::optional(w) : std::nullopt;
      case InputPrecision::Tf32x3:
        if (f32) return w;
        if (!tf32) return std::nullopt;
        w.a = w.b = MatrixType::TF32, w.split = Way::Tf32x3;
        return w;
      case InputPrecision::Ieee: return f32 ? std::optional(w) : std::nullopt;
      case InputPrecision::Bf16x3:
      case InputPrecision::Bf16x6:
        if (!has(MatrixType::BF16, MatrixType::BF16, MatrixType::F32)) return std::nullopt;
        w.a = w.b = MatrixType::BF16,
        w.split = d.inputPrecision() == InputPrecision::Bf16x3 ? Way::Bf16x3 : Way::Bf16x6;
        return w;
      }
      return std::nullopt;
    }
    auto withAccumulator = [&](MatrixType x, MatrixType y) {
      w.a = x, w.b = y;
      if (has(x, y, *acc)) return true;
      if (!narrow || !has(x, y, MatrixType::F32)) return false;
      w.c = MatrixType::F32, w.accumulator = c.f32();
      return true;
    };
    if (a && b && withAccumulator(*a, *b)) return w;
    // Kinds of 8 bits, and mixtures: a wider kind that holds both.
    auto isF8 = [](Type t) { return t.isFloat() && t.bitWidth() == 8; };
    auto holds = [&](FloatKind k) { return (isF8(at) || at.isFloat(k)) && (isF8(bt) || bt.isFloat(k)); };
    if (isF8(at) || isF8(bt)) {
      if (holds(FloatKind::F16) && withAccumulator(MatrixType::F16, MatrixType::F16)) {
        w.operandA = w.operandB = c.f16();
        return w;
      }
      // All of the 8-bit kinds have at most 4 significant bits and fit the range of bf16.
      if (holds(FloatKind::BF16) && withAccumulator(MatrixType::BF16, MatrixType::BF16)) {
        w.operandA = w.operandB = c.bf16();
        return w;
      }
    }
    return std::nullopt;
  }

  /// The warps along rows and columns (and batches first, which share nothing).
  llvm::SmallVector<int32_t, 4> warpsFor(llvm::ArrayRef<int64_t> shape, const MatrixInstruction &i, unsigned along) {
    unsigned rank = shape.size();
    llvm::SmallVector<int32_t, 4> out(rank, 1);
    int64_t warps = numWarps(m_.op());
    if (rank == 3) {
      out[0] = std::min<int64_t>(warps, shape[0]);
      warps /= out[0];
    }
    int64_t m = shape[rank - 2], n = shape[rank - 1];
    int64_t best = INT64_MAX;
    for (int64_t wm = 1; wm <= warps; wm *= 2) {
      int64_t wn = warps / wm;
      int64_t rows = std::max<int64_t>(m / wm, i.m), columns = std::max<int64_t>(n / wn, i.n);
      // Work first (warps beyond the tiles compute copies), then what a warp reads of the operands.
      int64_t cost = rows * columns * 4096 + (rows + columns) * 2;
      if (along == kThroughA) cost = rows * columns * 4096 + columns * -1; // rows only
      if (along == kThroughB) cost = rows * columns * 4096 + rows * -1;
      // Of equals, NVIDIA's along the rows where there are products that go on through the left operand, which stand
      // so.
      if (cost < best || (cost == best && throughLeft_ && unitName() == "mma.sync"))
        best = cost, out[rank - 2] = wm, out[rank - 1] = wn;
    }
    return out;
  }

  /// Whether an instruction does for a shape. AMD's may have more rows or columns than there are (lanes then hold
  /// copies of others' elements), but not the wide side of 4 by 64, whose use is that nothing is computed twice.
  bool fits(const MatrixInstruction &r, int64_t m, int64_t n, int64_t k) {
    bool copies = target_.matrixUnit == MatrixUnit::Mfma || target_.matrixUnit == MatrixUnit::Wmma;
    if (r.m == 4 || r.n == 4) return std::max(r.m, r.n) <= (r.m == 4 ? n : m);
    return r.k <= 2 * k && (copies || (r.m <= m && r.n <= n));
  }

  /// The work of a warp, copies included.
  static int64_t workOf(llvm::ArrayRef<int64_t> shape, const MatrixInstruction &r, llvm::ArrayRef<int32_t> warps) {
    unsigned rank = shape.size();
    return std::max<int64_t>(shape[rank - 2] / warps[rank - 2], r.m) *
           std::max<int64_t>(shape[rank - 1] / warps[rank - 1], r.n) * r.slowness;
  }

  /// Whether the last product of a chain in a loop takes a tile and warps of its own: where it can have MFMA's larger
  /// tile at no more work, copies included, than along the chain's rows with the smaller one. That is fewer
  /// instructions, each reading less of the right operand; the left operand goes through LDS.
  bool endsChainByItself(tt::DotOp d, const Way &w, int64_t k, unsigned to, unsigned from) {
    if (target_.matrixUnit != MatrixUnit::Mfma || tile_ || to != kNone || from != kThroughA ||
        !d->block()->parentOp()->is<scf::ForOp>())
      return false;
    auto shape = tensorOf(d.d()).shape();
    auto *chained = choose(w, shape, k, kThroughA), *own = choose(w, shape, k, kNone);
    return chained && own && own->m * own->n > chained->m * chained->n &&
           workOf(shape, *own, warpsFor(shape, *own, kNone)) <=
               workOf(shape, *chained, warpsFor(shape, *chained, kThroughA));
  }

  /// The row of the table for these types: the one with the least work, copies included; the larger tile where each
  /// warp has one.
  const MatrixInstruction *choose(const Way &w, llvm::ArrayRef<int64_t> shape, int64_t k, unsigned along) {
    bool amd = target_.matrixUnit == MatrixUnit::Mfma || target_.matrixUnit == MatrixUnit::Wmma;
    if (amd && tile_)
      if (auto *i = chooseAmong(w, shape, k, along, tile_)) return i;
    return chooseAmong(w, shape, k, along, 0);
  }
  const MatrixInstruction *chooseAmong(const Way &w, llvm::ArrayRef<int64_t> shape, int64_t k, unsigned along,
                                       int64_t tile) {
    unsigned rank = shape.size();
    int64_t m = shape[rank - 2], n = shape[rank - 1], batch = rank == 3 ? shape[0] : 1,
            warps = std::max<int64_t>(1, numWarps(m_.op()) / batch);
    const MatrixInstruction *best = nullptr;
    int64_t bestWork = 0;
    for (auto &r : target_.matrixInstructions) {
      if (r.a != w.a || r.b != w.b || r.c != w.c || !fits(r, m, n, k) || (tile && (r.m != tile || r.n != tile)))
        continue;
      // Of equal tiles the longest that K fills, of equal work the larger tile.
      auto split = warpsFor(shape, r, along);
      int64_t work = workOf(shape, r, split);
      if (along && warps > 1 && split[along == kThroughA ? rank - 1 : rank - 2] > 1)
        work *= 2; // values would have to move between warps
      bool sameTile = best && best->m == r.m && best->n == r.n;
      if (!best || (sameTile ? best->k > k && r.k < best->k
                             : work < bestWork || (work == bestWork && r.m * r.n > best->m * best->n)))
        best = &r, bestWork = work;
    }
    return best;
  }

  const Encoding *encodingFor(const MatrixInstruction &i, llvm::ArrayRef<int32_t> warps,
                              const layouts::CtaLayout &cta) {
    switch (target_.matrixUnit) {
    case MatrixUnit::None: return nullptr;
    case MatrixUnit::MmaSync:
    case MatrixUnit::Wgmma:
    case MatrixUnit::Tcgen05: {
      layouts::NvidiaMmaParams p;
      p.versionMajor = 2;
      p.warpsPerCta.assign(warps.begin(), warps.end());
      p.instrShape = {i.m, i.n};
      if (warps.size() == 3) p.instrShape.insert(p.instrShape.begin(), 1);
      p.cta = cta;
      auto e = pool_.getNvidiaMma(p);
      return e.ok() ? *e : nullptr;
    }
    case MatrixUnit::Mfma: {
      layouts::AmdMfmaParams p;
      p.version = target_.matrixVersion;
      p.warpsPerCta.assign(warps.begin(), warps.end());
      p.instrShape = {i.m, i.n, i.k};
      // A lane's registers run along the rows of the tensor, as stores and second operands want. In 4 by 64 they
      // cannot: only the instruction's A can be broadcast.
      p.isTransposed = i.m != 4;
      p.cta = cta;
      p.elementBitWidth = i.c == MatrixType::F64 ? 64 : 32;
      auto e = pool_.getAmdMfma(p);
      return e.ok() ? *e : nullptr;
    }
    case MatrixUnit::Wmma: {
      layouts::AmdWmmaParams p;
      p.version = target_.matrixVersion;
      p.isTransposed = true;
      p.tiles = layouts::AmdWmmaParams::tilesOf(warps);
      p.cta = cta;
      p.instrShape = {i.m, i.n, i.k};
      auto e = pool_.getAmdWmma(p);
      return e.ok() ? *e : nullptr;
    }
    }
    return nullptr;
  }

  /// Consecutive elements along K that a lane holds of an operand.
  int64_t kWidthFor(const MatrixInstruction &i, int64_t k, unsigned bits, bool fromResult) {
    int64_t widest = std::max<int64_t>(1, 128 / bits);
    switch (target_.matrixUnit) {
    case MatrixUnit::Mfma: {
      // As wide as a read of shared memory; where an operand comes from a result, as many as that has side by side.
      if (fromResult) return std::min<int64_t>(i.c == MatrixType::F64 ? 1 : 4, std::max<int64_t>(1, k / i.lanesK));
      int64_t w = widest;
      while (w > 1 && w * i.lanesK > k) w /= 2;
      return w;
    }
    case MatrixUnit::Wmma: return target_.matrixVersion == 1 ? 16 : 8;
    case MatrixUnit::None:
    case MatrixUnit::MmaSync:
    case MatrixUnit::Wgmma:
    case MatrixUnit::Tcgen05: break;
    }
    return std::max<int64_t>(1, 32 / bits); // a word
  }

  /// The width of the elements of which a loop makes a value elementwise, the widest of what it loads for it; none
  /// where it is made of something else as well, another product or what the loop carries.
  static std::optional<unsigned> loadedBits(Value v, Block *body, int depth = 0) {
    v = unconverted(v);
    Operation *def = v.definingOp();
    if (!def || def->block() != body || depth > 16) return std::nullopt;
    if (def->is<tt::LoadOp>()) return v.type().scalar().isPointer() ? 64 : v.type().scalar().bitWidth();
    if (auto t = def->dyn<tt::TransOp>()) return loadedBits(t.src(), body, depth + 1);
    if (!passes(def) || !isPure(def)) return std::nullopt;
    std::optional<unsigned> bits;
    for (auto o : def->operands()) {
      Operation *of = unconverted(o).definingOp();
      if (!o.type().isTensor() || o.type().scalar().bitWidth() == 1 ||
          (of && (of->is<tt::BroadcastOp>() || of->is<tt::SplatOp>() || of->is<arith::ConstantOp>())))
        continue;
      auto one = loadedBits(o, body, depth + 1);
      if (!one) return std::nullopt;
      bits = std::max(bits.value_or(0), *one);
    }
    return bits;
  }
  /// Elements of 32 bits that a loop computes from narrower ones which it loads: as many along K as a word has of
  /// those, so that the operand can be computed in registers from words of the copy's buffer. Both operands take K in
  /// one order.
  int64_t kWidthOfTf32(tt::DotOp d, int64_t k) {
    if (!d->block()->parentOp()->is<scf::ForOp>()) return 1;
    auto a = loadedBits(d.a(), d->block()), b = loadedBits(d.b(), d->block());
    if (a.value_or(16) >= 32 || b.value_or(16) >= 32 || (!a && !b)) return 1;
    return k >= 16 ? 2 : 1;
  }

  // ---- rewriting ----

  Value convert(Builder &b, Location loc, Value v, const Encoding *e) {
    auto t = tensorOf(v);
    return t.encoding() == e ? v : ttg::ConvertLayoutOp::create(b, loc, t.withEncoding(e), v).result();
  }
  /// Between floating kinds; what widens and narrows by IEEE rules has operations of its own.
  Value cast(Builder &b, Location loc, Value v, Type element) {
    auto t = tensorOf(v);
    if (t.element() == element) return v;
    auto to = t.withElement(element);
    if (t.element().bitWidth() == 8) return tt::FpToFpOp::create(b, loc, to, v).result();
    if (t.element().bitWidth() < element.bitWidth()) return arith::ExtfOp::create(b, loc, to, v).op->result();
    return arith::TruncfOp::create(b, loc, to, v).op->result();
  }

  /// The value as a sum of parts, largest first.
  llvm::SmallVector<Value, 3> split(Builder &b, Location loc, Value v, Way::Split how) {
    auto t = tensorOf(v);
    auto &c = m_.context();
    if (how == Way::Tf32x3) {
      // Rounded to 11 significant bits, ties away from zero, as cvt.rna.tf32.
      auto ints = t.withElement(c.i32());
      Value bits = arith::BitcastOp::create(b, loc, ints, v).op->result();
      bits = arith::AddiOp::create(b, loc, ints, bits, b.intConstant(loc, ints, 0x1000)).op->result();
      bits = arith::AndiOp::create(b, loc, ints, bits, b.intConstant(loc, ints, int32_t(0xffffe000))).op->result();
      Value high = arith::BitcastOp::create(b, loc, t, bits).op->result();
      return {high, arith::SubfOp::create(b, loc, t, v, high).op->result()};
    }
    llvm::SmallVector<Value, 3> parts;
    unsigned n = how == Way::Bf16x3 ? 2 : 3;
    for (unsigned i = 0; i < n; ++i) {
      Value part = cast(b, loc, v, c.bf16());
      parts.push_back(part);
      if (i + 1 < n) v = arith::SubfOp::create(b, loc, t, v, cast(b, loc, part, c.f32())).op->result();
    }
    return parts;
  }

  bool accelerate(tt::DotOp d, unsigned to, unsigned from) {
    auto type = tensorOf(d.d());
    unsigned rank = type.rank();
    if (rank < 2 || rank > 3) return false;
    auto way = wayOf(d);
    if (!way) return false;
    int64_t k = tensorOf(d.a()).dim(rank - 1);
    unsigned along = (to | from) & kThroughA ? kThroughA : (to | from) & kThroughB ? kThroughB : kNone;
    // The right operand of mma.sync has its columns where the result has its rows: values go through shared memory
    // anyway.
    if (along == kThroughB && unitName() == "mma.sync") along = kNone;
    if (endsChainByItself(d, *way, k, to, from)) along = kNone;
    whyNotByWarpGroups_.clear();
    if (accelerateByWarpGroups(d, *way, to, from)) return true;
    const MatrixInstruction *i = choose(*way, type.shape(), k, along);
    if (!i) return false;
    auto warps = warpsFor(type.shape(), *i, along);
    const Encoding *e = encodingFor(*i, warps, type.encoding()->cta());
    if (!e) return false;

    std::string what = llvm::formatv("is done by {0} {1}x{2}x{3}, {4} warps along the rows and {5} along the columns",
                                     unitName(), i->m, i->n, i->k, warps[rank - 2], warps[rank - 1])
                           .str();
    if (!whyNotByWarpGroups_.empty()) what += "; not by wgmma: " + whyNotByWarpGroups_;
    tell(d, Remark::Applied, what,
         llvm::json::Object{{"instruction", unitName()}, {"m", i->m}, {"n", i->n}, {"k", i->k}});

    Builder b(d.op);
    Location loc = d->loc();
    bool splits = way->split != Way::None;
    auto operand = [&](Value v, unsigned index, Type element) -> const Encoding * {
      (void)v;
      unsigned bits = splits && way->split != Way::Tf32x3 ? 16 : element.bitWidth();
      bool tf32 = !splits && way->a == MatrixType::TF32 && way->b == MatrixType::TF32;
      auto o = pool_.getDotOperand(index, e, tf32 ? kWidthOfTf32(d, k) : kWidthFor(*i, k, bits, from != kNone));
      return o.ok() ? *o : nullptr;
    };
    const Encoding *ea = operand(d.a(), 0, way->operandA), *eb = operand(d.b(), 1, way->operandB);
    if (!ea || !eb) return false;
    Value a = cast(b, loc, unconverted(d.a()), way->operandA), bb = cast(b, loc, unconverted(d.b()), way->operandB);
    Value c = cast(b, loc, convert(b, loc, d.c(), e), way->accumulator), result;
    llvm::SmallVector<NamedAttribute, 2> attrs(d->attrs().begin(), d->attrs().end());
    auto multiply = [&](Value x, Value y, Value sum) {
      return tt::DotOp::create(b, loc, convert(b, loc, x, ea), convert(b, loc, y, eb), sum, attrs).d();
    };
    if (!splits) {
      result = multiply(a, bb, c);
    } else {
      // The parts' products are of the instruction's own precision.
      llvm::erase_if(attrs, [](auto &x) { return x.name == "inputPrecision"; });
      if (way->split == Way::Tf32x3) attrs.push_back(b.i32Attr("inputPrecision", int(InputPrecision::Tf32)));
      auto x = split(b, loc, a, way->split), y = split(b, loc, bb, way->split);
      auto sumType = tensorOf(c);
      Value zero = b.floatConstant(loc, sumType, 0.0), sum = zero;
      if (way->split == Way::Bf16x6) {
        sum = multiply(x[2], y[0], sum);
        sum = multiply(x[0], y[2], sum);
        sum = multiply(x[1], y[1], sum);
      }
      sum = multiply(x[1], y[0], sum);
      sum = multiply(x[0], y[1], sum);
      // Infinities have NaN for their low parts; the product of the high parts alone says what they give.
      Value isNan =
          arith::CmpfOp::create(b, loc, sum, sum,
                                {b.named("predicate", IntegerAttr::get(m_.context().i64(), int(CmpFPredicate::Uno)))})
              .op->result();
      sum = arith::SelectOp::create(b, loc, isNan, zero, sum).op->result();
      sum = multiply(x[0], y[0], sum);
      result = arith::AddfOp::create(b, loc, sum, c).op->result();
    }
    replace(d, convert(b, loc, cast(b, loc, result, type.element()), type.encoding()));
    return true;
  }

  /// Puts the result in the place of the multiplication's, and takes that out with the conversions of its operands.
  static void replace(tt::DotOp d, Value result) {
    d.d().replaceAllUsesWith(result);
    Operation *oldA = d.a().definingOp(), *oldB = d.b().definingOp(), *oldC = d.c().definingOp();
    d->erase();
    for (auto *old : {oldA, oldB == oldA ? nullptr : oldB, oldC == oldA || oldC == oldB ? nullptr : oldC})
      if (old && old->is<ttg::ConvertLayoutOp>() && old->useEmpty()) old->erase();
  }

  // ---- multiplication by warp groups ----

  /// The row of the shared buffer that a value goes to is as it lies in registers; null if the matrix unit cannot
  /// read it that way (across K it reads elements of 16 bits only), or a row is too narrow.
  const layouts::NvmmaSharedEncoding *sharedFor(TensorType type, unsigned kDim, int64_t widest) {
    auto layout = type.encoding()->toLinearLayout(type.shape());
    if (!layout.ok()) return nullptr;
    unsigned contiguous = layouts::storageOrderOf(type.encoding(), *layout)[0];
    int64_t bytes = type.element().bitWidth() / 8;
    if (contiguous != kDim && bytes != 2) return nullptr;
    // A tile may begin within a swizzled row, and be narrower: rows of 128 bytes, which are copied without conflicts
    // of banks.
    int64_t row = type.dim(contiguous) * bytes;
    if (contiguous != kDim && widest * bytes < 32) return nullptr;
    if (row < 32 || type.dim(1 - contiguous) < 8) return nullptr;
    layouts::NvmmaSharedParams p;
    p.swizzlingByteWidth = std::min<int64_t>(row, 128);
    p.transposed = contiguous == 0;
    p.elementBitWidth = type.element().bitWidth();
    p.cta = type.encoding()->cta();
    auto e = pool_.getNvmmaShared(p);
    return e.ok() ? *e : nullptr;
  }
  /// A value before conversions of its layout, and whether it is the transpose of what is returned.
  static std::pair<Value, bool> untransposed(Value v) {
    v = unconverted(v);
    if (auto t = v.definedBy<tt::TransOp>(); t && t.order().size() == 2 && t.order()[0] == 1)
      return {unconverted(t.src()), true};
    return {v, false};
  }
  /// Whether the matrix unit can read the value from shared memory. `k`: which dimension is K.
  bool readable(Value v, unsigned k, Type element, int64_t widest) {
    auto [src, swapped] = untransposed(v);
    return sharedFor(tensorOf(src).withElement(element), swapped ? 1 - k : k, widest);
  }
  /// The value in a buffer that the matrix unit reads, made where the value is. @pre readable
  Value toShared(Location loc, Value v, unsigned k, Type element, int64_t widest) {
    auto [src, swapped] = untransposed(v);
    auto type = tensorOf(src).withElement(element);
    auto *e = sharedFor(type, swapped ? 1 - k : k, widest);
    Operation *def = src.definingOp();
    Builder b = def ? Builder(def) : Builder(&*src.ownerBlock()->begin());
    if (def) b.setInsertionPointAfter(def);
    Attribute memory = sharedMemorySpace(m_.context());
    src = cast(b, loc, src, element);
    Value buffer =
        ttg::LocalAllocOp::create(b, loc, MemDescType::get(type.shape(), element, e, memory, false), src).result();
    return swapped ? transposed(b, loc, buffer) : buffer;
  }
  Value transposed(Builder &b, Location loc, Value buffer) {
    auto type = buffer.type().cast<MemDescType>();
    auto p = layouts::dynCast<layouts::NvmmaSharedEncoding>(type.encoding())->params();
    p.transposed = !p.transposed;
    int64_t turned[] = {type.dim(1), type.dim(0)};
    return ttg::MemdescTransOp::create(
               b, loc, MemDescType::get(turned, type.element(), *pool_.getNvmmaShared(p), type.memorySpace(), false),
               buffer, {b.denseI32Attr("order", {1, 0})})
        .op->result();
  }

  /// The layout for a product of m by n elements by warp groups: warps along the rows as long as there are rows for
  /// them, the rest along columns; tiles as wide as the instruction goes. Null if a group has less than a tile.
  const layouts::NvidiaMmaEncoding *warpGroupLayout(int64_t m, int64_t n, int bits, const layouts::CtaLayout &cta) {
    int64_t warps = numWarps(m_.op()), wm = 4;
    if (m < 64) return nullptr;
    while (wm < warps && m >= 16 * wm * 2) wm *= 2;
    int64_t wn = warps / wm, tileN = std::min<int64_t>(256, n / wn);
    if (tileN < 8) return nullptr;
    layouts::NvidiaMmaParams p;
    p.versionMajor = 3;
    p.warpsPerCta = {int32_t(wm), int32_t(wn)};
    p.instrShape = {16, int32_t(tileN), 256 / bits};
    p.cta = cta;
    auto e = pool_.getNvidiaMma(p);
    return e.ok() ? *e : nullptr;
  }

  /// The addition that is all that is done with a sum of floats that starts from zero, and what it is added to, if
  /// that is known before the product: x + (0 + a·b). K: of the product, whose sums are not added up before its end.
  static Operation *addedTo(tt::DotOp d, int64_t k, Value &x) {
    if (!isZero(unconverted(d.c())) || !d.d().type().scalar().isF32() || d.maxNumImpreciseAcc() <= k) return nullptr;
    Value sum = d.d();
    while (sum.hasOneUse() && sum.users()[0]->is<ttg::ConvertLayoutOp>()) sum = sum.users()[0]->result();
    Operation *add = sum.hasOneUse() ? sum.users()[0] : nullptr;
    if (!add || !add->is<arith::AddfOp>() || add->block() != d->block()) return nullptr;
    Value other = add->operand(add->operand(0) == sum ? 1 : 0);
    if (Operation *def = other.definingOp(); def && def->block() == d->block() && !def->isBeforeInBlock(d.op))
      return nullptr;
    x = other;
    return add;
  }

  /// Where the unit cannot read one of the operands in shared memory (elements of other than 16 bits that lie across
  /// K), that one goes through registers: the left one as it is, the right one as the left one of the transposed
  /// product, Dᵀ = Bᵀ · Aᵀ + Cᵀ. That is also how a product of less than 64 rows but as many columns is done.
  bool accelerateByWarpGroups(tt::DotOp d, const Way &way, unsigned to, unsigned from) {
    auto type = tensorOf(d.d());
    if (target_.matrixUnit != MatrixUnit::Wgmma) return false;
    if (numWarps(m_.op()) % 4) return notByWarpGroups("a warp group is four warps");
    if (type.rank() != 2 || way.split != Way::None || !type.encoding()->cta().isTrivial())
      return notByWarpGroups("batches, sums of parts and clusters are not done that way");
    int64_t m = type.dim(0), n = type.dim(1), k = tensorOf(d.a()).dim(1);
    bool known = way.a == MatrixType::F16 || way.a == MatrixType::BF16 || way.a == MatrixType::TF32 ||
                 way.a == MatrixType::I8 || way.a == MatrixType::F8E4M3FN || way.a == MatrixType::F8E5M2;
    int bits = bitWidthOf(way.a);
    if (!known || bitWidthOf(way.b) != bits || k * bits < 256)
      return notByWarpGroups("no instruction has the types, or K is shorter than a step");

    const layouts::NvidiaMmaEncoding *e = warpGroupLayout(m, n, bits, type.encoding()->cta());
    Location loc = d->loc();
    // What comes from another product stays in registers, unless warps along the columns each have a part of its rows.
    bool registers = (from & kThroughA) && (!e || e->params().warpsPerCta[1] == 1), swapped = false;
    if (!e || !readable(d.b(), 0, way.operandB, e->tileN())) {
      // A chain goes on from the result as it is.
      if (to | from)
        return notByWarpGroups("an operand cannot be read from shared memory as it lies, and the product goes on into "
                               "another or comes from one");
      if (!(e = warpGroupLayout(n, m, bits, type.encoding()->cta())) || !readable(d.a(), 1, way.operandA, e->tileN()))
        return notByWarpGroups("the shape has no tile of 64 rows for a warp group, or no operand can be read from "
                               "shared memory as it lies");
      swapped = true, registers = !readable(d.b(), 0, way.operandB, 64);
      // Each group would load all the rows of its operand for few columns.
      if (registers && e->params().warpsPerCta[1] > 1 && e->tileN() < 32)
        return notByWarpGroups("the transposed product has too few columns for each warp group");
    } else if (!registers) {
      registers = !readable(d.a(), 1, way.operandA, 64);
    }
    bool computed =
        !registers && e->params().warpsPerCta[1] == 1 && computedFromLoad(swapped ? d.b() : d.a(), d->block());
    registers |= computed;
    if ((from & kThroughA) && registers && e->params().warpsPerCta[1] > 1)
      return notByWarpGroups(
          "the left operand comes from another multiplication, and its values would have to move between warps");

    // A sum of 8-bit products that is then added to what there is: the product does that itself, which leaves it to its
    // lowering how many sums there are at once.
    Value start = d.c();
    llvm::SmallVector<NamedAttribute, 2> attrs(d->attrs().begin(), d->attrs().end());
    if (Operation *added = bits == 8 ? addedTo(d, k, start) : nullptr) {
      added->result().replaceAllUsesWith(added->operand(unconverted(added->operand(0)) == d.d() ? 0 : 1));
      added->erase();
      llvm::erase_if(attrs, [](auto &x) { return x.name == "maxNumImpreciseAcc"; });
      attrs.push_back(Builder(d.op).i32Attr("maxNumImpreciseAcc", k));
    }

    Builder b(d.op);
    auto turn = [&](Value v, const Encoding *layout) {
      auto t = tensorOf(v);
      return tt::TransOp::create(b, loc, TensorType::get({t.dim(1), t.dim(0)}, t.element(), layout), v,
                                 {b.denseI32Attr("order", {1, 0})})
          .op->result();
    };
    const Encoding *result = e; // the layout of the product as the program sees it
    if (swapped && !(result = layouts::inferTrans(pool_, e, {1, 0}, {n, m}))) return false;
    Value left = swapped ? d.b() : d.a(), a;
    if (registers) {
      auto ea = pool_.getDotOperand(0, e, std::max(1, 32 / bits));
      left = cast(b, loc, unconverted(left), swapped ? way.operandB : way.operandA);
      const Encoding *turned =
          swapped ? layouts::inferTrans(pool_, tensorOf(left).encoding(), {1, 0}, tensorOf(left).shape()) : nullptr;
      if (!ea.ok() || (swapped && !turned)) return false;
      a = convert(b, loc, swapped ? turn(left, turned) : left, *ea);
    } else {
      a = swapped ? transposed(b, loc, toShared(loc, left, 0, way.operandB, 64))
                  : toShared(loc, left, 1, way.operandA, 64);
    }
    Value right = swapped ? transposed(b, loc, toShared(loc, d.a(), 1, way.operandA, e->tileN()))
                          : toShared(loc, d.b(), 0, way.operandB, e->tileN());
    Value c = cast(b, loc, convert(b, loc, start, result), way.accumulator);
    if (swapped) c = turn(c, e);
    std::string name = llvm::formatv("wgmma m64n{0}k{1}", e->tileN(), 256 / bits).str(), what = "is done by " + name;
    if (swapped) what += " as the transposed product";
    if (registers)
      what += llvm::formatv(", the {0} operand in registers{1}", swapped ? "right" : "left",
                            from & kThroughA ? ""
                            : computed       ? ", where it is computed from what is loaded"
                                             : ": it cannot be read from shared memory across K")
                  .str();
    tell(d, Remark::Applied, what,
         llvm::json::Object{{"instruction", name}, {"registersOperand", registers}, {"transposed", swapped}});
    Value product = ttng::WarpGroupDotOp::create(b, loc, a, right, c, Value(), attrs).d();
    if (swapped) product = turn(product, result);
    replace(d, convert(b, loc, cast(b, loc, product, type.element()), type.encoding()));
    return true;
  }

  Module &m_;
  const PassContext &context_;
  const TargetInfo &target_;
  int64_t tile_;                   // of AMD's matrix instructions, rows and columns, where it is asked for; else 0
  std::string whyNotByWarpGroups_; // of the last multiplication
  bool throughLeft_ = false;       // some chain goes through a left operand
  layouts::EncodingPool &pool_;
};

} // namespace

absl::StatusOr<bool> accelerateMatmul(Module &m, const AccelerateMatmulOptions &o, PassContext &c) {
  if (!c.target) {
    c.diagnostics.error({}, "tritongpu-accelerate-matmul needs a target");
    return absl::InvalidArgumentError("no target");
  }
  return Acceleration(m, o, c).run();
}

} // namespace tessera::transforms
