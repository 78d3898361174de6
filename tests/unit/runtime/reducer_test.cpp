// Reduction of kernels with planted failures: of some fifty operations a handful stays, it still fails, and it
// verifies.
#include "frontend/parser.h"
#include "ir/builder.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "runtime/debug/reducer.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

namespace tessera {
namespace {
using namespace runtime;

struct Reduced {
  ir::Context context;
  Failing f;
  ReduceResult r;
  std::string text;
};

/// Reduces a text as long as `fails` holds.
std::unique_ptr<Reduced> reduceText(llvm::StringRef text, std::function<bool(ir::Module &)> fails,
                                    std::optional<LaunchDescription> launch = {}) {
  auto out = std::make_unique<Reduced>();
  ir::DiagnosticEngine diag([](const ir::Diagnostic &d) { ADD_FAILURE() << ir::render(d); });
  out->f.module = frontend::parseModule(text, "t.mlir", out->context, diag);
  out->f.launch = launch;
  if (!out->f.module) return out;
  EXPECT_TRUE(fails(*out->f.module)) << "the original does not fail";
  ReduceOptions o;
  o.fails = [&](Failing &c) {
    ir::DiagnosticEngine quiet;
    EXPECT_TRUE(ir::verify(*c.module, quiet)) << "a candidate does not verify";
    return fails(*c.module);
  };
  out->r = reduce(out->f, o);
  EXPECT_TRUE(out->r.finished);
  EXPECT_TRUE(fails(*out->f.module));
  EXPECT_EQ(countOperations(*out->f.module), out->r.operationsAfter);
  out->text = ir::printToString(*out->f.module, {.locations = false});
  ir::DiagnosticEngine again([](const ir::Diagnostic &d) { ADD_FAILURE() << ir::render(d); });
  ir::Context other;
  EXPECT_TRUE(frontend::parseModule(out->text, "again.mlir", other, again)) << out->text;
  return out;
}

size_t count(ir::Module &m, llvm::StringRef name) {
  size_t n = 0;
  m.op()->walk([&](ir::Operation *op) { n += op->name() == name; });
  return n;
}

std::string kernel(const char *name) {
  auto b = llvm::MemoryBuffer::getFile(std::string(TESSERA_SOURCE_DIR "/tests/kernels/") + name + "/" + name + ".ttir");
  return b ? (*b)->getBuffer().str() : "";
}

// Whole kernels: the operation that is at fault, and what its operands need.
TEST(Reducer, MatmulToOneOperation) {
  auto r = reduceText(kernel("mm_f16"), [](ir::Module &m) { return count(m, "tt.dot") > 0; });
  EXPECT_GE(r->r.operationsBefore, 50u);
  EXPECT_LE(r->r.operationsAfter, 6u) << r->text; // with its operands and the store that keeps it alive
}

TEST(Reducer, OneOperationOfALayerNorm) {
  auto r = reduceText(kernel("layernorm"), [](ir::Module &m) { return count(m, "tt.reduce") > 0; });
  EXPECT_LE(r->r.operationsAfter, 5u) << r->text;
}

// What is inside a loop is what fails: the loop goes. Where the loop is needed, it stays with nothing else.
TEST(Reducer, LoopsGoUnlessTheyAreNeeded) {
  const char *text = R"(tt.func @f(%n: i32, %p: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c1) -> (i32, i32) : i32 {
      %x = arith.muli %a, %i : i32
      %y = arith.xori %x, %b : i32
      %c = arith.cmpi slt, %y, %i : i32
      %z = scf.if %c -> (i32) {
        %u = arith.addi %y, %c1 : i32
        scf.yield %u : i32
      } else {
        scf.yield %x : i32
      }
      scf.yield %z, %y : i32, i32
    }
    tt.store %p, %r#0 : !tt.ptr<i32>
    tt.return
  })";
  auto a = reduceText(text, [](ir::Module &m) { return count(m, "arith.xori") > 0; });
  EXPECT_EQ(count(*a->f.module, "scf.for"), 0u) << a->text;
  EXPECT_LE(a->r.operationsAfter, 3u) << a->text;
  auto b = reduceText(text, [](ir::Module &m) { return count(m, "scf.for") > 0; });
  EXPECT_EQ(count(*b->f.module, "scf.if"), 0u) << b->text;
  EXPECT_LE(b->r.operationsAfter, 4u) << b->text;
}

// Reductions and scans keep the operands at fault alone.
TEST(Reducer, ReductionsLoseOperands) {
  std::string text = R"(tt.func @f(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>) {
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %pa = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %pa : tensor<64x!tt.ptr<f32>>
    %r:3 = "tt.reduce"(%v, %i, %v) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %ia: i32, %xa: f32, %b: f32, %ib: i32, %xb: f32):
      %g = arith.cmpf ogt, %a, %b : f32
      %m = arith.select %g, %a, %b : f32
      %n = arith.select %g, %ia, %ib : i32
      %s = arith.addf %xa, %xb : f32
      tt.reduce.return %m, %n, %s : f32, i32, f32
    }) : (tensor<64xf32>, tensor<64xi32>, tensor<64xf32>) -> (f32, i32, f32)
    tt.store %q, %r#1 : !tt.ptr<i32>
    tt.store %p, %r#0 : !tt.ptr<f32>
    tt.store %p, %r#2 : !tt.ptr<f32>
    tt.return
  })";
  // Stored floats keep it alive; a store of the integer would need the integer operand.
  auto stored = [](ir::Module &m, const char *name) {
    bool found = false;
    m.op()->walk([&](ir::Operation *op) {
      auto store = op->dyn<ir::tt::StoreOp>();
      auto *from = store ? store.value().definingOp() : nullptr;
      found |= from && from->name() == name && store.value().type().scalar().isFloat();
    });
    return found;
  };
  for (const char *kept : {"arith.addf", "arith.cmpf", "arith.select"}) {
    auto r = reduceText(text, [&](ir::Module &m) {
      bool found = false; // inside the reduction
      m.op()->walk([&](ir::Operation *op) { found |= op->name() == kept && op->parentOp()->name() == "tt.reduce"; });
      return found && stored(m, "tt.reduce");
    });
    r->f.module->op()->walk([&](ir::Operation *op) {
      if (op->name() == "tt.reduce") EXPECT_EQ(op->numOperands(), 1u) << kept << "\n" << r->text;
    });
  }
  std::string scan = text;
  for (size_t at; (at = scan.find("tt.reduce")) != std::string::npos;) scan.replace(at, 9, "tt.scan");
  scan.replace(scan.find("-> (f32, i32, f32)"), 18, "-> (tensor<64xf32>, tensor<64xi32>, tensor<64xf32>)");
  scan.replace(scan.find("axis = 0 : i32"), 14, "axis = 0 : i32, reverse = false");
  size_t at = scan.find("    tt.store %q");
  scan.replace(at, std::string::npos, R"(    %qs = tt.splat %q : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %qa = tt.addptr %qs, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    tt.store %qa, %r#1 : tensor<64x!tt.ptr<i32>>
    tt.store %pa, %r#0 : tensor<64x!tt.ptr<f32>>
    tt.store %pa, %r#2 : tensor<64x!tt.ptr<f32>>
    tt.return
  })");
  auto r = reduceText(scan, [&](ir::Module &m) { return stored(m, "tt.scan"); });
  r->f.module->op()->walk([&](ir::Operation *op) {
    if (op->name() == "tt.scan") EXPECT_EQ(op->numOperands(), 1u) << r->text;
  });
}

TEST(Reducer, WhileLoopsLoseWhatTheyCarry) {
  const char *text = R"(tt.func @f(%n: i32, %p: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:4 = scf.while (%a = %c0, %b = %n, %c = %n) : (i32, i32, i32) -> (i32, i32, i32, i32) {
      %k = arith.cmpi slt, %a, %n : i32
      %m = arith.muli %b, %c : i32
      scf.condition(%k) %a, %b, %c, %m : i32, i32, i32, i32
    } do {
    ^bb0(%a: i32, %b: i32, %c: i32, %m: i32):
      %x = arith.addi %a, %c1 : i32
      %y = arith.xori %b, %m : i32
      %z = arith.subi %c, %b : i32
      scf.yield %x, %y, %z : i32, i32, i32
    }
    tt.store %p, %r#1 : !tt.ptr<i32>
    tt.store %p, %r#3 : !tt.ptr<i32>
    tt.return
  })";
  auto loop = [](ir::Module &m) {
    ir::Operation *found = nullptr;
    m.op()->walk([&](ir::Operation *op) {
      if (op->name() == "scf.while") found = op;
    });
    return found;
  };
  auto a = reduceText(text, [&](ir::Module &m) { return loop(m) != nullptr; });
  EXPECT_EQ(loop(*a->f.module)->numOperands(), 0u) << a->text;
  EXPECT_LE(loop(*a->f.module)->numResults(), 1u) << a->text; // one may be what keeps the loop alive
  // One that changes is needed: the counter of the condition.
  auto b = reduceText(text, [&](ir::Module &m) {
    auto *w = loop(m);
    return w && w->numOperands() && count(m, "arith.addi") > 0;
  });
  EXPECT_EQ(loop(*b->f.module)->numOperands(), 1u) << b->text;
  EXPECT_LE(loop(*b->f.module)->numResults(), 1u) << b->text;
}

TEST(Reducer, FunctionsAreInlinedAndShapesShrink) {
  auto r = reduceText(R"(module {
    tt.func private @g(%x: tensor<1024xf32>) -> tensor<1024xf32> {
      %y = math.exp %x : tensor<1024xf32>
      tt.return %y : tensor<1024xf32>
    }
    tt.func public @f(%p: !tt.ptr<f32>, %unused: i32) {
      %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
      %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
      %a = tt.addptr %s, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
      %m = arith.constant dense<true> : tensor<1024xi1>
      %v = tt.load %a, %m : tensor<1024x!tt.ptr<f32>>
      %w = tt.call @g(%v) : (tensor<1024xf32>) -> tensor<1024xf32>
      tt.store %a, %w, %m : tensor<1024x!tt.ptr<f32>>
      tt.return
    }
  })",
                      [](ir::Module &m) { return count(m, "math.exp") > 0 && count(m, "tt.store") > 0; });
  EXPECT_EQ(count(*r->f.module, "tt.func"), 1u) << r->text;
  EXPECT_EQ(r->text.find("1024"), std::string::npos) << r->text;
  EXPECT_EQ(r->text.find("i1"), std::string::npos) << r->text; // the mask is gone
  EXPECT_LE(r->r.operationsAfter, 5u) << r->text;
}

// The launch keeps step with the kernel's arguments.
TEST(Reducer, ArgumentsLeaveKernelAndLaunch) {
  LaunchDescription l;
  l.grid = {8, 4, 1};
  l.args.resize(3);
  l.args[0].name = "p", l.args[1].name = "n", l.args[1].isScalar = true, l.args[2].name = "q";
  l.expected.push_back({2, "x.npy", 0, ""});
  auto r = reduceText(
      R"(tt.func @f(%p: !tt.ptr<i32>, %n: i32, %q: !tt.ptr<i32>) {
    tt.store %p, %n : !tt.ptr<i32>
    %x = arith.muli %n, %n : i32
    tt.store %q, %x : !tt.ptr<i32>
    tt.return
  })",
      [](ir::Module &m) { return count(m, "arith.muli") > 0; }, l);
  ASSERT_EQ(r->f.launch->args.size(), 2u) << r->text; // n and q
  EXPECT_EQ(r->f.launch->args[1].name, "q");
  EXPECT_EQ(r->f.launch->grid, (std::array<int64_t, 3>{1, 1, 1}));
  ASSERT_EQ(r->f.launch->expected.size(), 1u);
  EXPECT_EQ(r->f.launch->expected[0].arg, 1u);
}

TEST(Reducer, NeverDividesByZero) {
  auto r = reduceText(R"(tt.func @f(%p: !tt.ptr<i32>, %n: i32) {
    %x = tt.load %p : !tt.ptr<i32>
    %y = arith.divsi %n, %x : i32
    tt.store %p, %y : !tt.ptr<i32>
    tt.return
  })",
                      [](ir::Module &m) { return count(m, "arith.divsi") > 0; });
  bool zero = false;
  r->f.module->op()->walk<ir::arith::DivsiOp>(
      [&](ir::arith::DivsiOp division) { zero |= ir::intConstantOf(division.rhs()) == 0; });
  EXPECT_FALSE(zero) << r->text;
}

TEST(Reducer, StopsWhenRequested) {
  ir::Context context;
  ir::DiagnosticEngine diag;
  Failing f{frontend::parseModule(kernel("mm_f16"), "t", context, diag), {}};
  ASSERT_TRUE(f.module);
  int left = 10;
  ReduceOptions o;
  o.fails = [&](Failing &) { return --left, false; };
  o.stop = [&] { return left <= 0; };
  auto r = reduce(f, o);
  EXPECT_FALSE(r.finished);
  EXPECT_EQ(r.checks, 10u);
  EXPECT_EQ(r.operationsBefore, r.operationsAfter);
}

} // namespace
} // namespace tessera
