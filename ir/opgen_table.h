// The rows of ir/ops.table as the generator holds them: opgen_read.cpp reads them, opgen.cpp writes code from them.
#pragma once
#include <istream>
#include <string>
#include <utility>
#include <vector>

namespace opgen {

struct ValueRow {
  std::string name, rule = "Any", arity = "One", inferRule = "None", inferOf;
};
struct AttrRow {
  std::string name, rule, enumName, def;
  bool optional = false;
};
struct Op {
  std::string name, format, summary;
  std::vector<ValueRow> operands, results;
  std::vector<AttrRow> attrs;
  std::vector<std::string> regions, traits, effects;
  std::string successors = "0";
  bool anyRegions = false, verify = false, fold = false;
  int line = 0;
};
struct EnumDef {
  std::string name;
  std::vector<std::pair<std::string, int>> cases;
};

extern std::vector<Op> ops;
extern std::vector<EnumDef> enums;
/// The line of the table that is being read, or that an error is about.
extern int lineNo;

[[noreturn]] void fail(const std::string &message);
/// Reads the table, and the families of math functions from ir/math_functions.def.
void parse(std::istream &in);

} // namespace opgen
