// Links the functions of ocml that a module calls, and defines the `__oclc_*` constants that state the target and
// the wanted accuracy to ocml (ROCm ships them as files of their own, for the targets that were known when it was
// built). Nothing is opened when the module calls none.
//
// `__nv_*` calls (IR that was written for NVIDIA) become the ocml function of the table in
// codegen/object/device_functions.cpp, or, for conversions, bit operations and arithmetic with a rounding mode that
// is the default, the LLVM operation. Source: ROCm-Device-Libs, doc/OCML.md and doc/OCLC.md; "libdevice User's
// Guide".
#include "codegen_amd/device_library.h"
#include "absl/status/status.h"
#include "codegen/attribute_names.h"
#include "codegen/object/backend.h"
#include "codegen/object/device_functions.h"
#include "codegen/object/toolchain.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

namespace tessera::amd {
using namespace llvm;

absl::StatusOr<std::string> findDeviceLibrary() {
  std::vector<std::string> directories = codegen::environmentDirectories({"ROCM_PATH", "HIP_PATH"});
  directories.insert(directories.end(), {"/opt/rocm", "/usr", "/usr/local"});
  return codegen::findToolFile(
      "ocml.bc (rocm-device-libs)", "TESSERA_DEVICE_LIBS", directories,
      {"amdgcn/bitcode/ocml.bc", "lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc", "lib/amdgcn/bitcode/ocml.bc"});
}

namespace {

// Gives the `__oclc_*` constants that the module refers to their values.
void defineControls(llvm::Module &module, const codegen::ArchInfo &arch) {
  const std::pair<llvm::StringRef, int> controls[] = {
      {"__oclc_ISA_version", arch.isaVersion},
      {"__oclc_ABI_version", 500},
      {"__oclc_wavefrontsize64", arch.info.warpSize == 64},
      {"__oclc_daz_opt", 0},                 // denormals count
      {"__oclc_finite_only_opt", 0},         // so do infinities and NaNs
      {"__oclc_unsafe_math_opt", 0},         // accurate functions
      {"__oclc_correctly_rounded_sqrt32", 1} // IEEE square root
  };
  for (const auto &[name, value] : controls) {
    llvm::GlobalVariable *v = module.getGlobalVariable(name, /*AllowInternal=*/true);
    if (!v || !v->getValueType()->isIntegerTy()) continue;
    v->setInitializer(llvm::ConstantInt::get(v->getValueType(), uint64_t(value)));
    v->setConstant(true);
    v->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

/// A body for a libdevice function that LLVM's operations compute. Each family gives its value, or null for a function
/// of another family or of types that it does not have.
class LibdeviceBody {
public:
  LibdeviceBody(IRBuilder<> &b, StringRef name, Function &f) : b(b), name(name), result(f.getReturnType()) {
    for (Argument &x : f.args()) a.push_back(&x);
  }

  Value *emit() {
    for (auto family : {&LibdeviceBody::roundedArithmetic, &LibdeviceBody::bitConversions, &LibdeviceBody::toFloat,
                        &LibdeviceBody::toInteger, &LibdeviceBody::threeIntegers, &LibdeviceBody::countsOfBits,
                        &LibdeviceBody::averagesAndMul24, &LibdeviceBody::twoIntegers})
      if (Value *v = (this->*family)()) return v->getType() == result ? v : nullptr;
    return nullptr;
  }

private:
  bool is(std::initializer_list<StringRef> names) const { return is_contained(names, name); }
  bool hasOne() const { return a.size() == 1; }
  bool hasTwo() const { return a.size() == 2 && a[0]->getType() == a[1]->getType() && a[0]->getType() == result; }
  bool isFloat(unsigned n) const { return a.size() > n && a[n]->getType()->isFloatingPointTy(); }
  bool isInt(unsigned n, unsigned width) const { return a.size() > n && a[n]->getType()->isIntegerTy(width); }
  Value *unary(Intrinsic::ID id) { return b.CreateUnaryIntrinsic(id, a[0]); }

  /// Rounded to nearest: fadd_rn, dadd_rn, …; reciprocals.
  Value *roundedArithmetic() {
    bool isRounded = name.size() == 7 && name.ends_with("_rn") && (name[0] == 'f' || name[0] == 'd');
    if (isRounded && isFloat(0)) {
      StringRef op = name.substr(1, 3);
      if (hasOne() && op == "rcp") return b.CreateFDiv(ConstantFP::get(result, 1.0), a[0]);
      if (!hasTwo()) return nullptr;
      if (op == "add") return b.CreateFAdd(a[0], a[1]);
      if (op == "sub") return b.CreateFSub(a[0], a[1]);
      if (op == "mul") return b.CreateFMul(a[0], a[1]);
      if (op == "div") return b.CreateFDiv(a[0], a[1]);
    }
    if (hasTwo() && name == "fast_fdividef") return b.CreateFDiv(a[0], a[1]);
    if (hasOne() && isFloat(0) && name == "frsqrt_rn")
      return b.CreateFDiv(ConstantFP::get(result, 1.0), unary(Intrinsic::sqrt));
    if (hasOne() && name == "saturatef") // NaN gives 0, as cvt.sat does
      return b.CreateMinNum(b.CreateMaxNum(a[0], ConstantFP::get(result, 0.0)), ConstantFP::get(result, 1.0));
    return nullptr;
  }

  Value *bitConversions() {
    if (hasOne() && is({"float_as_int", "float_as_uint", "int_as_float", "uint_as_float", "double_as_longlong",
                        "longlong_as_double"}))
      return b.CreateBitCast(a[0], result);
    bool splits = hasOne() && a[0]->getType()->isDoubleTy() && result->isIntegerTy(32);
    if (splits && is({"double2hiint", "double2loint"})) {
      Value *bits = b.CreateBitCast(a[0], b.getInt64Ty());
      return b.CreateTrunc(name == "double2hiint" ? b.CreateLShr(bits, 32) : bits, result);
    }
    bool joins = a.size() == 2 && isInt(0, 32) && isInt(1, 32) && result->isDoubleTy();
    if (joins && name == "hiloint2double") return b.CreateBitCast(concatenate(a[0], a[1]), result);
    return nullptr;
  }

  Value *toFloat() {
    if (!hasOne()) return nullptr;
    if (is({"int2float_rn", "int2double_rn", "ll2float_rn", "ll2double_rn"})) return b.CreateSIToFP(a[0], result);
    if (is({"uint2float_rn", "uint2double_rn", "ull2float_rn", "ull2double_rn"})) return b.CreateUIToFP(a[0], result);
    if (isInt(0, 16) && result->isFloatTy() && name == "half2float")
      return b.CreateFPExt(b.CreateBitCast(a[0], b.getHalfTy()), result);
    if (a[0]->getType()->isFloatTy() && result->isIntegerTy(16) && name == "float2half_rn")
      return b.CreateBitCast(b.CreateFPTrunc(a[0], b.getHalfTy()), result);
    if (name == "double2float_rn") return b.CreateFPTrunc(a[0], result);
    return nullptr;
  }

  /// Out-of-range values saturate, as NVIDIA's cvt does.
  Value *toInteger() {
    if (!hasOne() || !isFloat(0)) return nullptr;
    auto saturated = [&](bool isUnsigned, Intrinsic::ID round) {
      Intrinsic::ID convert = isUnsigned ? Intrinsic::fptoui_sat : Intrinsic::fptosi_sat;
      return b.CreateIntrinsic(convert, {result, a[0]->getType()}, {unary(round)});
    };
    if (is({"llrint", "llrintf"})) return saturated(/*isUnsigned=*/false, Intrinsic::roundeven);
    if (is({"llround", "llroundf"})) return saturated(/*isUnsigned=*/false, Intrinsic::round);
    bool converts = result->isIntegerTy() && (name.starts_with("float2") || name.starts_with("double2"));
    if (!converts) return nullptr;
    bool isUnsigned = name.contains("2uint_") || name.contains("2ull_");
    bool isSigned = name.contains("2int_") || name.contains("2ll_");
    if (!isUnsigned && !isSigned) return nullptr;
    return saturated(isUnsigned, name.ends_with("_rz")   ? Intrinsic::trunc
                                 : name.ends_with("_rd") ? Intrinsic::floor
                                 : name.ends_with("_ru") ? Intrinsic::ceil
                                                         : Intrinsic::roundeven);
  }

  Value *threeIntegers() {
    bool fits = a.size() == 3 && isInt(0, 32) && isInt(1, 32) && isInt(2, 32) && result->isIntegerTy(32);
    if (!fits) return nullptr;
    if (is({"sad", "usad"})) { // |x - y| + z
      Value *less = name == "sad" ? b.CreateICmpSLT(a[0], a[1]) : b.CreateICmpULT(a[0], a[1]);
      return b.CreateAdd(b.CreateSelect(less, b.CreateSub(a[1], a[0]), b.CreateSub(a[0], a[1])), a[2]);
    }
    if (name != "byte_perm") return nullptr;
    // Byte i of the result is the byte of y:x that bits 4i … 4i+2 of the selector name.
    Value *bytes = concatenate(a[1], a[0]);
    Value *v = nullptr;
    for (unsigned i = 0; i < 4; ++i) {
      Value *shift = b.CreateShl(b.CreateAnd(b.CreateLShr(a[2], 4 * i), 7), 3);
      Value *moved = b.CreateTrunc(b.CreateLShr(bytes, b.CreateZExt(shift, b.getInt64Ty())), result);
      Value *byte = b.CreateShl(b.CreateAnd(moved, 255), 8 * i);
      v = v ? b.CreateOr(v, byte) : byte;
    }
    return v;
  }

  Value *countsOfBits() {
    if (!hasOne() || isFloat(0)) return nullptr;
    auto counted = [&](Intrinsic::ID id) {
      return b.CreateZExtOrTrunc(b.CreateBinaryIntrinsic(id, a[0], b.getFalse()), result);
    };
    if (is({"abs", "llabs"})) return b.CreateBinaryIntrinsic(Intrinsic::abs, a[0], b.getFalse());
    if (is({"brev", "brevll"})) return unary(Intrinsic::bitreverse);
    if (is({"popc", "popcll"})) return b.CreateZExtOrTrunc(unary(Intrinsic::ctpop), result);
    if (is({"clz", "clzll"})) return counted(Intrinsic::ctlz);
    if (!is({"ffs", "ffsll"})) return nullptr;
    // Position of the lowest set bit from 1; 0 for 0.
    Value *at = counted(Intrinsic::cttz);
    return b.CreateSelect(b.CreateICmpEQ(a[0], ConstantInt::get(a[0]->getType(), 0)), ConstantInt::get(result, 0),
                          b.CreateAdd(at, ConstantInt::get(result, 1)));
  }

  /// hadd, rhadd (averages rounded down or up) and mul24 of 32 bits, signed or unsigned.
  Value *averagesAndMul24() {
    if (!hasTwo() || !isInt(0, 32)) return nullptr;
    bool isUnsigned = name.starts_with("u");
    if (name.ends_with("hadd")) {
      Value *sum = b.CreateAdd(extended(a[0], 64, isUnsigned), extended(a[1], 64, isUnsigned));
      if (name.contains("rhadd")) sum = b.CreateAdd(sum, b.getInt64(1));
      return b.CreateTrunc(b.CreateAShr(sum, 1), result);
    }
    if (!name.ends_with("mul24")) return nullptr;
    auto low = [&](Value *x) { return isUnsigned ? b.CreateAnd(x, 0xffffff) : b.CreateAShr(b.CreateShl(x, 8), 8); };
    return b.CreateMul(low(a[0]), low(a[1]));
  }

  Value *twoIntegers() {
    if (!hasTwo() || isFloat(0)) return nullptr;
    if (is({"min", "llmin"})) return b.CreateBinaryIntrinsic(Intrinsic::smin, a[0], a[1]);
    if (is({"max", "llmax"})) return b.CreateBinaryIntrinsic(Intrinsic::smax, a[0], a[1]);
    if (is({"umin", "ullmin"})) return b.CreateBinaryIntrinsic(Intrinsic::umin, a[0], a[1]);
    if (is({"umax", "ullmax"})) return b.CreateBinaryIntrinsic(Intrinsic::umax, a[0], a[1]);
    if (!is({"mulhi", "umulhi", "mul64hi", "umul64hi"})) return nullptr;
    unsigned width = result->getIntegerBitWidth();
    bool isUnsigned = name.starts_with("u");
    Value *x = extended(a[0], 2 * width, isUnsigned);
    Value *y = extended(a[1], 2 * width, isUnsigned);
    return b.CreateTrunc(b.CreateLShr(b.CreateMul(x, y), width), result);
  }

  Value *extended(Value *x, unsigned width, bool isUnsigned) {
    Type *wide = b.getIntNTy(width);
    return isUnsigned ? b.CreateZExt(x, wide) : b.CreateSExt(x, wide);
  }
  /// Two integers of 32 bits as one of 64.
  Value *concatenate(Value *high, Value *low) {
    return b.CreateOr(b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32), b.CreateZExt(low, b.getInt64Ty()));
  }

  IRBuilder<> &b;
  StringRef name; // without __nv_
  Type *result;
  SmallVector<Value *, 3> a; // the arguments
};

/// Gives a libdevice function that LLVM's operations compute a body; false if they do not.
bool defineAsOperation(Function &f) {
  StringRef name = f.getName();
  if (!name.consume_front("__nv_")) return false;
  IRBuilder<> b(BasicBlock::Create(f.getContext(), "", &f));
  Value *v = LibdeviceBody(b, name, f).emit();
  if (!v) {
    f.deleteBody();
    return false;
  }
  b.CreateRet(v);
  f.setLinkage(GlobalValue::InternalLinkage);
  f.addFnAttr(Attribute::AlwaysInline);
  return true;
}

/// x - rint(x): between -1/2 and 1/2.
bool isRemainderOfRint(const Value *v) {
  auto *difference = dyn_cast<Instruction>(v);
  if (!difference || difference->getOpcode() != Instruction::FSub) return false;
  auto *rounded = dyn_cast<IntrinsicInst>(difference->getOperand(1));
  return rounded && rounded->getIntrinsicID() == Intrinsic::rint &&
         rounded->getArgOperand(0) == difference->getOperand(0);
}

/// ocml's exponentials divide the exponent into an integer, for ldexp, and x - rint(x) with what rounding left of it.
/// Of that 2^x is v_exp_f32 alone: LLVM's scaling for results that are denormal, five instructions, has nothing to do.
/// Where the argument is so large that the rest is not small, these functions compare it and give 0 or infinity.
void useInstructionForExponentials(Module &module) {
  for (StringRef name : {"__ocml_exp_f32", "__ocml_exp10_f32"}) {
    Function *f = module.getFunction(name);
    if (!f) continue;
    for (BasicBlock &block : *f)
      for (Instruction &i : block) {
        auto *exponential = dyn_cast<IntrinsicInst>(&i);
        if (!exponential || exponential->getIntrinsicID() != Intrinsic::exp2) continue;
        auto *sum = dyn_cast<Instruction>(exponential->getArgOperand(0));
        if (!sum || sum->getOpcode() != Instruction::FAdd ||
            !any_of(sum->operands(), [](Value *v) { return isRemainderOfRint(v); }))
          continue;
        Type *type = exponential->getType();
        exponential->setCalledFunction(Intrinsic::getOrInsertDeclaration(&module, Intrinsic::amdgcn_exp2, {type}));
      }
  }
}

} // namespace

absl::Status linkDeviceLibrary(llvm::Module &module, const codegen::ArchInfo &arch) {
  for (const std::string &name : codegen::undefinedLibraryFunctions(module)) {
    if (!llvm::StringRef(name).starts_with("__nv_")) continue;
    std::string equivalent = codegen::ocmlEquivalent(name);
    if (!equivalent.empty())
      codegen::renameDeclaration(module, name, equivalent);
    else if (!defineAsOperation(*module.getFunction(name)))
      return codegen::functionError(name, "of NVIDIA's libdevice has no equivalent in AMD's ocml");
  }
  std::vector<std::string> undefined = codegen::undefinedLibraryFunctions(module);
  // The emulator, which runs the module itself, prints itself too.
  if (module.getModuleFlag(codegen::kHostPrintsFlag))
    llvm::erase_if(undefined, [](const std::string &n) { return llvm::StringRef(n).starts_with("__ockl_printf_"); });
  if (undefined.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> path = findDeviceLibrary();
  if (!path.ok())
    return absl::NotFoundError("'" + undefined.front() + "' is called: " + std::string(path.status().message()));
  // printf and the functions that it calls are in ockl, ocml's neighbour.
  bool ockl = llvm::any_of(undefined, [](const std::string &n) { return llvm::StringRef(n).starts_with("__ockl_"); });
  if (ockl) {
    llvm::SmallString<256> neighbour(llvm::sys::path::parent_path(*path));
    llvm::sys::path::append(neighbour, "ockl.bc");
    if (absl::Status s = codegen::linkBitcodeLibrary(module, std::string(neighbour), "__ockl_"); !s.ok()) return s;
  }
  if (absl::Status s = codegen::linkBitcodeLibrary(module, *path, "__ocml_"); !s.ok()) return s;
  defineControls(module, arch);
  useInstructionForExponentials(module);
  return absl::OkStatus();
}

} // namespace tessera::amd
