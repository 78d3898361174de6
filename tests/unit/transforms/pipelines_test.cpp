// The pipelines of every target against what the registry says of their passes: the stages that a pass needs are
// established before it, the lowering gets the stages that it needs, and no pass undoes the last ones. And the rows
// themselves: files exist, aliases have a row, options accept their own defaults.
#include "frontend/parser.h"
#include "ir/attribute_names.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "runtime/compiler/targets.h"
#include "transforms/memory/scratch.h"
#include "transforms/passes.h"
#include "transforms/pipelines.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>

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

Pipeline concat(std::initializer_list<Pipeline> parts) {
  Pipeline all;
  for (auto &p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

/// The steps of a whole compilation of TTIR, and of TTGIR that is given.
Pipeline wholePipeline(const ir::TargetInfo &t) {
  return concat({transforms::ttirPipeline(t), transforms::ttgirPipeline(t, {}), transforms::loweringPipeline(t)});
}
Pipeline wholePipelineOfTtgir(const ir::TargetInfo &t) {
  return concat({transforms::givenTtgirPipeline(t), transforms::loweringPipeline(t)});
}

TEST(Pipelines, EstablishStagesBeforeTheyAreNeeded) {
  for (auto *target : runtime::allTargets()) {
    SCOPED_TRACE(target->info.name.str());
    auto check = [](const Pipeline &pipeline, IrStages established) {
      for (auto &step : pipeline) {
        EXPECT_TRUE(step.pass->needs.without(established).empty())
            << step.pass->name.str() << " needs: " << str(step.pass->needs.without(established));
        established |= step.pass->establishes;
      }
      EXPECT_EQ(established, transforms::kLoweringNeeds) << str(established);
    };
    check(wholePipeline(target->info), {});
    check(wholePipelineOfTtgir(target->info), IrStage::LayoutsAssigned);
  }
}

/// Operations that use shared memory, and those of them without an offset.
struct SharedMemoryUsers {
  unsigned all = 0, withoutOffset = 0;
  SharedMemoryUsers(ir::Module &m, const ir::TargetInfo &target) {
    m.op()->walk([&](ir::Operation *op) {
      if (!op->is<ir::ttg::LocalAllocOp>() && !transforms::scratchOf(op, target).bytes) return;
      ++all;
      withoutOffset += !op->hasAttr(ir::kAllocationOffsetAttr);
    });
  }
};

TEST(Pipelines, MakeNoBufferOnceMemoryIsAllocated) {
  for (const char *kernel : {"mm_f16", "softmax_row"})
    for (auto *target : runtime::allTargets()) {
      SCOPED_TRACE(kernel + (" for " + target->info.name.str()));
      Pipeline before, after;
      bool allocated = false;
      for (auto &step : wholePipeline(target->info)) {
        (allocated ? after : before).push_back(step);
        allocated |= step.pass->establishes.has(IrStage::SharedMemoryAllocated);
      }
      std::string path = std::string(TESSERA_SOURCE_DIR "/tests/kernels/") + kernel + "/" + kernel + ".ttir", errors;
      auto text = llvm::MemoryBuffer::getFile(path);
      ASSERT_TRUE(bool(text)) << path;
      ir::Context context;
      ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { errors += ir::render(d); });
      auto m = frontend::parseModule((*text)->getBuffer(), path, context, diag);
      ASSERT_NE(m, nullptr) << errors;
      transforms::RunOptions options;
      options.target = &target->info;
      ASSERT_TRUE(transforms::runPipeline(*m, before, options, diag).ok()) << errors;
      SharedMemoryUsers then(*m, target->info);
      EXPECT_GT(then.all, 0u);
      EXPECT_EQ(then.withoutOffset, 0u);
      ASSERT_TRUE(transforms::runPipeline(*m, after, options, diag).ok()) << errors;
      SharedMemoryUsers now(*m, target->info);
      EXPECT_EQ(now.all, then.all);
      EXPECT_EQ(now.withoutOffset, 0u);
    }
}

TEST(Pipelines, HaveNoAliases) {
  for (auto *target : runtime::allTargets())
    for (auto &pipeline : {wholePipeline(target->info), wholePipelineOfTtgir(target->info)})
      for (auto &step : pipeline) EXPECT_EQ(step.pass->aliasOf, "") << step.pass->name.str();
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
