// Joins neighbouring branches under one mask. Masked accesses are lowered one operation at a time, each as a branch
// that switches lanes off; a kernel that loads, computes and stores under one mask then switches lanes three times.
// What stands between two such branches has no effects, so the second can follow the first inside one:
//
//   if (m) x = load p                    if (m) {
//   y = x + 1                     →        x = load p; y = x + 1; store q, y
//   if (m) store q, y                    }
//
// Arithmetic between the branches that does not need the first one's values goes before it. What needs them is copied
// into the joined branch, and the original moves behind it, where it is dead unless something later uses it; a join
// that would compute more than a few instructions twice is not made.
#pragma once

namespace llvm {
class Function;
}
namespace tessera::amd {

void mergeBranches(llvm::Function &);

} // namespace tessera::amd
