// See comparison.h.
#include "comparison.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/compiler/targets.h"
#include "runtime/emulator/emulator.h"
#include "runtime/float_formats.h"
#include "runtime/interpreter/interpreter.h"
#include "runtime/kernel_arguments.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>
#include <random>

namespace tessera::random {

namespace {

struct Buffers {
  static constexpr const char *kNames[] = {"x", "b", "h", "g", "f", "e", "d", "y", "z", "o0", "o1", "o2", "o3", "o4"};
  static constexpr int kCount = int(kPointers), kY = 7, kZ = 8;
  std::vector<uint8_t> data[kCount];
  Buffers(const Kernel &kernel, unsigned seed) {
    std::mt19937 random(seed ^ 0x5eed);
    unsigned bytes[] = {4, 1, 2, 2, 4, 1, 1};
    for (int k = 0; k < kY; ++k) data[k].resize(kInputs * bytes[k]);
    for (unsigned i = 0; i < kInputs; ++i) {
      uint32_t v = uint32_t(random());
      if (random() & 1) v &= 0xff;
      memcpy(&data[0][i * 4], &v, 4);
      int small = int(random() % (2 * kSmall + 1)) - kSmall;
      data[1][i] = uint8_t(small);
      uint16_t h = uint16_t(runtime::encodeFloat(ir::FloatKind::F16, small)),
               g = uint16_t(runtime::encodeFloat(ir::FloatKind::BF16, small));
      float f = float(small);
      memcpy(&data[2][i * 2], &h, 2), memcpy(&data[3][i * 2], &g, 2), memcpy(&data[4][i * 4], &f, 4);
      data[5][i] = uint8_t(runtime::encodeFloat(ir::FloatKind::F8E4M3FN, small)),
      data[6][i] = uint8_t(runtime::encodeFloat(ir::FloatKind::F8E5M2, small));
    }
    data[kY].resize(kOutputBytes), data[kZ].resize(kAtomicBytes);
    for (int k = kZ + 1; k < kCount; ++k) data[k].resize(kernel.large ? kOtherOutputBytes : 16);
    for (auto &p : kernel.more)
      if (p.kind != Kernel::Parameter::Scalar) addTensor(p, random);
  }
  /// Floats are small whole numbers; between rows and before the tensor there are others.
  void addTensor(const Kernel::Parameter &p, std::mt19937 &random) {
    std::vector<uint8_t> bytes(p.value);
    size_t width = runtime::dtypeBytes(p.memory.dtype);
    for (size_t k = 0; k + width <= bytes.size(); k += width) {
      uint64_t bits = random();
      if (width == 8) bits = bits << 32 | random();
      if (runtime::isFloat(p.memory.dtype))
        runtime::fromDouble(p.memory.dtype, double(int(bits % (2 * kSmall + 1)) - kSmall), &bytes[k]);
      else
        memcpy(&bytes[k], &bits, width);
    }
    tensors.push_back(std::move(bytes));
  }
  std::vector<std::vector<uint8_t>> tensors; // of the parameters that have one

  /// Calls back with name and contents of every buffer.
  template <class F> void each(F f) {
    for (int k = 0; k < kCount; ++k) f(kNames[k], data[k]);
    for (size_t k = 0; k < tensors.size(); ++k) f("t" + std::to_string(k), tensors[k]);
  }
};

/// All that a kernel stored.
std::vector<uint8_t> stored(const Buffers &b) {
  std::vector<uint8_t> all = b.data[Buffers::kY];
  for (int k = Buffers::kZ + 1; k < Buffers::kCount; ++k) all.insert(all.end(), b.data[k].begin(), b.data[k].end());
  for (auto &t : b.tensors) {
    all.insert(all.end(), t.begin(), t.end());
    all.resize((all.size() + 3) / 4 * 4);
  }
  return all;
}

std::string difference(const char *name, const std::vector<uint8_t> &want, const std::vector<uint8_t> &got) {
  if (want == got) return "";
  size_t count = 0, first = want.size();
  for (size_t k = 0; k + 4 <= want.size(); k += 4)
    if (memcmp(&want[k], &got[k], 4)) {
      first = std::min(first, k);
      ++count;
    }
  uint32_t a, b;
  memcpy(&a, &want[first], 4), memcpy(&b, &got[first], 4);
  return llvm::formatv("{0} words of '{1}' differ, the first at byte {2}: {3:x8} is right, not {4:x8}", count, name,
                       first, a, b);
}

/// What the compiled code takes: tensor maps, or the descriptors' parts.
absl::StatusOr<std::vector<emulator::Argument>> argumentsOf(const Kernel &k, const runtime::KernelMetadata &md) {
  std::vector<emulator::Argument> given;
  std::vector<const runtime::HostDescriptor *> descriptors(Buffers::kCount);
  llvm::SmallVector<bool> isDescriptor(Buffers::kCount, false);
  for (int i = 0; i < Buffers::kCount; ++i) given.push_back({i, k.starts[unsigned(i)]});
  int tensor = Buffers::kCount;
  for (auto &p : k.more) {
    bool isScalar = p.kind == Kernel::Parameter::Scalar;
    given.push_back(isScalar ? emulator::Argument{-1, p.value} : emulator::Argument{tensor++, p.at});
    isDescriptor.push_back(p.kind == Kernel::Parameter::Descriptor);
    descriptors.push_back(isDescriptor.back() ? &p.memory : nullptr);
  }
  auto sources = runtime::argumentSources(md.args, isDescriptor);
  if (!sources) return absl::InternalError("the arguments are not those of the compiled kernel");
  std::vector<emulator::Argument> out;
  for (auto [i, s] : llvm::enumerate(*sources)) {
    auto *d = descriptors[s.given];
    out.push_back(s.part ? emulator::Argument{-1, d->part(s.part)} : given[s.given]);
    if (!d || !md.args[i].tensorMap) continue;
    auto map = runtime::tensorMapOf(*d, *md.args[i].tensorMap);
    if (!map.ok()) return map.status();
    out.back().tensorMap = *map;
  }
  return out;
}

} // namespace

Outcome reference(const Kernel &k, unsigned seed, Results &out) {
  Buffers buffers(k, seed);
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
  auto m = frontend::parseModule(k.text, "random", context, diag);
  if (!m) return {Outcome::Broken, "the text: " + messages};
  auto kernel = runtime::selectKernel(*m, "k");
  if (!kernel.ok()) return {Outcome::Broken, kernel.status().ToString()};
  std::vector<runtime::InterpreterBuffer> memory;
  std::vector<runtime::InterpreterArg> args;
  buffers.each([&](const std::string &name, std::vector<uint8_t> &bytes) {
    memory.push_back({name, bytes.data(), bytes.size()});
  });
  for (int i = 0; i < Buffers::kCount; ++i) args.push_back({i, k.starts[unsigned(i)]});
  int tensor = Buffers::kCount;
  for (auto &p : k.more) switch (p.kind) {
    case Kernel::Parameter::Scalar: args.push_back({-1, p.value}); break;
    case Kernel::Parameter::Pointer: args.push_back({tensor++, p.at}); break;
    case Kernel::Parameter::Descriptor:
      args.push_back({tensor++, p.at, p.memory.shape, p.memory.strides, p.memory.nanPadding});
    }
  auto s = runtime::interpret(*m, *kernel, {k.programs, 1, 1}, memory, args, {}, diag);
  if (!s.ok()) return {Outcome::Broken, "the interpreter: " + s.ToString() + " " + messages};
  out.y = stored(buffers), out.z = std::move(buffers.data[Buffers::kZ]);
  return {};
}

Outcome compare(const Kernel &k, unsigned seed, const Results &expected, const ir::TargetInfo &target) {
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
  auto m = frontend::parseModule(k.text, "random", context, diag);
  if (!m) return {Outcome::Broken, "the text: " + messages};
  runtime::CompileOptions o;
  o.stage = runtime::Stage::Llir;
  o.bitcode = o.lineInfo = o.opNames = true;
  o.numWarps = k.numWarps;
  o.numStages = k.numStages;
  o.kernel = "k";
  unsigned strips = 0, prefetches = 0, producers = 0, fullBlocks = 0;
  o.passes.remarks = [&](const transforms::Remark &r) {
    strips += r.name == "StripMined", prefetches += r.name == "Prefetched";
    fullBlocks += r.name == "FullBlockVersions";
    producers += r.name == "LoopPipelined" && r.facts.getBoolean("producerWarp").value_or(false);
  };
  auto r = runtime::compile(*m, target, o, diag);
  if (!r.ok()) {
    std::string what = std::string(r.status().message()) + messages;
    bool refused = what.find("shared memory") != std::string::npos || what.find("has no lowering") != std::string::npos;
    return {refused ? Outcome::Refused : Outcome::Broken, what};
  }
  llvm::LLVMContext llvmContext;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(r->output, "kernel"), llvmContext);
  if (!module) return {Outcome::Broken, llvm::toString(module.takeError())};
  Buffers buffers(k, seed);
  std::vector<emulator::Buffer> memory;
  buffers.each([&](const std::string &name, std::vector<uint8_t> &bytes) {
    memory.push_back({name, bytes.data(), bytes.size()});
  });
  auto args = argumentsOf(k, r->metadata);
  if (!args.ok()) return {Outcome::Broken, args.status().ToString()};
  emulator::Options options;
  options.numWarps = r->metadata.warpsPerBlock();
  options.dynamicSharedBytes = r->metadata.dynamicSharedBytes;
  options.globalScratchBytes = r->metadata.globalScratchBytes;
  options.globalScratchAlign = r->metadata.globalScratchAlign;
  options.maxInstructions = uint64_t(1) << 28;
  auto report = emulator::emulate(**module, "k", target, {k.programs, 1, 1}, memory, *args, options);
  if (!report.ok()) return {Outcome::Reported, report.status().ToString()};
  std::string y = difference("y", expected.y, stored(buffers)),
              z = difference("z", expected.z, buffers.data[Buffers::kZ]);
  if (y.empty() && z.empty()) return {Outcome::Same, "", strips, prefetches, producers, fullBlocks};
  return {Outcome::Different, y + (y.empty() || z.empty() ? "" : "; ") + z};
}

Level levelOf(unsigned seed) {
  if (seed % 3 == 0) return Level::Ttgir;
  if (seed % 6 == 1) return Level::Descriptors;
  return seed % 12 == 5 ? Level::Ragged : Level::Ttir;
}

const ir::TargetInfo *targetOf(unsigned seed, ir::Vendor vendor) {
  std::vector<const ir::TargetInfo *> of;
  for (auto *t : runtime::allTargets())
    if (t->info.vendor == vendor) of.push_back(&t->info);
  return of[std::mt19937(seed)() % of.size()];
}

} // namespace tessera::random
