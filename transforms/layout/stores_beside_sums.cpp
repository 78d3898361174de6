// Vectors that are loaded beside sums of rows (see stores_beside_sums.h). In a step of a selective scan
//
//   %s = "tt.reduce"(%state) : tensor<64xf32, #ttg.slice<{dim = 1, parent = #tile}>>
//   %c = ttg.convert_layout %s : #ttg.slice<…> -> #vector
//   %x = tt.load %px : #vector                                  %x = tt.load %px : #ttg.slice<…>
//   %y = arith.addf %c, %x : #vector                       →    %y = arith.addf %s, %x : #ttg.slice<…>
//   tt.store %py, %y : #vector                                  tt.store %py, %y : #ttg.slice<…>
//
// the sums pass shared memory in each iteration, since the vectors beside them have a layout of their own. Loads of few
// elements may as well be done in the layout of the sums, where several lanes have the same row: they load it together,
// without the barriers and the latency of the conversion. The moves of remove-layout-conversions do not take the
// conversion past the addition, whose operands are equally expensive, and conversion slices begin at a conversion, of
// which there is none behind it. So this tries one for the operands of the store, and keeps it if its slice gains more
// than the conversions that were added for it cost.
#include "transforms/layout/stores_beside_sums.h"
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/layout/conversion_slices.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/store_layout.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

/// The layouts from which values of the block are converted that `v` is computed from element by element.
static llvm::SmallSetVector<const Encoding *, 4> layoutsBeforeConversions(Value v, Block *block) {
  constexpr unsigned kMaxValues = 64; // bounds the compile time
  llvm::SmallSetVector<const Encoding *, 4> layouts;
  llvm::SmallSetVector<Value, 16> values;
  values.insert(v);
  for (unsigned i = 0; i < values.size() && values.size() < kMaxValues; ++i) {
    Operation *op = values[i].definingOp();
    if (!op || op->block() != block) continue;
    if (auto c = op->dyn<ttg::ConvertLayoutOp>()) layouts.insert(encodingOf(c.src()));
    if ((!isElementwise(op) && !op->is<arith::SelectOp>()) || !isPure(op)) continue;
    for (Value o : op->operands())
      if (o.type().isTensor()) values.insert(o);
  }
  return layouts;
}

/// Does the store in layout `e`, if what it stores is computed there at a gain.
static bool storeIn(Module &m, tt::StoreOp store, const Encoding *e, const Tuning &tuning, bool asyncCopies) {
  Builder b(store.op);
  auto before = store->operands().vec();
  llvm::SmallVector<ttg::ConvertLayoutOp, 3> conversions;
  for (unsigned i = 0; i < before.size(); ++i) {
    if (!before[i].type().isTensor()) continue;
    Value converted = inLayout(b, store->loc(), before[i], e);
    store->setOperand(i, converted);
    conversions.push_back(converted.definedBy<ttg::ConvertLayoutOp>());
  }
  if (recomputeForNewUse(m, conversions, tuning, asyncCopies)) return true;
  for (unsigned i = 0; i < before.size(); ++i) store->setOperand(i, before[i]);
  for (auto c : conversions) c->erase();
  return false;
}

bool storeBesideSums(Module &m, const Tuning &tuning, int64_t accessBytes, bool asyncCopies) {
  GlobalAccesses memory(m);
  bool changed = false;
  for (auto store : collect<tt::StoreOp>(m.op())) {
    auto type = tensorOrNull(store.value());
    auto *now = type ? layouts::dynCast<layouts::BlockedEncoding>(type.encoding()) : nullptr;
    if (!now || !store.ptr().type().isTensor() || memory.isShared(store.ptr())) continue;
    for (const Encoding *e : layoutsBeforeConversions(store.value(), store->block())) {
      bool isOfRows = e != now && e->kind() == layouts::EncodingKind::Slice;
      if (!isOfRows || !storesAsWell(store, now, e, accessBytes, tuning)) continue;
      if (!storeIn(m, store, e, tuning, asyncCopies)) continue;
      changed = true;
      break;
    }
  }
  return changed;
}

} // namespace tessera::transforms
