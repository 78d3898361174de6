// One pass on TTGIR, run alone on a function's text, and what a test compares of the result.
#pragma once
#include "frontend/parser.h"
#include "ir/printer.h"
#include "runtime/compiler/targets.h"
#include "transforms/pass.h"
#include <gtest/gtest.h>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace tessera::testing {

/// Aliases for 4 warps on sm_90a: a tile of f32 as an accumulator of wgmma, an A operand in registers, a buffer.
inline std::string wgmmaModule(const std::string &functions) {
  return R"(
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#dot0 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#columns = #ttg.slice<{dim = 0, parent = #mma}>
#smem = #ttg.shared_memory
!t = tensor<64x64xf32, #mma>
!x = tensor<64x64xf16, #dot0>
!m = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
)" + functions +
         "}\n";
}

/// Dots by short names: DOT(%a, %b, %acc) of buffers, XDOT(%x, %b, %acc) with A in registers; ADOT and AXDOT are
/// asynchronous.
inline std::string withDots(std::string text) {
  const char *const attributes[] = {"{inputPrecision = 0 : i32}", "{inputPrecision = 0 : i32, isAsync = true}"};
  const std::pair<const char *, std::string> dots[] = {
      {"\\bAXDOT\\(([^)]*)\\)", std::string("ttng.warp_group_dot $1 ") + attributes[1] + " : !x * !m -> !t"},
      {"\\bADOT\\(([^)]*)\\)", std::string("ttng.warp_group_dot $1 ") + attributes[1] + " : !m * !m -> !t"},
      {"\\bXDOT\\(([^)]*)\\)", std::string("ttng.warp_group_dot $1 ") + attributes[0] + " : !x * !m -> !t"},
      {"\\bDOT\\(([^)]*)\\)", std::string("ttng.warp_group_dot $1 ") + attributes[0] + " : !m * !m -> !t"}};
  for (auto &[name, op] : dots) text = std::regex_replace(text, std::regex(name), op);
  return text;
}

/// The text after the pass, for sm_90a; the errors instead if the text is wrong or the pass fails.
inline std::string textAfter(llvm::StringRef pass, const std::string &text) {
  std::string errors;
  ir::Context context;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { errors += ir::render(d); });
  auto module = frontend::parseModule(text, "test", context, diag);
  const transforms::PassInfo *info = transforms::findPass(pass);
  if (!module || !info) return errors + "no module or no pass";
  transforms::RunOptions options;
  options.target = runtime::findTarget("sm_90a");
  options.verifyEach = true;
  if (auto run = transforms::runPipeline(*module, {{info, {}}}, options, diag); !run.ok())
    return errors + std::string(run.message());
  return ir::printToString(*module);
}

/// The operations that the patterns name, in the order of the text, as `NAME NAME …`. A line has the name of the first
/// pattern that is found in it; names may use its groups ($1).
inline std::string outlineOf(const std::string &text, const std::vector<std::pair<std::string, std::string>> &names) {
  std::string out;
  std::string rest = text;
  while (!rest.empty()) {
    size_t end = std::min(rest.find('\n'), rest.size() - 1);
    std::string line = rest.substr(0, end);
    rest.erase(0, end + 1);
    for (auto &[pattern, name] : names) {
      std::smatch match;
      if (!std::regex_search(line, match, std::regex(pattern))) continue;
      out += (out.empty() ? "" : " ") + match.format(name);
      break;
    }
  }
  return out;
}

} // namespace tessera::testing
