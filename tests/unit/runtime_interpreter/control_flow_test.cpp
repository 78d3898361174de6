// Control flow: loops, branches, calls, and the ways in which a program does not come to an end.
#include "evaluation.h"

namespace tessera {
namespace {
using test::Evaluation;

std::string kernel(const std::string &body, const std::string &functions = "") {
  return "module {\n  tt.func public @k(%p: !tt.ptr<i32>, %n: i32) {\n    %c0 = arith.constant 0 : i32\n    %c1 = "
         "arith.constant 1 : i32\n    %c2 = arith.constant 2 : i32\n    %c3 = arith.constant 3 : i32\n    %true = "
         "arith.constant true\n" +
         body + "\n    tt.return\n  }\n" + functions + "}\n";
}
int32_t result(const std::string &body, int32_t n, const std::string &functions = "") {
  std::vector<int32_t> r = {-1234};
  Evaluation(kernel(body + "\n    tt.store %p, %r : !tt.ptr<i32>", functions)).buffer(r).scalar(uint32_t(n)).ok();
  return r[0];
}

TEST(Loops, For) {
  std::string sum = "%r = scf.for %i = %c1 to %n step %c2 iter_args(%a = %c0) -> (i32)  : i32 {\n%b = arith.addi %a, "
                    "%i : i32\nscf.yield %b : i32\n}";
  EXPECT_EQ(result(sum, 10), 1 + 3 + 5 + 7 + 9);
  EXPECT_EQ(result(sum, 1), 0);
  EXPECT_EQ(result(sum, -5), 0);
  // Compared without sign, -5 is large.
  std::string isUnsigned = "%m = arith.constant -7 : i32\n%r = scf.for unsigned %i = %m to %n step %c1 iter_args(%a = "
                           "%c0) -> (i32)  : i32 {\n%b = arith.addi %a, %c1 : i32\nscf.yield %b : i32\n}";
  EXPECT_EQ(result(isUnsigned, -5), 2);
  // Up to the largest number; beyond it: Endless.LoopsAreReported.
  std::string high = "%m = arith.constant 2147483646 : i32\n%r = scf.for %i = %m to %n step %c1 iter_args(%a = %c0) -> "
                     "(i32)  : i32 {\n%b = arith.addi %a, %c1 : i32\nscf.yield %b : i32\n}";
  EXPECT_EQ(result(high, INT32_MAX), 1);
  // Values are exchanged all at once.
  std::string swap = "%x, %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1, %b = %c2) -> (i32, i32)  : i32 "
                     "{\nscf.yield %b, %a : i32, i32\n}";
  EXPECT_EQ(result(swap, 3), 1);
  EXPECT_EQ(result(swap, 4), 2);
}

TEST(Loops, While) {
  std::string collatz = R"(%x, %r = scf.while (%a = %n, %s = %c0) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %a, %c1 : i32
      scf.condition(%go) %a, %s : i32, i32
    } do {
    ^bb0(%a: i32, %s: i32):
      %odd = arith.andi %a, %c1 : i32
      %isOdd = arith.cmpi eq, %odd, %c1 : i32
      %next = scf.if %isOdd -> (i32) {
        %t = arith.muli %a, %c3 : i32
        %u = arith.addi %t, %c1 : i32
        scf.yield %u : i32
      } else {
        %h = arith.divsi %a, %c2 : i32
        scf.yield %h : i32
      }
      %s1 = arith.addi %s, %c1 : i32
      scf.yield %next, %s1 : i32, i32
    })";
  EXPECT_EQ(result(collatz, 27), 111);
  EXPECT_EQ(result(collatz, 1), 0);
}

TEST(Branches, SeveralBlocks) {
  std::string gcd = R"(%r = tt.call @gcd(%n, %c) : (i32, i32) -> i32)";
  std::string function = R"(  tt.func private @gcd(%a: i32, %b: i32) -> i32 attributes {noinline = true} {
    %zero = arith.constant 0 : i32
    cf.br ^head(%a, %b : i32, i32)
  ^head(%x: i32, %y: i32):
    %done = arith.cmpi eq, %y, %zero : i32
    cf.cond_br %done, ^exit, ^step
  ^step:
    %m = arith.remsi %x, %y : i32
    cf.br ^head(%y, %m : i32, i32)
  ^exit:
    tt.return %x : i32
  }
)";
  EXPECT_EQ(result("%c = arith.constant 36 : i32\n" + gcd, 84, function), 12);
  std::string execute = R"(%r = scf.execute_region -> i32 {
      %big = arith.cmpi sgt, %n, %c3 : i32
      cf.cond_br %big, ^a, ^b(%c0 : i32)
    ^a:
      cf.br ^b(%c2 : i32)
    ^b(%v: i32):
      scf.yield %v : i32
    })";
  EXPECT_EQ(result(execute, 4), 2);
  EXPECT_EQ(result(execute, 3), 0);
}

TEST(Calls, RecursionEndsOrIsReported) {
  std::string function = R"(  tt.func private @down(%a: i32) -> i32 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %done = arith.cmpi eq, %a, %zero : i32
    %r = scf.if %done -> (i32) {
      scf.yield %zero : i32
    } else {
      %b = arith.subi %a, %one : i32
      %s = tt.call @down(%b) : (i32) -> i32
      %t = arith.addi %s, %a : i32
      scf.yield %t : i32
    }
    tt.return %r : i32
  }
)";
  EXPECT_EQ(result("%r = tt.call @down(%n) : (i32) -> i32", 10, function), 55);
  std::vector<int32_t> r(1);
  Evaluation(kernel("%r = tt.call @down(%n) : (i32) -> i32", function))
      .buffer(r)
      .scalar(uint32_t(-1))
      .fails("calls nest more than");
}

TEST(Endless, LoopsAreReported) {
  std::vector<int32_t> r(1);
  std::string text = "#l = loc(\"kernel.py\":7:3)\n" + kernel(R"(%x = scf.while (%a = %n) : (i32) -> i32 {
      scf.condition(%true) %a : i32
    } do {
    ^bb0(%a: i32):
      scf.yield %a : i32
    } loc(#l))");
  Evaluation e(text);
  e.options.maxIterations = 1000;
  e.buffer(r).scalar(1).fails("'scf.while' has run 1000 times without an end");
  EXPECT_NE(e.messages.find("kernel.py:7:3"), std::string::npos) << e.messages;
  Evaluation branch(kernel("cf.br ^a\n^a:\ncf.br ^a\n^b:"));
  branch.options.maxIterations = 1000;
  branch.buffer(r).scalar(1).fails("'cf.br' has run 1000 times");
  // A counter makes every iteration another; memory stays as it is.
  Evaluation counts(kernel(R"(%x = scf.while (%a = %n) : (i32) -> i32 {
      scf.condition(%true) %a : i32
    } do {
    ^bb0(%a: i32):
      %next = arith.addi %a, %c1 : i32
      scf.yield %next : i32
    })"));
  counts.options.maxIdle = 1 << 10;
  counts.buffer(r).scalar(1).fails("the loop does not end: 'scf.while' has run 1024 times, and nothing in memory");
  Evaluation steps(kernel("scf.for %i = %c0 to %n step %c1  : i32 {\n%x = arith.addi %i, %c1 : i32\n}"));
  steps.options.maxSteps = 500;
  steps.buffer(r).scalar(100000).fails("has run 500 operations without an end");
  Evaluation(kernel("scf.for %i = %c0 to %c2 step %n  : i32 {\n}")).buffer(r).scalar(0).fails("the loop's step is 0");
  Evaluation(kernel("%m = arith.constant 2147483647 : i32\nscf.for %i = %n to %m step %c2  : i32 {\n}"))
      .buffer(r)
      .scalar(2147483644)
      .fails("the loop's induction variable overflows: 2147483646 + 2 is no i32");
}

/// A lock at p[0] around an update of p[1] that is not atomic.
const char *kLocked = R"(
    scf.while : () -> () {
      %old = tt.atomic_cas acq_rel, gpu, %p, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32
      %busy = arith.cmpi ne, %old, %c0 : i32
      scf.condition(%busy)
    } do {
      scf.yield
    }
    %q = tt.addptr %p, %c1 : !tt.ptr<i32>, i32
    %v = tt.load %q : !tt.ptr<i32>
    %w = arith.addi %v, %c1 : i32
    tt.store %q, %w : !tt.ptr<i32>
    %free = tt.atomic_rmw exch, release, gpu, %p, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32)";

TEST(Waiting, Locks) {
  for (int threads : {1, 4}) {
    std::vector<int32_t> memory(2);
    Evaluation e(kernel(kLocked));
    e.options.threads = threads;
    e.buffer(memory).scalar(0).ok({200, 1, 1});
    EXPECT_EQ(memory, (std::vector<int32_t>{0, 200}));
  }
}

/// Every program adds one to p[0] and waits until all n have; then it counts itself in p[1].
const char *kGridBarrier = R"(
    %a = tt.atomic_rmw add, acq_rel, gpu, %p, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    scf.while : () -> () {
      %now = tt.atomic_rmw add, acq_rel, gpu, %p, %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32
      %wait = arith.cmpi slt, %now, %n : i32
      scf.condition(%wait)
    } do {
      scf.yield
    }
    %q = tt.addptr %p, %c1 : !tt.ptr<i32>, i32
    %b = tt.atomic_rmw add, acq_rel, gpu, %q, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32)";

TEST(Waiting, ABarrierAcrossTheGrid) {
  for (int threads : {1, 3}) {
    std::vector<int32_t> memory(2);
    Evaluation e(kernel(kGridBarrier));
    e.options.threads = threads;
    e.buffer(memory).scalar(50).ok({50, 1, 1});
    EXPECT_EQ(memory, (std::vector<int32_t>{50, 50}));
  }
}

TEST(Waiting, ForALaterProgramByVolatileLoads) {
  // Program i waits for i + 1 by plain reads; the last one goes first.
  std::string body = R"(
    %i = tt.get_program_id x : i32
    %j = arith.addi %i, %c1 : i32
    %mine = tt.addptr %p, %i : !tt.ptr<i32>, i32
    %other = tt.addptr %p, %j : !tt.ptr<i32>, i32
    scf.while : () -> () {
      %now = tt.load %other {isVolatile = true} : !tt.ptr<i32>
      %wait = arith.cmpi eq, %now, %c0 : i32
      scf.condition(%wait)
    } do {
      scf.yield
    }
    %v = tt.load %other : !tt.ptr<i32>
    %w = arith.addi %v, %c1 : i32
    tt.store %mine, %w : !tt.ptr<i32>)";
  for (int threads : {1, 2}) {
    std::vector<int32_t> memory(21);
    memory[20] = 1;
    Evaluation e(kernel(body));
    e.options.threads = threads;
    e.buffer(memory).scalar(0).ok({20, 1, 1});
    for (int i = 0; i <= 20; ++i) EXPECT_EQ(memory[i], 21 - i);
  }
}

TEST(Waiting, DeadlocksAreReported) {
  for (int threads : {1, 4}) {
    std::vector<int32_t> memory = {1, 0};
    Evaluation lock(kernel(kLocked));
    lock.options.threads = threads;
    lock.buffer(memory).scalar(0).fails("deadlock: 'scf.while' waits for another program, and no program can continue",
                                        {8, 1, 1});
    memory = {0, 0};
    Evaluation barrier(kernel(kGridBarrier));
    barrier.options.threads = threads;
    barrier.buffer(memory).scalar(51).fails("deadlock", {50, 1, 1});
  }
}

TEST(Checks, AssertAssumeAndInlineAssembly) {
  std::vector<int32_t> r(1);
  std::string check = "%ok = arith.cmpi slt, %n, %c3 : i32\n";
  Evaluation(kernel(check + "tt.assert %ok, \"n is small\" : i1")).buffer(r).scalar(2).ok();
  Evaluation(kernel(check + "tt.assert %ok, \"n is small\" : i1"))
      .buffer(r)
      .scalar(3)
      .fails("assertion failed: n is small");
  Evaluation(kernel(check + "cf.assert %ok, \"n is small\"")).buffer(r).scalar(3).fails("assertion failed: n is small");
  Evaluation(kernel(check + "llvm.intr.assume %ok : i1")).buffer(r).scalar(3).fails("an assumption does not hold");
  auto assembly = [](const std::string &text, const std::string &constraints = "=r,r") {
    return kernel("%x = tt.elementwise_inline_asm \"" + text + "\" {constraints = \"" + constraints +
                  "\", packed_element = 1 : i32, " + "pure = true} %n : i32 -> i32");
  };
  Evaluation(assembly("mov.b32 $0, $1;")).buffer(r).scalar(3).ok();
  Evaluation(assembly("{ .reg .b32 t; mov.b32 t, $1; vote.ballot.b32 $0, t; }"))
      .buffer(r)
      .scalar(3)
      .fails("the interpreter does not know the inline PTX 'vote.ballot.b32 $0, t' (modifier .ballot)");
  std::string guarded = "{ .reg .pred p; setp.gt.s32 p, $1, 2; @p trap; mov.b32 $0, $1; } // never";
  Evaluation(assembly(guarded)).buffer(r).scalar(2).ok();
  Evaluation(assembly(guarded)).buffer(r).scalar(3).fails("the kernel traps (inline PTX 'trap')");
  Evaluation(assembly("v_mov_b32 $0, $1")).buffer(r).scalar(3).fails("the inline PTX 'v_mov_b32 $0, $1'");
  Evaluation(assembly("v_mov_b32 $0, $1", "=v,v"))
      .buffer(r)
      .scalar(3)
      .fails("the interpreter knows inline PTX only, not the AMD assembly 'v_mov_b32 $0, $1'");
  Evaluation(assembly("mov.u32 $0, %smid;")).buffer(r).scalar(3).ok();
  Evaluation(assembly("mov.u32 $0, %laneid;")).buffer(r).scalar(3).fails("(register '%laneid')");
  Evaluation(assembly("mov.u32 $0, %tid.x;")).buffer(r).scalar(3).fails("(register '%tid.x')");
  Evaluation(assembly("{ mov.b32 $0, $1;")).buffer(r).scalar(3).fails("inline PTX with a scope that does not end");
}

TEST(InlineAssembly, ClocksGoForward) {
  for (std::string clock : {"%clock64", "%globaltimer"}) {
    auto read = [&](const std::string &to) {
      return to + " = tt.elementwise_inline_asm \"mov.u64 $0, " + clock +
             ";\" {constraints = \"=l\", packed_element = 1 : i32, pure = false} -> i64\n";
    };
    std::string later = "%later = arith.cmpi ugt, %b, %a : i64\n%r = arith.extui %later : i1 to i32";
    EXPECT_EQ(result(read("%a") + read("%b") + later, 0), 1) << clock;
  }
}

TEST(Checks, Print) {
  std::vector<int32_t> r(1);
  std::vector<std::string> lines;
  Evaluation e(kernel(
      "%i = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>\n%f = arith.sitofp %i : tensor<2xi32> to "
      "tensor<2xf32>\ntt.print \" x: \" {hex = false, isSigned = array<i32: 0>} : %f : tensor<2xf32>\n"
      "tt.print \" n: \" {hex = false, isSigned = array<i32: 1>} : %n : i32\ntt.print \" u: \" {hex = true, isSigned = "
      "array<i32: 0>} : %n : i32"));
  e.options.print = [&](llvm::StringRef s) { lines.push_back(s.str()); };
  e.buffer(r).scalar(uint32_t(-2)).ok();
  EXPECT_EQ(lines, (std::vector<std::string>{"pid (0, 0, 0) idx (0) x: 0.000000", "pid (0, 0, 0) idx (1) x: 1.000000",
                                             "pid (0, 0, 0) idx () n: -2", "pid (0, 0, 0) idx () u: 0xfffffffe"}));
}

TEST(Checks, PrintOfSeveral) {
  std::vector<int32_t> r(1);
  std::vector<std::string> lines;
  Evaluation e(kernel("%i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
                      "%e = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>\n"
                      "tt.print \": \" {hex = false, isSigned = array<i32: 1, 1>} : %e, %n : tensor<1x16xi32>, i32\n"
                      "tt.print \" here\" {hex = false, isSigned = array<i32>}"));
  e.options.print = [&](llvm::StringRef s) { lines.push_back(s.str()); };
  e.buffer(r).scalar(7).ok();
  ASSERT_EQ(lines.size(), 18u);
  EXPECT_EQ(lines[9], "pid (0, 0, 0) idx (0,  9): (operand 0) 9");
  EXPECT_EQ(lines[10], "pid (0, 0, 0) idx (0, 10): (operand 0) 10");
  EXPECT_EQ(lines[16], "pid (0, 0, 0) idx (): (operand 1) 7");
  EXPECT_EQ(lines[17], "pid (0, 0, 0) here");
}

TEST(Checks, Poison) { EXPECT_EQ(result("%r = ub.poison : i32", 0), -1); }

} // namespace
} // namespace tessera
