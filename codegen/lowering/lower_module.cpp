// A module's functions, each declared and then lowered (what codegen/lowering/lowering.h promises).
//
// A kernel becomes a function of its arguments in order and two pointers (global scratch, profile scratch); a function
// that stays a call becomes an internal function whose tensors are passed element by element, with the same two
// pointers and the base of its shared memory at the end.
#include "codegen/address_spaces.h"
#include "codegen/attribute_names.h"
#include "codegen/lowering/debug_info.h"
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/attribute_names.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/partitions.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/register_pressure.h"
#include "transforms/memory/tensor_memory.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace tessera::codegen {
using namespace ir;
using layouts::Dim;

/// Whether the value is reduced element by element as it is made: it is not held as a whole. (The result of the
/// reduction counts for itself, where the elements of a thread are not what is combined.)
static bool isReducedAtOnce(Value v, llvm::DenseMap<Value, bool> &known) {
  auto [at, isNew] = known.try_emplace(v, true);
  if (!isNew) return at->second;
  bool is = llvm::all_of(v.users(), [&](Operation *user) {
    if (user->is<tt::ReduceOp>()) return true;
    bool isByElement = user->is<tt::ReshapeOp>() || (user->info().has(kElementwise) && isPure(user));
    return isByElement && user->numResults() == 1 && isReducedAtOnce(user->result(), known);
  });
  return known[v] = is;
}

/// 32-bit registers that the largest tensor of a function takes in a thread; pointers, which are mostly one base and
/// constants, do not count, nor do operands of dots by fma, which are loaded where they are multiplied (dot.cpp): those
/// whose parent is a blocked layout, the only one without a matrix instruction. Where the scheduler takes limits,
/// indices and what is reduced as it is made do not count either.
static unsigned widestTensor(Operation *function, FunctionLowering &fl) {
  unsigned widest = 0;
  llvm::DenseMap<Value, bool> reduced;
  function->walk([&](Operation *op) {
    for (auto r : op->results())
      if (r.type().isTensor() && r.type().cast<TensorType>().encoding()) {
        auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(r.type().cast<TensorType>().encoding());
        if (fl.target.info().hasScheduleBarriers && operand &&
            operand->parent()->kind() == layouts::EncodingKind::Blocked && op->is<ttg::LocalLoadOp>())
          continue;
        bool isComputedAtUse = !transforms::registersOf(r) || isReducedAtOnce(r, reduced);
        if (fl.target.info().hasScheduleBarriers && isComputedAtUse) continue;
        unsigned bits = r.type().scalar().isPointer() ? 0 : std::max(8u, unsigned(r.type().scalar().bitWidth()));
        widest = std::max<unsigned>(widest, fl.layout(r.type()).inDimSize(Dim::Register) * bits / 32);
      }
  });
  return widest;
}

/// "argument 5 ('a')": with its name in the source if its location has it, since Triton flattens descriptors.
static std::string argumentName(tt::FuncOp f, unsigned i) {
  Location loc = f.body().front()->args()[i]->loc;
  return "argument " + std::to_string(i) +
         (loc.kind() == LocationKind::Name ? " ('" + loc.name().str() + "')" : std::string());
}

class ModuleLowering {
public:
  ModuleLowering(ir::Module &module, const Target &target, llvm::LLVMContext &context, const LoweringOptions &options,
                 DiagnosticEngine &diag)
      : module_(module), target_(target), options_(options), diag_(diag), b_(context),
        out_(std::make_unique<llvm::Module>("tessera", context)) {
    if (options.lineInfo) debug_ = std::make_unique<DebugInfo>(*out_, module.op()->loc());
  }

  std::unique_ptr<llvm::Module> run() {
    llvm::SmallVector<tt::FuncOp, 4> functions;
    for (Operation &op : *module_.body()) {
      if (auto f = op.dyn<tt::FuncOp>()) {
        if (!f.body().empty()) functions.push_back(f);
        continue;
      }
      diag_.error(op.loc(), "'" + op.name() + "' cannot stand in a module that is lowered");
      return nullptr;
    }
    for (auto f : functions) specialized_ |= specializesWarps(f);
    for (auto f : functions)
      if (!declare(f)) return nullptr;
    transforms::AxisInfoAnalysis axisInfo(module_);
    std::optional<transforms::AxisInfoAnalysis> proved;
    if (statesContiguity())
      proved.emplace(module_, transforms::AssumedArguments(), transforms::StatedContiguity::IsLeftOut);
    transforms::GlobalAccesses accesses(module_);
    for (auto f : functions)
      if (!lower(f, axisInfo, proved ? &*proved : nullptr, accesses)) return nullptr;
    if (debug_) debug_->finalize();
    return std::move(out_);
  }

private:
  static bool isKernel(tt::FuncOp f) { return f.symVisibility() != "private"; }

  /// Whether an operation or an argument has the attribute by which kernels state contiguity.
  bool statesContiguity() {
    bool states = false;
    module_.op()->walk([&](Operation *op) {
      states |= bool(op->attr(kContiguityAttr));
      auto arguments = op->attr<ArrayAttr>("arg_attrs");
      for (unsigned i = 0; arguments && i < arguments.size(); ++i)
        if (auto d = arguments[i].dyn_cast<DictionaryAttr>()) states |= bool(d.get(kContiguityAttr));
    });
    return states;
  }

  /// What is known of a function before it is lowered.
  FunctionContext contextOf(tt::FuncOp f) {
    Operation *m = module_.op();
    auto ownWarps = f->attr<IntegerAttr>(kNumWarpsAttr);
    FunctionContext c;
    c.warpSize = threadsPerWarp(m);
    c.numWarps = ownWarps ? ownWarps.sext() : numWarps(m);
    c.numCtas = numCtas(m);
    // The barrier of the kernel's own warps, which alone call functions.
    if (specialized_) c.barrier = FunctionLowering::kOwnBarrier;
    c.function = functions_.lookup(f.symName());
    c.functions = &functions_;
    c.debug = debug_.get();
    return c;
  }

  /// The LLVM types of a function's parameters and results.
  struct Signature {
    llvm::SmallVector<llvm::Type *, 16> params, results;
    llvm::SmallVector<unsigned, 4> tensorMaps; // parameters of a kernel
  };

  bool declare(tt::FuncOp f) {
    FunctionLowering fl(b_, target_, diag_, options_, contextOf(f));
    bool kernel = isKernel(f);
    Signature types;
    if (!addParameters(f, fl, types) || !addResults(f, fl, types)) return false;
    llvm::Type *result = types.results.empty() ? b_.getVoidTy() : llvm::StructType::get(b_.getContext(), types.results);
    auto *fn = llvm::Function::Create(llvm::FunctionType::get(result, types.params, false),
                                      kernel ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
                                      f.symName(), *out_);
    fn->setDoesNotThrow();
    if (kernel) {
      addKernelAttributes(f, fl, types, *fn);
    } else {
      fn->addFnAttr(llvm::Attribute::NoInline);
      fn->addFnAttr(llvm::Attribute::Convergent);
    }
    alignPointers(f, fl, *fn);
    functions_[f.symName()] = fn;
    return true;
  }

  bool addParameters(tt::FuncOp f, FunctionLowering &fl, Signature &out) {
    auto type = f.functionType().cast<FunctionType>();
    bool kernel = isKernel(f);
    for (unsigned i = 0; i < type.numInputs(); ++i) {
      auto types = fl.elementTypes(type.input(i));
      if (kernel && type.input(i).isa<TensorDescType>()) {
        if (!target_.info().hasTensorCopy) {
          diag_.error(f.loc(), argumentName(f, i) + " of '" + f.symName() + "' is the description of a tensor, and " +
                                   target_.info().name + " has no bulk copies of tensors");
          return false;
        }
        out.tensorMaps.push_back(out.params.size());
      }
      if (llvm::is_contained(types, nullptr) || (kernel && (type.input(i).isTensor() || types.size() != 1))) {
        diag_.error(f.loc(), argumentName(f, i) + " of '" + f.symName() + "' has type " + type.input(i).str() +
                                 ", which " + (kernel ? "a kernel" : "a function") + " cannot take");
        return false;
      }
      out.params.append(types.begin(), types.end());
    }
    out.params.append(2, b_.getPtrTy(kGlobalSpace));
    if (!kernel) out.params.push_back(b_.getPtrTy(kSharedSpace));
    return true;
  }

  bool addResults(tt::FuncOp f, FunctionLowering &fl, Signature &out) {
    auto type = f.functionType().cast<FunctionType>();
    bool kernel = isKernel(f);
    for (unsigned i = 0; i < type.numResults(); ++i) {
      auto types = fl.elementTypes(type.result(i));
      if (kernel || llvm::is_contained(types, nullptr)) {
        diag_.error(f.loc(), "'" + f.symName() + "' cannot return " + type.result(i).str() +
                                 (kernel ? ": it is public, so it is a kernel" : ""));
        return false;
      }
      out.results.append(types.begin(), types.end());
    }
    return true;
  }

  void addKernelAttributes(tt::FuncOp f, FunctionLowering &fl, const Signature &types, llvm::Function &fn) {
    // A launch passes bits, never poison. This spares LLVM a search whenever it must know that a value is not poison,
    // as strength reduction does for every pair of candidates.
    for (llvm::Argument &a : fn.args()) a.addAttr(llvm::Attribute::NoUndef);
    for (unsigned i : types.tensorMaps) target_.tensorMapArgument(*fn.getArg(i));
    target_.kernelAttributes(fn, unsigned(fl.warpSize() * totalNumWarps(module_.op())), fl.numCtas(),
                             moduleInt(module_.op(), kMaxRegistersAttr, 0), widestTensor(f.op, fl));
    if (target_.info().takesOccupancyHint)
      fn.addFnAttr(kSharedBytes, std::to_string(moduleInt(module_.op(), kSharedAttr, 0)));
  }

  /// Divisibility of pointers is alignment.
  void alignPointers(tt::FuncOp f, FunctionLowering &fl, llvm::Function &fn) {
    constexpr uint64_t kLargest = 4096;
    auto type = f.functionType().cast<FunctionType>();
    unsigned at = 0;
    for (unsigned i = 0; i < type.numInputs(); ++i) {
      std::optional<uint64_t> bytes = type.input(i).isPointer() ? divisibilityOf(f, i) : std::nullopt;
      if (bytes && llvm::isPowerOf2_64(*bytes) && *bytes <= kLargest)
        fn.addParamAttr(at, llvm::Attribute::getWithAlignment(b_.getContext(), llvm::Align(*bytes)));
      at += fl.numElements(type.input(i));
    }
  }

  /// The divisibility that a function's argument states.
  static std::optional<uint64_t> divisibilityOf(tt::FuncOp f, unsigned argument) {
    auto list = f.argAttrs() ? f.argAttrs().dyn_cast<ArrayAttr>() : ArrayAttr();
    if (!list || argument >= list.size()) return std::nullopt;
    auto attributes = list[argument].dyn_cast<DictionaryAttr>();
    Attribute stated = attributes ? attributes.get(kDivisibilityAttr) : Attribute();
    auto number = stated ? stated.dyn_cast<IntegerAttr>() : IntegerAttr();
    return number ? std::optional<uint64_t>(number.zext()) : std::nullopt;
  }

  bool lower(tt::FuncOp f, const transforms::AxisInfoAnalysis &axisInfo, const transforms::AxisInfoAnalysis *proved,
             const transforms::GlobalAccesses &accesses) {
    FunctionContext context = contextOf(f);
    context.axisInfo = &axisInfo;
    context.provedAxisInfo = proved;
    context.globalAccesses = &accesses;
    FunctionLowering fl(b_, target_, diag_, options_, context);
    llvm::Function *function = context.function;
    if (debug_) debug_->enter(*function, f.loc());
    auto *prologue = llvm::BasicBlock::Create(b_.getContext(), "entry", function);
    auto *body = llvm::BasicBlock::Create(b_.getContext(), "body", function);
    b_.SetCurrentDebugLocation({});
    if (specializesWarps(f)) {
      auto *main = llvm::BasicBlock::Create(b_.getContext(), "main", function, body);
      fl.beginSpecialized(f, prologue, main);
      prologue = main;
    }
    b_.SetInsertPoint(prologue);
    // What the lowering itself computes may be fused as well; device libraries decide for themselves.
    llvm::FastMathFlags flags;
    flags.setAllowContract(options_.fpFusion);
    b_.setFastMathFlags(flags);
    fl.setPrologueEnd(b_.CreateBr(body));
    b_.SetInsertPoint(body);

    auto arg = function->arg_begin();
    for (auto *a : f.body().front()->args()) {
      Elements e;
      for (unsigned i = 0, n = fl.numElements(a->type); i < n; ++i) e.push_back(&*arg++);
      if (a->loc.kind() == LocationKind::Name && e.size() == 1) e[0]->setName(a->loc.name());
      fl.set(Value(a), std::move(e));
    }
    FunctionLowering::HiddenArguments hidden;
    hidden.globalScratch = &*arg++;
    hidden.profileScratch = &*arg++;
    if (isKernel(f))
      hidden.globalScratchBytes = moduleInt(module_.op(), kGlobalScratchSizeAttr, 0);
    else
      hidden.shared = &*arg++;
    fl.setHiddenArguments(hidden);

    int64_t tensorMemory = moduleInt(module_.op(), transforms::kTensorMemorySizeAttr, 0);
    bool usesTensorMemory = false; // the module's number of columns is that of the kernel that has most
    f.op->walk([&](Operation *op) { usesTensorMemory |= op->is<ttng::TmemAllocOp>(); });
    if (tensorMemory && usesTensorMemory && isKernel(f)) fl.beginTensorMemory(unsigned(tensorMemory));

    unsigned before = diag_.errors();
    bool ok = fl.lowerRegion(f.body(), [&](Operation *terminator) {
      auto ret = terminator->dyn<tt::ReturnOp>();
      if (!ret) return fl.error(terminator, "does not end a function");
      llvm::Type *type = function->getReturnType();
      fl.endTensorMemory();
      fl.endSpecialized();
      if (type->isVoidTy()) {
        b_.CreateRetVoid();
        return true;
      }
      llvm::Value *result = llvm::PoisonValue::get(type);
      unsigned i = 0;
      for (Value v : ret.srcs())
        for (llvm::Value *e : fl.get(v)) result = b_.CreateInsertValue(result, e, i++);
      b_.CreateRet(result);
      return true;
    });
    ok = ok && fl.lowerWorkers();
    if (!ok || diag_.errors() != before) return false;
    completeWaits(fl);
    llvm::MergeBlockIntoPredecessor(body);
    target_.finish(*function);
    return true;
  }

  ir::Module &module_;
  const Target &target_;
  const LoweringOptions &options_;
  DiagnosticEngine &diag_;
  llvm::IRBuilder<> b_;
  std::unique_ptr<llvm::Module> out_;
  std::unique_ptr<DebugInfo> debug_;
  llvm::StringMap<llvm::Function *> functions_; // by name
  bool specialized_ = false;                    // blocks have warps that only partitions run on
};

std::unique_ptr<llvm::Module> lowerToLLVM(ir::Module &module, const Target &target, llvm::LLVMContext &context,
                                          const LoweringOptions &options, DiagnosticEngine &diag) {
  return ModuleLowering(module, target, context, options, diag).run();
}

} // namespace tessera::codegen
