// Which loads of a loop run ahead of its multiplications, and how (see pipeline_plan.h; pipeline.cpp tells what
// becomes of it). The loads are those that operands of the body's multiplications are made from. They can run ahead
// if nothing that the body stores may be what they read, and if their addresses and masks are computed from what is
// known an iteration before.
#include "transforms/schedule/pipeline_plan.h"
#include "ir/constants.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/conversion_plan.h"
#include "layouts/dot_operand.h"
#include "layouts/layout_order.h"
#include "layouts/nvmma_shared.h"
#include "transforms/analyses/buffer_readers.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/memory/allocate_shared_memory.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;

namespace {

class PipelinePlanner {
public:
  PipelinePlanner(scf::ForOp loop, int64_t stages, const TargetInfo &target, const AxisInfoAnalysis &axis,
                  std::string &why)
      : loop_(loop), body_(*loop.body().front()), stages_(stages), target_(target), axis_(axis), c_(loop->context()),
        why_(why) {}

  std::optional<PipelinePlan> run() {
    if (!suitable() || !findLoads() || !findProducer() || !readsNoStores()) return std::nullopt;
    plan_.background = target_.asyncCopyAnyDestination && llvm::all_of(plan_.ahead, [&](auto &a) { return copies(a); });
    plan_.distance = plan_.background ? stages_ - 1 : 1;
    if (plan_.background)
      findReaders();
    else if (!worthRegisters())
      return std::nullopt;
    if (!planBuffers()) return std::nullopt;
    plan_.overlapped = plan_.background && onlyAccumulate();
    plan_.blocks = plan_.overlapped && findBlocks();
    if (plan_.background && !plan_.overlapped) plan_.beside = productBesideCopies();
    plan_.readsFirst = plan_.background && !plan_.overlapped && plan_.distance > 1 &&
                       numWarps(loop_->module().op()) <= kFewWarps && fewOperandRegisters();
    return std::move(plan_);
  }

private:
  /// Whether what the buffer holds stays there while the next iteration begins: it is a slot of a ring, or from
  /// before the loop. A buffer that the body fills from registers is filled again by the next iteration, at once.
  bool outlivesIteration(Value buffer) {
    Operation *def = buffer.definingOp();
    while (def && def->block() == &body_ && def->is<ttg::MemdescTransOp>()) def = def->operand(0).definingOp();
    return !def || def->block() != &body_ || llvm::any_of(plan_.ahead, [&](auto &a) { return a.isBuffer(def); });
  }
  /// Whether sums of limited precision are added to the accumulator when the product is done, so that it cannot go on
  /// in the background.
  static bool addsUpAfterwards(ttng::WarpGroupDotOp dot) {
    auto b = dot.b().type().cast<MemDescType>();
    return b.element().bitWidth() == 8 && dot.d().type().scalar().isFloat() && dot.maxNumImpreciseAcc() <= b.dim(0);
  }
  /// Whether the loop carries the product as what the next one adds to, as it is or, under a condition, zeros
  /// instead, and looks at it in branches alone, as at the end of a tile in a loop over tiles: these wait for it by
  /// themselves (insert-wgmma-waits), behind all products.
  bool isOpaque(ttng::WarpGroupDotOp dot) {
    auto behindProducts = [](Operation *at) {
      for (auto *op = at->next(); op; op = op->next())
        if (op->is<ttng::WarpGroupDotOp>()) return false;
      return true;
    };
    Value next = body_.terminator()->operand(dot.c().index() - 1);
    auto select = next.definedBy<arith::SelectOp>();
    bool restarts = select && next != dot.d() && next.hasOneUse() && !select.condition().type().isTensor() &&
                    (isZero(select.trueValue()) || isZero(select.falseValue()));
    if (restarts ? !behindProducts(select.op) : next != dot.d()) return false;
    return llvm::all_of(dot.d().uses(), [&](OpOperand *use) {
      if (use->owner == body_.terminator())
        return !restarts && use->get() == next && body_.terminator()->operand(dot.c().index() - 1) == use->get();
      if (restarts && use->owner == select.op) return true;
      Operation *at = use->owner;
      while (at->block() != &body_) at = at->parentOp();
      return at != use->owner && at->is<scf::IfOp>() && behindProducts(at);
    });
  }
  /// Whether every multiplication is one of warp groups on shared memory that adds to a value of its own that the loop
  /// carries.
  bool onlyAccumulate() {
    for (auto &op : body_) {
      if (op.is<tt::DotOp>()) return false;
      auto dot = op.dyn<ttng::WarpGroupDotOp>();
      if (!dot) continue;
      if (!outlivesIteration(dot.a()) || !outlivesIteration(dot.b())) return false;
      if (!dot.a().type().isa<MemDescType>() || dot.useC() || !dot.c().isBlockArgument() ||
          dot.c().ownerBlock() != &body_ || !dot.c().hasOneUse())
        return false;
      if (dot.c().index() == 0 || !isOpaque(dot)) return false;
      if (addsUpAfterwards(dot)) return false;
    }
    return true;
  }

  /// The product beside which the copies go out. Their addresses and requests keep a warp busy for as long as a
  /// product takes, and one in the background needs nothing from it. The last one, mostly: against copies before the
  /// first, attention with heads of 128 gains 3 % on an H200 and gradients of attention 4 to 7. The first where there
  /// are two and shared memory admits one block, so that no other block multiplies while this one waits for its
  /// operands: 2 %. None where the next iteration needs the copies: they have no time to lose.
  ttng::WarpGroupDotOp productBesideCopies() {
    llvm::SmallVector<ttng::WarpGroupDotOp, 4> products;
    for (auto &op : body_)
      if (auto dot = op.dyn<ttng::WarpGroupDotOp>()) products.push_back(dot);
    if (products.empty() || plan_.distance < 2) return {};
    auto first = products.front(), last = products.back();
    bool startsAtOnce =
        first.a().type().isa<MemDescType>() && outlivesIteration(first.a()) && outlivesIteration(first.b());
    bool oneBlock = 2 * plan_.bytes * plan_.slots > target_.sharedMemoryPerMultiprocessor;
    auto product = products.size() == 2 && oneBlock && startsAtOnce ? first : last;
    return addsUpAfterwards(product) ? ttng::WarpGroupDotOp() : product;
  }

  /// Whether the operands are read by the threads and fit into registers all at once. Then reads come before the
  /// copies that go out in the same iteration: these keep the unit that does both busy for a while, and with few
  /// warps nothing else is there to be multiplied in the meantime.
  bool fewOperandRegisters() {
    int64_t registers = 0;
    for (auto &op : body_) {
      if (op.is<ttng::WarpGroupDotOp>()) return false;
      auto dot = op.dyn<tt::DotOp>();
      if (!dot) continue;
      for (Value v : {dot.a(), dot.b(), dot.d()}) {
        Operation *def = v.definingOp();
        if (v != dot.d() && (!def || !def->is<ttg::LocalLoadOp>() || def->block() != &body_)) return false;
        auto n = elementsPerThread(v.type());
        if (!n) return false;
        registers += registerBits(v.type().scalar(), *n) / 32;
      }
    }
    return registers && registers <= kFewRegisters; // none: the multiplications are in regions of the body
  }
  static constexpr int64_t kFewRegisters = 96, kFewWarps = 2;

  bool no(const llvm::Twine &reason) {
    why_ = reason.str();
    return false;
  }

  /// Whether all that the operation writes in global memory are plain stores; notes these.
  bool onlyStores(Operation *op) {
    if (!(effectsOf(op) & (kWritesGlobal | kSynchronizes))) return true;
    if (auto store = op->dyn<tt::StoreOp>()) {
      stores_.push_back(store);
      return true;
    }
    if (!op->numRegions() || op->info().effects & (kWritesGlobal | kSynchronizes)) return false;
    for (auto &r : op->regions())
      for (auto *b = r.front(); b; b = b->next())
        for (auto &inner : *b)
          if (!onlyStores(&inner)) return false;
    return true;
  }
  /// Whether no load that would run ahead reads what the body stores.
  bool readsNoStores() {
    llvm::SmallVector<tt::LoadOp, 8> early;
    for (auto &a : plan_.ahead) early.push_back(a.load);
    for (auto *op : plan_.producer)
      if (auto load = op->dyn<tt::LoadOp>()) early.push_back(load);
    for (auto store : stores_)
      for (auto load : early)
        if (!reachDifferentMemory(store.ptr(), load.ptr()))
          return no("'tt.store' at " + describe(store->loc()) + " may write what 'tt.load' at " +
                    describe(load->loc()) + " reads");
    return true;
  }

  bool suitable() {
    bool dots = false;
    for (auto &op : body_) dots |= isDot(&op);
    if (!dots) return false;
    if (loop_.unsignedCmp() || !loop_.body().hasOneBlock()) return no("it counts unsigned or has several blocks");
    for (auto &op : body_) {
      if (&op == body_.terminator()) continue;
      if (op.is<scf::ForOp>() || op.is<scf::WhileOp>() || op.is<tt::CallOp>())
        return no("it holds '" + op.name() + "' at " + describe(op.loc()));
      if (!onlyStores(&op))
        return no("'" + op.name() + "' at " + describe(op.loc()) + " writes memory or synchronizes");
      if (op.is<ttg::AsyncCopyGlobalToLocalOp>() || op.is<ttg::AsyncCommitGroupOp>()) return false; // done already
      for (auto &r : op.regions())
        for (auto *b = r.front(); b; b = b->next())
          for (auto &inner : *b)
            if (inner.is<scf::ForOp>() || inner.is<scf::WhileOp>() || inner.is<tt::CallOp>())
              return no("it holds '" + inner.name() + "' at " + describe(inner.loc()));
    }
    return true;
  }

  /// The loads that reach an operand of a multiplication of the body, not through another multiplication.
  bool findLoads() {
    llvm::SetVector<Operation *> found;
    llvm::DenseSet<Operation *> seen;
    llvm::SmallVector<Value, 16> work;
    for (auto &op : body_)
      if (isDot(&op)) work.append({op.operand(0), op.operand(1)});
    while (!work.empty()) {
      Operation *def = work.pop_back_val().definingOp();
      if (!def || def->block() != &body_ || isDot(def) || !seen.insert(def).second) continue;
      if (auto load = def->dyn<tt::LoadOp>()) {
        if (load.ptr().type().isTensor() && !load.isVolatile() &&
            load.ptr().type().scalar().cast<PointerType>().pointee().bitWidth() >= 8)
          found.insert(def);
        continue;
      }
      if (def->numRegions()) continue;
      for (auto v : def->operands()) work.push_back(v);
    }
    for (auto &op : body_) // in the order of the text
      if (found.contains(&op)) {
        AheadLoad a;
        a.load = op.cast<tt::LoadOp>();
        if (a.load.result().hasOneUse())
          if (auto alloc = a.load.result().users()[0]->dyn<ttg::LocalAllocOp>();
              alloc && alloc->block() == &body_ && isOnlyRead(alloc.result()))
            a.alloc = alloc;
        plan_.ahead.push_back(a);
      }
    return !plan_.ahead.empty() || no("no load of the loop feeds a multiplication");
  }

  /// Whether it is a branch that only computes: the next tile's number, say, at the end of one in a loop over all
  /// tiles.
  static bool isPureBranch(Operation *op) {
    bool pure = op->is<scf::IfOp>();
    op->walk([&](Operation *inner) {
      pure &= inner == op || inner->is<scf::YieldOp>() ||
              (isPure(inner) && !inner->numRegions() && !isDot(inner) && !inner->is<ttg::ConvertLayoutOp>() &&
               !inner->is<tt::ReduceOp>() && !inner->is<tt::ScanOp>());
    });
    return pure;
  }

  /// What addresses and masks are made from, around the loop: fills plan_.producer (operations of the body) and
  /// plan_.carried (numbers of the carried values that it needs).
  bool findProducer() {
    while (true) {
      plan_.producer.clear(), plan_.carried.clear();
      llvm::SmallVector<Value, 16> work;
      for (auto &a : plan_.ahead)
        for (auto v : a.load->operands()) work.push_back(v);
      bool again = false;
      while (!work.empty() && !again) {
        Value v = work.pop_back_val();
        if (v.isBlockArgument()) {
          if (v.ownerBlock() == &body_ && v.index() > 0 && plan_.carried.insert(v.index() - 1))
            work.push_back(body_.terminator()->operand(v.index() - 1));
          continue;
        }
        Operation *def = v.definingOp();
        if (def->block() != &body_ || plan_.producer.contains(def)) continue;
        // A load that another load's address needs is done when the address is.
        auto it = llvm::find_if(plan_.ahead, [&](auto &a) { return a.load.op == def; });
        if (it != plan_.ahead.end()) {
          plan_.ahead.erase(it);
          if (plan_.ahead.empty()) return no("each load's address depends on another load");
          again = true;
          break;
        }
        bool load = def->is<tt::LoadOp>() && !def->cast<tt::LoadOp>().isVolatile();
        if ((def->numRegions() && !isPureBranch(def)) || (effectsOf(def) && !load) || isDot(def) ||
            def->is<ttg::LocalAllocOp>())
          return no("an address or mask depends on '" + def->name() + "' at " + describe(def->loc()));
        plan_.producer.insert(def);
        // A branch needs what its operations use, too; values of its own are in other blocks.
        def->walk([&](Operation *op) {
          for (auto o : op->operands()) work.push_back(o);
        });
      }
      if (!again) return true;
    }
  }

  /// Whether a copy in the background can do the load: no value for masked-off elements but zero, pieces of 4 bytes.
  bool copies(const AheadLoad &a) {
    auto load = a.load;
    return (!load.other() || isZero(load.other())) && bytesOfAccess(load) >= 4;
  }

  /// Bytes that one access of a thread brings.
  int64_t bytesOfAccess(tt::LoadOp load) const {
    auto type = tensorOf(load.result());
    int64_t bits = type.element().bitWidth(), best = 1;
    auto layout = type.encoding()->toLinearLayout(type.shape());
    if (!layout.ok()) return bits / 8;
    for (unsigned d = 0; d < type.rank(); ++d) {
      int64_t run = 1;
      for (unsigned bit = 0; bit < layout->inDimBits(Dim::Register); ++bit)
        if (layout->basis(Dim::Register, bit, layouts::tensorDim(d)) == run) run *= 2;
      run = std::min(run, axis_.contiguousElements(load.ptr(), d));
      if (load.mask() && load.mask().type().isTensor()) run = std::min(run, axis_.maskConstancy(load.mask(), d));
      best = std::max(best, run);
    }
    return best * bits / 8;
  }

  /// Whether the threads should carry what the loads bring. Where the target could copy in the background but for
  /// accesses of less than a register, each of these takes a register, an address and a predicate. Assemblers then
  /// bring the loads down to where their values are stored, and nothing is gained: on an H200, products of bf16 with
  /// rows of odd length take 9.7 µs without, and 20.9 µs with 64 such loads in each thread.
  bool worthRegisters() {
    if (!target_.asyncCopyAnyDestination) return true;
    int64_t small = 0;
    for (auto &a : plan_.ahead)
      if (int64_t bytes = bytesOfAccess(a.load); bytes < 4)
        if (auto n = elementsPerThread(tensorOf(a.load.result())))
          small += *n * std::max<int64_t>(1, tensorOf(a.load.result()).element().bitWidth() / 8) /
                   std::max<int64_t>(1, bytes);
    return small < kManySmallLoads ||
           no("threads would carry what " + llvm::Twine(small) + " loads of less than 4 bytes bring");
  }
  static constexpr int64_t kManySmallLoads = 48;

  static bool isReadByFma(Value buffer) {
    return llvm::any_of(buffer.users(), [](Operation *u) {
      if (u->is<ttg::MemdescTransOp>()) return isReadByFma(u->result());
      auto *operand = u->is<ttg::LocalLoadOp>()
                          ? layouts::dynCast<layouts::DotOperandEncoding>(tensorOf(u->result()).encoding())
                          : nullptr;
      return operand && operand->parent()->kind() == layouts::EncodingKind::Blocked;
    });
  }
  /// What reads the slots of copies in the background: what is used in several ways is in shared memory already.
  void findReaders() {
    for (auto &a : plan_.ahead) {
      for (auto *user : a.load.result().users()) {
        if (user->block() != &body_) continue;
        if (auto c = user->dyn<ttg::ConvertLayoutOp>()) a.conversions.push_back(c);
        auto buffer = user->dyn<ttg::LocalAllocOp>();
        if (!buffer || buffer.op == a.alloc.op || buffer.result().type().cast<MemDescType>().isMutable() ||
            !isOnlyRead(buffer.result()))
          continue;
        // By fma, a thread reads more of an operand than it can hold; the barrier behind the buffer's store keeps
        // these reads late.
        if (isReadByFma(buffer.result())) continue;
        if (!a.alloc)
          a.alloc = buffer;
        else if (buffer.result().type() == a.alloc.result().type())
          a.copies.push_back(buffer);
      }
    }
  }

  /// The layout of a slot whose value is read by plain loads. If it comes back to the threads that copied it, rows as
  /// they lie; else one in which both the copies and the reads of the first other layout are free of conflicts, if
  /// that leaves the copies whole, or rows swizzled in pieces of 16 bytes.
  const Encoding *slotLayout(AheadLoad &a) {
    auto type = tensorOf(a.load.result());
    auto layout = type.encoding()->toLinearLayout(type.shape());
    if (!layout.ok()) return nullptr;
    int64_t bytes = std::max<int64_t>(1, type.element().bitWidth() / 8);
    layouts::SwizzledSharedParams p;
    p.order = layouts::orderOf(*layout);
    p.cta = type.encoding()->cta();
    if (!a.conversions.empty() && type.rank() == 2) {
      auto into = tensorOf(a.conversions[0].result()).encoding()->toLinearLayout(type.shape());
      int64_t piece = 1; // what a thread copies at once
      for (unsigned bit = 0;
           bit < layout->inDimBits(Dim::Register) &&
           layout->basis(Dim::Register, bit, layouts::tensorDim(p.order[0])) == piece && piece * bytes < 16;
           ++bit)
        piece *= 2;
      if (into.ok())
        if (auto plan = layouts::planConversion(*layout, *into, type.element().bitWidth(), target_.memoryModel());
            plan.ok() && plan->kind == layouts::ConversionPlan::SharedMemory && plan->writeVector >= piece) {
          layouts::LinearLayout shared = plan->shared;
          if (!shared.hasInDim(Dim::Block)) {
            llvm::SmallVector<layouts::LinearLayout::InDim, 4> ins(shared.ins());
            ins.push_back({Dim::Block, {}});
            shared = layouts::LinearLayout(ins, llvm::SmallVector<layouts::LinearLayout::OutDim, 4>(shared.outs()));
          }
          if (auto e = c_.encodings().getSharedLinear(shared); e.ok()) return *e;
        }
      int64_t rowBytes = type.dim(p.order[0]) * bytes,
              allBanks = int64_t(target_.sharedMemoryBanks) * target_.sharedMemoryBankBytes;
      p.vec = std::max<int64_t>(1, std::min<int64_t>(16 / bytes, type.dim(p.order[0])));
      p.perPhase = std::max<int64_t>(1, allBanks / rowBytes);
      p.maxPhase =
          std::max<int64_t>(1, std::min<int64_t>(std::min<int64_t>(8, std::min(rowBytes, allBanks) / (p.vec * bytes)),
                                                 type.dim(p.order[1]) / p.perPhase));
    }
    auto e = c_.encodings().getSwizzledShared(p);
    return e.ok() ? *e : nullptr;
  }

  /// The buffers' types, and a distance for which they fit.
  bool planBuffers() {
    int64_t one = 0;
    for (auto &a : plan_.ahead) {
      auto type = tensorOf(a.load.result());
      Attribute memory = sharedMemorySpace(c_);
      const Encoding *shared = nullptr;
      if (a.alloc)
        shared = a.alloc.result().type().cast<MemDescType>().encoding();
      else if (plan_.background) {
        shared = slotLayout(a);
        if (!shared) return false;
      } else
        continue;
      a.slot = MemDescType::get(type.shape(), type.element(), shared, memory, true);
      one += type.numElements() * type.element().bitWidth() / 8;
    }
    llvm::SmallVector<Operation *, 4> replaced;
    for (auto &a : plan_.ahead)
      for (auto &op : body_)
        if (a.isBuffer(&op)) replaced.push_back(&op);
    int64_t room = target_.sharedMemoryPerBlock - sharedBytesDuring(loop_.op, replaced, target_);
    plan_.bytes = one;
    if (plan_.background) {
      while (plan_.distance > 0 && (plan_.distance + 1) * one > room) --plan_.distance;
      plan_.slots = plan_.distance + 1;
      return plan_.distance > 0 ||
             no(llvm::formatv("two slots of {0} bytes do not fit into the {1} bytes of shared memory that are left",
                              one, room)
                    .str());
    }
    plan_.slots = 2 * one <= room && 2 * one <= target_.sharedMemoryPerBlock / 2 ? 2 : 1;
    return one <= room ||
           no(llvm::formatv("a slot of {0} bytes does not fit into the {1} bytes of shared memory that are left", one,
                            room)
                  .str());
  }

  // ---- blocks of tensors ----

  /// The outermost loop that this one is in; null where it is in none, or in other regions than loops'.
  Operation *outermost() {
    Operation *op = loop_.op;
    while (op->parentOp()->is<scf::ForOp>()) op = op->parentOp();
    return op != loop_.op && op->parentOp()->is<tt::FuncOp>() && op->parentRegion()->hasOneBlock() ? op : nullptr;
  }
  static bool definedBefore(Value v, Operation *op) {
    if (v.isBlockArgument()) return v.ownerBlock() == op->block();
    return v.definingOp()->block() == op->block() && v.definingOp()->isBeforeInBlock(op);
  }
  /// Whether all loads are blocks that the target can copy whole.
  bool findBlocks() {
    plan_.outermost = outermost();
    if (!target_.hasTensorCopy || !plan_.outermost || numCtas(loop_->module().op()) != 1 || plan_.slots < 2)
      return false;
    for (auto &a : plan_.ahead) {
      auto *shared =
          a.alloc
              ? layouts::dynCast<layouts::NvmmaSharedEncoding>(a.alloc.result().type().cast<MemDescType>().encoding())
              : nullptr;
      auto block = a.load->hasAttr(kFromDescriptorAttr) ? tensorBlock(a.load, axis_) : std::nullopt;
      if (!shared || !block || !a.copies.empty() || !a.conversions.empty() || !a.load.result().hasOneUse())
        return false;
      auto &p = shared->params();
      auto type = tensorOf(a.load.result());
      int64_t bytes = type.element().bitWidth() / 8;
      if (p.transposed || p.fp4Padded || !p.swizzlingByteWidth || !p.cta.isTrivial() ||
          tensormapElementType(type.element()) < 0 || !shared->copyBox(type.shape()).ok())
        return false;
      for (Value v : {block->base, block->stride, block->size[0], block->size[1]})
        if (!definedBefore(v, plan_.outermost)) return false;
      if (block->base.type().cast<PointerType>().pointee() != type.element()) return false;
      // Addresses and strides are multiples of 16 bytes.
      if (axis_.get(block->base).divisibility[0] % 16 || axis_.get(block->stride).divisibility[0] * bytes % 16)
        return false;
      a.block = *block;
    }
    return true;
  }

  scf::ForOp loop_;
  Block &body_;
  int64_t stages_;
  const TargetInfo &target_;
  const AxisInfoAnalysis &axis_;
  Context &c_;
  std::string &why_;
  PipelinePlan plan_;
  llvm::SmallVector<tt::StoreOp, 4> stores_; // of the body
};

} // namespace

int tensormapElementType(Type t) {
  if (t.isFloat()) {
    switch (t.cast<FloatType>().floatKind()) {
    case FloatKind::F16: return 6;
    case FloatKind::BF16: return 10;
    case FloatKind::F32: return 7;
    default: break;
    }
  }
  return t.bitWidth() == 8 ? 0 : -1;
}

std::optional<PipelinePlan> planPipeline(scf::ForOp loop, int64_t stages, const TargetInfo &target,
                                         const AxisInfoAnalysis &axis, std::string &why) {
  return PipelinePlanner(loop, stages, target, axis, why).run();
}

} // namespace tessera::transforms
