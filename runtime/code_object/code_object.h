// Reads code objects of AMD GPUs (hsaco): what an ELF says of its target and of each kernel in it. It takes the objects
// of any producer: Tessera's, Triton's, hipcc's, hand-written ones.
//
// Sources: LLVM's AMDGPUUsage, "ELF Code Object", "Kernel Descriptor" (code object V3 and above) and "Code Object
// V3/V4/V5 Metadata" (the NT_AMDGPU_METADATA note, in MessagePack).
#pragma once
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::code_object {

/// An argument in the kernel's argument segment, from the metadata. Hidden ones have a kind of "hidden_…".
struct KernelArgument {
  std::string name;      // may be empty
  std::string valueKind; // "global_buffer", "by_value", "hidden_block_count_x", …
  uint32_t offset = 0;   // bytes from the segment's start
  uint32_t size = 0;     // bytes
  bool isHidden() const { return llvm::StringRef(valueKind).starts_with("hidden_"); }
};

/// What the 64-byte kernel descriptor enables and allocates (AMDGPUUsage, "Kernel Descriptor").
struct KernelDescriptor {
  uint32_t ldsBytes = 0;     // static
  uint32_t privateBytes = 0; // scratch of a work-item
  uint32_t kernargBytes = 0;
  uint32_t resource1 = 0, resource2 = 0, resource3 = 0; // compute_pgm_rsrc1 to 3, as they are written
  uint16_t properties = 0;                              // kernel_code_properties
  uint16_t preload = 0;                                 // kernarg_preload: length in bits 6:0, offset in 15:7, dwords

  // SGPRs that are set up before the kernel begins, in this order.
  bool privateSegmentBuffer() const { return properties & 1; }
  bool dispatchPtr() const { return properties >> 1 & 1; }
  bool queuePtr() const { return properties >> 2 & 1; }
  bool kernargSegmentPtr() const { return properties >> 3 & 1; }
  bool dispatchId() const { return properties >> 4 & 1; }
  bool flatScratchInit() const { return properties >> 5 & 1; }
  bool privateSegmentSize() const { return properties >> 6 & 1; }
  unsigned preloadLength() const { return preload & 127; }
  unsigned preloadOffset() const { return preload >> 7; }
  bool usesScratch() const { return resource2 & 1; }
  unsigned userSgprs() const { return resource2 >> 1 & 31; }
  bool workgroupId(unsigned dimension) const { return resource2 >> (7 + dimension) & 1; }
  bool workgroupInfo() const { return resource2 >> 10 & 1; }
  /// 0: x in v0; 1: x and y; 2: x, y and z. Packed into v0 on gfx90a and later.
};

struct Kernel {
  std::string name;
  uint64_t entry = 0; // address in the object
  uint64_t codeBytes = 0;
  unsigned waveSize = 64;
  KernelDescriptor descriptor;
  /// Allocated registers of a lane (a wave for SGPRs), after the target's granularity; of `vgprs` those from
  /// `firstAgpr` on are AGPRs on targets with one file for both (gfx90a, gfx94x, gfx950).
  unsigned vgprs = 0, firstAgpr = 0, sgprs = 0;
  std::vector<KernelArgument> arguments; // by offset; empty if the metadata has none
  bool hasMetadata = false;
  uint32_t maxWorkItems = 0;                 // .max_flat_workgroup_size; 0: not said
  uint32_t requiredWorkgroup[3] = {0, 0, 0}; // .reqd_workgroup_size; 0: not said
};

/// A part of the object that is in memory when the kernel runs.
struct Segment {
  uint64_t address = 0;
  std::vector<uint8_t> bytes; // with the zeros that the file leaves out
};

struct CodeObject {
  std::string target;   // "gfx942"
  std::string features; // "+sramecc,-xnack"; what the ELF's flags say, for LLVM
  std::vector<Segment> segments;
  std::vector<Kernel> kernels;
  std::string bytes; // of the file, for debug information

  const Kernel *find(llvm::StringRef kernel) const;
  /// The bytes at an address of the object that lie in one segment; empty if there are none.
  llvm::ArrayRef<uint8_t> at(uint64_t address) const;
};

/// InvalidArgument, which says what is wrong, for everything but a linked code object V3 or later of a target that LLVM
/// has. Any bytes may be given.
absl::StatusOr<CodeObject> readCodeObject(llvm::StringRef bytes);

} // namespace tessera::code_object
