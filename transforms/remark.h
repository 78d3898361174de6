// Remarks: what passes say of the code that they made, or could not make, for `--remarks`. A remark names the
// operation's place in the user's source, what was done or why it was not, and the facts as data for tools.
#pragma once
#include "ir/location.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace tessera::transforms {

struct Remark {
  /// Done, not done though it might have been, or just found.
  enum Kind : uint8_t { Applied, Missed, Analysis } kind = Analysis;
  std::string pass; // that says it; filled by who calls the pass
  std::string name; // "LoopPipelined", "DotInstruction", …: what it is about, for filters
  ir::Location loc;
  std::string message;
  llvm::json::Object facts; // bytes, stages, instruction, …
};

/// "applied", "missed", "analysis".
llvm::StringRef remarkKindName(Remark::Kind);
/// `file:line:column: remark: message [pass:name]`.
std::string toText(const Remark &);
llvm::json::Value toJson(const Remark &);

} // namespace tessera::transforms
