// JSON documents that people write, read with located errors: every complaint names the file, line and column, and the
// place inside the document (`args[2].shape[0]`). All complaints are gathered, not the first alone.
//
// Syntax is LLVM's JSON parser's. Three things are checked before and after it that it does not: nesting deeper than
// 100 (it recurses), a key that stands twice in an object (it keeps one of them silently), and how numbers are written.
//
//   JsonReader reader(text, "launch.json");
//   JsonNode root = reader.root();
//   root.allowKeys({"grid", …});
//   auto warps = root.get("num_warps").integer(1, 64);
//   if (!reader.status().ok()) return reader.status();
#pragma once
#include "absl/status/status.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::runtime {

class JsonReader;

/// A value at a place of the document, or the absence of one. The readers of a kind (string(), integer(), …) report an
/// error and give nothing if the value is absent or of another kind.
class JsonNode {
public:
  bool present() const { return value_; }
  bool isObject() const { return value_ && value_->kind() == llvm::json::Value::Object; }
  bool isArray() const { return value_ && value_->kind() == llvm::json::Value::Array; }
  bool isString() const { return value_ && value_->kind() == llvm::json::Value::String; }
  bool isNumber() const { return value_ && value_->kind() == llvm::json::Value::Number; }
  bool isBoolean() const { return value_ && value_->kind() == llvm::json::Value::Boolean; }
  bool isNull() const { return value_ && value_->kind() == llvm::json::Value::Null; }
  const std::string &path() const { return path_; }
  /// Line and column in the text, from 1; 0 if it does not stand there.
  std::pair<unsigned, unsigned> position() const;
  const llvm::json::Value &value() const { return *value_; } // @pre present()

  /// A member of an object; absent if there is none (or this is no object: no error here).
  JsonNode get(llvm::StringRef key) const;
  /// Members in the order of the text. An error if this is no object.
  std::vector<std::pair<std::string, JsonNode>> members() const;
  /// An error if this is no list.
  std::vector<JsonNode> elements() const;
  std::optional<std::string> string() const;
  std::optional<bool> boolean() const;
  /// A finite number.
  std::optional<double> number() const;
  /// A whole number in [lo, hi]; `allowed` says in words which those are.
  std::optional<int64_t> integer(int64_t lo, int64_t hi, llvm::StringRef allowed = "") const;
  /// A whole number of up to 64 bits, signed or unsigned; its bits.
  std::optional<uint64_t> bits64() const;

  /// Errors for members whose key is in neither list, naming the nearest of the first.
  void allowKeys(llvm::ArrayRef<llvm::StringRef> known, llvm::ArrayRef<llvm::StringRef> extra = {}) const;
  void error(const llvm::Twine &what) const;

private:
  friend class JsonReader;
  JsonNode(JsonReader &reader, const llvm::json::Value *value, std::string path)
      : reader_(&reader), value_(value), path_(std::move(path)) {}
  std::nullopt_t wrongKind(llvm::StringRef wanted) const;

  JsonReader *reader_;
  const llvm::json::Value *value_;
  std::string path_;
};

class JsonReader {
public:
  /// Parses at once; a syntax error shows in status(), and the root is then absent.
  JsonReader(llvm::StringRef text, llvm::StringRef fileName);
  JsonReader(const JsonReader &) = delete;
  JsonNode root() { return {*this, value_ ? &*value_ : nullptr, ""}; }

  /// An error at a place of the document; at the nearest enclosing one if that does not stand in the text.
  void error(llvm::StringRef path, const llvm::Twine &what);
  /// Ok, or InvalidArgument with all errors in the order of the text, one per line: `FILE:LINE:COL: PATH: what`.
  absl::Status status() const;

private:
  friend class JsonNode;
  friend class JsonOutline;
  struct Position {
    unsigned line, column;
    size_t order; // of the value in the text
  };
  struct Error {
    Position at;
    std::string text;
  };
  std::string file_;
  std::optional<llvm::json::Value> value_;
  llvm::StringMap<Position> positions_; // by path
  std::vector<Error> errors_;
};

/// `did you mean "grid"?` for the nearest of the names, or the list of them all if none is near.
std::string suggestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);

} // namespace tessera::runtime
