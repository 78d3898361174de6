// Older spellings of operations (2022 to 2024), read into today's: `func`, `return`, `triton_gpu.*`, and attributes
// that were renamed. Small differences of a format (types in parentheses, types left out) are accepted where the format
// is read, in parser.cpp.
#include "frontend/parser_state.h"
#include "ir/ops.h"

namespace tessera::frontend {

bool ParserState::parseOlderForm(OpParse &o, llvm::StringRef name, Block *block, bool &handled) {
  std::string current;
  if (name == "func" || name == "func.func")
    current = "tt.func";
  else if (name == "return" || name == "func.return")
    current = "tt.return";
  else if (name == "std.constant")
    current = "arith.constant";
  else if (name.starts_with("triton_gpu."))
    current = ("ttg." + name.drop_front(11)).str();
  else if (name.starts_with("triton_nvidia_gpu."))
    current = ("ttng." + name.drop_front(18)).str();
  else if (name == "tt.dot") {
    // Handled here for its older attributes alone.
    handled = true;
    o.info = lookupOp("tt.dot");
    o.at = lex.position();
    o.operands.resize(3), o.operandTypes.resize(3), o.resultTypes.resize(1);
    if (!parseFormat(o, assemblyFormat(*o.info))) return false;
    llvm::SmallVector<NamedAttribute, 8> kept;
    for (auto &a : o.attrs) {
      auto flag = a.value.dyn_cast<IntegerAttr>();
      if (a.name == "allowTF32") {
        if (flag && !flag.value().isZero())
          kept.push_back({ctx.intern("inputPrecision"), IntegerAttr::getI32(ctx, int(InputPrecision::Tf32))});
      } else if (a.name == "transA" || a.name == "transB") {
        if (flag && !flag.value().isZero())
          return error("transposed operands of the older tt.dot are not supported; use tt.trans", o.at);
      } else
        kept.push_back(a);
    }
    o.attrs = kept;
    return build(o, block) != nullptr;
  } else
    return true;

  handled = true;
  o.info = lookupOp(current);
  o.at = lex.position();
  if (!o.info) return error("unknown operation '" + name + "'", name.data());
  o.operands.resize(o.info->operands.size());
  o.operandTypes.resize(o.info->operands.size());
  o.resultTypes.resize(o.info->results.size());
  if (o.info->opcode == Opcode::tt_func) return parseFunc(o, block);
  return parseFormat(o, assemblyFormat(*o.info)) && build(o, block);
}

} // namespace tessera::frontend
