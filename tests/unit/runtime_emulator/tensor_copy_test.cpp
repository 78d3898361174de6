// Bulk copies of tensors (ttng.async_tma_*) on the emulator: blocks of one to five dimensions, of all widths of
// swizzles and of several boxes, in the middle of a tensor and over its edges, against copies made here; reductions;
// and planted faults.
#include "emulation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ::testing::AnyOf;
using testing::Emulation;
using ::testing::HasSubstr;

struct Case {
  const char *type;
  unsigned bytes, number; // of an element; of its type in tensor maps
  unsigned swizzle;       // bytes
  std::vector<int64_t> tensor, block, box;
  std::vector<int64_t> from, to; // where the block is read and written
};

std::string joined(const std::vector<int64_t> &v, const char *separator) {
  return llvm::join(llvm::map_range(v, [](int64_t x) { return std::to_string(x); }), separator);
}

/// A block of %x at `from` goes to %y at `to`; `bytes` is what the barrier expects.
std::string text(const Case &c, int64_t bytes, const char *reduction = nullptr) {
  unsigned rank = c.tensor.size();
  std::string constants, box, size, stride, ones, i32s, i64s;
  int64_t distance = c.bytes;
  auto constant = [&](const std::string &name, int64_t v, const char *type) {
    constants += "    %" + name + " = arith.constant " + std::to_string(v) + " : " + type + "\n";
  };
  auto add = [](std::string &list, const std::string &item) { list += (list.empty() ? "" : ", ") + item; };
  std::string from, to;
  for (unsigned k = 0; k < rank; ++k) {
    unsigned d = rank - 1 - k;
    constant("box" + std::to_string(k), c.box[d], "i32"), add(box, "%box" + std::to_string(k));
    constant("size" + std::to_string(k), c.tensor[d], "i32"), add(size, "%size" + std::to_string(k));
    distance *= c.tensor[d];
    if (k + 1 < rank)
      constant("stride" + std::to_string(k), distance, "i64"), add(stride, "%stride" + std::to_string(k)),
          add(i64s, "i64");
    add(ones, "%one"), add(i32s, "i32");
    constant("from" + std::to_string(k), c.from[k], "i32"), add(from, "%from" + std::to_string(k));
    constant("to" + std::to_string(k), c.to[k], "i32"), add(to, "%to" + std::to_string(k));
  }
  std::string rankOf = rank == 2 ? "" : ", rank = " + std::to_string(rank), type = joined(c.block, "x") + "x" + c.type;
  std::string types = i32s + ", " + i32s + (i64s.empty() ? "" : ", " + i64s) + ", " + i32s;
  const char *swizzles[] = {"0", "1", "2", "3"};
  const char *mode = swizzles[c.swizzle == 0 ? 0 : c.swizzle == 32 ? 1 : c.swizzle == 64 ? 2 : 3];
  auto map = [&](const char *name, const char *of) {
    return llvm::formatv(
               R"(    %{0}p = ttg.global_scratch_alloc {{alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %{0}p, %{1}, [{2}], [{3}], [{4}], [{5}] {{elem_type = {6} : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = {7} : i32} : (!tt.ptr<i8>, !tt.ptr<{8}>, {9}) -> ()
    ttng.tensormap_fenceproxy_acquire %{0}p : !tt.ptr<i8>
    %{0} = ttng.reinterpret_tensor_descriptor %{0}p : !tt.ptr<i8> to !tt.tensordesc<tensor<{10}, #shared>>
)",
               name, of, box, size, stride, ones, c.number, mode, c.type, types, type)
        .str();
  };
  std::string out =
      llvm::formatv(
          R"(#shared = #ttg.nvmma_shared<{{swizzlingByteWidth = {0}, transposed = false, elementBitWidth = {1}{2}}>
#plain = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {{
  tt.func public @k(%x: !tt.ptr<{3}>, %y: !tt.ptr<{3}>) {{
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %true = arith.constant true
{4}{5}{6})",
          c.swizzle, c.bytes * 8, rankOf, c.type, constants, map("dx", "x"), map("dy", "y"))
          .str();
  out += llvm::formatv(R"(    %b = ttg.local_alloc : () -> !ttg.memdesc<{0}, #shared, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.init_barrier %m, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.barrier_expect %m, {1}, %true : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.async_tma_copy_global_to_local %dx[{2}] %b, %m, %true : !tt.tensordesc<tensor<{0}, #shared>>, !ttg.memdesc<1xi64, #plain, #smem, mutable> -> !ttg.memdesc<{0}, #shared, #smem, mutable>
    ttng.wait_barrier %m, %zero : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.inval_barrier %m : !ttg.memdesc<1xi64, #plain, #smem, mutable>
)",
                       type, bytes, from)
             .str();
  if (reduction)
    out += llvm::formatv("    ttng.async_tma_reduce {0}, %dy[{1}] %b : !tt.tensordesc<tensor<{2}, #shared>>, "
                         "!ttg.memdesc<{2}, #shared, #smem, mutable>\n",
                         reduction, to, type);
  else
    out += llvm::formatv("    ttng.async_tma_copy_local_to_global %dy[{0}] %b : !tt.tensordesc<tensor<{1}, #shared>>, "
                         "!ttg.memdesc<{1}, #shared, #smem, mutable>\n",
                         to, type);
  return out + "    ttng.async_tma_store_wait {pendings = 0 : i32}\n    tt.return\n  }\n}\n";
}

int64_t elements(const std::vector<int64_t> &shape) {
  int64_t n = 1;
  for (auto d : shape) n *= d;
  return n;
}

/// What y, filled with `fill`, is after the copy.
std::vector<uint8_t> expected(const Case &c, const std::vector<uint8_t> &x, uint8_t fill) {
  std::vector<uint8_t> y(x.size(), fill);
  for (int64_t n = 0; n < elements(c.block); ++n) {
    int64_t rest = n, source = 0, target = 0, distance = 1;
    bool read = true, written = true;
    for (unsigned d = c.block.size(); d-- > 0; distance *= c.tensor[d]) {
      int64_t i = rest % c.block[d];
      rest /= c.block[d];
      int64_t s = c.from[d] + i, t = c.to[d] + i;
      read &= s >= 0 && s < c.tensor[d], written &= t >= 0 && t < c.tensor[d];
      source += s * distance, target += t * distance;
    }
    for (unsigned k = 0; k < c.bytes; ++k)
      if (written) y[target * c.bytes + k] = read ? x[source * c.bytes + k] : 0;
  }
  return y;
}

std::vector<uint8_t> counting(size_t bytes) {
  std::vector<uint8_t> v(bytes);
  for (size_t k = 0; k < bytes; ++k) v[k] = uint8_t(k * 37 + k / 251);
  return v;
}

TEST(TensorCopy, BlocksOfAllKinds) {
  const Case cases[] = {
      {"f16", 2, 6, 128, {100, 200}, {64, 128}, {64, 64}, {16, 32}, {0, 64}},    // two boxes
      {"f16", 2, 6, 128, {100, 200}, {64, 128}, {64, 64}, {80, 150}, {70, 120}}, // over the edges
      {"f16", 2, 6, 128, {100, 200}, {64, 64}, {64, 64}, {-10, -30}, {-3, -5}},  // before the beginning
      {"f16", 2, 6, 128, {100, 200}, {64, 64}, {64, 64}, {500, 0}, {0, 0}},      // all zeros
      {"i8", 1, 0, 64, {70, 96}, {16, 64}, {16, 64}, {5, 7}, {60, 48}},          // any element may be the first
      {"i8", 1, 0, 32, {70, 96}, {32, 64}, {32, 32}, {5, 7}, {1, 33}},
      {"f32", 4, 7, 32, {40, 24}, {32, 8}, {32, 8}, {9, 3}, {2, 16}},
      {"f16", 2, 6, 64, {600, 40}, {512, 32}, {256, 32}, {90, 10}, {0, 0}}, // more rows than a box has
      {"f16", 2, 6, 0, {40, 24}, {32, 8}, {32, 8}, {11, 9}, {0, 16}},       // no swizzle
      {"f32", 4, 7, 0, {1500}, {1024}, {256}, {600}, {-100}},
      {"bf16", 2, 10, 128, {3, 20, 136}, {2, 16, 64}, {2, 16, 64}, {2, 10, 40}, {0, 0, 100}},
      {"i32", 4, 3, 64, {3, 5, 10, 24}, {2, 1, 8, 16}, {2, 1, 8, 16}, {1, 4, 5, 3}, {2, 0, -3, 8}},
      {"f32", 4, 7, 64, {2, 3, 3, 4, 16}, {1, 1, 2, 4, 16}, {1, 1, 2, 4, 16}, {1, 2, 2, 0, 0}, {0, 1, 1, 0, 0}},
  };
  for (auto &c : cases) {
    auto x = counting(size_t(elements(c.tensor)) * c.bytes);
    Emulation e;
    auto r = e.text(text(c, elements(c.block) * c.bytes), "k",
                    {testing::bytesOf(x), testing::bytesOf(std::vector<uint8_t>(x.size(), 9))});
    std::string name = std::string(c.type) + " " + joined(c.block, "x") + " swizzle " + std::to_string(c.swizzle) +
                       " from " + joined(c.from, ",");
    ASSERT_TRUE(r.ok()) << name << ": " << r.status();
    EXPECT_EQ(e.buffers[1], expected(c, x, 9)) << name;
  }
}

/// Tensor maps that are arguments, made by the launcher: gaps between rows, and padding with NaN.
TEST(TensorCopy, MapsOfArguments) {
  constexpr llvm::StringRef kernel =
      R"(#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.tensordesc<tensor<16x64xf16, #shared>>, %y: !tt.tensordesc<tensor<16x64xf16, #shared>>, %i: i32, %j: i32) {
    %zero = arith.constant 0 : i32
    %true = arith.constant true
    %b = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #shared, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.init_barrier %m, 1 : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.barrier_expect %m, 2048, %true : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.async_tma_copy_global_to_local %x[%i, %j] %b, %m, %true : !tt.tensordesc<tensor<16x64xf16, #shared>>, !ttg.memdesc<1xi64, #plain, #smem, mutable> -> !ttg.memdesc<16x64xf16, #shared, #smem, mutable>
    ttng.wait_barrier %m, %zero : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.inval_barrier %m : !ttg.memdesc<1xi64, #plain, #smem, mutable>
    ttng.async_tma_copy_local_to_global %y[%zero, %zero] %b : !tt.tensordesc<tensor<16x64xf16, #shared>>, !ttg.memdesc<16x64xf16, #shared, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
}
)";
  constexpr int kRows = 21, kColumns = 70, kPitch = 80; // of x
  constexpr int kOutRows = 14, kOutColumns = 60, kOutPitch = 64;
  constexpr int kI = 9, kJ = 20;
  constexpr uint16_t kUntouched = 0x0909, kNan = 0x7e00;
  std::vector<uint8_t> x(2 * kPitch * kRows);
  for (size_t k = 0; k < x.size(); ++k) x[k] = uint8_t(k % 2 ? k / 251 % 64 : k * 37); // no NaN
  auto descriptor = [](int rows, int columns, int pitch, bool nan) {
    return runtime::HostDescriptor{runtime::DType::F16, {rows, columns}, {pitch, 1}, {16, 64}, nan};
  };
  for (bool nan : {false, true})
    for (const char *target : {"sm_90a", "sm_100a", "sm_120a"}) {
      Emulation e;
      e.target = target;
      e.grid = {3, 1, 1}; // all do the same
      std::vector<uint8_t> untouched(2 * kOutPitch * kOutRows, uint8_t(kUntouched));
      auto r =
          e.text(kernel, "k",
                 {testing::described(testing::bytesOf(x), descriptor(kRows, kColumns, kPitch, nan)),
                  testing::described(testing::bytesOf(untouched), descriptor(kOutRows, kOutColumns, kOutPitch, false)),
                  testing::scalar(kI), testing::scalar(kJ)});
      ASSERT_TRUE(r.ok()) << target << ": " << r.status();
      for (int row = 0; row < kOutRows; ++row)
        for (int column = 0; column < kOutPitch; ++column) {
          uint16_t want = kUntouched;
          uint16_t got;
          bool inside = kI + row < kRows && kJ + column < kColumns;
          if (column < kOutColumns && inside)
            memcpy(&want, &x[2 * ((kI + row) * kPitch + kJ + column)], 2);
          else if (column < kOutColumns)
            want = nan ? kNan : 0;
          memcpy(&got, &e.buffers[1][2 * (row * kOutPitch + column)], 2);
          ASSERT_EQ(got, want) << target << " " << row << " " << column;
        }
    }
}

TEST(TensorCopy, Reductions) {
  Case c{"i32", 4, 3, 128, {24, 40}, {16, 32}, {16, 32}, {0, 0}, {10, 20}};
  struct Kind {
    const char *name;
    int32_t (*combine)(int32_t, int32_t);
  } kinds[] = {{"add", [](int32_t a, int32_t b) { return a + b; }},
               {"min", [](int32_t a, int32_t b) { return std::min(a, b); }},
               {"max", [](int32_t a, int32_t b) { return std::max(a, b); }},
               {"and", [](int32_t a, int32_t b) { return a & b; }},
               {"or", [](int32_t a, int32_t b) { return a | b; }},
               {"xor", [](int32_t a, int32_t b) { return a ^ b; }}};
  for (auto &k : kinds) {
    std::vector<int32_t> x(24 * 40), y(24 * 40);
    for (int i = 0; i < 24 * 40; ++i) x[i] = (i * 7919) % 201 - 100, y[i] = (i * 104729) % 151 - 75;
    auto want = y;
    for (int i = 0; i < 14; ++i)
      for (int j = 0; j < 20; ++j) want[(10 + i) * 40 + 20 + j] = k.combine(y[(10 + i) * 40 + 20 + j], x[i * 40 + j]);
    auto bytes = [](const std::vector<int32_t> &v) {
      std::vector<uint8_t> b(4 * v.size());
      memcpy(b.data(), v.data(), b.size());
      return b;
    };
    Emulation e;
    auto r = e.text(text(c, 16 * 32 * 4, k.name), "k", {testing::bytesOf(bytes(x)), testing::bytesOf(bytes(y))});
    ASSERT_TRUE(r.ok()) << k.name << ": " << r.status();
    EXPECT_EQ(e.buffers[1], bytes(want)) << k.name;
  }
}

// ---- faults ----

const Case kPlain{"f16", 2, 6, 128, {64, 64}, {64, 64}, {64, 64}, {0, 0}, {0, 0}};

std::string messageOf(const std::string &ir, size_t bytes = 64 * 64 * 2) {
  Emulation e;
  auto r = e.text(ir, "k", {testing::bytesOf(counting(bytes)), testing::zeros(bytes)});
  EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted) << r.status();
  return std::string(r.status().message());
}
std::string without(const std::string &line) {
  std::string ir = text(kPlain, 64 * 64 * 2), out;
  unsigned left = 0;
  for (auto l : llvm::split(ir, '\n'))
    if (l.contains(line))
      ++left;
    else
      out += (l + "\n").str();
  EXPECT_GE(left, 1u) << line;
  return out;
}

/// Threads write ones to the buffer %b of 64x64xf16.
const std::string kWriteOnes =
    "    %v = arith.constant dense<1.0> : tensor<64x64xf16, #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = "
    "[4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>>\n"
    "    ttg.local_store %v, %b : tensor<64x64xf16, #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
    "warpsPerCTA = [4, 1], order = [1, 0]}>> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>\n";

TEST(TensorCopyFaults, NobodyWaits) {
  EXPECT_THAT(messageOf(without("wait_barrier")),
              AnyOf(HasSubstr("is invalidated while a bulk copy that it counts is in flight"),
                    HasSubstr("nobody has waited for it")));
  EXPECT_THAT(messageOf(without("async_tma_store_wait")), HasSubstr("no cp.async.bulk.wait_group has waited for it"));
}
TEST(TensorCopyFaults, OnlyReadsAreWaitedFor) {
  auto loadsAfter = [](const std::string &waits) {
    std::string ir = text(kPlain, 64 * 64 * 2);
    std::string wait = "    ttng.async_tma_store_wait {pendings = 0 : i32}\n";
    return ir.replace(ir.find(wait), wait.size(),
                      waits + "    %e = tt.load %y {isVolatile = true} : !tt.ptr<f16>\n"
                              "    tt.store %x, %e : !tt.ptr<f16>\n");
  };
  EXPECT_THAT(messageOf(loadsAfter("    ttng.async_tma_store_wait {pendings = 0 : i32, read_only}\n")),
              HasSubstr("and no cp.async.bulk.wait_group (without .read) orders the two"));
  size_t bytes = 64 * 64 * 2;
  auto r = Emulation().text(loadsAfter("    ttng.async_tma_store_wait {pendings = 0 : i32}\n    gpu.barrier\n"), "k",
                            {testing::bytesOf(counting(bytes)), testing::zeros(bytes)});
  EXPECT_TRUE(r.ok()) << r.status();
}
TEST(TensorCopyFaults, BytesThatNeverCome) {
  EXPECT_THAT(messageOf(text(kPlain, 64 * 64 * 2 + 16)), HasSubstr("deadlock"));
}
TEST(TensorCopyFaults, BarrierThatIsNone) {
  EXPECT_THAT(messageOf(without("init_barrier")), HasSubstr("no initialised mbarrier"));
}
TEST(TensorCopyFaults, MapThatIsNotAcquired) {
  EXPECT_THAT(messageOf(without("fenceproxy_acquire")), HasSubstr("fence.proxy.tensormap"));
}
TEST(TensorCopyFaults, MapThatIsWrittenWhileACopyReadsIt) {
  std::string ir = text(kPlain, 64 * 64 * 2);
  auto again = [&](const char *map, const char *before) {
    size_t from = ir.find(std::string("    ttng.tensormap_create %") + map), to = ir.find('\n', from) + 1;
    std::string out = ir;
    return out.insert(ir.find(before), ir.substr(from, to - from));
  };
  EXPECT_THAT(messageOf(again("dxp", "    ttng.wait_barrier")), HasSubstr("nobody has waited for its mbarrier"));
  EXPECT_THAT(messageOf(again("dyp", "    ttng.async_tma_store_wait")),
              HasSubstr("is written while a bulk copy reads it: no cp.async.bulk.wait_group has waited for it"));
  for (auto [map, before] : {std::pair("dxp", "    ttng.inval_barrier"), {"dyp", "    tt.return"}}) {
    Emulation e;
    auto r = e.text(again(map, before), "k", {testing::bytesOf(counting(64 * 64 * 2)), testing::zeros(64 * 64 * 2)});
    EXPECT_TRUE(r.ok()) << map << ": " << r.status();
  }
}
TEST(TensorCopyFaults, OrdinaryWritesAreFenced) {
  // What threads wrote is stored by the asynchronous proxy. Where the program has no fence, the compiler places one.
  std::string ir = text(kPlain, 64 * 64 * 2), fence = "    ttng.fence_async_shared {bCluster = false}\n";
  size_t at = ir.find("    ttng.async_tma_copy_local_to_global");
  std::string unfenced = ir, fenced = ir;
  Emulation own;
  auto placed =
      own.text(unfenced.insert(at, kWriteOnes), "k", {testing::zeros(64 * 64 * 2), testing::zeros(64 * 64 * 2)});
  ASSERT_TRUE(placed.ok()) << placed.status();
  EXPECT_EQ(own.buffers[1][1], 0x3c);
  Emulation e;
  auto r =
      e.text(fenced.insert(at, kWriteOnes + fence), "k", {testing::zeros(64 * 64 * 2), testing::zeros(64 * 64 * 2)});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(e.buffers[1][1], 0x3c);
  // A buffer that was written by threads and is then filled: the fence is the compiler's to place.
  std::string filled = ir;
  filled.insert(ir.find("    ttng.barrier_expect"), kWriteOnes);
  Emulation f;
  r = f.text(filled, "k", {testing::bytesOf(counting(64 * 64 * 2)), testing::zeros(64 * 64 * 2)});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ(f.buffers[1], counting(64 * 64 * 2));
}
TEST(TensorCopyFaults, OrdinaryWritesWithoutFence) {
  // The compiled code without its fences: a copy reads, or overwrites, what threads wrote.
  std::string ir = text(kPlain, 64 * 64 * 2);
  for (const char *before : {"    ttng.async_tma_copy_local_to_global", "    ttng.barrier_expect"}) {
    std::string written = ir;
    written.insert(written.find(before), kWriteOnes);
    unsigned fences = 0;
    auto dropFences = [&](llvm::Module &m) {
      llvm::SmallVector<llvm::Instruction *, 4> calls;
      for (auto &f : m)
        for (auto &i : llvm::instructions(f)) {
          auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
          auto *asmText = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
          if (asmText && asmText->getAsmString() == "fence.proxy.async.shared::cta;") calls.push_back(call);
        }
      for (auto *i : calls) i->eraseFromParent();
      fences = unsigned(calls.size());
    };
    Emulation e;
    auto r = e.text(written, "k", {testing::zeros(64 * 64 * 2), testing::zeros(64 * 64 * 2)}, dropFences);
    EXPECT_GE(fences, 1u) << before;
    EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted) << before;
    EXPECT_THAT(std::string(r.status().message()), HasSubstr("no fence.proxy.async lies between")) << before;
  }
}
TEST(TensorCopyFaults, BufferChangedInFlight) {
  std::string ir = text(kPlain, 64 * 64 * 2);
  std::string early = ir, late = ir;
  EXPECT_THAT(messageOf(early.insert(ir.find("    ttng.async_tma_store_wait"), kWriteOnes)),
              HasSubstr("which a bulk copy"));
  Emulation e;
  auto r = e.text(late.insert(ir.find("    tt.return"), kWriteOnes), "k",
                  {testing::zeros(64 * 64 * 2), testing::zeros(64 * 64 * 2)});
  EXPECT_TRUE(r.ok()) << r.status();
}
TEST(TensorCopyFaults, BeyondTheBuffer) {
  Case c = kPlain;
  c.tensor = {128, 64}, c.from = {32, 0};
  EXPECT_THAT(messageOf(text(c, 64 * 64 * 2)), HasSubstr("out of bounds"));
}
TEST(TensorCopyFaults, StridesOfOddBytes) {
  Case c = kPlain;
  c.tensor = {64, 60};
  EXPECT_THAT(messageOf(text(c, 64 * 64 * 2)), HasSubstr("a multiple of 16"));
}

} // namespace
} // namespace tessera
