// AMDGCN → hsaco, and what the hsaco says about its kernels.
#pragma once
#include "codegen/object/backend.h"

namespace tessera::amd {

/// Assembles text into a relocatable ELF object.
absl::StatusOr<std::string> assembleText(llvm::StringRef assembly, const codegen::ArchInfo &);

/// Links a relocatable object into the shared object that the loader takes, and reads its figures.
absl::StatusOr<codegen::ObjectInfo> makeHsaco(llvm::StringRef relocatable, const codegen::ArchInfo &,
                                              const codegen::BackendOptions &);

/// Reads registers, spills, scratch and LDS from the AMDGPU metadata note of an hsaco (the largest of its kernels).
absl::Status readMetadataNote(codegen::ObjectInfo &);

/// InvalidArgument if an environment variable of AMD's tools cannot be honoured.
absl::Status checkToolVariables();

/// What was found of AMD's tools, one line each.
std::vector<std::string> describeTools();

} // namespace tessera::amd
