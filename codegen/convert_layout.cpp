// Lowering of ttg.convert_layout by its plan (layouts/conversion_plan.h): registers are renamed, exchanged by shuffles
// within the warp, or go through shared memory under the plan's layout: every thread that owns an element stores it, one
// barrier, every thread reads what it needs.
#include "codegen/lowering.h"
#include "codegen/shared_access.h"
#include "codegen/target.h"
#include "ir/ops.h"
#include "layouts/conversion_plan.h"

namespace tessera::codegen {
using namespace ir;
using layouts::ConversionPlan;
using layouts::Dim;

bool convertElements(Operation *op, FunctionLowering &fl, const Elements &values, Type type, const layouts::LinearLayout &src, const layouts::LinearLayout &dst, Elements &out) {
  auto &b = fl.b;
  auto &info = fl.target.info();
  auto plan = layouts::planConversion(src, dst, type.scalar().bitWidth(), {info.sharedMemoryBanks, info.sharedMemoryBankBytes, info.maxSharedAccessBytes});
  if (!plan.ok()) return fl.error(op, llvm::StringRef(plan.status().message().data(), plan.status().message().size()));
  switch (plan->kind) {
  case ConversionPlan::None: out = values; break;
  case ConversionPlan::RegisterPermutation:
    for (auto r : plan->sourceRegister) out.push_back(values[r]);
    break;
  case ConversionPlan::WarpShuffle: {
    // Source lane: this lane's part (which may depend on its warp) xor the register's constant.
    llvm::Value *own = fl.applyLayout(plan->sourceOf, {{Dim::Lane, fl.laneId()}, {Dim::Warp, fl.warpId()}})[plan->sourceOf.outIndex(Dim::Lane)];
    for (unsigned r = 0; r < plan->sourceRegister.size(); ++r) {
      llvm::Value *lane = plan->sourceLaneConstant[r] ? b.CreateXor(own, fl.i32(plan->sourceLaneConstant[r])) : own;
      out.push_back(shuffleIndex(b, fl.target, values[plan->sourceRegister[r]], lane));
    }
    break;
  }
  case ConversionPlan::SharedMemory: {
    llvm::Type *element = fl.elementType(type);
    llvm::Value *base = fl.scratch(op);
    SharedAccess(src, plan->shared, element, fl).store(base, values, fl.isRepresentative(src));
    fl.target.barrier(b);
    out = SharedAccess(dst, plan->shared, element, fl).load(base, element);
  }
  }
  return true;
}

bool lowerConvertLayout(Operation *op, FunctionLowering &fl) {
  auto convert = op->cast<ttg::ConvertLayoutOp>();
  Elements out;
  if (!convertElements(op, fl, fl.get(convert.src()), convert.src().type(), fl.layout(convert.src().type()), fl.layout(convert.result().type()), out)) return false;
  fl.set(convert.result(), std::move(out));
  return true;
}

} // namespace tessera::codegen
