// Global memory: masks, faults with their reports, block pointers, descriptors, atomics.
#include "evaluation.h"
#include "runtime/float_formats.h"
#include <cmath>

namespace tessera {
namespace {
using test::Evaluation;

/// 8 lanes with pointers %q to consecutive elements of %p.
std::string lanesKernel(const std::string &args, const std::string &type, const std::string &lines) {
  return "module {\n  tt.func public @k(%p: !tt.ptr<" + type + ">" + args +
         ") {\n    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n    %s = tt.splat %p : "
         "!tt.ptr<" +
         type + "> -> tensor<8x!tt.ptr<" + type + ">>\n    %q = tt.addptr %s, %i : tensor<8x!tt.ptr<" + type +
         ">>, tensor<8xi32>\n" + lines + "\n    tt.return\n  }\n}\n";
}

TEST(Loads, MaskedOffLanesTouchNoMemory) {
  // Five elements exist; lanes 5 to 7 are masked off. Without `other` they are undefined: all bits set.
  std::vector<float> x = {1, 2, 3, 4, 5}, r(8), s(8);
  std::string lines = R"(
    %c5 = arith.constant dense<5> : tensor<8xi32>
    %m = arith.cmpi slt, %i, %c5 : tensor<8xi32>
    %o = arith.constant dense<-1.5> : tensor<8xf32>
    %a = tt.load %q, %m : tensor<8x!tt.ptr<f32>>
    %b = tt.load %q, %m, %o : tensor<8x!tt.ptr<f32>>
    %t = tt.splat %r : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %u = tt.addptr %t, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.store %u, %a : tensor<8x!tt.ptr<f32>>
    %v = tt.splat %s0 : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %w = tt.addptr %v, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    tt.store %w, %b : tensor<8x!tt.ptr<f32>>
    tt.store %q, %o, %m : tensor<8x!tt.ptr<f32>>)";
  Evaluation e(lanesKernel(", %r: !tt.ptr<f32>, %s0: !tt.ptr<f32>", "f32", lines));
  e.buffer(x).buffer(r).buffer(s).ok();
  EXPECT_EQ(std::vector<float>(r.begin(), r.begin() + 5), (std::vector<float>{1, 2, 3, 4, 5}));
  for (int i = 5; i < 8; ++i) EXPECT_EQ(std::bit_cast<uint32_t>(r[i]), 0xFFFFFFFFu);
  EXPECT_EQ(s, (std::vector<float>{1, 2, 3, 4, 5, -1.5f, -1.5f, -1.5f}));
  EXPECT_EQ(x, std::vector<float>(5, -1.5f));
  e.options.undefinedIsZero = true;
  e.ok();
  EXPECT_EQ(r[6], 0);
}

TEST(Faults, NoOtherBufferIsWhereAWrongExtensionLeads) {
  // An index of 32 bits that is extended the wrong way is 2^32 elements off.
  std::vector<float> x(5), y(5);
  Evaluation e(R"(module { tt.func public @k(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %far = arith.constant 4294967296 : i64
    %a = tt.addptr %p, %far : !tt.ptr<f32>, i64
    %v = tt.load %a : !tt.ptr<f32>
    tt.store %q, %v : !tt.ptr<f32>
    tt.return } })");
  e.buffer(x).buffer(y).fails("of buffer 'arg0', which has 20 bytes: out of bounds");
}

TEST(Faults, OutOfBounds) {
  std::vector<float> x(5);
  std::string text = R"(#l = loc("kernel.py":12:8)
module { tt.func public @k(%p: !tt.ptr<f32>) {
    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
    %q = tt.addptr %s, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %a = tt.load %q : tensor<8x!tt.ptr<f32>> loc(#l)
    tt.store %q, %a : tensor<8x!tt.ptr<f32>>
    tt.return } })";
  Evaluation e(text);
  e.buffer(x).fails("kernel 'k', program (0, 0, 0): load of 4 bytes at byte 20 of buffer 'arg0', which has 20 bytes: "
                    "out of bounds (element 5 of 8)");
  EXPECT_NE(e.messages.find("kernel.py:12:8"), std::string::npos) << e.messages;
  EXPECT_NE(e.messages.find("tt.load"), std::string::npos) << e.messages;
}

TEST(Faults, BeforeTheBufferMisalignedAndNull) {
  std::vector<float> x(8);
  auto with = [](const std::string &offset) {
    return "module { tt.func public @k(%p: !tt.ptr<i8>) {\n%o = arith.constant " + offset +
           " : i64\n%q = tt.addptr %p, %o : !tt.ptr<i8>, i64\n%f = tt.bitcast %q : !tt.ptr<i8> -> !tt.ptr<f32>\n%z = "
           "arith.constant 0.0 : f32\ntt.store %f, %z : !tt.ptr<f32>\ntt.return } }";
  };
  Evaluation(with("-4")).buffer(x).fails("store of 4 bytes at byte -4 of buffer 'arg0'");
  Evaluation(with("2")).buffer(x).fails("at byte 2 of buffer 'arg0', which is not a multiple of 4: misaligned");
  Evaluation(with("28")).buffer(x).ok();
  Evaluation(with("4294967296")).buffer(x).fails("out of bounds");
  Evaluation(with("0")).scalar(0).fails("a null pointer");
  Evaluation(with("0")).scalar(uint64_t(1) << 60).fails("which lies in no buffer");
}

TEST(Faults, InAProgramOfTheGrid) {
  std::vector<int32_t> x(4);
  std::string text = R"(module { tt.func public @k(%p: !tt.ptr<i32>) {
    %x = tt.get_program_id x : i32
    %y = tt.get_program_id y : i32
    %n = tt.get_num_programs x : i32
    %r = arith.muli %y, %n : i32
    %i = arith.addi %r, %x : i32
    %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
    tt.store %q, %i : !tt.ptr<i32>
    tt.return } })";
  Evaluation e(text);
  e.buffer(x).fails("program (0, 2, 0): store of 4 bytes at byte 16", {2, 3, 1});
  EXPECT_EQ(x, (std::vector<int32_t>{0, 1, 2, 3}));
  e.options.threads = 3;
  e.fails("of buffer 'arg0'", {2, 3, 1});
}

TEST(Faults, Arguments) {
  std::vector<int32_t> x(4);
  std::string text = "module { tt.func public @k(%p: !tt.ptr<i32>, %n: i32) { tt.return } }";
  Evaluation(text).buffer(x).fails("takes 2 arguments, and 1 are given");
  Evaluation(text).buffer(x).buffer(x).fails("is i32, not a pointer");
  Evaluation(text).buffer(x).scalar(1).fails("the grid (0, 1, 1) is empty", {0, 1, 1});
  Evaluation("module { tt.func public @k(%p: !tt.tensordesc<4x4xf32>) { tt.return } }")
      .scalar(1)
      .fails("is a tensor descriptor of 2 dimensions, and none is given");
}

// ---- block pointers and descriptors ---------------------------------------------------------------------------------

TEST(BlockPointers, BoundsAndPadding) {
  // Blocks of 4x4 of a 6x5 matrix whose rows are 8 apart, moved by (3, 2).
  std::vector<float> x(6 * 8), r(16), w(6 * 8);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i);
  auto text = [](const std::string &check) {
    return R"(module { tt.func public @k(%p: !tt.ptr<f32>, %r: !tt.ptr<f32>, %w: !tt.ptr<f32>) {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %m = arith.constant 6 : i64
    %n = arith.constant 5 : i64
    %s0 = arith.constant 8 : i64
    %s1 = arith.constant 1 : i64
    %f = arith.constant 4 : i64
    %b = tt.make_tensor_ptr %p, [%m, %n], [%s0, %s1], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<4x4xf32>>
    %d = tt.advance %b, [%c3, %c2] : !tt.ptr<tensor<4x4xf32>>
    %v = tt.load %d )" +
           check + R"( : !tt.ptr<tensor<4x4xf32>>
    %o = tt.make_tensor_ptr %r, [%f, %f], [%f, %s1], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<4x4xf32>>
    tt.store %o, %v : !tt.ptr<tensor<4x4xf32>>
    %u = tt.make_tensor_ptr %w, [%m, %n], [%s0, %s1], [%c3, %c2] {order = array<i32: 1, 0>} : <tensor<4x4xf32>>
    tt.store %u, %v {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<4x4xf32>>
    tt.return } })";
  };
  for (std::string padding : {"1", "2"}) {
    std::fill(w.begin(), w.end(), -7.0f);
    Evaluation(text("{boundaryCheck = array<i32: 0, 1>, padding = " + padding + " : i32}"))
        .buffer(x)
        .buffer(r)
        .buffer(w)
        .ok();
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        bool inside = i + 3 < 6 && j + 2 < 5;
        float got = r[i * 4 + j];
        if (inside)
          EXPECT_EQ(got, x[(i + 3) * 8 + j + 2]);
        else if (padding == "1")
          EXPECT_EQ(got, 0);
        else
          EXPECT_TRUE(std::isnan(got));
      }
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 8; ++j) {
        bool written = i >= 3 && j >= 2 && j < 5;
        EXPECT_EQ(w[i * 8 + j], written ? x[i * 8 + j] : -7.0f);
      }
  }
  Evaluation(text("{boundaryCheck = array<i32: 1>}")).buffer(x).buffer(r).buffer(w).fails("out of bounds");
}

const char *kDescriptor =
    R"(module { tt.func public @k(%p: !tt.ptr<f32>, %r: !tt.ptr<f32>, %m: i32, %n: i32, %i: i32, %j: i32) {
    %s0 = arith.constant 8 : i64
    %s1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %l4 = arith.constant 4 : i64
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s0, %s1]PADDING : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
    %e = tt.make_tensor_descriptor %r, [%c4, %c4], [%l4, %s1] : !tt.ptr<f32>, !tt.tensordesc<4x4xf32>
    %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
    tt.descriptor_store %e[%c0, %c0], %v : !tt.tensordesc<4x4xf32>, tensor<4x4xf32>
    LINES
    tt.return } })";

std::string descriptorKernel(const std::string &padding, const std::string &lines) {
  std::string s = kDescriptor;
  s.replace(s.find("PADDING"), 7, padding);
  s.replace(s.find("LINES"), 5, lines);
  return s;
}

TEST(Descriptors, LoadStoreReduceWithBounds) {
  std::vector<float> x(48), r(16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i);
  Evaluation(descriptorKernel("", "")).buffer(x).buffer(r).scalar(6).scalar(5).scalar(uint32_t(-1)).scalar(3).ok();
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) EXPECT_EQ(r[i * 4 + j], i - 1 >= 0 && j + 3 < 5 ? x[(i - 1) * 8 + j + 3] : 0);
  Evaluation(descriptorKernel(" {padding = 2 : i32}", ""))
      .buffer(x)
      .buffer(r)
      .scalar(6)
      .scalar(5)
      .scalar(4)
      .scalar(3)
      .ok();
  EXPECT_EQ(r[0], x[4 * 8 + 3]);
  EXPECT_TRUE(std::isnan(r[15]));
  // Adds the block onto itself: doubles what is inside and touches nothing else.
  auto before = x;
  Evaluation(
      descriptorKernel("", "tt.descriptor_reduce add, %d[%i, %j], %v : !tt.tensordesc<4x4xf32>, tensor<4x4xf32>"))
      .buffer(x)
      .buffer(r)
      .scalar(6)
      .scalar(5)
      .scalar(4)
      .scalar(3)
      .ok();
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 8; ++j) EXPECT_EQ(x[i * 8 + j], before[i * 8 + j] * (i >= 4 && j >= 3 && j < 5 ? 2 : 1));
}

TEST(Descriptors, GatherAndScatterRows) {
  std::vector<float> x(48), r(32), y(48, -1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = float(i);
  std::vector<int32_t> rows = {5, 0, 6, 2, -1, 3, 3, 1};
  std::string text =
      R"(module { tt.func public @k(%p: !tt.ptr<f32>, %r: !tt.ptr<f32>, %y: !tt.ptr<f32>, %rows: !tt.ptr<i32>) {
    %s0 = arith.constant 8 : i64
    %s1 = arith.constant 1 : i64
    %m = arith.constant 6 : i32
    %n = arith.constant 5 : i32
    %c0 = arith.constant 0 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %l4 = arith.constant 4 : i64
    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %t = tt.splat %rows : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %u = tt.addptr %t, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %x = tt.load %u : tensor<8x!tt.ptr<i32>>
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s0, %s1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
    %e = tt.make_tensor_descriptor %y, [%m, %n], [%s0, %s1] : !tt.ptr<f32>, !tt.tensordesc<1x4xf32>
    %o = tt.make_tensor_descriptor %r, [%c8, %c4], [%l4, %s1] : !tt.ptr<f32>, !tt.tensordesc<8x4xf32>
    %v = tt.descriptor_gather %d[%x, %c3] : (!tt.tensordesc<1x4xf32>, tensor<8xi32>, i32) -> tensor<8x4xf32>
    tt.descriptor_store %o[%c0, %c0], %v : !tt.tensordesc<8x4xf32>, tensor<8x4xf32>
    tt.descriptor_scatter %e[%x, %c3], %v : !tt.tensordesc<1x4xf32>, tensor<8xi32>, i32, tensor<8x4xf32>
    tt.return } })";
  Evaluation(text).buffer(x).buffer(r).buffer(y).buffer(rows).ok();
  auto want = std::vector<float>(48, -1);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j) {
      bool inside = rows[i] >= 0 && rows[i] < 6 && j + 3 < 5;
      EXPECT_EQ(r[i * 4 + j], inside ? x[rows[i] * 8 + j + 3] : 0);
      if (inside) want[rows[i] * 8 + j + 3] = x[rows[i] * 8 + j + 3];
    }
  EXPECT_EQ(y, want);
}

// ---- atomics --------------------------------------------------------------------------------------------------------

/// Eight lanes update elements i / 2 with i + 1 and give the old values.
template <class T>
std::vector<T> atomic(const std::string &kind, const std::string &type, std::vector<T> &memory,
                      const std::string &value) {
  std::vector<T> old(8);
  std::string P = "tensor<8x!tt.ptr<" + type + ">>";
  std::string text = "module { tt.func public @k(%p: !tt.ptr<" + type + ">, %o: !tt.ptr<" + type +
                     ">) {\n%i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n%one = arith.constant "
                     "dense<1> : tensor<8xi32>\n" +
                     "%half = arith.shrui %i, %one : tensor<8xi32>\n%n = arith.addi %i, %one : tensor<8xi32>\n%s = "
                     "tt.splat %p : !tt.ptr<" +
                     type + "> -> " + P + "\n%q = tt.addptr %s, %half : " + P + ", tensor<8xi32>\n" + value +
                     "\n%old = tt.atomic_rmw " + kind + ", acq_rel, gpu, %q, %v : (" + P + ", tensor<8x" + type +
                     ">) -> tensor<8x" + type + ">\n%t = tt.splat %o : !tt.ptr<" + type + "> -> " + P +
                     "\n%u = tt.addptr %t, %i : " + P + ", tensor<8xi32>\ntt.store %u, %old : " + P + "\ntt.return } }";
  Evaluation(text).buffer(memory).buffer(old).ok();
  return old;
}

TEST(Atomics, EveryOperationOnIntegers) {
  struct Operation {
    const char *name;
    int32_t (*f)(int32_t, int32_t);
  };
  const Operation operations[] = {
      {"and", [](int32_t a, int32_t b) { return a & b; }},
      {"or", [](int32_t a, int32_t b) { return a | b; }},
      {"xor", [](int32_t a, int32_t b) { return a ^ b; }},
      {"add", [](int32_t a, int32_t b) { return a + b; }},
      {"max", [](int32_t a, int32_t b) { return std::max(a, b); }},
      {"min", [](int32_t a, int32_t b) { return std::min(a, b); }},
      {"umax", [](int32_t a, int32_t b) { return int32_t(std::max(uint32_t(a), uint32_t(b))); }},
      {"umin", [](int32_t a, int32_t b) { return int32_t(std::min(uint32_t(a), uint32_t(b))); }},
      {"exch", [](int32_t, int32_t b) { return b; }}};
  for (auto &op : operations) {
    std::vector<int32_t> memory = {-5, 3, 100, 7}, want = memory, wantOld;
    for (int i = 0; i < 8; ++i) {
      wantOld.push_back(want[i / 2]);
      want[i / 2] = op.f(want[i / 2], i + 1);
    }
    EXPECT_EQ(atomic<int32_t>(op.name, "i32", memory, "%v = arith.addi %i, %one : tensor<8xi32>"), wantOld) << op.name;
    EXPECT_EQ(memory, want) << op.name;
    std::vector<int64_t> memory64 = {-5, 3, 100, 7};
    atomic<int64_t>(op.name, "i64", memory64, "%v = arith.extsi %n : tensor<8xi32> to tensor<8xi64>");
    for (int i = 0; i < 4; ++i) EXPECT_EQ(int32_t(memory64[i]), want[i]) << op.name;
  }
}

TEST(Atomics, FloatAdds) {
  std::vector<float> f = {0.5f, 1, 2, 3};
  EXPECT_EQ(atomic<float>("fadd", "f32", f, "%v = arith.sitofp %n : tensor<8xi32> to tensor<8xf32>"),
            (std::vector<float>{0.5f, 1.5f, 1, 4, 2, 7, 3, 10}));
  EXPECT_EQ(f, (std::vector<float>{3.5f, 8, 13, 18}));
  std::vector<double> d = {0.5, 1, 2, 3};
  atomic<double>("fadd", "f64", d, "%v = arith.sitofp %n : tensor<8xi32> to tensor<8xf64>");
  EXPECT_EQ(d, (std::vector<double>{3.5, 8, 13, 18}));
  for (auto kind : {ir::FloatKind::F16, ir::FloatKind::BF16}) {
    std::string type = ir::FloatType::name(kind).str();
    std::vector<uint16_t> h;
    for (double v : {0.5, 1.0, 2.0, 3.0}) h.push_back(uint16_t(runtime::encodeFloat(kind, v)));
    atomic<uint16_t>("fadd", type, h, "%v = arith.sitofp %n : tensor<8xi32> to tensor<8x" + type + ">");
    for (int i = 0; i < 4; ++i) EXPECT_EQ(runtime::decodeFloat(kind, h[i]), f[i]);
  }
  std::vector<float> m = {0.5f, 100, 2, 3};
  atomic<float>("max", "f32", m, "%v = arith.sitofp %n : tensor<8xi32> to tensor<8xf32>");
  EXPECT_EQ(m, (std::vector<float>{2, 100, 6, 8}));
}

TEST(Atomics, CompareAndSwapAndMasks) {
  std::vector<int32_t> x = {0, 1, 2, 3, 4, 5, 6, 7}, old(8);
  std::string lines = R"(
    %c3 = arith.constant dense<3> : tensor<8xi32>
    %m = arith.cmpi sgt, %i, %c3 : tensor<8xi32>
    %n = arith.constant dense<100> : tensor<8xi32>
    %o = tt.atomic_cas acq_rel, gpu, %q, %c3, %n : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    %a = tt.atomic_rmw add, relaxed, gpu, %q, %n, %m : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
    %t = tt.splat %r : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %u = tt.addptr %t, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    tt.store %u, %o : tensor<8x!tt.ptr<i32>>)";
  Evaluation(lanesKernel(", %r: !tt.ptr<i32>", "i32", lines)).buffer(x).buffer(old).ok();
  EXPECT_EQ(old, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(x, (std::vector<int32_t>{0, 1, 2, 100, 104, 105, 106, 107}));
}

TEST(Atomics, ManyThreadsLoseNothing) {
  std::vector<int32_t> count(1);
  std::vector<float> sum(1);
  std::string text = R"(module { tt.func public @k(%c: !tt.ptr<i32>, %f: !tt.ptr<f32>) {
    %one = arith.constant 1 : i32
    %x = arith.constant 1.0 : f32
    %true = arith.constant true
    %a = tt.atomic_rmw add, relaxed, gpu, %c, %one, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %b = tt.atomic_rmw fadd, relaxed, gpu, %f, %x, %true : (!tt.ptr<f32>, f32, i1) -> f32
    tt.return } })";
  Evaluation e(text);
  e.options.threads = 4;
  int64_t seen = 0;
  e.options.progress = [&](int64_t done, int64_t all) {
    EXPECT_EQ(done, ++seen);
    EXPECT_EQ(all, 5000);
  };
  e.buffer(count).buffer(sum).ok({100, 10, 5});
  EXPECT_EQ(count[0], 5000);
  EXPECT_EQ(sum[0], 5000);
  EXPECT_EQ(seen, 5000);
}

} // namespace
} // namespace tessera
