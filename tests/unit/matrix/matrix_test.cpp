// Dots by matrix instructions, checked by running the lowered code on the host, with the instructions
// replaced by what the vendors' manuals say of them, element by element:
//
//   mma.sync   PTX ISA, "Matrix Fragments for mma.m16n8k4/8/16/32" and "mma.m8n8k4 with .f64"
//   v_mfma_*   "AMD Instinct MI300 Instruction Set Architecture", "Matrix Arithmetic Instructions", as AMD's matrix
//              instruction calculator prints them; those on 16 blocks of 4 by 4 with CBSZ and ABID ("Broadcasting
//              values")
//   v_wmma_*   "RDNA 3" and "RDNA 4 Instruction Set Architecture", "Wave Matrix Multiply Accumulate"
//   ldmatrix   PTX ISA, "ldmatrix": lane l gives the address of row l mod 8 of matrix l / 8 and receives of every
//              matrix the word l mod 4 of row l / 4
//
// Threads run one after another on the host, so the lanes' operands are collected in one round and the results computed
// in a second. All rows of all targets' tables are gone through; every element of the result must be exact.
#include "codegen_amd/arch_table.h"
#include "codegen_amd/lowering_target.h"
#include "codegen_nvidia/arch_table.h"
#include "codegen_nvidia/lowering_target.h"
#include "host_execution.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace tessera {
namespace {
using ir::MatrixInstruction;
using ir::MatrixType;
using testing::HostTarget;

// ---- numbers --------------------------------------------------------------------------------------------------------

const llvm::fltSemantics *semanticsOf(MatrixType t) {
  switch (t) {
  case MatrixType::F16: return &llvm::APFloat::IEEEhalf();
  case MatrixType::BF16: return &llvm::APFloat::BFloat();
  case MatrixType::F32:
  case MatrixType::TF32: return &llvm::APFloat::IEEEsingle();
  case MatrixType::F64: return &llvm::APFloat::IEEEdouble();
  case MatrixType::F8E4M3FN: return &llvm::APFloat::Float8E4M3FN();
  case MatrixType::F8E5M2: return &llvm::APFloat::Float8E5M2();
  case MatrixType::F8E4M3FNUZ: return &llvm::APFloat::Float8E4M3FNUZ();
  case MatrixType::F8E5M2FNUZ: return &llvm::APFloat::Float8E5M2FNUZ();
  case MatrixType::I8:
  case MatrixType::I32: return nullptr;
  }
  return nullptr;
}
unsigned bitsOf(MatrixType t) {
  if (auto *s = semanticsOf(t)) return llvm::APFloat::getSizeInBits(*s);
  return t == MatrixType::I8 ? 8 : 32;
}
double decode(uint64_t bits, MatrixType t) {
  unsigned n = bitsOf(t);
  if (auto *s = semanticsOf(t)) {
    llvm::APFloat f(*s, llvm::APInt(n, bits, false, true));
    bool lost;
    f.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    return f.convertToDouble();
  }
  return double(llvm::APInt(n, bits, false, true).getSExtValue());
}
uint64_t encode(double v, MatrixType t) {
  if (auto *s = semanticsOf(t)) {
    llvm::APFloat f(v);
    bool lost;
    f.convert(*s, llvm::APFloat::rmNearestTiesToEven, &lost);
    return f.bitcastToAPInt().getZExtValue();
  }
  return uint64_t(int64_t(v)) & llvm::maskTrailingOnes<uint64_t>(bitsOf(t));
}
const char *nameOf(MatrixType t) {
  switch (t) {
  case MatrixType::F16: return "f16";
  case MatrixType::BF16: return "bf16";
  case MatrixType::F32:
  case MatrixType::TF32: return "f32";
  case MatrixType::F64: return "f64";
  case MatrixType::I8: return "i8";
  case MatrixType::I32: return "i32";
  case MatrixType::F8E4M3FN: return "f8E4M3FN";
  case MatrixType::F8E5M2: return "f8E5M2";
  case MatrixType::F8E4M3FNUZ: return "f8E4M3FNUZ";
  case MatrixType::F8E5M2FNUZ: return "f8E5M2FNUZ";
  }
  return "";
}

// ---- the instructions, by the manuals -------------------------------------------------------------------------------

struct Held {
  int lane, element;
};

/// Where the manuals put elements: A(row, k) and C(row, column) of an instruction's tile. B(k, column) is where
/// A(column, k) would be in all of them, but for mma.sync, whose B has columns of 8 lanes.
struct Manual {
  const ir::TargetInfo &info;
  MatrixInstruction i;

  Held a(int row, int k, bool isB = false) const {
    switch (info.matrixUnit) {
    case ir::MatrixUnit::Mfma: return {row + i.m * (k / i.depth()), k % i.depth()};
    case ir::MatrixUnit::Wmma:
      if (info.matrixVersion == 1) return {row, k}; // and lane row + 16
      return {row + 16 * (k / 8), k % 8};
    default: break;
    }
    if (i.m == 8) return {row * 4 + k, 0};
    int perWord = std::max(1u, 32 / bitsOf(i.a)), half = 4 * perWord, t = k % half / perWord;
    int element = k / half * perWord + k % perWord;
    return {row % 8 * 4 + t, (isB ? 0 : row / 8 * i.depth()) + element};
  }
  Held c(int row, int column) const {
    switch (info.matrixUnit) {
    case ir::MatrixUnit::Mfma:
      if (i.c == MatrixType::F64) return {column + 16 * (row % 4), row / 4};
      if (i.m == 32) return {column + 32 * (row / 4 % 2), row % 4 + row / 8 * 4};
      return {column + 16 * (row / 4), row % 4};
    case ir::MatrixUnit::Wmma:
      if (info.matrixVersion == 1) return {column + 16 * (row % 2), row / 2};
      return {column + 16 * (row / 8), row % 8};
    default: return {row % 8 * 4 + column / 2, row / 8 * 2 + column % 2};
    }
  }
};

// ---- a target whose lanes talk to each other ------------------------------------------------------------------------

class WarpTarget;
WarpTarget *running = nullptr;

class WarpTarget : public HostTarget {
public:
  WarpTarget(const ir::TargetInfo &info, std::unique_ptr<codegen::Target> vendor)
      : HostTarget(info.warpSize), vendor(std::move(vendor)) {
    info_ = info;
    running = this;
  }
  std::unique_ptr<codegen::Target> vendor;
  int round = 0;
  mutable std::vector<MatrixInstruction> calls;
  mutable unsigned matrixLoads = 0, transposedLoads = 0;
  std::map<std::pair<int, int>, std::pair<std::vector<uint64_t>, std::vector<uint64_t>>> operands; // (call, thread)
  std::map<std::pair<int, int>, const uint8_t *> addresses;

  codegen::MatrixFragment matrixFragment(const MatrixInstruction &i, const layouts::Encoding *e) const override {
    return vendor->matrixFragment(i, e);
  }

  static llvm::Value *inMemory(llvm::IRBuilder<> &b, llvm::ArrayRef<llvm::Value *> values) {
    auto *array = b.CreateAlloca(b.getInt64Ty(), b.getInt32(values.size()));
    for (auto [i, v] : llvm::enumerate(values)) {
      auto *bits = b.CreateBitCast(v, b.getIntNTy(v->getType()->getPrimitiveSizeInBits()));
      b.CreateStore(b.CreateZExt(bits, b.getInt64Ty()), b.CreateConstGEP1_32(b.getInt64Ty(), array, i));
    }
    return array;
  }
  template <class F> static void call(llvm::IRBuilder<> &b, F *f, llvm::ArrayRef<llvm::Value *> args) {
    llvm::SmallVector<llvm::Type *, 8> types;
    for (auto *v : args) types.push_back(v->getType());
    auto *type = llvm::FunctionType::get(b.getVoidTy(), types, false);
    b.CreateCall(type, b.CreateIntToPtr(b.getInt64(uint64_t(f)), b.getPtrTy()), args);
  }

  void multiply(llvm::IRBuilder<> &b, const MatrixInstruction &i, llvm::ArrayRef<llvm::Value *> a,
                llvm::ArrayRef<llvm::Value *> bb, llvm::MutableArrayRef<llvm::Value *> acc) const override {
    calls.push_back(i);
    auto *c = inMemory(b, acc);
    call(b, doMultiply,
         {b.getInt32(calls.size() - 1), threadId(b), inMemory(b, a), b.getInt32(a.size()), inMemory(b, bb),
          b.getInt32(bb.size()), c, b.getInt32(acc.size())});
    for (unsigned k = 0; k < acc.size(); ++k) {
      llvm::Type *t = acc[k]->getType();
      auto *bits = b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_32(b.getInt64Ty(), c, k));
      acc[k] = b.CreateBitCast(b.CreateTrunc(bits, b.getIntNTy(t->getPrimitiveSizeInBits())), t);
    }
  }
  /// v_mfma_…_4x4x…_16b with CBSZ = 4: block b is lanes 4 b to 4 b + 3. Lane l gives row l mod 4 of A and column l
  /// mod 4 of B of its block, and gets column l mod 4 of the result, whose rows are its registers. A is that of block
  /// `group`.
  void multiplyBroadcast(llvm::IRBuilder<> &b, const MatrixInstruction &i, llvm::ArrayRef<llvm::Value *> a,
                         llvm::ArrayRef<llvm::Value *> bb, llvm::MutableArrayRef<llvm::Value *> acc,
                         unsigned group) const override {
    groups[calls.size()] = group;
    multiply(b, i, a, bb, acc);
  }
  mutable std::map<int, int> groups; // by call
  void multipliedBroadcast(int call, int tid, llvm::MutableArrayRef<uint64_t> c) {
    auto &i = calls[call];
    ASSERT_EQ(c.size(), 4u);
    int base = tid - tid % 64;
    auto &mine = operands[{call, tid}].second;
    for (int row = 0; row < 4; ++row) {
      auto &a = operands[{call, base + 4 * groups[call] + row}].first;
      double sum = decode(c[row], i.c);
      for (size_t k = 0; k < mine.size(); ++k) sum += decode(a.at(k), i.a) * decode(mine[k], i.b);
      c[row] = encode(sum, i.c);
    }
  }
  static void doMultiply(int32_t call, int32_t tid, uint64_t *a, int32_t na, uint64_t *b, int32_t nb, uint64_t *c,
                         int32_t nc) {
    running->multiplied(call, tid, {a, a + na}, {b, b + nb}, {c, size_t(nc)});
  }
  void multiplied(int call, int tid, std::vector<uint64_t> a, std::vector<uint64_t> b,
                  llvm::MutableArrayRef<uint64_t> c) {
    if (round == 0) {
      operands[{call, tid}] = {std::move(a), std::move(b)};
      return;
    }
    if (groups.count(call)) return multipliedBroadcast(call, tid, c);
    auto &i = calls[call];
    Manual manual{info_, i};
    int lane = tid % info_.warpSize, base = tid - lane;
    for (int row = 0; row < i.m; ++row)
      for (int column = 0; column < i.n; ++column) {
        Held at = manual.c(row, column);
        if (at.lane != lane) continue;
        double sum = decode(c[at.element], i.c);
        for (int k = 0; k < i.k; ++k) {
          Held x = manual.a(row, k), y = manual.a(column, k, true);
          // RDNA 3 reads an operand from either half; both must have it.
          if (info_.matrixUnit == ir::MatrixUnit::Wmma && info_.matrixVersion == 1)
            EXPECT_TRUE((operands[{call, base + x.lane}] == operands[{call, base + x.lane + 16}]));
          sum += decode(operands[{call, base + x.lane}].first.at(x.element), i.a) *
                 decode(operands[{call, base + y.lane}].second.at(y.element), i.b);
        }
        c[at.element] = encode(sum, i.c);
      }
  }

  llvm::SmallVector<llvm::Value *, 4> loadMatrices(llvm::IRBuilder<> &b, llvm::Value *ptr, unsigned count,
                                                   bool transposed) const override {
    auto *out = inMemory(b, llvm::SmallVector<llvm::Value *, 4>(count, b.getInt32(0)));
    transposedLoads += transposed;
    call(b, doLoad,
         {b.getInt32(matrixLoads++), threadId(b), b.CreateAddrSpaceCast(ptr, b.getPtrTy()), b.getInt32(count),
          b.getInt32(transposed), out});
    llvm::SmallVector<llvm::Value *, 4> words;
    for (unsigned k = 0; k < count; ++k)
      words.push_back(
          b.CreateTrunc(b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_32(b.getInt64Ty(), out, k)), b.getInt32Ty()));
    return words;
  }
  static void doLoad(int32_t call, int32_t tid, const uint8_t *p, int32_t count, int32_t transposed, uint64_t *out) {
    running->loaded(call, tid, p, count, transposed, out);
  }
  void loaded(int call, int tid, const uint8_t *p, int count, bool transposed, uint64_t *out) {
    EXPECT_EQ(uintptr_t(p) % 16, 0u);
    if (round == 0) {
      addresses[{call, tid}] = p;
      return;
    }
    int lane = tid % 32, base = tid - lane;
    for (int m = 0; m < count; ++m) {
      auto row = [&](int r) { return addresses[{call, base + 8 * m + r}]; };
      uint32_t word = 0;
      if (!transposed)
        memcpy(&word, row(lane / 4) + lane % 4 * 4, 4);
      else
        for (int e = 0; e < 2; ++e) memcpy((uint8_t *)&word + 2 * e, row(lane % 4 * 2 + e) + lane / 4 * 2, 2);
      out[m] = word;
    }
  }
};

// ---- kernels --------------------------------------------------------------------------------------------------------

std::string module(int lanes, int warps, const std::string &aliases, const std::string &body) {
  return aliases + "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = " + std::to_string(warps) +
         " : i32, \"ttg.threads-per-warp\" = " + std::to_string(lanes) + " : i32} {\n" + body + "}\n";
}

/// Lines that make %NAMEp, the pointers of the elements of a row-major matrix.
std::string pointers(const std::string &name, int rows, int columns, const std::string &type,
                     const std::string &layout) {
  std::string r = std::to_string(rows), c = std::to_string(columns), n = "%" + name;
  std::string rt = "tensor<" + r + "xi32, #ttg.slice<{dim = 1, parent = " + layout + "}>>",
              ct = "tensor<" + c + "xi32, #ttg.slice<{dim = 0, parent = " + layout + "}>>";
  std::string r1 = "tensor<" + r + "x1xi32, " + layout + ">", c1 = "tensor<1x" + c + "xi32, " + layout + ">",
              full = "tensor<" + r + "x" + c + "x";
  std::string p = full + "!tt.ptr<" + type + ">, " + layout + ">";
  return n + "r = tt.make_range {end = " + r + " : i32, start = 0 : i32} : " + rt + "\n" + n +
         "c = tt.make_range {end = " + c + " : i32, start = 0 : i32} : " + ct + "\n" + n + "r1 = tt.expand_dims " + n +
         "r {axis = 1 : i32} : " + rt + " -> " + r1 + "\n" + n + "c1 = tt.expand_dims " + n +
         "c {axis = 0 : i32} : " + ct + " -> " + c1 + "\n" + n + "w = arith.constant dense<" + c + "> : " + r1 + "\n" +
         n + "r2 = arith.muli " + n + "r1, " + n + "w : " + r1 + "\n" + n + "rb = tt.broadcast " + n + "r2 : " + r1 +
         " -> " + full + "i32, " + layout + ">\n" + n + "cb = tt.broadcast " + n + "c1 : " + c1 + " -> " + full +
         "i32, " + layout + ">\n" + n + "i = arith.addi " + n + "rb, " + n + "cb : " + full + "i32, " + layout + ">\n" +
         n + "s = tt.splat " + n + " : !tt.ptr<" + type + "> -> " + p + "\n" + n + "p = tt.addptr " + n + "s, " + n +
         "i : " + p + ", " + full + "i32, " + layout + ">\n";
}

struct Case {
  const ir::TargetInfo *info;
  MatrixInstruction i;
  int warpsM, warpsN, m, n, k, kWidth;
};

std::string encodingOf(const Case &c) {
  auto warps = llvm::formatv("[{0}, {1}]", c.warpsM, c.warpsN).str();
  switch (c.info->matrixUnit) {
  case ir::MatrixUnit::Mfma:
    return llvm::formatv(
        "#ttg.amd_mfma<{{version = {0}, warpsPerCTA = {1}, instrShape = [{2}, {3}, {4}], isTransposed = {5}{6}}>",
        c.info->matrixVersion, warps, c.i.m, c.i.n, c.i.k,
        c.i.m == 4              ? "false"
        : c.i.n == 4 || c.m % 3 ? "true"
                                : "false",
        c.i.c == MatrixType::F64 ? ", elementBitWidth = 64" : "");
  case ir::MatrixUnit::Wmma:
    return llvm::formatv("#ttg.amd_wmma<{{version = {0}, isTranspose = {1}, warpsPerCTA = {2}{3}}>",
                         c.info->matrixVersion, c.kWidth % 3 ? "true" : "false", warps,
                         c.info->matrixVersion == 1 && c.warpsN == 2 ? ", consecutiveRows = true" : "");
  default:
    return llvm::formatv(
        "#ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = {0}, instrShape = [{1}, {2}]}>", warps,
        c.i.m, c.i.n);
  }
}

std::unique_ptr<codegen::Target> makeTarget(const ir::TargetInfo &info) {
  return info.vendor == ir::Vendor::Nvidia ? nvidia::makeTarget(info) : amd::makeTarget(info);
}

std::vector<uint8_t> numbers(MatrixType t, int count, unsigned seed) {
  std::vector<uint8_t> out(size_t(count) * bitsOf(t) / 8 + 8);
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    uint64_t bits = encode(int(seed >> 24) % 7 - 3, t); // exact in every type, and so are the sums
    memcpy(&out[size_t(i) * bitsOf(t) / 8], &bits, bitsOf(t) / 8);
  }
  return out;
}
double at(const std::vector<uint8_t> &v, size_t i, MatrixType t) {
  uint64_t bits = 0;
  memcpy(&bits, &v[i * bitsOf(t) / 8], bitsOf(t) / 8);
  return decode(bits, t);
}

void check(const Case &c) {
  WarpTarget target(*c.info, makeTarget(*c.info));
  int warps = c.warpsM * c.warpsN;
  std::string ta = nameOf(c.i.a), tb = nameOf(c.i.b), tc = nameOf(c.i.c), k = std::to_string(c.kWidth);
  std::string m = std::to_string(c.m), n = std::to_string(c.n), kk = std::to_string(c.k);
  std::string aType = "tensor<" + m + "x" + kk + "x" + ta + ", #a>",
              bType = "tensor<" + kk + "x" + n + "x" + tb + ", #b>",
              cType = "tensor<" + m + "x" + n + "x" + tc + ", #mma>";
  auto pointerType = [](std::string t) { return t.insert(t.rfind('x') + 1, "!tt.ptr<").insert(t.rfind(','), ">"); };
  std::string text = module(
      c.info->warpSize, warps,
      "#mma = " + encodingOf(c) + "\n#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = " + k +
          "}>\n#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = " + k + "}>\n",
      "tt.func public @k(%a: !tt.ptr<" + ta + ">, %b: !tt.ptr<" + tb + ">, %c: !tt.ptr<" + tc + ">) {\n" +
          pointers("a", c.m, c.k, ta, "#a") + pointers("b", c.k, c.n, tb, "#b") + pointers("c", c.m, c.n, tc, "#mma") +
          "%x = tt.load %ap : " + pointerType(aType) + "\n%y = tt.load %bp : " + pointerType(bType) +
          "\n%z = tt.load %cp : " + pointerType(cType) + "\n%d = tt.dot %x, %y, %z" +
          (c.i.a == MatrixType::TF32 ? ", inputPrecision = tf32" : "") + " : " + aType + " * " + bType + " -> " +
          cType + "\ntt.store %cp, %d : " + pointerType(cType) + "\ntt.return\n}\n");
  auto a = numbers(c.i.a, c.m * c.k, 1), b = numbers(c.i.b, c.k * c.n, 2), sum = numbers(c.i.c, c.m * c.n, 3), d = sum;
  std::string errors;
  int64_t stored = testing::runOnHost(text, "k", {uint64_t(a.data()), uint64_t(b.data()), uint64_t(d.data())}, errors,
                                      target, c.info->warpSize * warps, 2, [&](int round) {
                                        target.round = round;
                                        d = sum;
                                      });
  ASSERT_EQ(stored, 2 * c.m * c.n) << errors << text;
  ASSERT_FALSE(target.calls.empty());
  EXPECT_EQ(target.calls[0].k, c.i.k) << text;
  for (int row = 0; row < c.m; ++row)
    for (int column = 0; column < c.n; ++column) {
      double want = at(sum, row * c.n + column, c.i.c);
      for (int x = 0; x < c.k; ++x) want += at(a, row * c.k + x, c.i.a) * at(b, x * c.n + column, c.i.b);
      ASSERT_EQ(at(d, row * c.n + column, c.i.c), want) << row << " " << column << "\n" << text;
    }
}

std::vector<const ir::TargetInfo *> targets() {
  std::vector<const ir::TargetInfo *> out;
  for (auto &t : nvidia::archTable()) out.push_back(&t.info);
  for (auto &t : amd::archTable()) out.push_back(&t.info);
  return out;
}

class EveryInstruction : public ::testing::TestWithParam<const ir::TargetInfo *> {};

/// Several tiles in each direction, warps in both.
TEST_P(EveryInstruction, MultipliesAsTheManualSays) {
  auto &info = *GetParam();
  ASSERT_FALSE(info.matrixInstructions.empty());
  for (auto &i : info.matrixInstructions) {
    int kWidth = info.matrixUnit == ir::MatrixUnit::Mfma   ? i.depth()
                 : info.matrixUnit == ir::MatrixUnit::Wmma ? (info.matrixVersion == 1 ? 16 : 8)
                                                           : std::max(1u, 32 / bitsOf(i.a));
    // So much of K that this row of the table, not a longer one, is the one to take.
    bool longer = llvm::any_of(info.matrixInstructions, [&](auto &o) {
      return o.a == i.a && o.b == i.b && o.c == i.c && o.m == i.m && o.n == i.n && o.k > i.k;
    });
    int k = longer ? i.k : 2 * i.k;
    // A row that is no more than a word long needs the layout of a narrower one.
    if (info.matrixUnit != ir::MatrixUnit::Mfma && info.matrixUnit != ir::MatrixUnit::Wmma && i.depth() < kWidth * 2 &&
        i.m != 8 && i.depth() < kWidth)
      kWidth = i.depth();
    bool broadcasts = i.lanesK == 16; // much wider than high, or the reverse
    check({&info, i, 2, 2, 2 * i.m, (broadcasts ? 2 : 4) * i.n, broadcasts ? i.k : k, kWidth});
    if (::testing::Test::HasFatalFailure()) return;
    check({&info, i, 1, 1, 2 * i.m, i.n, k, kWidth});
    if (::testing::Test::HasFatalFailure()) return;
  }
}

/// Any width along K that both operands agree on gives the same sum; where K is shorter than the instruction's,
/// copies in the layout do not count twice.
TEST_P(EveryInstruction, TakesOtherWidthsAndShortK) {
  auto &info = *GetParam();
  for (auto &i : info.matrixInstructions) {
    bool longest = llvm::none_of(info.matrixInstructions, [&](auto &o) {
      return o.a == i.a && o.b == i.b && o.c == i.c && o.m == i.m && o.n == i.n && o.k > i.k;
    });
    bool only = llvm::none_of(info.matrixInstructions, [&](auto &o) {
      return &o != &i && o.a == i.a && o.b == i.b && o.c == i.c && o.m == i.m && o.n == i.n;
    });
    if (info.matrixUnit == ir::MatrixUnit::Mfma) {
      if (longest) check({&info, i, 1, 2, i.m, 2 * i.n, 4 * i.k, 2 * i.depth()});
      if (longest && i.depth() > 1) check({&info, i, 2, 1, 2 * i.m, i.n, 2 * i.k, i.depth() / 2});
      if (only && i.k >= 8) check({&info, i, 1, 1, i.m, i.n, i.k / 2, i.depth()});
      if (only && i.k >= 16) check({&info, i, 1, 2, i.m, i.n, i.k / 8, 1}); // shorter than lanes share it
      check({&info, i, 1, 1, std::max(i.m / 4, 1), std::max(i.n / 2, 2), i.k, i.depth()}); // copies of rows and columns
    } else if (info.matrixUnit == ir::MatrixUnit::Wmma) {
      if (info.matrixVersion == 2) check({&info, i, 1, 1, 16, 16, 32, 16});
      check({&info, i, 2, 1, 32, 16, 8, info.matrixVersion == 1 ? 16 : 8});
    } else if (longest && i.m == 16) {
      check({&info, i, 1, 1, 16, 16, 4 * i.k, int(std::max(1u, 32 / bitsOf(i.a))) * 2});
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryInstruction, ::testing::ValuesIn(targets()),
                         [](auto &p) { return p.param->name.str(); });

// ---- ldmatrix -------------------------------------------------------------------------------------------------------

struct LoadCase {
  const char *type;
  int bytes, opIdx, rows, columns;
  const char *shared;
  bool transposed;
};
class MatrixLoads : public ::testing::TestWithParam<LoadCase> {};

TEST_P(MatrixLoads, BringEveryElement) {
  auto &c = GetParam();
  WarpTarget target(nvidia::archTable()[0].info, makeTarget(nvidia::archTable()[0].info));
  std::string r = std::to_string(c.rows), w = std::to_string(c.columns), t = c.type;
  std::string from = "tensor<" + r + "x" + w + "x" + t + ", #blocked>",
              to = "tensor<" + r + "x" + w + "x" + t + ", #op>",
              desc = "!ttg.memdesc<" + r + "x" + w + "x" + t + ", #shared, #smem>";
  std::string fromP = "tensor<" + r + "x" + w + "x!tt.ptr<" + t + ">, #blocked>",
              toP = "tensor<" + r + "x" + w + "x!tt.ptr<" + t + ">, #op>";
  std::string text =
      module(32, 4,
             "#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, "
             "8]}>\n#op = #ttg.dot_op<{opIdx = " +
                 std::to_string(c.opIdx) + ", parent = #mma, kWidth = " + std::to_string(4 / c.bytes) +
                 "}>\n#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], "
                 "order = [1, 0]}>\n#shared = " +
                 c.shared + "\n#smem = #ttg.shared_memory\n",
             "tt.func public @k(%a: !tt.ptr<" + t + ">, %b: !tt.ptr<" + t + ">) {\n" +
                 pointers("a", c.rows, c.columns, t, "#blocked") + pointers("b", c.rows, c.columns, t, "#op") +
                 "%x = tt.load %ap : " + fromP + "\n%m = ttg.local_alloc %x {allocation.offset = 0 : i32} : (" + from +
                 ") -> " + desc + "\n%y = ttg.local_load %m : " + desc + " -> " + to + "\ntt.store %bp, %y : " + toP +
                 "\ntt.return\n}\n");
  std::vector<uint8_t> in(c.rows * c.columns * c.bytes), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = i * 131 + i / 256 * 7;
  std::string errors;
  int64_t stored = testing::runOnHost(text, "k", {uint64_t(in.data()), uint64_t(out.data())}, errors, target, 128, 2,
                                      [&](int round) {
                                        target.round = round;
                                        std::fill(out.begin(), out.end(), 0xcd);
                                      });
  ASSERT_GT(stored, 0) << errors << text;
  EXPECT_EQ(in, out) << text;
  EXPECT_GT(target.matrixLoads, 0u);
  EXPECT_EQ(target.transposedLoads, c.transposed ? target.matrixLoads : 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, MatrixLoads,
    ::testing::Values(LoadCase{"f16", 2, 0, 64, 32,
                               "#ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>", false},
                      LoadCase{"f16", 2, 0, 64, 64,
                               "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>", true},
                      LoadCase{"f16", 2, 1, 32, 64,
                               "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>", true},
                      LoadCase{"f16", 2, 1, 32, 64,
                               "#ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>", false},
                      LoadCase{"f16", 2, 0, 16, 16,
                               "#ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 2, order = [1, 0]}>", false},
                      LoadCase{"i8", 1, 0, 64, 64,
                               "#ttg.swizzled_shared<{vec = 16, perPhase = 2, maxPhase = 4, order = [1, 0]}>", false},
                      LoadCase{"i8", 1, 1, 64, 64,
                               "#ttg.swizzled_shared<{vec = 16, perPhase = 2, maxPhase = 4, order = [0, 1]}>", false},
                      LoadCase{"f32", 4, 0, 64, 32,
                               "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>", false}));

} // namespace
} // namespace tessera
