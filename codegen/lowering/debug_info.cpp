// Debug locations (what codegen/lowering/debug_info.h promises).
#include "codegen/lowering/debug_info.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

namespace tessera::codegen {
using ir::Location;
using ir::LocationKind;

static llvm::StringRef pathOf(Location l) {
  Location s = l.source();
  return s.isUnknown() ? llvm::StringRef("<unknown>") : s.file();
}
static unsigned lineOf(Location l) {
  Location s = l.source();
  return s.isUnknown() ? 0 : s.line();
}

DebugInfo::DebugInfo(llvm::Module &module, Location loc) : module_(module), builder_(module) {
  unit_ = builder_.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C), file(pathOf(loc)), "tessera",
                                     true, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
}

llvm::DIFile *DebugInfo::file(llvm::StringRef path) {
  llvm::DIFile *&f = files_[path];
  if (!f) {
    llvm::StringRef dir = llvm::sys::path::parent_path(path);
    f = builder_.createFile(llvm::sys::path::filename(path), dir.empty() ? "." : dir);
  }
  return f;
}

void DebugInfo::enter(llvm::Function &f, Location loc) {
  auto *type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  function_ = builder_.createFunction(file(pathOf(loc)), f.getName(), f.getName(), file(pathOf(loc)), lineOf(loc), type,
                                      lineOf(loc), llvm::DINode::FlagZero,
                                      llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  f.setSubprogram(function_);
  cache_.clear();
}

/// Code of another file inside a function gets a scope of that file.
llvm::DIScope *DebugInfo::scopeIn(llvm::DISubprogram *scope, llvm::StringRef path) {
  llvm::DIFile *f = file(path);
  if (f == scope->getFile()) return scope;
  llvm::DIScope *&known = scopes_[{scope, f}];
  if (!known) known = builder_.createLexicalBlockFile(scope, f);
  return known;
}

llvm::DISubprogram *DebugInfo::inlined(Location source) {
  std::string name = (llvm::sys::path::stem(source.file()) + "_" + llvm::Twine(source.line())).str();
  llvm::DISubprogram *&s = inlined_[(source.file() + ":" + llvm::Twine(source.line())).str()];
  if (!s)
    s = builder_.createFunction(file(source.file()), name, name, file(source.file()), source.line(),
                                builder_.createSubroutineType(builder_.getOrCreateTypeArray({})), source.line(),
                                llvm::DINode::FlagZero,
                                llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  return s;
}

llvm::DILocation *DebugInfo::locate(Location loc, llvm::DISubprogram *scope, llvm::DILocation *inlinedAt) {
  switch (loc.kind()) {
  case LocationKind::Unknown: return nullptr;
  case LocationKind::FileLineCol:
    return llvm::DILocation::get(module_.getContext(), loc.line(), loc.col(), scopeIn(scope, loc.file()), inlinedAt);
  case LocationKind::Name: return loc.numParts() ? locate(loc.part(0), scope, inlinedAt) : nullptr;
  case LocationKind::Fused:
    for (unsigned i = 0; i < loc.numParts(); ++i)
      if (auto *l = locate(loc.part(i), scope, inlinedAt)) return l;
    return nullptr;
  case LocationKind::CallSite: {
    llvm::DILocation *caller = locate(loc.caller(), scope, inlinedAt);
    Location callee = loc.callee().source();
    if (callee.isUnknown()) return caller;
    if (!caller) return locate(loc.callee(), scope, inlinedAt);
    return locate(loc.callee(), inlined(callee), caller);
  }
  }
  return nullptr;
}

llvm::DebugLoc DebugInfo::at(Location loc) {
  // Calls must have a location in a function that has a subprogram.
  auto unknown = [&] { return llvm::DILocation::get(module_.getContext(), 0, 0, function_); };
  if (!loc.storage()) return unknown();
  auto [it, fresh] = cache_.try_emplace(loc.storage(), nullptr);
  if (fresh) {
    llvm::DILocation *l = locate(loc, function_, nullptr);
    if (!l) l = unknown();
    it = cache_.find(loc.storage());
    it->second = l;
  }
  return it->second;
}

} // namespace tessera::codegen
