// Tokenising of assembly formats (see assembly_format.h).
#include "ir/assembly_format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include <array>
#include <mutex>

namespace tessera::ir {

namespace {

class FormatReader {
public:
  FormatReader(const OpInfo &info) : info_(info), s_(info.format) {}

  std::vector<FormatElement> sequence(bool inGroup) {
    std::vector<FormatElement> out;
    while (true) {
      s_ = s_.ltrim();
      if (s_.empty()) return out;
      if (inGroup && s_.starts_with(")?")) {
        s_ = s_.drop_front(2);
        return out;
      }
      out.push_back(next());
    }
  }

private:
  bool eat(llvm::StringRef t) { return s_.consume_front(t); }

  FormatElement next() {
    if (eat("\\(")) return {FormatElement::Literal, "(", 0, {}};
    if (eat("\\)")) return {FormatElement::Literal, ")", 0, {}};
    if (eat("(")) return {FormatElement::OptionalGroup, {}, 0, sequence(true)};
    if (eat("$")) return reference(false);
    for (auto word : {"type($", "stripped($"})
      if (eat(word)) {
        auto e = reference(true);
        e.stripped = word[0] == 's';
        eat(")");
        return e;
      }
    if (eat("custom(")) {
      auto name = s_.take_until([](char c) { return c == ')'; });
      s_ = s_.drop_front(name.size() + 1);
      return {FormatElement::Custom, name, 0, {}};
    }
    if (llvm::isAlpha(s_.front())) {
      auto word = s_.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      s_ = s_.drop_front(word.size());
      if (word == "attrs") return {FormatElement::AttrDict, {}, 0, {}};
      if (word == "types") return {FormatElement::AllTypes, {}, 0, {}};
      if (word == "fn") return {FormatElement::Functional, {}, 0, {}};
      return {FormatElement::Literal, word, 0, {}};
    }
    auto word = s_.take_until([](char c) { return c == ' ' || c == '$' || c == ')'; });
    if (word.empty()) word = s_.take_front(1);
    s_ = s_.drop_front(word.size());
    return {FormatElement::Literal, word, 0, {}};
  }

  FormatElement reference(bool type) {
    auto name = s_.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    s_ = s_.drop_front(name.size());
    for (unsigned i = 0; i < info_.operands.size(); ++i)
      if (info_.operands[i].name == name)
        return {type ? FormatElement::OperandType : FormatElement::Operand, name, i, {}};
    if (type)
      for (unsigned i = 0; i < info_.results.size(); ++i)
        if (info_.results[i].name == name) return {FormatElement::ResultType, name, i, {}};
    for (unsigned i = 0; i < info_.attrs.size(); ++i)
      if (info_.attrs[i].name == name) return {FormatElement::Attr, name, i, {}};
    llvm::reportFatalInternalError(llvm::Twine("op table: format of ") + info_.name + " names unknown '" + name + "'");
  }

  const OpInfo &info_;
  llvm::StringRef s_;
};

} // namespace

const std::vector<FormatElement> &assemblyFormat(const OpInfo &info) {
  static std::array<std::once_flag, kNumOpcodes> once;
  static std::array<std::vector<FormatElement>, kNumOpcodes> formats;
  static const std::vector<FormatElement> none;
  if (info.opcode == Opcode::unregistered || info.has(kGenericForm)) return none;
  unsigned i = unsigned(info.opcode);
  std::call_once(once[i], [&] { formats[i] = FormatReader(info).sequence(false); });
  return formats[i];
}

const FormatElement *groupAnchor(const FormatElement &group) {
  for (auto &e : group.group)
    if (e.kind == FormatElement::Operand || e.kind == FormatElement::Attr || e.kind == FormatElement::OperandType ||
        e.kind == FormatElement::ResultType)
      return &e;
  return nullptr;
}

static bool prints(const std::vector<FormatElement> &es, unsigned attr) {
  for (auto &e : es)
    if ((e.kind == FormatElement::Attr && e.index == attr) ||
        (e.kind == FormatElement::OptionalGroup && prints(e.group, attr)))
      return true;
  return false;
}
bool formatPrintsAttr(const OpInfo &info, unsigned attrIndex) {
  auto &format = assemblyFormat(info);
  if (prints(format, attrIndex)) return true;
  // What the custom elements take care of.
  llvm::StringRef name = info.attrs[attrIndex].name;
  for (auto &e : format) {
    if (e.kind != FormatElement::Custom) continue;
    if ((e.text == "CacheEvict" && (name == "cache" || name == "evict")) ||
        ((e.text == "Cache" || e.text == "BufferLoadToLocal") && name == "cache") ||
        (e.text == "Overflow" && name == "overflowFlags") || (e.text == "FastMath" && name == "fastmath") ||
        (e.text == "Constant" && name == "value") || (e.text == "MemDescSubslice" && name == "offsets") ||
        (e.text == "For" && name == "unsignedCmp") || (e.text == "ExecuteRegion" && name == "no_inline") ||
        (e.text == "Barrier" && name == "addrSpace") ||
        (e.text == "TcGen5MmaScaled" && (name == "a_type" || name == "b_type")) ||
        (e.text == "DotScaled" && (name == "a_elem_type" || name == "b_elem_type")) || e.text == "Func" ||
        (e.text == "Module" && name == "sym_name") || (e.text == "WarpSpecialize" && name == "partitionNumWarps"))
      return true;
  }
  return false;
}

} // namespace tessera::ir
