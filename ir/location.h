// Source locations, as MLIR's textual form has them: unknown, file:line:col (with an optional end), name(child),
// callsite(callee at caller) and fused[...]. They are uniqued in the Context and compared by pointer; a null Location
// means "unknown". Passes carry them along so that diagnostics, remarks and line info reach the user's source.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tessera::ir {
class Context;

enum class LocationKind : uint8_t { Unknown, FileLineCol, Name, CallSite, Fused };

struct LocationStorage {
  LocationKind kind = LocationKind::Unknown;
  llvm::StringRef text;             // FileLineCol: the file's name; Name: the name; Fused: metadata as text
  unsigned line = 0, col = 0;       // FileLineCol, both as written (lines count from 1)
  unsigned endLine = 0, endCol = 0; // FileLineCol ranges; endCol == 0: a point
  llvm::ArrayRef<const LocationStorage *> parts; // Name: {child} or {}; CallSite: {callee, caller}; Fused: the parts
};

class Location {
public:
  Location() = default;
  explicit Location(const LocationStorage *s) : s_(s) {}

  LocationKind kind() const { return s_ ? s_->kind : LocationKind::Unknown; }
  bool isUnknown() const { return kind() == LocationKind::Unknown; }
  llvm::StringRef file() const { return s_->text; }
  llvm::StringRef name() const { return s_->text; }
  llvm::StringRef metadata() const { return s_->text; }
  unsigned line() const { return s_->line; }
  unsigned col() const { return s_->col; }
  unsigned endLine() const { return s_->endLine; }
  unsigned endCol() const { return s_->endCol; }
  unsigned numParts() const { return s_ ? s_->parts.size() : 0; }
  Location part(unsigned i) const { return Location(s_->parts[i]); }
  Location callee() const { return part(0); }
  Location caller() const { return part(1); }

  /// The innermost file position this location stands for (through names, the callee of call sites, the first of fused
  /// parts), or an unknown location where there is none.
  Location source() const;

  bool operator==(const Location &) const = default;
  const LocationStorage *storage() const { return s_; }

private:
  const LocationStorage *s_ = nullptr;
};

} // namespace tessera::ir
