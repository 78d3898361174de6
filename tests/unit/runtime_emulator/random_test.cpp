// Random kernels (tests/random), the interpreter's results against the emulator's, byte by byte: 120 seeds for each
// target, all different, a third TTGIR, a sixth with tensor descriptors, a twelfth with blocks that go over an end.
// TESSERA_RANDOM_COUNT=N takes so many; build/tests/random/random_kernels runs for hours and prints the kernel of a
// seed.
#include "comparison.h"
#include "runtime/compiler/targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using random::Kernel;
using random::Level;
using random::Outcome;
using random::Results;

std::vector<std::string> targets() {
  std::vector<std::string> names;
  for (auto *t : runtime::allTargets()) names.push_back(t->info.name.str());
  return names;
}

class Random : public ::testing::TestWithParam<std::string> {};

TEST_P(Random, KernelsComputeTheSameOnInterpreterAndEmulator) {
  const ir::TargetInfo &target = runtime::findArch(GetParam())->info;
  const char *many = getenv("TESSERA_RANDOM_COUNT");
  auto names = targets();
  unsigned refused = 0, count = many ? unsigned(atoi(many)) : 120;
  unsigned first = 1 + count * unsigned(llvm::find(names, GetParam()) - names.begin());
  for (unsigned seed = first; seed < first + count; ++seed) {
    Kernel k = random::generate(seed, random::levelOf(seed), &target);
    Results expected;
    Outcome o = random::reference(k, seed, expected);
    if (!o.failed()) o = random::compare(k, seed, expected, target);
    ASSERT_FALSE(o.failed()) << "seed " << seed << ", " << k.numWarps << " warps: " << o.message << "\n" << k.text;
    refused += o.kind == Outcome::Refused;
  }
  EXPECT_LE(refused, count / 10) << "kernels that the compiler cannot take say nothing";
}
INSTANTIATE_TEST_SUITE_P(Targets, Random, ::testing::ValuesIn(targets()), [](auto &i) { return i.param; });

/// Seeds that found something.
TEST(RandomKernels, FoundBefore) {
  struct Found {
    unsigned seed;
    Level level;
    const char *target;                          // and what it was
  } found[] = {{9001082, Level::Ttir, "sm_80"},  // what is stored was read back by other threads, in strips
               {9006010, Level::Ttir, "sm_80"},  // likewise, from strided addresses that a reduction reads
               {9703280, Level::Ttir, "gfx90a"}, // a reduction of a vector, which the emulator did not know
               {985, Level::Ragged, "gfx942"}};  // parts of an address that wrap around, and back
  for (auto &[seed, level, name] : found) {
    const ir::TargetInfo &target = runtime::findArch(name)->info;
    Kernel k = random::generate(seed, level, nullptr);
    Results expected;
    Outcome o = random::reference(k, seed, expected);
    if (!o.failed()) o = random::compare(k, seed, expected, target);
    EXPECT_EQ(o.kind, Outcome::Same) << "seed " << seed << ": " << o.message;
  }
}

/// Ragged blocks are what full-block-versions is for.
TEST(RandomKernels, RaggedBlocksHaveVersions) {
  for (const char *name : {"sm_80", "gfx1201"}) {
    const ir::TargetInfo &target = runtime::findArch(name)->info;
    unsigned versions = 0, count = 60;
    for (unsigned seed = 1; seed <= count; ++seed) {
      Kernel k = random::generate(seed, Level::Ragged, nullptr);
      Results expected;
      Outcome o = random::reference(k, seed, expected);
      if (!o.failed()) o = random::compare(k, seed, expected, target);
      ASSERT_EQ(o.kind, Outcome::Same) << "seed " << seed << ": " << o.message << "\n" << k.text;
      versions += o.fullBlocks;
    }
    EXPECT_GE(versions, count / 8) << name;
  }
}

TEST(RandomKernels, AreTheSameForASeed) {
  auto *target = &runtime::findArch("sm_90a")->info;
  EXPECT_EQ(random::generate(7, Level::Ttir, nullptr).text, random::generate(7, Level::Ttir, target).text);
  EXPECT_EQ(random::generate(7, Level::Ttgir, target).text, random::generate(7, Level::Ttgir, target).text);
  EXPECT_NE(random::generate(7, Level::Ttir, nullptr).text, random::generate(8, Level::Ttir, nullptr).text);
}

TEST(RandomKernels, HaveEveryKindOfOperation) {
  for (const char *name : {"sm_90a", "gfx942", "gfx1100"}) {
    std::string all;
    for (unsigned seed = 1; seed <= 300; ++seed)
      all += random::generate(seed, random::levelOf(seed), &runtime::findArch(name)->info).text;
    for (const char *what : {"tt.dot",
                             "tt.atomic_rmw",
                             "tt.gather",
                             "tt.histogram",
                             "tt.join",
                             "tt.split",
                             "tt.trans",
                             "tt.reshape",
                             "allow_reorder",
                             "\"tt.reduce\"",
                             "\"tt.scan\"",
                             "scf.while",
                             "scf.if",
                             "scf.for",
                             "tt.fp_to_fp",
                             "f8E4M3FN",
                             "f8E5M2",
                             "bf16",
                             "f64",
                             "tt.make_tensor_ptr",
                             "tt.advance",
                             "boundaryCheck",
                             "tt.make_tensor_descriptor",
                             "tt.descriptor_load",
                             "tt.descriptor_store",
                             "tt.descriptor_reduce",
                             "tt.descriptor_gather",
                             "tt.descriptor_scatter",
                             ": !tt.tensordesc<tensor<",
                             "tt.num_stages",
                             "tt.flatten",
                             "tt.call",
                             "noinline = true",
                             "tt.cat",
                             "ttg.convert_layout",
                             "ttg.local_alloc",
                             "ttg.local_load",
                             "ttg.local_store",
                             "ttg.memdesc_trans",
                             "ttg.async_copy_global_to_local",
                             "ttg.async_commit_group tokens",
                             "ttg.async_wait",
                             "ttg.memdesc_index",
                             "ttg.memdesc_subslice",
                             "ttg.memdesc_reshape",
                             "ttg.local_gather",
                             "ttg.local_scatter",
                             "#ttg.linear",
                             "#ttg.slice",
                             "#ttg.dot_op",
                             "#ttg.swizzled_shared",
                             "#ttg.padded_shared"})
      EXPECT_NE(all.find(what), std::string::npos) << what << " for " << name;
  }
}

/// The comparison notices a wrong byte, and says which kernel was refused.
TEST(RandomKernels, AreComparedInEveryByte) {
  const ir::TargetInfo &target = runtime::findArch("gfx942")->info;
  Kernel k = random::generate(1, Level::Ttir, nullptr);
  Results expected;
  ASSERT_FALSE(random::reference(k, 1, expected).failed());
  EXPECT_EQ(random::compare(k, 1, expected, target).kind, Outcome::Same);
  for (auto *b : {&expected.y, &expected.z}) {
    b->back() ^= 1;
    EXPECT_EQ(random::compare(k, 1, expected, target).kind, Outcome::Different);
    b->back() ^= 1;
  }
  k.text.replace(k.text.find("tt.return"), 9, "tt.retrun");
  EXPECT_EQ(random::reference(k, 1, expected).kind, Outcome::Broken);
}

} // namespace
} // namespace tessera
