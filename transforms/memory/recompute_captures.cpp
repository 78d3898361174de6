// Partitions of a ttg.warp_specialize compute captured scalars again. Part of tritongpu-allocate-warp-groups.
//
//   %p = tt.get_program_id x                           %p = tt.get_program_id x
//   %a = arith.muli %p, %n                      →      %a = arith.muli %p, %n
//   ttg.warp_specialize(%a)                            ttg.warp_specialize(%n)
//     partition0(%b: i32) { … %b … }                     partition0(%m: i32) { %q = tt.get_program_id x
//                                                                              %b = arith.muli %q, %m ; … %b … }
//
// The lowering hands a captured value over through shared memory, except constants and arguments of the kernel, which
// every warp has (codegen/lowering/warp_specialize.cpp). Arithmetic on those and on the program's numbers costs less
// than a store, a barrier and a load. compute-sanitizer's racecheck does not know that barrier, to which warps come in
// several places, and reports what is handed over.
//
// A value is computed again if that takes few operations, all of them pure and of scalars, and none is the result of a
// loop or branch.
#include "transforms/memory/recompute_captures.h"
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/partitions.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr size_t kMostOperations = 24; // for one value

/// Adds the operations that compute the value, in order; whether they can be repeated.
bool addOperations(Value v, llvm::SetVector<Operation *> &operations) {
  if (v.isBlockArgument()) return v.ownerBlock()->parentOp()->is<tt::FuncOp>();
  Operation *op = v.definingOp();
  if (operations.contains(op)) return true;
  bool isProgramNumber = op->is<tt::GetProgramIdOp>() || op->is<tt::GetNumProgramsOp>();
  bool isOfScalars =
      llvm::all_of(op->results(), [](Value r) { return r.type().isa<IntegerType>() || r.type().isa<FloatType>(); });
  if (!isOfScalars || op->numRegions() || !(isPure(op) || isProgramNumber)) return false;
  for (Value operand : op->operands())
    if (!addOperations(operand, operations)) return false;
  operations.insert(op);
  return operations.size() <= kMostOperations;
}

} // namespace

bool recomputeCaptures(ttg::WarpSpecializeOp op) {
  llvm::SmallVector<Value, 8> kept, added; // captures: those that remain, and arguments of the function
  llvm::SmallVector<unsigned, 8> dropped;
  auto captures = capturesOf(op).vec();
  auto regions = partitionRegions(op);
  llvm::SmallVector<ValueMap, 2> maps(regions.size()); // what each region has of outer values
  llvm::SmallVector<Operation *, 2> starts;            // of the regions, as they are
  for (auto [region, map] : llvm::zip_equal(regions, maps)) {
    starts.push_back(region.front()->front());
    for (auto [i, v] : llvm::enumerate(captures))
      if (v.isBlockArgument()) map.map(v, region.front()->arg(unsigned(i)));
  }
  auto captureArguments = [&](Operation *o) {
    for (Value v : o->operands()) {
      if (!v.isBlockArgument() || maps.front().contains(v)) continue;
      added.push_back(v);
      for (auto [region, map] : llvm::zip_equal(regions, maps)) map.map(v, region.front()->addArg(v.type(), v.loc()));
    }
  };
  for (auto [i, v] : llvm::enumerate(captures)) {
    llvm::SetVector<Operation *> operations;
    bool isKnown = v.isBlockArgument() || v.definingOp()->info().has(kConstantLike);
    if (isKnown || !addOperations(v, operations)) {
      kept.push_back(v);
      continue;
    }
    dropped.push_back(unsigned(i));
    for (Operation *o : operations) captureArguments(o);
    for (auto [region, start, map] : llvm::zip_equal(regions, starts, maps)) {
      Builder b(start);
      for (Operation *o : operations)
        if (!map.contains(o->result())) b.clone(o, map);
      region.front()->arg(unsigned(i)).replaceAllUsesWith(map.lookup(v));
    }
  }
  if (dropped.empty()) return false;
  kept.append(added);
  Operation *holder = op->numOperands() ? op.op : regions[0].parentOp();
  holder->setOperands(kept);
  for (auto &region : regions)
    for (unsigned i : llvm::reverse(dropped)) region.front()->eraseArg(i);
  return true;
}

} // namespace tessera::transforms
