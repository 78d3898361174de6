// Operations, values, blocks and regions: linking and unlinking in the arena of a Module (see operation.h). The only
// bookkeeping done here is that of use lists, of the list links, and of the order numbers behind isBeforeInBlock.
#include "ir/operation.h"
#include "ir/context.h"
#include "ir/op_table.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <limits>

namespace tessera::ir {

// ---- values and uses ------------------------------------------------------------------------------------------------

Block *Value::parentBlock() const { return impl_->definingOp ? impl_->definingOp->block() : impl_->ownerBlock; }
Location Value::loc() const { return impl_->definingOp ? impl_->definingOp->loc() : impl_->loc; }
bool Value::hasOneUse() const { return impl_->firstUse && !impl_->firstUse->nextUse; }

llvm::SmallVector<OpOperand *, 8> Value::uses() const {
  llvm::SmallVector<OpOperand *, 8> out;
  for (auto *u = impl_->firstUse; u; u = u->nextUse) out.push_back(u);
  return out;
}

llvm::SmallVector<Operation *, 8> Value::users() const {
  llvm::SmallVector<Operation *, 8> out;
  for (auto *u = impl_->firstUse; u; u = u->nextUse) out.push_back(u->owner);
  return out;
}

void Value::replaceAllUsesWith(Value v) const {
  if (v == *this) return;
  while (impl_->firstUse) impl_->firstUse->set(v);
}

void Value::replaceUsesIf(Value v, llvm::function_ref<bool(OpOperand &)> pred) const {
  for (auto *u : uses())
    if (pred(*u)) u->set(v);
}

static void unlinkUse(OpOperand &o) {
  if (!o.prevLink) return;
  *o.prevLink = o.nextUse;
  if (o.nextUse) o.nextUse->prevLink = o.prevLink;
  o.nextUse = nullptr;
  o.prevLink = nullptr;
}

static void linkUse(OpOperand &o) {
  if (!o.value) return;
  o.nextUse = o.value->firstUse;
  if (o.nextUse) o.nextUse->prevLink = &o.nextUse;
  o.prevLink = &o.value->firstUse;
  o.value->firstUse = &o;
}

void OpOperand::set(Value v) {
  unlinkUse(*this);
  value = v.impl();
  linkUse(*this);
}

unsigned OpOperand::index() const { return this - owner->operands_; }

// ---- regions and blocks ---------------------------------------------------------------------------------------------

void Region::append(Block *b) { insertAfter(last_, b); }

void Region::insertAfter(Block *where, Block *b) {
  b->parent_ = this;
  b->prev_ = where;
  b->next_ = where ? where->next_ : first_;
  (b->prev_ ? b->prev_->next_ : first_) = b;
  (b->next_ ? b->next_->prev_ : last_) = b;
}

Block *Region::addBlock() {
  Block *b = parent_->module().createBlock();
  append(b);
  return b;
}

void Region::takeBody(Region &other) {
  while (Block *b = other.first_) {
    other.first_ = b->next_;
    if (b->next_)
      b->next_->prev_ = nullptr;
    else
      other.last_ = nullptr;
    append(b);
  }
}

llvm::SmallVector<Block *, 4> Region::blocks() const {
  llvm::SmallVector<Block *, 4> out;
  for (auto *b = first_; b; b = b->next()) out.push_back(b);
  return out;
}

Value Block::addArg(Type type, Location loc) {
  auto &arena = module_->arena();
  if (args_.size() == argCapacity_) {
    argCapacity_ = argCapacity_ ? argCapacity_ * 2 : 4;
    auto **mem = arena.Allocate<ValueImpl *>(argCapacity_);
    std::copy(args_.begin(), args_.end(), mem);
    args_ = {mem, args_.size()};
  }
  auto *v = new (arena.Allocate<ValueImpl>()) ValueImpl;
  v->type = type;
  v->ownerBlock = this;
  v->index = args_.size();
  v->loc = loc;
  const_cast<ValueImpl **>(args_.data())[args_.size()] = v;
  args_ = {args_.data(), args_.size() + 1};
  return v;
}

void Block::eraseArg(unsigned i) {
  auto **mem = const_cast<ValueImpl **>(args_.data());
  for (unsigned j = i; j + 1 < args_.size(); ++j) {
    mem[j] = mem[j + 1];
    mem[j]->index = j;
  }
  args_ = args_.drop_back();
}

Operation *Block::terminator() const { return last_ && last_->info().has(kTerminator) ? last_ : nullptr; }

// Order numbers leave room between neighbours, so that an operation between two gets a number of its own: passes that
// insert and query in turn would else number the whole block for every query.
static constexpr uint64_t kWidestOrderGap = 1 << 16;
/// Of a gap an insertion takes no more: builders insert one operation after the other before the same one.
static constexpr uint64_t kInsertedOrderGap = 1 << 8;

void Block::insertBefore(Operation *where, Operation *op) {
  op->block_ = this;
  op->next_ = where;
  op->prev_ = where ? where->prev_ : last_;
  (op->prev_ ? op->prev_->next_ : first_) = op;
  (op->next_ ? op->next_->prev_ : last_) = op;
  uint64_t low = op->prev_ ? op->prev_->order_ : 0;
  uint64_t high = op->next_ ? op->next_->order_ : std::numeric_limits<unsigned>::max();
  orderValid_ = orderValid_ && high - low > 1;
  if (orderValid_) op->order_ = low + std::min((high - low) / 2, kInsertedOrderGap);
}

Block::iterator::iterator(Operation *op) : cur_(op), next_(op ? op->next() : nullptr) {}
Block::iterator &Block::iterator::operator++() {
  cur_ = next_;
  next_ = cur_ ? cur_->next() : nullptr;
  return *this;
}

llvm::ArrayRef<Block *> Block::successors() const { return last_ ? last_->successors() : llvm::ArrayRef<Block *>(); }

void Block::erase() {
  for (auto *op = first_; op; op = op->next()) op->dropAllReferences();
  if (parent_) {
    (prev_ ? prev_->next_ : parent_->first_) = next_;
    (next_ ? next_->prev_ : parent_->last_) = prev_;
    parent_ = nullptr;
  }
}

// ---- operations -----------------------------------------------------------------------------------------------------

const OpInfo &Operation::info() const { return opInfo(opcode_); }
llvm::StringRef Operation::name() const { return opcode_ == Opcode::unregistered ? unregisteredName_ : info().name; }
Context &Operation::context() const { return module_->context(); }

bool Operation::isAncestorOf(const Operation *other) const {
  for (; other; other = other->parentOp())
    if (other == this) return true;
  return false;
}

bool Operation::isBeforeInBlock(const Operation *other) const {
  if (!block_->orderValid_) {
    uint64_t numOps = 0;
    for (auto *op = block_->first_; op; op = op->next_) ++numOps;
    uint64_t gap = std::min(kWidestOrderGap, std::numeric_limits<unsigned>::max() / (numOps + 1));
    uint64_t order = 0;
    for (auto *op = block_->first_; op; op = op->next_) op->order_ = order += gap;
    block_->orderValid_ = true;
  }
  return order_ < other->order_;
}

void Operation::setOperands(llvm::ArrayRef<Value> values, llvm::ArrayRef<int32_t> segments) {
  llvm::SmallVector<Value, 8> copy(values.begin(), values.end()); // `values` may point into what is dropped below
  for (unsigned i = 0; i < numOperands_; ++i) unlinkUse(operands_[i]);
  if (copy.size() > operandCapacity_) {
    operandCapacity_ = std::max<unsigned>(copy.size(), operandCapacity_ * 2);
    operands_ = module_->arena().Allocate<OpOperand>(operandCapacity_);
    for (unsigned i = 0; i < operandCapacity_; ++i) new (&operands_[i]) OpOperand{nullptr, this};
  }
  numOperands_ = copy.size();
  for (unsigned i = 0; i < numOperands_; ++i) {
    operands_[i].value = copy[i].impl();
    linkUse(operands_[i]);
  }
  if (!segments.empty()) {
    if (segments_.size() != segments.size())
      segments_ = {module_->arena().Allocate<int32_t>(segments.size()), segments.size()};
    std::copy(segments.begin(), segments.end(), segments_.begin());
  }
}

void Operation::eraseOperand(unsigned at) {
  auto all = operands().vec();
  all.erase(all.begin() + at);
  unsigned start = 0;
  for (auto &n : segments_) {
    if (at < start + n) {
      --n;
      break;
    }
    start += n;
  }
  setOperands(all);
}

unsigned Operation::operandGroupStart(unsigned i) const {
  if (!segments_.empty()) {
    unsigned start = 0;
    for (unsigned j = 0; j < i; ++j) start += segments_[j];
    return start;
  }
  // At most one operand of the row is optional or variadic: those before it are single, and it takes what is left.
  const auto &specs = info().operands;
  for (unsigned j = 0; j < i; ++j)
    if (specs[j].arity != Arity::One) return numOperands_ - (specs.size() - i);
  return i;
}

OperandRange Operation::operandGroup(unsigned i) const {
  unsigned start = operandGroupStart(i);
  if (!segments_.empty()) return {operands_ + start, unsigned(segments_[i])};
  const auto &specs = info().operands;
  if (specs[i].arity == Arity::One) return {operands_ + start, 1};
  return {operands_ + start, numOperands_ - unsigned(specs.size() - 1)};
}

void Operation::setOperandGroup(unsigned i, llvm::ArrayRef<Value> values) {
  unsigned start = operandGroupStart(i), n = operandGroup(i).size();
  auto all = operands().vec();
  all.erase(all.begin() + start, all.begin() + start + n);
  all.insert(all.begin() + start, values.begin(), values.end());
  llvm::SmallVector<int32_t, 8> segments(segments_.begin(), segments_.end());
  if (!segments.empty()) segments[i] = values.size();
  setOperands(all, segments);
}

ResultRange Operation::resultGroup(unsigned i) const {
  const auto &specs = info().results;
  unsigned start = i;
  for (unsigned j = 0; j < i; ++j)
    if (specs[j].arity != Arity::One) {
      start = numResults_ - (specs.size() - i);
      break;
    }
  if (specs[i].arity == Arity::One) return {results_ + start, 1};
  return {results_ + start, numResults_ - unsigned(specs.size() - 1)};
}

bool Operation::useEmpty() const {
  for (auto r : results())
    if (!r.useEmpty()) return false;
  return true;
}

Attribute Operation::attr(llvm::StringRef name) const {
  for (auto &a : attrs_)
    if (a.name == name) return a.value;
  return {};
}

void Operation::setAttrs(llvm::ArrayRef<NamedAttribute> attrs) {
  auto *mem = module_->arena().Allocate<NamedAttribute>(attrs.size());
  std::uninitialized_copy(attrs.begin(), attrs.end(), mem);
  attrs_ = {mem, attrs.size()};
}

void Operation::setAttr(llvm::StringRef name, Attribute value) {
  llvm::SmallVector<NamedAttribute, 8> all(attrs_.begin(), attrs_.end());
  for (auto &a : all)
    if (a.name == name) {
      a.value = value;
      return setAttrs(all);
    }
  all.push_back({context().intern(name), value});
  setAttrs(all);
}

void Operation::removeAttr(llvm::StringRef name) {
  llvm::SmallVector<NamedAttribute, 8> all;
  for (auto &a : attrs_)
    if (a.name != name) all.push_back(a);
  if (all.size() != attrs_.size()) setAttrs(all);
}

void Operation::setSuccessor(unsigned i, Block *b) { successors_[i] = b; }

void Operation::remove() {
  if (!block_) return;
  (prev_ ? prev_->next_ : block_->first_) = next_;
  (next_ ? next_->prev_ : block_->last_) = prev_;
  block_ = nullptr;
  prev_ = next_ = nullptr;
}

void Operation::moveBefore(Operation *where) {
  remove();
  where->block()->insertBefore(where, this);
}

void Operation::moveAfter(Operation *where) {
  remove();
  where->block()->insertBefore(where->next(), this);
}

void Operation::dropAllReferences() {
  for (unsigned i = 0; i < numOperands_; ++i) {
    unlinkUse(operands_[i]);
    operands_[i].value = nullptr;
  }
  numOperands_ = 0;
  for (auto &s : segments_) s = 0;
  for (auto &r : regions())
    for (auto *b = r.front(); b; b = b->next())
      for (auto *op = b->front(); op; op = op->next()) op->dropAllReferences();
}

void Operation::erase() {
  dropAllReferences();
  remove();
}

void Operation::replaceAllUsesWith(llvm::ArrayRef<Value> values) {
  for (unsigned i = 0; i < numResults_; ++i) result(i).replaceAllUsesWith(values[i]);
}

void Operation::walk(llvm::function_ref<void(Operation *)> f) {
  // The callback may erase the operation, so what to visit next is read first.
  llvm::SmallVector<Region *, 2> rs;
  for (auto &r : regions()) rs.push_back(&r);
  f(this);
  if (!rs.empty() && numRegions_ == 0) return;
  for (auto *r : rs)
    for (Block *b = r->front(), *nb; b; b = nb) {
      nb = b->next();
      for (auto &op : *b) op.walk(f);
    }
}

void Operation::walkPostOrder(llvm::function_ref<void(Operation *)> f) {
  for (auto &r : regions())
    for (Block *b = r.front(), *nb; b; b = nb) {
      nb = b->next();
      for (auto &op : *b) op.walkPostOrder(f);
    }
  f(this);
}

std::string Operation::str() const {
  std::string s;
  llvm::raw_string_ostream o(s);
  o << name() << "(";
  for (unsigned i = 0; i < numOperands_; ++i) {
    if (i) o << ", ";
    if (operands_[i].value)
      operands_[i].value->type.print(o);
    else
      o << "<null>";
  }
  o << ") -> (";
  for (unsigned i = 0; i < numResults_; ++i) {
    if (i) o << ", ";
    results_[i].type.print(o);
  }
  o << ")";
  return s;
}

// ---- module ---------------------------------------------------------------------------------------------------------

Module::Module(Context &c) : context_(c) {
  OperationState s(Opcode::builtin_module, {});
  s.numRegions = 1;
  op_ = createOperation(s);
  op_->region(0).addBlock();
}
Module::~Module() = default;

Block *Module::createBlock() {
  auto *b = new (arena_.Allocate<Block>()) Block;
  b->module_ = this;
  return b;
}

Operation *Module::createOperation(const OperationState &s) {
  auto *op = new (arena_.Allocate<Operation>()) Operation;
  op->opcode_ = s.opcode;
  op->loc_ = s.loc;
  op->module_ = this;
  op->unregisteredName_ = s.unregisteredName;
  op->numResults_ = s.resultTypes.size();
  if (op->numResults_) {
    op->results_ = arena_.Allocate<ValueImpl>(op->numResults_);
    for (unsigned i = 0; i < op->numResults_; ++i) {
      auto *v = new (&op->results_[i]) ValueImpl;
      v->type = s.resultTypes[i];
      v->definingOp = op;
      v->index = i;
    }
  }
  op->numRegions_ = s.numRegions;
  if (op->numRegions_) {
    op->regions_ = arena_.Allocate<Region>(op->numRegions_);
    for (unsigned i = 0; i < op->numRegions_; ++i) (new (&op->regions_[i]) Region)->parent_ = op;
  }
  if (!s.successors.empty()) {
    op->successors_ = {arena_.Allocate<Block *>(s.successors.size()), s.successors.size()};
    std::copy(s.successors.begin(), s.successors.end(), op->successors_.begin());
  }
  op->setOperands(s.operands, s.segments);
  if (!s.attrs.empty()) op->setAttrs(s.attrs);
  return op;
}

std::unique_ptr<Module> Module::clone() const {
  auto m = std::make_unique<Module>(context_);
  ValueMap map;
  m->op_ = cloneOperation(op_, *m, map);
  return m;
}

Operation *cloneOperation(Operation *op, Module &into, ValueMap &map) {
  OperationState s(op->opcode(), op->loc());
  if (op->opcode() == Opcode::unregistered) s.unregisteredName = op->name();
  for (auto v : op->operands()) s.operands.push_back(map.lookupOrSelf(v));
  s.segments.assign(op->operandSegments().begin(), op->operandSegments().end());
  for (auto r : op->results()) s.resultTypes.push_back(r.type());
  s.attrs.assign(op->attrs().begin(), op->attrs().end());
  for (auto *b : op->successors()) s.successors.push_back(map.lookupOrSelf(b));
  s.numRegions = op->numRegions();
  Operation *copy = into.createOperation(s);
  for (unsigned i = 0; i < op->numResults(); ++i) map.map(op->result(i), copy->result(i));
  // Blocks first, so that branches find their targets; uses of values defined in a later block (legal where that block
  // dominates) are patched after all are cloned.
  for (unsigned i = 0; i < op->numRegions(); ++i) {
    for (auto *b = op->region(i).front(); b; b = b->next()) {
      Block *nb = copy->region(i).addBlock();
      map.map(b, nb);
      for (auto *a : b->args()) map.map(Value(a), nb->addArg(a->type, a->loc));
    }
  }
  for (unsigned i = 0; i < op->numRegions(); ++i) {
    bool several = !op->region(i).hasOneBlock();
    for (auto *b = op->region(i).front(); b; b = b->next())
      for (auto &inner : *b) map.lookupOrSelf(b)->append(cloneOperation(&inner, into, map));
    if (several)
      copy->walk([&](Operation *o) {
        for (unsigned k = 0; k < o->numOperands(); ++k)
          if (Value to = map.lookup(o->operand(k))) o->setOperand(k, to);
      });
  }
  return copy;
}

} // namespace tessera::ir
