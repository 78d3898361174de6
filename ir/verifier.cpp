// The verifier: what holds for every operation (see verifier.h for the invariants). The hooks of single operations
// stand in verify_control_flow.cpp, verify_computation.cpp and verify_memory.cpp.
#include "ir/verifier.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "ir/printer.h"
#include "ir/symbol_table.h"
#include "ir/verify_hook.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"
#include <utility>

namespace tessera::ir {

bool opError(Operation *op, DiagnosticEngine &diag, const llvm::Twine &message, int operand) {
  Diagnostic d;
  d.message = ("'" + op->name() + "' op " + message).str();
  d.loc = op->loc();
  d.op = op;
  auto place = diag.placeOf(op, operand);
  if (place.position.line) {
    d.position = std::move(place.position);
    d.snippet = std::move(place.snippet);
    diag.report(std::move(d));
    return false;
  }
  std::string line = printOperation(op);
  line = line.substr(0, line.find('\n'));
  // The caret stands under the operation's name, or under the operand where it is named in the line.
  size_t at = line.find(op->name().str());
  if (operand >= 0 && at != std::string::npos) {
    size_t p = at;
    int seen = -1;
    while ((p = line.find('%', p)) != std::string::npos && ++seen < operand) ++p;
    if (p != std::string::npos) at = p;
  }
  if (at == std::string::npos) at = 0;
  if (at > 160) { // keep long lines readable
    line = "…" + line.substr(at - 60);
    at = 61;
  }
  if (line.size() > 300) line = line.substr(0, 297) + "...";
  d.snippet = line + "\n" + std::string(at, ' ') + "^\n";
  diag.report(std::move(d));
  return false;
}

namespace {

bool fits(TypeRule rule, Type t) {
  Type s = t.isTensor() ? t.scalar() : t;
  switch (rule) {
  case TypeRule::Any: return true;
  case TypeRule::Bool: return t.isInteger(1);
  case TypeRule::I32: return t.isInteger(32);
  case TypeRule::I64: return t.isInteger(64);
  case TypeRule::Int: return t.isIntOrIndex();
  case TypeRule::Float: return t.isFloat();
  case TypeRule::Ptr: return t.isPointer();
  case TypeRule::BoolLike: return s.isInteger(1);
  case TypeRule::IntLike: return s.isIntOrIndex();
  case TypeRule::SignlessIntLike:
    return s.isIndex() || (s.isInteger() && s.cast<IntegerType>().signedness() == Signedness::Signless);
  case TypeRule::FloatLike: return s.isFloat();
  case TypeRule::PtrLike: return s.isPointer();
  case TypeRule::Tensor: return t.isTensor();
  case TypeRule::IntTensor: return t.isTensor() && s.isIntOrIndex();
  case TypeRule::FloatTensor: return t.isTensor() && s.isFloat();
  case TypeRule::MemDesc: return t.isa<MemDescType>();
  case TypeRule::TensorDesc: return t.isa<TensorDescType>();
  case TypeRule::Token: return t.isa<AsyncTokenType>();
  case TypeRule::Scalar: return t.isIntOrIndex() || t.isFloat() || t.isPointer();
  }
  llvm_unreachable("type rule");
}

const char *describeRule(TypeRule rule) {
  switch (rule) {
  case TypeRule::Any: return "any type";
  case TypeRule::Bool: return "i1";
  case TypeRule::I32: return "i32";
  case TypeRule::I64: return "i64";
  case TypeRule::Int: return "an integer or index";
  case TypeRule::Float: return "a float";
  case TypeRule::Ptr: return "a pointer";
  case TypeRule::BoolLike: return "i1 or a tensor of i1";
  case TypeRule::IntLike:
  case TypeRule::SignlessIntLike: return "an integer or a tensor of integers";
  case TypeRule::FloatLike: return "a float or a tensor of floats";
  case TypeRule::PtrLike: return "a pointer or a tensor of pointers";
  case TypeRule::Tensor: return "a tensor";
  case TypeRule::IntTensor: return "a tensor of integers";
  case TypeRule::FloatTensor: return "a tensor of floats";
  case TypeRule::MemDesc: return "a memory descriptor";
  case TypeRule::TensorDesc: return "a tensor descriptor";
  case TypeRule::Token: return "an async token";
  case TypeRule::Scalar: return "a scalar";
  }
  llvm_unreachable("type rule");
}

class Verifier {
public:
  Verifier(DiagnosticEngine &d, unsigned maxErrors) : diag_(d), limit_(d.errors() + maxErrors) {}

  bool run(Operation *op) {
    moduleOp_ = op;
    while (moduleOp_->parentOp()) moduleOp_ = moduleOp_->parentOp();
    return verify(op);
  }

private:
  static bool hasLayout(Type t) {
    if (auto p = t.dyn_cast<PointerType>()) t = p.pointee();
    auto tensor = t.dyn_cast<TensorType>();
    return tensor && tensor.encoding();
  }
  static bool usesLayouts(Operation *func) {
    bool any = false;
    func->walk([&](Operation *op) {
      for (auto r : op->results()) any |= hasLayout(r.type());
      for (auto &r : op->regions())
        for (auto *b = r.front(); b; b = b->next())
          for (auto *a : b->args()) any |= hasLayout(a->type);
    });
    return any;
  }

  bool verify(Operation *op) {
    if (op->is<tt::FuncOp>()) {
      layoutsIn_ = usesLayouts(op);
      checked_.clear();
      warps_ = {numWarpsAt(op), op->hasAttr(kNumWarpsAttr) ? "function" : "module"};
    }
    bool ok = rows(op);
    for (unsigned i = 0; i < op->numResults(); ++i) ok &= typeOk(op, op->result(i).type());
    auto outside = warps_;
    for (auto [i, r] : llvm::enumerate(op->regions())) {
      if (r.empty()) continue;
      if (op->is<ttg::WarpSpecializePartitionsOp>()) {
        auto outer = op->parentOp() ? op->parentOp()->dyn<ttg::WarpSpecializeOp>() : ttg::WarpSpecializeOp();
        if (outer && i < outer.partitionNumWarps().size()) warps_ = {outer.partitionNumWarps()[i], "partition"};
        checked_.clear(); // types that are right elsewhere may be wrong here
      }
      if (op->info().has(kSingleBlock) && !r.hasOneBlock())
        ok = opError(op, diag_, "must have one block in each region");
      computeDominators(r);
      for (auto *b = r.front(); b; b = b->next()) {
        for (auto *a : b->args()) ok &= typeOk(op, a->type);
        ok &= block(op, b);
      }
    }
    if (op->is<ttg::WarpSpecializePartitionsOp>()) checked_.clear();
    warps_ = outside;
    // Only what has the right form is shown to the hook.
    if (ok) ok = checkMemorySpaces(op, diag_);
    if (ok && op->info().verify) ok = op->info().verify(op, diag_);
    if (auto call = op->dyn<tt::CallOp>(); ok && call) ok = checkCall(call, calleeOf(call), diag_);
    return ok && resultsFollow(op);
  }

  /// The function of the innermost module around the call that has one of this name, or null.
  Operation *calleeOf(tt::CallOp call) {
    for (Operation *m = call->parentOp(); m; m = m->parentOp())
      if (m->opcode() == Opcode::builtin_module)
        if (Operation *callee = symbols_.try_emplace(m, m).first->second.callee(call)) return callee;
    return nullptr;
  }

  /// Results whose types follow from operands or other results, as the row says, have these types. (Results of memory
  /// are their hooks' concern: a block pointer's tensor has no layout yet.)
  bool resultsFollow(Operation *op) {
    auto &info = op->info();
    for (auto [i, inference] : llvm::enumerate(info.inference)) {
      auto rule = InferRule(inference.rule);
      if (rule != InferRule::SameAs && rule != InferRule::BoolLike) continue;
      bool isOfResult = inference.operand >= kInferredResult;
      unsigned from = isOfResult ? inference.operand - kInferredResult : inference.operand;
      unsigned number = isOfResult ? op->resultGroup(from).size() : op->operandGroup(from).size();
      auto results = op->resultGroup(i);
      for (unsigned k = 0; k < std::min<unsigned>(number, results.size()); ++k) {
        Value source = isOfResult ? Value(op->resultGroup(from)[k]) : op->operandGroup(from)[k];
        Type want =
            rule == InferRule::SameAs ? source.type() : source.type().withScalar(moduleOp_->module().context().i1());
        if (Type has = results[k].type(); has != want)
          return opError(op, diag_,
                         "result '" + info.results[i].name + "' must be " + want.str() + ", not " + has.str());
      }
    }
    return true;
  }

  bool block(Operation *parent, Block *b) {
    bool ok = true;
    bool needsTerminator = parent->opcode() != Opcode::builtin_module;
    // An operation of an unknown dialect may be a terminator, and one that holds blocks may need none.
    bool mayEnd = b->back() && b->back()->opcode() == Opcode::unregistered;
    if (needsTerminator && !b->terminator() && !mayEnd && parent->opcode() != Opcode::unregistered) {
      if (b->empty()) return opError(parent, diag_, "has an empty block; a block must end in a terminator");
      return opError(b->back(), diag_, "is the last of its block but no terminator");
    }
    for (auto &op : *b) {
      if (!ok && tooMany()) return false;
      if (op.info().has(kTerminator) && op.next())
        ok = opError(&op, diag_, "is a terminator but not the last of its block");
      for (auto *s : op.successors())
        if (s->parent() != b->parent())
          ok = opError(&op, diag_, "jumps to a block of another region");
        else if (s == b->parent()->front())
          ok = opError(&op, diag_, "jumps to the entry block");
      for (unsigned i = 0; i < op.numOperands(); ++i)
        if (!dominates(op.operand(i), &op)) ok = opError(&op, diag_, "uses a value that does not dominate it", i);
      ok &= verify(&op);
    }
    return ok;
  }

  // Dominators of the blocks of a region, by iteration (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
  // Algorithm").
  void computeDominators(Region &r) {
    if (r.hasOneBlock()) return;
    llvm::SmallVector<Block *, 16> order;
    llvm::DenseMap<Block *, unsigned> index;
    llvm::DenseMap<Block *, bool> seen;
    llvm::SmallVector<std::pair<Block *, unsigned>, 16> stack{{r.front(), 0}};
    seen[r.front()] = true;
    while (!stack.empty()) {
      auto &[b, next] = stack.back();
      auto succs = b->successors();
      if (next < succs.size()) {
        Block *s = succs[next++];
        if (s->parent() == &r && seen.try_emplace(s, true).second) stack.push_back({s, 0});
      } else {
        index[b] = order.size();
        order.push_back(b);
        stack.pop_back();
      }
    }
    auto &idom = idom_;
    idom[r.front()] = r.front();
    llvm::DenseMap<Block *, llvm::SmallVector<Block *, 4>> preds;
    for (auto *b : order)
      for (auto *s : b->successors()) preds[s].push_back(b);
    bool changed = true;
    while (changed) {
      changed = false;
      for (auto *b : llvm::reverse(order)) {
        if (b == r.front()) continue;
        Block *best = nullptr;
        for (auto *p : preds[b]) {
          if (!idom.count(p)) continue;
          if (!best) {
            best = p;
            continue;
          }
          Block *x = p, *y = best;
          while (x != y) {
            while (index[x] < index[y]) x = idom[x];
            while (index[y] < index[x]) y = idom[y];
          }
          best = x;
        }
        if (best && idom.lookup(b) != best) {
          idom[b] = best;
          changed = true;
        }
      }
    }
  }
  bool blockDominates(Block *a, Block *b) {
    if (a == b) return true;
    if (!idom_.count(b)) return true; // unreachable code may use anything
    while (true) {
      Block *up = idom_.lookup(b);
      if (!up || up == b) return false;
      if (up == a) return true;
      b = up;
    }
  }
  bool dominates(Value v, Operation *user) {
    if (!v) return false;
    Block *def = v.parentBlock();
    if (!def || !def->parent()) return false;
    // The ancestor of the user in the region of the definition; isolated operations may not look out.
    Operation *at = user;
    while (at && at->parentRegion() != def->parent()) {
      at = at->parentOp();
      if (at && at->info().has(kIsolated)) return false;
    }
    if (!at) return false;
    if (Operation *d = v.definingOp(); d && d->block() == at->block()) return d != at && d->isBeforeInBlock(at);
    return blockDominates(def, at->block());
  }

  bool rows(Operation *op) {
    auto &info = op->info();
    if (info.opcode == Opcode::unregistered) return true;
    unsigned fixed = llvm::count_if(info.operands, [](auto &v) { return v.arity == Arity::One; });
    bool open = fixed != info.operands.size();
    if (op->numOperands() < fixed || (!open && op->numOperands() > fixed))
      return opError(op, diag_,
                     "has " + counted(op->numOperands(), "operand") + "; " + llvm::Twine(fixed) +
                         (open ? " or more" : "") + " are expected");
    unsigned fixedResults = llvm::count_if(info.results, [](auto &v) { return v.arity == Arity::One; });
    bool openResults = fixedResults != info.results.size();
    if (op->numResults() < fixedResults || (!openResults && op->numResults() > fixedResults))
      return opError(op, diag_,
                     "has " + counted(op->numResults(), "result") + "; " + llvm::Twine(fixedResults) + " are expected");
    if (info.needsSegments()) {
      if (op->operandSegments().size() != info.operands.size())
        return opError(op, diag_, "lacks the sizes of its operand groups");
      int64_t sum = 0;
      for (unsigned i = 0; i < info.operands.size(); ++i) {
        int32_t n = op->operandSegments()[i];
        if (n < 0 || (info.operands[i].arity == Arity::One && n != 1) ||
            (info.operands[i].arity == Arity::Optional && n > 1))
          return opError(op, diag_, "has " + llvm::Twine(n) + " values for operand '" + info.operands[i].name + "'");
        sum += n;
      }
      if (sum != op->numOperands()) return opError(op, diag_, "has operand groups that do not add up");
    }
    for (unsigned i = 0; i < info.operands.size(); ++i) {
      auto g = op->operandGroup(i);
      for (unsigned k = 0; k < g.size(); ++k) {
        if (!g[k]) return opError(op, diag_, "has an operand without a value");
        if (!fits(info.operands[i].rule, g[k].type()))
          return opError(op, diag_,
                         "operand '" + info.operands[i].name + "' must be " + describeRule(info.operands[i].rule) +
                             ", not " + g[k].type().str(),
                         op->operandGroupStart(i) + k);
      }
    }
    for (unsigned i = 0; i < info.results.size(); ++i)
      for (auto v : op->resultGroup(i))
        if (!fits(info.results[i].rule, v.type()))
          return opError(op, diag_,
                         "result '" + info.results[i].name + "' must be " + describeRule(info.results[i].rule) +
                             ", not " + v.type().str());
    if (info.numRegions != kAnyNumber && op->numRegions() != info.numRegions)
      return opError(op, diag_,
                     "has " + counted(op->numRegions(), "region") + "; " + llvm::Twine(unsigned(info.numRegions)) +
                         " are expected");
    if (info.numSuccessors != kAnyNumber && op->numSuccessors() != info.numSuccessors)
      return opError(op, diag_,
                     "has " + counted(op->numSuccessors(), "successor") + "; " +
                         llvm::Twine(unsigned(info.numSuccessors)) + " are expected");
    return attributes(op) && traits(op);
  }

  bool attributes(Operation *op) {
    for (auto &spec : op->info().attrs) {
      Attribute a = op->attr(spec.name);
      if (!a) {
        if (!spec.optional && !spec.hasDefault) return opError(op, diag_, "needs attribute '" + spec.name + "'");
        continue;
      }
      bool ok = true;
      const char *want = "";
      auto intOf = [&](unsigned width) {
        auto i = a.dyn_cast<IntegerAttr>();
        return i && i.type().isInteger(width);
      };
      switch (spec.rule) {
      case AttrRule::Any: break;
      case AttrRule::Unit: ok = a.isa<UnitAttr>(), want = "a flag without value"; break;
      case AttrRule::Bool: ok = intOf(1), want = "true or false"; break;
      case AttrRule::I32: ok = intOf(32), want = "an i32"; break;
      case AttrRule::I64: ok = intOf(64), want = "an i64"; break;
      case AttrRule::String: ok = a.isa<StringAttr>(), want = "a string"; break;
      case AttrRule::Enum:
        ok = (intOf(32) || intOf(64)) && !enumName(*spec.enumInfo, a.cast<IntegerAttr>().sext()).empty();
        want = "one of its enumerated values";
        break;
      case AttrRule::DenseI32: ok = a.isa<DenseArrayAttr>(), want = "array<i32: …>"; break;
      case AttrRule::Symbol: ok = a.isa<SymbolAttr>(), want = "a symbol such as @f"; break;
      case AttrRule::Type: ok = a.isa<TypeAttr>(), want = "a type"; break;
      case AttrRule::Dictionary: ok = a.isa<DictionaryAttr>(), want = "a dictionary"; break;
      case AttrRule::Array: ok = a.isa<ArrayAttr>(), want = "a list"; break;
      }
      if (!ok) return opError(op, diag_, "attribute '" + spec.name + "' must be " + want + ", not " + a.str());
    }
    return true;
  }

  bool traits(Operation *op) {
    auto &info = op->info();
    if (info.has(kSameTypes)) {
      Type first = op->numResults() ? op->result(0).type() : op->operand(0).type();
      for (unsigned i = 0; i < op->numOperands(); ++i)
        if (op->operand(i).type() != first)
          return opError(op, diag_,
                         "requires the same type for all operands and results: " + op->operand(i).type().str() +
                             " is not " + first.str(),
                         i);
    }
    if (info.has(kElementwise) && op->numResults()) {
      auto shapeOf = [](Type t) { return t.isTensor() ? t.withScalar(t.context()->i1()) : Type(); };
      Type want = shapeOf(op->result(0).type());
      for (unsigned i = 0; i < op->numOperands(); ++i)
        if (shapeOf(op->operand(i).type()) != want)
          return opError(op, diag_,
                         "requires the same shape and layout for all operands and results: " +
                             op->operand(i).type().str() + " does not match " + op->result(0).type().str(),
                         i);
    }
    if (info.has(kTerminator) && op->block() && op->next()) return true; // reported by the block
    return true;
  }

  /// The elements of the memory that values of a type point to; null if the type is none of memory.
  static Type heldInMemory(Type t) {
    if (auto p = t.scalar().dyn_cast<PointerType>()) return p.pointee().scalar();
    if (auto shaped = t.dyn_cast<ShapedType>(); shaped && !t.isTensor()) return shaped.element();
    return {};
  }

  bool typeOk(Operation *op, Type t) {
    if (!checked_.insert(t.storage()).second) return true;
    if (auto o = t.dyn_cast<OpaqueType>(); o && o.text() == "!unknown") return false;
    if (auto held = heldInMemory(t);
        held && held.kind() == TypeKind::Integer && !llvm::is_contained({1u, 8u, 16u, 32u, 64u}, held.bitWidth()))
      return opError(op, diag_, "has type " + t.str() + ": memory holds integers of 1, 8, 16, 32 or 64 bits");
    if (auto descriptor = t.dyn_cast<TensorDescType>()) return descriptorOk(op, descriptor);
    if (auto tensor = t.dyn_cast<TensorType>()) return tensorOk(op, tensor);
    if (auto buffer = t.dyn_cast<MemDescType>()) return checkMemorySpace(op, diag_, buffer);
    return true;
  }

  bool descriptorOk(Operation *op, TensorDescType t) {
    Type e = t.element();
    if (!e.isInteger() && !e.isFloat() && !e.isPointer())
      return opError(op, diag_,
                     "has type " + t.str() + ": the tensor of a descriptor cannot hold elements of " + e.str());
    if (!llvm::all_of(t.shape(), [](int64_t d) { return d > 0 && llvm::isPowerOf2_64(d); }))
      return opError(op, diag_, "has type " + t.str() + ": dimensions must be powers of two");
    return true;
  }

  bool tensorOk(Operation *op, TensorType t) {
    if (auto e = t.element();
        e.kind() == TypeKind::Integer && !llvm::is_contained({1u, 4u, 8u, 16u, 32u, 64u, 128u}, e.bitWidth()))
      return opError(op, diag_, "has type " + t.str() + ": tensors hold integers of 1, 4, 8, 16, 32, 64 or 128 bits");
    for (auto d : t.shape())
      if (d <= 0 || !llvm::isPowerOf2_64(d))
        return opError(op, diag_, "has type " + t.str() + ": dimensions must be powers of two");
    if (t.numElements() > (1 << 20))
      return opError(op, diag_,
                     "has type " + t.str() + " with " + counted(t.numElements(), "element") +
                         "; at most 1048576 are possible");
    auto *e = t.encoding();
    bool wants = hasLayouts(moduleOp_);
    if (!e)
      return !layoutsIn_ ||
             opError(op, diag_, "has type " + t.str() + ", but in a function with layouts every tensor needs one");
    if (!e->isDistributed())
      return opError(op, diag_, "has type " + t.str() + ": a tensor's layout must be distributed over threads");
    auto &layout = e->layoutOf(t.shape());
    if (!layout.ok())
      return absl::IsUnimplemented(layout.status()) ||
             opError(op, diag_,
                     "has type " + t.str() + ": " +
                         llvm::StringRef(layout.status().message().data(), layout.status().message().size()));
    // Beyond the tensor's elements they are copies, and each costs code. Scales of 128 rows by one warp of RDNA, each
    // for 32 elements, are 2,048.
    constexpr int64_t kManyRegisters = 8192;
    if (int64_t n = layout->inDimSize(layouts::Dim::Register); n > std::max(t.numElements(), kManyRegisters))
      return opError(op, diag_,
                     "has type " + t.str() + " whose layout gives each thread " + counted(size_t(n), "register") +
                         " for " + counted(size_t(t.numElements()), "element"));
    if (wants) {
      if (layout->inDimSize(layouts::Dim::Lane) != threadsPerWarp(moduleOp_))
        return opError(op, diag_,
                       "has type " + t.str() + " with " + llvm::Twine(layout->inDimSize(layouts::Dim::Lane)) +
                           " threads per warp; the module has " + llvm::Twine(threadsPerWarp(moduleOp_)));
      // A function that a warp-specialised partition calls states its own number.
      auto [warps, whose] = warps_;
      if (!warps) { // outside of functions
        warps = numWarps(moduleOp_);
        whose = "module";
      }
      if (layout->inDimSize(layouts::Dim::Warp) != warps)
        return opError(op, diag_,
                       "has type " + t.str() + " with " + llvm::Twine(layout->inDimSize(layouts::Dim::Warp)) +
                           " warps; the " + whose + " has " + llvm::Twine(warps));
    }
    return true;
  }

  /// Says once that there may be more.
  bool tooMany() {
    if (diag_.errors() < limit_) return false;
    if (!std::exchange(saidTooMany_, true)) {
      Diagnostic d;
      d.severity = Severity::Note;
      d.message = "too many errors; more are not shown";
      diag_.report(std::move(d));
    }
    return true;
  }

  DiagnosticEngine &diag_;
  unsigned limit_;
  bool saidTooMany_ = false;
  Operation *moduleOp_ = nullptr;
  llvm::DenseMap<Operation *, SymbolTable> symbols_; // of each module in which a call was looked up
  bool layoutsIn_ = false;                           // the function being checked has tensors with layouts
  std::pair<int64_t, const char *> warps_{};         // that run the region being checked, and who says so
  llvm::DenseMap<Block *, Block *> idom_;
  llvm::SmallPtrSet<const TypeStorage *, 32> checked_;
};

} // namespace

bool verify(Operation *op, DiagnosticEngine &diag, unsigned maxErrors) { return Verifier(diag, maxErrors).run(op); }
bool verify(Module &m, DiagnosticEngine &diag, unsigned maxErrors) { return verify(m.op(), diag, maxErrors); }

bool verifyStages(Module &m, IrStages stages, DiagnosticEngine &diag) {
  bool ok = true;
  for (IrStage stage : allIrStages()) {
    Operation *op = stages.has(stage) ? firstContradicting(m, stage) : nullptr;
    if (op) ok = opError(op, diag, contradictionOf(stage) + ", after the stage '" + irStageName(stage) + "'");
  }
  return ok;
}

} // namespace tessera::ir
