// Joins the two vendors' tables of targets.
#include "runtime/compiler/targets.h"
#include "codegen_amd/arch_table.h"
#include "codegen_amd/backend.h"
#include "codegen_amd/lowering_target.h"
#include "codegen_amd/object.h"
#include "codegen_nvidia/arch_table.h"
#include "codegen_nvidia/backend.h"
#include "codegen_nvidia/lowering_target.h"
#include "codegen_nvidia/object.h"
#include "codegen_nvidia/ptxas_process.h"
#include "runtime/compiler/compiler.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::runtime {

std::vector<const codegen::ArchInfo *> allTargets() {
  std::vector<const codegen::ArchInfo *> all;
  for (llvm::ArrayRef<codegen::ArchInfo> table : {nvidia::archTable(), amd::archTable()})
    for (const codegen::ArchInfo &arch : table) all.push_back(&arch);
  return all;
}

const codegen::ArchInfo *findArch(llvm::StringRef name) {
  for (llvm::ArrayRef<codegen::ArchInfo> table : {nvidia::archTable(), amd::archTable()}) {
    if (const codegen::ArchInfo *arch = codegen::findArch(table, name)) return arch;
    for (const codegen::ArchInfo &arch : table)
      if (arch.info.tritonTarget == name) return &arch;
  }
  return nullptr;
}

/// A target whose board has the name, or whose own name it is but for case and punctuation; null: none.
static const codegen::ArchInfo *meantBy(llvm::StringRef name) {
  auto lettersOf = [](llvm::StringRef s) {
    std::string letters;
    for (char c : s)
      if (llvm::isAlnum(c)) letters += llvm::toLower(c);
    return letters;
  };
  std::string wanted = lettersOf(name);
  for (const codegen::ArchInfo *arch : allTargets()) {
    llvm::SmallVector<llvm::StringRef, 16> names = {arch->info.name, arch->alias};
    arch->boards.split(names, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (llvm::StringRef known : names)
      if (!known.empty() && lettersOf(known) == wanted) return arch;
  }
  return nullptr;
}

std::string targetNames() {
  std::string list;
  for (const codegen::ArchInfo *arch : allTargets()) list += (list.empty() ? "" : ", ") + arch->info.name.str();
  return list;
}

std::string unknownTarget(llvm::StringRef name, llvm::StringRef of) {
  std::string text = ("unknown target '" + name + "'" + of + "; ").str();
  if (const codegen::ArchInfo *arch = meantBy(name)) text += ("did you mean '" + arch->info.name + "'? ").str();
  return text + "targets: " + targetNames();
}

std::vector<std::string> describeToolchains() {
  auto lines = nvidia::describeTools();
  for (auto &line : amd::describeTools()) lines.push_back(line);
  return lines;
}

std::vector<std::string> describeTools(const codegen::ArchInfo &arch) {
  return arch.info.vendor == ir::Vendor::Nvidia ? nvidia::describeTools() : amd::describeTools();
}

absl::Status checkEnvironment(const ir::TargetInfo &target, const CompileOptions &o) {
  bool generatesCode = o.stage >= Stage::Asm; // no tool is needed before
  if (!generatesCode) return absl::OkStatus();
  return target.vendor == ir::Vendor::Nvidia ? nvidia::checkToolVariables(/*makesObject=*/o.stage == Stage::Object)
                                             : amd::checkToolVariables();
}

std::unique_ptr<codegen::Target> createTarget(const ir::TargetInfo &info) {
  return info.vendor == ir::Vendor::Nvidia ? nvidia::makeTarget(info) : amd::makeTarget(info);
}

codegen::BackendOptions backendOptions(const CompileOptions &o, const KernelMetadata *kernel, int maxRegisters) {
  codegen::BackendOptions b;
  b.optLevel = o.optLevel;
  b.fpFusion = o.fpFusion;
  b.lineInfo = o.lineInfo;
  b.wavesPerEu = o.wavesPerEu;
  b.maxRegisters = maxRegisters;
  if (!kernel) return b;
  b.numWarps = kernel->warpsPerBlock();
  b.numCtas = kernel->numCtas;
  b.dynamicSharedBytes = int(kernel->dynamicSharedBytes);
  return b;
}

std::shared_ptr<codegen::ToolAhead> startAhead(const codegen::ArchInfo &arch, const codegen::BackendOptions &options) {
  return arch.info.vendor == ir::Vendor::Nvidia ? nvidia::startPtxasAhead(arch, options) : nullptr;
}

std::unique_ptr<codegen::Backend> createBackend(const codegen::ArchInfo &arch, const codegen::BackendOptions &options) {
  return arch.info.vendor == ir::Vendor::Nvidia ? nvidia::createBackend(arch, options)
                                                : amd::createBackend(arch, options);
}

} // namespace tessera::runtime
