// The budget of evictions on a block with more values than registers: how many registers LLVM's allocator may try is
// counted, with a budget and with one that is never spent; and the back end takes the target's.
#include "codegen/lowering/targets.h"
#include "codegen_amd/arch_table.h"
#include "codegen_amd/backend.h"
#include "codegen_amd/eviction_budget.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <gtest/gtest.h>

namespace tessera::amd {
namespace {

constexpr int64_t kRegisters = 32, kValues = 96;

/// Sums of values that are all loaded before, each of them with a neighbour and with one far away.
std::string crowdedBlock() {
  std::string s = "define amdgpu_kernel void @k(ptr addrspace(1) %a) #0 {\n";
  auto name = [](char kind, int64_t i) { return std::string(1, '%') + kind + std::to_string(i); };
  for (int64_t i = 0; i < kValues; ++i)
    s += "  " + name('p', i) + " = getelementptr float, ptr addrspace(1) %a, i32 " + std::to_string(i * 64) + "\n  " +
         name('v', i) + " = load volatile float, ptr addrspace(1) " + name('p', i) + "\n";
  for (int64_t i = 0; i < kValues; ++i)
    s += "  " + name('s', i) + " = fadd float " + name('v', i) + ", " + name('v', (i * 37 + 5) % kValues) +
         "\n  store volatile float " + name('s', i) + ", ptr addrspace(1) " + name('p', i) + "\n";
  return s + "  ret void\n}\nattributes #0 = { \"amdgpu-num-vgpr\"=\"" + std::to_string(kRegisters) +
         "\" \"amdgpu-flat-work-group-size\"=\"32,32\" }\n";
}

const codegen::ArchInfo &gfx1100() { return *codegen::findArch(archTable(), "gfx1100"); }

std::unique_ptr<llvm::Module> parse(llvm::LLVMContext &context) {
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(crowdedBlock(), error, context);
  EXPECT_NE(module, nullptr) << error.getMessage().str();
  return module;
}

/// Registers that the allocator may try with this budget.
int64_t triesWith(int64_t budget) {
  gfx1100().registerLLVMTarget();
  llvm::LLVMContext context;
  auto module = parse(context);
  std::string error;
  llvm::Triple triple("amdgcn-amd-amdhsa");
  auto *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) ADD_FAILURE() << error;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, "gfx1100", "", {}, llvm::Reloc::PIC_));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  int64_t tried = 0;
  llvm::legacy::PassManager passes;
  passes.add(createEvictionBudget(budget, &tried));
  llvm::raw_null_ostream nowhere;
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  EXPECT_FALSE(machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile));
  passes.run(*module);
  return tried;
}

TEST(EvictionBudget, BoundsTheRegistersThatAreTried) {
  constexpr int64_t kSearch = kRegisters * kRegisters; // the last one may exceed the budget
  int64_t all = triesWith(INT64_MAX);
  EXPECT_GT(all, 20 * kSearch);
  EXPECT_EQ(triesWith(0), 0);
  for (int64_t budget : {kSearch, 5 * kSearch}) {
    int64_t tried = triesWith(budget);
    EXPECT_GE(tried, budget);
    EXPECT_LT(tried, budget + 8 * kSearch); // the allocator runs for scalars and for vectors
  }
}

TEST(EvictionBudget, IsTheTargets) {
  auto assemblyWith = [](int64_t budget) {
    codegen::ArchInfo arch = gfx1100();
    arch.info.tuning.maxEvictionTries = budget;
    llvm::LLVMContext context;
    auto module = parse(context);
    auto made = createBackend(arch, {})->compile(*module, codegen::Backend::Until::Assembly, true);
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? made->assembly : "";
  };
  EXPECT_NE(assemblyWith(0), assemblyWith(gfx1100().info.tuning.maxEvictionTries));
}

} // namespace
} // namespace tessera::amd
