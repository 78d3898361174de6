// wgmma on the emulator: modules written by hand, as the lowering writes them, against results computed here. Where
// the elements of an operand lie in shared memory is stated in terms of swizzle atoms (8 rows of 32, 64 or 128 bytes,
// whose 16-byte columns are permuted by the row), and which thread holds which element of the result by the figures
// of "Register Fragments" in the PTX manual. With TESSERA_WGMMA_DUMP=FOLDER the modules, inputs and results are also
// written there, to be compared with a GPU.
#include "emulation.h"
#include "runtime/float_formats.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace tessera {
namespace {

using ::testing::AllOf;
using testing::bytesOf;
using testing::Emulation;
using ::testing::HasSubstr;
using testing::scalar;
using testing::zeros;

struct Format {
  const char *name;
  unsigned bits;
};
constexpr Format kF16{"f16", 16}, kBF16{"bf16", 16}, kTF32{"tf32", 32}, kE4M3{"e4m3", 8}, kE5M2{"e5m2", 8},
    kS8{"s8", 8}, kU8{"u8", 8};

struct Config {
  Format a, b;
  const char *c;
  unsigned n;
  unsigned swizzleA = 128, swizzleB = 128; // bytes; 0: none
  bool mnMajorA = false, mnMajorB = false, registersA = false;
  bool accumulate = true;
  unsigned step = 0; // K-major, swizzled: the operand begins this many instructions' depth into the atom
  int scaleA = 1, scaleB = 1;
};

uint64_t encode(Format f, int v) {
  std::string n = f.name;
  if (n == "f16") return runtime::encodeFloat(ir::FloatKind::F16, v);
  if (n == "bf16") return runtime::encodeFloat(ir::FloatKind::BF16, v);
  if (n == "tf32") return runtime::encodeFloat(ir::FloatKind::F32, v);
  if (n == "e4m3") return runtime::encodeFloat(ir::FloatKind::F8E4M3FN, v);
  if (n == "e5m2") return runtime::encodeFloat(ir::FloatKind::F8E5M2, v);
  return uint8_t(v);
}

/// An operand in shared memory: its bytes, and the descriptor but for the address.
struct Operand {
  std::vector<uint8_t> image;
  uint64_t descriptor = 0;
  unsigned start = 0; // byte in the image where the instruction's part begins
};

Operand place(Format f, unsigned mn, unsigned k, unsigned swizzle, bool mnMajor, unsigned step,
              const std::vector<int> &value) {
  Operand o;
  unsigned bytes = f.bits / 8, leading = 1, stride;
  auto put = [&](unsigned at, unsigned m, unsigned d) {
    uint64_t v = encode(f, value[m * k + d]);
    if (o.image.size() < at + bytes) o.image.resize(at + bytes, 0xee);
    memcpy(o.image.data() + at, &v, bytes);
  };
  // The atom's column of 16 bytes that column `c` of row `r` is stored in.
  auto column = [&](unsigned r, unsigned c) {
    return swizzle == 128 ? c ^ r : swizzle == 64 ? c ^ (r / 2) : swizzle == 32 ? c ^ (r / 4) : c;
  };
  unsigned width = swizzle ? swizzle : 16, atom = 8 * width;
  if (!mnMajor) {
    // Rows of K; atoms one below the other (swizzled), or 8 rows by 16 bytes: first down, then along K.
    stride = atom;
    leading = swizzle ? 16 : atom * (mn / 8);
    for (unsigned m = 0; m < mn; ++m)
      for (unsigned d = 0; d < k; ++d) {
        unsigned along = d * bytes + step * 32;
        if (swizzle)
          put(m / 8 * stride + m % 8 * width + column(m % 8, along / 16) * 16 + along % 16, m, d);
        else
          put(m / 8 * stride + along / 16 * leading + m % 8 * 16 + along % 16, m, d);
      }
    o.start = step * 32;
  } else {
    // Rows of M or N: an atom holds 8 depths. Atoms along K first, then along M or N; without swizzle the other way
    // round.
    unsigned across = std::max(1u, mn * bytes / width);
    unsigned nextDepth = swizzle ? atom : atom * across, nextMn = swizzle ? atom * (k / 8) : atom;
    for (unsigned m = 0; m < mn; ++m)
      for (unsigned d = 0; d < k; ++d) {
        unsigned along = m * bytes;
        put(along / width * nextMn + d / 8 * nextDepth + d % 8 * width + column(d % 8, along % width / 16) * 16 +
                along % 16,
            m, d);
      }
    leading = swizzle ? nextMn : nextDepth, stride = swizzle ? nextDepth : nextMn;
  }
  o.image.resize((o.image.size() + 1023) / 1024 * 1024, 0xee);
  uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  o.descriptor = uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 | mode << 62;
  return o;
}

struct Parts {
  bool proxyFence = true, barrier = true, fence = true, wait = true;
  const char *before = "", *between = "", *after = ""; // the wgmma; its commit and wait; the wait
  bool onlyFirstWarps = false;
};

/// The type in LLVM IR of a register of accumulators.
const char *accumulatorType(const Config &c) { return std::string(c.c) == "f32" ? "float" : "i32"; }

/// As many accumulator types as there are registers, with commas between them.
std::string accumulatorTypes(const Config &c, unsigned registers) {
  std::string types;
  for (unsigned r = 0; r < registers; ++r) types += std::string(r ? ", " : "") + accumulatorType(c);
  return types;
}

/// Copies the image to shared memory and loads the accumulators, %c0…, and the registers of A, %a0….
std::string loads(const Config &c, unsigned imageBytes, unsigned registers, const Parts &parts) {
  std::string s;
  const char *type = accumulatorType(c);
  for (unsigned k = 0; k < imageBytes / 2048; ++k)
    s += llvm::formatv("  %o{0} = add i32 %t16, {1}\n  %g{0} = getelementptr i8, ptr addrspace(1) %image, i32 %o{0}\n  "
                       "%v{0} = load <4 x i32>, ptr addrspace(1) %g{0}, align 16\n"
                       "  %s{0} = getelementptr i8, ptr addrspace(3) @smem, i32 %o{0}\n  store <4 x i32> %v{0}, ptr "
                       "addrspace(3) %s{0}, align 16\n",
                       k, k * 2048)
             .str();
  if (parts.proxyFence) s += "  call void asm sideeffect \"fence.proxy.async.shared::cta;\", \"~{memory}\"()\n";
  if (parts.barrier) s += "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
  s += llvm::formatv("  %rb = mul i32 %t, {0}\n", registers * 4).str();
  for (unsigned r = 0; r < registers; ++r)
    s += llvm::formatv("  %ro{0} = add i32 %rb, {1}\n  %rp{0} = getelementptr i8, ptr addrspace(1) %acc, i32 %ro{0}\n  "
                       "%c{0} = load {2}, ptr addrspace(1) %rp{0}, align 4\n",
                       r, r * 4, type)
             .str();
  for (unsigned r = 0; r < 4; ++r)
    s += llvm::formatv("  %ao{0} = add i32 %t16, {1}\n  %ap{0} = getelementptr i8, ptr addrspace(1) %aregs, i32 "
                       "%ao{0}\n  %a{0} = load i32, ptr addrspace(1) %ap{0}, align 4\n",
                       r, r * 4)
             .str();
  return s;
}

/// %d = wgmma of %da or %a0…, %db and %c0….
std::string wgmma(const Config &c, unsigned registers) {
  const char *type = accumulatorType(c);
  const std::string types = accumulatorTypes(c, registers);
  // d…; a or its registers; b; scale; then the immediates.
  bool whole = std::string(c.c) == "s32", half = std::string(c.a.name) == "f16" || std::string(c.a.name) == "bf16";
  unsigned k = 256 / c.a.bits, next = registers;
  std::string list, constraints;
  for (unsigned r = 0; r < registers; ++r) {
    list += (r ? ", $" : "$") + std::to_string(r);
    constraints += *type == 'f' ? "=f," : "=r,";
  }
  std::string operands, arguments;
  if (c.registersA) {
    operands = llvm::formatv("{${0}, ${1}, ${2}, ${3}}", next, next + 1, next + 2, next + 3).str(), next += 4;
    constraints += "r,r,r,r,", arguments = "i32 %a0, i32 %a1, i32 %a2, i32 %a3, ";
  } else {
    operands = "$" + std::to_string(next++), constraints += "l,", arguments = "i64 %da, ";
  }
  operands += ", $" + std::to_string(next++), constraints += "l,", arguments += "i64 %db, ";
  std::string scale = "$" + std::to_string(next++);
  constraints += "r,", arguments += "i32 %scale";
  for (unsigned r = 0; r < registers; ++r)
    constraints += std::to_string(r) + (r + 1 < registers ? "," : ""),
        arguments += llvm::formatv(", {0} %c{1}", type, r).str();
  std::string immediates;
  if (!whole) immediates += llvm::formatv(", {0}, {1}", c.scaleA, c.scaleB).str();
  if (half) {
    if (!c.registersA) immediates += c.mnMajorA ? ", 1" : ", 0";
    immediates += c.mnMajorB ? ", 1" : ", 0";
  }
  return llvm::formatv("  %d = call { {0} } asm sideeffect \"{{ .reg .pred p; setp.ne.b32 p, {1}, 0; "
                       "wgmma.mma_async.sync.aligned.m64n{2}k{3}.{4}.{5}.{6} {{{7}}, {8}, p{9}; }\", \"{10}\"({11})\n",
                       types, scale, c.n, k, c.c, c.a.name, c.b.name, list, operands, immediates, constraints,
                       arguments)
      .str();
}

/// kernel(image, registers of A, accumulators): copies the image to shared memory, runs wgmma, stores the accumulators.
std::string module(const Config &c, const Operand *a, const Operand &b, unsigned imageBytes, unsigned registers,
                   const Parts &parts = {}) {
  std::string s =
      R"(target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@smem = external addrspace(3) global [0 x i8], align 1024
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define ptx_kernel void @kernel(ptr addrspace(1) %image, ptr addrspace(1) %aregs, ptr addrspace(1) %acc, i32 %scale, ptr addrspace(1) %h0, ptr addrspace(1) %h1) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %t16 = mul i32 %t, 16
)";
  s += loads(c, imageBytes, registers, parts);
  s += "  %base = ptrtoint ptr addrspace(3) @smem to i32\n  %base64 = zext i32 %base to i64\n";
  auto descriptor = [&](const char *name, const Operand &o, unsigned at) {
    s += llvm::formatv(
             "  %{0}.at = add i64 %base64, {1}\n  %{0}.sh = lshr i64 %{0}.at, 4\n  %{0} = or i64 %{0}.sh, {2}\n", name,
             at + o.start, int64_t(o.descriptor))
             .str();
  };
  if (a) descriptor("da", *a, 0);
  descriptor("db", b, a ? unsigned(a->image.size()) : 0);
  if (parts.onlyFirstWarps) s += "  %few = icmp ult i32 %t, 64\n  br i1 %few, label %go, label %done\ngo:\n";
  s += parts.before;
  if (parts.fence) s += "  call void asm sideeffect \"wgmma.fence.sync.aligned;\", \"~{memory}\"()\n";
  s += wgmma(c, registers);
  s += "  call void asm sideeffect \"wgmma.commit_group.sync.aligned;\", \"~{memory}\"()\n";
  s += parts.between;
  // The accumulators pass through the wait, so that they are not read before it.
  const char *type = accumulatorType(c);
  const std::string types = accumulatorTypes(c, registers);
  std::string through;
  for (unsigned r = 0; r < registers; ++r) {
    s += llvm::formatv("  %x{0} = extractvalue { {1} } %d, {0}\n", r, types).str();
    through += llvm::formatv("{0}{1} %x{2}", r ? ", " : "", type, r).str();
  }
  std::string tied;
  for (unsigned r = 0; r < registers; ++r) tied += *type == 'f' ? "=f," : "=r,";
  for (unsigned r = 0; r < registers; ++r) tied += std::to_string(r) + (r + 1 < registers ? "," : "");
  s += llvm::formatv("  %w = call { {0} } asm sideeffect \"{1}\", \"{2}\"({3})\n", types,
                     parts.wait ? "wgmma.wait_group.sync.aligned 0;" : "", tied, through)
           .str();
  s += parts.after;
  for (unsigned r = 0; r < registers; ++r)
    s += llvm::formatv("  %y{0} = extractvalue { {1} } %w, {0}\n  store {2} %y{0}, ptr addrspace(1) %rp{0}, align 4\n",
                       r, types, type)
             .str();
  s += parts.onlyFirstWarps ? "  br label %done\ndone:\n  ret void\n}\n" : "  ret void\n}\n";
  return s;
}

struct Prepared {
  std::string ir;
  std::vector<uint8_t> image, aRegisters, accumulators, expected;
  unsigned shared = 0;
};

Prepared prepare(const Config &c, const Parts &parts = {}) {
  Prepared p;
  std::mt19937 random(c.n + 7 * c.swizzleA + 31 * c.swizzleB + c.mnMajorA + 2 * c.mnMajorB + 1000 * c.step);
  unsigned k = 256 / c.a.bits;
  bool whole = std::string(c.c) == "s32", narrow = std::string(c.c) == "f16";
  auto values = [&](unsigned count, Format f) {
    std::vector<int> v(count);
    for (int &x : v)
      x = std::string(f.name) == "s8"   ? int(random() % 256) - 128
          : std::string(f.name) == "u8" ? int(random() % 256)
                                        : int(random() % 5) - 2;
    return v;
  };
  std::vector<int> a = values(64 * k, c.a), b = values(c.n * k, c.b);
  Operand oa = place(c.a, 64, k, c.swizzleA, c.mnMajorA, c.step, a),
          ob = place(c.b, c.n, k, c.swizzleB, c.mnMajorB, c.step, b);
  if (!c.registersA) p.image = oa.image;
  p.image.insert(p.image.end(), ob.image.begin(), ob.image.end());
  p.image.resize((p.image.size() + 2047) / 2048 * 2048, 0xee);
  p.shared = unsigned(p.image.size());
  // A in registers: figures of the fragments of A. Register r of thread t holds 32 / bits elements.
  p.aRegisters.resize(128 * 16);
  unsigned perWord = 32 / c.a.bits;
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned e = 0; e < perWord; ++e) {
        unsigned row = t / 32 * 16 + t % 32 / 4 + (r % 2 ? 8 : 0),
                 column = (t % 4) * perWord + e + (r >= 2 ? k / 2 : 0);
        uint64_t v = encode(c.a, a[row * k + column]);
        memcpy(p.aRegisters.data() + t * 16 + r * 4 + e * c.a.bits / 8, &v, c.a.bits / 8);
      }
  unsigned registers = c.n / (narrow ? 4 : 2), elements = c.n / 2;
  p.accumulators.resize(128 * registers * 4), p.expected.resize(p.accumulators.size());
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned e = 0; e < elements; ++e) {
      unsigned row = t / 32 * 16 + t % 32 / 4 + (e % 4 >= 2 ? 8 : 0), column = e / 4 * 8 + t % 4 * 2 + e % 2;
      int old = int(random() % 100) - 50;
      long sum = 0;
      for (unsigned d = 0; d < k; ++d) sum += long(a[row * k + d]) * b[column * k + d];
      sum *= c.scaleA * c.scaleB;
      if (c.accumulate) sum += old;
      auto bits = [&](long v) -> uint64_t {
        return whole ? uint32_t(v) : runtime::encodeFloat(narrow ? ir::FloatKind::F16 : ir::FloatKind::F32, double(v));
      };
      uint64_t before = bits(old), after = bits(sum);
      unsigned size = narrow ? 2 : 4;
      memcpy(p.accumulators.data() + t * registers * 4 + e * size, &before, size);
      memcpy(p.expected.data() + t * registers * 4 + e * size, &after, size);
    }
  p.ir = module(c, c.registersA ? nullptr : &oa, ob, p.shared, registers, parts);
  return p;
}

std::string nameOf(const Config &c) {
  return llvm::formatv("{0}_{1}_{2}_n{3}_{4}{5}_{6}{7}{8}{9}{10}", c.c, c.a.name, c.b.name, c.n,
                       c.registersA ? "reg"
                       : c.mnMajorA ? "mn"
                                    : "k",
                       c.registersA ? "" : std::to_string(c.swizzleA), c.mnMajorB ? "mn" : "k", c.swizzleB,
                       c.accumulate ? "" : "_fresh", c.step ? "_step" + std::to_string(c.step) : "",
                       c.scaleA * c.scaleB < 0 ? "_minus" : "")
      .str();
}

absl::StatusOr<emulator::Report> run(Emulation &e, const Prepared &p, bool accumulate = true) {
  e.sharedBytes = p.shared;
  return e.llvmModule(p.ir, {bytesOf(p.image), bytesOf(p.aRegisters), bytesOf(p.accumulators), scalar(accumulate)});
}

class Warpgroup : public ::testing::TestWithParam<Config> {};

TEST_P(Warpgroup, ComputesD) {
  const Config &c = GetParam();
  Prepared p = prepare(c);
  Emulation e;
  e.options.counters = true;
  auto r = run(e, p, c.accumulate);
  ASSERT_TRUE(r.ok()) << r.status() << p.ir;
  EXPECT_EQ(e.buffers[2], p.expected);
  uint64_t operations = 0;
  for (auto &s : r->sites) operations += s.kind == emulator::SiteCounters::Kind::Matrix ? s.executed : 0;
  EXPECT_EQ(operations, 4u); // by warps
  if (const char *folder = getenv("TESSERA_WGMMA_DUMP")) {
    auto write = [&](const char *suffix, const void *data, size_t n) {
      std::ofstream(std::string(folder) + "/" + nameOf(c) + suffix, std::ios::binary)
          .write(static_cast<const char *>(data), std::streamsize(n));
    };
    write(".ll", p.ir.data(), p.ir.size());
    write(".image", p.image.data(), p.image.size());
    write(".aregs", p.aRegisters.data(), p.aRegisters.size());
    write(".acc", p.accumulators.data(), p.accumulators.size());
    write(".out", e.buffers[2].data(), e.buffers[2].size());
  }
}

std::vector<Config> configs() {
  std::vector<Config> all;
  // Every swizzle of both operands, either major.
  for (Format f : {kF16, kBF16})
    for (unsigned s : {0u, 32u, 64u, 128u})
      for (bool mn : {false, true}) {
        if (!mn || s <= 128) all.push_back({f, f, "f32", 64, s, 128, mn, false});
        all.push_back({f, f, "f32", 128, 128, s, false, mn});
      }
  for (auto [a, b] : {std::pair{kTF32, kTF32}, {kE4M3, kE4M3}, {kE4M3, kE5M2}, {kE5M2, kE4M3}, {kE5M2, kE5M2}})
    for (unsigned s : {0u, 32u, 64u, 128u}) all.push_back({a, b, "f32", 32, s, s});
  for (auto [a, b] : {std::pair{kS8, kS8}, {kS8, kU8}, {kU8, kS8}, {kU8, kU8}})
    for (unsigned s : {0u, 128u}) all.push_back({a, b, "s32", 32, s, s});
  // Every N.
  for (unsigned n = 8; n <= 256; n += 8) all.push_back({kF16, kF16, "f32", n, 64, 64, false, false, false, true});
  for (unsigned n : {8u, 16u, 24u, 48u, 256u}) all.push_back({kS8, kS8, "s32", n, 32, 32});
  // A in registers, narrow accumulators, no accumulator, signs, places inside an atom.
  for (auto [a, b, c] : {std::tuple{kF16, kF16, "f32"},
                         {kF16, kF16, "f16"},
                         {kBF16, kBF16, "f32"},
                         {kTF32, kTF32, "f32"},
                         {kE4M3, kE5M2, "f16"},
                         {kE5M2, kE5M2, "f32"},
                         {kS8, kU8, "s32"}}) {
    all.push_back({a, b, c, 64, 128, 128, false, false, true});
    all.push_back({a, b, c, 96, 128, 64, false, false, false});
    all.push_back({a, b, c, 16, 128, 128, false, false, true, false});
    for (unsigned step : {1u, 2u, 3u})
      all.push_back({a, b, c, std::string(c) == "s32" ? 48u : 40u, 128, 128, false, false, false, true, step});
  }
  all.push_back({kF16, kF16, "f32", 64, 64, 64, false, false, false, true, 1});
  all.push_back({kF16, kF16, "f32", 64, 128, 128, false, false, false, true, 0, -1, 1});
  all.push_back({kF16, kF16, "f32", 72, 128, 128, false, false, false, true, 0, -1, -1});
  all.push_back({kF16, kF16, "f16", 256, 128, 64, true, true, false, true, 0, 1, -1});
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, Warpgroup, ::testing::ValuesIn(configs()),
                         [](auto &i) { return nameOf(i.param) + "_" + std::to_string(i.index); });

/// Accumulators of halves, two to a register, in a loop whose wgmmas are waited for one iteration later: nothing
/// may take their registers apart on the way round.
TEST(WarpgroupLoops, CarryPairsOfHalves) {
  constexpr llvm::StringRef text = R"(
tt.func public @k(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rows2 = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns2 = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %s = arith.constant dense<64> : tensor<64x64xi32>
  %start = arith.muli %rows2, %s : tensor<64x64xi32>
  %i = arith.addi %start, %columns2 : tensor<64x64xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %a = tt.addptr %ps, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %ws = tt.splat %w : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %b = tt.addptr %ws, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %block = arith.constant dense<4096> : tensor<64x64xi32>
  %one = arith.constant dense<1.0> : tensor<64x64xf16>
  %l:3 = scf.for %k = %c0 to %c5 step %c1 iter_args(%q = %a, %v = %b, %acc = %one) -> (tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf16>) : i32 {
    %x = tt.load %q : tensor<64x64x!tt.ptr<f16>>
    %y = tt.load %v : tensor<64x64x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf16>
    %q2 = tt.addptr %q, %block : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %v2 = tt.addptr %v, %block : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    scf.yield %q2, %v2, %d : tensor<64x64x!tt.ptr<f16>>, tensor<64x64x!tt.ptr<f16>>, tensor<64x64xf16>
  }
  %os = tt.splat %out : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %o = tt.addptr %os, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  tt.store %o, %l#2 : tensor<64x64x!tt.ptr<f16>>
  tt.return
})";
  // Diagonal blocks d, so that the result is 1 + the sum of d² on the diagonal, and 1 elsewhere.
  std::vector<uint8_t> in(5 * 4096 * 2, 0);
  constexpr uint16_t kOne = 0x3c00, kTwo = 0x4000;
  for (int block = 0; block < 5; ++block)
    for (int i = 0; i < 64; ++i) memcpy(&in[size_t(block * 4096 + i * 65) * 2], block % 2 ? &kTwo : &kOne, 2);
  Emulation e;
  bool background = false;
  auto r =
      e.text(text, "k", {testing::bytesOf(in), testing::bytesOf(in), testing::zeros(4096 * 2)}, [&](llvm::Module &m) {
        std::string all;
        llvm::raw_string_ostream(all) << m;
        background = all.find("wgmma.wait_group.sync.aligned 1") != std::string::npos;
      });
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_TRUE(background) << "the loop waits for every wgmma at once";
  for (int i = 0; i < 4096; ++i) {
    uint16_t v;
    memcpy(&v, &e.buffers[2][size_t(i) * 2], 2);
    EXPECT_EQ(v, i % 65 ? kOne : 0x4a00) << i; // 12
  }
}

// ---- planted faults ----

constexpr Config kPlain{kF16, kF16, "f32", 32};

std::string messageOf(const Parts &parts, int warps = 4, const Config &c = kPlain) {
  Prepared p = prepare(c, parts);
  Emulation e;
  e.numWarps = warps;
  auto r = run(e, p);
  EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted) << r.status();
  return std::string(r.status().message());
}

TEST(WarpgroupFaults, NoProxyFence) {
  Parts p;
  p.proxyFence = false;
  EXPECT_THAT(messageOf(p), AllOf(HasSubstr("no fence.proxy.async lies between"), HasSubstr("kernel 'kernel'")));
}
TEST(WarpgroupFaults, ProxyFenceWithoutBarrier) {
  Parts p;
  p.barrier = false;
  EXPECT_THAT(messageOf(p), HasSubstr("no barrier orders the two"));
}
TEST(WarpgroupFaults, ProxyFenceAfterTheBarrierWillDo) {
  // By all the threads that multiply: then it lies between, too.
  Parts p;
  p.proxyFence = false;
  p.before = "  call void asm sideeffect \"fence.proxy.async;\", \"~{memory}\"()\n";
  Emulation e;
  EXPECT_TRUE(run(e, prepare(kPlain, p)).ok());
}
TEST(WarpgroupFaults, NoWarpgroupFence) {
  Parts p;
  p.fence = false;
  EXPECT_THAT(messageOf(p), HasSubstr("before any wgmma.fence"));
}
TEST(WarpgroupFaults, AccumulatorsReadTooEarly) {
  Parts p;
  p.wait = false;
  EXPECT_THAT(messageOf(p), AllOf(HasSubstr("reads the accumulator of a wgmma"), HasSubstr("no wgmma.wait_group")));
}
TEST(WarpgroupFaults, OperandOverwrittenInFlight) {
  Parts p;
  p.between = "  store i32 0, ptr addrspace(3) %s0, align 4\n";
  EXPECT_THAT(messageOf(p),
              AllOf(HasSubstr("race: it changes byte"), HasSubstr("wgmma of warp 0"), HasSubstr("in flight")));
}
TEST(WarpgroupFaults, OperandOverwrittenWithoutBarrier) {
  Parts p;
  p.after = "  store i32 0, ptr addrspace(3) %s0, align 4\n";
  EXPECT_THAT(messageOf(p), HasSubstr("race"));
}
TEST(WarpgroupFaults, OperandOverwrittenAfterWaitAndBarrier) {
  Parts p;
  p.after =
      "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n  store i32 0, ptr addrspace(3) %s0, align 4\n";
  Emulation e;
  EXPECT_TRUE(run(e, prepare(kPlain, p)).ok());
}
TEST(WarpgroupFaults, HalfAWarpgroup) {
  EXPECT_THAT(messageOf(Parts{}, 2), HasSubstr("needs a warpgroup of 4 warps; the block has 2"));
}
TEST(WarpgroupFaults, HalfTheWarpgroupExecutesIt) {
  Parts p;
  p.onlyFirstWarps = true;
  EXPECT_THAT(messageOf(p), AllOf(HasSubstr("its warpgroup is not together"), HasSubstr("warp 2")));
}
TEST(WarpgroupFaults, DescriptorOutOfBounds) {
  Prepared p = prepare(kPlain);
  p.shared = 8192;
  Emulation e;
  e.sharedBytes = 8192;
  auto r = e.llvmModule(p.ir, {bytesOf(p.image), bytesOf(p.aRegisters), bytesOf(p.accumulators), scalar(1)});
  EXPECT_THAT(std::string(r.status().message()), HasSubstr("out of bounds"));
}
TEST(WarpgroupFaults, DivergentWarp) {
  Prepared p = prepare(kPlain);
  // Half of every warp takes part.
  std::string from = "  call void asm sideeffect \"wgmma.fence.sync.aligned;\"";
  p.ir.insert(p.ir.find(from),
              "  %half = and i32 %t, 16\n  %few = icmp eq i32 %half, 0\n  br i1 %few, label %go, label %done\ngo:\n");
  p.ir.insert(p.ir.rfind("  ret void"), "  br label %done\ndone:\n");
  Emulation e;
  auto r = run(e, p);
  EXPECT_THAT(
      std::string(r.status().message()),
      AllOf(HasSubstr("wgmma.fence is reached by 16 of the warp's 32 threads"), HasSubstr("is in another branch")));
}
TEST(WarpgroupFaults, UnknownForms) {
  auto message = [](const char *from, const char *to, const Config &c = kPlain) {
    Prepared p = prepare(c);
    p.ir.replace(p.ir.find(from), strlen(from), to);
    Emulation e;
    auto r = run(e, p);
    EXPECT_EQ(r.status().code(), absl::StatusCode::kUnimplemented) << r.status();
    return std::string(r.status().message());
  };
  EXPECT_THAT(message("m64n32k16", "m64n32k8"), HasSubstr("(shape)"));
  EXPECT_THAT(message("m64n32k16", "m64n40k16"), HasSubstr("(number of accumulator registers)"));
  EXPECT_THAT(message("f32.f16.f16", "f32.f16.bf16"), HasSubstr("(types)"));
  EXPECT_THAT(message("p, 1, 1, 0, 0", "p, 1, 2, 0, 0"), HasSubstr("(immediate 2)"));
  EXPECT_THAT(message("p, 1, 1, 0, 0", "p, 1, 1, 0"), HasSubstr("(number of operands)"));
  EXPECT_THAT(message("p, 1, 1;", "p, 1, 1, 1, 0;", {kTF32, kTF32, "f32", 32}), HasSubstr("(number of operands)"));
}

} // namespace
} // namespace tessera
