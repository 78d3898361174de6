// The AMD back end on small hand-written kernels: objects for every target, figures that are known beforehand,
// determinism in one thread and in eight, device libraries, and what the user reads when something is missing.
#include "absl/status/status.h"
#include "codegen/lowering/targets.h"
#include "codegen_amd/arch_table.h"
#include "codegen_amd/backend.h"
#include "codegen_amd/object.h"
#include "codegen_amd/scheduler_options.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <thread>

namespace tessera::amd {
namespace {

using codegen::ArchInfo;
using codegen::Backend;
using codegen::BackendOptions;
using codegen::ObjectInfo;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// out[i] = FUNCTION(a[i]) for i < n.
std::string unaryKernel(const std::string &function, const std::string &type, const std::string &result = "") {
  std::string to = result.empty() ? type : result;
  return "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare " + to + " @" + function + "(" + type + ")\n" +
         "define amdgpu_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %out, i32 %n) {\n"
         "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %c = icmp slt i32 %t, %n\n  br i1 %c, label %do, label %end\n"
         "do:\n  %i = zext i32 %t to i64\n  %p = getelementptr " +
         type + ", ptr addrspace(1) %a, i64 %i\n  %v = load " + type +
         ", ptr addrspace(1) %p\n"
         "  %r = call " +
         to + " @" + function + "(" + type + " %v)\n  %q = getelementptr " + to +
         ", ptr addrspace(1) %out, i64 %i\n"
         "  store " +
         to + " %r, ptr addrspace(1) %q\n  ret void\nend:\n  ret void\n}\n";
}

// Doubles a[i], through 400 bytes of LDS.
constexpr const char *kSharedKernel = R"(
@s = internal addrspace(3) global [100 x float] poison, align 4
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
define amdgpu_kernel void @k(ptr addrspace(1) %a) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %i = and i32 %t, 63
  %p = getelementptr float, ptr addrspace(1) %a, i32 %t
  %q = getelementptr float, ptr addrspace(3) @s, i32 %i
  %r = sub i32 63, %i
  %u = getelementptr float, ptr addrspace(3) @s, i32 %r
  %v = load float, ptr addrspace(1) %p
  store float %v, ptr addrspace(3) %q
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %w = load float, ptr addrspace(3) %u
  %x = fadd float %w, %w
  store float %x, ptr addrspace(1) %p
  ret void
}
)";

// Has `count` values of each lane live at once.
std::string wideKernel(int count) {
  std::string s = "declare i32 @llvm.amdgcn.workitem.id.x()\ndefine amdgpu_kernel void @k(ptr addrspace(1) %a) {\n  %t "
                  "= call i32 @llvm.amdgcn.workitem.id.x()\n";
  for (int i = 0; i < count; ++i) {
    std::string n = std::to_string(i);
    s += "  %i" + n + " = add i32 %t, " + std::to_string(i * 64) + "\n  %p" + n +
         " = getelementptr float, ptr addrspace(1) %a, i32 %i" + n + "\n  %v" + n +
         " = load volatile float, ptr addrspace(1) %p" + n + "\n";
  }
  for (int i = count; i-- > 0;)
    s += "  store volatile float %v" + std::to_string(i) + ", ptr addrspace(1) %p" + std::to_string(i * 7 % count) +
         "\n";
  return s + "  ret void\n}\n";
}

absl::StatusOr<ObjectInfo> compile(const std::string &ir, const ArchInfo &arch, const BackendOptions &options = {},
                                   bool keepAssembly = false, Backend::Until until = Backend::Until::Object) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, error, context);
  if (!module) return absl::InvalidArgumentError(error.getMessage().str());
  return createBackend(arch, options)->compile(*module, until, keepAssembly);
}

const ArchInfo &arch(llvm::StringRef name) { return *codegen::findArch(archTable(), name); }

// The dynamic symbols of an object: defined ones as they are, undefined ones with "?" before.
std::vector<std::string> dynamicSymbols(const std::string &object) {
  std::vector<std::string> names;
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(object, "hsaco"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return {"not an ELF file"};
  }
  for (const llvm::object::ELFSymbolRef &symbol :
       llvm::cast<llvm::object::ELFObjectFileBase>(**file).getDynamicSymbolIterators()) {
    std::string name = llvm::cantFail(symbol.getName()).str();
    if (llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined) name = "?" + name;
    if (!name.empty() && name != "?") names.push_back(name);
  }
  return names;
}

class ScopedEnvironment {
public:
  ScopedEnvironment(const char *name, const std::string &value) : name_(name) {
    if (const char *old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedEnvironment() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

private:
  const char *name_;
  std::optional<std::string> old_;
};

#define ASSERT_OK(expression) ASSERT_TRUE((expression).ok()) << (expression).status()

TEST(AmdArchTable, Names) {
  for (const ArchInfo &a : archTable()) {
    EXPECT_EQ(a.info.tritonTarget, "hip:" + a.info.name.str());
    EXPECT_EQ(a.info.warpSize, a.info.name.starts_with("gfx9") ? 64 : 32);
  }
  EXPECT_EQ(codegen::findArch(archTable(), "gfx900"), nullptr);
}

TEST(AmdBackend, EveryTargetAndLevelGivesAnObject) {
  for (const ArchInfo &a : archTable())
    for (int level = 0; level <= 3; ++level) {
      SCOPED_TRACE(a.info.name.str() + " -O" + std::to_string(level));
      BackendOptions options;
      options.optLevel = level;
      absl::StatusOr<ObjectInfo> r = compile(kSharedKernel, a, options);
      ASSERT_OK(r);
      EXPECT_THAT(dynamicSymbols(r->object), testing::UnorderedElementsAre("k", "k.kd"));
      EXPECT_GT(r->registers, 0);
      EXPECT_GT(r->scalarRegisters, 0);
      EXPECT_EQ(r->staticSharedBytes, 400);
      EXPECT_EQ(r->spillBytes, 0);
      if (level) EXPECT_EQ(r->scratchBytesPerThread, 0);
      EXPECT_GT(r->occupancy, 0);
      EXPECT_THAT(r->object, HasSubstr("amdgcn-amd-amdhsa--" + a.info.name.str()));
    }
}

TEST(AmdBackend, KernelsRequestNothingThatTheyDoNotUse) {
  for (const ArchInfo &a : archTable()) {
    SCOPED_TRACE(a.info.name.str());
    BackendOptions options;
    options.numWarps = 2;
    absl::StatusOr<ObjectInfo> r = compile(kSharedKernel, a, options, /*keepAssembly=*/true);
    ASSERT_OK(r);
    std::string threads = std::to_string(2 * a.info.warpSize);
    EXPECT_THAT(r->assembly, AllOf(HasSubstr(".max_flat_workgroup_size: " + threads),
                                   HasSubstr(".wavefront_size: " + std::to_string(a.info.warpSize)),
                                   HasSubstr(".kernarg_segment_size: 8\n"), HasSubstr(".amdhsa_code_object_version 5"),
                                   Not(HasSubstr("hidden_")), HasSubstr(".amdhsa_user_sgpr_dispatch_ptr 0"),
                                   HasSubstr(".amdhsa_system_vgpr_workitem_id 0")));
    // gfx12 packs y and z of the block's id; see codegen_amd/llvm_passes.cpp.
    if (!a.info.name.starts_with("gfx12")) EXPECT_THAT(r->assembly, HasSubstr(".amdhsa_system_sgpr_workgroup_id_z 0"));
  }
}

TEST(AmdBackend, ByTextOrDirectlyTheSameFigures) {
  for (const ArchInfo &a : archTable()) {
    SCOPED_TRACE(a.info.name.str());
    absl::StatusOr<ObjectInfo> direct = compile(wideKernel(60), a),
                               text = compile(wideKernel(60), a, {}, /*keepAssembly=*/true);
    ASSERT_OK(direct);
    ASSERT_OK(text);
    EXPECT_EQ(direct->assembly, "");
    EXPECT_GE(direct->registers, 60);
    EXPECT_EQ(direct->registers, text->registers);
    EXPECT_EQ(direct->accumulatorRegisters, text->accumulatorRegisters);
    EXPECT_EQ(direct->scalarRegisters, text->scalarRegisters);
    EXPECT_EQ(direct->occupancy, text->occupancy);
  }
}

TEST(AmdBackend, SpillsAreStated) {
  BackendOptions options;
  options.maxRegisters = 40;
  absl::StatusOr<ObjectInfo> r = compile(wideKernel(120), arch("gfx1100"), options);
  ASSERT_OK(r);
  EXPECT_LE(r->registers, 40);
  EXPECT_GE(r->spillBytes, 4 * (120 - 40));
  EXPECT_GE(r->scratchBytesPerThread, r->spillBytes);
  r = compile(wideKernel(120), arch("gfx1100"));
  ASSERT_OK(r);
  EXPECT_EQ(r->spillBytes, 0);
}

TEST(AmdBackend, SameBytesAgainAndInEightThreads) {
  const std::string ir = unaryKernel("__ocml_sin_f32", "float");
  for (llvm::StringRef name : {"gfx942", "gfx1201"}) {
    absl::StatusOr<ObjectInfo> first = compile(ir, arch(name));
    ASSERT_OK(first);
    std::vector<std::string> objects(8);
    std::vector<std::thread> threads;
    for (std::string &object : objects)
      threads.emplace_back([&] {
        for (int i = 0; i < 3; ++i) {
          absl::StatusOr<ObjectInfo> r = compile(ir, arch(name));
          object = r.ok() ? r->object : r.status().ToString();
        }
      });
    for (std::thread &t : threads) t.join();
    for (const std::string &object : objects) EXPECT_TRUE(object == first->object);
  }
}

TEST(AmdBackend, KernelsWithoutOptimisationLeaveNothingBehind) {
  // Arguments that LLVM selects in another way once an option of the machine, which level 0 sets, is left on.
  auto kernel = [](llvm::StringRef attributes) {
    return ("define amdgpu_kernel void @k(ptr addrspace(1) %a, i1 inreg %x, i1 inreg %y, i1 inreg %z) " + attributes +
            R"( {
  %xy = or i1 %x, %y
  %xyz = or i1 %xy, %z
  br i1 %xyz, label %do, label %end
do:
  %v = zext i1 %xy to i32
  store i32 %v, ptr addrspace(1) %a
  ret void
end:
  ret void
}
)")
        .str();
  };
  for (llvm::StringRef name : {"gfx942", "gfx1100"}) {
    absl::StatusOr<ObjectInfo> first = compile(kernel(""), arch(name));
    ASSERT_OK(first);
    ASSERT_OK(compile(kernel("\"tessera-spills-anyway\""), arch(name)));
    absl::StatusOr<ObjectInfo> second = compile(kernel(""), arch(name));
    ASSERT_OK(second);
    EXPECT_TRUE(first->object == second->object) << name.str();
  }
}

TEST(AmdBackend, OneBackendServesManyThreads) {
  std::unique_ptr<Backend> backend = createBackend(arch("gfx942"), {});
  std::vector<std::string> objects(8);
  std::vector<std::thread> threads;
  for (std::string &object : objects)
    threads.emplace_back([&] {
      llvm::LLVMContext context;
      llvm::SMDiagnostic error;
      std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(kSharedKernel, error, context);
      absl::StatusOr<ObjectInfo> r = backend->compile(*module, Backend::Until::Object);
      object = r.ok() ? r->object : r.status().ToString();
    });
  for (std::thread &t : threads) t.join();
  for (const std::string &object : objects) EXPECT_TRUE(object == objects[0]);
  EXPECT_THAT(dynamicSymbols(objects[0]), testing::UnorderedElementsAre("k", "k.kd"));
}

/// Whether the two options that the library sets while it generates code have the value.
bool schedulerOptionsAre(bool set) {
  auto isSet = [](llvm::StringRef name) {
    auto &options = llvm::cl::getRegisteredOptions();
    auto it = options.find(name);
    return it != options.end() && static_cast<llvm::cl::opt<bool> *>(it->second)->getValue();
  };
  return isSet("amdgpu-disable-clustered-low-occupancy-reschedule") == set &&
         isSet("amdgpu-use-amdgpu-trackers") == set;
}

// Options of LLVM are the whole process's: what other users of LLVM in it set, and what they did not, stays.
TEST(AmdBackend, LeavesTheOptionsOfLlvmAlone) {
  arch("gfx942").registerLLVMTarget();
  auto *threshold =
      static_cast<llvm::cl::opt<unsigned> *>(llvm::cl::getRegisteredOptions()["amdgpu-promote-alloca-to-vector-limit"]);
  ASSERT_TRUE(threshold);
  unsigned before = threshold->getValue();
  threshold->setValue(77); // as a host would
  ASSERT_OK(compile(kSharedKernel, arch("gfx942")));
  EXPECT_EQ(threshold->getValue(), 77u);
  EXPECT_TRUE(schedulerOptionsAre(false));
  threshold->setValue(before);
}

TEST(AmdBackend, SchedulerOptionsThatLlvmLacksAreErrors) {
  EXPECT_TRUE(checkSchedulerOptions().ok()) << checkSchedulerOptions();
  EXPECT_TRUE(findSchedulerFlag("amdgpu-use-amdgpu-trackers").ok());
  for (const char *name : {"amdgpu-use-renamed-trackers", "inline-threshold" /* a number */}) {
    auto flag = findSchedulerFlag(name);
    EXPECT_EQ(flag.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(flag.status().message()), HasSubstr(std::string("has no flag '") + name + "'"));
  }
}

TEST(AmdBackend, SchedulerOptionsAreSetWhileCodeIsGenerated) {
  arch("gfx942").registerLLVMTarget();
  EXPECT_TRUE(schedulerOptionsAre(false));
  withSchedulerOptions([&] {
    EXPECT_TRUE(schedulerOptionsAre(true));
    withSchedulerOptions([&] { EXPECT_TRUE(schedulerOptionsAre(true)); });
    EXPECT_TRUE(schedulerOptionsAre(true));
  });
  EXPECT_TRUE(schedulerOptionsAre(false));
  EXPECT_THROW(withSchedulerOptions([] { throw 1; }), int);
  EXPECT_TRUE(schedulerOptionsAre(false));
}

// Each thread generates code with the tracker that it asked for, whatever the others ask for at the same time.
TEST(AmdBackend, ThreadsWithDifferentTrackersWaitForEachOther) {
  arch("gfx942").registerLLVMTarget();
  SchedulerFlag *flag = *findSchedulerFlag("amdgpu-use-amdgpu-trackers");
  std::atomic<int> wrong = 0, bodies = 0;
  std::vector<std::thread> threads;
  for (PressureTracker tracker :
       {PressureTracker::Targets, PressureTracker::Shared, PressureTracker::Targets, PressureTracker::Shared})
    threads.emplace_back([&, tracker] {
      for (int i = 0; i < 200; ++i)
        withSchedulerOptions(
            [&] {
              bool expected = tracker == PressureTracker::Targets;
              wrong += flag->getValue() != expected;
              std::this_thread::yield();
              withSchedulerOptions([&] { wrong += flag->getValue() != expected; }, tracker);
              ++bodies;
            },
            tracker);
    });
  for (std::thread &t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(bodies, 800);
  EXPECT_TRUE(schedulerOptionsAre(false));
}

/// The module as it goes to instruction selection.
std::unique_ptr<llvm::Module> optimized(llvm::LLVMContext &context, const std::string &ir, const ArchInfo &arch,
                                        int level = 3) {
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, error, context);
  BackendOptions options;
  options.optLevel = level;
  absl::StatusOr<ObjectInfo> r = createBackend(arch, options)->compile(*module, Backend::Until::Optimized);
  EXPECT_TRUE(r.ok()) << r.status();
  return module;
}

TEST(AmdPipeline, MfmaIsScheduledForLatency) {
  const std::string matrix = R"(
define amdgpu_kernel void @k(ptr addrspace(1) %a, <4 x half> %x, <4 x half> %y) {
  %c = load <4 x float>, ptr addrspace(1) %a
  %d = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half> %x, <4 x half> %y, <4 x float> %c, i32 0, i32 0, i32 0)
  store <4 x float> %d, ptr addrspace(1) %a
  ret void
}
declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x16f16(<4 x half>, <4 x half>, <4 x float>, i32, i32, i32)
)";
  llvm::LLVMContext context;
  for (llvm::StringRef name : {"gfx90a", "gfx942", "gfx950"}) {
    EXPECT_EQ(optimized(context, matrix, arch(name))
                  ->getFunction("k")
                  ->getFnAttribute("amdgpu-sched-strategy")
                  .getValueAsString(),
              "max-ilp");
    EXPECT_FALSE(
        optimized(context, kSharedKernel, arch(name))->getFunction("k")->hasFnAttribute("amdgpu-sched-strategy"));
  }
}

// Four rows that share a column: a loop that advances their pointers adds once to each, though LLVM could keep the
// rows and add the column to each of them in every iteration.
TEST(AmdPipeline, PointersThatALoopCarriesStayWhole) {
  std::string entry, phis, body;
  for (int i = 0; i < 4; ++i) {
    std::string n = std::to_string(i);
    entry += "  %r" + n + " = mul i64 %stride, " + std::to_string(3 * i + 1) + "\n  %row" + n +
             " = getelementptr half, ptr addrspace(1) %a, i64 %r" + n + "\n  %p" + n +
             " = getelementptr half, ptr addrspace(1) %row" + n + ", i64 %column\n";
    phis += "  %q" + n + " = phi ptr addrspace(1) [ %p" + n + ", %entry ], [ %next" + n + ", %loop ]\n";
    body += "  %v" + n + " = load volatile half, ptr addrspace(1) %q" + n + "\n  %next" + n +
            " = getelementptr half, ptr addrspace(1) %q" + n + ", i64 %step\n";
  }
  std::string ir = "declare i32 @llvm.amdgcn.workitem.id.x()\ndefine amdgpu_kernel void @k(ptr addrspace(1) %a, i64 "
                   "%stride, i64 %step, i32 %n) {\nentry:\n"
                   "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  %column = zext i32 %t to i64\n" +
                   entry +
                   "  br label %loop\nloop:\n"
                   "  %i = phi i32 [ 0, %entry ], [ %j, %loop ]\n" +
                   phis + body +
                   "  %j = add i32 %i, 1\n  %more = icmp slt i32 %j, %n\n"
                   "  br i1 %more, label %loop, label %end\nend:\n  ret void\n}\n";
  for (const ArchInfo &a : archTable()) {
    SCOPED_TRACE(a.info.name.str());
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = optimized(context, ir, a);
    int carried = 0;
    for (llvm::BasicBlock &block : *module->getFunction("k"))
      for (llvm::PHINode &phi : block.phis())
        if (phi.getType()->isPointerTy()) {
          ++carried;
          EXPECT_TRUE(llvm::any_of(phi.incoming_values(), [](llvm::Value *v) {
            auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
            return call && call->getIntrinsicID() == llvm::Intrinsic::launder_invariant_group;
          }));
        }
    EXPECT_EQ(carried, 4);
    // Loads and what makes their addresses, in the loop: the loads' addresses are registers that only additions change.
    absl::StatusOr<ObjectInfo> r = compile(ir, a, {}, /*keepAssembly=*/true);
    ASSERT_OK(r);
    llvm::StringRef text = r->assembly, loop = text.slice(text.rfind(".LBB0_1:"), text.rfind("s_cbranch"));
    int additions = 0, adds64 = 0;
    for (llvm::StringRef rest = loop, line; !rest.empty();) {
      std::tie(line, rest) = rest.split('\n');
      line = line.trim();
      additions += line.starts_with("v_add") || line.starts_with("v_lshl_add_u64");
      adds64 += line.starts_with("v_lshl_add_u64");
    }
    EXPECT_EQ(additions, adds64 ? 4 : 8) << loop.str(); // 64 bits in one instruction, or in two
  }
}

TEST(AmdDeviceLibrary, FunctionsOfBothLibrariesAreResolvedOnEveryTarget) {
  for (const ArchInfo &a : archTable())
    for (const auto &[function, type] : {std::pair<std::string, std::string>{"__ocml_sin_f32", "float"},
                                         {"__ocml_tanh_f64", "double"},
                                         {"__nv_tanhf", "float"},
                                         {"__nv_exp", "double"},
                                         {"__nv_fsqrt_rn", "float"},
                                         {"__nv_fast_expf", "float"},
                                         {"__nv_erfinvf", "float"}}) {
      SCOPED_TRACE(a.info.name.str() + " " + function);
      absl::StatusOr<ObjectInfo> r = compile(unaryKernel(function, type), a);
      ASSERT_OK(r);
      // Nothing undefined, nothing of the library left over.
      EXPECT_THAT(dynamicSymbols(r->object), testing::UnorderedElementsAre("k", "k.kd"));
    }
}

TEST(AmdDeviceLibrary, SingleOperationsOfLibdevice) {
  ScopedEnvironment none("TESSERA_DEVICE_LIBS", "/nonexistent"); // they need no library
  const struct {
    const char *function, *type, *result, *instruction;
  } cases[] = {{"__nv_float2int_rz", "float", "i32", "v_cvt_i32_f32"},
               {"__nv_popc", "i32", "i32", "v_bcnt_u32_b32"},
               {"__nv_brev", "i32", "i32", "v_bfrev_b32"},
               {"__nv_float_as_int", "float", "i32", "s_endpgm"},
               {"__nv_int2float_rn", "i32", "float", "v_cvt_f32_i32"},
               {"__nv_abs", "i32", "i32", "v_max_i32"},
               {"__nv_llrintf", "float", "i64", "v_rndne_f32"},
               {"__nv_frcp_rn", "float", "float", "v_div_fixup_f32"}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.function);
    absl::StatusOr<ObjectInfo> r =
        compile(unaryKernel(c.function, c.type, c.result), arch("gfx942"), {}, /*keepAssembly=*/true);
    ASSERT_OK(r);
    EXPECT_THAT(r->assembly, HasSubstr(c.instruction));
    EXPECT_THAT(dynamicSymbols(r->object), testing::UnorderedElementsAre("k", "k.kd"));
  }
}

TEST(AmdDeviceLibrary, UnknownFunctionsAreNamed) {
  for (const char *name : {"__nv_jn", "__ocml_nosuch_f32", "__nv_nosuch", "__nv_float2int"}) {
    absl::Status s = compile(unaryKernel(name, "float"), arch("gfx942")).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(s.message()), HasSubstr(std::string("'") + name + "'"));
  }
  absl::Status s = compile(unaryKernel("__ocml_sin_f32", "double"), arch("gfx942")).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), AllOf(HasSubstr("'__ocml_sin_f32'"), HasSubstr("not double (double)")));
}

TEST(AmdDeviceLibrary, MissingOcmlIsSaidOnlyWhenNeeded) {
  ScopedEnvironment none("TESSERA_DEVICE_LIBS", "/nonexistent");
  EXPECT_TRUE(compile(kSharedKernel, arch("gfx942")).ok());
  absl::Status s = compile(unaryKernel("__nv_sinf", "float"), arch("gfx942")).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(s.message()),
              AllOf(HasSubstr("ocml.bc"), HasSubstr("__ocml_sin_f32"), HasSubstr("/nonexistent")));
}

TEST(AmdObject, BadTextAndBadObjectsAreErrors) {
  EXPECT_THAT(std::string(assembleText("\tv_nonsense_b32 v0, v1\n", arch("gfx942")).status().message()),
              HasSubstr("v_nonsense_b32"));
  // An instruction that another target has.
  EXPECT_FALSE(assembleText("\tv_permlane32_swap_b32 v0, v1\n", arch("gfx942")).ok());
  EXPECT_TRUE(assembleText("\tv_permlane32_swap_b32 v0, v1\n", arch("gfx950")).ok());
  EXPECT_THAT(std::string(makeHsaco("not an object", arch("gfx942"), {}).status().message()), HasSubstr("lld"));
  // After a failed link the next one works.
  EXPECT_TRUE(compile(kSharedKernel, arch("gfx942")).ok());
}

TEST(AmdObject, UndefinedSymbolsFailTheLink) {
  absl::Status s = compile(unaryKernel("elsewhere", "float"), arch("gfx942")).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(s.message()), HasSubstr("elsewhere"));
}

TEST(AmdBackend, ClustersAreRefused) {
  BackendOptions options;
  options.numCtas = 2;
  EXPECT_EQ(compile(kSharedKernel, arch("gfx942"), options).status().code(), absl::StatusCode::kInvalidArgument);
}

// Waves per SIMD as in LLVM's AMDGPU subtarget tables.
TEST(AmdOccupancy, KnownValues) {
  const ir::TargetInfo &cdna = arch("gfx942").info, &rdna = arch("gfx1100").info;
  EXPECT_EQ(cdna.occupancy({4, 0, 64, 32}), 8);
  EXPECT_EQ(cdna.occupancy({4, 0, 65, 32}), 7);
  EXPECT_EQ(cdna.occupancy({4, 0, 128, 32}), 4);
  EXPECT_EQ(cdna.occupancy({4, 0, 257, 32}), 1);
  EXPECT_EQ(cdna.occupancy({4, 0, 32, 106}), 7);
  EXPECT_EQ(cdna.occupancy({4, 20 * 1024, 32, 32}), 3);
  EXPECT_EQ(cdna.occupancy({1, 0, 32, 32}), 32);
  EXPECT_EQ(rdna.occupancy({4, 0, 96, 32}), 16);
  EXPECT_EQ(rdna.occupancy({4, 0, 97, 32}), 12);
  EXPECT_EQ(rdna.occupancy({8, 0, 256, 106}), 2);
  EXPECT_EQ(rdna.occupancy({8, 64 * 1024, 32, 32}), 2);
}

TEST(AmdBackend, AFatalErrorOfLLVMFailsTheCallAlone) {
  // A conversion to a single bit, which instruction selection does not know. The module and its context are lost.
  const ArchInfo *arch = codegen::findArch(archTable(), "gfx942");
  ASSERT_TRUE(arch);
  auto backend = createBackend(*arch, BackendOptions());
  for (int i = 0; i < 3; ++i) {
    auto *context = new llvm::LLVMContext;
    llvm::SMDiagnostic error;
    auto module =
        llvm::parseAssemblyString("define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n  %x = load bfloat, ptr "
                                  "addrspace(1) %p\n  %i = fptosi bfloat %x to i1\n"
                                  "  %z = zext i1 %i to i32\n  store i32 %z, ptr addrspace(1) %p\n  ret void\n}\n",
                                  error, *context);
    ASSERT_TRUE(module) << error.getMessage().str();
    auto object = backend->compile(*module.release(), Backend::Until::Object);
    ASSERT_FALSE(object.ok());
    EXPECT_THAT(std::string(object.status().message()), HasSubstr("Cannot select"));
    EXPECT_TRUE(object.status().GetPayload(codegen::kAbandonModulePayload));
  }
  // And the back end still compiles.
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString("define amdgpu_kernel void @k() {\n  ret void\n}\n", error, context);
  EXPECT_TRUE(backend->compile(*module, Backend::Until::Object).ok());
}

} // namespace
} // namespace tessera::amd
