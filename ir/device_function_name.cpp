// Names of device functions (see device_function_name.h). Source: Triton, third_party/amd, language/hip/libdevice.py.
#include "ir/device_function_name.h"
#include "llvm/ADT/StringSwitch.h"

namespace tessera::ir {

std::string deviceFunctionName(tt::ExternElementwiseOp op) {
  llvm::StringRef name = op.symbol();
  // Triton 3.9 names functions of ockl, one of them with another result than it has there.
  if (name == "__ockl_clz_u32") return "__nv_clz";
  if (name == "__ockl_popcount_u32") return "__nv_popc";
  if (name == "__ockl_popcount_u64" && op.result().type().scalar().bitWidth() == 32) return "__nv_popcll";
  if (!name.consume_front("__triton_hip_")) return op.symbol().str();
  // One name serves both widths of the argument.
  bool isWide = op.srcs().size() && op.srcs()[0].type().scalar().bitWidth() == 64;
  llvm::StringRef libdevice = llvm::StringSwitch<llvm::StringRef>(name)
                                  .Case("iabs", isWide ? "__nv_llabs" : "__nv_abs")
                                  .Case("fabs", isWide ? "__nv_fabs" : "__nv_fabsf")
                                  .Case("rint", isWide ? "__nv_rint" : "__nv_rintf") // Triton 3.7 and later
                                  .Case("llrint", isWide ? "__nv_llrint" : "__nv_llrintf")
                                  .Case("fast_expf", "__nv_fast_expf")
                                  .Case("fast_tanhf", "__nv_fast_tanhf")
                                  .Case("fast_fdividef", "__nv_fast_fdividef")
                                  .Default(op.symbol());
  return libdevice.str();
}

} // namespace tessera::ir
