// Finds the pass that breaks a kernel: evaluates the kernel on the interpreter before the first pass and after every
// pass, on the data of a launch description, and remembers the first pass after which the IR is invalid, an output
// differs, or the interpreter refuses the kernel. Floats may differ by the description's limit for the output (1e-5
// where it says nothing), since passes may reassociate; integers may not.
#pragma once
#include "runtime/launch/launch_description.h"
#include "runtime/launcher.h"
#include "transforms/pass.h"
#include <string>
#include <vector>

namespace tessera::runtime {

class PassChecker {
public:
  explicit PassChecker(LaunchDescription d) : description_(std::move(d)) {}
  /// Evaluates the kernel as it is; an error is about the description or the kernel.
  absl::Status start(ir::Module &);
  /// Verifies and evaluates it after a pass; does nothing once a pass was found.
  void after(llvm::StringRef pass, ir::Module &);
  /// The first pass that broke the kernel, and how; empty: none did.
  const std::string &finding() const { return finding_; }
  unsigned passes() const { return passes_; }

private:
  absl::Status evaluate(ir::Module &, std::vector<std::vector<uint8_t>> &outputs);

  LaunchDescription description_;
  std::vector<std::vector<uint8_t>> expected_;
  std::string finding_;
  unsigned passes_ = 0;
};

} // namespace tessera::runtime
