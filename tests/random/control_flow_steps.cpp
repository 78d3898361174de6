// Loops and branches, with one operation or with any steps inside.
#include "kernel_writer.h"
#include <utility>

namespace tessera::random {

Value Generator::loop(Value v) {
  if (isFloat(v.type) || v.type == I1) v = cast(v, I32);
  std::string lo = scalar(upTo(2)), hi = scalar(upTo(6)), step = scalar(1 + upTo(2)), t = typeOf(v), r = fresh(),
              n = r.substr(2);
  Value o = partner(v);
  std::string op = pick({"arith.addi", "arith.muli", "arith.xori", "arith.maxsi", "arith.subi"}),
              e = kTypeNames[v.type];
  std::string counter = v.type == I32 ? cat("%i", n) : "%j" + n,
              convert = v.type == I32 ? ""
                                      : cat("      %j", n, v.type == I64 ? " = arith.extsi %i" : " = arith.trunci %i",
                                            n, " : i32 to ", e, "\n");
  std::string body =
      cat(convert, "      %d", n, " = tt.splat ", counter, " : ", e, " -> ", t, "\n      %e", n, " = arith.addi %acc",
          n, ", %d", n, " : ", t, "\n      %f", n, " = ", op, " %e", n, ", ", o.name, " : ", t, "\n");
  if (coin()) {
    text_ += cat("    ", r, " = scf.for %i", n, " = ", lo, " to ", hi, " step ", step, " iter_args(%acc", n, " = ",
                 v.name, ") -> (", t, ") : i32 {\n", body, "      scf.yield %f", n, " : ", t, "\n    }\n");
    return named({"", v.shape, v.type, -1, v.layout}, r);
  }
  // As long as the counter is less, which a program starts from its own number.
  text_ +=
      cat("    ", r, ":2 = scf.while (%c", n, " = ", pid_, ", %a", n, " = ", v.name, ") : (i32, ", t, ") -> (i32, ", t,
          ") {\n      %m", n, " = arith.cmpi slt, %c", n, ", ", hi, " : i32\n      scf.condition(%m", n, ") %c", n,
          ", %a", n, " : i32, ", t, "\n    } do {\n    ^bb0(%i", n, ": i32, %acc", n, ": ", t, "):\n", body, "      %k",
          n, " = arith.addi %i", n, ", ", step, " : i32\n      scf.yield %k", n, ", %f", n, " : i32, ", t, "\n    }\n");
  return named({"", v.shape, v.type, -1, v.layout}, r + "#1");
}

Value Generator::resultOf(const Value &v, size_t known) {
  Value r = v;
  for (size_t k = known; k < values_.size(); ++k)
    if (values_[k].shape == v.shape) r = values_[k];
  r = cast(converted(r, v.layout), v.type);
  return isFloat(v.type) ? bounded(r, v.bound) : r;
}

void Generator::someSteps() {
  for (unsigned k = 1 + upTo(3); k > 0; --k) ttgir_ ? ttgirStep() : step();
}

/// A partner for the value, where both are to be carried: wide enough, and bounded so that a few additions stay exact.
Value Generator::boundedPartner(Value &v) {
  if (isNarrow(v.type)) v = cast(v, F32);
  Value other = partner(v);
  if (isFloat(v.type)) {
    int64_t most = exactUpTo(v.type) / 4;
    v = bounded(v, most), other = bounded(other, most);
    v.bound = other.bound = most;
  } else {
    v.bound = other.bound = v.type == I1 ? 1 : -1;
  }
  return other;
}

Value Generator::generalLoop(Value v) {
  Value other = boundedPartner(v);
  std::string lo = scalar(upTo(2)), hi = scalar(upTo(6)), one = scalar(1), t = typeOf(v), r = fresh(), n = r.substr(2),
              before = counter_;
  bool isWhile = upTo(3) == 0;
  std::string body = inside([&] {
    counter_ = "%i" + n;
    size_t known = values_.size();
    put(named(other, "%o" + n)), put(named(v, "%a" + n));
    someSteps();
    Value next = resultOf(named(v, "%a" + n), known);
    text_ += isWhile ? cat("      scf.yield %k", n, ", ", next.name, ", %a", n, " : i32, ", t, ", ", t, "\n")
                     : cat("      scf.yield ", next.name, ", %a", n, " : ", t, ", ", t, "\n");
  });
  counter_ = before;
  if (isWhile) {
    text_ += cat("    ", r, ":3 = scf.while (%c", n, " = ", lo, ", %b", n, " = ", v.name, ", %p", n, " = ", other.name,
                 ") : (i32, ", t, ", ", t, ") -> (", t, ", ", t, ", i32) {\n      %m", n, " = arith.cmpi slt, %c", n,
                 ", ", hi, " : i32\n      scf.condition(%m", n, ") %b", n, ", %p", n, ", %c", n, " : ", t, ", ", t,
                 ", i32\n    } do {\n    ^bb0(%a", n, ": ", t, ", %o", n, ": ", t, ", %i", n, ": i32):\n      %k", n,
                 " = arith.addi %i", n, ", ", one, " : i32\n", body, "    }\n");
    put(named(other, r + "#1"));
    return named(v, r + "#0");
  }
  text_ += cat("    ", r, ":2 = scf.for %i", n, " = ", lo, " to ", hi, " step ", one, " iter_args(%a", n, " = ", v.name,
               ", %o", n, " = ", other.name, ") -> (", t, ", ", t, ") : i32 {\n", body, "    }\n");
  put(named(other, r + "#1"));
  return named(v, r + "#0");
}

Value Generator::generalBranch(Value v) {
  if (isNarrow(v.type)) v = cast(v, F32);
  if (isFloat(v.type)) {
    int64_t most = exactUpTo(v.type) / 2;
    v = bounded(v, most), v.bound = most;
  } else {
    v.bound = v.type == I1 ? 1 : -1;
  }
  std::string c = emit(cat("arith.cmpi ", pick({"eq", "slt", "ne"}), ", ", counter_.empty() || coin() ? pid_ : counter_,
                           ", ", scalar(upTo(3)), " : i32")),
              t = typeOf(v), r = fresh(), sides[2];
  for (std::string &s : sides)
    s = inside([&] {
      size_t known = values_.size();
      if (upTo(4)) someSteps();
      text_ += cat("      scf.yield ", resultOf(v, known).name, " : ", t, "\n");
    });
  text_ += cat("    ", r, " = scf.if ", c, " -> (", t, ") {\n", sides[0], "    } else {\n", sides[1], "    }\n");
  return named(v, r);
}

Value Generator::branch(Value v) {
  Value o = binary(partner(v));
  o = cast(o, v.type);
  std::string c = emit(cat("arith.cmpi ", pick({"eq", "slt", "ne"}), ", ", pid_, ", ", scalar(upTo(2)), " : i32")),
              t = typeOf(v), r = fresh(), n = r.substr(2);
  std::string inside =
      isFloat(v.type) || v.type == I1 ? "" : cat("      %t", n, " = arith.xori ", v.name, ", ", o.name, " : ", t, "\n");
  text_ += cat("    ", r, " = scf.if ", c, " -> (", t, ") {\n", inside, "      scf.yield ",
               inside.empty() ? v.name : "%t" + n, " : ", t, "\n    } else {\n      scf.yield ", o.name, " : ", t,
               "\n    }\n");
  return named(
      {"", v.shape, v.type, v.bound < 0 || o.bound < 0 || !inside.empty() ? -1 : std::max(v.bound, o.bound), v.layout},
      r);
}

Value Generator::call(Value v) {
  if (depth_) return binary(v);
  Value other = boundedPartner(v);
  std::string f = fresh(), n = f.substr(2), t = typeOf(v), types = cat("(", t, ", ", t), arguments,
              parameters = cat("%a", n, ": ", t, ", %o", n, ": ", t);
  for (auto &p : kParameters) {
    arguments += cat(", ", p.name), types += cat(", !tt.ptr<", kTypeNames[p.type], ">");
    parameters += cat(", ", p.name, ": !tt.ptr<", kTypeNames[p.type], "> {tt.divisibility = 16 : i32}");
  }
  types += ") -> " + t;
  // Its operands are its arguments alone.
  std::vector<Value> pool;
  std::string caller = pid_;
  pool.swap(values_);
  bool callerIsFunction = std::exchange(isInFunction_, true);
  std::string body = inside([&] {
    pid_ = emit("tt.get_program_id x : i32");
    put(named(other, "%o" + n)), put(named(v, "%a" + n));
    someSteps();
    text_ += cat("    tt.return ", resultOf(named(v, "%a" + n), 2).name, " : ", t, "\n");
  });
  pool.swap(values_);
  pid_ = caller;
  isInFunction_ = callerIsFunction;
  functions_ +=
      cat("  tt.func private @f", n, "(", parameters, ") -> ", t, " attributes {noinline = true} {\n", body, "  }\n");
  auto called = [&](const Value &a, const Value &b) {
    return named(v, emit(cat("tt.call @f", n, "(", a.name, ", ", b.name, arguments, ") : ", types)));
  };
  Value r = called(v, other);
  return coin() ? called(other, r) : r;
}

} // namespace tessera::random
