// The assembly formats of the op table as sequences of elements, made once per row from its text (the language is
// described in ir/README.md) and walked by the parser and the printer alike.
#pragma once
#include "ir/op_table.h"
#include <vector>

namespace tessera::ir {

struct FormatElement {
  enum Kind : uint8_t {
    Literal,     // text
    Operand,     // index: a row operand
    Attr,        // index: a row attribute
    OperandType, // index
    ResultType,  // index
    AllTypes,    // the types of all operands
    Functional,  // (operand types) -> result types
    AttrDict,
    Custom,        // text: its name
    OptionalGroup, // group: its elements; the first Operand or Attr in it is the anchor
  } kind;
  llvm::StringRef text;
  unsigned index = 0;
  std::vector<FormatElement> group;
  bool stripped = false; // a type without its dialect's name
};

/// Elements of the row's format; empty for rows of generic form.
const std::vector<FormatElement> &assemblyFormat(const OpInfo &);
/// The element whose presence decides about an optional group, or null.
const FormatElement *groupAnchor(const FormatElement &group);
/// Whether an element of the format (outside attribute dictionaries) prints the attribute.
bool formatPrintsAttr(const OpInfo &, unsigned attrIndex);

} // namespace tessera::ir
