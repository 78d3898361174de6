// Pass alignment-versions: a second version of kernels whose dots load rows that may be misaligned, or scattered.
//
// Triton states of an integer argument whether 16 divides it. A matrix whose rows have 1,000 or 3,000 elements is then
// one of unknown alignment: its tiles are loaded element by element, and nothing is copied asynchronously, although
// each row of f16 begins at 16 bytes. The kernel tests for that once and has its body twice:
//
//   %bits = arith.ori %stride_am, %K              of all arguments that matter
//   %rest = arith.andi %bits, %c7
//   %aligned = arith.cmpi eq, %rest, %c0
//   scf.if %aligned {
//     %stride = arith.andi %stride_am, %c-8       equal to the argument here, and known to be a multiple of 8
//     %k = arith.andi %K, %c-8
//     … body with %stride, %k
//   } else {
//     … body
//   } {tessera.versions = "aligned"}
//
// Nor is a stride known to be 1 where Triton does not specialise it, as it does not if its type is annotated
// (`stride_ak: tl.int64`). Then no dimension is known to run. If loads gain, the kernel tests for that, too:
//
//   %ones = arith.cmpi eq, %stride_ak, %c1
//   scf.if (%ones and %aligned) {
//     … body with %c1 for %stride_ak
//   } else {
//     … body
//   } {tessera.versions = "contiguous"}
//
// The arguments are those without which some load of a dot's operand in a loop would have narrower accesses, found by
// the analysis that chooses their width (AxisInfo), with each left out in turn. A number of rows is thus none of them.
// Where either of two strides may be 1, the later one is assumed to be: rows are contiguous.
// A kernel stays as it is unless some such load gains: from accesses of at most 4 bytes to twice as many at least.
//
// Runs at the end of the TTIR pipeline, on both vendors: what it makes of the versions is the same work twice, and the
// text is as simple as it gets. A kernel that has versions for its descriptors has no second pair.
#include "ir/attribute_names.h"
#include "ir/compare.h"
#include "ir/loops.h"
#include "ir/target.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/dots.h"
#include "transforms/passes.h"
#include "transforms/ttir/kernel_versions.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

namespace {

// No tuning parameters: these follow from the accesses of all targets, and from what launches distinguish.
/// The accesses that versions are made for: the widest ones of a lane.
constexpr int64_t kVectorBytes = kGlobalAccessBytes;
/// Accesses that may gain: those that asynchronous copies do with four bytes, or not at all.
constexpr int64_t kNarrowBytes = kMinAsyncCopyBytes;
/// What divides an argument at most of which Triton does not state the divisor of launches.
constexpr int64_t kMostElements = kLaunchDivisor / 2;

int64_t bytesOf(tt::LoadOp load) { return load.result().type().scalar().bitWidth() / 8; }

/// The arguments of a kernel that decide how wide its dots' loads are.
class Alignment {
public:
  /// `body`: bodyForVersions.
  Alignment(tt::FuncOp kernel, Block &body, Module &m) : kernel_(kernel), body_(body), module_(m) {
    for (Operation &inBody : body)
      inBody.walk([&](Operation *op) {
        auto loop = op->dyn<scf::ForOp>();
        if (!loop || !isLoopBodyWithDot(loop.body().front())) return;
        for (Operation *fed : loadsFeedingDots(*loop.body().front())) {
          auto load = fed->dyn<tt::LoadOp>();
          bool isBlock = load && load.ptr().type().isTensor() && tensorOf(load.ptr()).rank() > 1;
          if (isBlock && bytesOf(load)) loads_.push_back(load);
        }
      });
    for (auto load : loads_) divisor_ = std::max(divisor_, std::min(kMostElements, kVectorBytes / bytesOf(load)));
  }

  /// The multiple that the arguments are assumed to be of.
  int64_t divisor() const { return divisor_; }

  /// Numbers of arguments: what is assumed of them.
  struct Assumption {
    llvm::SmallVector<unsigned, 4> divisible, ones;
    bool isEmpty() const { return divisible.empty() && ones.empty(); }
  };

  /// The arguments that decide; none if versions gain nothing.
  Assumption decisive() {
    if (loads_.empty() || divisor_ < 2) return {};
    const Widths before = widths({});
    if (llvm::none_of(before, [](int64_t bytes) { return bytes <= kNarrowBytes; })) return {};
    Assumption all;
    Block *body = kernel_.body().front();
    for (unsigned i = 0; i < body->numArgs(); ++i)
      if (auto type = body->arg(i).type(); type.isInteger() && type.bitWidth() >= 32 && !body->arg(i).useEmpty())
        all.divisible.push_back(i);
    Widths best = widths(all);
    for (unsigned i : llvm::reverse(all.divisible)) {
      if (!mayBeStrideOne(body->arg(i))) continue;
      all.ones.push_back(i);
      if (Widths with = widths(all); gains(best, with))
        best = with;
      else
        all.ones.pop_back();
    }
    if (!gains(before, best)) return {};
    const auto tried = all.divisible;
    for (unsigned i : llvm::reverse(tried)) {
      auto with = all.divisible;
      llvm::erase(all.divisible, i);
      if (widths(all) != best) all.divisible = with;
    }
    std::reverse(all.ones.begin(), all.ones.end());
    return all;
  }

private:
  using Widths = llvm::SmallVector<int64_t, 4>; // bytes of an access, of each load

  /// Whether some narrow access becomes at least twice as wide, and none narrower.
  static bool gains(const Widths &before, const Widths &after) {
    bool gains = false;
    for (auto [from, to] : llvm::zip(before, after)) {
      if (to < from) return false;
      gains |= from <= kNarrowBytes && to >= 2 * from;
    }
    return gains;
  }

  /// Whether indices are multiplied by the argument in the body, and nothing excludes that it is 1.
  bool mayBeStrideOne(Value argument) {
    if (hasStatedDivisor(kernel_, argument)) return false;
    llvm::SmallVector<Value, 4> same{argument};
    for (size_t n = 0; n < same.size(); ++n)
      for (Operation *user : same[n].users()) {
        if (user->is<arith::MuliOp>() && user->result().type().isTensor() && user->block() == &body_) return true;
        if (user->is<arith::ExtsiOp>() || user->is<tt::SplatOp>() || user->is<tt::BroadcastOp>())
          same.push_back(user->result());
      }
    return false;
  }

  /// What the accesses would be.
  Widths widths(const Assumption &assumed) {
    AssumedArguments arguments;
    for (unsigned i : assumed.divisible) arguments[kernel_.body().front()->arg(i)].divisor = divisor_;
    for (unsigned i : assumed.ones) arguments[kernel_.body().front()->arg(i)] = {/*divisor=*/1, /*isOne=*/true};
    AxisInfoAnalysis axis(module_, arguments);
    Widths out;
    for (auto load : loads_) {
      int64_t bytes = bytesOf(load);
      int64_t widest = bytes;
      for (unsigned d = 0; d < tensorOf(load.ptr()).rank(); ++d) {
        int64_t elements = axis.contiguousElements(load.ptr(), d);
        if (load.mask()) elements = std::min(elements, axis.maskConstancy(load.mask(), d));
        widest = std::max(widest, std::min(kVectorBytes, elements * bytes));
      }
      out.push_back(widest);
    }
    return out;
  }

  tt::FuncOp kernel_;
  Block &body_;
  Module &module_;
  llvm::SmallVector<tt::LoadOp, 4> loads_;
  int64_t divisor_ = 1;
};

/// Whether `divisor` divides all of the arguments.
Value areDivisible(Builder &b, Location loc, llvm::ArrayRef<Value> arguments, int64_t divisor) {
  Type i32 = b.context().i32();
  Value bits;
  for (Value v : arguments) {
    if (v.type() != i32) v = arith::TrunciOp::create(b, loc, i32, v)->result();
    bits = bits ? arith::OriOp::create(b, loc, bits, v).result() : v;
  }
  Value rest = arith::AndiOp::create(b, loc, bits, b.intConstant(loc, i32, divisor - 1)).result();
  return compare(b, loc, CmpIPredicate::Eq, rest, b.intConstant(loc, i32, 0));
}

/// Whether all of the arguments are 1.
Value areOne(Builder &b, Location loc, llvm::ArrayRef<Value> arguments) {
  Value all;
  for (Value v : arguments) {
    Value isOne = compare(b, loc, CmpIPredicate::Eq, v, b.intConstant(loc, v.type(), 1));
    all = all ? arith::AndiOp::create(b, loc, all, isOne).result() : isOne;
  }
  return all;
}

/// As the program names it, if the text says so; else its number.
std::string nameOfArgument(Value argument, unsigned number) {
  Location loc = argument.loc();
  return loc.kind() == LocationKind::Name ? "'" + loc.name().str() + "'" : "argument " + std::to_string(number);
}

bool hasDescriptors(tt::FuncOp kernel) {
  bool has = false;
  kernel->walk([&](Operation *op) {
    has |= llvm::any_of(op->operands(), [](Value v) { return v.type().isa<TensorDescType>(); });
  });
  auto attrs = kernel.argAttrs() ? kernel.argAttrs().dyn_cast<ArrayAttr>() : ArrayAttr();
  for (unsigned i = 0; attrs && i < attrs.size(); ++i) {
    auto dict = attrs[i].dyn_cast<DictionaryAttr>();
    has |= dict && dict.get(kDescriptorArgumentAttr);
  }
  return has;
}

/// The arguments that an assumption is about.
struct AssumedValues {
  AssumedValues(tt::FuncOp kernel, llvm::ArrayRef<unsigned> arguments) {
    for (unsigned i : arguments) {
      values.push_back(kernel.body().front()->arg(i));
      names += (names.empty() ? "" : ", ") + nameOfArgument(values.back(), i);
    }
  }
  llvm::SmallVector<Value, 4> values;
  std::string names;
};

/// Makes the versions; returns the first one's name.
const char *makeVersionsFor(Block *body, const AssumedValues &divisible, const AssumedValues &ones, int64_t divisor) {
  Location loc = body->terminator()->parentOp()->loc();
  const char *name = ones.values.empty() ? "aligned" : "contiguous";
  auto condition = [&](Builder &b) {
    if (ones.values.empty()) return areDivisible(b, loc, divisible.values, divisor);
    Value areAllOne = areOne(b, loc, ones.values);
    if (divisible.values.empty()) return areAllOne;
    return arith::AndiOp::create(b, loc, areAllOne, areDivisible(b, loc, divisible.values, divisor)).result();
  };
  makeVersions(body, name, condition, [&](Builder &then, ValueMap &map) {
    for (Value v : divisible.values) {
      Value mask = then.intConstant(loc, v.type(), -divisor);
      map.map(v, arith::AndiOp::create(then, loc, v, mask).result());
    }
    for (Value v : ones.values) map.map(v, then.intConstant(loc, v.type(), 1));
  });
  return name;
}

} // namespace

absl::StatusOr<bool> alignmentVersions(Module &m, PassContext &c) {
  bool changed = false;
  for (auto &op : *m.body()) {
    auto kernel = op.dyn<tt::FuncOp>();
    if (!kernel || kernel.symVisibility() == "private" || kernel.body().empty() || hasDescriptors(kernel)) continue;
    Block *body = bodyForVersions(kernel);
    if (!body) continue;
    Alignment alignment(kernel, *body, m);
    auto decisive = alignment.decisive();
    if (decisive.isEmpty()) continue;
    AssumedValues divisible(kernel, decisive.divisible), ones(kernel, decisive.ones);
    int64_t divisor = alignment.divisor();
    std::string launches;
    if (!ones.names.empty()) launches = llvm::formatv("{0} {1} 1", ones.names, ones.values.size() > 1 ? "are" : "is");
    if (!divisible.names.empty())
      launches += llvm::formatv("{0}{1} divides {2}", launches.empty() ? "" : " and ", divisor, divisible.names).str();
    const char *name = makeVersionsFor(body, divisible, ones, divisor);
    changed = true;
    c.remark({Remark::Applied, "", "AlignmentVersions", kernel->loc(),
              llvm::formatv("the kernel has a second version, '{0}', for launches in which {1}; the other one is "
                            "'general'",
                            name, launches)
                  .str(),
              llvm::json::Object{{"divisor", divisor}}});
  }
  return changed;
}

} // namespace tessera::transforms
