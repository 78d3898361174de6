// How the printer names values, layouts and locations. SSA names follow MLIR: a value takes the name of its name
// location, else the one its operation suggests (%c256_i32, %cst), else a number; names that are taken get a suffix
// from a counter that nested regions continue and sibling regions share. Private to the printer.
#pragma once
#include "ir/context.h"
#include "ir/ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include <unordered_map>

namespace tessera::ir::printing {

inline llvm::StringRef nameOf(Location l) {
  if (l.kind() == LocationKind::Name) return l.name();
  for (unsigned i = 0; i < l.numParts(); ++i)
    if (auto n = nameOf(l.part(i)); !n.empty()) return n;
  return {};
}

class Names {
public:
  /// `textKeeps`: only names that a text without locations keeps, those of loops' arguments.
  Names(Operation *root, bool nameLocs, bool textKeeps = false) : nameLocs_(nameLocs), textKeeps_(textKeeps) {
    State s;
    numberOp(root, s);
    regionsOf(root, s);
  }

  void print(Value v, llvm::raw_ostream &o) const {
    auto it = names_.find(v.impl());
    if (it == names_.end()) {
      o << "<<unknown>>";
      return;
    }
    o << "%" << it->second;
    if (auto g = groups_.find(v.impl()); g != groups_.end()) o << "#" << g->second;
  }
  /// The name without the `#N` of a result group.
  llvm::StringRef base(Value v) const {
    auto it = names_.find(v.impl());
    return it == names_.end() ? llvm::StringRef("<<unknown>>") : llvm::StringRef(it->second);
  }
  bool known(Value v) const { return names_.count(v.impl()); }

private:
  struct State {
    unsigned nextValue = 0, nextArg = 0, nextConflict = 0;
  };
  // Names in use, each with a count of the scopes that hold it; a region's names are dropped when it is done.
  void regionsOf(Operation *op, State s) {
    for (auto &r : op->regions()) {
      State inner = s;
      std::vector<std::string> mine;
      auto *outer = scope_;
      scope_ = &mine;
      for (auto *b = r.front(); b; b = b->next()) numberBlock(b, inner);
      for (auto *b = r.front(); b; b = b->next())
        for (auto &nested : *b) regionsOf(&nested, inner);
      for (auto &n : mine) used_.erase(n);
      scope_ = outer;
    }
  }
  static bool keepsNames(Block *b) {
    auto *loop = b->parentOp();
    return loop && (loop->is<scf::ForOp>() || loop->is<scf::WhileOp>()) && b->parent() == &loop->region(0);
  }
  void numberBlock(Block *b, State &s) {
    bool entry = !b->prev();
    for (auto *a : b->args()) {
      std::string name = entry ? "arg" + std::to_string(s.nextArg++) : "";
      bool named = nameLocs_ && (!textKeeps_ || keepsNames(b));
      if (auto n = named ? nameOf(a->loc) : llvm::StringRef(); !n.empty()) name = n.str();
      set(a, name, s);
    }
    for (auto &op : *b) numberOp(&op, s);
  }
  void numberOp(Operation *op, State &s) {
    unsigned n = op->numResults();
    if (!n) return;
    std::string name;
    if (nameLocs_ && !textKeeps_) name = nameOf(op->loc()).str();
    if (name.empty())
      if (auto c = op->dyn<arith::ConstantOp>()) name = constantName(c);
    // Operations with several results in their row name each group of them by it.
    if (auto &specs = op->info().results; name.empty() && specs.size() > 1) {
      for (unsigned g = 0; g < specs.size(); ++g) {
        auto group = op->resultGroup(g);
        for (unsigned k = 0; k < group.size(); ++k)
          if (!k)
            set(group[0].impl(), specs[g].name, s);
          else {
            names_[group[k].impl()] = names_[group[0].impl()];
            groups_[group[k].impl()] = k;
          }
        if (group.size() > 1) groups_[group[0].impl()] = 0;
      }
      return;
    }
    for (unsigned i = 0; i < n; ++i) {
      ValueImpl *v = op->result(i).impl();
      if (i == 0)
        set(v, name, s);
      else {
        std::string shared = names_[op->result(0).impl()];
        names_[v] = std::move(shared);
      }
      if (n > 1) groups_[v] = i;
    }
  }
  static std::string constantName(arith::ConstantOp c) {
    auto a = c.value().dyn_cast<IntegerAttr>();
    if (!a) return "cst";
    if (a.isBool()) return a.value().isZero() ? "false" : "true";
    std::string n = "c" + llvm::toString(a.value(), 10, true);
    return a.type().isIndex() ? n : n + "_" + a.type().str();
  }
  void set(ValueImpl *v, llvm::StringRef wanted, State &s) {
    if (wanted.empty()) {
      names_[v] = std::to_string(s.nextValue++);
      return;
    }
    std::string name;
    for (char c : wanted) name += llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-' ? c : '_';
    if (llvm::isDigit(name[0])) name = "_" + name;
    if (!used_.insert(name).second) {
      std::string probe;
      do probe = name + "_" + std::to_string(s.nextConflict++);
      while (!used_.insert(probe).second);
      name = probe;
    }
    if (scope_) scope_->push_back(name);
    names_[v] = name;
  }

  bool nameLocs_, textKeeps_;
  llvm::DenseMap<ValueImpl *, std::string> names_;
  llvm::DenseMap<ValueImpl *, unsigned> groups_;
  llvm::StringSet<> used_;
  std::vector<std::string> *scope_ = nullptr;
};

// ---- aliases --------------------------------------------------------------------------------------------------------

/// What gets an alias: a layout, a location, or the shared-memory space, each by its address.
struct Aliases {
  struct Entry {
    std::string stem;
    unsigned depth = 0;
    bool deferred = true;
    const layouts::Encoding *encoding = nullptr;
    Location loc;
    const AttributeStorage *attr = nullptr;
    std::string name;
  };
  llvm::MapVector<const void *, Entry> entries;
  bool collecting = true;

  llvm::StringRef lookup(const void *p) const {
    auto it = entries.find(p);
    return it == entries.end() ? llvm::StringRef() : llvm::StringRef(it->second.name);
  }
  void number() {
    std::vector<Entry *> order;
    for (auto &[p, e] : entries) order.push_back(&e);
    llvm::stable_sort(order,
                      [](auto *a, auto *b) { return a->depth != b->depth ? a->depth < b->depth : a->stem < b->stem; });
    llvm::StringMap<unsigned> counts;
    sorted.clear();
    for (auto *e : order) {
      unsigned n = counts[e->stem]++;
      e->name = "#" + e->stem + (n ? std::to_string(n) : "");
      sorted.push_back(e);
    }
    collecting = false;
  }
  std::vector<Entry *> sorted;
};

inline constexpr char kUnknownLocKey = 0; // stands for the unknown location, which has no storage

} // namespace tessera::ir::printing
