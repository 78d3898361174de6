// Which pass changes what a kernel computes (see check_passes.h).
#include "runtime/debug/check_passes.h"
#include "ir/verifier.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launch/check.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::runtime {

absl::Status PassChecker::evaluate(ir::Module &m, std::vector<std::vector<uint8_t>> &outputs) {
  auto kernel = selectKernel(m, description_.kernel);
  if (!kernel.ok()) return kernel.status();
  auto args = prepareArguments(description_, *kernel);
  if (!args.ok()) return args.status();
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += (messages.empty() ? "" : "; ") + d.message; });
  if (auto s = interpretLaunch(m, *kernel, description_, *args, {}, diag); !s.ok())
    return absl::Status(s.code(), messages.empty() ? std::string(s.message()) : messages);
  outputs = std::move(args->buffers);
  return absl::OkStatus();
}

/// The first error of the verifier with its place; empty: the IR is valid.
static std::string invalidity(ir::Module &m) {
  std::string first;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) {
    if (!first.empty() || d.severity != ir::Severity::Error) return;
    first = (d.loc.source().isUnknown() ? "" : ir::describe(d.loc) + ": ") + d.message;
  });
  return ir::verify(m, diag) ? "" : first;
}

absl::Status PassChecker::start(ir::Module &m) { return evaluate(m, expected_); }

void PassChecker::after(llvm::StringRef pass, ir::Module &m) {
  if (!finding_.empty()) return;
  ++passes_;
  if (std::string problem = invalidity(m); !problem.empty()) {
    finding_ = llvm::formatv("after pass {0}, '{1}', the IR is invalid: {2}", passes_, pass, problem);
    return;
  }
  std::vector<std::vector<uint8_t>> actual;
  if (auto s = evaluate(m, actual); !s.ok()) {
    finding_ = llvm::formatv("after pass {0}, '{1}', the kernel cannot be evaluated: {2}", passes_, pass,
                             std::string(s.message()));
    return;
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected_[i]) continue;
    double limit = isFloat(description_.args[i].dtype) ? 1e-5 : 0;
    for (auto &e : description_.expected)
      if (size_t(e.arg) == i) limit = e.relL2;
    auto &a = description_.args[i];
    CheckResult c =
        compareArrays(a.name, a.dtype, a.shape, withoutGaps(a, actual[i]), withoutGaps(a, expected_[i]), limit);
    if (c.ok) continue;
    finding_ = llvm::formatv("pass {0}, '{1}', changes what the kernel computes: {2}", passes_, pass, c.line);
    return;
  }
}

} // namespace tessera::runtime
