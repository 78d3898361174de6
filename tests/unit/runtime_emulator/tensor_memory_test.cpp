// Tensor memory and dots in it (tcgen05) on the emulator: kernels of one dot, whose sums are exact, against sums
// computed here; and the same kernels with a part left out of the lowered code, which the emulator must find.
#include "emulation.h"
#include "runtime/float_formats.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/FormatVariadic.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace tessera {
namespace {

using testing::bytesOf;
using testing::Emulation;
using ::testing::HasSubstr;
using testing::zeros;

struct DotCase {
  const char *name;
  const char *type;                        // of the operands, in TTGIR
  ir::FloatKind kind = ir::FloatKind::F16; // … of floats
  unsigned bits = 16;
  unsigned m = 128, n = 64, k = 32;
  bool acrossA = false, acrossB = true; // whether shared memory has rows of A and B across K
  bool inTensorMemory = false;          // A
  unsigned warps = 4;
  bool inHalves = false;       // the accumulator is f16
  bool otherRegisters = false; // the accumulator's tensors have a layout that no access moves
  bool inCopies = false;       // the second four of 8 warps hold what the first four hold
  bool ofSlice = false;        // A in tensor memory is the second half of a buffer of f32
  bool isInteger() const { return llvm::StringRef(type) == "i8"; }
};

uint64_t encode(const DotCase &c, int v) { return c.isInteger() ? uint8_t(v) : runtime::encodeFloat(c.kind, v); }
int valueA(unsigned row, unsigned k) { return int((row * 5 + k * 3) % 7) - 3; }
int valueB(unsigned k, unsigned column) { return int((k * 2 + column * 5) % 7) - 3; }

/// The registers of a tile of rows by columns that one access to tensor memory moves.
std::string registersOf(unsigned rows, unsigned columns, unsigned warps, bool inCopies) {
  std::string registers, warp = rows == 64 ? "[16, 0], [32, 0]" : "[32, 0], [64, 0]";
  unsigned end = rows == 64 ? columns / 2 : columns;
  if (warps == 8 && inCopies) {
    warp += ", [0, 0]";
  } else if (warps == 8) {
    warp += llvm::formatv(", [0, {0}]", end / 2);
    end /= 2;
  }
  for (unsigned c = 1; c < end; c *= 2) registers += llvm::formatv("{0}[0, {1}]", c > 1 ? ", " : "", c);
  std::string last = rows == 64 ? llvm::formatv("[0, {0}]", columns / 2).str() : "[16, 0]";
  return llvm::formatv("#ttg.linear<{{register = [{0}], lane = [[1, 0], [2, 0], [4, 0], [8, 0], {1}], warp = [{2}], "
                       "block = []}>",
                       registers, last, warp);
}

unsigned swizzle(unsigned elements, unsigned bits) { return std::min(128u, elements * bits / 8); }

/// c = a · b, both row by row in memory. `parts`: what stands between the dot and the load of its result.
std::string textOf(const DotCase &c, llvm::StringRef between) {
  auto shared = [&](bool transposed, unsigned along) {
    return llvm::formatv("#ttg.nvmma_shared<{{swizzlingByteWidth = {0}, transposed = {1}, elementBitWidth = {2}}>",
                         swizzle(along, c.bits), transposed, c.bits)
        .str();
  };
  std::string s;
  llvm::raw_string_ostream o(s);
  const char *sum = c.isInteger() ? "i32" : c.inHalves ? "f16" : "f32";
  std::string blocked =
      llvm::formatv("#ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [{0}, "
                    "1], order = [1, 0]}>",
                    c.warps);
  o << "#blocked = " << blocked << "\n";
  o << "#sum = " << (c.otherRegisters ? blocked : registersOf(c.m, c.n, c.warps, c.inCopies))
    << "\n#left = " << registersOf(c.m, c.k, c.warps, c.inCopies) << "\n";
  o << "#a = " << shared(c.acrossA, c.acrossA ? c.m : c.k) << "\n#b = " << shared(!c.acrossB, c.acrossB ? c.n : c.k)
    << "\n";
  o << "#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n#smem = #ttg.shared_memory\n";
  o << llvm::formatv("#tmem = #ttng.tensor_memory_encoding<blockM = {0}, blockN = {1}, colStride = {2}>\n", c.m, c.n,
                     c.inHalves ? 2 : 1);
  o << llvm::formatv("#tmemA = #ttng.tensor_memory_encoding<blockM = {0}, blockN = {1}, colStride = 1>\n", c.m, c.k);
  o << llvm::formatv("!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>\n"
                     "!acc = !ttg.memdesc<{0}x{1}x{2}, #tmem, #ttng.tensor_memory, mutable>\n",
                     c.m, c.n, sum);
  o << "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = " << c.warps
    << " : i32, ttg.target = \"cuda:100\", \"ttg.threads-per-warp\" = 32 : i32} {\n";
  o << llvm::formatv("tt.func public @dot(%a: !tt.ptr<{0}>, %b: !tt.ptr<{0}>, %c: !tt.ptr<{1}>) {{\n", c.type, sum);
  o << "%true = arith.constant true\n%false = arith.constant false\n%c0 = arith.constant 0 : i32\n";
  auto pointers = [&](const char *name, const char *type, unsigned rows, unsigned columns, const char *layout) {
    o << llvm::formatv(
        "%{0}r = tt.make_range {{end = {2} : i32, start = 0 : i32} : tensor<{2}xi32, #ttg.slice<{{dim = 1, parent = "
        "{4}}>>\n%{0}s = tt.expand_dims %{0}r {{axis = 1 : i32} : tensor<{2}xi32, #ttg.slice<{{dim = 1, parent = "
        "{4}}>> -> tensor<{2}x1xi32, {4}>\n%{0}w = arith.constant dense<{3}> : tensor<{2}x1xi32, {4}>\n%{0}o = "
        "arith.muli %{0}s, %{0}w : tensor<{2}x1xi32, {4}>\n%{0}k = tt.make_range {{end = {3} : i32, start = 0 : i32} "
        ": tensor<{3}xi32, #ttg.slice<{{dim = 0, parent = {4}}>>\n%{0}l = tt.expand_dims %{0}k {{axis = 0 : i32} : "
        "tensor<{3}xi32, #ttg.slice<{{dim = 0, parent = {4}}>> -> tensor<1x{3}xi32, {4}>\n%{0}p = tt.broadcast %{0}o "
        ": tensor<{2}x1xi32, {4}> -> tensor<{2}x{3}xi32, {4}>\n%{0}q = tt.broadcast %{0}l : tensor<1x{3}xi32, {4}> -> "
        "tensor<{2}x{3}xi32, {4}>\n%{0}i = arith.addi %{0}p, %{0}q : tensor<{2}x{3}xi32, {4}>\n%{0}t = tt.splat %{0} "
        ": !tt.ptr<{1}> -> tensor<{2}x{3}x!tt.ptr<{1}>, {4}>\n%{0}x = tt.addptr %{0}t, %{0}i : "
        "tensor<{2}x{3}x!tt.ptr<{1}>, {4}>, tensor<{2}x{3}xi32, {4}>\n",
        name, type, rows, columns, layout);
  };
  const char *layoutA = c.inTensorMemory ? "#left" : "#blocked";
  pointers("a", c.type, c.m, c.k, layoutA);
  pointers("b", c.type, c.k, c.n, "#blocked");
  pointers("c", sum, c.m, c.n, "#sum");
  o << llvm::formatv("%av = tt.load %ax : tensor<{0}x{1}x!tt.ptr<{2}>, {3}>\n", c.m, c.k, c.type, layoutA);
  o << llvm::formatv("%bv = tt.load %bx : tensor<{0}x{1}x!tt.ptr<{2}>, #blocked>\n", c.k, c.n, c.type);
  std::string tensorA = llvm::formatv("tensor<{0}x{1}x{2}, {3}>", c.m, c.k, c.type, layoutA);
  std::string typeA = llvm::formatv("!ttg.memdesc<{0}x{1}x{2}, {3}>", c.m, c.k, c.type,
                                    c.inTensorMemory ? "#tmemA, #ttng.tensor_memory, mutable" : "#a, #smem, mutable");
  if (c.ofSlice) {
    auto columns = [&](unsigned n, const char *more) {
      return llvm::formatv("!ttg.memdesc<{0}x{1}xf32, #tmemA, #ttng.tensor_memory, mutable{2}>", c.m, n, more).str();
    };
    std::string whole = columns(c.k, ""), part = columns(c.k / 2, llvm::formatv(", {0}x{1}", c.m, c.k).str().c_str());
    o << "%twice = ttng.tmem_alloc : () -> " << whole << "\n%half = ttng.tmem_subslice %twice {N = " << c.k / 2
      << " : i32} : " << whole << " -> " << part << "\n%left = ttg.memdesc_reinterpret %half : " << part << " -> "
      << typeA << "\nttng.tmem_store %av, %left, %true : " << tensorA << " -> " << typeA << "\n";
  } else {
    o << "%left = " << (c.inTensorMemory ? "ttng.tmem_alloc" : "ttg.local_alloc") << " %av : (" << tensorA << ") -> "
      << typeA << "\n";
  }
  std::string typeB = llvm::formatv("!ttg.memdesc<{0}x{1}x{2}, #b, #smem, mutable>", c.k, c.n, c.type);
  o << llvm::formatv("%right = ttg.local_alloc %bv : (tensor<{0}x{1}x{2}, #blocked>) -> {3}\n", c.k, c.n, c.type,
                     typeB);
  o << "%acc = ttng.tmem_alloc : () -> !acc\n%bar = ttg.local_alloc : () -> !bar\nttng.init_barrier %bar, 1 : !bar\n";
  // The dot is added to ones.
  std::string tensor = llvm::formatv("tensor<{0}x{1}x{2}, #sum>", c.m, c.n, sum);
  o << "%one = arith.constant dense<" << (c.isInteger() ? "1" : "1.0") << "> : " << tensor << "\n";
  o << "ttng.tmem_store %one, %acc, %true : " << tensor << " -> !acc\nttng.fence_async_shared {bCluster = false}\n";
  o << "ttng.tc_gen5_mma %left, %right, %acc, %true, %true, %bar[%true] {is_async} : " << typeA << ", " << typeB
    << ", !acc, !bar\n";
  o << between << "\n";
  o << "%r = ttng.tmem_load %acc : !acc -> " << tensor << "\n";
  o << llvm::formatv("tt.store %cx, %r : tensor<{0}x{1}x!tt.ptr<{2}>, #sum>\ntt.return\n}\n}\n", c.m, c.n, sum);
  return s;
}

constexpr const char *kWait = "ttng.wait_barrier %bar, %c0 : !bar";

absl::StatusOr<emulator::Report> run(Emulation &e, const DotCase &c, llvm::StringRef between = kWait,
                                     llvm::function_ref<void(llvm::Module &)> change = nullptr) {
  e.target = "sm_100a";
  e.numWarps = int(c.warps);
  std::vector<uint8_t> a(c.m * c.k * c.bits / 8), b(c.n * c.k * c.bits / 8);
  auto put = [&](std::vector<uint8_t> &to, unsigned at, int v) {
    uint64_t bits = encode(c, v);
    memcpy(to.data() + at * c.bits / 8, &bits, c.bits / 8);
  };
  for (unsigned row = 0; row < c.m; ++row)
    for (unsigned k = 0; k < c.k; ++k) put(a, row * c.k + k, valueA(row, k));
  for (unsigned k = 0; k < c.k; ++k)
    for (unsigned column = 0; column < c.n; ++column) put(b, k * c.n + column, valueB(k, column));
  return e.text(textOf(c, between), "dot", {bytesOf(a), bytesOf(b), zeros(c.m * c.n * (c.inHalves ? 2 : 4))}, change);
}

void expectExact(const DotCase &c, const uint8_t *out) {
  for (unsigned row = 0; row < c.m; ++row)
    for (unsigned column = 0; column < c.n; ++column) {
      int want = 1;
      for (unsigned k = 0; k < c.k; ++k) want += valueA(row, k) * valueB(k, column);
      if (c.inHalves) {
        uint16_t half;
        memcpy(&half, out + (row * c.n + column) * 2, 2);
        ASSERT_EQ(half, runtime::encodeFloat(ir::FloatKind::F16, want)) << row << ", " << column;
        continue;
      }
      int32_t whole;
      float real;
      memcpy(&whole, out + (row * c.n + column) * 4, 4);
      memcpy(&real, &whole, 4);
      ASSERT_EQ(c.isInteger() ? double(whole) : double(real), want) << row << ", " << column;
    }
}

void PrintTo(const DotCase &c, std::ostream *o) { *o << c.name; }

class TensorMemoryDots : public ::testing::TestWithParam<DotCase> {};
INSTANTIATE_TEST_SUITE_P(
    Kinds, TensorMemoryDots,
    ::testing::Values(
        DotCase{.name = "f16", .type = "f16"}, DotCase{.name = "f16_along_k", .type = "f16", .acrossB = false},
        DotCase{.name = "f16_across_k", .type = "f16", .acrossA = true},
        DotCase{.name = "f16_64_rows", .type = "f16", .m = 64},
        DotCase{.name = "f16_deep", .type = "f16", .n = 16, .k = 128, .acrossB = false},
        DotCase{.name = "f16_8_warps", .type = "f16", .n = 128, .k = 16, .warps = 8},
        DotCase{.name = "f16_A_in_tensor_memory", .type = "f16", .inTensorMemory = true},
        DotCase{.name = "f16_A_of_64_rows", .type = "f16", .m = 64, .inTensorMemory = true},
        DotCase{.name = "f16_A_of_a_slice", .type = "f16", .inTensorMemory = true, .ofSlice = true},
        DotCase{.name = "f16_copies_in_8_warps", .type = "f16", .inTensorMemory = true, .warps = 8, .inCopies = true},
        DotCase{.name = "f16_in_f16", .type = "f16", .inHalves = true},
        DotCase{.name = "f16_in_f16_64_rows", .type = "f16", .m = 64, .inHalves = true},
        DotCase{.name = "other_registers", .type = "f16", .otherRegisters = true},
        DotCase{.name = "other_registers_of_64_rows", .type = "f16", .m = 64, .otherRegisters = true},
        DotCase{.name = "other_registers_of_8_warps", .type = "f16", .warps = 8, .otherRegisters = true},
        DotCase{.name = "other_registers_of_f16", .type = "f16", .inHalves = true, .otherRegisters = true},
        DotCase{.name = "bf16", .type = "bf16", .kind = ir::FloatKind::BF16},
        DotCase{.name = "tf32", .type = "f32", .kind = ir::FloatKind::F32, .bits = 32, .acrossB = false},
        DotCase{.name = "e4m3", .type = "f8E4M3FN", .kind = ir::FloatKind::F8E4M3FN, .bits = 8},
        DotCase{.name = "e5m2_along_k", .type = "f8E5M2", .kind = ir::FloatKind::F8E5M2, .bits = 8, .acrossB = false},
        DotCase{.name = "e4m3_A_in_tensor_memory",
                .type = "f8E4M3FN",
                .kind = ir::FloatKind::F8E4M3FN,
                .bits = 8,
                .inTensorMemory = true},
        DotCase{.name = "tf32_A_in_tensor_memory",
                .type = "f32",
                .kind = ir::FloatKind::F32,
                .bits = 32,
                .acrossB = false,
                .inTensorMemory = true},
        DotCase{.name = "s8", .type = "i8", .bits = 8},
        DotCase{.name = "s8_across_k", .type = "i8", .bits = 8, .acrossA = true}),
    [](auto &i) { return std::string(i.param.name); });

TEST_P(TensorMemoryDots, AreExact) {
  const DotCase &c = GetParam();
  Emulation e;
  auto r = run(e, c);
  ASSERT_TRUE(r.ok()) << r.status();
  expectExact(c, e.buffers[2].data());
}

/// Dots of random types, sizes and layouts.
TEST(TensorMemory, RandomDotsAreExact) {
  std::mt19937 random(20261128);
  auto pick = [&](auto... v) {
    auto all = std::array{v...};
    return all[random() % all.size()];
  };
  for (unsigned i = 0; i < 24; ++i) {
    DotCase c{.name = "random", .type = "f16"};
    switch (random() % 4) {
    case 0: break;
    case 1: c = {.name = "random", .type = "bf16", .kind = ir::FloatKind::BF16}; break;
    case 2: c = {.name = "random", .type = "f32", .kind = ir::FloatKind::F32, .bits = 32, .acrossB = false}; break;
    default: c = {.name = "random", .type = "f8E4M3FN", .kind = ir::FloatKind::F8E4M3FN, .bits = 8}; break;
    }
    c.m = pick(64u, 128u);
    c.n = pick(16u, 32u, 64u, 128u);
    c.k = 256 / c.bits * pick(1u, 2u, 3u, 4u);
    if (!llvm::isPowerOf2_32(c.k)) c.k /= 3;
    if (c.bits < 32) {
      c.acrossA = random() % 2;
      c.acrossB = c.n * c.bits / 8 >= 32 && random() % 2;
    }
    // Elements of 16 bits fill words: A in tensor memory has at least two of a row in a thread.
    c.inTensorMemory = c.bits == 16 && random() % 3 == 0;
    c.warps = c.m == 128 && c.n >= 32 && !c.inTensorMemory && random() % 2 ? 8 : 4;
    std::string what = llvm::formatv("{0} {1} x {2} x {3}, across {4} {5}, in tensor memory {6}, {7} warps", c.type,
                                     c.m, c.n, c.k, c.acrossA, c.acrossB, c.inTensorMemory, c.warps);
    SCOPED_TRACE(what);
    Emulation e;
    auto r = run(e, c);
    ASSERT_TRUE(r.ok()) << r.status();
    expectExact(c, e.buffers[2].data());
  }
}

/// Replaces a part of the text of inline PTX wherever it is.
auto edit(llvm::StringRef from, llvm::StringRef to) {
  return [from, to](llvm::Module &module) {
    unsigned edits = 0;
    for (auto &f : module)
      for (auto &i : llvm::instructions(f)) {
        auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
        auto *text = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
        if (!text || !text->getAsmString().contains(from)) continue;
        std::string s = text->getAsmString().str();
        for (size_t at; (at = s.find(from.str())) != std::string::npos;) s.replace(at, from.size(), to.str());
        call->setCalledOperand(
            llvm::InlineAsm::get(text->getFunctionType(), s, text->getConstraintString(), text->hasSideEffects()));
        ++edits;
      }
    EXPECT_GT(edits, 0u) << from.str();
  };
}

constexpr DotCase kSmall{.name = "", .type = "f16", .n = 16, .k = 16};
constexpr DotCase kSmallA{.name = "", .type = "f16", .n = 16, .k = 16, .inTensorMemory = true};

std::string faultOf(llvm::StringRef between, llvm::function_ref<void(llvm::Module &)> change = nullptr,
                    const DotCase &c = kSmall) {
  Emulation e;
  auto r = run(e, c, between, change);
  return r.ok() ? "none" : std::string(r.status().message());
}

TEST(TensorMemoryFaults, ResultThatNobodyWaitedFor) {
  EXPECT_THAT(faultOf(""), HasSubstr("no wait for an mbarrier at which a tcgen05.commit arrives lies between"));
}
TEST(TensorMemoryFaults, OperandOverwrittenWhileItIsRead) {
  std::string overwrite =
      "ttg.local_store %bv, %right : tensor<16x16xf16, #blocked> -> !ttg.memdesc<16x16xf16, #b, #smem, "
      "mutable>\n";
  auto other = "%two = arith.addf %bv, %bv : tensor<16x16xf16, #blocked>\n";
  std::string changed = overwrite;
  changed.replace(changed.find("%bv"), 3, "%two");
  EXPECT_THAT(faultOf(other + changed + kWait), HasSubstr("reads: that is in flight"));
  EXPECT_EQ(faultOf(std::string(kWait) + "\n" + other + changed), "none");
}
TEST(TensorMemoryFaults, FenceAfterTheBarrierIsMissing) {
  EXPECT_THAT(faultOf(kWait, edit("tcgen05.fence::after_thread_sync;\ntcgen05.ld", "tcgen05.ld")),
              HasSubstr("no tcgen05.fence::after_thread_sync follows the wait for its mbarrier"));
}
TEST(TensorMemoryFaults, FenceBeforeTheBarrierIsMissing) {
  EXPECT_THAT(faultOf(kWait, edit("tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\n",
                                  "tcgen05.wait::st.sync.aligned;\n")),
              HasSubstr("it has executed no tcgen05.fence::before_thread_sync since"));
}
TEST(TensorMemoryFaults, StoreThatNobodyWaitedFor) {
  EXPECT_THAT(faultOf(kWait, edit("tcgen05.wait::st.sync.aligned;\n", "")), HasSubstr("race"));
}
TEST(TensorMemoryFaults, OperandThatNobodyWaitedFor) {
  EXPECT_THAT(faultOf(kWait, edit("tcgen05.wait::st.sync.aligned;\n", ""), kSmallA), HasSubstr("race"));
}
TEST(TensorMemoryFaults, ProxyFenceIsMissing) {
  EXPECT_THAT(faultOf(kWait, edit("fence.proxy.async.shared::cta;", "")),
              HasSubstr("no fence.proxy.async lies between"));
}
TEST(TensorMemoryFaults, NeverFreed) {
  EXPECT_THAT(faultOf(kWait, edit("tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, 32;", "")),
              HasSubstr("the block ends without tcgen05.dealloc"));
}
TEST(TensorMemoryFaults, OtherNumberIsFreed) {
  EXPECT_THAT(faultOf(kWait, edit("$0, 32;", "$0, 64;")), HasSubstr("which nobody has allocated"));
}
TEST(TensorMemoryFaults, TooManyColumns) {
  EXPECT_THAT(faultOf(kWait, edit("[$0], 32;", "[$0], 1024;")), HasSubstr("1024 columns of tensor memory"));
  EXPECT_THAT(faultOf(kWait, edit("[$0], 32;", "[$0], 48;")), HasSubstr("48 columns of tensor memory"));
  EXPECT_THAT(faultOf(kWait, edit("[$0], 32;",
                                  "[$0], 512;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0],  32;")),
              HasSubstr("of which 0 are left"));
}
TEST(TensorMemoryFaults, SeveralThreadsIssueTheDot) {
  EXPECT_THAT(faultOf(kWait, edit("@$0 tcgen05.mma", "tcgen05.mma")), HasSubstr("issued by several threads"));
}
/// Replaces an operand of the dots: 0 is the accumulator, 1 A, 2 B, 3 the instruction descriptor.
auto changeDots(unsigned operand, llvm::Value *(*change)(llvm::IRBuilder<> &, llvm::Value *)) {
  return [operand, change](llvm::Module &module) {
    unsigned changes = 0;
    for (auto &f : module)
      for (auto &i : llvm::instructions(f)) {
        auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
        auto *text = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
        if (!text || !text->getAsmString().contains("tcgen05.mma")) continue;
        // @$0 tcgen05.mma.cta_group::1.kind::f16 [$4], $5, $6, $1, $2;
        llvm::SmallVector<llvm::StringRef, 8> words;
        text->getAsmString().split("kind::").second.split(';').first.split(words, ' ');
        unsigned argument;
        ASSERT_FALSE(words[operand + 1].trim("[$],").getAsInteger(10, argument));
        llvm::IRBuilder<> b(call);
        call->setArgOperand(argument, change(b, call->getArgOperand(argument)));
        ++changes;
      }
    EXPECT_GT(changes, 0u);
  };
}
TEST(TensorMemoryFaults, OperandInOtherLanesThanTheAccumulator) {
  constexpr DotCase c{.name = "", .type = "f16", .m = 64, .n = 16, .k = 16, .inTensorMemory = true};
  EXPECT_EQ(faultOf(kWait, nullptr, c), "none");
  auto toLane16 = [](llvm::IRBuilder<> &b, llvm::Value *v) { return b.CreateAdd(v, b.getInt32(16 << 16)); };
  EXPECT_THAT(faultOf(kWait, changeDots(1, toLane16), c),
              HasSubstr("operand A at lane 16 of tensor memory and its accumulator at lane 0"));
}
TEST(TensorMemoryFaults, EightColumnsOfBytesAcrossK) {
  DotCase c{.name = "", .type = "f8E4M3FN", .kind = ir::FloatKind::F8E4M3FN, .bits = 8, .m = 64, .n = 32};
  EXPECT_EQ(faultOf(kWait, nullptr, c), "none");
  auto toEight = [](llvm::IRBuilder<> &b, llvm::Value *v) {
    return b.CreateSub(v, b.getInt32((32 / 8 - 8 / 8) << 17)); // "Instruction Descriptor": bits 17-22 are N / 8
  };
  EXPECT_THAT(faultOf(kWait, changeDots(3, toEight), c), HasSubstr("its N is none that its kind and M have"));
  c.acrossB = false;
  EXPECT_EQ(faultOf(kWait, changeDots(3, toEight), c).find("its N"), std::string::npos);
}
/// What is said of a dot of 64 rows whose operand A is in tensor memory.
std::string errorOfLanes(unsigned k, unsigned blockK, unsigned n, llvm::StringRef accumulator) {
  std::string s = R"(
#smem = #ttg.shared_memory
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#d = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
)";
  s += llvm::formatv("#a = #ttng.tensor_memory_encoding<blockM = 64, blockN = {0}, colStride = 1>\n", blockK);
  s += llvm::formatv("!a = !ttg.memdesc<64x{0}xf16, #a, #ttng.tensor_memory, mutable>\n"
                     "!b = !ttg.memdesc<{0}x{1}xf16, #b, #smem, mutable>\n",
                     k, n);
  s += R"(
!whole = !ttg.memdesc<64x128xf32, #d, #ttng.tensor_memory, mutable>
!part = !ttg.memdesc<64x64xf32, #d, #ttng.tensor_memory, mutable, 64x128>
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
tt.func public @dot(%add: i1) {
%a = ttng.tmem_alloc : () -> !a
%b = ttg.local_alloc : () -> !b
%whole = ttng.tmem_alloc : () -> !whole
%first = ttng.tmem_subslice %whole {N = 0 : i32} : !whole -> !part
%second = ttng.tmem_subslice %whole {N = 64 : i32} : !whole -> !part
%bar = ttg.local_alloc : () -> !bar
ttng.init_barrier %bar, 1 : !bar
)";
  s += llvm::formatv("ttng.tc_gen5_mma %a, %b, %{0}, %add, %add, %bar[%add] {{is_async} : !a, !b, !{1}, !bar\n",
                     accumulator, accumulator == "whole" ? "whole" : "part");
  s += "tt.return\n}\n}\n";
  Emulation e;
  e.target = "sm_100a";
  auto r = e.text(s, "dot", {bytesOf(std::vector<uint8_t>{0})});
  return r.ok() ? "none" : std::string(r.status().message());
}
TEST(TensorMemoryErrors, OperandInOtherLanesThanTheAccumulator) {
  constexpr const char *kA0D16 = "has 64 rows of operand A at lane 0 of tensor memory and its accumulator at lane 16";
  EXPECT_THAT(errorOfLanes(32, 32, 128, "whole"), HasSubstr(kA0D16));
  EXPECT_THAT(errorOfLanes(64, 64, 64, "second"), HasSubstr(kA0D16));
  EXPECT_THAT(errorOfLanes(128, 64, 64, "first"), HasSubstr("operand A at lane 16 of tensor memory"));
  EXPECT_EQ(errorOfLanes(64, 64, 64, "first").find("lane"), std::string::npos);
}
/// What is said of the kernel with a part of its text replaced.
std::string errorOf(llvm::StringRef from, llvm::StringRef to) {
  std::string s = textOf(kSmall, kWait);
  size_t at = s.find(from.str());
  EXPECT_NE(at, std::string::npos) << from.str();
  Emulation e;
  e.target = "sm_100a";
  auto r = e.text(s.replace(at, from.size(), to.str()), "dot", {zeros(4096), zeros(512), zeros(8192)});
  return r.ok() ? "none" : std::string(r.status().message());
}
TEST(TensorMemoryErrors, EightColumnsOfBytesAcrossK) {
  DotCase c{.name = "", .type = "f8E4M3FN", .kind = ir::FloatKind::F8E4M3FN, .bits = 8, .m = 64, .n = 32};
  std::string s = textOf(c, kWait), whole = "blockM = 64, blockN = 32, colStride = 1";
  s.replace(s.find(whole), whole.size(), "blockM = 64, blockN = 8, colStride = 1");
  Emulation e;
  e.target = "sm_100a";
  auto r = e.text(s, "dot", {zeros(64 * 32), zeros(32 * 32), zeros(64 * 32 * 4)});
  EXPECT_THAT(std::string(r.status().message()),
              HasSubstr("reads operand B of 8-bit elements across K in tiles of 8 "));
}
TEST(TensorMemoryErrors, AreSaid) {
  EXPECT_THAT(
      errorOf(", %bar[%true] {is_async} : !ttg.memdesc<128x16xf16, #a, #smem, mutable>, !ttg.memdesc<16x16xf16, "
              "#b, #smem, mutable>, !acc, !bar",
              " : !ttg.memdesc<128x16xf16, #a, #smem, mutable>, !ttg.memdesc<16x16xf16, #b, #smem, mutable>, !acc"),
      HasSubstr("is synchronous"));
  std::string types =
      " : !ttg.memdesc<128x16xf16, #a, #smem, mutable>, !ttg.memdesc<16x16xf16, #b, #smem, mutable>, !acc";
  std::string dot = "ttng.tc_gen5_mma %left, %right, %acc, %true, %true",
              commit = "\nttng.tc_gen5_commit %bar : !bar\n";
  std::string arriving = dot + ", %bar[%true] {is_async}" + types + ", !bar", synchronous = dot + types;
  EXPECT_THAT(errorOf(arriving, commit + synchronous), HasSubstr("is synchronous"));
  EXPECT_EQ(errorOf(arriving, synchronous + commit), "none");
  EXPECT_EQ(errorOf(arriving, synchronous + "\n" + arriving), "none");
  std::string loop = "%c1 = arith.constant 1 : i32\nscf.for %i = %c0 to %c1 step %c1 : i32 {\n";
  EXPECT_EQ(errorOf(arriving, loop + "scf.if %true {\n" + synchronous + "\n}\n}\n" + commit), "none");
  EXPECT_EQ(errorOf(arriving, loop + commit + synchronous + "\n}\n").find("is synchronous"), std::string::npos);
  EXPECT_THAT(errorOf("{is_async}", "{is_async, two_ctas}"), HasSubstr("is a dot of two blocks"));
  EXPECT_THAT(errorOf("colStride = 1", "colStride = 2"), HasSubstr("a column of tensor memory has 32 bits"));
  EXPECT_THAT(errorOf("#b = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>",
                      "#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"),
              HasSubstr("reads an operand under #ttg.swizzled_shared"));
}

TEST(TensorMemoryFaults, UseAfterItIsFreed) {
  Emulation e;
  e.target = "sm_100a";
  e.numWarps = 1;
  e.sharedBytes = 64;
  auto text =
      [](const char *store) {
        return std::string(R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@global_smem = external addrspace(3) global [0 x i8], align 16
declare void @llvm.nvvm.bar.warp.sync(i32)
define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %scratch, ptr addrspace(1) %profile) {
  %word = ptrtoint ptr addrspace(3) @global_smem to i32
  call void asm sideeffect "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], 32;", "r,~{memory}"(i32 %word)
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %at = load i32, ptr addrspace(3) @global_smem
)") + store + R"(
  call void asm sideeffect "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, 32;", "r,~{memory}"(i32 %at)
)" + store + "  ret void\n}\n";
      };
  const char *write = "  call void asm sideeffect \"tcgen05.st.sync.aligned.32x32b.x1.b32 [$0], "
                      "{$0};\\0Atcgen05.wait::st.sync.aligned;\", \"r,~{memory}\"(i32 %at)\n";
  EXPECT_TRUE(e.llvmModule(text(""), {zeros(4)}).ok());
  auto r = e.llvmModule(text(write), {zeros(4)});
  EXPECT_THAT(std::string(r.status().message()), HasSubstr("which the block has not allocated"));
}

} // namespace
} // namespace tessera
