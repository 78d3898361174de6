// The order of copies and dots in a pipelined loop (schedule/pipeline_order.h), by each of its conditions, on plans as
// the phases before it make them.
#include "ir/ops.h"
#include "transforms/run_pass.h"
#include "transforms/schedule/pipeline_order.h"

namespace tessera::transforms {
namespace {

using Replacements = std::vector<std::pair<std::string, std::string>>;

/// What the phases before it have decided.
struct Given {
  int64_t distance = 2;
  int64_t bytes = 16384; // of a stage
  int64_t otherBytes = 0;
  int64_t warps = 4;
  std::function<void(PipelinePlan &)> change = [](PipelinePlan &) {};
};

/// The loop that the plan is for, in place of one around it.
ir::scf::ForOp loopOf(const PipelinePlan &p) { return p.loads[0].op->parentOp()->cast<ir::scf::ForOp>(); }

/// The order for the first loop of a function with such a body: every tt.load goes through the buffer that it is stored
/// to.
std::string order(std::string body, const Replacements &replacements, const Given &given) {
  for (auto &[old, replacement] : replacements) {
    size_t at = body.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    if (at != std::string::npos) body.replace(at, old.size(), replacement);
  }
  if (size_t at = body.find("{attributes}"); at != std::string::npos) body.replace(at, 12, "");
  std::string function = R"(
  tt.func public @k(%p: tensor<64x64x!tt.ptr<f16>, #mma>, %q: !m, %qx: !x, %y: !t, %scale: tensor<64x1xf16, #dot0>, %n: i32, %c: i1, %mask: tensor<64x64xi1, #mma>, %g: !tt.ptr<f16>) -> !t {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : !t
)" + body + "  }\n";
  std::string text = testing::wgmmaModule(testing::withDots(function));
  std::string aliases = R"(
#shared8 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#mma2 = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#lhs = #ttg.dot_op<{opIdx = 0, parent = #mma2, kWidth = 2}>
#rhs = #ttg.dot_op<{opIdx = 1, parent = #mma2, kWidth = 2}>
!t2 = tensor<64x32xf32, #mma2>
!l2 = tensor<64x64xf16, #lhs>
!r2 = tensor<64x32xf16, #rhs>
!m8 = !ttg.memdesc<64x64xf8E4M3FN, #shared8, #smem, mutable>
!x8 = tensor<64x64xf8E4M3FN, #dot0>
!m2 = !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
)";
  text.insert(text.find("module"), aliases);
  std::string warps = std::to_string(given.warps);
  text = std::regex_replace(text, std::regex("\"ttg.num-warps\" = 4"), "\"ttg.num-warps\" = " + warps);
  text = std::regex_replace(text, std::regex("warpsPerCTA = \\[4, 1\\]"), "warpsPerCTA = [" + warps + ", 1]");
  std::string errors;
  ir::Context context;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { errors += ir::render(d); });
  auto module = frontend::parseModule(text, "test", context, diag);
  if (!module) return errors;
  ir::scf::ForOp loop;
  module->op()->walk([&](ir::Operation *op) {
    if (auto found = op->dyn<ir::scf::ForOp>(); found && !loop) loop = found;
  });
  PipelinePlan plan;
  for (ir::Operation &op : *loop.body().front()) {
    auto alloc = op.dyn<ir::ttg::LocalAllocOp>();
    auto load = alloc ? alloc.src().definedBy<ir::tt::LoadOp>() : ir::tt::LoadOp();
    if (!load) continue;
    PipelinedLoad l;
    l.op = load.op;
    l.alloc = alloc;
    l.bufferType = alloc.result().type().cast<ir::MemDescType>();
    plan.loads.push_back(l);
  }
  plan.asyncCopies = true;
  plan.distance = given.distance;
  plan.buffers = given.distance + 1;
  plan.bytesPerStage = given.bytes;
  plan.otherBytes = given.otherBytes;
  given.change(plan);
  orderCopiesAndDots(loop, *runtime::findTarget("sm_90a"), plan);
  std::string out;
  auto say = [&](bool is, const std::string &what) {
    if (is) out += (out.empty() ? "" : ", ") + what;
  };
  unsigned dots = 0;
  say(plan.dotsInFlight, "in flight");
  say(!plan.slicedDots.empty(), std::to_string(plan.slicedDots.size()) + " sliced");
  say(plan.refillsStage, "refills");
  for (ir::Operation &op : *loop.body().front())
    if (op.is<ir::ttng::WarpGroupDotOp>()) {
      ++dots;
      say(plan.copiesAfter && plan.copiesAfter.op == &op, "after dot " + std::to_string(dots));
    }
  say(plan.operandsFirst, "operands first");
  say(plan.keepsLastBuffers, "keeps buffers");
  say(plan.distance != given.distance || plan.buffers != given.distance + 1,
      std::to_string(plan.distance) + " ahead in " + std::to_string(plan.buffers));
  say(!plan.whyFewerStages.empty(), "fewer");
  return out.empty() ? "copies first" : out;
}

// ---- dots that only accumulate ----

std::string accumulates(const Replacements &replacements, const Given &given = {}) {
  return order(R"(
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros, %carried = %y) -> (!t, !t) : i32 {
      %al = tt.load %p : tensor<64x64x!tt.ptr<f16>, #mma>
      %a = ttg.local_alloc %al : (tensor<64x64xf16, #mma>) -> !m
      %bl = tt.load %p : tensor<64x64x!tt.ptr<f16>, #mma>
      %b = ttg.local_alloc %bl : (tensor<64x64xf16, #mma>) -> !m
      // before
      %d = DOT(%a, %b, %acc)
      // after
      scf.yield %d, %carried : !t, !t
    } {attributes}
    tt.return %r#0 : !t
)",
               replacements, given);
}

TEST(PipelineOrder, DotsThatOnlyAccumulateStayInFlight) {
  EXPECT_EQ(accumulates({}), "in flight");
  EXPECT_EQ(accumulates({{"DOT(%a", "XDOT(%qx"}}), "in flight") << "registers that the loop does not write";
  EXPECT_EQ(
      accumulates({{"DOT(%a, %b, %acc)", "ttng.warp_group_dot %a, %b, %acc, %c {inputPrecision = 0 : i32} : !m * !m "
                                         "-> !t"}}),
      "after dot 1")
      << "a scale";
  EXPECT_EQ(accumulates({{"// after", "%u = math.absf %d : !t"}}), "after dot 1") << "the iteration uses it";
  EXPECT_EQ(accumulates({{"// before", "%u = math.absf %acc : !t"}}), "after dot 1") << "or the accumulator";
  EXPECT_EQ(accumulates({{"// before", "%bh = arith.addf %bl, %al : tensor<64x64xf16, #mma>\n"
                                       " %b2 = ttg.local_alloc %bh : (tensor<64x64xf16, #mma>) -> !m"},
                         {"%a, %b, %acc", "%a, %b2, %acc"}}),
            "after dot 1")
      << "each iteration fills its buffer from registers";
}

/// A dot of f8, which adds outside of the instruction unless it is `imprecise`.
std::string float8Dot(const std::string &operands, const std::string &a, const std::string &imprecise) {
  return "ttng.warp_group_dot " + operands + " {inputPrecision = 0 : i32, maxNumImpreciseAcc = " + imprecise +
         " : i32} : " + a + " * !m8 -> !t";
}
const std::pair<std::string, std::string> kFloat8{"%r:2 =", "%f8 = ttg.local_alloc : () -> !m8\n %r:2 ="};

TEST(PipelineOrder, DotsThatAddOutsideOfTheInstruction) {
  EXPECT_EQ(accumulates({kFloat8, {"DOT(%a, %b, %acc)", float8Dot("%f8, %f8, %acc", "!m8", "128")}}), "in flight");
  EXPECT_EQ(accumulates({kFloat8, {"DOT(%a, %b, %acc)", float8Dot("%f8, %f8, %acc", "!m8", "64")}}), "copies first");
}

TEST(PipelineOrder, AccumulatorsThatRestart) {
  std::string select = "%next = arith.select %c, %zeros, %d : !t";
  EXPECT_EQ(accumulates({{"// after", select}, {"yield %d,", "yield %next,"}}), "in flight");
  EXPECT_EQ(accumulates({{"// after", "%next = arith.select %mask, %zeros, %d : tensor<64x64xi1, #mma>, !t"},
                         {"yield %d,", "yield %next,"}}),
            "after dot 1")
      << "by elements";
  EXPECT_EQ(accumulates({{"// after", select}, {"yield %d, %carried", "yield %next, %next"}}), "after dot 1")
      << "the next one is carried twice";
  EXPECT_EQ(
      accumulates({{"// after", select + "\n %f = DOT(%a, %b, %carried)"}, {"yield %d, %carried", "yield %next, %f"}}),
      "after dot 2")
      << "another dot follows";
}

TEST(PipelineOrder, AccumulatorsInBranches) {
  std::string branch = "scf.if %c {\n %u = math.absf %d : !t\n }";
  EXPECT_EQ(accumulates({{"// after", branch}}), "in flight");
  EXPECT_EQ(accumulates({{"// after", branch + "\n %f = DOT(%a, %b, %carried)"}, {"%d, %carried", "%d, %f"}}),
            "after dot 2")
      << "another dot follows";
  EXPECT_EQ(accumulates({{"// after", "scf.for %j = %c0 to %n step %c1 : i32 {\n %u = math.absf %d : !t\n }"}}),
            "after dot 1")
      << "a loop";
}

/// A operands that are converted in registers, from a buffer.
const Replacements kSliced{
    {"// before", "%ar = ttg.local_load %a : !m -> !x\n %s = tt.broadcast %scale : tensor<64x1xf16, #dot0> -> !x\n"
                  " %ax = arith.mulf %ar, %s : !x"},
    {"DOT(%a", "XDOT(%ax"}};

TEST(PipelineOrder, OperandsThatAreConverted) {
  EXPECT_EQ(accumulates(kSliced), "in flight, 1 sliced");
  Replacements own = kSliced;
  own.push_back({"ttg.local_load %a :", "ttg.local_load %a2 :"});
  own.push_back({"%ar =", "%ah = arith.addf %al, %bl : tensor<64x64xf16, #mma>\n"
                          " %a2 = ttg.local_alloc %ah : (tensor<64x64xf16, #mma>) -> !m\n %ar ="});
  EXPECT_EQ(accumulates(own), "after dot 1") << "from a buffer that each iteration fills from registers";
  Replacements second = kSliced;
  second.push_back({"// after", "%u = math.absf %d : !t"});
  EXPECT_EQ(accumulates(second), "after dot 1") << "no slices where dots do not stay in flight";
}

// ---- dots whose results the iteration needs ----

/// A dot, work and `second`.
std::string attention(const Replacements &replacements, const Given &given = {}) {
  return order(R"(
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros, %carried = %y) -> (!t, !t) : i32 {
      %al = tt.load %p : tensor<64x64x!tt.ptr<f16>, #mma>
      %a = ttg.local_alloc %al : (tensor<64x64xf16, #mma>) -> !m
      %bl = tt.load %p : tensor<64x64x!tt.ptr<f16>, #mma>
      %b = ttg.local_alloc %bl : (tensor<64x64xf16, #mma>) -> !m
      // before
      %s = DOT(%q, %a, %zeros)
      // work
      %e = math.exp2 %s : !t
      %h = arith.truncf %e : !t to tensor<64x64xf16, #mma>
      %x = ttg.convert_layout %h : tensor<64x64xf16, #mma> -> !x
      %d = XDOT(%x, %b, %acc)
      // after
      scf.yield %d, %carried : !t, !t
    } {attributes}
    tt.return %r#0 : !t
)",
               replacements, given);
}

/// Bytes of a stage with which one block fits on a multiprocessor, with three buffers.
constexpr int64_t kOneBlock = 60000;

TEST(PipelineOrder, CopiesAfterADot) {
  EXPECT_EQ(attention({}), "after dot 2");
  EXPECT_EQ(attention({}, {.bytes = kOneBlock}), "after dot 1") << "one block fits";
  EXPECT_EQ(attention({}, {.distance = 1, .bytes = kOneBlock}), "copies first") << "the next iteration needs them";
  EXPECT_EQ(attention({{"// after", "%f = DOT(%q, %b, %carried)"}, {"%d, %carried", "%d, %f"}}, {.bytes = kOneBlock}),
            "after dot 3")
      << "three dots";
  EXPECT_EQ(attention({{"// before", "%ah = arith.addf %al, %bl : tensor<64x64xf16, #mma>\n %a2 = ttg.local_alloc %ah "
                                     ": (tensor<64x64xf16, #mma>) -> !m"},
                       {"(%q, %a,", "(%a2, %a,"}},
                      {.bytes = kOneBlock}),
            "after dot 2")
      << "the first dot waits for a buffer that is filled in this iteration";
}

/// Dots at the start of an iteration, one or more, and one that accumulates what the work on them computed. With 8
/// warps, a thread has 128 registers if two blocks are to fit, and 229 for tensors; a tile takes 32, an A operand 16,
/// and one that hold-dot-operands keeps 8.
std::string gradients(int atStart, const Replacements &replacements = {},
                      Given given = {.distance = 3, .bytes = 16384, .warps = 8}) {
  Replacements r;
  for (int k = 1; k < atStart; ++k)
    r.push_back({"// work", "%g" + std::to_string(k) + " = DOT(%q, %b, %zeros)\n // work"});
  r.insert(r.end(), replacements.begin(), replacements.end());
  return attention(r, given);
}

TEST(PipelineOrder, LoopsWhoseDotsAreIssuedTogether) {
  EXPECT_EQ(gradients(2), "after dot 3") << "128 registers: two blocks fit";
  EXPECT_EQ(gradients(3), "after dot 4, keeps buffers, 3 ahead in 5");
  EXPECT_EQ(gradients(4), "after dot 5, keeps buffers, 3 ahead in 5") << "208 registers";
  EXPECT_EQ(gradients(5), "after dot 6") << "248 registers";
  EXPECT_EQ(gradients(1, {{"// after", "%f = XDOT(%x, %b, %carried)"}, {"%d, %carried", "%d, %f"}}), "after dot 3")
      << "one dot at the start";
}

TEST(PipelineOrder, LoopsWhoseDotsAreNotIssuedTogether) {
  const char *const alone = "after dot 4";
  EXPECT_EQ(gradients(3, {{"// after", "%u = math.absf %d : !t"}}), alone) << "the iteration uses the sum";
  EXPECT_EQ(gradients(3, {{"// before", "%u = math.absf %acc : !t"}}), alone) << "or the accumulator";
  EXPECT_EQ(gradients(3, {{"yield %d", "yield %y"}, {"// after", "%u = math.absf %d : !t"}}), alone);
  EXPECT_EQ(
      gradients(3, {{"XDOT(%x, %b, %acc)", "ttng.warp_group_dot %x, %b, %acc, %c {inputPrecision = 0 : i32} : !x * !m "
                                           "-> !t"}}),
      alone)
      << "a scale";
  std::string own = "%own = ttg.local_alloc %h : (tensor<64x64xf16, #mma>) -> !m";
  EXPECT_EQ(gradients(3, {{"%d = XDOT(%x, %b, ", own + "\n %d = XDOT(%x, %own, "}}), alone)
      << "its operand is of the iteration";
  EXPECT_EQ(gradients(3, {{"DOT(%q, %b, %zeros)", "DOT(%q, %b, %carried)"}}), alone)
      << "a dot at the start accumulates";
  auto float8Sum = [](const std::string &imprecise) {
    return gradients(3, {kFloat8,
                         {"%d = XDOT(%x, %b, %acc)", "%x8 = tt.fp_to_fp %x, rounding = rtne : !x -> !x8\n %d = " +
                                                         float8Dot("%x8, %f8, %acc", "!x8", imprecise)},
                         {"// after", "%f = XDOT(%x, %b, %carried)"},
                         {"%d, %carried", "%d, %f"}});
  };
  EXPECT_EQ(float8Sum("128"), "after dot 5, keeps buffers, 3 ahead in 5");
  EXPECT_EQ(float8Sum("64"), "after dot 5") << "it adds outside of the instruction";
  EXPECT_EQ(gradients(2, {{"// after", "%f = DOT(%q, %b, %zeros)\n // after"}}), "after dot 4")
      << "the third is at the end";
  std::string filled = "%fh = arith.addf %al, %bl : tensor<64x64xf16, #mma>\n"
                       " %fm = ttg.local_alloc %fh : (tensor<64x64xf16, #mma>) -> !m";
  EXPECT_EQ(gradients(3, {{"// before", filled}, {"DOT(%q, %b, %zeros)", "DOT(%fm, %b, %zeros)"}}), alone);
  EXPECT_EQ(gradients(3, {{"// before", filled}, {"DOT(%q, %b, %zeros)", "DOT(%q, %fm, %zeros)"}}), alone)
      << "an operand at the start is filled by the iteration";
  EXPECT_EQ(gradients(3, {{"// after", "%d2 = tt.dot %l, %m, %o : !l2 * !r2 -> !t2"},
                          {"%r:2 =", "%l = arith.constant dense<1.0> : !l2\n %m = arith.constant dense<1.0> : !r2\n"
                                     " %o = arith.constant dense<0.0> : !t2\n %r:2 ="}}),
            alone)
      << "a dot by mma.sync";
}

TEST(PipelineOrder, BuffersThatAreKept) {
  Given given{.distance = 3, .bytes = 16384, .warps = 8};
  auto with = [&](std::function<void(PipelinePlan &)> change, int64_t distance = 3) {
    Given g = given;
    g.distance = distance;
    g.change = std::move(change);
    return gradients(3, {}, g);
  };
  const char *const kept = "after dot 4, keeps buffers, 3 ahead in 5";
  EXPECT_EQ(with([](PipelinePlan &) {}), kept);
  EXPECT_EQ(with([](PipelinePlan &p) { p.loads[0].isBulkCopy = true; }), "after dot 4");
  EXPECT_EQ(with([](PipelinePlan &p) { p.byWarps = true; }), "after dot 4");
  EXPECT_EQ(with([](PipelinePlan &p) { p.loads[0].isLate = true; }), "after dot 4");
  EXPECT_EQ(with([](PipelinePlan &p) { p.otherBytes = 160000; }), "after dot 4, keeps buffers, 2 ahead in 4")
      << "there is room for four buffers only";
  EXPECT_EQ(with([](PipelinePlan &p) { p.otherBytes = 190000; }, 2), "after dot 4");
  EXPECT_EQ(with([](PipelinePlan &p) { p.tiles.loop = loopOf(p); }), "after dot 4");
  EXPECT_EQ(gradients(3, {{"{attributes}", "{tessera.overlap_dots = false}"}}), "after dot 4");
  EXPECT_EQ(gradients(3, {{"{attributes}", "{tessera.overlap_dots = true}"}}), kept);
  EXPECT_EQ(gradients(3, {{"{attributes}", "{tt.warp_specialize}"}}), "after dot 4");
}

// ---- copies into the buffers that the iteration has read ----

/// A dot by mma.sync; `rows` of its A operand and its result.
std::string synchronous(const Replacements &replacements, const Given &given, const std::string &rows = "64") {
  std::string body = R"(
    %zero = arith.constant dense<0.0> : tensor<ROWSx32xf32, #mma2>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %carried = %y) -> (tensor<ROWSx32xf32, #mma2>, !t) : i32 {
      %al = tt.load %pa : tensor<ROWSx64x!tt.ptr<f16>, #mma>
      %a = ttg.local_alloc %al : (tensor<ROWSx64xf16, #mma>) -> !ttg.memdesc<ROWSx64xf16, #shared, #smem, mutable>
      %bl = tt.load %pb : tensor<64x32x!tt.ptr<f16>, #mma>
      %b = ttg.local_alloc %bl : (tensor<64x32xf16, #mma>) -> !m2
      // before
      %l = ttg.local_load %a : !ttg.memdesc<ROWSx64xf16, #shared, #smem, mutable> -> tensor<ROWSx64xf16, #lhs>
      %m = ttg.local_load %b : !m2 -> !r2
      %d = tt.dot %l, %m, %acc : tensor<ROWSx64xf16, #lhs> * !r2 -> tensor<ROWSx32xf32, #mma2>
      // after
      scf.yield %d, %carried : tensor<ROWSx32xf32, #mma2>, !t
    } {attributes}
    tt.return %y : !t
)";
  std::string pointers = R"(
    %base = tt.splat %g : !tt.ptr<f16> -> tensor<ROWSx64x!tt.ptr<f16>, #mma>
    %baseB = tt.splat %g : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #mma>
)";
  body = std::regex_replace(pointers + body, std::regex("%pa "), "%base ");
  body = std::regex_replace(body, std::regex("%pb "), "%baseB ");
  return order(std::regex_replace(body, std::regex("ROWS"), rows), replacements, given);
}

TEST(PipelineOrder, CopiesIntoTheBuffersThatAreRead) {
  // Three buffers of 12 KiB leave room for one block, two for two; `one`: one buffer does.
  const Given given{.otherBytes = 85000}, one{.otherBytes = 100000};
  const char *const refills = "refills, operands first, 2 ahead in 2";
  EXPECT_EQ(synchronous({}, given), refills);
  EXPECT_EQ(synchronous({}, one), "refills, operands first, 1 ahead in 1, fewer");
  EXPECT_EQ(synchronous({{"{attributes}", "{tt.num_stages = 3 : i32}"}}, one), "copies first")
      << "the loop says how many stages it wants";
  EXPECT_EQ(synchronous({}, {}), "copies first") << "as many blocks fit either way";
  EXPECT_EQ(synchronous({}, {.distance = 4, .otherBytes = 100000}), "copies first")
      << "two blocks of one buffer have fewer copies in flight than one of four";
  EXPECT_EQ(synchronous({}, {.otherBytes = 10000}, "256"), "refills, 2 ahead in 2")
      << "operands that do not fit into registers at once";
  EXPECT_EQ(synchronous({}, {.otherBytes = 50000}, "256"), "copies first") << "they would have nothing to overlap with";
  EXPECT_EQ(synchronous({{"// after", "%e = ttg.convert_layout %d : !t2 -> !t2"}, {"yield %d", "yield %e"}}, given),
            refills)
      << "another name of the result";
}

TEST(PipelineOrder, BuffersThatAreNotFilledAgain) {
  auto with = [](std::function<void(PipelinePlan &)> change) {
    return synchronous({}, {.otherBytes = 85000, .change = std::move(change)});
  };
  EXPECT_EQ(with([](PipelinePlan &p) { p.byWarps = true; }), "copies first");
  EXPECT_EQ(with([](PipelinePlan &p) { p.tiles.loop = loopOf(p); }), "copies first");
  auto late = [](PipelinePlan &p) {
    p.loads[1].isLate = true;
    p.otherBytes = 95000;
  };
  EXPECT_EQ(with(late), "copies first");
  const Given given{.otherBytes = 85000};
  EXPECT_EQ(synchronous({{"{attributes}", "{tt.warp_specialize}"}}, given), "copies first");
  EXPECT_EQ(synchronous({{"// after", "%u = math.absf %d : !t2"}}, given), "copies first")
      << "the iteration needs the result";
  EXPECT_EQ(synchronous({{"// after", "scf.if %c {\n %u = tt.dot %l, %m, %d : !l2 * !r2 -> !t2\n }"}}, given),
            "copies first")
      << "or a branch does";
  EXPECT_EQ(synchronous({{"// before", "%bh = arith.addf %bl, %bl : tensor<64x32xf16, #mma>\n"
                                       " %b2 = ttg.local_alloc %bh : (tensor<64x32xf16, #mma>) -> !m2"},
                         {"ttg.local_load %b ", "ttg.local_load %b2 "}},
                        given),
            "copies first")
      << "a buffer that is filled from registers";
  EXPECT_EQ(
      synchronous({{"%zero =", "%one = arith.constant dense<1.0> : !r2\n %zero ="}, {"%l, %m, %acc", "%l, %one, %acc"}},
                  given),
      "copies first")
      << "an operand from before the loop";
}

TEST(PipelineOrder, OperandsAreReadFirstByFewWarps) {
  EXPECT_EQ(synchronous({}, {.warps = 2}), "operands first");
  EXPECT_EQ(synchronous({}, {.warps = 4}), "copies first");
  EXPECT_EQ(synchronous({}, {.distance = 1, .warps = 2}), "copies first");
  EXPECT_EQ(
      synchronous({{"%zero =", "%one = arith.constant dense<1.0> : !r2\n %zero ="}, {"%l, %m, %acc", "%l, %one, %acc"}},
                  {.warps = 2}),
      "copies first")
      << "an operand from before the loop";
}

} // namespace
} // namespace tessera::transforms
