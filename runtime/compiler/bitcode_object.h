// What the compiler makes for emulators: LLVM bitcode with a checksum. LLVM's reader trusts what it reads, so that a
// byte that was changed on the way may end the process; bitcode that is not what was written is refused before it is
// read.
//
// The checksum lies in the header that LLVM has for bitcode in other files (magic 0x0B17C0DE; then version, offset
// and size of the bitcode, a processor), between its fields and the bitcode: LLVM's own tools skip it.
#pragma once
#include "absl/status/status.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace llvm {
class Module;
}
namespace tessera::runtime {

std::string bitcodeObject(const llvm::Module &);
/// Whether it is whole.
absl::Status checkBitcodeObject(llvm::StringRef);

} // namespace tessera::runtime
