// Links the functions of ocml that a module calls, and defines the `__oclc_*` constants by which ocml is told about the
// target and the wanted accuracy (ROCm ships them as files of their own, which stop at the targets that were known
// when it was built). Nothing is opened when the module calls none.
//
// `__nv_*` calls (IR that was written for NVIDIA) become the ocml function of the table in
// codegen/object/device_functions.cpp, or, for conversions, bit operations and arithmetic with a rounding mode that
// is the default, the LLVM operation. Source: ROCm-Device-Libs, doc/OCML.md and doc/OCLC.md; "libdevice User's
// Guide".
#include "codegen_amd/device_library.h"
#include "absl/status/status.h"
#include "codegen/object/backend.h"
#include "codegen/object/device_functions.h"
#include "codegen/object/toolchain.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

namespace tessera::amd {

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

// Gives a libdevice function that is one LLVM operation a body; false if it is not one.
bool defineAsOperation(llvm::Function &f) {
  using namespace llvm;
  StringRef name = f.getName();
  if (!name.consume_front("__nv_")) return false;
  Type *result = f.getReturnType();
  SmallVector<Value *, 3> a;
  for (Argument &x : f.args()) a.push_back(&x);
  auto one = [&] { return a.size() == 1; };
  auto two = [&] { return a.size() == 2 && a[0]->getType() == a[1]->getType() && a[0]->getType() == result; };
  auto isFp = [&](unsigned n) { return a.size() > n && a[n]->getType()->isFloatingPointTy(); };
  BasicBlock *block = BasicBlock::Create(f.getContext(), "", &f);
  IRBuilder<> b(block);
  Value *v = nullptr;
  auto unary = [&](Intrinsic::ID id) { return b.CreateUnaryIntrinsic(id, a[0]); };
  auto isInt = [&](unsigned n, unsigned width) { return a.size() > n && a[n]->getType()->isIntegerTy(width); };
  auto three = [&](unsigned width) {
    return a.size() == 3 && isInt(0, width) && isInt(1, width) && isInt(2, width) && result->isIntegerTy(width);
  };
  // Arithmetic rounded to nearest: fadd_rn, dadd_rn, …; reciprocal.
  if (name.size() == 7 && name.ends_with("_rn") && (name[0] == 'f' || name[0] == 'd') && isFp(0)) {
    StringRef op = name.substr(1, 3);
    if (two())
      v = op == "add"   ? b.CreateFAdd(a[0], a[1])
          : op == "sub" ? b.CreateFSub(a[0], a[1])
          : op == "mul" ? b.CreateFMul(a[0], a[1])
          : op == "div" ? b.CreateFDiv(a[0], a[1])
                        : nullptr;
    if (one() && op == "rcp") v = b.CreateFDiv(ConstantFP::get(result, 1.0), a[0]);
  } else if (one() && (name == "float_as_int" || name == "float_as_uint" || name == "int_as_float" ||
                       name == "uint_as_float" || name == "double_as_longlong" || name == "longlong_as_double")) {
    v = b.CreateBitCast(a[0], result);
  } else if (one() &&
             (name == "int2float_rn" || name == "int2double_rn" || name == "ll2float_rn" || name == "ll2double_rn")) {
    v = b.CreateSIToFP(a[0], result);
  } else if (one() && (name == "uint2float_rn" || name == "uint2double_rn" || name == "ull2float_rn" ||
                       name == "ull2double_rn")) {
    v = b.CreateUIToFP(a[0], result);
  } else if (two() && name == "fast_fdividef") {
    v = b.CreateFDiv(a[0], a[1]);
  } else if (one() && isFp(0) && name == "frsqrt_rn") {
    v = b.CreateFDiv(ConstantFP::get(result, 1.0), unary(Intrinsic::sqrt));
  } else if (one() && isInt(0, 16) && result->isFloatTy() && name == "half2float") {
    v = b.CreateFPExt(b.CreateBitCast(a[0], b.getHalfTy()), result);
  } else if (one() && a[0]->getType()->isFloatTy() && result->isIntegerTy(16) && name == "float2half_rn") {
    v = b.CreateBitCast(b.CreateFPTrunc(a[0], b.getHalfTy()), result);
  } else if (one() && a[0]->getType()->isDoubleTy() && result->isIntegerTy(32) &&
             (name == "double2hiint" || name == "double2loint")) {
    Value *bits = b.CreateBitCast(a[0], b.getInt64Ty());
    v = b.CreateTrunc(name == "double2hiint" ? b.CreateLShr(bits, 32) : bits, result);
  } else if (a.size() == 2 && isInt(0, 32) && isInt(1, 32) && result->isDoubleTy() && name == "hiloint2double") {
    Value *bits = b.CreateOr(b.CreateShl(b.CreateZExt(a[0], b.getInt64Ty()), 32), b.CreateZExt(a[1], b.getInt64Ty()));
    v = b.CreateBitCast(bits, result);
  } else if (three(32) && (name == "sad" || name == "usad")) { // |x - y| + z
    Value *less = name == "sad" ? b.CreateICmpSLT(a[0], a[1]) : b.CreateICmpULT(a[0], a[1]);
    v = b.CreateAdd(b.CreateSelect(less, b.CreateSub(a[1], a[0]), b.CreateSub(a[0], a[1])), a[2]);
  } else if (three(32) && name == "byte_perm") {
    // Byte i of the result is the byte of y:x that bits 4i … 4i+2 of the selector name.
    Value *bytes = b.CreateOr(b.CreateShl(b.CreateZExt(a[1], b.getInt64Ty()), 32), b.CreateZExt(a[0], b.getInt64Ty()));
    for (unsigned i = 0; i < 4; ++i) {
      Value *shift = b.CreateShl(b.CreateAnd(b.CreateLShr(a[2], 4 * i), 7), 3);
      Value *byte = b.CreateShl(
          b.CreateAnd(b.CreateTrunc(b.CreateLShr(bytes, b.CreateZExt(shift, b.getInt64Ty())), result), 255), 8 * i);
      v = v ? b.CreateOr(v, byte) : byte;
    }
  } else if (two() && isInt(0, 32) && (name.ends_with("hadd") || name.ends_with("mul24"))) {
    bool isUnsigned = name.starts_with("u");
    auto wide = [&](Value *x) {
      return isUnsigned ? b.CreateZExt(x, b.getInt64Ty()) : b.CreateSExt(x, b.getInt64Ty());
    };
    if (name.ends_with("hadd")) { // the average, rounded down or up
      Value *sum = b.CreateAdd(wide(a[0]), wide(a[1]));
      if (name.contains("rhadd")) sum = b.CreateAdd(sum, b.getInt64(1));
      v = b.CreateTrunc(b.CreateAShr(sum, 1), result);
    } else {
      auto low = [&](Value *x) { return isUnsigned ? b.CreateAnd(x, 0xffffff) : b.CreateAShr(b.CreateShl(x, 8), 8); };
      v = b.CreateMul(low(a[0]), low(a[1]));
    }
  } else if (one() && name == "double2float_rn") {
    v = b.CreateFPTrunc(a[0], result);
  } else if (one() && isFp(0) && result->isIntegerTy() && (name.starts_with("float2") || name.starts_with("double2"))) {
    // Out-of-range values saturate, as NVIDIA's cvt does.
    bool isUnsigned = name.contains("2uint_") || name.contains("2ull_"),
         isSigned = name.contains("2int_") || name.contains("2ll_");
    Intrinsic::ID round = name.ends_with("_rz")   ? Intrinsic::trunc
                          : name.ends_with("_rd") ? Intrinsic::floor
                          : name.ends_with("_ru") ? Intrinsic::ceil
                                                  : Intrinsic::roundeven;
    if (isUnsigned || isSigned)
      v = b.CreateIntrinsic(isUnsigned ? Intrinsic::fptoui_sat : Intrinsic::fptosi_sat, {result, a[0]->getType()},
                            {unary(round)});
  } else if (one() && isFp(0) && (name == "llrint" || name == "llrintf" || name == "llround" || name == "llroundf")) {
    v = b.CreateIntrinsic(Intrinsic::fptosi_sat, {result, a[0]->getType()},
                          {unary(name.starts_with("llrint") ? Intrinsic::roundeven : Intrinsic::round)});
  } else if (one() && name == "saturatef") {
    // NaN gives 0, as cvt.sat does.
    v = b.CreateMinNum(b.CreateMaxNum(a[0], ConstantFP::get(result, 0.0)), ConstantFP::get(result, 1.0));
  } else if (one() && !isFp(0) && (name == "abs" || name == "llabs")) {
    v = b.CreateBinaryIntrinsic(Intrinsic::abs, a[0], b.getFalse());
  } else if (one() && !isFp(0) && (name == "brev" || name == "brevll")) {
    v = unary(Intrinsic::bitreverse);
  } else if (one() && !isFp(0) && (name == "popc" || name == "popcll")) {
    v = b.CreateZExtOrTrunc(unary(Intrinsic::ctpop), result);
  } else if (one() && !isFp(0) && (name == "clz" || name == "clzll")) {
    v = b.CreateZExtOrTrunc(b.CreateBinaryIntrinsic(Intrinsic::ctlz, a[0], b.getFalse()), result);
  } else if (one() && !isFp(0) && (name == "ffs" || name == "ffsll")) {
    // Position of the lowest set bit from 1; 0 for 0.
    Value *at = b.CreateZExtOrTrunc(b.CreateBinaryIntrinsic(Intrinsic::cttz, a[0], b.getFalse()), result);
    v = b.CreateSelect(b.CreateICmpEQ(a[0], ConstantInt::get(a[0]->getType(), 0)), ConstantInt::get(result, 0),
                       b.CreateAdd(at, ConstantInt::get(result, 1)));
  } else if (two() && !isFp(0)) {
    bool isUnsigned = name.starts_with("u");
    auto high = [&] {
      unsigned width = result->getIntegerBitWidth();
      Type *wide = b.getIntNTy(2 * width);
      Value *x = isUnsigned ? b.CreateZExt(a[0], wide) : b.CreateSExt(a[0], wide),
            *y = isUnsigned ? b.CreateZExt(a[1], wide) : b.CreateSExt(a[1], wide);
      return b.CreateTrunc(b.CreateLShr(b.CreateMul(x, y), width), result);
    };
    v = name == "min" || name == "llmin"     ? b.CreateBinaryIntrinsic(Intrinsic::smin, a[0], a[1])
        : name == "max" || name == "llmax"   ? b.CreateBinaryIntrinsic(Intrinsic::smax, a[0], a[1])
        : name == "umin" || name == "ullmin" ? b.CreateBinaryIntrinsic(Intrinsic::umin, a[0], a[1])
        : name == "umax" || name == "ullmax" ? b.CreateBinaryIntrinsic(Intrinsic::umax, a[0], a[1])
        : name == "mulhi" || name == "umulhi" || name == "mul64hi" || name == "umul64hi" ? high()
                                                                                         : nullptr;
  }
  if (!v || v->getType() != result) {
    f.deleteBody();
    return false;
  }
  b.CreateRet(v);
  f.setLinkage(GlobalValue::InternalLinkage);
  f.addFnAttr(Attribute::AlwaysInline);
  return true;
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
  // Who runs the module himself (the emulator) prints himself, too.
  if (module.getModuleFlag("tessera.host-prints"))
    llvm::erase_if(undefined, [](const std::string &n) { return llvm::StringRef(n).starts_with("__ockl_printf_"); });
  if (undefined.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> path = findDeviceLibrary();
  if (!path.ok())
    return absl::NotFoundError("'" + undefined.front() + "' is called: " + std::string(path.status().message()));
  // printf and what it needs are in ockl, ocml's neighbour.
  bool ockl = llvm::any_of(undefined, [](const std::string &n) { return llvm::StringRef(n).starts_with("__ockl_"); });
  if (ockl) {
    llvm::SmallString<256> neighbour(llvm::sys::path::parent_path(*path));
    llvm::sys::path::append(neighbour, "ockl.bc");
    if (absl::Status s = codegen::linkBitcodeLibrary(module, std::string(neighbour), "__ockl_"); !s.ok()) return s;
  }
  if (absl::Status s = codegen::linkBitcodeLibrary(module, *path, "__ocml_"); !s.ok()) return s;
  defineControls(module, arch);
  return absl::OkStatus();
}

} // namespace tessera::amd
