// Shared-memory allocation and barrier placement on random programs: buffers of several sizes, allocated, stored and
// loaded in and around loops and branches, loops that carry them, and operations that need scratch. A program is walked
// as it may run, with random trips and branches, against two rules that know nothing of how the passes decide:
//   ownership   bytes that a buffer stored and did not dealloc still belong to it when it is loaded
//   order       between two accesses to a byte, one of which writes, there is a barrier
// and no barrier is there that could be left out in all of these walks.
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "transforms/memory/scratch.h"
#include "transforms/passes.h"
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace tessera {
namespace {

class Program {
public:
  explicit Program(unsigned seed, bool carry) : random_(seed), carry_(carry) {}

  std::string text() {
    std::string head =
        "#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
        "#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
        "#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n#smem = #ttg.shared_memory\n"
        "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\", "
        "\"ttg.threads-per-warp\" = 32 : i32} {\n"
        "  tt.func public @k(%n: i32, %c: i1, %x0: tensor<128xf32, #a>, %x1: tensor<512xf32, #a>, %x2: "
        "tensor<2048xf32, #a>) {\n"
        "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n";
    block({}, 2, "    ");
    return head + body_ + "    tt.return\n  }\n}\n";
  }

private:
  struct Buffer {
    std::string name;
    int size;
  };
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  std::string fresh() { return "%v" + std::to_string(next_++); }
  static std::string elements(int size) { return std::to_string(128 << (2 * size)); }
  static std::string tensor(int size) { return "tensor<" + elements(size) + "xf32, #a>"; }
  static std::string memory(int size) { return "!ttg.memdesc<" + elements(size) + "xf32, #s, #smem, mutable>"; }

  void block(std::vector<Buffer> visible, int depth, const std::string &indent) {
    auto line = [&](const std::string &s) { body_ += indent + s + "\n"; };
    for (int i = 0, n = 2 + pick(5); i < n; ++i) {
      int kind = pick(depth > 0 ? 12 : 9), size = pick(3);
      std::string x = "%x" + std::to_string(size), v = fresh();
      if (kind <= 1 || (visible.empty() && kind < 7)) {
        line(v + " = ttg.local_alloc " + (pick(2) ? x + " : (" + tensor(size) + ") -> " : ": () -> ") + memory(size));
        visible.push_back({v, size});
      } else if (kind <= 3) {
        auto &b = visible[pick(visible.size())];
        line("ttg.local_store %x" + std::to_string(b.size) + ", " + b.name + " : " + tensor(b.size) + " -> " +
             memory(b.size));
      } else if (kind <= 6) {
        auto &b = visible[pick(visible.size())];
        line(v + " = ttg.local_load " + b.name + " : " + memory(b.size) + " -> " + tensor(b.size));
      } else if (kind == 7) {
        line(v + " = ttg.convert_layout " + x + " : " + tensor(size) + " -> tensor<" + elements(size) + "xf32, #b>");
      } else if (kind == 8) {
        line(v + " = \"tt.reduce\"(" + x + ") <{axis = 0 : i32}> ({\n    ^bb0(%p" + v.substr(1) + ": f32, %q" +
             v.substr(1) + ": f32):\n      %r" + v.substr(1) + " = arith.addf %p" + v.substr(1) + ", %q" + v.substr(1) +
             " : f32\n      tt.reduce.return %r" + v.substr(1) + " : f32\n    }) : (" + tensor(size) + ") -> f32");
      } else if (kind <= 10) {
        std::vector<Buffer> same;
        int carried = visible.empty() ? 0 : visible[pick(visible.size())].size;
        for (auto &b : visible)
          if (b.size == carried) same.push_back(b);
        if (carry_ && same.size() > 1 && pick(2)) {
          std::string arg = fresh();
          line(v + " = scf.for %i" + v.substr(1) + " = %c0 to %n step %c1 iter_args(" + arg + " = " +
               same[pick(same.size())].name + ") -> (" + memory(carried) + ") : i32 {");
          auto inner = visible;
          inner.push_back({arg, carried});
          block(inner, depth - 1, indent + "  ");
          line("  scf.yield " + (pick(2) ? arg : same[pick(same.size())].name) + " : " + memory(carried));
          line("}");
          visible.push_back({v, carried});
        } else {
          line("scf.for %i" + v.substr(1) + " = %c0 to %n step %c1 : i32 {");
          block(visible, depth - 1, indent + "  ");
          line("}");
        }
      } else {
        line("scf.if %c {");
        block(visible, depth - 1, indent + "  ");
        if (pick(2)) {
          line("} else {");
          block(visible, depth - 1, indent + "  ");
        }
        line("}");
      }
    }
  }

  std::mt19937 random_;
  bool carry_;
  std::string body_;
  int next_ = 0;
};

/// One run of the program. What it finds wrong is in `faults`.
class Walk {
public:
  Walk(const ir::TargetInfo &target, unsigned seed, ir::Operation *withoutBarrier = nullptr)
      : target_(target), random_(seed), without_(withoutBarrier) {}
  void run(ir::Operation *func) { block(func->region(0).front()); }
  std::vector<std::string> disorder, lost;

private:
  struct Buffer {
    int64_t first, second;
    int id;
    bool stored = false;
  };
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  static int64_t offset(ir::Operation *op) { return op->attr<ir::IntegerAttr>("allocation.offset").sext(); }

  void access(ir::Operation *op, int64_t first, int64_t second, bool write) {
    for (auto &[f, l, w] : since_)
      if (f < second && first < l && (w || write)) {
        disorder.push_back(op->str());
        break;
      }
    since_.insert({first, second, write});
  }
  void store(ir::Operation *op, Buffer &b) {
    access(op, b.first, b.second, true);
    for (int64_t i = b.first; !without_ && i < b.second; i += 16) owner(i) = b.id;
    b.stored = true;
  }
  void load(ir::Operation *op, Buffer &b) {
    access(op, b.first, b.second, false);
    for (int64_t i = b.first; !without_ && b.stored && i < b.second; i += 16)
      if (owner(i) != b.id) {
        lost.push_back(op->str());
        return;
      }
  }
  int &owner(int64_t at) {
    if (size_t(at / 16) >= owner_.size()) owner_.resize(at / 16 + 1);
    return owner_[at / 16];
  }
  int &of(ir::Value v) { return named_[v.impl()]; }

  void block(ir::Block *b) {
    for (auto &op : *b) visit(&op);
  }
  void visit(ir::Operation *op) {
    using namespace ir;
    if (auto alloc = op->dyn<ttg::LocalAllocOp>()) {
      auto type = alloc.result().type().cast<MemDescType>();
      buffers_.push_back({offset(op), offset(op) + type.numElements() * 4, int(buffers_.size()) + 1});
      of(op->result()) = buffers_.size() - 1;
      if (op->numOperands()) store(op, buffers_.back());
    } else if (auto s = op->dyn<ttg::LocalStoreOp>())
      store(op, buffers_[of(s.dst())]);
    else if (auto l = op->dyn<ttg::LocalLoadOp>())
      load(op, buffers_[of(l.src())]);
    else if (op->is<gpu::BarrierOp>()) {
      if (op != without_) since_.clear();
    } else if (auto f = op->dyn<scf::ForOp>()) {
      llvm::SmallVector<int, 2> carried;
      for (auto v : f.initArgs()) carried.push_back(of(v));
      for (int trip = pick(3); trip > 0; --trip) {
        for (unsigned i = 0; i < carried.size(); ++i) of(f.body().front()->arg(i + 1)) = carried[i];
        block(f.body().front());
        for (unsigned i = 0; i < carried.size(); ++i) carried[i] = of(f.body().front()->terminator()->operand(i));
      }
      for (unsigned i = 0; i < carried.size(); ++i) of(op->result(i)) = carried[i];
    } else if (op->is<scf::IfOp>()) {
      auto &r = op->region(pick(2));
      if (!r.empty()) block(r.front());
    } else if (auto scratch = transforms::scratchOf(op, target_); scratch.bytes) {
      int64_t at = offset(op);
      access(op, at, at + scratch.bytes, true);
      for (int64_t i = at; !without_ && i < at + scratch.bytes; i += 16) owner(i) = -1;
      since_.clear();
      since_.insert({at, at + scratch.bytes, false});
    }
  }

  const ir::TargetInfo &target_;
  std::mt19937 random_;
  ir::Operation *without_;
  std::set<std::tuple<int64_t, int64_t, bool>> since_; // accesses since the last barrier
  std::vector<Buffer> buffers_;
  std::map<ir::ValueImpl *, int> named_;
  std::vector<int> owner_; // by 16 bytes, to which everything is aligned
};

void check(unsigned seed, bool carry, int64_t &barriers, int64_t &reused) {
  std::string text = Program(seed, carry).text();
  SCOPED_TRACE("seed " + std::to_string(seed));
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
  auto m = frontend::parseModule(text, "program.ttgir", context, diag);
  ASSERT_TRUE(m) << messages << text;
  auto target = runtime::requireTarget("sm_90a");
  ASSERT_TRUE(target.ok());
  transforms::RunOptions o;
  o.target = *target;
  o.verifyEach = true;
  auto s = transforms::runPipeline(
      *m, {transforms::step(transforms::allocateSharedMemory), transforms::step(transforms::insertBarriers)}, o, diag);
  if (messages.find("bytes of shared memory, but a block") != std::string::npos) return; // too much at once
  ASSERT_TRUE(s.ok()) << messages << text;
  ir::Operation *func = m->lookupSymbol("k");
  int64_t sum = 0;
  std::vector<ir::Operation *> placed;
  func->walk([&](ir::Operation *op) {
    if (op->is<ir::gpu::BarrierOp>()) placed.push_back(op);
    if (auto a = op->dyn<ir::ttg::LocalAllocOp>()) sum += a.result().type().cast<ir::MemDescType>().numElements() * 4;
  });
  barriers += placed.size();
  reused += sum > m->op()->attr<ir::IntegerAttr>("ttg.shared").sext();

  const unsigned walks = 30;
  for (unsigned w = 0; w < walks; ++w) {
    Walk walk(**target, seed * 1000 + w);
    walk.run(func);
    ASSERT_TRUE(walk.lost.empty()) << "overwritten before " << walk.lost[0] << "\n" << ir::printToString(*m);
    ASSERT_TRUE(walk.disorder.empty()) << "no barrier before " << walk.disorder[0] << "\n" << ir::printToString(*m);
  }
  if (carry) return; // which buffer a carried value is, the analysis does not follow
  for (auto *b : placed) {
    bool needed = false;
    for (unsigned w = 0; w < 200 && !needed; ++w) {
      Walk walk(**target, seed * 1000 + w, b);
      walk.run(func);
      needed = !walk.disorder.empty();
    }
    EXPECT_TRUE(needed) << "a barrier too many, before " << b->next()->str() << "\n" << ir::printToString(*m);
  }
}

TEST(SharedMemoryOfRandomPrograms, BuffersKeepTheirBytesAndAccessesTheirOrder) {
  int64_t barriers = 0, reused = 0;
  for (unsigned seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) check(seed, false, barriers, reused);
  EXPECT_GT(barriers, 100);
  EXPECT_GT(reused, 5); // memory is used more than once
}
TEST(SharedMemoryOfRandomPrograms, CarriedBuffersToo) {
  int64_t barriers = 0, reused = 0;
  for (unsigned seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) check(seed, true, barriers, reused);
}

} // namespace
} // namespace tessera
