// The custom elements of assembly formats: what the format language does not express, a function for each (see
// printer_state.h). frontend/custom_formats.cpp reads what is written here.
#include "ir/printer_state.h"

namespace tessera::ir::printing {

void Printer::custom(Operation *op, llvm::StringRef name) {
  static constexpr std::pair<llvm::StringLiteral, void (Printer::*)(Operation *)> kForms[] = {
      {"CacheEvict", &Printer::cache},
      {"Cache", &Printer::cache},
      {"Overflow", &Printer::overflow},
      {"FastMath", &Printer::fastMath},
      {"Constant", &Printer::constant},
      {"Select", &Printer::select},
      {"Module", &Printer::module},
      {"Func", &Printer::function},
      {"For", &Printer::forLoop},
      {"If", &Printer::ifOp},
      {"While", &Printer::whileOp},
      {"ExecuteRegion", &Printer::executeRegion},
      {"Br", &Printer::branch},
      {"CondBr", &Printer::conditionalBranch},
      {"MemDescSubslice", &Printer::subslice},
      {"Barrier", &Printer::barrier},
      {"TcGen5Mma", &Printer::mma5},
      {"TcGen5MmaScaled", &Printer::scaledMma5},
      {"WarpSpecialize", &Printer::warpSpecialize},
      {"BufferLoadToLocal", &Printer::bufferLoadToLocal},
      {"TokenDep", &Printer::tokenDep},
      {"DotScaled", &Printer::dotScaled},
  };
  tight_ = false;
  for (auto &[form, print] : kForms)
    if (form == name) return (this->*print)(op);
  genericTail(op); // forms that have no printer of their own fall back on the generic one's pieces
}

void Printer::cache(Operation *op) {
  for (auto [attr, key] : {std::pair("cache", "cacheModifier"), std::pair("evict", "evictionPolicy")}) {
    auto *spec = op->info().attr(attr);
    auto a = op->attr<IntegerAttr>(attr);
    if (!spec || !a || a.sext() == spec->defaultValue) continue;
    o << " " << key << " = " << enumName(*spec->enumInfo, a.sext());
  }
}

void Printer::overflow(Operation *op) { flags(op, "overflowFlags", "overflow", kOverflowFlags, ", "); }
void Printer::fastMath(Operation *op) { flags(op, "fastmath", "fastmath", kFastMathFlags, ","); }

void Printer::constant(Operation *op) {
  attrDict(op, {"value"});
  o << " ";
  attribute(op->attr("value"));
}

void Printer::select(Operation *op) {
  auto s = op->cast<arith::SelectOp>();
  o << " ";
  values(op->operands());
  attrDict(op);
  o << " : ";
  if (s.condition().type().isTensor()) {
    type(s.condition().type());
    o << ", ";
  }
  type(s.result().type());
}

void Printer::module(Operation *op) {
  if (auto n = op->attr<StringAttr>("sym_name")) o << " ", symbol(n.value());
  attrDict(op, {}, true);
  o << " ";
  region(op->region(0), false);
}

void Printer::executeRegion(Operation *op) {
  if (op->numResults() == 1) {
    o << " -> ";
    types(op->results());
  } else
    resultTypes(op);
  if (op->hasAttr("no_inline")) o << " no_inline";
  o << " ";
  body(op->region(0), false, false);
  attrDict(op);
}

void Printer::branch(Operation *op) {
  successor(op->successor(0), op->operands());
  attrDict(op);
}

void Printer::conditionalBranch(Operation *op) {
  auto c = op->cast<cf::CondBrOp>();
  o << " ";
  value(c.condition());
  attrDict(op);
  o << ",";
  successor(op->successor(0), c.trueArgs());
  o << ",";
  successor(op->successor(1), c.falseArgs());
}

void Printer::subslice(Operation *op) {
  auto s = op->cast<ttg::MemdescSubsliceOp>();
  o << " ";
  value(s.src());
  o << "[";
  llvm::interleaveComma(s.offsets(), o);
  o << "]";
  attrDict(op);
  o << " : ";
  type(s.src().type());
  o << " -> ";
  type(s.result().type());
}

void Printer::barrier(Operation *op) {
  constexpr int64_t kAll = 31;
  int64_t mask = op->cast<ttg::BarrierOp>().addrSpace() & kAll;
  static constexpr std::pair<int, const char *> kNames[] = {
      {1, "local"}, {2, "global_read"}, {4, "global_write"}, {8, "tensor_read"}, {16, "tensor_write"}};
  std::string text;
  appendFlags(text, kNames, mask, "|");
  o << " " << (mask == kAll ? "all" : text);
  attrDict(op);
}

void Printer::bufferLoadToLocal(Operation *op) {
  auto l = op->cast<amdg::BufferLoadToLocalOp>();
  o << " ";
  value(l.ptr());
  o << "[";
  value(l.offsets());
  o << "]";
  for (auto [key, v] : {std::pair("mask", l.mask()), std::pair("other", l.other()), std::pair("stride", l.stride())})
    if (v) {
      o << " " << key << " = ";
      value(v);
    }
  cache(op);
  o << " into ";
  value(l.dest());
  attrDict(op);
  o << " : ";
  type(l.ptr().type(), true);
  o << "[";
  type(l.offsets().type());
  o << "]";
  o << " "; // also where no type of `other` follows, as Triton prints it
  if (l.other()) type(l.other().type());
  o << " -> ";
  type(l.dest().type(), true);
}

void Printer::tokenDep(Operation *op) { token(op, op->operandGroup(1)); } // the row's dep operand

void Printer::dotScaled(Operation *op) {
  auto d = op->cast<tt::DotScaledOp>();
  o << " ";
  value(d.a());
  if (d.aScale()) o << " scale ", value(d.aScale());
  o << ", ";
  value(d.b());
  if (d.bScale()) o << " scale ", value(d.bScale());
  o << ", ";
  value(d.c());
  o << " lhs = ";
  attrValue(op, *op->info().attr("a_elem_type"));
  o << " rhs = ";
  attrValue(op, *op->info().attr("b_elem_type"));
  attrDict(op);
  o << " : ";
  type(d.a().type());
  if (d.aScale()) o << ", ", type(d.aScale().type());
  o << " * ";
  type(d.b().type());
  if (d.bScale()) o << ", ", type(d.bScale().type());
  o << " -> ";
  type(d.d().type());
}

void Printer::mma5(Operation *op) { tensorMemoryDot(op, false); }
void Printer::scaledMma5(Operation *op) { tensorMemoryDot(op, true); }

OperandRange Printer::operandsNamed(Operation *op, llvm::StringRef name) {
  auto &specs = op->info().operands;
  for (unsigned i = 0; i < specs.size(); ++i)
    if (specs[i].name == name) return op->operandGroup(i);
  return {};
}

void Printer::tensorMemoryDot(Operation *op, bool scaled) {
  auto one = [&](llvm::StringRef name) { return operandsNamed(op, name)[0]; };
  o << " ";
  value(one("a"));
  o << ", ";
  value(one("b"));
  o << ", ";
  value(one("d"));
  token(op, operandsNamed(op, "acc_dep"));
  llvm::SmallVector<llvm::StringRef, 4> rest;
  if (scaled) rest.append({"a_scale", "b_scale"});
  rest.append({"useD", "pred"});
  for (auto n : rest) {
    o << ", ";
    value(one(n));
  }
  if (scaled) {
    o << " lhs = ";
    attrValue(op, *op->info().attr("a_type"));
    o << " rhs = ";
    attrValue(op, *op->info().attr("b_type"));
  }
  auto barriers = operandsNamed(op, "barriers"), preds = operandsNamed(op, "barrier_preds");
  for (unsigned i = 0; i < barriers.size(); ++i) {
    o << ", ";
    value(barriers[i]);
    if (i >= preds.size()) continue;
    o << "[";
    value(preds[i]);
    o << "]";
  }
  attrDict(op);
  o << " : ";
  type(one("a").type());
  llvm::SmallVector<llvm::StringRef, 4> typed = {"b", "d"};
  if (scaled) typed.append({"a_scale", "b_scale"});
  for (auto n : typed) {
    o << ", ";
    type(one(n).type());
  }
  for (Value b : barriers) {
    o << ", ";
    type(b.type());
  }
}

void Printer::token(Operation *op, OperandRange dep) {
  if (!dep.empty()) {
    o << "[";
    values(dep);
    o << "]";
  } else if (op->numResults() && op->result(op->numResults() - 1).type().isa<AsyncTokenType>())
    o << "[]";
}

void Printer::warpSpecialize(Operation *op) {
  auto w = op->cast<ttg::WarpSpecializeOp>();
  o << "(";
  values(op->operands());
  o << ")";
  attrDict(op, {}, true);
  newline(indent_);
  o << "default ";
  body(op->region(0), false, false);
  Block *holder = op->region(1).front();
  auto warps = w.partitionNumWarps();
  if (holder && holder->front())
    for (auto [i, r] : llvm::enumerate(holder->front()->regions())) {
      newline(indent_);
      o << "partition" << i << "(";
      if (Block *entry = r.front())
        for (unsigned k = 0; k < entry->numArgs(); ++k) {
          if (k) o << ", ";
          blockArg(entry->arg(k).impl());
          argLocation(entry->arg(k).impl());
        }
      o << ") num_warps(" << (i < warps.size() ? warps[i] : 0) << ") ";
      body(r, false, false);
    }
  o << " : ";
  functional(op);
}

void Printer::genericTail(Operation *op) {
  o << " ";
  values(op->operands());
  attrDict(op);
  o << " : ";
  functional(op);
}

void Printer::flags(Operation *op, llvm::StringRef attr, llvm::StringRef key, FlagNames names, const char *separator) {
  auto a = op->attr<IntegerAttr>(attr);
  if (!a || !a.sext()) return;
  std::string text;
  appendFlags(text, names, a.sext(), separator);
  o << " " << key << "<" << text << ">";
}

void Printer::successor(Block *b, OperandRange args) {
  o << " ^bb" << placeOf(b).number;
  if (args.empty()) return;
  o << "(";
  values(args);
  o << " : ";
  types(args);
  o << ")";
}

void Printer::resultTypes(Operation *op) {
  if (!op->numResults()) return;
  o << " -> (";
  types(op->results());
  o << ")";
}

} // namespace tessera::ir::printing
