// Compiles the kernels of one operation each (one_operation_kernels.h) for every target. Nothing may be refused, and
// nothing may end the process. A quick run takes a part of the kernels for each target, so that all kernels and all
// targets are covered; with TESSERA_STRESS=all every kernel is compiled for every target to the final object, or for
// the targets that it names (gfx942,sm_90a). TESSERA_STRESS_FILTER takes the kernels whose name contains it;
// TESSERA_STRESS_DUMP names a folder that gets the texts and a list of them, for runs on an emulator.
#include "codegen_nvidia/device_library.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/op_table.h"
#include "one_operation_kernels.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/targets.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <gmock/gmock.h>
#include <set>

namespace tessera {
namespace {

using testing::OneOperationKernel;

std::string compile(const OneOperationKernel &k, const ir::TargetInfo &target, runtime::Stage stage) {
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) {
    if (d.severity == ir::Severity::Error) messages += ir::render(d);
  });
  auto m = frontend::parseModule(k.text, k.name + ".ttir", context, diag);
  if (!m) return "parse: " + messages;
  runtime::CompileOptions o;
  o.stage = stage;
  o.numWarps = k.scalar ? 1 : 4;
  auto r = runtime::compile(*m, target, o, diag);
  if (!r.ok()) return std::string(r.status().message()) + "\n" + messages;
  return r->output.empty() ? "no output" : "";
}

void dump(const std::vector<OneOperationKernel> &kernels, const std::string &folder) {
  std::error_code ec;
  llvm::sys::fs::create_directories(folder);
  llvm::raw_fd_ostream list(folder + "/list.txt", ec);
  auto joined = [](const std::vector<std::string> &v) {
    std::string s;
    for (auto &x : v) s += (s.empty() ? "" : ",") + x;
    return s;
  };
  for (auto &k : kernels) {
    llvm::raw_fd_ostream(folder + "/" + k.name + ".ttir", ec) << k.text;
    list << k.name << '|' << k.scalar << '|' << joined(k.ins) << '|' << joined(k.outs) << '|' << k.domain << '|'
         << k.elements << '\n';
  }
}

TEST(EveryOperation, CompilesForEveryTarget) {
  auto kernels = testing::oneOperationKernels();
  if (const char *filter = std::getenv("TESSERA_STRESS_FILTER"))
    llvm::erase_if(kernels, [&](auto &k) { return k.name.find(filter) == std::string::npos; });
  if (const char *folder = std::getenv("TESSERA_STRESS_DUMP")) return dump(kernels, folder);
  llvm::StringRef stress = std::getenv("TESSERA_STRESS") ? std::getenv("TESSERA_STRESS") : "";
  bool all = !stress.empty(), filtered = std::getenv("TESSERA_STRESS_FILTER");
  auto targets = runtime::allTargets();
  if (all && stress != "all")
    llvm::erase_if(targets, [&](auto *t) {
      llvm::SmallVector<llvm::StringRef, 12> names;
      stress.split(names, ',');
      return !llvm::is_contained(names, t->info.name);
    });
  size_t failures = 0;
  bool libdevice = nvidia::findDeviceLibrary().ok();
  for (size_t i = 0; i < kernels.size(); ++i) {
    // The quick run: neighbours in the list (types of one operation) go to different targets, one kernel in eight.
    if (!all && !filtered && i % 8) continue;
    for (size_t t = 0; t < targets.size(); ++t) {
      if (!all && !filtered && t != i / 8 % targets.size()) continue;
      const ir::TargetInfo &info = targets[t]->info;
      bool object = all || info.vendor == ir::Vendor::Amd;
      std::string error = compile(kernels[i], info, object ? runtime::Stage::Object : runtime::Stage::Asm);
      if (!libdevice && info.vendor == ir::Vendor::Nvidia &&
          error.find("libdevice.10.bc (CUDA toolkit) not found") != std::string::npos)
        continue; // optional
      EXPECT_EQ(error, "") << kernels[i].name << " for " << info.name.str();
      if (!error.empty() && ++failures == 200) GTEST_FAIL() << "too many failures";
    }
  }
}

TEST(EveryOperation, TheTableHasAllThatComputes) {
  // Operations without a kernel of their own here, with the reason.
  const std::set<std::string> elsewhere{
      "tt.func",
      "tt.return",
      "tt.call",
      "tt.reduce.return",
      "tt.scan.return",
      "tt.map_elementwise.return", // structure
      "tt.advance",
      "tt.make_tensor_ptr",
      "tt.make_tensor_descriptor",
      "tt.descriptor_load",
      "tt.descriptor_store",
      "tt.descriptor_reduce",
      "tt.descriptor_gather",
      "tt.descriptor_scatter", // blocks of memory
      "tt.dot",
      "tt.dot_scaled", // matrices
      "tt.expand_dims",
      "tt.reshape",
      "tt.make_range",
      "arith.constant",            // part of other kernels
      "tt.elementwise_inline_asm", // text for one target
  };
  std::set<std::string> covered;
  for (auto &k : testing::oneOperationKernels()) covered.insert(k.opcode);
  for (auto &row : ir::allOps()) {
    std::string name = row.name.str();
    if (llvm::StringRef(name).starts_with("arith.") || llvm::StringRef(name).starts_with("math.") ||
        llvm::StringRef(name).starts_with("tt."))
      EXPECT_TRUE(covered.contains(name) || elsewhere.contains(name)) << name;
  }
}

} // namespace
} // namespace tessera
