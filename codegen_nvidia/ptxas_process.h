// ptxas as a process of its own: run on PTX that there is, or started ahead of it.
#pragma once
#include "codegen/object/backend.h"
#include <optional>

namespace tessera::nvidia {

/// What a compiler of PTX gave: the object, and what it said (`-v`).
struct Compiled {
  std::string cubin, log;
};

/// The installed ptxas, see makeCubin (object.h). InvalidArgument if TESSERA_PTXAS names something else than a program.
absl::StatusOr<std::string> findPtxas();

/// What differs between compilations of the same PTX.
struct PtxOptions {
  int level = 3;     // of optimisations, where any are wanted; the library knows 3 only
  int minBlocks = 0; // blocks that are to fit on a multiprocessor, where the PTX does not say so; 0: not stated
};

/// The options of a compilation in ptxas's spelling, or in the library's.
std::vector<std::string> compilerOptions(const codegen::ArchInfo &, const codegen::BackendOptions &, bool forPtxas,
                                         const PtxOptions & = {});

/// The error of a compiler of PTX that failed with this log. It names the function that the log calls unresolved.
absl::Status refusedPtx(llvm::StringRef tool, const codegen::ArchInfo &, llvm::StringRef log);

/// InvalidArgument if TESSERA_PTXAS_SECONDS is set to what is no number of seconds from 1 up.
absl::Status checkPtxasSeconds();

/// Runs ptxas and waits for it, for at most ten minutes, or the environment variable TESSERA_PTXAS_SECONDS: then it is
/// ended, and the error is DeadlineExceeded.
absl::StatusOr<Compiled> compileByProcess(const std::string &ptxas, llvm::StringRef ptx, const codegen::ArchInfo &,
                                          const codegen::BackendOptions &, const PtxOptions & = {});

/// Starts ptxas before there is PTX. It needs 6 to 9 milliseconds before it reads any, longer than we need to make that
/// of a small kernel. Null if it cannot be started; then, and for every other compilation, there is compileByProcess.
/// It ends with the calling thread, which must live until the compilation is done.
std::shared_ptr<codegen::ToolAhead> startPtxasAhead(const codegen::ArchInfo &, const codegen::BackendOptions &);

/// Gives the waiting ptxas its PTX and waits for it. Nothing if there is none, if it served already, or if it failed
/// for whatever reason: compileByProcess then gives the cubin or the error.
std::optional<Compiled> compileAhead(codegen::ToolAhead *, const std::string &ptxas, llvm::StringRef ptx);

} // namespace tessera::nvidia
