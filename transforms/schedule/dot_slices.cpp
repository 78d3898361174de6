// Dots in slices along K (see dot_slices.h). Part of tritongpu-pipeline.
#include "transforms/schedule/dot_slices.h"
#include "ir/attribute_names.h"
#include "ir/tensor_queries.h"
#include "layouts/nvidia_mma.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr unsigned kAlongKOfA = 1, kAlongKOfB = 0;

/// Whether all columns of the tensor are equal, so that each slice of it is made as the whole.
bool hasEqualColumns(Operation *op) {
  if (op->is<tt::BroadcastOp>()) return tensorOf(op->operand(0)).dim(kAlongKOfA) == 1;
  return makesAnyLayout(op) && !op->is<tt::MakeRangeOp>();
}

/// A copy of an operation on tensors of `columns` columns.
void cloneForSlice(Builder &b, Operation *op, ValueMap &map, int64_t columns) {
  auto type = tensorOf(op->result());
  auto part = TensorType::get({type.dim(0), columns}, type.element(), type.encoding());
  if (op->is<arith::ConstantOp>()) {
    auto whole = op->attr<DenseElementsAttr>("value");
    map.map(op->result(), b.constant(op->loc(), part, DenseElementsAttr::get(part, {whole.splat()})));
    return;
  }
  b.clone(op, map)->result().setType(part);
}

} // namespace

bool SlicedDot::replaces(Operation *op) const {
  bool isOfConversion = llvm::is_contained(conversion, op) && !hasEqualColumns(op);
  return op == dot.op || op == read.op || isOfConversion;
}

std::optional<SlicedDot> sliceAlongK(ttng::WarpGroupDotOp dot) {
  auto type = dot.a().type().dyn_cast<TensorType>();
  auto *mma = layouts::dynCast<layouts::NvidiaMmaEncoding>(tensorOf(dot.d()).encoding());
  if (!type || !mma) return std::nullopt;
  int64_t columns = layouts::kWgmmaBitsAlongK / type.element().bitWidth();
  SlicedDot sliced{dot, {}, {}, type.dim(kAlongKOfA) / columns};
  if (sliced.slices < 2) return std::nullopt;
  llvm::SetVector<Operation *> conversion;
  llvm::SmallVector<Value, 8> work{dot.a()};
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (!v.type().isTensor()) continue; // the condition of a select
    Operation *op = v.definingOp();
    if (!op || tensorOf(v).rank() != 2) return std::nullopt;
    if (auto read = op->dyn<ttg::LocalLoadOp>(); read && op->block() == dot->block()) {
      if (sliced.read && sliced.read.op != op) return std::nullopt;
      sliced.read = read;
    } else if (hasEqualColumns(op)) {
      conversion.insert(op);
    } else if ((isElementwise(op) || op->is<arith::SelectOp>()) && isPure(op) && op->block() == dot->block()) {
      if (conversion.insert(op)) work.append(op->operands().begin(), op->operands().end());
    } else {
      return std::nullopt;
    }
  }
  if (!sliced.read) return std::nullopt;
  auto isOfConversion = [&](Operation *user) { return user == dot.op || conversion.contains(user); };
  if (!llvm::all_of(sliced.read.result().users(), isOfConversion)) return std::nullopt;
  // Values with other users would be computed twice.
  for (auto *op : conversion)
    if (!hasEqualColumns(op) && !llvm::all_of(op->result().users(), isOfConversion)) return std::nullopt;
  // The search found users before what they use; it may have found a value again later.
  for (auto *op : conversion)
    if (op->block() != dot->block()) sliced.conversion.push_back(op);
  for (auto &op : *dot->block())
    if (conversion.contains(&op)) sliced.conversion.push_back(&op);
  return sliced;
}

Value partOfBuffer(Builder &b, Location loc, Value buffer, unsigned dim, int64_t from, int64_t size) {
  auto type = buffer.type().cast<MemDescType>();
  llvm::SmallVector<int64_t, 2> shape(type.shape()), offsets(type.rank(), 0);
  shape[dim] = size;
  offsets[dim] = from;
  auto part =
      MemDescType::get(shape, type.element(), type.encoding(), type.memorySpace(), type.isMutable(), type.allocShape());
  return ttg::MemdescSubsliceOp::create(b, loc, part, buffer, {b.denseI32Attr("offsets", offsets)}).result();
}

Value emitSlices(Builder &b, const SlicedDot &sliced, ValueMap map, Value token) {
  auto dot = sliced.dot;
  Location loc = dot->loc();
  auto raw = tensorOf(sliced.read.result());
  int64_t columns = raw.dim(kAlongKOfA) / sliced.slices;
  Value buffer = map.lookupOrSelf(sliced.read.src());
  Value accumulator = map.lookupOrSelf(dot.c()), rightOperand = map.lookupOrSelf(dot.b());
  auto read = [&](int64_t from) {
    Value part = partOfBuffer(b, loc, buffer, kAlongKOfA, from, columns);
    auto type = TensorType::get({raw.dim(0), columns}, raw.element(), raw.encoding());
    return ttg::LocalLoadOp::create(b, sliced.read->loc(), type, part, token).result();
  };
  Value next = read(0);
  for (int64_t from = 0; from < raw.dim(kAlongKOfA); from += columns) {
    map.map(sliced.read.result(), next);
    if (from + columns < raw.dim(kAlongKOfA)) next = read(from + columns);
    for (auto *op : sliced.conversion) cloneForSlice(b, op, map, columns);
    Value rows = partOfBuffer(b, loc, rightOperand, kAlongKOfB, from, columns);
    auto slice =
        ttng::WarpGroupDotOp::create(b, loc, map.lookupOrSelf(dot.a()), rows, accumulator, Value(), dot->attrs());
    slice->setAttr(kIsAsyncAttr, IntegerAttr::getBool(b.context(), true));
    accumulator = slice.d();
  }
  return accumulator;
}

} // namespace tessera::transforms
