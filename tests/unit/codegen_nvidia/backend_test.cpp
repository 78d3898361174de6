// The NVIDIA back end on small hand-written kernels: objects for every target, figures that are known beforehand,
// determinism in one thread and in eight, device libraries, and what the user reads when a tool is missing or too old.
#include "absl/status/status.h"
#include "codegen/lowering/targets.h"
#include "codegen/object/device_functions.h"
#include "codegen_nvidia/arch_table.h"
#include "codegen_nvidia/backend.h"
#include "codegen_nvidia/object.h"
#include "codegen_nvidia/ptxas_process.h"
#include "cuda_toolkit.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <thread>

namespace tessera::nvidia {
namespace {

using codegen::ArchInfo;
using codegen::Backend;
using codegen::BackendOptions;
using codegen::ObjectInfo;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// out[i] = FUNCTION(a[i]) for i < n.
std::string unaryKernel(const std::string &function, const std::string &type) {
  return "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndeclare " + type + " @" + function + "(" + type + ")\n" +
         "define ptx_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %out, i32 %n) {\n"
         "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %c = icmp slt i32 %t, %n\n  br i1 %c, label %do, label "
         "%end\n"
         "do:\n  %i = zext i32 %t to i64\n  %p = getelementptr " +
         type + ", ptr addrspace(1) %a, i64 %i\n  %v = load " + type +
         ", ptr addrspace(1) %p\n"
         "  %r = call " +
         type + " @" + function + "(" + type + " %v)\n  %q = getelementptr " + type +
         ", ptr addrspace(1) %out, i64 %i\n"
         "  store " +
         type + " %r, ptr addrspace(1) %q\n  ret void\nend:\n  ret void\n}\n";
}

// Doubles a[i], through 400 bytes of shared memory.
constexpr const char *kSharedKernel = R"(
@s = internal addrspace(3) global [100 x float] poison, align 4
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @k(ptr addrspace(1) %a) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = and i32 %t, 63
  %p = getelementptr float, ptr addrspace(1) %a, i32 %t
  %q = getelementptr float, ptr addrspace(3) @s, i32 %i
  %r = sub i32 63, %i
  %u = getelementptr float, ptr addrspace(3) @s, i32 %r
  %v = load float, ptr addrspace(1) %p
  store float %v, ptr addrspace(3) %q
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %w = load float, ptr addrspace(3) %u
  %x = fadd float %w, %w
  store float %x, ptr addrspace(1) %p
  ret void
}
)";

// Has `count` values live at once.
std::string wideKernel(int count) {
  std::string s = "define ptx_kernel void @k(ptr addrspace(1) %a) {\n";
  for (int i = 0; i < count; ++i) {
    std::string n = std::to_string(i);
    s += "  %p" + n + " = getelementptr float, ptr addrspace(1) %a, i64 " + n + "\n  %v" + n +
         " = load volatile float, ptr addrspace(1) %p" + n + "\n";
  }
  for (int i = count; i-- > 0;)
    s += "  store volatile float %v" + std::to_string(i) + ", ptr addrspace(1) %p" + std::to_string(i * 7 % count) +
         "\n";
  return s + "  ret void\n}\n";
}

struct Result {
  absl::StatusOr<ObjectInfo> object = absl::UnknownError("");
  std::string optimized; // declarations that are left, one per line
};

Result compile(const std::string &ir, const ArchInfo &arch, const BackendOptions &options = {},
               Backend::Until until = Backend::Until::Object) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(ir, error, context);
  if (!module) {
    ADD_FAILURE() << error.getMessage().str();
    return {};
  }
  Result r;
  r.object = createBackend(arch, options)->compile(*module, until, /*keepAssembly=*/true);
  for (const llvm::Function &f : *module)
    if (f.isDeclaration() && !f.isIntrinsic()) r.optimized += f.getName().str() + "\n";
  return r;
}

const ArchInfo &arch(llvm::StringRef name) { return *codegen::findArch(archTable(), name); }

// Sets an environment variable for one scope.
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

// An empty folder that is gone at the end.
class EmptyFolder {
public:
  EmptyFolder() { EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("tessera-test", path_)); }
  ~EmptyFolder() { llvm::sys::fs::remove_directories(path_); }
  std::string path() const { return std::string(path_); }

private:
  llvm::SmallString<128> path_;
};

#define ASSERT_OK(expression) ASSERT_TRUE((expression).ok()) << (expression).status()

TEST(NvidiaArchTable, NamesAndAliases) {
  EXPECT_EQ(&arch("sm_90"), &arch("sm_90a"));
  EXPECT_EQ(&arch("sm_100"), &arch("sm_100a"));
  EXPECT_EQ(&arch("sm_120"), &arch("sm_120a"));
  EXPECT_EQ(codegen::findArch(archTable(), "sm_91"), nullptr);
  EXPECT_EQ(codegen::findArch(archTable(), ""), nullptr);
  for (const ArchInfo &a : archTable())
    EXPECT_EQ(a.info.tritonTarget, "cuda:" + std::to_string(a.info.computeCapability));
}

TEST(NvidiaBackend, EveryTargetAndLevelGivesAnObject) {
  NEEDS_PTXAS();
  for (const ArchInfo &a : archTable())
    for (int level = 0; level <= 3; ++level) {
      SCOPED_TRACE(a.info.name.str() + " -O" + std::to_string(level));
      BackendOptions options;
      options.optLevel = level;
      Result r = compile(kSharedKernel, a, options);
      ASSERT_OK(r.object);
      EXPECT_EQ(r.object->object.substr(0, 4), "\x7f"
                                               "ELF");
      EXPECT_THAT(r.object->assembly,
                  AllOf(HasSubstr(".target " + a.cpu.str() + "\n"), HasSubstr(".entry k("), HasSubstr(".reqntid 128")));
      EXPECT_GT(r.object->registers, 0);
      EXPECT_EQ(r.object->staticSharedBytes, 400);
      EXPECT_EQ(r.object->spillBytes, 0);
      EXPECT_EQ(r.object->scratchBytesPerThread, 0);
      EXPECT_GT(r.object->occupancy, 0);
    }
}

TEST(NvidiaBackend, BothCompilersStateTheSameFigures) {
  NEEDS_PTXAS();
  NEEDS_NVJITLINK();
  Result inProcess = [] {
    ScopedEnvironment noPtxas("TESSERA_PTXAS", "none");
    return compile(kSharedKernel, arch("sm_90a"));
  }();
  ASSERT_OK(inProcess.object);
  Result process = compile(kSharedKernel, arch("sm_90a"));
  ASSERT_OK(process.object);
  EXPECT_NE(inProcess.object->object, process.object->object); // so two compilers have indeed been at work
  EXPECT_EQ(inProcess.object->assembly, process.object->assembly);
  EXPECT_EQ(inProcess.object->staticSharedBytes, process.object->staticSharedBytes);
  EXPECT_EQ(inProcess.object->registers, process.object->registers);
}

TEST(NvidiaBackend, SpillsAreStated) {
  NEEDS_PTXAS();
  BackendOptions options;
  options.maxRegisters = 32;
  Result r = compile(wideKernel(100), arch("sm_90a"), options);
  ASSERT_OK(r.object);
  EXPECT_LE(r.object->registers, 32);
  EXPECT_GE(r.object->spillBytes, 4 * (100 - 32));
  EXPECT_GE(r.object->scratchBytesPerThread, 4 * (100 - 32));
  Result free = compile(wideKernel(100), arch("sm_90a"));
  ASSERT_OK(free.object);
  EXPECT_GT(free.object->registers, 100);
  EXPECT_EQ(free.object->spillBytes, 0);
}

// Half of full occupancy leaves a thread 64 registers, fewer than the kernel has values.
TEST(NvidiaBackend, ARequestForBlocksThatCostsSpillsIsWithdrawn) {
  if (!findPtxas().ok()) GTEST_SKIP();
  std::string kernel = wideKernel(100);
  size_t body = kernel.find(" {");
  std::string requesting = std::string(kernel).insert(body, " \"tessera-widest-tensor\"=\"16\"");
  Result plain = compile(kernel, arch("sm_90a")), withdrawn = compile(requesting, arch("sm_90a"));
  ASSERT_OK(plain.object);
  ASSERT_OK(withdrawn.object);
  EXPECT_THAT(withdrawn.object->assembly, HasSubstr(".minnctapersm 8"));
  EXPECT_EQ(withdrawn.object->spillBytes, 0);
  // It is compiled for the blocks that fit without spills then.
  EXPECT_EQ(withdrawn.object->occupancy, plain.object->occupancy);
}

TEST(NvidiaBackend, SameBytesAgainAndInEightThreads) {
  NEEDS_PTXAS();
  NEEDS_LIBDEVICE();
  const std::string ir = unaryKernel("__nv_sinf", "float");
  Result first = compile(ir, arch("sm_90a"));
  ASSERT_OK(first.object);
  std::vector<std::string> objects(8);
  std::vector<std::thread> threads;
  for (std::string &object : objects)
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) {
        Result r = compile(ir, arch("sm_90a"));
        object = r.object.ok() ? r.object->object : r.object.status().ToString();
      }
    });
  for (std::thread &t : threads) t.join();
  for (const std::string &object : objects) EXPECT_TRUE(object == first.object->object);
}

TEST(NvidiaBackend, OneBackendServesManyThreads) {
  std::unique_ptr<Backend> backend = createBackend(arch("sm_80"), {});
  std::vector<std::string> assemblies(8);
  std::vector<std::thread> threads;
  for (std::string &assembly : assemblies)
    threads.emplace_back([&] {
      llvm::LLVMContext context;
      llvm::SMDiagnostic error;
      std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(kSharedKernel, error, context);
      absl::StatusOr<ObjectInfo> r = backend->compile(*module, Backend::Until::Assembly);
      assembly = r.ok() ? r->assembly : r.status().ToString();
    });
  for (std::thread &t : threads) t.join();
  EXPECT_THAT(assemblies[0], HasSubstr(".entry k("));
  for (const std::string &assembly : assemblies) EXPECT_EQ(assembly, assemblies[0]);
}

TEST(NvidiaDeviceLibrary, FunctionsOfBothLibrariesAreResolved) {
  NEEDS_PTXAS();
  NEEDS_LIBDEVICE();
  for (const auto &[function, type] : {std::pair<std::string, std::string>{"__nv_sinf", "float"},
                                       {"__nv_tanhf", "float"},
                                       {"__nv_exp", "double"},
                                       {"__nv_fsqrt_rn", "float"},
                                       {"__ocml_tanh_f32", "float"},
                                       {"__ocml_log1p_f64", "double"},
                                       {"__ocml_native_sin_f32", "float"}}) {
    SCOPED_TRACE(function);
    Result r = compile(unaryKernel(function, type), arch("sm_90a"));
    ASSERT_OK(r.object);
    EXPECT_EQ(r.optimized, "");
    EXPECT_THAT(r.object->assembly, Not(HasSubstr("__nv")));
  }
}

TEST(NvidiaDeviceLibrary, CallsOfAFunctionShareItsArray) {
  NEEDS_LIBDEVICE();
  const std::string ir = R"(
    target triple = "nvptx64-nvidia-cuda"
    declare float @__nv_cosf(float)
    define ptx_kernel void @k(ptr addrspace(1) %p, float %x, float %y) {
      %a = call float @__nv_cosf(float %x)
      %b = call float @__nv_cosf(float %y)
      %s = fadd float %a, %b
      store float %s, ptr addrspace(1) %p
      ret void
    })";
  Result r = compile(ir, arch("sm_90a"), {}, Backend::Until::Assembly);
  ASSERT_OK(r.object);
  // Seven words, in which large arguments are reduced.
  EXPECT_THAT(r.object->assembly, HasSubstr("__local_depot0[28]"));
}

TEST(NvidiaDeviceLibrary, FlushesDenormalsAsReflectSays) {
  NEEDS_LIBDEVICE();
  Result r = compile(unaryKernel("__nv_exp2f", "float"), arch("sm_90a"), {}, Backend::Until::Assembly);
  ASSERT_OK(r.object);
  EXPECT_THAT(r.object->assembly, AllOf(HasSubstr("ex2.approx.ftz.f32"), Not(HasSubstr("__nvvm_reflect"))));
}

TEST(NvidiaDeviceLibrary, UnknownFunctionsAreNamed) {
  NEEDS_LIBDEVICE();
  Result r = compile(unaryKernel("__nv_nosuch", "float"), arch("sm_90a"));
  EXPECT_EQ(r.object.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(r.object.status().message()), HasSubstr("'__nv_nosuch'"));
  r = compile(unaryKernel("__ocml_acospi_f32", "float"), arch("sm_90a"));
  EXPECT_EQ(r.object.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(r.object.status().message()),
              AllOf(HasSubstr("'__ocml_acospi_f32'"), HasSubstr("libdevice")));
  r = compile(unaryKernel("__ocml_tanpi_f32", "float"), arch("sm_90a")); // in the table, without libdevice's name
  EXPECT_EQ(r.object.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(r.object.status().message()), AllOf(HasSubstr("'__ocml_tanpi_f32'"), HasSubstr("libdevice")));
  r = compile(unaryKernel("__nv_sinf", "double"), arch("sm_90a"));
  EXPECT_EQ(r.object.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(r.object.status().message()),
              AllOf(HasSubstr("'__nv_sinf'"), HasSubstr("not double (double)")));
}

TEST(NvidiaDeviceLibrary, MissingLibdeviceIsSaidOnlyWhenNeeded) {
  NEEDS_PTXAS();
  EmptyFolder empty;
  ScopedEnvironment none("TESSERA_LIBDEVICE", empty.path());
  EXPECT_TRUE(compile(kSharedKernel, arch("sm_90a")).object.ok());
  absl::Status s = compile(unaryKernel("__nv_sinf", "float"), arch("sm_90a")).object.status();
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(s.message()),
              AllOf(HasSubstr("libdevice.10.bc"), HasSubstr("__nv_sinf"), HasSubstr(empty.path())));
}

TEST(NvidiaTools, MissingToolsAreNamed) {
  EmptyFolder empty;
  ScopedEnvironment noLibrary("TESSERA_NVJITLINK", empty.path()), noPtxas("TESSERA_PTXAS", "none");
  absl::Status s = compile(kSharedKernel, arch("sm_90a")).object.status();
  EXPECT_EQ(s.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(s.message()), AllOf(HasSubstr("libnvJitLink"), HasSubstr("ptxas"),
                                              HasSubstr("TESSERA_NVJITLINK"), HasSubstr(empty.path())));
  EXPECT_EQ(checkToolVariables(/*makesObject=*/true).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(checkToolVariables(/*makesObject=*/false).ok());
  // Assembly needs no tool.
  EXPECT_TRUE(compile(kSharedKernel, arch("sm_90a"), {}, Backend::Until::Assembly).object.ok());
}

// The library is searched for once, whether the variable is unset or empty.
TEST(NvidiaTools, AnEmptyVariableCountsAsUnset) {
  NEEDS_NVJITLINK();
  ScopedEnvironment noPtxas("TESSERA_PTXAS", "none"), library("TESSERA_NVJITLINK", "");
  ASSERT_TRUE(compile(kSharedKernel, arch("sm_90a")).object.ok());
  EmptyFolder toolkit; // in which a new search would find a file that is no library
  ASSERT_FALSE(llvm::sys::fs::create_directory(toolkit.path() + "/lib64"));
  std::ofstream(toolkit.path() + "/lib64/libnvJitLink.so.13") << "no library";
  ScopedEnvironment home("CUDA_HOME", toolkit.path());
  EXPECT_EQ(compile(kSharedKernel, arch("sm_90a")).object.status(), absl::OkStatus());
}

// The library is another compiler than the one that was asked for.
TEST(NvidiaTools, TheLibraryIsNoSubstituteForANamedPtxas) {
  EmptyFolder empty;
  for (const std::string &named : {empty.path(), std::string("/nonexistent"), std::string("/etc/passwd")}) {
    SCOPED_TRACE(named);
    ScopedEnvironment ptxas("TESSERA_PTXAS", named);
    absl::Status s = compile(kSharedKernel, arch("sm_90a")).object.status();
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(s.message()), AllOf(HasSubstr("TESSERA_PTXAS"), HasSubstr(named)));
    EXPECT_EQ(checkToolVariables(/*makesObject=*/true), s);
  }
}

TEST(NvidiaTools, AToolTooOldForTheTargetIsNamedWithTheTarget) {
  EmptyFolder folder;
  std::string fake = folder.path() + "/ptxas";
  {
    std::error_code error;
    llvm::raw_fd_ostream out(fake, error);
    out << "#!/bin/sh\necho \"ptxas fatal   : Value 'sm_120a' is not defined for option 'gpu-name'\" >&2\nexit 1\n";
  }
  llvm::sys::fs::setPermissions(fake, llvm::sys::fs::all_all);
  ScopedEnvironment oldPtxas("TESSERA_PTXAS", fake);
  absl::Status s = compile(kSharedKernel, arch("sm_120a")).object.status();
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()), AllOf(HasSubstr(fake), HasSubstr("sm_120a")));
}

// A ptxas that warns, and then does what ptxas does.
TEST(NvidiaTools, DotsThatWaitForEachOtherAreStated) {
  NEEDS_PTXAS();
  std::string real = *findPtxas();
  EXPECT_EQ(compile(kSharedKernel, arch("sm_90a")).object->dotsSerialized, "");
  EmptyFolder folder;
  std::string warns = folder.path() + "/ptxas";
  {
    std::error_code error;
    llvm::raw_fd_ostream out(warns, error);
    out << "#!/bin/sh\necho \"ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions are "
           "serialized due to a reason in the function 'k'\"\nexec '"
        << real << "' \"$@\"\n";
  }
  llvm::sys::fs::setPermissions(warns, llvm::sys::fs::all_all);
  ScopedEnvironment ptxas("TESSERA_PTXAS", warns);
  Result made = compile(kSharedKernel, arch("sm_90a"));
  ASSERT_OK(made.object);
  EXPECT_EQ(made.object->dotsSerialized, "a reason");
}

TEST(NvidiaTools, TheirComplaintsArePassedOn) {
  NEEDS_PTXAS();
  NEEDS_NVJITLINK();
  const char *ptx = ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k() { nonsense.b32 %r1; }\n";
  BackendOptions options;
  {
    ScopedEnvironment noPtxas("TESSERA_PTXAS", "none");
    EXPECT_THAT(std::string(makeCubin(ptx, arch("sm_90a"), options).status().message()),
                AllOf(HasSubstr("libnvJitLink"), HasSubstr("nonsense")));
  }
  EXPECT_THAT(std::string(makeCubin(ptx, arch("sm_90a"), options).status().message()),
              AllOf(HasSubstr("ptxas"), HasSubstr("nonsense")));
}

TEST(NvidiaBackend, LinesAreKeptWithoutTheDebugFlag) {
  NEEDS_PTXAS();
  const char *ir = R"(
define ptx_kernel void @k(ptr addrspace(1) %a) !dbg !4 {
  %v = load float, ptr addrspace(1) %a, !dbg !6
  %w = fadd float %v, 1.0, !dbg !7
  store float %w, ptr addrspace(1) %a, !dbg !6
  ret void, !dbg !6
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, producer: "tessera", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "kernel.py", directory: ".")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "k", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition | DISPFlagOptimized)
!5 = !DISubroutineType(types: !8)
!6 = !DILocation(line: 41, column: 3, scope: !4)
!7 = !DILocation(line: 42, column: 7, scope: !4)
!8 = !{}
)";
  BackendOptions options;
  options.lineInfo = true;
  Result r = compile(ir, arch("sm_90a"), options);
  ASSERT_OK(r.object);
  EXPECT_THAT(r.object->assembly, AllOf(HasSubstr("kernel.py"), HasSubstr(".loc\t1 41 3"), HasSubstr(".loc\t1 42 7"),
                                        Not(HasSubstr("debug\n"))));
  EXPECT_THAT(r.object->object, HasSubstr(".debug_line"));
}

TEST(NvidiaBackend, Clusters) {
  NEEDS_PTXAS();
  BackendOptions options;
  options.numCtas = 2;
  EXPECT_EQ(compile(kSharedKernel, arch("sm_80"), options).object.status().code(), absl::StatusCode::kInvalidArgument);
  Result r = compile(kSharedKernel, arch("sm_90a"), options);
  ASSERT_OK(r.object);
  EXPECT_THAT(r.object->assembly, HasSubstr(".reqnctapercluster 2"));
}

TEST(NvidiaBackend, FusionIsOptional) {
  const char *ir = "define ptx_kernel void @k(ptr addrspace(1) %a, float %x, float %y, float %z) {\n  %m = fmul float "
                   "%x, %y\n  %s = fadd float %m, %z\n"
                   "  store float %s, ptr addrspace(1) %a\n  ret void\n}\n";
  BackendOptions options;
  EXPECT_THAT(compile(ir, arch("sm_80"), options, Backend::Until::Assembly).object->assembly, HasSubstr("fma.rn.f32"));
  options.fpFusion = false;
  EXPECT_THAT(compile(ir, arch("sm_80"), options, Backend::Until::Assembly).object->assembly,
              Not(HasSubstr("fma.rn.f32")));
}

// Values of NVIDIA's occupancy calculator.
TEST(NvidiaOccupancy, KnownValues) {
  const ir::TargetInfo &h = arch("sm_90a").info, &ada = arch("sm_89").info;
  EXPECT_EQ(h.occupancy({8, 0, 32}), 8);
  EXPECT_EQ(h.occupancy({8, 0, 33}), 6);
  EXPECT_EQ(h.occupancy({8, 0, 64}), 4);
  EXPECT_EQ(h.occupancy({4, 0, 168}), 3);
  EXPECT_EQ(h.occupancy({4, 0, 255}), 2);
  EXPECT_EQ(h.occupancy({1, 0, 16}), 32);
  EXPECT_EQ(h.occupancy({4, 100 * 1024, 32}), 2);
  EXPECT_EQ(h.occupancy({4, 227 * 1024, 32}), 1);
  EXPECT_EQ(h.occupancy({4, 228 * 1024, 32}), 0);
  EXPECT_EQ(ada.occupancy({8, 0, 32}), 6);
}

TEST(DeviceFunctions, EveryRowIsFoundBothWays) {
  EXPECT_EQ(codegen::ocmlEquivalent("__nv_tanhf"), "__ocml_tanh_f32");
  EXPECT_EQ(codegen::ocmlEquivalent("__nv_pow"), "__ocml_pow_f64");
  EXPECT_EQ(codegen::ocmlEquivalent("__nv_erff"), "__ocml_erf_f32");
  EXPECT_EQ(codegen::ocmlEquivalent("__nv_erf"), "__ocml_erf_f64");
  EXPECT_EQ(codegen::ocmlEquivalent("__nv_norm3df"), "__ocml_len3_f32");
  EXPECT_EQ(codegen::ocmlEquivalent("__nv_isnand"), "__ocml_isnan_f64");
  EXPECT_EQ(codegen::ocmlEquivalent("__nv_fmaxf"), "__ocml_fmax_f32");
  EXPECT_EQ(codegen::ocmlEquivalent("__nv_sincosf"), "");
  EXPECT_EQ(codegen::ocmlEquivalent("sinf"), "");
  EXPECT_EQ(codegen::ocmlEquivalent("__nv_f"), ""); // libdevice lacks tanpi
  EXPECT_EQ(codegen::ocmlEquivalent("__nv_"), "");
  EXPECT_EQ(codegen::libdeviceEquivalent("__ocml_tanpi_f32"), "");
  EXPECT_EQ(codegen::libdeviceEquivalent("__ocml_pown_f32"), "__nv_powif");
  EXPECT_EQ(codegen::libdeviceEquivalent("__ocml_i0_f64"), "__nv_cyl_bessel_i0");
  EXPECT_EQ(codegen::libdeviceEquivalent("__ocml_isfinite_f32"), "__nv_finitef");
  EXPECT_EQ(codegen::libdeviceEquivalent("__ocml_sin_f16"), "");
}

} // namespace
} // namespace tessera::nvidia
