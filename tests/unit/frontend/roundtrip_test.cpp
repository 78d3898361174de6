// Parse and print are inverse: every kernel file prints back byte for byte, and so does a collection of forms.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/printer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

namespace tessera {
namespace {

std::string roundTrip(llvm::StringRef text, bool locations = true, std::string *messages = nullptr) {
  ir::Context context;
  std::string m;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { m += ir::render(d); });
  auto module = frontend::parseModule(text, "test.mlir", context, diag);
  if (messages) *messages = m;
  if (!module) return "ERROR\n" + m;
  return ir::printToString(*module, {.locations = locations});
}

TEST(RoundTrip, KernelFilesAreByteIdentical) {
  std::error_code ec;
  int n = 0;
  for (llvm::sys::fs::directory_iterator it(TESSERA_SOURCE_DIR "/tests/kernels", ec), end; it != end && !ec; it.increment(ec)) {
    std::string file = it->path() + "/" + llvm::StringRef(it->path()).rsplit('/').second.str() + ".ttir";
    auto b = llvm::MemoryBuffer::getFile(file);
    if (!b) continue;
    ++n;
    EXPECT_EQ(roundTrip((*b)->getBuffer()), (*b)->getBuffer()) << file;
  }
  EXPECT_GE(n, 10);
}

TEST(RoundTrip, FormsArePrintedAsWritten) {
  const char *text = R"(#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: i1, %arg2: i32) {
    %cst = arith.constant dense<0x7C00> : tensor<16x32xf16, #blocked>
    %true = arith.constant true
    %0 = ttg.local_alloc %cst : (tensor<16x32xf16, #blocked>) -> !ttg.memdesc<16x32xf16, #shared, #smem>
    %1 = ttg.local_load %0 : !ttg.memdesc<16x32xf16, #shared, #smem> -> tensor<16x32xf16, #blocked>
    cf.cond_br %arg1, ^bb1, ^bb2(%arg2 : i32)
  ^bb1:  // pred: ^bb0
    %c1_i32 = arith.constant 1 : i32
    %2 = arith.addi %arg2, %c1_i32 overflow<nsw> : i32
    cf.br ^bb2(%2 : i32)
  ^bb2(%3: i32):  // 2 preds: ^bb0, ^bb1
    %4 = arith.select %true, %1, %cst : tensor<16x32xf16, #blocked>
    tt.return
  }
}
)";
  EXPECT_EQ(roundTrip(text, false), text);
}

TEST(RoundTrip, OlderSpellingOfAKernel) {
  // The spelling of 2022: func, return, types in parentheses or left out, axes as attributes.
  const char *text = R"(
func public @kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32>, %arg2: i32) {
  %c256_i32 = arith.constant 256 : i32
  %0 = tt.get_program_id {axis = 0 : i32} : i32
  %1 = arith.muli %0, %c256_i32 : i32
  %2 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %3 = tt.splat %1 : (i32) -> tensor<256xi32>
  %4 = arith.addi %3, %2 : tensor<256xi32>
  %5 = tt.splat %arg0 : (!tt.ptr<f32>) -> tensor<256x!tt.ptr<f32>>
  %6 = tt.addptr %5, %4 : tensor<256x!tt.ptr<f32>>
  %9 = tt.splat %arg2 : (i32) -> tensor<256xi32>
  %10 = arith.cmpi "slt", %4, %9 : tensor<256xi32>
  %11 = tt.load %6, %10
  %12 = tt.load %6 {cache = 1 : i32, evict = 1 : i32, isVolatile = false} : tensor<256xf32>
  %13 = arith.addf %11, %12 : tensor<256xf32>
  tt.store %6, %13, %10 : tensor<256xf32>
  return
}
)";
  std::string out = roundTrip(text, false);
  EXPECT_NE(out.find("tt.func public @kernel"), std::string::npos) << out;
  EXPECT_NE(out.find("tt.get_program_id x : i32"), std::string::npos) << out;
  EXPECT_NE(out.find("%9 = tt.load %6, %8 : tensor<256x!tt.ptr<f32>>"), std::string::npos) << out;
  EXPECT_EQ(roundTrip(out, false), out);
}

} // namespace
} // namespace tessera
