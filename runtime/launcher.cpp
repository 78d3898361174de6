// From a launch description to a run (see launcher.h).
#include "runtime/launcher.h"
#include "ir/ops.h"
#include "runtime/launch_checks.h"
#include "llvm/Support/FormatVariadic.h"
#include <bit>

namespace tessera::runtime {

std::vector<LaunchValue> LaunchArguments::values() {
  std::vector<LaunchValue> out;
  for (size_t i = 0; i < buffers.size(); ++i) {
    LaunchValue v;
    if (scalarBytes[i]) {
      v.bits = scalars[i];
      v.bytes = scalarBytes[i];
    } else
      v.buffer = &buffers[i];
    out.push_back(v);
  }
  return out;
}

absl::StatusOr<LaunchArguments> prepareArguments(const LaunchDescription &d, ir::Operation *kernel) {
  auto *entry = kernel->region(0).front();
  auto name = kernel->cast<ir::tt::FuncOp>().symName();
  std::string errors;
  auto bad = [&](LaunchPlace at, const std::string &what) { errors += (errors.empty() ? "" : "\n") + d.at(at) + what; };
  if (entry->numArgs() != d.args.size())
    bad(d.argsPlace,
        wrongArgumentCount(name, entry->numArgs(), ("the description gives " + llvm::Twine(d.args.size())).str()));
  for (unsigned i = 0; i < d.args.size() && entry->numArgs() == d.args.size(); ++i) {
    auto t = entry->arg(i).type();
    auto &a = d.args[i];
    if (t.isPointer() == a.isScalar)
      bad(a.place, llvm::formatv("args[{0}] ('{1}') is a {2}, but the kernel takes {3}", i, a.name,
                                 a.isScalar ? "scalar" : "buffer", t.str())
                       .str());
    else if (a.isScalar && t.str() != a.scalarType)
      bad(a.place,
          llvm::formatv("args[{0}] ('{1}') has type {2}, but the kernel takes {3}", i, a.name, a.scalarType, t.str())
              .str());
  }
  if (!errors.empty()) return absl::InvalidArgumentError(errors);
  LaunchArguments out;
  for (unsigned i = 0; i < d.args.size(); ++i) {
    auto &a = d.args[i];
    out.buffers.emplace_back();
    out.scalars.push_back(0);
    out.scalarBytes.push_back(0);
    if (a.isScalar) {
      ScalarBits s = scalarBits(a);
      out.scalars.back() = s.bits;
      out.scalarBytes.back() = s.bytes;
      continue;
    }
    auto bytes = materialize(d, i);
    if (!bytes.ok()) return bytes.status();
    out.buffers.back() = std::move(*bytes);
  }
  return out;
}

absl::Status interpretLaunch(ir::Module &m, ir::Operation *kernel, const LaunchDescription &d, LaunchArguments &a,
                             const InterpreterOptions &o, ir::DiagnosticEngine &diag) {
  std::vector<InterpreterBuffer> memory;
  std::vector<InterpreterArg> args;
  for (unsigned i = 0; i < d.args.size(); ++i) {
    if (d.args[i].isScalar) {
      args.push_back({-1, a.scalars[i]});
      continue;
    }
    args.push_back({int(memory.size()), 0});
    memory.push_back({d.args[i].name, a.buffers[i].data(), a.buffers[i].size()});
  }
  return interpret(m, kernel, d.grid, memory, args, o, diag);
}

} // namespace tessera::runtime
