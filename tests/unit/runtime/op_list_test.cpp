// docs/ops.md is generated from the op table and the lowering's dispatch table: every operation with its operands,
// results, attributes, semantics and the targets that it is lowered for (tools/bless.sh writes it).
#include "codegen/lowering/lowering.h"
#include "codegen/object/arch_info.h"
#include "ir/op_table.h"
#include "runtime/compiler/targets.h"
#include "runtime/interpreter/program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tessera {
namespace {
using namespace ir;

constexpr llvm::StringLiteral kHead = R"(# Operations
Generated from `ir/ops.table`, `codegen/lowering/dispatch.cpp` and, for operations that not all targets have, the conditions in `tests/unit/runtime/op_list_test.cpp` (`has`): do not edit. `tools/bless.sh OpList` writes it again.

Operands and results: `?` optional, `*` any number. Attributes: `name=default`, `?` optional. *Lowered for*: the targets whose code generator takes the operation; `-`: it is rewritten by passes before, or not supported, with the reason. Operations marked † are not evaluated by the interpreter. docs/extending.md says how to add one.
)";

std::string arity(Arity a) { return a == Arity::Optional ? "?" : a == Arity::Variadic ? "*" : ""; }

std::string values(llvm::ArrayRef<ValueSpec> specs) {
  return llvm::join(llvm::map_range(specs, [](auto &v) { return v.name.str() + arity(v.arity); }), ", ");
}

std::string signature(const OpInfo &row) {
  std::string s = values(row.operands);
  if (!row.results.empty()) s += (s.empty() ? "→ " : " → ") + values(row.results);
  return s.empty() ? "" : "`" + s + "`";
}

std::string defaultOf(const AttrSpec &a) {
  if (!a.hasDefault) return "";
  if (a.rule == AttrRule::Bool) return a.defaultValue ? "=true" : "=false";
  if (a.enumInfo) return "=" + enumName(*a.enumInfo, a.defaultValue).str();
  return "=" + std::to_string(a.defaultValue);
}

std::string attributes(const OpInfo &row) {
  std::string s;
  for (auto &a : row.attrs)
    s += (s.empty() ? "`" : ", ") + a.name.str() + defaultOf(a) + (a.optional && !a.hasDefault ? "?" : "");
  return s.empty() ? "" : s + "`";
}

std::string targets(const OpInfo &row) {
  if (!codegen::loweringOf(row.opcode)) return "- (" + codegen::whyNotLowered(row.opcode).str() + ")";
  std::string some;
  bool all = true;
  for (auto *arch : runtime::allTargets()) {
    if (codegen::isLoweredFor(row.opcode, arch->info))
      some += (some.empty() ? "" : ", ") + arch->info.name.str();
    else
      all = false;
  }
  return all ? "all" : some.empty() ? "none" : some;
}

std::string opList() {
  std::string out;
  llvm::raw_string_ostream o(out);
  o << kHead;
  llvm::StringRef current;
  for (auto &row : allOps()) {
    llvm::StringRef dialect = row.name.split('.').first;
    if (dialect != current)
      o << "\n## " << dialect << "\n| operation | operands → results | attributes | semantics | lowered for |\n"
        << "|---|---|---|---|---|\n";
    current = dialect;
    std::string semantics = row.summary.str();
    o << "| `" << row.name << "`" << (runtime::whyNotInterpreted(row.opcode) ? " †" : "") << " | " << signature(row)
      << " | " << attributes(row) << " | " << semantics << " | " << targets(row) << " |\n";
  }
  return out;
}

TEST(OpList, DocsListTheOpTable) {
  std::string path = TESSERA_SOURCE_DIR "/docs/ops.md";
  std::string wanted = opList();
  if (getenv("TESSERA_BLESS")) {
    std::error_code ec;
    llvm::raw_fd_ostream(path, ec) << wanted;
    return;
  }
  auto file = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(file)) << path;
  EXPECT_EQ((*file)->getBuffer(), wanted);
}

} // namespace
} // namespace tessera
