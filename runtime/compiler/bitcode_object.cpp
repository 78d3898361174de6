// Bitcode with a checksum (see bitcode_object.h).
#include "runtime/compiler/bitcode_object.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::runtime {

static constexpr uint32_t kMagic = 0x0B17C0DE, kFields = 20, kOffset = kFields + 32;

static std::string checksum(llvm::StringRef bitcode) {
  auto hash = llvm::SHA256::hash({reinterpret_cast<const uint8_t *>(bitcode.data()), bitcode.size()});
  return std::string(reinterpret_cast<const char *>(hash.data()), hash.size());
}

static std::string header(llvm::StringRef bitcode) {
  std::string s;
  for (uint32_t field : {kMagic, 0u, kOffset, uint32_t(bitcode.size()), 0u}) {
    char bytes[4];
    llvm::support::endian::write32le(bytes, field);
    s.append(bytes, 4);
  }
  return s + checksum(bitcode);
}

std::string bitcodeObject(const llvm::Module &m) {
  llvm::SmallString<0> bitcode;
  llvm::raw_svector_ostream out(bitcode);
  llvm::WriteBitcodeToFile(m, out);
  return header(bitcode) + std::string(bitcode);
}

absl::Status checkBitcodeObject(llvm::StringRef object) {
  if (object.size() < kOffset || llvm::support::endian::read32le(object.data()) != kMagic)
    return absl::InvalidArgumentError("it is no bitcode of this compiler's");
  llvm::StringRef bitcode = object.drop_front(kOffset);
  return object.starts_with(header(bitcode)) ? absl::OkStatus()
                                             : absl::InvalidArgumentError("it is damaged: its checksum is another");
}

} // namespace tessera::runtime
