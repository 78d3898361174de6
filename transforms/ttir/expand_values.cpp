// Expansion of values into parts (see expand_values.h). Blocks are visited so that definitions come before uses; old
// values stay until everything is rewritten, and are erased then.
#include "transforms/ttir/expand_values.h"
#include "ir/context.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tessera::transforms {
using namespace ir;

absl::StatusOr<bool> ValueExpansion::run() {
  bool any = false;
  m_.op()->walk([&](Operation *op) {
    for (auto v : op->operands()) any |= expands(v.type());
    for (auto v : op->results()) any |= expands(v.type());
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next())
        for (auto *a : b->args()) any |= expands(a->type);
    if (auto f = op->dyn<tt::FuncOp>()) {
      auto type = f.functionType().cast<FunctionType>();
      for (unsigned i = 0; i < type.numInputs(); ++i) any |= expands(type.input(i));
      for (unsigned i = 0; i < type.numResults(); ++i) any |= expands(type.result(i));
    }
  });
  if (!any) return false;
  if (!region(m_.op()->region(0))) return absl::InvalidArgumentError("a value could not be rewritten");
  for (auto *op : llvm::reverse(obsolete_)) op->erase();
  for (auto [b, n] : oldArguments_)
    for (unsigned i = n; i-- > 0;) b->eraseArg(i);
  return true;
}

/// Whether a value that the operation uses or makes is a tensor with a layout.
static bool hasTensorWithLayout(Operation *op) {
  auto hasLayout = [](Value v) {
    auto t = v.type().dyn_cast<TensorType>();
    return t && t.encoding();
  };
  return llvm::any_of(op->operands(), hasLayout) || llvm::any_of(op->results(), hasLayout);
}

bool ValueExpansion::fail(Operation *op, const llvm::Twine &why) {
  diagnostics_.error(op->loc(), "'" + op->name() + "' " + why);
  return false;
}

llvm::SmallVector<Value, 8> ValueExpansion::expand(OperandRange values) {
  llvm::SmallVector<Value, 8> out;
  for (auto v : values)
    if (expands(v.type()))
      llvm::append_range(out, parts(v));
    else
      out.push_back(v);
  return out;
}

void ValueExpansion::arguments(Block *b) {
  llvm::SmallVector<Value, 8> old;
  for (auto *a : b->args()) old.push_back(a);
  if (llvm::none_of(old, [&](Value v) { return expands(v.type()); })) return;
  for (auto v : old) {
    auto types = partsOf(v.type());
    if (types.empty()) {
      v.replaceAllUsesWith(b->addArg(v.type(), v.loc()));
      continue;
    }
    llvm::SmallVector<Value, 8> by;
    for (unsigned i = 0; i < types.size(); ++i) {
      Location loc = v.loc();
      if (std::string part = partName(v.type(), i); loc.kind() == LocationKind::Name && !part.empty())
        loc = m_.context().nameLoc(loc.name().str() + "." + part, loc.numParts() ? loc.part(0) : Location());
      by.push_back(b->addArg(types[i], loc));
    }
    define(v, by);
  }
  oldArguments_.push_back({b, unsigned(old.size())});
}

void ValueExpansion::function(Operation *op) {
  auto f = op->cast<tt::FuncOp>();
  auto type = f.functionType().cast<FunctionType>();
  auto attrs = op->attr<ArrayAttr>("arg_attrs");
  llvm::SmallVector<Type, 8> inputs, results;
  llvm::SmallVector<Attribute, 8> newAttrs;
  bool hasAttrs = bool(attrs);
  auto none = DictionaryAttr::get(m_.context(), {});
  for (unsigned i = 0; i < type.numInputs(); ++i) {
    auto types = partsOf(type.input(i));
    if (types.empty()) {
      inputs.push_back(type.input(i));
      newAttrs.push_back(attrs ? attrs[i] : none);
      continue;
    }
    for (auto [part, t] : llvm::enumerate(types)) {
      inputs.push_back(t);
      auto ofPart = partAttrs(type.input(i), part);
      hasAttrs |= bool(ofPart);
      newAttrs.push_back(ofPart ? ofPart : none);
    }
  }
  for (unsigned i = 0; i < type.numResults(); ++i) {
    auto types = partsOf(type.result(i));
    if (types.empty()) types.push_back(type.result(i));
    llvm::append_range(results, types);
  }
  if (inputs.size() == type.numInputs() && results.size() == type.numResults()) return;
  op->setAttr("function_type", TypeAttr::get(FunctionType::get(m_.context(), inputs, results)));
  if (hasAttrs) op->setAttr("arg_attrs", ArrayAttr::get(m_.context(), newAttrs));
  if (results.size() != type.numResults()) op->removeAttr("res_attrs");
}

bool ValueExpansion::region(Region &r) {
  // Reverse post-order: a block comes after those that dominate it. What nothing reaches is dropped.
  std::vector<Block *> order;
  llvm::SmallPtrSet<Block *, 8> seen;
  std::vector<std::pair<Block *, unsigned>> stack;
  if (r.front()) {
    stack.push_back({r.front(), 0});
    seen.insert(r.front());
  }
  while (!stack.empty()) {
    auto &[b, next] = stack.back();
    if (next == b->successors().size()) {
      order.push_back(b);
      stack.pop_back();
    } else if (Block *to = b->successors()[next++]; seen.insert(to).second)
      stack.push_back({to, 0});
  }
  for (auto *b : r.blocks())
    if (!seen.contains(b)) b->erase();
  for (auto *b : order) arguments(b);
  for (auto *b : llvm::reverse(order))
    for (auto &op : *b)
      if (!operation(&op)) return false;
  return true;
}

bool ValueExpansion::controlFlow(Operation *op) {
  bool operandsChange = llvm::any_of(op->operands(), [&](Value v) { return expands(v.type()); });
  bool resultsChange = llvm::any_of(op->results(), [&](Value v) { return expands(v.type()); });
  if (operandsChange) {
    llvm::SmallVector<Value, 16> all;
    llvm::SmallVector<int32_t, 4> segments;
    for (unsigned i = 0; i < op->info().operands.size(); ++i) {
      auto values = expand(op->operandGroup(i));
      llvm::append_range(all, values);
      segments.push_back(values.size());
    }
    if (op->operandSegments().empty()) segments.clear();
    op->setOperands(all, segments);
  }
  if (resultsChange) {
    OperationState s(op->opcode(), op->loc());
    llvm::append_range(s.operands, op->operands().vec());
    llvm::append_range(s.segments, op->operandSegments());
    llvm::append_range(s.attrs, op->attrs());
    s.numRegions = op->numRegions();
    for (auto v : op->results()) {
      auto types = partsOf(v.type());
      if (types.empty()) types.push_back(v.type());
      llvm::append_range(s.resultTypes, types);
    }
    Builder b(op);
    Operation *by = b.create(s);
    for (unsigned i = 0; i < op->numRegions(); ++i) by->region(i).takeBody(op->region(i));
    unsigned k = 0;
    for (auto v : op->results()) {
      unsigned n = partsOf(v.type()).size();
      if (n == 0)
        v.replaceAllUsesWith(by->result(k++));
      else {
        llvm::SmallVector<Value, 8> values;
        while (n--) values.push_back(by->result(k++));
        define(v, values);
      }
    }
    obsolete_.push_back(op);
    op = by;
  }
  for (auto &r : op->regions())
    if (!region(r)) return false;
  return true;
}

bool ValueExpansion::operation(Operation *op) {
  bool concerns = llvm::any_of(op->operands(), [&](Value v) { return expands(v.type()); }) ||
                  llvm::any_of(op->results(), [&](Value v) { return expands(v.type()); });
  switch (op->opcode()) {
  case Opcode::tt_func: function(op); return region(op->region(0));
  case Opcode::scf_for:
  case Opcode::scf_while:
  case Opcode::scf_if:
  case Opcode::scf_execute_region:
  case Opcode::scf_yield:
  case Opcode::scf_condition:
  case Opcode::cf_br:
  case Opcode::cf_cond_br:
  case Opcode::tt_call:
  case Opcode::tt_return: return controlFlow(op);
  case Opcode::arith_select:
    if (concerns) {
      auto s = op->cast<arith::SelectOp>();
      Builder b(op);
      llvm::SmallVector<Value, 8> out;
      for (auto [x, y] : llvm::zip(llvm::SmallVector<Value, 8>(parts(s.trueValue())),
                                   llvm::SmallVector<Value, 8>(parts(s.falseValue()))))
        out.push_back(x == y ? x : arith::SelectOp::create(b, op->loc(), s.condition(), x, y).result());
      define(op->result(), out);
      obsolete_.push_back(op);
      return true;
    }
    break;
  case Opcode::ub_poison:
    if (concerns) {
      Builder b(op);
      llvm::SmallVector<Value, 8> out;
      for (auto t : partsOf(op->result().type())) out.push_back(ub::PoisonOp::create(b, op->loc(), t).result());
      define(op->result(), out);
      obsolete_.push_back(op);
      return true;
    }
    break;
  default: break;
  }
  if (concerns) {
    // What an operation is rewritten to has tensors without layouts, which cannot stand beside others in a function.
    if (hasTensorWithLayout(op)) return fail(op, "accesses a tensor that has a layout through " + what_);
    obsolete_.push_back(op);
    unsigned errors = diagnostics_.errors();
    if (rewrite(op)) return true;
    return diagnostics_.errors() == errors ? fail(op, "cannot use " + what_) : false;
  }
  for (auto &r : op->regions())
    if (!region(r)) return false;
  return true;
}

} // namespace tessera::transforms
