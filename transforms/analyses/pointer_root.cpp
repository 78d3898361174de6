// Where a pointer comes from, by following its definitions.
#include "transforms/analyses/pointer_root.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/partitions.h"

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr int kMaxSteps = 1000; // of definitions that are followed
constexpr int kMaxLoops = 16;   // around a value

/// `visiting`: arguments of loops whose yielded values are being followed. Each is its own root here.
Value rootOf(Value v, llvm::SmallVectorImpl<Value> &visiting) {
  for (int steps = 0; steps < kMaxSteps; ++steps) {
    if (Operation *def = v.definingOp()) {
      bool samePointers = def->is<tt::SplatOp>() || def->is<tt::BroadcastOp>() || def->is<tt::ExpandDimsOp>() ||
                          def->is<tt::ReshapeOp>() || def->is<tt::TransOp>() || def->is<tt::BitcastOp>() ||
                          def->is<ttg::ConvertLayoutOp>();
      if (auto add = def->dyn<tt::AddptrOp>())
        v = add.ptr();
      else if (auto make = def->dyn<tt::MakeTensorDescriptorOp>())
        v = make.base();
      else if (samePointers)
        v = UnaryOp(def).value();
      else if (auto value = carriedByResult(v))
        v = value->argument;
      else
        return v;
      continue;
    }
    if (Value capture = captureOf(v)) {
      v = capture;
      continue;
    }
    auto value = carriedByArgument(v);
    if (!value || llvm::is_contained(visiting, v) || visiting.size() == kMaxLoops) return v;
    // The yielded pointer must have the same root: a loop may exchange two pointers.
    visiting.push_back(v);
    Value yielded = rootOf(value->yielded, visiting);
    bool same = yielded == v || yielded == rootOf(value->init, visiting);
    visiting.pop_back();
    if (!same) return v;
    v = value->init;
  }
  return v;
}

} // namespace

Value pointerRoot(Value v) {
  llvm::SmallVector<Value, 4> visiting;
  return rootOf(v, visiting);
}

Value memoryArgument(Value v) {
  v = pointerRoot(v);
  if (!v.isBlockArgument()) return {};
  auto func = v.ownerBlock()->parentOp() ? v.ownerBlock()->parentOp()->dyn<tt::FuncOp>() : tt::FuncOp();
  return func && v.ownerBlock() == func.body().front() && func.symVisibility() != "private" ? v : Value();
}

bool reachDifferentMemory(Value a, Value b) {
  Value from = memoryArgument(a), other = memoryArgument(b);
  return from && other && from != other;
}

/// The argument from whose memory the pointer is loaded, as it is or as an integer.
static Value tableOf(Value pointer) {
  Value root = pointerRoot(pointer);
  if (auto cast = root.definedBy<tt::IntToPtrOp>()) root = cast.src();
  auto load = root.definedBy<tt::LoadOp>();
  return load ? memoryArgument(load.ptr()) : Value();
}

GlobalAccesses::Access GlobalAccesses::accessThrough(Value pointer) {
  Access a{memoryArgument(pointer), tableOf(pointer), !pointer.type().scalar().isPointer(), {}};
  if (auto type = pointer.type().dyn_cast<TensorType>()) a.shape.assign(type.shape().begin(), type.shape().end());
  return a;
}

GlobalAccesses::GlobalAccesses(Module &m) {
  m.op()->walk([&](Operation *op) {
    // Barriers order accesses and assumptions have an effect, but neither accesses memory.
    bool accesses = !op->numRegions() && !op->is<gpu::BarrierOp>() && !op->is<ttg::BarrierOp>() &&
                    !op->is<llvm_dialect::IntrAssumeOp>();
    uint8_t effects = accesses ? effectsOf(op) : 0;
    if (!(effects & (kReadsGlobal | kWritesGlobal))) return;
    Accesses reached;
    if (!op->is<tt::CallOp>())
      for (auto v : op->operands())
        if (v.type().scalar().isPointer() || v.type().isa<TensorDescType>()) reached.push_back(accessThrough(v));
    if (reached.empty()) reached.push_back({});
    if (effects & kReadsGlobal) reads_.append(reached);
    if (effects & kWritesGlobal) writes_.append(reached);
  });
}

size_t GlobalAccesses::reaching(const Accesses &accesses, Value pointer, Match match) {
  Access to = accessThrough(pointer);
  return llvm::count_if(accesses, [&](const Access &a) {
    bool sameMemory = !a.argument || !to.argument || a.argument == to.argument;
    if (match == Match::Memory || !sameMemory) return sameMemory;
    bool sameShape = a.anyShape || a.shape == to.shape;
    bool haveOrigins = (a.argument || a.table) && (to.argument || to.table);
    bool sameOrigin = !haveOrigins || (a.argument == to.argument && a.table == to.table);
    return sameShape && sameOrigin;
  });
}

bool hasSmallRange(Value argument) {
  if (!argument.isBlockArgument()) return false;
  Operation *func = argument.ownerBlock()->parentOp();
  if (!func || !func->is<tt::FuncOp>() || argument.ownerBlock() != func->region(0).front()) return false;
  auto attrs = func->attr<ArrayAttr>("arg_attrs");
  auto ofArgument =
      attrs && argument.index() < attrs.size() ? attrs[argument.index()].dyn_cast<DictionaryAttr>() : DictionaryAttr();
  auto range = ofArgument ? ofArgument.get("tt.pointer_range") : Attribute();
  auto bits = range ? range.dyn_cast<IntegerAttr>() : IntegerAttr();
  return bits && bits.sext() == 32;
}

Value smallBuffer(Value pointer) {
  auto sum = pointer.definedBy<tt::AddptrOp>();
  if (!sum || !sum.offset().type().scalar().isInteger(32)) return {};
  Value base = sum.ptr();
  if (auto splat = base.definedBy<tt::SplatOp>()) base = splat.src();
  if (base.type().isTensor()) return {};
  auto cast = base.definedBy<tt::BitcastOp>();
  return hasSmallRange(cast ? cast.src() : base) ? base : Value();
}

bool hasNonNegativeOffset(Value pointer) { return bool(pointer.definingOp()->attr(kNonNegativeOffsetAttr)); }

} // namespace tessera::transforms
