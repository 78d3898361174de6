// Running lowered code on the host (what host_execution.h promises).
#include "host_execution.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::testing {
namespace {

// f32 → bf16, to nearest even, for hosts without an instruction for it; libgcc has it only from version 13 on. The
// result is the lower half of the register in which a float is returned.
float truncateToBFloat16(float value) {
  llvm::APFloat v(value);
  bool lossy;
  v.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &lossy);
  return llvm::bit_cast<float>(uint32_t(v.bitcastToAPInt().getZExtValue()));
}

} // namespace

HostProgram::HostProgram(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module) {
  static const bool host = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter() &&
                           !llvm::InitializeNativeTargetAsmParser();
  if (!host) {
    error = "this LLVM has no back end for the host";
    return;
  }
  auto take = [&](llvm::Error e) { error = llvm::toString(std::move(e)); };
  // Kernels are unrolled and run once: what counts is the time to compile.
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machine) {
    take(machine.takeError());
    return;
  }
  machine->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*machine).create();
  if (!jit) {
    take(jit.takeError());
    return;
  }
  jit_ = std::move(*jit);
  if (auto e = jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(
          {{jit_->mangleAndIntern("__truncsfbf2"),
            {llvm::orc::ExecutorAddr::fromPtr(truncateToBFloat16), llvm::JITSymbolFlags::Exported}}}))) {
    take(std::move(e));
    return;
  }
  module->setDataLayout(jit_->getDataLayout());
  if (auto e = jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    take(std::move(e));
}

void *HostProgram::lookup(const char *symbol) {
  if (!jit_ || !error.empty()) return nullptr;
  auto a = jit_->lookup(symbol);
  if (!a) {
    error = llvm::toString(a.takeError());
    return nullptr;
  }
  return a->toPtr<void *>();
}

std::unique_ptr<llvm::Module> lowerText(llvm::StringRef text, const codegen::Target &target, llvm::LLVMContext &context,
                                        std::string &errors, const codegen::LoweringOptions &options) {
  ir::Context irContext;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { errors += render(d); });
  auto module = frontend::parseModule(text, "test.ttgir", irContext, diag);
  if (!module) return nullptr;
  auto lowered = lowerToLLVM(*module, target, context, options, diag);
  if (!lowered) return nullptr;
  llvm::raw_string_ostream os(errors);
  if (llvm::verifyModule(*lowered, &os)) {
    lowered->print(os, nullptr);
    return nullptr;
  }
  return lowered;
}

static int64_t run(llvm::StringRef text, llvm::StringRef kernel, llvm::ArrayRef<uint64_t> args, std::string &errors,
                   const codegen::Target &target, int threads, int programs, int rounds,
                   llvm::function_ref<void(int)> before) {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = lowerText(text, target, *context, errors);
  if (!module) return -1;
  for (const char *name : {"tid", "pid", "elements_stored"}) {
    auto *g = llvm::cast<llvm::GlobalVariable>(module->getOrInsertGlobal(name, llvm::Type::getInt32Ty(*context)));
    g->setInitializer(llvm::ConstantInt::get(llvm::Type::getInt32Ty(*context), 0));
  }
  HostProgram program(std::move(context), std::move(module));
  auto *entry = (void (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                          uint64_t))program.lookup(kernel.str().c_str());
  int32_t *tid = program.tid(), *pid = (int32_t *)program.lookup("pid"),
          *stored = (int32_t *)program.lookup("elements_stored");
  if (!entry || !tid || !pid || !stored) {
    errors += program.error;
    return -1;
  }
  uint64_t a[8] = {};
  for (size_t i = 0; i < args.size(); ++i) a[i] = args[i];
  for (int round = 0; round < rounds; ++round) {
    if (before) before(round);
    for (*pid = 0; *pid < programs; ++*pid)
      for (*tid = 0; *tid < threads; ++*tid) entry(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
  }
  return *stored;
}

int64_t runOnHost(llvm::StringRef text, llvm::StringRef kernel, llvm::ArrayRef<uint64_t> args, std::string &errors,
                  int threads, int programs) {
  return run(text, kernel, args, errors, HostTarget(), threads, programs, 1, nullptr);
}

int64_t runOnHost(llvm::StringRef text, llvm::StringRef kernel, llvm::ArrayRef<uint64_t> args, std::string &errors,
                  const codegen::Target &target, int threads, int rounds, llvm::function_ref<void(int)> before) {
  return run(text, kernel, args, errors, target, threads, 1, rounds, before);
}

std::string kernelOfTwo(const std::string &type, const std::string &op) {
  std::string i = "tensor<4096xi32, #l>", e = "tensor<4096x" + type + ", #l>",
              p = "tensor<4096x!tt.ptr<" + type + ">, #l>";
  auto pointer = [&](const std::string &n) {
    return "%" + n + "s = tt.splat %" + n + " : !tt.ptr<" + type + "> -> " + p + "\n%" + n + "p = tt.addptr %" + n +
           "s, %i : " + p + ", " + i + "\n";
  };
  std::string argument = ": !tt.ptr<" + type + ">";
  return "#l = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
         "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, "
         "\"ttg.threads-per-warp\" = 32 : i32} {\n"
         "tt.func public @k(%a" +
         argument + ", %b" + argument + ", %c" + argument +
         ") {\n"
         "%i = tt.make_range {end = 4096 : i32, start = 0 : i32} : " +
         i + "\n" + pointer("a") + pointer("b") + pointer("c") + "%x = tt.load %ap : " + p +
         "\n%y = tt.load %bp : " + p + "\n%q = " + op + " %x, %y : " + e + "\ntt.store %cp, %q : " + p +
         "\ntt.return\n}\n}\n";
}

} // namespace tessera::testing
