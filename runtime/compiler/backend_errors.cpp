// Where the back end's failures are reported (see backend_errors.h). Its statuses have payloads that name a function or
// inline assembly of the module.
#include "runtime/compiler/backend_errors.h"
#include "codegen/object/backend.h"
#include "ir/device_function_name.h"
#include "ir/ops.h"
#include "transforms/analyses/register_pressure.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <string>
#include <vector>

namespace tessera::runtime {
using namespace ir;

/// Registers of 32 bits that the operation's results take in each thread, an element in each.
static int64_t registersOfResults(const Operation *op) {
  int64_t registers = 0;
  for (Value v : op->results()) {
    auto elements = transforms::elementsPerThread(v.type());
    if (elements) registers += transforms::registerBits(v.type().scalar(), *elements, 32) / 32;
  }
  return registers;
}

/// The values of a kernel neither fit into registers nor into the memory that a thread has beside them.
static absl::Status reportStackSize(const CompiledKernel &k, DiagnosticEngine &diag) {
  Operation *widest = nullptr;
  int64_t most = 0;
  k.module.op()->walk([&](Operation *op) {
    int64_t registers = registersOfResults(op);
    if (registers <= most) return;
    most = registers;
    widest = op;
  });
  Diagnostic d;
  d.loc = (widest ? widest : k.function)->loc();
  if (widest) d.snippet = widest->str();
  d.message =
      llvm::formatv("the tensors of the kernel take more memory than a thread has: this one takes {0} registers "
                    "in each thread, of {1} that exist; use more warps or smaller blocks",
                    most, k.target.maxRegistersPerThread)
          .str();
  diag.report(std::move(d));
  return absl::InvalidArgumentError("code generation failed");
}

absl::Status reportBackendError(const absl::Status &s, const CompiledKernel &k, DiagnosticEngine &diag) {
  if (!absl::IsInvalidArgument(s) && !absl::IsInternal(s)) return s;
  if (s.GetPayload(codegen::kStackSizePayload)) return reportStackSize(k, diag);
  auto function = s.GetPayload(codegen::kFunctionPayload);
  auto assembly = s.GetPayload(codegen::kInlineAssemblyPayload);
  Operation *culprit = nullptr;
  std::vector<Operation *> assemblies;
  k.module.op()->walk([&](Operation *op) {
    if (auto call = op->dyn<tt::ExternElementwiseOp>();
        call && function && !culprit && *function == deviceFunctionName(call))
      culprit = op;
    if (!op->is<tt::ElementwiseInlineAsmOp>()) return;
    if (assembly && std::to_string(assemblies.size()) == std::string(*assembly)) culprit = op;
    assemblies.push_back(op);
  });
  // Without one of these, an internal failure is a tool's or ours, not the program's.
  bool isProgramsFault = culprit || absl::IsInvalidArgument(s) || !assemblies.empty() ||
                         s.GetPayload(codegen::kAbandonModulePayload).has_value();
  if (!isProgramsFault) return s;
  Diagnostic d;
  d.loc = (culprit ? culprit : k.function)->loc();
  if (culprit) d.snippet = culprit->str();
  d.message = std::string(s.message());
  // ptxas names a line of the PTX only: any of the program's own assembly may be meant.
  constexpr size_t kNotes = 4;
  if (!culprit && absl::IsInternal(s))
    for (size_t i = 0; i < std::min(assemblies.size(), kNotes); ++i)
      d.note("the kernel has inline assembly here").loc = assemblies[i]->loc();
  diag.report(std::move(d));
  return absl::InvalidArgumentError("code generation failed");
}

} // namespace tessera::runtime
