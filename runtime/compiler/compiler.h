// The compiler as one call: text in, any stage out. It strings together frontend, pipelines, lowering and back end,
// times each stage, and gathers the metadata of the kernel. Safe to use from many threads at once: every call has its
// own contexts. What the compiler keeps or changes in the process is listed in codegen/object/backend.h.
#pragma once
#include "absl/status/statusor.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "ir/target.h"
#include "runtime/compiler/metadata.h"
#include "runtime/kernel_config.h"
#include "transforms/pass.h"
#include <optional>
#include <string>

namespace tessera::runtime {

/// How far to compile. `Asm` is PTX or AMD GCN assembly, `Object` a cubin or hsaco.
enum class Stage : uint8_t { Ttir, Ttgir, Llir, Asm, Object };

/// The stage named by `--emit` for a target ("ptx" is no stage of an AMD target), or an error that lists the names.
absl::StatusOr<Stage> parseStage(llvm::StringRef name, const ir::TargetInfo &);
llvm::StringRef stageName(Stage, const ir::TargetInfo &);

/// Fields are rows of options.def, which says what they mean.
struct CompileOptions : KernelConfig {
#define COMPILE_OPTION(type, field, initial) type field = initial;
#include "runtime/options.def"
  transforms::RunOptions passes; // dumps, remarks, skipping; not part of the cache's key
};

struct CompileResult {
  std::string output; // text, or the object's bytes
  KernelMetadata metadata;
  /// With CompileOptions::keepTexts: stages and their texts: TTGIR, LLVM IR and assembly, as far as they were made.
  std::vector<std::pair<std::string, std::string>> texts = {};
};

/// Targets by name ("sm_90a", "sm_90", "gfx942"); the error lists them all.
absl::StatusOr<const ir::TargetInfo *> requireTarget(llvm::StringRef name);

/// InvalidArgument if the numbers of warps, stages or blocks per cluster are none that the target can have.
absl::Status checkOptions(const ir::TargetInfo &, const CompileOptions &);

/// Compiles a module (TTIR, or TTGIR where it already has layouts). What is the input's fault is reported to the engine
/// and gives InvalidArgument; failures of tools and files give other codes with their own text.
absl::StatusOr<CompileResult> compile(ir::Module &, const ir::TargetInfo &, const CompileOptions &,
                                      ir::DiagnosticEngine &);

/// The same for text, which is parsed and verified first.
absl::StatusOr<CompileResult> compileText(llvm::StringRef text, const std::string &fileName, const ir::TargetInfo &,
                                          const CompileOptions &, ir::DiagnosticEngine &);

} // namespace tessera::runtime
