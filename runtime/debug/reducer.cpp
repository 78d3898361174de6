// Reduction of IR (see reducer.h). A change is named by its kind and the number of the operation in a walk over the
// module, which a copy shares with its original; it is applied to a copy.
#include "runtime/debug/reducer.h"
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/verifier.h"
#include "runtime/debug/reductions.h"
#include "transforms/pass.h"
#include <array>
#include <cmath>
#include <set>

namespace tessera::runtime {
using namespace ir;

namespace {

/// What a candidate must have less of, the first things first: so that no two changes undo each other without an end.
using Cost = std::array<double, 8>;
Cost costOf(Failing &f) {
  Cost c{};
  std::vector<Operation *> ops = operationsOf(*f.module);
  llvm::DenseMap<Operation *, size_t> position;
  for (size_t i = 0; i < ops.size(); ++i) position[ops[i]] = i;
  for (auto *op : ops) {
    bool constant = op->info().has(kConstantLike);
    c[0] += !isStructural(op) && !constant;
    c[1] += constant;
    c[2] += op->numOperands() + op->numResults() + op->numRegions() + op->numSuccessors();
    c[3] += op->attrs().size();
    for (auto r : op->results())
      if (auto t = r.type().dyn_cast<ShapedType>()) c[4] += double(t.numElements());
    if (constant && op->numResults() == 1)
      if (auto v = intConstantOf(op->result())) c[5] += *v == 0 ? 0 : 1 + std::log2(std::abs(double(*v)));
    for (auto v : op->operands())
      if (v.definingOp()) c[6] += 1 + double(position[v.definingOp()]);
    for (auto &r : op->regions())
      for (auto *b : r.blocks()) c[2] += b->numArgs();
  }
  if (f.launch)
    c[7] = double(f.launch->args.size()) + double(f.launch->grid[0] + f.launch->grid[1] + f.launch->grid[2]) +
           f.launch->numWarps + f.launch->numStages;
  return c;
}

class Reducer {
public:
  Reducer(Failing &f, const ReduceOptions &o) : best_(f), o_(o) {}

  ReduceResult run() {
    r_.operationsBefore = countOperations(*best_.module);
    for (bool again = true; again && !stop();) {
      again = false;
      again |= passes();
      again |= launch();
      again |= chunks();
      for (auto &change : operationChanges()) again |= each(change);
      again |= shapes();
      again |= arguments();
    }
    r_.finished = !stop();
    r_.operationsAfter = countOperations(*best_.module);
    return r_;
  }

private:
  bool stop() { return o_.stop && o_.stop(); }

  /// Keeps the candidate if it is sound and fails.
  bool accept(Failing &&candidate) {
    eraseDead(*candidate.module);
    DiagnosticEngine quiet;
    if (!verify(*candidate.module, quiet) || dividesByZero(*candidate.module)) return false;
    if (!(costOf(candidate) < costOf(best_))) return false;
    Failing tried = candidate.copy();
    ++r_.checks;
    bool fails = o_.fails(tried);
    if (fails) best_ = std::move(candidate);
    if (o_.progress) o_.progress(countOperations(*best_.module), r_.checks);
    return fails;
  }

  bool passes() {
    bool any = false;
    for (llvm::StringRef name : {"inline", "canonicalize", "cse"}) {
      if (stop()) return any;
      Failing c = best_.copy();
      size_t before = countOperations(*c.module);
      transforms::RunOptions run;
      DiagnosticEngine quiet;
      if (!transforms::runPipeline(*c.module, {{transforms::findPass(name), {}}}, run, quiet).ok()) continue;
      dropFunctions(c);
      eraseDead(*c.module);
      size_t after = countOperations(*c.module);
      if (name == "inline" ? operationsOf(*c.module).size() != operationsOf(*best_.module).size() : after < before)
        any |= accept(std::move(c));
    }
    return any;
  }

  /// Halves, quarters, … of all operations at once.
  bool chunks() {
    bool any = false;
    for (size_t size = std::max<size_t>(1, operationsOf(*best_.module).size() / 2); size > 1; size /= 2) {
      // From the end: what is there is used by less.
      for (size_t last = operationsOf(*best_.module).size(); last > 0 && !stop();) {
        Failing c = best_.copy();
        auto ops = operationsOf(*c.module);
        last = std::min(last, ops.size());
        size_t first = last > size ? last - size : 0;
        std::set<Operation *> chosen;
        for (size_t i = first; i < last; ++i)
          if (!isStructural(ops[i])) chosen.insert(ops[i]);
        bool changed = false;
        for (size_t i = last; i-- > first;) {
          bool inside = false; // goes with an operation around it
          for (auto *p = isStructural(ops[i]) ? nullptr : ops[i]->parentOp(); p; p = p->parentOp())
            inside |= chosen.count(p);
          if (chosen.count(ops[i]) && !inside)
            changed |= dropOperation(ops[i], 0, false) || dropOperation(ops[i], 0, true);
        }
        if (changed && accept(std::move(c))) any = true;
        last = first;
      }
    }
    return any;
  }

  bool each(const OperationChange &change) {
    bool any = false;
    for (size_t i = operationsOf(*best_.module).size(); i-- > 0;)
      for (unsigned n = 0; n < change.variants; ++n) {
        if (stop()) return any;
        Failing c = best_.copy();
        auto ops = operationsOf(*c.module);
        if (i >= ops.size()) break;
        if (!change.apply(ops[i], n)) continue;
        if (accept(std::move(c))) {
          any = true;
          n = unsigned(-1); // what stands there now
        }
      }
    return any;
  }

  bool shapes() {
    bool any = false;
    std::set<int64_t> sizes;
    for (auto *op : operationsOf(*best_.module))
      for (auto r : op->results())
        if (auto t = r.type().dyn_cast<TensorType>()) sizes.insert(t.shape().begin(), t.shape().end());
    for (auto it = sizes.rbegin(); it != sizes.rend(); ++it)
      for (int64_t size = *it; size > 1 && !stop(); size /= 2) {
        Failing c = best_.copy();
        if (!halveShapes(*c.module, size) || !accept(std::move(c))) break;
        any = true;
      }
    return any;
  }

  bool arguments() {
    bool any = false;
    for (unsigned n = 64; n-- > 0 && !stop();) {
      Failing c = best_.copy();
      if (dropArgument(c, n)) any |= accept(std::move(c));
    }
    return any;
  }

  bool launch() {
    bool any = false;
    if (!best_.launch) return false;
    auto attempt = [&](auto change) {
      if (stop()) return false;
      Failing c = best_.copy();
      return change(*c.launch) && accept(std::move(c)) && (any = true);
    };
    for (int d = 0; d < 3; ++d) {
      auto to = [&](int64_t n) {
        return attempt([&](LaunchDescription &l) {
          bool less = n >= 1 && n < l.grid[d];
          if (less) l.grid[d] = n;
          return less;
        });
      };
      if (!to(1))
        while (to(best_.launch->grid[d] / 2));
    }
    bool layouts = hasLayouts(best_.module->op());
    for (int LaunchDescription::*what : {&LaunchDescription::numWarps, &LaunchDescription::numStages}) {
      if (layouts) continue;
      auto to = [&](int n) {
        return attempt([&](LaunchDescription &l) {
          bool less = n >= 1 && n < l.*what;
          if (less) l.*what = n;
          return less;
        });
      };
      if (!to(1))
        while (to((*best_.launch).*what / 2));
    }
    return any;
  }

  Failing &best_;
  const ReduceOptions &o_;
  ReduceResult r_;
};

} // namespace

size_t countOperations(Module &m) {
  size_t n = 0;
  m.op()->walk([&](Operation *op) { n += !isStructural(op); });
  return n;
}

ReduceResult reduce(Failing &f, const ReduceOptions &o) { return Reducer(f, o).run(); }

} // namespace tessera::runtime
