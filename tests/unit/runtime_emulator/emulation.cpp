// See emulation.h.
#include "emulation.h"
#include "frontend/parser.h"
#include "ir/attribute_names.h"
#include "ir/collect.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/kernel_arguments.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launch/check.h"
#include "runtime/launcher.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

namespace tessera::testing {
using namespace runtime;

namespace {

std::vector<uint8_t> fill(const Arg &a) {
  if (!a.contents.empty()) return a.contents;
  std::vector<uint8_t> b(a.bytes, uint8_t(a.kind == Arg::Bytes ? a.value : 0));
  if (a.kind == Arg::Counting)
    for (uint32_t k = 0; k < a.bytes / 4; ++k) memcpy(b.data() + 4 * k, &k, 4);
  return b;
}

/// The arguments beside their buffers.
struct Given {
  std::vector<uint64_t> scalars;
  std::vector<std::string> names;
  std::vector<std::optional<HostDescriptor>> descriptors;
  std::vector<uint64_t> offsets; // bytes before what an argument points at; may end early

  void add(const Arg &a) {
    scalars.push_back(a.value);
    names.push_back(std::string(1, char('a' + names.size())));
    descriptors.push_back(a.descriptor);
  }
  /// Descriptors become what the code takes.
  absl::StatusOr<std::vector<emulator::Argument>> ofCode(llvm::ArrayRef<emulator::Argument> arguments,
                                                         const KernelMetadata &md) const {
    llvm::SmallVector<bool> isDescriptor;
    for (auto &d : descriptors) isDescriptor.push_back(d.has_value());
    auto sources = argumentSources(md.args, isDescriptor);
    if (!sources) return absl::InvalidArgumentError("the arguments are not the kernel's");
    std::vector<emulator::Argument> out;
    for (auto [k, s] : llvm::enumerate(*sources)) {
      auto &d = descriptors[s.given];
      out.push_back(s.part ? emulator::Argument{-1, d->part(s.part)} : arguments[s.given]);
      if (!d || !md.args[k].tensorMap) continue;
      auto map = tensorMapOf(*d, *md.args[k].tensorMap);
      if (!map.ok()) return map.status();
      out.back().tensorMap = *map;
    }
    return out;
  }
};

/// `md`: null for modules written by hand.
absl::StatusOr<emulator::Report> emulate(Emulation &e, llvm::Module &m, const std::string &kernel, const Given &given,
                                         const KernelMetadata *md) {
  std::vector<emulator::Buffer> buffers;
  std::vector<emulator::Argument> arguments;
  for (size_t i = 0; i < e.buffers.size(); ++i) {
    if (e.buffers[i].empty()) {
      arguments.push_back({-1, given.scalars[i]});
      continue;
    }
    arguments.push_back({int(buffers.size()), i < given.offsets.size() ? given.offsets[i] : 0});
    auto undefined = e.undefined.find(i);
    buffers.push_back({given.names[i], e.buffers[i].data(), e.buffers[i].size(),
                       undefined == e.undefined.end() ? nullptr : undefined->second.data()});
  }
  if (md) {
    auto ofCode = given.ofCode(arguments, *md);
    if (!ofCode.ok()) return ofCode.status();
    arguments = *std::move(ofCode);
  }
  auto target = requireTarget(e.target);
  if (!target.ok()) return target.status();
  std::string broken;
  llvm::raw_string_ostream s(broken);
  if (llvm::verifyModule(m, &s)) return absl::InternalError("invalid module: " + broken);
  return emulator::emulate(m, kernel, **target, e.grid, buffers, arguments, e.options);
}

absl::StatusOr<emulator::Report> compileAndRun(Emulation &e, llvm::StringRef ir, const std::string &path,
                                               const std::string &kernel,
                                               llvm::function_ref<absl::Status(ir::Operation *)> prepare, Given &given,
                                               llvm::function_ref<void(llvm::Module &)> change) {
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
  auto m = frontend::parseModule(ir, path, context, diag);
  if (!m) return absl::InvalidArgumentError(messages);
  auto op = selectKernel(*m, kernel);
  if (!op.ok()) return op.status();
  if (auto s = prepare(*op); !s.ok()) return s;
  auto target = requireTarget(e.target);
  if (!target.ok()) return target.status();
  if (e.specializesWarps)
    for (auto loop : ir::collect<ir::scf::ForOp>(*op))
      if (loop->parentOp() == *op) loop->setAttr(ir::kWarpSpecializeAttr, ir::UnitAttr::get(context));
  CompileOptions o;
  o.stage = Stage::Llir;
  o.bitcode = o.lineInfo = o.opNames = true;
  o.numWarps = e.numWarps;
  o.exactNumWarps = e.exactNumWarps;
  o.numStages = e.numStages;
  o.kernel = kernel;
  auto r = compile(*m, **target, o, diag);
  if (!r.ok()) return absl::Status(r.status().code(), std::string(r.status().message()) + messages);
  e.options.numWarps = r->metadata.warpsPerBlock();
  e.options.dynamicSharedBytes = r->metadata.dynamicSharedBytes;
  e.options.globalScratchBytes = r->metadata.globalScratchBytes;
  e.options.globalScratchAlign = r->metadata.globalScratchAlign;
  llvm::LLVMContext llvmContext;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(r->output, "kernel"), llvmContext);
  if (!module) return absl::InternalError(llvm::toString(module.takeError()));
  if (change) change(**module);
  return emulate(e, **module, kernel, given, &r->metadata);
}

} // namespace

absl::StatusOr<emulator::Report> Emulation::text(llvm::StringRef ir, const std::string &kernel, std::vector<Arg> args,
                                                 llvm::function_ref<void(llvm::Module &)> change) {
  Given given;
  buffers.clear();
  for (auto &a : args) {
    buffers.push_back(fill(a));
    given.add(a);
  }
  return compileAndRun(
      *this, ir, "kernel.ttir", kernel, [](ir::Operation *) { return absl::OkStatus(); }, given, change);
}

absl::StatusOr<emulator::Report> Emulation::llvmModule(llvm::StringRef ir, std::vector<Arg> args) {
  Given given;
  buffers.clear();
  for (auto &a : args) {
    buffers.push_back(fill(a));
    given.add(a);
  }
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto m = llvm::parseAssemblyString(ir, error, context);
  if (!m) return absl::InvalidArgumentError(error.getMessage().str() + ": " + error.getLineContents().str());
  options.numWarps = numWarps;
  options.dynamicSharedBytes = sharedBytes;
  return emulate(*this, *m, "kernel", given, nullptr);
}

absl::StatusOr<emulator::Report> Emulation::launch(const std::string &folder,
                                                   llvm::function_ref<void(llvm::Module &)> change) {
  auto d = readLaunch(folder + "/launch.json");
  if (!d.ok()) return d.status();
  grid = d->grid;
  std::string path = d->resolve(d->ttir);
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) return absl::NotFoundError(path);
  Given given;
  auto report = compileAndRun(
      *this, (*file)->getBuffer(), path, d->kernel,
      [&](ir::Operation *kernel) -> absl::Status {
        auto args = prepareArguments(*d, kernel);
        if (!args.ok()) return args.status();
        buffers = std::move(args->buffers);
        given.scalars = std::move(args->scalars);
        given.descriptors = std::move(args->descriptors);
        given.offsets = std::move(args->offsets);
        for (auto &a : d->args) given.names.push_back(a.name);
        return absl::OkStatus();
      },
      given, change);
  if (!report.ok()) return report;
  for (auto &e : d->expected) {
    auto c = check(*d, e, buffers[e.arg]);
    if (!c.ok()) return c.status();
    if (!c->ok) return absl::DataLossError(c->line);
  }
  return report;
}

} // namespace tessera::testing
