// runtime/emulator/README.md lists the intrinsics and forms of inline assembly that the emulator knows; the list
// there is the one that the tables give (tools/bless.sh writes it).
#include "runtime/emulator/emulator.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Readme, ListsWhatTheTablesHave) {
  std::string path = TESSERA_SOURCE_DIR "/runtime/emulator/README.md";
  auto file = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(file)) << path;
  llvm::StringRef text = (*file)->getBuffer();
  size_t at = text.find("### LLVM's own");
  ASSERT_NE(at, llvm::StringRef::npos);
  std::string wanted = emulator::knownForms();
  if (getenv("TESSERA_BLESS")) {
    std::string whole = text.take_front(at).str() + wanted;
    file->reset();
    std::error_code ec;
    llvm::raw_fd_ostream(path, ec) << whole;
    return;
  }
  EXPECT_EQ(text.drop_front(at), wanted);
}

} // namespace
} // namespace tessera
