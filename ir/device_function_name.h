// Which function of a device library a tt.extern_elementwise calls.
#pragma once
#include "ir/ops.h"
#include <string>

namespace tessera::ir {

/// The function's name, libdevice's or ocml's. Some functions of triton.language.extra.libdevice have names of Triton's
/// own on AMD (`__triton_hip_fast_expf`), which no library has, or ockl's: they are libdevice's functions.
std::string deviceFunctionName(tt::ExternElementwiseOp);

} // namespace tessera::ir
