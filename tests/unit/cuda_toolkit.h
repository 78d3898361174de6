// What tests do where the CUDA toolkit, which is optional, is not installed: those that need a part of it say so and
// are skipped.
#pragma once
#include "codegen_nvidia/device_library.h"
#include "codegen_nvidia/object.h"
#include "codegen_nvidia/ptxas_process.h"
#include "llvm/ADT/StringRef.h"
#include <gtest/gtest.h>

#define NEEDS_PTXAS()                                                                                                  \
  if (auto ptxas = ::tessera::nvidia::findPtxas(); !ptxas.ok()) GTEST_SKIP() << ptxas.status().message()
#define NEEDS_NVJITLINK()                                                                                              \
  for (const std::string &tool : ::tessera::nvidia::describeTools())                                                   \
    if (llvm::StringRef(tool).starts_with("libnvJitLink") && llvm::StringRef(tool).contains("not found"))              \
  GTEST_SKIP() << tool
#define NEEDS_LIBDEVICE()                                                                                              \
  if (auto libdevice = ::tessera::nvidia::findDeviceLibrary(); !libdevice.ok())                                        \
  GTEST_SKIP() << libdevice.status().message()
