// Stages of the IR: facts about a whole module that a pass establishes and later passes, or the lowering, rely on. Each
// row of transforms/registry.cpp says which stages its pass needs and which it establishes; transforms/pass.cpp checks
// the former before a pass runs and, with --verify-each, all established ones after every pass.
//
//   LayoutsAssigned        every tensor has a layout
//   WarpGroupsAllocated    every ttg.warp_specialize says on which warps its partitions run (warpGroupStartIds)
//   SharedMemoryAllocated  every ttg.local_alloc has an offset (allocation.offset). The scratch of operations has one,
//                          too; how much they need depends on the target, so that this part is not checked
//   BarriersInserted       accesses to shared memory that conflict are separated by barriers. Not checked: the tests of
//                          insert-barriers and the emulator's race detection do it
#pragma once
#include "ir/operation.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::ir {

enum class IrStage : uint8_t { LayoutsAssigned, WarpGroupsAllocated, SharedMemoryAllocated, BarriersInserted };

/// A set of stages.
class IrStages {
public:
  constexpr IrStages() = default;
  constexpr IrStages(IrStage s) : bits_(uint8_t(1u << unsigned(s))) {}
  constexpr bool has(IrStage s) const { return bits_ & IrStages(s).bits_; }
  constexpr bool empty() const { return !bits_; }
  constexpr IrStages operator|(IrStages o) const { return IrStages(uint8_t(bits_ | o.bits_)); }
  constexpr IrStages &operator|=(IrStages o) { return *this = *this | o; }
  /// Those of this set that are not in the other.
  constexpr IrStages without(IrStages o) const { return IrStages(uint8_t(bits_ & ~o.bits_)); }
  constexpr bool operator==(const IrStages &) const = default;

private:
  constexpr explicit IrStages(uint8_t bits) : bits_(bits) {}
  uint8_t bits_ = 0;
};
constexpr IrStages operator|(IrStage a, IrStage b) { return IrStages(a) | b; }

llvm::ArrayRef<IrStage> allIrStages();
/// "layouts assigned", "warp groups allocated", …
llvm::StringRef irStageName(IrStage);

/// The first operation that contradicts the stage, or null. BarriersInserted is never contradicted.
Operation *firstContradicting(Module &, IrStage);
/// How the operation that firstContradicting found does so, after its name: "makes a tensor without a layout".
llvm::StringRef contradictionOf(IrStage);

} // namespace tessera::ir
