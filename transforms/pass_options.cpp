// Options of passes as text (see pass_options.h).
#include "transforms/pass_options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::transforms {

std::string OptionRange::str() const {
  switch (kind) {
  case Integer: return least == INT64_MIN ? "" : llvm::formatv("at least {0}", least).str();
  case PowerOfTwo: return llvm::formatv("a power of two up to {0}", most);
  case OneOf: {
    std::string list = std::to_string(numbers.front());
    for (int64_t n : numbers.drop_front()) list += (n == numbers.back() ? " or " : ", ") + std::to_string(n);
    return list;
  }
  case Text: return mustBe.str();
  }
  return "";
}

absl::Status OptionRange::read(llvm::StringRef option, llvm::StringRef text, OptionValue &value) const {
  auto error = [&](const std::string &range, const llvm::Twine &given) {
    return absl::InvalidArgumentError("'" + option.str() + "' must be " + range + ", not " + given.str());
  };
  if (kind == Text) {
    if (accepts && !accepts(text)) return error(str(), "'" + text + "'");
    value = text.str();
    return absl::OkStatus();
  }
  int64_t number;
  if (text.getAsInteger(10, number)) return error("an integer", "'" + text + "'");
  bool isAccepted = number >= least && number <= most;
  if (kind == PowerOfTwo) isAccepted &= llvm::isPowerOf2_64(number);
  if (kind == OneOf) isAccepted &= llvm::is_contained(numbers, number);
  if (!isAccepted) return error(str(), llvm::Twine(number));
  value = number;
  return absl::OkStatus();
}

std::string PassOption::spelling() const { return name.str() + (range.kind == OptionRange::Text ? "=NAME" : "=N"); }

static std::string toText(const OptionValue &value) {
  if (const auto *number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto *text = std::get_if<std::string>(&value)) return *text;
  return "";
}

std::string PassOption::defaultValue() const {
  return defaultText.empty() ? toText(get(std::any())) : defaultText.str();
}

std::string writeOptions(llvm::ArrayRef<PassOption> descriptors, const std::any &options) {
  std::string written;
  if (!options.has_value()) return written;
  for (auto &option : descriptors) {
    std::string value = toText(option.get(options));
    if (value.empty()) continue;
    if (!written.empty()) written += " ";
    written += option.name.str() + "=" + value;
  }
  return written;
}

} // namespace tessera::transforms
