// Functions of a module by name (see symbol_table.h).
#include "ir/symbol_table.h"

namespace tessera::ir {

thread_local uint64_t SymbolTable::operationsRead_ = 0;

uint64_t SymbolTable::operationsRead() { return operationsRead_; }

SymbolTable::SymbolTable(Operation *module) {
  if (module->region(0).empty()) return;
  for (auto &op : *module->region(0).front()) {
    ++operationsRead_;
    if (auto name = op.attr<StringAttr>("sym_name")) symbols_.try_emplace(name.value(), &op);
  }
}

Operation *Module::lookupSymbol(llvm::StringRef name) const {
  for (auto &op : *body()) {
    ++SymbolTable::operationsRead_;
    if (auto a = op.attr<StringAttr>("sym_name"); a && a.value() == name) return &op;
  }
  return nullptr;
}

} // namespace tessera::ir
