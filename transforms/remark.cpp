// Remarks as text and JSON (see remark.h).
#include "transforms/remark.h"
#include "ir/diagnostic.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {

llvm::StringRef remarkKindName(Remark::Kind k) {
  switch (k) {
  case Remark::Applied: return "applied";
  case Remark::Missed: return "missed";
  case Remark::Analysis: return "analysis";
  }
  return "";
}

std::string toText(const Remark &r) {
  return llvm::formatv("{0}: remark: {1} [{2}:{3}]", ir::describe(r.loc), r.message, r.pass, r.name).str();
}

llvm::json::Value toJson(const Remark &r) {
  return llvm::json::Object{{"kind", remarkKindName(r.kind)},
                            {"pass", r.pass},
                            {"name", r.name},
                            {"location", llvm::json::fixUTF8(ir::describe(r.loc))}, // names in the IR may be any bytes
                            {"message", llvm::json::fixUTF8(r.message)},
                            {"facts", llvm::json::Object(r.facts)}};
}

} // namespace tessera::transforms
