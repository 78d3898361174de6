// Names of targets: what people write instead of them is answered with the name.
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/targets.h"
#include "llvm/ADT/StringExtras.h"
#include <gmock/gmock.h>
#include <map>

namespace tessera {
namespace {
using testing::HasSubstr;
using testing::Not;

TEST(Targets, UnknownNamesAreAnsweredWithTheNearest) {
  const std::pair<const char *, const char *> meant[] = {
      {"h100", "sm_90a"}, {"MI300X", "gfx942"},    {"RTX 4090", "sm_89"},
      {"sm90", "sm_90a"}, {"GFX-1201", "gfx1201"}, {"mi355x", "gfx950"},
  };
  for (auto [name, target] : meant) {
    auto found = runtime::requireTarget(name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_THAT(std::string(found.status().message()), HasSubstr(std::string("unknown target '") + name +
                                                                 "'; did you mean '" + target + "'? targets: sm_80, "));
  }
  // A part of a board's name is no name, and neither is nothing.
  for (const char *name : {"vax", "", "h", "rtx", "100"})
    EXPECT_THAT(std::string(runtime::requireTarget(name).status().message()), Not(HasSubstr("did you mean"))) << name;
}

/// A row that starts from another one's copy and keeps its boards would be suggested never, or for the wrong boards.
TEST(Targets, EveryTargetHasBoardsOfItsOwn) {
  std::map<std::string, std::string> targetOf;
  for (const codegen::ArchInfo *arch : runtime::allTargets()) {
    EXPECT_FALSE(arch->boards.empty()) << arch->info.name.str();
    llvm::SmallVector<llvm::StringRef, 16> boards;
    arch->boards.split(boards, ' ');
    for (llvm::StringRef board : boards) {
      EXPECT_TRUE(llvm::all_of(board, [](char c) { return llvm::isDigit(c) || (c >= 'a' && c <= 'z'); }))
          << board.str();
      auto [at, isNew] = targetOf.try_emplace(board.str(), arch->info.name.str());
      EXPECT_TRUE(isNew) << board.str() << " is of " << at->second << " and of " << arch->info.name.str();
    }
  }
}

} // namespace
} // namespace tessera
