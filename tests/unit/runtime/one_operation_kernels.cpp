// The table of one_operation_kernels.h. A template is the text of an operation with
//   {T} {U}  the types of operands and result: an element type in the scalar kernel, a tensor of it in the tensor
//            kernel
//   {t} {u}  their element types
//   {B}      i1 in the same shape
#include "one_operation_kernels.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>

namespace tessera::testing {
namespace {

using Types = std::vector<std::string>;
const Types kInts{"i1", "i8", "i16", "i32", "i64"}, kWideInts{"i8", "i16", "i32", "i64"},
    kFloats{"f16", "bf16", "f32", "f64"};
const Types kF8{"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ"};

std::string replaced(std::string s, const std::string &what, const std::string &with) {
  for (size_t at = 0; (at = s.find(what, at)) != std::string::npos; at += with.size()) s.replace(at, what.size(), with);
  return s;
}

std::string tensor(const std::string &t, const std::string &shape = "256") { return "tensor<" + shape + "x" + t + ">"; }

/// Bits of an element type in memory.
int bitsOf(llvm::StringRef t) {
  if (t == "i1" || t == "i8" || t.starts_with("f8")) return 8;
  if (t == "i16" || t == "f16" || t == "bf16") return 16;
  return t == "i64" || t == "f64" ? 64 : 32;
}

class Maker {
public:
  std::vector<OneOperationKernel> out;

  /// A kernel whose body computes %r0, %r1, … of types `outs` from %a0, %a1, … of types `ins`, all in one shape.
  void add(const std::string &opcode, const std::string &suffix, const Types &ins, const Types &outs, bool scalar,
           const std::string &body, const std::string &domain = "") {
    OneOperationKernel k;
    k.opcode = opcode;
    k.name = opcode + "_" + suffix + (scalar ? "_scalar" : "_tensor");
    k.ins = ins, k.outs = outs, k.scalar = scalar, k.domain = domain;
    k.elements = scalar ? 16 : 256;
    std::string args, loads, stores;
    auto buffer = [&](const std::string &n, const std::string &t) {
      args += (args.empty() ? "%" : ", %") + n + ": !tt.ptr<" + t + "> {tt.divisibility = 16 : i32}";
      std::string p = "!tt.ptr<" + t + ">";
      if (scalar) return "  %" + n + "p = tt.addptr %" + n + ", %at : " + p + ", i32\n";
      return "  %" + n + "s = tt.splat %" + n + " : " + p + " -> " + tensor(p) + "\n  %" + n + "p = tt.addptr %" + n +
             "s, %at : " + tensor(p) + ", " + tensor("i32") + "\n";
    };
    for (size_t i = 0; i < ins.size(); ++i) {
      std::string n = "in" + std::to_string(i), p = "!tt.ptr<" + ins[i] + ">";
      loads += buffer(n, ins[i]) + "  %a" + std::to_string(i) + " = tt.load %" + n + "p : " + (scalar ? p : tensor(p)) +
               "\n";
    }
    for (size_t i = 0; i < outs.size(); ++i) {
      std::string n = "out" + std::to_string(i), p = "!tt.ptr<" + outs[i] + ">";
      stores += buffer(n, outs[i]) + "  tt.store %" + n + "p, %r" + std::to_string(i) + " : " +
                (scalar ? p : tensor(p)) + "\n";
    }
    std::string at = scalar ? "  %at = tt.get_program_id x : i32\n"
                            : "  %at = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>\n";
    k.text = "module {\n  tt.func public @k(" + args + ") {\n" + at + loads + body + stores + "  tt.return\n  }\n}\n";
    out.push_back(std::move(k));
  }

  /// As add, from a template, for scalars and tensors.
  void both(const std::string &opcode, const Types &ins, const Types &outs, const std::string &line,
            const std::string &suffix, const std::string &domain = "") {
    for (bool scalar : {false, true}) {
      auto shaped = [&](const std::string &t) { return scalar ? t : tensor(t); };
      std::string s = line;
      s = replaced(s, "{T}", shaped(ins[0]));
      s = replaced(s, "{U}", shaped(outs[0]));
      s = replaced(s, "{B}", shaped("i1"));
      s = replaced(s, "{I}", shaped("i32"));
      s = replaced(s, "{t}", ins[0]);
      add(opcode, suffix, ins, outs, scalar, "  " + s + "\n", domain);
    }
  }
  void unary(const std::string &opcode, const Types &types, const std::string &domain = "") {
    for (auto &t : types) both(opcode, {t}, {t}, "%r0 = " + opcode + " %a0 : {T}", t, domain);
  }
  void binary(const std::string &opcode, const Types &types, const std::string &domain = "") {
    for (auto &t : types) both(opcode, {t, t}, {t}, "%r0 = " + opcode + " %a0, %a1 : {T}", t, domain);
  }
  void cast(const std::string &opcode, const std::string &from, const std::string &to, const std::string &attrs = "",
            const std::string &domain = "") {
    std::string tag = attrs.find("rtz") != std::string::npos ? "_rtz" : "";
    both(opcode, {from}, {to},
         "%r0 = " + opcode + " %a0" + attrs + " : {T} " + (opcode.starts_with("tt.") ? "->" : "to") + " {U}",
         from + "_" + to + tag, domain);
  }
};

void integers(Maker &m) {
  for (const char *op : {"arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori",
                         "arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui"})
    m.binary(op, kInts);
  for (const char *op : {"arith.shli", "arith.shrsi", "arith.shrui"}) m.binary(op, kInts, "shift");
  for (const char *op : {"arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.ceildivsi",
                         "arith.ceildivui", "arith.floordivsi"})
    m.binary(op, kWideInts, "divisor");
  m.binary("tt.mulhiui", {"i32", "i64"});
  for (const char *op : {"math.absi", "math.ctlz", "math.cttz", "math.ctpop"}) m.unary(op, kWideInts);
  for (auto &t : kInts) {
    for (const char *p : {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
      m.both("arith.cmpi", {t, t}, {"i1"}, std::string("%r0 = arith.cmpi ") + p + ", %a0, %a1 : {T}",
             std::string(p) + "_" + t);
    m.both("arith.addui_extended", {t, t}, {t, "i1"}, "%r0, %r1 = arith.addui_extended %a0, %a1 : {T}, {B}", t);
    m.both("arith.mulsi_extended", {t, t}, {t, t}, "%r0, %r1 = arith.mulsi_extended %a0, %a1 : {T}", t);
    m.both("arith.mului_extended", {t, t}, {t, t}, "%r0, %r1 = arith.mului_extended %a0, %a1 : {T}", t);
  }
  for (auto &f : kInts)
    for (auto &t : kInts) {
      if (bitsOf(f) < bitsOf(t) || (f == "i1" && t == "i8")) m.cast("arith.extsi", f, t), m.cast("arith.extui", f, t);
      if (bitsOf(f) > bitsOf(t) || (f == "i8" && t == "i1")) m.cast("arith.trunci", f, t);
    }
  for (auto &t : kWideInts) {
    m.both("arith.index_cast", {t}, {"i32"},
           "%x = arith.index_cast %a0 : {T} to " + std::string("{X}\n  %r0 = arith.index_cast %x : {X} to {U}"), t,
           "index");
    m.both("arith.index_castui", {t}, {"i32"},
           "%x = arith.index_castui %a0 : {T} to " + std::string("{X}\n  %r0 = arith.index_castui %x : {X} to {U}"), t,
           "index");
  }
  for (auto &k : m.out) // index in the shape of the kernel
    k.text = replaced(k.text, "{X}", k.scalar ? "index" : "tensor<256xindex>");
}

void floats(Maker &m) {
  for (const char *op : {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf", "arith.maximumf",
                         "arith.minimumf", "arith.maxnumf", "arith.minnumf"})
    m.binary(op, kFloats);
  m.unary("arith.negf", kFloats);
#define MATH_UNARY(name, ...) m.unary("math." #name, kFloats);
#define MATH_BINARY(name, ...) m.binary("math." #name, kFloats);
#include "ir/math_functions.def"
  for (auto &t : kFloats) {
    m.both("math.fma", {t, t, t}, {t}, "%r0 = math.fma %a0, %a1, %a2 : {T}", t);
    m.both("math.fpowi", {t, "i32"}, {t}, "%r0 = math.fpowi %a0, %a1 : {T}, {I}", t);
    for (const char *p : {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
                          "une", "uno", "true"})
      m.both("arith.cmpf", {t, t}, {"i1"}, std::string("%r0 = arith.cmpf ") + p + ", %a0, %a1 : {T}",
             std::string(p) + "_" + t);
    for (const char *p : {"none", "all"})
      m.both("tt.clampf", {t, t, t}, {t}, std::string("%r0 = tt.clampf %a0, %a1, %a2, propagateNan = ") + p + " : {T}",
             std::string(p) + "_" + t, "clamp");
  }
  m.unary("tt.precise_sqrt", {"f32"});
  m.binary("tt.precise_divf", {"f32"});
  m.binary("tt.approx_divf", {"f32"});
}

void conversions(Maker &m) {
  for (auto &f : kFloats)
    for (auto &t : kFloats) {
      if (bitsOf(f) < bitsOf(t)) m.cast("arith.extf", f, t);
      if (bitsOf(f) > bitsOf(t)) m.cast("arith.truncf", f, t);
    }
  for (auto &i : kInts)
    for (auto &f : kFloats) {
      m.cast("arith.sitofp", i, f);
      m.cast("arith.uitofp", i, f);
      m.cast("arith.fptosi", f, i, "", "in range");
      m.cast("arith.fptoui", f, i, "", "in range");
    }
  Types all = kFloats;
  all.insert(all.end(), kF8.begin(), kF8.end());
  for (auto &f : all)
    for (auto &t : all) {
      if (f == t) continue;
      bool widens = bitsOf(f) < bitsOf(t);
      if (widens) {
        m.cast("tt.fp_to_fp", f, t);
        continue;
      }
      for (const char *r : {"rtne", "rtz"}) m.cast("tt.fp_to_fp", f, t, std::string(", rounding = ") + r);
    }
  for (auto &t : {"f16", "bf16", "f32"})
    for (const char *high : {"false", "true"})
      m.both("tt.e2m1_to_fp", {"i8"}, {t}, std::string("%r0 = tt.e2m1_to_fp %a0 {high = ") + high + "} : {T} -> {U}",
             std::string(high) + "_" + t);
  for (auto &f : {"i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"})
    for (auto &t : {"i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"})
      if (std::string(f) != t && bitsOf(f) == bitsOf(t)) {
        m.cast("tt.bitcast", f, t);
        m.cast("arith.bitcast", f, t);
      }
  m.both("tt.ptr_to_int", {"i64"}, {"i64"},
         "%x = tt.int_to_ptr %a0 : {T} -> {P}\n  %r0 = tt.ptr_to_int %x : {P} -> {U}", "i64");
  m.both(
      "tt.int_to_ptr", {"i64"}, {"i64"},
      "%x = tt.int_to_ptr %a0 : {T} -> {P}\n  %y = tt.bitcast %x : {P} -> {Q}\n  %r0 = tt.ptr_to_int %y : {Q} -> {U}",
      "i64");
  for (auto &t : {"i8", "i32", "i64"})
    m.both("tt.addptr", {t, "i64"}, {"i64"},
           "%x = tt.int_to_ptr %a1 : {U} -> {P}\n  %y = tt.addptr %x, %a0 : {P}, {T}\n  %r0 = tt.ptr_to_int %y : {P} "
           "-> {U}",
           t);
  for (auto &k : m.out) {
    k.text = replaced(k.text, "{P}", k.scalar ? "!tt.ptr<f32>" : tensor("!tt.ptr<f32>"));
    k.text = replaced(k.text, "{Q}", k.scalar ? "!tt.ptr<i8>" : tensor("!tt.ptr<i8>"));
  }
}

Types everything() {
  Types t = kInts;
  t.insert(t.end(), kFloats.begin(), kFloats.end());
  t.insert(t.end(), {"f8E4M3FN", "f8E5M2"});
  return t;
}

bool isFloat(llvm::StringRef t) { return t.starts_with("f") || t.starts_with("bf"); }

void memory(Maker &m) {
  for (auto &t : everything()) {
    m.both("arith.select", {"i1", t, t}, {t}, "%r0 = arith.select %a0, %a1, %a2 : {T}, {U}", t);
    m.both("tt.load", {t}, {t},
           "%r0 = " + (isFloat(t) ? std::string("arith.select %u, %a0, %a0 : {U}") : "arith.ori %a0, %a0 : {T}"),
           t); // loads and stores alone
    auto &k1 = m.out[m.out.size() - 2], &k2 = m.out.back();
    for (auto *k : {&k1, &k2}) {
      size_t from = k->text.find("  %r0 = "), to = k->text.find('\n', from);
      k->text.replace(from, to + 1 - from, "");
      k->text = replaced(k->text, "%r0", "%a0");
    }
    // Masked, with and without a value for the masked-off elements, and a masked store.
    for (const char *other : {"", "other"}) {
      std::string o = other;
      m.add("tt.store", std::string("masked") + o + "_" + t, {"i1", t, t}, {t}, false,
            std::string("  %m = tt.load %in1p, %a0") + (o.empty() ? "" : ", %a2") + " : " +
                tensor("!tt.ptr<" + t + ">") + "\n  %mo = tt.splat %out0 : !tt.ptr<" + t + "> -> " +
                tensor("!tt.ptr<" + t + ">") + "\n  %mp = tt.addptr %mo, %at : " + tensor("!tt.ptr<" + t + ">") +
                ", tensor<256xi32>\n  tt.store %mp, %a2 : " + tensor("!tt.ptr<" + t + ">") +
                "\n  tt.store %mp, %m, %a0 : " + tensor("!tt.ptr<" + t + ">") +
                "\n  %r0 = tt.load %mp, %a0, %a2 : " + tensor("!tt.ptr<" + t + ">") + "\n");
    }
  }
}

void shapes(Maker &m) {
  for (auto &t : everything()) {
    auto T = [&](const std::string &shape) { return tensor(t, shape); };
    m.add("tt.trans", t, {t}, {t}, false,
          "  %s = tt.reshape %a0 : " + T("256") + " -> " + T("8x32") +
              "\n  %v = tt.trans %s {order = array<i32: 1, 0>} : " + T("8x32") + " -> " + T("32x8") +
              "\n  %r0 = tt.reshape %v : " + T("32x8") + " -> " + T("256") + "\n");
    m.add("tt.trans", "3d_" + t, {t}, {t}, false,
          "  %s = tt.reshape %a0 : " + T("256") + " -> " + T("4x8x8") +
              "\n  %v = tt.trans %s {order = array<i32: 2, 0, 1>} : " + T("4x8x8") + " -> " + T("8x4x8") +
              "\n  %r0 = tt.reshape %v : " + T("8x4x8") + " -> " + T("256") + "\n");
    m.add("tt.join", t, {t, t}, {t, t}, false,
          "  %j = tt.join %a0, %a1 : " + T("256") + " -> " + T("256x2") + "\n  %r0, %r1 = tt.split %j : " + T("256x2") +
              " -> " + T("256") + "\n");
    m.add("tt.split", t, {t}, {t}, false,
          "  %s = tt.reshape %a0 : " + T("256") + " -> " + T("128x2") + "\n  %x, %y = tt.split %s : " + T("128x2") +
              " -> " + T("128") + "\n  %j = tt.join %y, %x : " + T("128") + " -> " + T("128x2") +
              "\n  %r0 = tt.reshape %j : " + T("128x2") + " -> " + T("256") + "\n");
    m.add("tt.cat", t, {t}, {t}, false,
          "  %s = tt.reshape %a0 : " + T("256") + " -> " + T("128x2") + "\n  %x, %y = tt.split %s : " + T("128x2") +
              " -> " + T("128") + "\n  %r0 = tt.cat %x, %y : " + T("128") + " -> " + T("256") + "\n",
          "any order");
    m.add("tt.broadcast", t, {t}, {t}, false,
          "  %s = tt.reshape %a0 : " + T("256") + " -> " + T("16x16") +
              "\n  %v = tt.trans %s {order = array<i32: 1, 0>} : " + T("16x16") + " -> " + T("16x16") +
              "\n  %e = \"tt.reduce\"(%v) <{axis = 1 : i32}> ({\n  ^bb0(%p: " + t + ", %q: " + t +
              "):\n    tt.reduce.return %p : " + t + "\n  }) : (" + T("16x16") + ") -> " + T("16") +
              "\n  %x = tt.expand_dims %e {axis = 1 : i32} : " + T("16") + " -> " + T("16x1") +
              "\n  %b = tt.broadcast %x : " + T("16x1") + " -> " + T("16x16") +
              "\n  %r0 = tt.reshape %b : " + T("16x16") + " -> " + T("256") + "\n");
    m.add("tt.splat", t, {t}, {t}, false,
          "  %s = tt.load %in0 : !tt.ptr<" + t + ">\n  %r0 = tt.splat %s : " + t + " -> " + T("256") + "\n");
    m.add("tt.unsplat", t, {t}, {t}, false,
          "  %o = tt.splat %in0 : !tt.ptr<" + t + "> -> " + tensor("!tt.ptr<" + t + ">", "1") +
              "\n  %l = tt.load %o : " + tensor("!tt.ptr<" + t + ">", "1") + "\n  %s = tt.unsplat %l : " + T("1") +
              "\n  %r0 = tt.splat %s : " + t + " -> " + T("256") + "\n");
    m.add("tt.gather", t, {t, "i32"}, {t}, false,
          "  %m = arith.constant dense<255> : tensor<256xi32>\n  %i = arith.andi %a1, %m : tensor<256xi32>\n  %r0 = "
          "tt.gather %a0[%i] {axis = 0 : i32} : (" +
              T("256") + ", tensor<256xi32>) -> " + T("256") + "\n");
    for (auto axis : {0, 1})
      m.add("tt.gather", "axis" + std::to_string(axis) + "_" + t, {t, "i32"}, {t}, false,
            "  %m = arith.constant dense<" + std::string(axis ? "31" : "7") +
                "> : tensor<256xi32>\n  %i0 = arith.andi %a1, %m : tensor<256xi32>\n  %i = tt.reshape %i0 : "
                "tensor<256xi32> -> tensor<8x32xi32>\n  %s = tt.reshape %a0 : " +
                T("256") + " -> " + T("8x32") + "\n  %g = tt.gather %s[%i] {axis = " + std::to_string(axis) +
                " : i32} : (" + T("8x32") + ", tensor<8x32xi32>) -> " + T("8x32") +
                "\n  %r0 = tt.reshape %g : " + T("8x32") + " -> " + T("256") + "\n");
    for (auto pack : {1, 2}) {
      // Swaps neighbours (pack 2) or passes on (pack 1), with a branch.
      std::string args = pack == 1 ? "%p: " + t : "%p: " + t + ", %q: " + t, first = pack == 1 ? "%p" : "%q",
                  ret = pack == 1 ? "%z : " + t : "%z, %p : " + t + ", " + t;
      m.add("tt.map_elementwise", "pack" + std::to_string(pack) + "_" + t, {t}, {t}, false,
            "  %r0 = \"tt.map_elementwise\"(%a0) <{pack = " + std::to_string(pack) + " : i32}> ({\n  ^bb0(" + args +
                "):\n    %c = arith.constant true\n    cf.cond_br %c, ^bb1(" + first + " : " + t + "), ^bb1(%p : " + t +
                ")\n  ^bb1(%z: " + t + "):\n    tt.map_elementwise.return " + ret + "\n  }) : (" + T("256") + ") -> " +
                T("256") + "\n",
            pack == 2 ? "any order" : "");
    }
  }
  for (auto &t : {"i32", "i64", "i16", "i8"}) {
    m.add("tt.histogram", t, {t}, {"i32"}, false,
          std::string("  %m = arith.constant dense<63> : ") + tensor(t) + "\n  %x = arith.andi %a0, %m : " + tensor(t) +
              "\n  %r0 = tt.histogram %x : " + tensor(t) + " -> tensor<256xi32>\n");
    m.add("tt.histogram", std::string("masked_") + t, {t, "i1"}, {"i32"}, false,
          std::string("  %m = arith.constant dense<63> : ") + tensor(t) + "\n  %x = arith.andi %a0, %m : " + tensor(t) +
              "\n  %r0 = tt.histogram %x, %a1 : " + tensor(t) + " -> tensor<256xi32>\n");
  }
}

/// What combines two values of a type, and its line.
std::string combination(const std::string &op, const std::string &t, const std::string &p, const std::string &q,
                        const std::string &out) {
  return "    " + out + " = " + op + " " + p + ", " + q + " : " + t + "\n";
}

void acrossThreads(Maker &m) {
  for (auto &t : everything()) {
    if (llvm::StringRef(t).starts_with("f8")) continue;
    Types ops = isFloat(t) ? Types{"arith.addf", "arith.maxnumf", "arith.minimumf"}
                           : Types{"arith.addi", "arith.maxsi", "arith.minui", "arith.xori",
                                   "arith.andi", "arith.ori",   "arith.minsi", "arith.maxui"};
    for (auto &op : ops) {
      std::string tag = op.substr(6) + "_" + t, domain = op == "arith.addf" ? "sum" : "";
      auto region = [&](const std::string &ret) {
        return "({\n  ^bb0(%p: " + t + ", %q: " + t + "):\n" + combination(op, t, "%p", "%q", "%s0") + "    tt." + ret +
               ".return %s0 : " + t + "\n  })";
      };
      m.add("tt.reduce", tag, {t}, {t}, false,
            "  %x = \"tt.reduce\"(%a0) <{axis = 0 : i32}> " + region("reduce") + " : (" + tensor(t) + ") -> " + t +
                "\n  %r0 = tt.splat %x : " + t + " -> " + tensor(t) + "\n",
            domain);
      for (auto axis : {0, 1}) {
        std::string shape = "8x32", rest = axis ? "8" : "32", spread = axis ? "8x1" : "1x32";
        m.add("tt.reduce", "axis" + std::to_string(axis) + "_" + tag, {t}, {t}, false,
              "  %s = tt.reshape %a0 : " + tensor(t) + " -> " + tensor(t, shape) +
                  "\n  %x = \"tt.reduce\"(%s) <{axis = " + std::to_string(axis) + " : i32}> " + region("reduce") +
                  " : (" + tensor(t, shape) + ") -> " + tensor(t, rest) +
                  "\n  %e = tt.expand_dims %x {axis = " + std::to_string(axis) + " : i32} : " + tensor(t, rest) +
                  " -> " + tensor(t, spread) + "\n  %b = tt.broadcast %e : " + tensor(t, spread) + " -> " +
                  tensor(t, shape) + "\n  %r0 = tt.reshape %b : " + tensor(t, shape) + " -> " + tensor(t) + "\n",
              domain);
        for (const char *reverse : {"false", "true"})
          m.add("tt.scan", "axis" + std::to_string(axis) + (*reverse == 't' ? "_reverse_" : "_") + tag, {t}, {t}, false,
                "  %s = tt.reshape %a0 : " + tensor(t) + " -> " + tensor(t, shape) +
                    "\n  %x = \"tt.scan\"(%s) <{axis = " + std::to_string(axis) + " : i32, reverse = " + reverse +
                    "}> " + region("scan") + " : (" + tensor(t, shape) + ") -> " + tensor(t, shape) +
                    "\n  %r0 = tt.reshape %x : " + tensor(t, shape) + " -> " + tensor(t) + "\n",
                domain);
      }
      for (const char *reverse : {"false", "true"})
        m.add("tt.scan", (*reverse == 't' ? "reverse_" : "") + tag, {t}, {t}, false,
              std::string("  %r0 = \"tt.scan\"(%a0) <{axis = 0 : i32, reverse = ") + reverse + "}> " + region("scan") +
                  " : (" + tensor(t) + ") -> " + tensor(t) + "\n",
              domain);
    }
    // The largest and its index, ties to the left: two operands, and a region of several operations.
    std::string greater = isFloat(t) ? "arith.cmpf ogt" : "arith.cmpi sgt",
                equal = isFloat(t) ? "arith.cmpf oeq" : "arith.cmpi eq";
    std::string argmax = "({\n  ^bb0(%p: " + t + ", %i: i32, %q: " + t + ", %j: i32):\n    %g = " + greater +
                         ", %p, %q : " + t + "\n    %e = " + equal + ", %p, %q : " + t +
                         "\n    %l = arith.cmpi slt, %i, %j : i32\n    %el = arith.andi %e, %l : i1\n    %c = "
                         "arith.ori %g, %el : i1\n    %v = arith.select %c, %p, %q : " +
                         t + "\n    %k = arith.select %c, %i, %j : i32\n";
    m.add("tt.reduce", "argmax_" + t, {t}, {t, "i32"}, false,
          "  %x, %y = \"tt.reduce\"(%a0, %at) <{axis = 0 : i32}> " + argmax + "    tt.reduce.return %v, %k : " + t +
              ", i32\n  }) : (" + tensor(t) + ", tensor<256xi32>) -> (" + t + ", i32)\n  %r0 = tt.splat %x : " + t +
              " -> " + tensor(t) + "\n  %r1 = tt.splat %y : i32 -> tensor<256xi32>\n",
          "no nan");
    for (const char *reverse : {"false", "true"})
      m.add("tt.scan", std::string("argmax_") + (*reverse == 't' ? "reverse_" : "") + t, {t}, {t, "i32"}, false,
            "  %r0, %r1 = \"tt.scan\"(%a0, %at) <{axis = 0 : i32, reverse = " + std::string(reverse) + "}> " + argmax +
                "    tt.scan.return %v, %k : " + t + ", i32\n  }) : (" + tensor(t) + ", tensor<256xi32>) -> (" +
                tensor(t) + ", tensor<256xi32>)\n",
            "no nan");
  }
}

void atomics(Maker &m) {
  std::map<std::string, Types> ops{{"and", {"i16", "i32", "i64"}},
                                   {"or", {"i16", "i32", "i64"}},
                                   {"xor", {"i16", "i32", "i64"}},
                                   {"add", {"i16", "i32", "i64"}},
                                   {"max", {"i16", "i32", "i64"}},
                                   {"min", {"i16", "i32", "i64"}},
                                   {"umax", {"i16", "i32", "i64"}},
                                   {"umin", {"i16", "i32", "i64"}},
                                   {"exch", {"i16", "i32", "i64", "f16", "bf16", "f32", "f64"}},
                                   {"fadd", {"f16", "bf16", "f32", "f64"}}};
  for (auto &[op, types] : ops)
    for (auto &t : types) {
      auto line = [&](const std::string &sem, const std::string &scope, bool mask, bool scalar) {
        auto S = [&](const std::string &x) { return scalar ? x : tensor(x); };
        std::string p = S("!tt.ptr<" + t + ">");
        std::string init = (scalar ? "  %q = tt.addptr %out0, %at : " + p + ", i32\n"
                                   : "  %qs = tt.splat %out0 : !tt.ptr<" + t + "> -> " + p +
                                         "\n  %q = tt.addptr %qs, %at : " + p + ", tensor<256xi32>\n") +
                           "  tt.store %q, %a0 : " + p + "\n";
        return init + "  %old = tt.atomic_rmw " + op + ", " + sem + ", " + scope + ", %q, %a1" + (mask ? ", %a2" : "") +
               " : (" + p + ", " + S(t) + (mask ? ", " + S("i1") : "") + ") -> " + S(t) +
               "\n  %r0 = tt.load %q : " + p + "\n";
      };
      for (bool scalar : {false, true}) {
        m.add("tt.atomic_rmw", op + "_" + t, {t, t}, {t}, scalar, line("acq_rel", "gpu", false, scalar), "atomic");
        m.add("tt.atomic_rmw", op + "_masked_" + t, {t, t, "i1"}, {t}, scalar, line("relaxed", "gpu", true, scalar),
              "atomic");
        // The old value, which every thread gets.
        std::string body = line("relaxed", "gpu", false, scalar);
        m.add("tt.atomic_rmw", op + "_result_" + t, {t, t}, {t, t}, scalar,
              body + "  %r1 = " + (isFloat(t) ? "arith.addf %old, %old : " : "arith.ori %old, %old : ") +
                  (scalar ? t : tensor(t)) + "\n",
              "atomic");
      }
      for (const char *sem : {"relaxed", "acquire", "release", "acq_rel"})
        for (const char *scope : {"gpu", "cta", "sys"})
          m.add("tt.atomic_rmw", op + "_" + sem + "_" + scope + "_" + t, {t, t}, {t}, false,
                line(sem, scope, false, false), "atomic");
    }
  for (auto &t : Types{"i16", "i32", "i64"})
    for (bool scalar : {false, true})
      for (const char *sem : {"relaxed", "acquire", "release", "acq_rel"})
        for (const char *scope : {"gpu", "cta", "sys"}) {
          auto S = [&](const std::string &x) { return scalar ? x : tensor(x); };
          std::string p = S("!tt.ptr<" + t + ">");
          std::string init = (scalar ? "  %q = tt.addptr %out0, %at : " + p + ", i32\n"
                                     : "  %qs = tt.splat %out0 : !tt.ptr<" + t + "> -> " + p +
                                           "\n  %q = tt.addptr %qs, %at : " + p + ", tensor<256xi32>\n") +
                             "  tt.store %q, %a0 : " + p + "\n";
          m.add("tt.atomic_cas", std::string(sem) + "_" + scope + "_" + t, {t, t, t}, {t, t}, scalar,
                init + "  %old = tt.atomic_cas " + sem + ", " + scope + ", %q, %a1, %a2 : (" + p + ", " + S(t) + ", " +
                    S(t) + ") -> " + S(t) + "\n  %r0 = tt.load %q : " + p + "\n  %r1 = arith.ori %old, %old : " + S(t) +
                    "\n",
                "atomic");
        }
}

/// Atomic loads, stores and polls of memory that the program has to itself.
void atomicAccesses(Maker &m) {
  for (auto &t : Types{"i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"})
    for (bool scalar : {false, true})
      for (const char *scope : {"gpu", "cta", "sys"}) {
        auto S = [&](const std::string &x) { return scalar ? x : tensor(x); };
        std::string p = S("!tt.ptr<" + t + ">"), one = scalar ? "i1" : tensor("i1");
        std::string init = scalar ? "  %q = tt.addptr %out0, %at : " + p + ", i32\n"
                                  : "  %qs = tt.splat %out0 : !tt.ptr<" + t + "> -> " + p +
                                        "\n  %q = tt.addptr %qs, %at : " + p + ", tensor<256xi32>\n";
        for (bool orders : {false, true}) {
          std::string store = orders ? "release" : "relaxed", load = orders ? "acquire" : "relaxed";
          std::string stored = init + "  tt.atomic_store " + store + ", " + scope + ", %q, %a0 : " + p + "\n";
          std::string tag = store + "_" + scope + "_" + t;
          m.add("tt.atomic_store", tag, {t}, {t}, scalar, stored + "  %r0 = tt.load %q : " + p + "\n", "atomic");
          m.add("tt.atomic_load", load + "_" + scope + "_" + t, {t}, {t}, scalar,
                stored + "  %r0 = tt.atomic_load " + load + ", " + scope + ", %q : (" + p + ") -> " + S(t) + "\n",
                "atomic");
          if (t[0] != 'i') continue;
          for (bool timed : {false, true})
            m.add("tt.atomic_poll", (timed ? "timeout_" : "") + load + "_" + scope + "_" + t, {t}, {"i1"}, scalar,
                  std::string(timed ? "  %ns = arith.constant 1000 : i64\n" : "") + "  %r0 = tt.atomic_poll " + load +
                      ", " + scope + ", %in0p, %a0" + (timed ? " timeout %ns" : "") + " : " + p + ", " + S(t) + " -> " +
                      one + "\n",
                  "atomic");
        }
      }
}

void others(Maker &m) {
  for (const char *dim : {"x", "y", "z"})
    for (const char *op : {"tt.get_program_id", "tt.get_num_programs"})
      m.both(op, {"i32"}, {"i32"}, std::string("%n = ") + op + " " + dim + " : i32\n  %r0 = {S} %a0, %n : {T}", dim);
  for (auto &k : m.out) {
    if (k.text.find("{S}") == std::string::npos) continue;
    if (k.scalar)
      k.text = replaced(k.text, "{S}", "arith.addi");
    else
      k.text = replaced(replaced(k.text, "%r0 = {S} %a0, %n",
                                 "%ns = tt.splat %n : i32 -> tensor<256xi32>\n  %r0 = arith.addi %a0, %ns"),
                        "{S}", "");
  }
  m.both("tt.assert", {"i1"}, {"i1"}, "tt.assert %a0, \"a % message\" : {T}\n  %r0 = arith.ori %a0, %a0 : {T}", "i1",
         "true");
  for (auto &t : everything()) {
    m.both("tt.print", {t}, {t},
           "tt.print \" x % is: \" {hex = false, isSigned = array<i32: 1>} : %a0 : {T}\n  %r0 = arith.select %c, %a0, "
           "%a0 : {T}",
           t, "print");
    m.both(
        "tt.print", {t}, {t},
        "tt.print \" x: \" {hex = true, isSigned = array<i32: 0>} : %a0 : {T}\n  %r0 = arith.select %c, %a0, %a0 : {T}",
        "hex_" + t, "print");
  }
  for (auto &k : m.out)
    if (k.opcode == "tt.print") {
      size_t from = k.text.find("  %r0 = "), to = k.text.find('\n', from);
      k.text.replace(from, to + 1 - from, "");
      k.text = replaced(k.text, "%r0", "%a0");
    }
  const std::pair<const char *, const char *> functions[] = {
      {"__nv_sinf", "f32"},       {"__nv_sin", "f64"},        {"__nv_expf", "f32"},      {"__nv_fabsf", "f32"},
      {"__nv_rintf", "f32"},      {"__nv_isnanf", ""},        {"__ocml_sin_f32", "f32"}, {"__ocml_exp_f64", "f64"},
      {"__ocml_tanh_f32", "f32"}, {"__ocml_rsqrt_f32", "f32"}};
  for (auto [f, t] : functions)
    if (*t)
      m.both("tt.extern_elementwise", {t}, {t},
             std::string("%r0 = tt.extern_elementwise %a0 {libname = \"\", libpath = \"\", pure = true, symbol = \"") +
                 f + "\"} : ({T}) -> {U}",
             f);
}

} // namespace

std::vector<OneOperationKernel> oneOperationKernels() {
  Maker m;
  integers(m);
  floats(m);
  conversions(m);
  memory(m);
  shapes(m);
  acrossThreads(m);
  atomics(m);
  atomicAccesses(m);
  others(m);
  return std::move(m.out);
}

} // namespace tessera::testing
