// JSON with located errors (see json_reader.h). LLVM's parser gives values without positions; JsonOutline walks the
// text once more, known to be well-formed by then, and notes where each value stands.
#include "runtime/launch/json_reader.h"
#include "ir/nearest_name.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace tessera::runtime {

namespace {
constexpr unsigned kMaxDepth = 100;
constexpr size_t kMaxErrors = 20;

std::string memberPath(llvm::StringRef path, llvm::StringRef key) {
  bool plain = !key.empty() && !llvm::isDigit(key.front()) &&
               llvm::all_of(key, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  std::string out = path.str();
  if (plain) return out.empty() ? key.str() : out + "." + key.str();
  llvm::raw_string_ostream s(out);
  s << "[\"";
  s.write_escaped(key);
  s << "\"]";
  return out;
}
/// Whether the text is a number of JSON: LLVM's parser takes what strtod does, of these characters (`04`, `+4`, `1.`).
bool isJsonNumber(llvm::StringRef text) {
  auto digits = [&] {
    llvm::StringRef run = text.take_while(llvm::isDigit);
    text = text.drop_front(run.size());
    return run;
  };
  text.consume_front("-");
  llvm::StringRef whole = digits();
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return false;
  if (text.consume_front(".") && digits().empty()) return false;
  if (text.consume_front_insensitive("e")) {
    if (!text.consume_front("+")) text.consume_front("-");
    if (digits().empty()) return false;
  }
  return text.empty();
}
std::string elementPath(llvm::StringRef path, size_t i) { return (path + "[" + llvm::Twine(i) + "]").str(); }
} // namespace

/// The walk over the text.
class JsonOutline {
public:
  JsonOutline(JsonReader &reader, llvm::StringRef text) : reader_(reader), text_(text) {}

  /// The line and column where nesting goes too deep, if it does. Needs no well-formed text.
  static std::optional<std::pair<unsigned, unsigned>> tooDeep(llvm::StringRef text) {
    unsigned depth = 0, line = 1, column = 0;
    bool inString = false;
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      ++column;
      if (c == '\n') ++line, column = 0;
      if (inString) {
        if (c == '\\')
          ++i, ++column;
        else if (c == '"')
          inString = false;
      } else if (c == '"')
        inString = true;
      else if (c == '[' || c == '{') {
        if (++depth > kMaxDepth) return std::pair(line, column);
      } else if ((c == ']' || c == '}') && depth)
        --depth;
    }
    return std::nullopt;
  }

  /// @pre the text is well-formed JSON
  void value(const std::string &path) {
    space();
    reader_.positions_.try_emplace(path, JsonReader::Position{line_, unsigned(at_ - lineStart_ + 1), order_++});
    char c = peek();
    if (c == '{')
      object(path);
    else if (c == '[')
      array(path);
    else if (c == '"')
      string();
    else
      word();
  }

private:
  char peek() const { return at_ < text_.size() ? text_[at_] : 0; }
  void space() {
    for (; at_ < text_.size() && llvm::isSpace(text_[at_]); ++at_)
      if (text_[at_] == '\n') ++line_, lineStart_ = at_ + 1;
  }
  bool accept(char c) {
    space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  /// A number, true, false or null.
  void word() {
    JsonReader::Position here{line_, unsigned(at_ - lineStart_ + 1), order_++};
    llvm::StringRef text =
        text_.drop_front(at_).take_until([](char c) { return llvm::StringRef(",]} \t\r\n").contains(c); });
    at_ += text.size();
    bool isNumber = !text.empty() && !llvm::isAlpha(text.front());
    if (isNumber && !isJsonNumber(text))
      reader_.errors_.push_back(
          {here, ("syntax error: '" + text.take_front(40) + "' is no number of JSON, such as 4, -1.5 or 1e-3").str()});
  }
  std::string string() {
    size_t from = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    auto parsed = llvm::json::parse(text_.slice(from, at_));
    if (!parsed) {
      llvm::consumeError(parsed.takeError());
      return "";
    }
    return parsed->getAsString().value_or("").str();
  }
  void object(const std::string &path) {
    accept('{');
    llvm::StringMap<bool> seen;
    while (!accept('}') && at_ < text_.size()) {
      space();
      JsonReader::Position here{line_, unsigned(at_ - lineStart_ + 1), order_++};
      std::string key = string(), inner = memberPath(path, key);
      if (!seen.try_emplace(key, true).second)
        reader_.errors_.push_back({here, inner + ": the key stands twice in its object"});
      accept(':');
      value(inner);
      accept(',');
    }
  }
  void array(const std::string &path) {
    accept('[');
    for (size_t i = 0; !accept(']') && at_ < text_.size(); ++i) {
      value(elementPath(path, i));
      accept(',');
    }
  }

  JsonReader &reader_;
  llvm::StringRef text_;
  size_t at_ = 0, lineStart_ = 0, order_ = 0;
  unsigned line_ = 1;
};

JsonReader::JsonReader(llvm::StringRef text, llvm::StringRef fileName) : file_(fileName.str()) {
  text.consume_front("\xEF\xBB\xBF"); // a byte order mark says nothing in UTF-8
  if (text.contains('\0')) {
    errors_.push_back({{1, 1, 0}, "this is not text: it has NUL bytes"});
    return;
  }
  if (auto deep = JsonOutline::tooDeep(text)) {
    errors_.push_back({{deep->first, deep->second, 0}, "nested more than 100 deep"});
    return;
  }
  auto parsed = llvm::json::parse(text);
  llvm::StringRef trimmed = text.trim();
  if (!parsed && !trimmed.starts_with("{") && !trimmed.starts_with("[")) { // a kernel's text, for example
    llvm::consumeError(parsed.takeError());
    errors_.push_back({{1, 1, 0}, "this is not JSON: a launch description is an object, {…} (docs/launch.md)"});
    return;
  }
  if (!parsed) {
    // LLVM's message is "[line:column, byte=n]: what", with the column of the last byte read.
    std::string message = llvm::toString(parsed.takeError());
    llvm::StringRef rest(message);
    unsigned line = 1, column = 1;
    if (rest.consume_front("[") && !rest.consumeInteger(10, line) && rest.consume_front(":"))
      rest.consumeInteger(10, column);
    llvm::StringRef what = rest.split("]: ").second;
    errors_.push_back({{line, std::max(column, 1u), 0}, "syntax error: " + (what.empty() ? message : what.str())});
    return;
  }
  value_ = std::move(*parsed);
  JsonOutline(*this, text).value("");
}

void JsonReader::error(llvm::StringRef path, const llvm::Twine &what) {
  Position at{1, 1, 0};
  for (llvm::StringRef p = path;; p = p.take_front(p.find_last_of(".["))) {
    if (auto it = positions_.find(p); it != positions_.end()) {
      at = it->second;
      break;
    }
    if (p.find_last_of(".[") == llvm::StringRef::npos) {
      if (auto root = positions_.find(""); root != positions_.end()) at = root->second;
      break;
    }
  }
  errors_.push_back({at, (path.empty() ? what : path + ": " + what).str()});
}

absl::Status JsonReader::status() const {
  if (errors_.empty()) return absl::OkStatus();
  std::vector<Error> sorted = errors_;
  llvm::stable_sort(sorted, [](const Error &a, const Error &b) { return a.at.order < b.at.order; });
  std::string all;
  for (size_t i = 0; i < sorted.size() && i < kMaxErrors; ++i) {
    const Error &e = sorted[i];
    all += llvm::formatv("{0}{1}:{2}:{3}: {4}", i ? "\n" : "", file_, e.at.line, e.at.column, e.text).str();
  }
  if (sorted.size() > kMaxErrors)
    all += llvm::formatv("\n{0}: and {1} more errors", file_, sorted.size() - kMaxErrors).str();
  return absl::InvalidArgumentError(all);
}

JsonNode JsonNode::get(llvm::StringRef key) const {
  auto *object = value_ ? value_->getAsObject() : nullptr;
  return {*reader_, object ? object->get(key) : nullptr, memberPath(path_, key)};
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
  std::vector<std::pair<std::string, JsonNode>> out;
  if (!isObject()) {
    wrongKind("an object");
    return out;
  }
  for (auto &entry : *value_->getAsObject()) {
    std::string key = llvm::StringRef(entry.first).str();
    out.push_back({key, JsonNode(*reader_, &entry.second, memberPath(path_, key))});
  }
  auto order = [&](const JsonNode &n) {
    auto it = reader_->positions_.find(n.path_);
    return it == reader_->positions_.end() ? 0 : it->second.order;
  };
  llvm::sort(out, [&](auto &a, auto &b) { return order(a.second) < order(b.second); });
  return out;
}

std::vector<JsonNode> JsonNode::elements() const {
  std::vector<JsonNode> out;
  if (!isArray()) {
    wrongKind("a list");
    return out;
  }
  const llvm::json::Array &array = *value_->getAsArray();
  for (size_t i = 0; i < array.size(); ++i) out.push_back(JsonNode(*reader_, &array[i], elementPath(path_, i)));
  return out;
}

std::nullopt_t JsonNode::wrongKind(llvm::StringRef wanted) const {
  if (!value_) {
    error("is missing");
    return std::nullopt;
  }
  const char *kind = "";
  switch (value_->kind()) {
  case llvm::json::Value::Null: kind = "null"; break;
  case llvm::json::Value::Boolean: kind = "a boolean"; break;
  case llvm::json::Value::Number: kind = "a number"; break;
  case llvm::json::Value::String: kind = "a string"; break;
  case llvm::json::Value::Array: kind = "a list"; break;
  case llvm::json::Value::Object: kind = "an object"; break;
  }
  error("must be " + wanted + ", not " + kind);
  return std::nullopt;
}

std::optional<std::string> JsonNode::string() const {
  if (!isString()) return wrongKind("a string");
  return value_->getAsString()->str();
}

std::optional<bool> JsonNode::boolean() const {
  if (!isBoolean()) return wrongKind("true or false");
  return value_->getAsBoolean();
}

std::optional<double> JsonNode::number() const {
  if (!isNumber()) return wrongKind("a number");
  double v = *value_->getAsNumber();
  if (std::isfinite(v)) return v;
  error("is too large for a number");
  return std::nullopt;
}

std::optional<int64_t> JsonNode::integer(int64_t lo, int64_t hi, llvm::StringRef allowed) const {
  if (!isNumber()) return wrongKind("an integer");
  if (auto i = value_->getAsInteger(); i && *i >= lo && *i <= hi) return i;
  double v = *value_->getAsNumber();
  if (std::isfinite(v) && v != std::trunc(v))
    error("must be an integer, not " + llvm::Twine(llvm::formatv("{0}", *value_).str()));
  else if (!allowed.empty())
    error(llvm::formatv("must be {0}, not {1}", allowed, *value_).str());
  else
    error(llvm::formatv("must be between {0} and {1}, not {2}", lo, hi, *value_).str());
  return std::nullopt;
}

std::optional<uint64_t> JsonNode::bits64() const {
  if (!isNumber()) return wrongKind("an integer");
  if (auto i = value_->getAsInteger()) return uint64_t(*i);
  if (auto u = value_->getAsUINT64()) return u;
  error(llvm::formatv("must be an integer of 64 bits, not {0}", *value_).str());
  return std::nullopt;
}

void JsonNode::allowKeys(llvm::ArrayRef<llvm::StringRef> known, llvm::ArrayRef<llvm::StringRef> extra) const {
  if (!isObject()) return;
  for (auto &[key, node] : members())
    if (!llvm::is_contained(known, key) && !llvm::is_contained(extra, key))
      node.error("unknown key; " + suggestName(key, known));
}

std::pair<unsigned, unsigned> JsonNode::position() const {
  auto it = reader_->positions_.find(path_);
  return it == reader_->positions_.end() ? std::pair(0u, 0u) : std::pair(it->second.line, it->second.column);
}

void JsonNode::error(const llvm::Twine &what) const { reader_->error(path_, what); }

std::string suggestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known) {
  unsigned edits = std::max<unsigned>(2, unsigned(name.size()) / 3);
  llvm::StringRef meant = ir::nearestName(name, known, edits + 1);
  if (!meant.empty()) return ("did you mean \"" + meant + "\"?").str();
  return "known: " + llvm::join(known, ", ");
}

} // namespace tessera::runtime
