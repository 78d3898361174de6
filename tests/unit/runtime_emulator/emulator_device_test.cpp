// The emulator behind the interface of devices: failures of what it does besides executing.
#include "runtime/compiler/bitcode_object.h"
#include "runtime/compiler/metadata.h"
#include "runtime/emulator/emulator_device.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

/// Code that is not executed, and that instruction selection does not know: LLVM ends in a fatal error while the
/// registers are counted. The launch succeeds, without the figures.
TEST(EmulatorDevice, SurvivesAFatalErrorOfTheCodeGenerator) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(R"(
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @kernel(ptr addrspace(1) %scratch, ptr addrspace(1) %profile) {
  ret void
}
define amdgpu_kernel void @other(ptr addrspace(1) %p) {
  %x = load bfloat, ptr addrspace(1) %p
  %i = fptosi bfloat %x to i1
  %z = zext i1 %i to i32
  store i32 %z, ptr addrspace(1) %p
  ret void
}
)",
                                          error, context);
  ASSERT_TRUE(module) << error.getMessage().str();
  KernelMetadata metadata;
  metadata.kernel = "kernel";
  metadata.target = "gfx942";
  metadata.numWarps = 1;
  metadata.threadsPerWarp = metadata.threadsPerBlock = 64;
  emulator::Options options;
  options.counters = true;
  emulator::Report report;
  auto device = openEmulator("gfx942", options, &report);
  ASSERT_TRUE(device.ok()) << device.status();
  for (int i = 0; i < 2; ++i) {
    absl::Status s = (*device)->run(bitcodeObject(*module), metadata, {1, 1, 1}, {}, 0, nullptr);
    EXPECT_TRUE(s.ok()) << s;
    EXPECT_EQ(report.live.vector.allocated, 0u);
  }
}

} // namespace
} // namespace tessera::runtime
