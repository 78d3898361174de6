// Pass alignment-versions: a second version of kernels whose dots load rows that may be misaligned.
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
// The arguments are those without which some load of a dot's operand in a loop would have narrower accesses, found by
// the analysis that chooses their width (AxisInfo), with each left out in turn. A number of rows is thus none of them.
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
  Alignment(tt::FuncOp kernel, Module &m) : kernel_(kernel), module_(m) {
    kernel_->walk([&](Operation *op) {
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

  /// The numbers of the arguments; none if versions gain nothing.
  llvm::SmallVector<unsigned, 4> decisive() {
    if (loads_.empty() || divisor_ < 2) return {};
    const Widths before = widths({});
    if (llvm::none_of(before, [](int64_t bytes) { return bytes <= kNarrowBytes; })) return {};
    llvm::SmallVector<unsigned, 4> assumed;
    Block *body = kernel_.body().front();
    for (unsigned i = 0; i < body->numArgs(); ++i)
      if (auto type = body->arg(i).type(); type.isInteger() && type.bitWidth() >= 32 && !body->arg(i).useEmpty())
        assumed.push_back(i);
    const Widths best = widths(assumed);
    bool gains = false;
    for (size_t i = 0; i < loads_.size(); ++i) gains |= before[i] <= kNarrowBytes && best[i] >= 2 * before[i];
    if (!gains) return {};
    for (size_t i = assumed.size(); i-- > 0;) {
      auto without = assumed;
      without.erase(without.begin() + i);
      if (widths(without) == best) assumed = std::move(without);
    }
    return assumed;
  }

private:
  using Widths = llvm::SmallVector<int64_t, 4>; // bytes of an access, of each load

  /// What the accesses would be if `divisor_` divided the arguments.
  Widths widths(llvm::ArrayRef<unsigned> arguments) {
    llvm::DenseMap<Value, int64_t> divisors;
    for (unsigned i : arguments) divisors[kernel_.body().front()->arg(i)] = divisor_;
    AxisInfoAnalysis axis(module_, divisors);
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

} // namespace

absl::StatusOr<bool> alignmentVersions(Module &m, PassContext &c) {
  bool changed = false;
  for (auto &op : *m.body()) {
    auto kernel = op.dyn<tt::FuncOp>();
    if (!kernel || kernel.symVisibility() == "private" || kernel.body().empty() || !canHaveVersions(kernel)) continue;
    if (hasDescriptors(kernel)) continue;
    Alignment alignment(kernel, m);
    llvm::SmallVector<Value, 4> arguments;
    std::string names;
    for (unsigned i : alignment.decisive()) {
      arguments.push_back(kernel.body().front()->arg(i));
      names += (names.empty() ? "" : ", ") + nameOfArgument(arguments.back(), i);
    }
    if (arguments.empty()) continue;
    int64_t divisor = alignment.divisor();
    makeVersions(
        kernel, "aligned", [&](Builder &b) { return areDivisible(b, kernel->loc(), arguments, divisor); },
        [&](Builder &then, ValueMap &map) {
          for (Value v : arguments) {
            Value mask = then.intConstant(kernel->loc(), v.type(), -divisor);
            map.map(v, arith::AndiOp::create(then, kernel->loc(), v, mask).result());
          }
        });
    changed = true;
    c.remark({Remark::Applied, "", "AlignmentVersions", kernel->loc(),
              llvm::formatv(
                  "the kernel has a second version, 'aligned', for launches in which {0} divides {1}; the other one is "
                  "'general'",
                  divisor, names)
                  .str(),
              llvm::json::Object{{"divisor", divisor}}});
  }
  return changed;
}

} // namespace tessera::transforms
