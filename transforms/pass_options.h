// Options of passes. Inside the process an option is a field of the pass's options struct (transforms/passes.h),
// checked by the compiler. `tessera opt -PASS="key=value …"` and the C API write options as text: one descriptor per
// option says its name, its range, its default and what it does, and sets the field. Help, documentation and errors
// come from there.
#pragma once
#include "absl/status/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <any>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

namespace tessera::transforms {

/// The value of an option, apart from its struct; monostate: not given.
using OptionValue = std::variant<std::monostate, int64_t, std::string>;

/// The values that an option accepts; by default every integer.
struct OptionRange {
  enum Kind : uint8_t { Integer, PowerOfTwo, OneOf, Text } kind = Integer;
  int64_t least = INT64_MIN;
  int64_t most = INT64_MAX;
  bool (*accepts)(llvm::StringRef) = nullptr; // of a text; null: all
  llvm::StringRef mustBe = "";                // completes "'NAME' must be …" for a text
  llvm::ArrayRef<int64_t> numbers = {};       // of OneOf; not owned

  static OptionRange atLeast(int64_t least) { return {Integer, least, INT64_MAX, nullptr, ""}; }
  static OptionRange powerOfTwo(int64_t most) { return {PowerOfTwo, 1, most, nullptr, ""}; }
  /// @pre the numbers outlive the range
  static OptionRange oneOf(llvm::ArrayRef<int64_t> numbers) {
    return {OneOf, numbers.front(), numbers.back(), nullptr, "", numbers};
  }
  static OptionRange text(bool (*accepts)(llvm::StringRef), llvm::StringRef mustBe) {
    return {Text, INT64_MIN, INT64_MAX, accepts, mustBe};
  }
  /// "at least 1", "a power of two up to 64"; empty where every value is accepted.
  std::string str() const;
  /// The value that a text stands for, or an error that begins with the quoted name of the option.
  absl::Status read(llvm::StringRef option, llvm::StringRef text, OptionValue &value) const;
};

/// One option of a pass. Made by `passOption<&Options::field>(…)`.
struct PassOption {
  llvm::StringRef name; // "num-warps"
  OptionRange range;
  llvm::StringRef help;        // one line
  llvm::StringRef defaultText; // what an option that is not given stands for, where that depends on target or module
  OptionValue (*get)(const std::any &options);
  void (*set)(std::any &options, const OptionValue &);

  /// "num-warps=N", "target=NAME".
  std::string spelling() const;
  /// The default as help and documentation show it.
  std::string defaultValue() const;
};

namespace detail {
template <typename Field> struct FieldTraits;
template <typename Options_, typename Value_> struct FieldTraits<Value_ Options_::*> {
  using Options = Options_;
  using Value = Value_;
};
} // namespace detail

/// The descriptor of the option that is held by a field: an int64_t, an optional int64_t or a std::string (which is not
/// given if it is empty).
template <auto Field>
PassOption passOption(llvm::StringRef name, OptionRange range, llvm::StringRef help, llvm::StringRef defaultText = "") {
  using Options = typename detail::FieldTraits<decltype(Field)>::Options;
  using Value = typename detail::FieldTraits<decltype(Field)>::Value;
  PassOption o{name, range, help, defaultText, nullptr, nullptr};
  o.get = [](const std::any &options) -> OptionValue {
    const auto *given = std::any_cast<Options>(&options);
    const Value value = given ? given->*Field : Options().*Field;
    if constexpr (std::is_same_v<Value, int64_t>)
      return value;
    else if constexpr (std::is_same_v<Value, std::string>)
      return value.empty() ? OptionValue() : OptionValue(value);
    else
      return value ? OptionValue(*value) : OptionValue();
  };
  o.set = [](std::any &options, const OptionValue &value) {
    if (!options.has_value()) options = Options();
    using Held = std::conditional_t<std::is_same_v<Value, std::string>, std::string, int64_t>;
    std::any_cast<Options &>(options).*Field = std::get<Held>(value);
  };
  return o;
}

/// Options as they are written: "num-stages=2 foo=bar". Those not given in `options` are not part of it.
std::string writeOptions(llvm::ArrayRef<PassOption>, const std::any &options);

} // namespace tessera::transforms
