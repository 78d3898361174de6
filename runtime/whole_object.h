// Whether a kernel's object is as long as it says: drivers get its address alone.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tessera::runtime {

/// Why the bytes are no whole ELF file of 64 bits, such as a cubin or a code object; empty: they are one.
std::string whyNotWholeObject(llvm::StringRef object);

} // namespace tessera::runtime
