// The pipelines of every target against what the registry says of their passes: the stages that a pass needs are
// established before it, the lowering gets the stages that it needs, and no pass undoes the last ones. And the rows
// themselves: files exist, aliases have a row, options accept their own defaults.
#include "runtime/compiler/targets.h"
#include "transforms/passes.h"
#include "transforms/pipelines.h"
#include "llvm/Support/FileSystem.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ir::IrStage;
using ir::IrStages;
using transforms::Pipeline;

std::string str(IrStages stages) {
  std::string s;
  for (IrStage stage : ir::allIrStages())
    if (stages.has(stage)) s += (s.empty() ? "" : ", ") + ir::irStageName(stage).str();
  return s;
}

/// The steps of a whole compilation.
Pipeline wholePipeline(const ir::TargetInfo &t) {
  Pipeline all = transforms::ttirPipeline(t);
  for (auto &p : {transforms::ttgirPipeline(t, {}), transforms::loweringPipeline(t)})
    all.insert(all.end(), p.begin(), p.end());
  return all;
}

TEST(Pipelines, EstablishStagesBeforeTheyAreNeeded) {
  for (auto *target : runtime::allTargets()) {
    SCOPED_TRACE(target->info.name.str());
    IrStages established;
    for (auto &step : wholePipeline(target->info)) {
      EXPECT_TRUE(step.pass->needs.without(established).empty())
          << step.pass->name.str() << " needs: " << str(step.pass->needs.without(established));
      established |= step.pass->establishes;
    }
    EXPECT_EQ(established, transforms::kLoweringNeeds) << str(established);
  }
}

TEST(Pipelines, MakeNoBufferOnceMemoryIsAllocated) {
  for (auto *target : runtime::allTargets()) {
    SCOPED_TRACE(target->info.name.str());
    std::vector<std::string> after;
    bool allocated = false;
    for (auto &step : wholePipeline(target->info)) {
      if (allocated) after.push_back(step.pass->name.str());
      allocated |= step.pass->establishes.has(IrStage::SharedMemoryAllocated);
    }
    EXPECT_THAT(after, testing::ElementsAre("insert-barriers"));
  }
}

TEST(Pipelines, HaveNoAliases) {
  for (auto *target : runtime::allTargets())
    for (auto &step : wholePipeline(target->info)) EXPECT_EQ(step.pass->aliasOf, "") << step.pass->name.str();
}

TEST(Registry, NamesFilesThatExist) {
  for (auto &pass : transforms::allPasses()) {
    std::string path = TESSERA_SOURCE_DIR "/transforms/" + pass.file.str();
    EXPECT_TRUE(llvm::sys::fs::exists(path)) << pass.name.str() << ": " << path;
  }
}

TEST(Registry, AliasesHaveARow) {
  for (auto &pass : transforms::allPasses()) {
    if (pass.aliasOf.empty()) continue;
    auto *original = transforms::findPass(pass.aliasOf);
    ASSERT_TRUE(original) << pass.name.str();
    EXPECT_EQ(original->function, pass.function);
    EXPECT_EQ(&transforms::passOf(pass.function), original);
  }
}

TEST(Registry, OptionsAcceptTheirDefaults) {
  for (auto &pass : transforms::allPasses())
    for (auto &option : pass.options) {
      SCOPED_TRACE(pass.name.str() + " " + option.name.str());
      EXPECT_FALSE(option.help.empty());
      EXPECT_FALSE(option.defaultValue().empty());
      if (!option.defaultText.empty()) continue; // depends on target or module
      auto step = transforms::parseStep(pass, (option.name + "=" + option.defaultValue()).str());
      ASSERT_TRUE(step.ok()) << step.status();
      EXPECT_EQ(transforms::writeOptions(option, step->options), option.name.str() + "=" + option.defaultValue());
    }
}

TEST(Registry, OptionsAreWrittenAsTheyAreRead) {
  auto *convert = transforms::findPass("convert-triton-to-tritongpu");
  ASSERT_TRUE(convert);
  auto step = transforms::parseStep(*convert, "{num-ctas=2 target=hip:gfx942 num-warps=8}");
  ASSERT_TRUE(step.ok()) << step.status();
  const auto &options = std::any_cast<const transforms::ConvertTritonToTritonGpuOptions &>(step->options);
  EXPECT_EQ(options.target, "hip:gfx942");
  EXPECT_EQ(options.numWarps, 8);
  EXPECT_EQ(options.numCtas, 2);
  EXPECT_FALSE(options.threadsPerWarp);
  EXPECT_EQ(transforms::writeOptions(convert->options, step->options), "target=hip:gfx942 num-warps=8 num-ctas=2");
}

} // namespace
} // namespace tessera
