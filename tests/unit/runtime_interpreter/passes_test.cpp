// What passes do, seen by running: the IR is evaluated by the interpreter before and after, and every byte of memory
// must be the same. Each pass on TTIR alone, and the whole TTIR pipeline, run over
//
//   - every kernel of tests/kernels (with TESSERA_SHARED set, of $TESSERA_SHARED/kernels too), on its own inputs;
//   - every function of the golden tests in tests/golden/ttir, and kernels as Triton's frontend gives them before any
//   pass
//     (tests/golden/ttir/inputs), on buffers and numbers made up here. What such a function
//     returns is stored to buffers first. Inputs on which the function faults before the pass are passed over.
#include "evaluation.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/debug/tuner.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launch/check.h"
#include "runtime/launcher.h"
#include "transforms/passes.h"
#include "transforms/pipelines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <set>

namespace tessera {
namespace {
using namespace ir;

/// A pass by itself, or the pipeline.
std::vector<std::pair<std::string, transforms::Pipeline>> pipelines() {
  std::vector<std::pair<std::string, transforms::Pipeline>> out;
  for (auto *name :
       {"inline", "canonicalize", "cse", "triton-loop-aware-cse", "loop-invariant-code-motion", "symbol-dce", "sccp",
        "triton-combine", "triton-reorder-broadcast", "triton-rewrite-tensor-pointer",
        "triton-rewrite-tensor-descriptor-to-pointer", "triton-decompose-scaled-dot", "triton-loop-unroll"})
    out.push_back({name, {{transforms::findPass(name), {}}}});
  for (auto *target : {"sm_90a", "gfx942"}) {
    const TargetInfo &t = **runtime::requireTarget(target);
    out.push_back({std::string("pipeline for ") + target, transforms::ttirPipeline(t)});
    // Layouts, and strips wherever they are possible, not only where registers run out.
    auto strips = transforms::ttirPipeline(t);
    strips.push_back(transforms::step(transforms::convertTritonToTritonGpu,
                                      {.target = t.tritonTarget.str(), .numWarps = 1, .threadsPerWarp = t.warpSize}));
    strips.push_back(transforms::step(transforms::coalesce));
    strips.push_back(transforms::step(transforms::removeLayoutConversions));
    strips.push_back(transforms::step(transforms::canonicalize));
    strips.push_back(transforms::step(transforms::stripMine, {.registers = 0}));
    strips.push_back(transforms::step(transforms::canonicalize));
    out.push_back({std::string("strips for ") + target, strips});
  }
  return out;
}

/// Whether sums of blocks may be rounded differently: strips are added up element by element first.
bool addsInAnotherOrder(llvm::StringRef pipeline) { return pipeline.starts_with("strips"); }

/// The files of a folder that end so; without a suffix the folders in it that hold a launch description.
std::vector<std::string> filesIn(const std::string &root, llvm::StringRef suffix) {
  std::vector<std::string> out;
  std::error_code ec;
  for (llvm::sys::fs::directory_iterator it(root, ec), end; it != end && !ec; it.increment(ec))
    if (suffix.empty() ? llvm::sys::fs::exists(it->path() + "/launch.json")
                       : llvm::StringRef(it->path()).ends_with(suffix))
      out.push_back(it->path());
  llvm::sort(out);
  return out;
}

void runPasses(Module &m, const transforms::Pipeline &p, DiagnosticEngine &diag, std::string &messages) {
  transforms::RunOptions o;
  o.verifyEach = true;
  auto s = transforms::runPipeline(m, p, o, diag);
  ASSERT_TRUE(s.ok()) << s << "\n" << messages << printToString(m);
}

// ---- kernels --------------------------------------------------------------------------------------------------------

std::vector<std::string> kernels() {
  auto out = filesIn(TESSERA_SOURCE_DIR "/tests/kernels", "");
  if (const char *shared = getenv("TESSERA_SHARED"))
    for (auto &k : filesIn(std::string(shared) + "/kernels", "")) out.push_back(k);
  return out;
}

class PassesOnKernels : public testing::TestWithParam<std::string> {};

TEST_P(PassesOnKernels, KeepEveryByte) {
  auto d = runtime::readLaunch(GetParam() + "/launch.json");
  ASSERT_TRUE(d.ok()) << d.status();
  auto text = llvm::MemoryBuffer::getFile(d->directory + "/" + d->ttir);
  ASSERT_TRUE(bool(text));
  Context context;
  std::string messages;
  DiagnosticEngine diag([&](const Diagnostic &x) { messages += render(x); });
  auto original = frontend::parseModule((*text)->getBuffer(), "kernel.ttir", context, diag);
  ASSERT_TRUE(original) << messages;
  std::vector<std::vector<uint8_t>> expected;
  auto run = [&](Module &m, std::vector<std::vector<uint8_t>> &out) {
    auto kernel = runtime::selectKernel(m, d->kernel);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    auto args = runtime::prepareArguments(*d, *kernel);
    ASSERT_TRUE(args.ok()) << args.status();
    auto s = runtime::interpretLaunch(m, *kernel, *d, *args, {}, diag);
    ASSERT_TRUE(s.ok()) << s << "\n" << messages << printToString(m);
    for (auto &b : args->buffers) out.push_back(std::vector<uint8_t>(b.begin(), b.end()));
  };
  run(*original, expected);
  ASSERT_FALSE(expected.empty());
  // A kernel that a pass leaves as it is, or makes what another pass made of it, has been run.
  std::set<std::string> ran{printToString(*original)};
  for (auto &[name, p] : pipelines()) {
    SCOPED_TRACE(name);
    auto m = original->clone();
    runPasses(*m, p, diag, messages);
    if (HasFatalFailure()) return;
    if (!ran.insert(printToString(*m)).second) continue;
    std::vector<std::vector<uint8_t>> got;
    run(*m, got);
    if (HasFatalFailure()) return;
    if (!addsInAnotherOrder(name)) {
      EXPECT_TRUE(got == expected) << "another result after " << name;
      continue;
    }
    for (auto [i, a] : llvm::enumerate(d->args)) {
      if (a.isScalar || got[i] == expected[i]) continue;
      auto c = runtime::compareArrays(a.name, a.dtype, a.shape, runtime::withoutGaps(a, got[i]),
                                      runtime::withoutGaps(a, expected[i]), runtime::equalLimit(a.dtype));
      EXPECT_TRUE(c.ok) << "another result after " << name << ": " << c.line;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, PassesOnKernels, testing::ValuesIn(kernels()), [](auto &p) {
  std::string s = p.param;
  return (llvm::StringRef(s).contains("/tests/kernels/") ? "" : "shared_") + llvm::sys::path::filename(s).str();
});

// ---- golden tests ---------------------------------------------------------------------------------------------------

/// Stores what the function returns to new arguments, so that it can be seen.
void storeResults(Module &m, Operation *func) {
  auto f = func->cast<tt::FuncOp>();
  auto type = f.functionType().cast<FunctionType>();
  auto &c = m.context();
  if (!type.numResults()) return;
  llvm::SmallVector<Type, 8> inputs;
  for (unsigned i = 0; i < type.numInputs(); ++i) inputs.push_back(type.input(i));
  Block *entry = f.body().front();
  llvm::SmallVector<Value, 4> out;
  for (unsigned i = 0; i < type.numResults(); ++i) {
    Type t = type.result(i).scalar();
    Type memory = t.isPointer() || t.isIndex() ? c.i64() : t.isInteger(1) ? c.i8() : t;
    inputs.push_back(PointerType::get(memory));
    out.push_back(entry->addArg(inputs.back()));
  }
  for (auto *b = entry; b; b = b->next()) {
    auto *ret = b->terminator();
    if (!ret || !ret->is<tt::ReturnOp>()) continue;
    Builder at(ret);
    for (unsigned i = 0; i < type.numResults(); ++i) {
      Value v = ret->operand(i), p = out[i];
      Type scalar = v.type().scalar();
      Location loc;
      if (scalar.isInteger(1)) v = arith::ExtuiOp::create(at, loc, v.type().withScalar(c.i8()), v).op->result();
      if (scalar.isPointer()) v = tt::PtrToIntOp::create(at, loc, v.type().withScalar(c.i64()), v).op->result();
      if (scalar.isIndex()) v = arith::IndexCastOp::create(at, loc, v.type().withScalar(c.i64()), v).op->result();
      if (auto t = v.type().dyn_cast<TensorType>()) {
        int64_t n = t.numElements();
        Value range = tt::MakeRangeOp::create(at, loc, TensorType::get({n}, c.i32()),
                                              {at.i32Attr("end", n), at.i32Attr("start", 0)})
                          .op->result();
        if (t.rank() != 1)
          range = tt::ReshapeOp::create(at, loc, TensorType::get(t.shape(), c.i32()), range).op->result();
        p = tt::SplatOp::create(at, loc, t.withElement(p.type()), p).op->result();
        p = tt::AddptrOp::create(at, loc, p, range).op->result();
      }
      tt::StoreOp::create(at, loc, p, v, {});
    }
    ret->setOperands({});
  }
  func->setAttr("function_type", TypeAttr::get(FunctionType::get(c, inputs, {})));
  func->removeAttr("arg_attrs");
  func->removeAttr("res_attrs");
}

struct Inputs {
  std::vector<std::vector<uint8_t>> memory;
  std::vector<runtime::InterpreterBuffer> buffers;
  std::vector<runtime::InterpreterArg> args;
};
/// Buffers of small numbers, and scalars that depend on the round. False: an argument of another kind.
bool makeInputs(Operation *func, int round, Inputs &in) {
  auto type = func->cast<tt::FuncOp>().functionType().cast<FunctionType>();
  static const int64_t kNumbers[] = {0, 1, 2, 3, 5, 16, 33, 64, -1, -7};
  for (unsigned i = 0; i < type.numInputs(); ++i) {
    Type t = type.input(i);
    if (auto p = t.dyn_cast<PointerType>(); p && !p.pointee().isTensor()) {
      unsigned bytes = std::max(1u, p.pointee().bitWidth() / 8), n = 1 << 14;
      in.memory.emplace_back(size_t(bytes) * n);
      uint64_t numbers[61];
      for (int k = 0; k < 61; ++k) {
        numbers[k] = p.pointee().isInteger(1) ? k % 3 == 0 : k;
        if (auto f = p.pointee().dyn_cast<FloatType>()) {
          llvm::APFloat v((k - 20) / 8.0);
          bool lost;
          v.convert(f.semantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
          numbers[k] = v.bitcastToAPInt().getZExtValue();
        }
      }
      for (unsigned k = 0; k < n; ++k)
        std::memcpy(in.memory.back().data() + size_t(k) * bytes, &numbers[(k * 7 + i + round) % 61], bytes);
      in.args.push_back({int(in.memory.size()) - 1, 0});
    } else if (t.isIntOrIndex() && t.bitWidth() <= 64) {
      in.args.push_back(
          {-1, llvm::APInt(t.bitWidth(), kNumbers[(round * (i + 1) + i) % 10], true, true).getZExtValue()});
    } else if (t.isFloat()) {
      llvm::APFloat v(round * 0.75 - 2 * i);
      bool lost;
      v.convert(t.cast<FloatType>().semantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
      in.args.push_back({-1, v.bitcastToAPInt().getZExtValue()});
    } else
      return false;
  }
  for (auto &m : in.memory) in.buffers.push_back({"b" + std::to_string(in.buffers.size()), m.data(), m.size()});
  return true;
}

/// Descriptors and block pointers are no arguments that can be made up here, and tensors are none of kernels.
bool canRun(Operation *func) {
  auto f = func->dyn<tt::FuncOp>();
  if (!f || f.body().empty() || f.symVisibility() == "private") return false;
  auto type = f.functionType().cast<FunctionType>();
  for (unsigned i = 0; i < type.numResults(); ++i)
    if (Type t = type.result(i).scalar();
        (t.isPointer() && t.cast<PointerType>().pointee().isTensor()) || t.kind() == TypeKind::TensorDesc)
      return false;
  Inputs in;
  return makeInputs(func, 0, in);
}

class PassesOnGoldens : public testing::TestWithParam<std::string> {};

TEST_P(PassesOnGoldens, KeepEveryByte) {
  auto text = llvm::MemoryBuffer::getFile(GetParam());
  ASSERT_TRUE(bool(text));
  int ran = 0, functions = 0;
  for (auto section : frontend::splitSections((*text)->getBuffer())) {
    Context context;
    std::string messages;
    DiagnosticEngine diag([&](const Diagnostic &x) { messages += render(x); });
    frontend::ParseOptions parse;
    parse.allowUnregistered = true;
    auto m = frontend::parseModule(section, GetParam(), context, diag, parse);
    if (!m) continue; // expects an error
    std::vector<std::string> names;
    for (auto &op : *m->body())
      if (canRun(&op)) names.push_back(op.cast<tt::FuncOp>().symName().str());
    for (auto &n : names) storeResults(*m, m->lookupSymbol(n));
    ASSERT_TRUE(verify(*m, diag)) << messages;
    // What each function computes before any pass; nothing where it faults.
    const int kRounds = 6;
    runtime::InterpreterOptions io;
    io.maxIterations = 100000;
    io.maxSteps = 1000000;
    std::vector<std::vector<std::optional<Inputs>>> before(names.size());
    for (size_t k = 0; k < names.size(); ++k)
      for (int round = 0; round < kRounds; ++round) {
        auto &in = before[k].emplace_back(std::in_place);
        makeInputs(m->lookupSymbol(names[k]), round, *in);
        if (!runtime::interpret(*m, m->lookupSymbol(names[k]), {2, 1, 1}, in->buffers, in->args, io, diag).ok())
          in.reset();
        else
          ++ran;
      }
    functions += names.size();
    std::set<std::string> seen{printToString(*m)};
    for (auto &[passName, p] : pipelines()) {
      auto after = m->clone();
      transforms::RunOptions o;
      o.verifyEach = true;
      messages.clear();
      if (!transforms::runPipeline(*after, p, o, diag).ok()) {
        ASSERT_TRUE((*text)->getBuffer().contains("expected-error")) << passName << ": " << messages;
        continue;
      }
      if (!seen.insert(printToString(*after)).second) continue;
      for (size_t k = 0; k < names.size(); ++k)
        for (int round = 0; round < kRounds; ++round) {
          if (!before[k][round]) continue;
          Inputs in;
          makeInputs(after->lookupSymbol(names[k]), round, in);
          auto s = runtime::interpret(*after, after->lookupSymbol(names[k]), {2, 1, 1}, in.buffers, in.args, io, diag);
          ASSERT_TRUE(s.ok()) << names[k] << ", round " << round << ": " << s << "\n"
                              << messages << printToString(*after);
          ASSERT_TRUE(in.memory == before[k][round]->memory)
              << "@" << names[k] << " in " << GetParam() << " computes another thing after " << passName << ", round "
              << round << "\n"
              << printToString(*m) << printToString(*after);
        }
    }
  }
  if (functions && !(*text)->getBuffer().contains("expected-error"))
    EXPECT_GT(ran, 0) << "every input faults before any pass";
}
std::vector<std::string> goldens() {
  auto out = filesIn(TESSERA_SOURCE_DIR "/tests/golden/ttir", ".mlir");
  for (auto &f : filesIn(TESSERA_SOURCE_DIR "/tests/golden/ttir/inputs", ".mlir")) out.push_back(f);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, PassesOnGoldens, testing::ValuesIn(goldens()), [](auto &p) {
  std::string s =
      (llvm::StringRef(p.param).contains("/inputs/") ? "frontend_" : "") + llvm::sys::path::stem(p.param).str();
  std::replace_if(s.begin(), s.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return s;
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PassesOnGoldens);

} // namespace
} // namespace tessera
