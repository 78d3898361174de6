// Remarks as text and JSON (see remark.h).
#include "transforms/remark.h"
#include "ir/diagnostic.h"
#include "ir/operation.h"
#include "transforms/ttir/kernel_versions.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {

RemarkPlace::RemarkPlace(const ir::Operation *op) : loc(op->loc()), version(nameOfVersion(op)) {}

llvm::StringRef remarkKindName(Remark::Kind k) {
  switch (k) {
  case Remark::Applied: return "applied";
  case Remark::Missed: return "missed";
  case Remark::Analysis: return "analysis";
  }
  return "";
}

std::string messageWithName(const Remark &r) {
  std::string text = llvm::formatv("{0} [{1}:{2}]", r.message, r.pass, r.name);
  return r.place.version.empty() ? text : text + " (" + r.place.version + " version)";
}

std::string toText(const Remark &r) {
  return llvm::formatv("{0}: remark: {1}", ir::describe(r.place.loc), messageWithName(r)).str();
}

llvm::json::Value toJson(const Remark &r) {
  // Names in the IR may be any bytes.
  llvm::json::Object o{{"kind", remarkKindName(r.kind)},
                       {"pass", r.pass},
                       {"name", r.name},
                       {"location", llvm::json::fixUTF8(ir::describe(r.place.loc))},
                       {"message", llvm::json::fixUTF8(r.message)},
                       {"facts", llvm::json::Object(r.facts)}};
  if (!r.place.version.empty()) o["version"] = r.place.version;
  return o;
}

} // namespace tessera::transforms
