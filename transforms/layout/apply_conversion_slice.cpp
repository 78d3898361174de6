// Rewrites a slice of layout conversions as it was planned (see conversion_slices.cpp). Recomputed operations are made
// once more in the new layout; loop-carried values and results of branches change theirs in place, and users outside of
// the slice get a conversion back.
#include "ir/builder.h"
#include "ir/tensor_queries.h"
#include "transforms/layout/conversion_slice.h"
#include "transforms/layout/convert_values.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

/// Gives a loop-carried value the layout in place, and its users, which expect the old one, a conversion back; users
/// that are recomputed leave it without uses.
void ConversionSlice::changeCarriedLayout(Value v, const Encoding *e) {
  Operation *back = changeLayout(v, e);
  // What was the value itself in its old layout is the conversion back now; without one, it is made when it is needed.
  llvm::SmallVector<LayoutValue, 2> outdated;
  for (auto &[wanted, made] : made_)
    if (made == v && wanted.second != e) outdated.push_back(wanted);
  for (auto &wanted : outdated) {
    if (back)
      made_[wanted] = back->result();
    else
      made_.erase(wanted);
  }
  made_[{v, e}] = v;
  if (back) made_[{back->result(), e}] = v; // what was planned for the value itself
}

Value ConversionSlice::materializeCarried(Value v, const Encoding *e) {
  CarriedPlaces places = *placesOf(v);
  llvm::SmallVector<Value, 2> given;
  for (auto *source : places.sources) given.push_back(source->get());
  for (Value place : places.values) changeCarriedLayout(place, e);
  for (auto *handed : places.handedOn) handed->set(places.values[0]);
  for (auto [source, value] : llvm::zip(places.sources, given)) {
    // Unless it is one of the places itself, a conversion back may have replaced what is yielded.
    Value now = llvm::is_contained(places.values, value) ? value : source->get();
    source->set(materialize(now, e));
  }
  return made_.lookup({v, e});
}

/// Computes the value, and other results of its operation, in a layout. @pre it can be
void ConversionSlice::recompute(Value v, const Encoding *e) {
  Operation *op = v.definingOp();
  llvm::SmallVector<LayoutValue, 4> inputs;
  inputsFor(v, e, inputs);
  if (auto conversion = op->dyn<ttg::ConvertLayoutOp>()) {
    made_[{v, e}] = materialize(conversion.src(), e);
    return;
  }
  // Operands first: making them may replace uses of this operation's operands by conversions back.
  llvm::SmallVector<Value, 4> operands = op->operands().vec();
  unsigned next = 0;
  for (auto &o : operands)
    if (o.type().isTensor() && next < inputs.size()) o = materialize(o, inputs[next++].second);
  Builder b(op);
  if (auto scan = op->dyn<tt::ScanOp>()) {
    ValueMap map;
    map.map(scan.srcs()[0], operands[0]);
    Value result = b.clone(op, map)->result();
    result.setType(tensorOf(v).withEncoding(e));
    made_[{v, e}] = result;
    return;
  }
  OperationState s(op->opcode(), op->loc());
  s.segments.assign(op->operandSegments().begin(), op->operandSegments().end());
  s.attrs.assign(op->attrs().begin(), op->attrs().end());
  s.operands.assign(operands.begin(), operands.end());
  for (Value r : op->results()) s.resultTypes.push_back(tensorOf(r).withEncoding(e));
  if (op->is<arith::ConstantOp>())
    for (auto &a : s.attrs)
      if (a.name == "value") a.value = a.value.cast<DenseElementsAttr>().withType(tensorOf(v).withEncoding(e));
  Operation *made = b.create(s);
  for (auto [r, other] : llvm::zip(op->results(), made->results())) made_[{r, e}] = other;
}

/// The value in the layout, as it was planned.
Value ConversionSlice::materialize(Value v, const Encoding *e) {
  if (encodingOf(v) == e) return v;
  if (auto it = made_.find({v, e}); it != made_.end()) return it->second;
  if (!recomputed_.contains({v, e})) {
    Builder b = v.definingOp() ? Builder::after(v.definingOp()) : Builder::atStart(v.ownerBlock());
    return made_[{v, e}] = inLayout(b, v.loc(), v, e);
  }
  if (carrierOf(v)) return materializeCarried(v, e);
  recompute(v, e);
  return made_.lookup({v, e});
}

llvm::SmallVector<Operation *, 16> ConversionSlice::apply() {
  for (auto c : conversions_) {
    Value v = materialize(c.src(), wanted_);
    c.result().replaceAllUsesWith(v);
  }
  // Other conversions of what was made.
  for (auto *set : {&recomputed_, &converted_})
    for (auto &[from, e] : *set) {
      auto it = made_.find({from, e});
      if (it == made_.end() || it->second == from) continue;
      for (auto *user : from.users()) {
        auto c = user->dyn<ttg::ConvertLayoutOp>();
        bool isRedundant = c && encodingOf(c.result()) == e && c.result() != it->second;
        if (isRedundant) c.result().replaceAllUsesWith(it->second);
      }
    }
  return operationsLeft();
}

/// What the slice has replaced or made, and conversions of it.
llvm::SmallVector<Operation *, 16> ConversionSlice::operationsLeft() const {
  llvm::SmallVector<Operation *, 16> left;
  for (auto c : conversions_) left.push_back(c.op);
  auto add = [&](Value v) {
    if (Operation *op = v.definingOp()) left.push_back(op);
    for (auto *user : v.users())
      if (user->is<ttg::ConvertLayoutOp>()) left.push_back(user);
  };
  for (auto *set : {&recomputed_, &converted_})
    for (auto &item : *set) add(item.first);
  for (auto &item : made_) add(item.second);
  return left;
}

} // namespace tessera::transforms
