// Remarks: what passes say of the code that they made, or could not make, for `--remarks`. A remark names the
// operation's place in the user's source, what was done or why it was not, and the facts as data for tools.
#pragma once
#include "ir/location.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace tessera::ir {
class Operation;
}

namespace tessera::transforms {

/// What a remark is about: the place in the program, and, as a kernel may have its body twice, the version of it.
struct RemarkPlace {
  RemarkPlace() = default;
  RemarkPlace(ir::Location l) : loc(l) {} // of all versions
  RemarkPlace(const ir::Operation *);

  ir::Location loc;
  std::string version; // "aligned", "fast", "general" (transforms/ttir/kernel_versions.h); empty: of all
};

struct Remark {
  /// Done, not done though it might have been, or just found.
  enum Kind : uint8_t { Applied, Missed, Analysis } kind = Analysis;
  std::string pass; // that says it; filled by who calls the pass
  std::string name; // "LoopPipelined", "DotInstruction", …: what it is about, for filters
  RemarkPlace place;
  std::string message;
  llvm::json::Object facts; // bytes, stages, instruction, …
};

/// "applied", "missed", "analysis".
llvm::StringRef remarkKindName(Remark::Kind);
/// `message [pass:name]`, and ` (aligned version)` if it is about one.
std::string messageWithName(const Remark &);
/// `file:line:column: remark: `, and the message with its name.
std::string toText(const Remark &);
llvm::json::Value toJson(const Remark &);

} // namespace tessera::transforms
