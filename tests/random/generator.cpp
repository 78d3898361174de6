// See generator.h. A generator keeps a pool of values; a step takes some, appends operations to the text and puts the
// result into the pool; at the end several values are stored.
#include "generator.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <random>
#include <vector>

namespace tessera::random {
namespace {

enum Type { I1, I8, I16, I32, I64, F16, BF16, F32, F64, E4M3, E5M2 };
constexpr const char *kTypeNames[] = {"i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"};
constexpr unsigned kTypeBits[] = {1, 8, 16, 32, 64, 16, 16, 32, 64, 8, 8};
bool isFloat(Type t) { return t >= F16; }
bool isNarrow(Type t) { return t >= E4M3; }
/// Whole numbers up to here are exact.
int64_t exactUpTo(Type t) {
  switch (t) {
  case F16: return 2048;
  case BF16: return 256;
  case F32: return 1 << 24;
  case F64: return int64_t(1) << 53;
  case E4M3: return 16;
  case E5M2: return 8;
  default: return INT64_MAX;
  }
}

using Shape = std::vector<unsigned>;
struct Value {
  std::string name;
  Shape shape;
  Type type = I32;
  int64_t bound = -1; // of the size of its elements; -1: none (integers only)
  std::string layout = {}; // TTGIR
};

std::string str(const std::string &s) { return s; }
std::string str(const char *s) { return s; }
std::string str(int64_t v) { return std::to_string(v); }
std::string str(unsigned v) { return std::to_string(v); }
std::string str(int v) { return std::to_string(v); }
template <class... A> std::string cat(const A &...a) { return (str(a) + ...); }

unsigned product(const Shape &s) {
  unsigned n = 1;
  for (unsigned d : s) n *= d;
  return n;
}
std::string list(llvm::ArrayRef<unsigned> v) {
  std::string s = "[";
  for (auto [i, x] : llvm::enumerate(v)) s += (i ? ", " : "") + std::to_string(x);
  return s + "]";
}

class Generator {
public:
  Generator(unsigned seed, Level level, const ir::TargetInfo *target) : random_(seed * 2 + (level == Level::Ttgir)), ttgir_(level == Level::Ttgir), target_(target) {}

  Kernel run() {
    kernel_.programs = upTo(3) ? 1 : int(2 + upTo(2));
    kernel_.numWarps = 1 << upTo(4);
    pid_ = emit("tt.get_program_id x : i32");
    if (ttgir_) {
      Shape s{1u << (2 + upTo(5)), 1u << (2 + upTo(5))};
      put(load(s, pick({I32, I32, I8, F16, F32})));
      for (unsigned k = 0, steps = 3 + upTo(6); k < steps; ++k) ttgirStep();
    } else {
      put(load(randomShape(), pick({I32, I32, I8, F16, BF16, F32})));
      if (upTo(3) == 0) dot();
      for (unsigned k = 0, steps = 3 + upTo(9); k < steps; ++k) step();
    }
    store(values_.back());
    for (unsigned k = upTo(3); k-- > 0;) store(any());
    kernel_.text = header() + text_ + "    tt.return\n  }\n}\n";
    return kernel_;
  }

private:
  // ---- text ----
  unsigned upTo(unsigned n) { return unsigned(random_() % n); } // excluded
  bool coin() { return upTo(2); }
  template <class T> T pick(std::initializer_list<T> l) { return l.begin()[upTo(unsigned(l.size()))]; }
  std::string fresh() { return "%v" + std::to_string(next_++); }
  std::string emit(const std::string &s) {
    std::string n = fresh();
    text_ += "    " + n + " = " + s + "\n";
    return n;
  }
  static std::string tensorOf(const Shape &s, const std::string &element, const std::string &layout) {
    if (s.empty()) return element;
    std::string out = "tensor<";
    for (unsigned d : s) out += std::to_string(d) + "x";
    return out + element + (layout.empty() ? "" : ", " + layout) + ">";
  }
  static std::string typeOf(const Value &v) { return tensorOf(v.shape, kTypeNames[v.type], v.layout); }
  static std::string like(const Value &v, const char *element) { return tensorOf(v.shape, element, v.layout); }
  Value make(Value shapeOf, Type t, int64_t bound, const std::string &s) {
    shapeOf.type = t, shapeOf.bound = bound, shapeOf.name = emit(s);
    return shapeOf;
  }
  Value constant(const Value &shapeOf, Type t, int64_t c) {
    std::string text = isFloat(t) ? cat(c, ".0") : cat(c);
    Value v = shapeOf;
    v.type = t;
    return make(v, t, std::abs(c), v.shape.empty() ? cat("arith.constant ", text, " : ", kTypeNames[t]) : cat("arith.constant dense<", text, "> : ", typeOf(v)));
  }
  std::string header() const {
    std::string attributes;
    if (ttgir_)
      attributes = cat(" attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = ", kernel_.numWarps, " : i32, ttg.target = \"", target_->tritonTarget.str(), "\", \"ttg.threads-per-warp\" = ", target_->warpSize, " : i32}");
    std::string s = "module" + attributes + " {\n  tt.func public @k(";
    const char *names[] = {"x", "b", "h", "g", "f", "y", "z"}, *types[] = {"i32", "i8", "f16", "bf16", "f32", "i32", "i32"};
    for (int k = 0; k < 7; ++k) s += cat(k ? ", %p" : "%p", names[k], ": !tt.ptr<", types[k], "> {tt.divisibility = 16 : i32}");
    return s + ") {\n";
  }

  // ---- the pool ----
  void put(Value v) { values_.push_back(std::move(v)); }
  Value any() { return values_[values_.size() - 1 - std::min<size_t>(upTo(4), values_.size() - 1)]; }
  Shape randomShape() {
    unsigned rank = 1 + upTo(3);
    Shape s;
    unsigned bits = 4 + upTo(8);
    for (unsigned k = 0; k < rank; ++k) {
      unsigned here = k + 1 == rank ? bits : upTo(bits + 1);
      s.push_back(1u << here), bits -= here;
    }
    for (unsigned k = rank; k > 1; --k) std::swap(s[k - 1], s[upTo(k)]);
    return s;
  }

  // ---- layouts (TTGIR) ----
  std::string blocked(const Shape &s) {
    unsigned rank = unsigned(s.size());
    std::vector<unsigned> size(rank), threads(rank, 1), warps(rank, 1), order(rank);
    for (unsigned d = 0; d < rank; ++d) size[d] = 1u << upTo(3), order[d] = d;
    for (unsigned l = llvm::Log2_32(unsigned(target_->warpSize)); l > 0; --l) threads[upTo(rank)] *= 2;
    for (unsigned w = llvm::Log2_32(unsigned(kernel_.numWarps)); w > 0; --w) warps[upTo(rank)] *= 2;
    for (unsigned k = rank; k > 1; --k) std::swap(order[k - 1], order[upTo(k)]);
    return cat("#ttg.blocked<{sizePerThread = ", list(size), ", threadsPerWarp = ", list(threads), ", warpsPerCTA = ", list(warps), ", order = ", list(order), "}>");
  }
  std::string linear(const Shape &s) {
    // The tensor's coordinate bits in any order, the first to registers, then lanes, then warps.
    std::vector<std::vector<unsigned>> bits;
    for (unsigned d = 0; d < s.size(); ++d)
      for (unsigned b = 1; b < s[d]; b *= 2) {
        std::vector<unsigned> v(s.size(), 0);
        v[d] = b;
        bits.push_back(v);
      }
    for (size_t k = bits.size(); k > 1; --k) std::swap(bits[k - 1], bits[upTo(unsigned(k))]);
    unsigned lanes = llvm::Log2_32(unsigned(target_->warpSize)), warps = llvm::Log2_32(unsigned(kernel_.numWarps));
    size_t at = 0, registers = bits.size() > lanes + warps ? bits.size() - lanes - warps : 0;
    std::string zero = list(std::vector<unsigned>(s.size(), 0)), out;
    auto part = [&](const char *name, size_t count) {
      out += cat(out.empty() ? "" : ", ", name, " = [");
      for (size_t k = 0; k < count; ++k) out += (k ? ", " : "") + (at < bits.size() ? list(bits[at++]) : zero);
      out += "]";
    };
    part("register", registers), part("lane", lanes), part("warp", warps);
    return "#ttg.linear<{" + out + ", block = []}>";
  }
  /// A matrix layout of the target for a two-dimensional tensor.
  std::string matrix(Type element, bool forDot) {
    unsigned w = unsigned(kernel_.numWarps), rows = 1u << upTo(llvm::Log2_32(w) + 1);
    std::string warps = list({rows, w / rows});
    switch (target_->matrixUnit) {
    case ir::MatrixUnit::None: return "";
    case ir::MatrixUnit::Mfma: {
      bool small = coin();
      unsigned tile = small ? 16 : 32, k = 0;
      for (auto &i : target_->matrixInstructions)
        if (unsigned(i.m) == tile && unsigned(i.n) == tile && matches(i.a, element) && unsigned(i.k) > k && (!k || coin())) k = unsigned(i.k);
      if (forDot && !k) return "";
      return cat("#ttg.amd_mfma<{version = ", target_->matrixVersion, ", warpsPerCTA = ", warps, ", instrShape = ", list({tile, tile, k ? k : 8u}), ", isTransposed = ", coin() ? "true" : "false", "}>");
    }
    case ir::MatrixUnit::Wmma: return cat("#ttg.amd_wmma<{version = ", target_->matrixVersion, ", isTranspose = ", coin() ? "true" : "false", ", warpsPerCTA = ", warps, "}>");
    default: return cat("#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = ", warps, ", instrShape = [16, 8]}>");
    }
  }
  static bool matches(ir::MatrixType m, Type t) {
    switch (t) {
    case F16: return m == ir::MatrixType::F16;
    case BF16: return m == ir::MatrixType::BF16;
    case F32: return m == ir::MatrixType::F32;
    case I8: return m == ir::MatrixType::I8;
    default: return false;
    }
  }
  std::string randomLayout(const Shape &s, Type element) {
    if (s.size() == 2)
      switch (upTo(8)) {
      case 0: {
        std::string m = matrix(element, false);
        if (!m.empty() && s[0] >= 16 && s[1] >= 16) return m;
        break;
      }
      case 1: { // an operand of a dot
        std::string m = matrix(element, false);
        if (m.empty() || s[0] < 32 || s[1] < 32 || kTypeBits[element] > 32 || element == I1) break;
        unsigned bits = kTypeBits[element];
        return cat("#ttg.dot_op<{opIdx = ", upTo(2), ", parent = ", m, ", kWidth = ", target_->matrixUnit == ir::MatrixUnit::Wmma && target_->matrixVersion == 1 ? 16 : target_->vendor == ir::Vendor::Amd ? 4 : 32 / int(bits), "}>");
      }
      case 2:
      case 3: return linear(s);
      case 4: { // a slice of three dimensions
        unsigned dim = upTo(3), extra = 1u << upTo(3);
        Shape parent = s;
        parent.insert(parent.begin() + dim, extra);
        return cat("#ttg.slice<{dim = ", dim, ", parent = ", blocked(parent), "}>");
      }
      default: break;
      }
    if (s.size() == 1 && coin()) {
      unsigned dim = upTo(2);
      Shape parent = s;
      parent.insert(parent.begin() + dim, 1u << upTo(5));
      return cat("#ttg.slice<{dim = ", dim, ", parent = ", coin() ? blocked(parent) : linear(parent), "}>");
    }
    return upTo(4) ? blocked(s) : linear(s);
  }
  std::string newLayout(const Shape &s, Type element) { return ttgir_ && !s.empty() ? randomLayout(s, element) : ""; }
  Value converted(Value v, const std::string &layout) {
    if (v.layout == layout || v.shape.empty()) return v;
    Value to = v;
    to.layout = layout;
    return make(to, v.type, v.bound, cat("ttg.convert_layout ", v.name, " : ", typeOf(v), " -> ", typeOf(to)));
  }

  // ---- indices, memory ----
  Value range(const Value &shapeOf, unsigned dim) {
    const Shape &s = shapeOf.shape;
    std::string layout = shapeOf.layout;
    // In TTGIR every expanded dimension is one slice.
    std::vector<std::string> layouts{layout};
    if (ttgir_)
      for (unsigned d = unsigned(s.size()); d-- > 0;)
        if (d != dim) layouts.push_back(cat("#ttg.slice<{dim = ", d, ", parent = ", layouts.back(), "}>"));
    Value v{"", {s[dim]}, I32, s[dim], ttgir_ ? layouts.back() : ""};
    v.name = emit(cat("tt.make_range {end = ", s[dim], " : i32, start = 0 : i32} : ", typeOf(v)));
    size_t level = layouts.size() - 1;
    for (unsigned d = 0; d < s.size(); ++d) {
      if (d == dim) continue;
      Value e = v;
      e.shape.insert(e.shape.begin() + d, 1);
      if (ttgir_) e.layout = layouts[--level];
      e.name = emit(cat("tt.expand_dims ", v.name, " {axis = ", d, " : i32} : ", typeOf(v), " -> ", typeOf(e)));
      v = e;
    }
    return broadcast(v, s);
  }
  Value broadcast(const Value &v, const Shape &s) {
    if (v.shape == s) return v;
    Value b = v;
    b.shape = s;
    return make(b, v.type, v.bound, cat("tt.broadcast ", v.name, " : ", typeOf(v), " -> ", typeOf(b)));
  }
  Value arithmetic(const char *op, const Value &a, const Value &b, int64_t bound = -1) { return make(a, a.type, bound, cat(op, " ", a.name, ", ", b.name, " : ", typeOf(a))); }
  Value splat(const std::string &scalar, const Value &shapeOf, Type t) {
    Value v = shapeOf;
    v.type = t;
    return make(v, t, -1, cat("tt.splat ", scalar, " : ", kTypeNames[t], " -> ", typeOf(v)));
  }
  /// Row-major index of every element.
  Value index(const Value &shapeOf) {
    Value i = range(shapeOf, 0);
    for (unsigned d = 1; d < shapeOf.shape.size(); ++d) {
      i = arithmetic("arith.muli", i, constant(shapeOf, I32, shapeOf.shape[d]));
      i = arithmetic("arith.addi", i, range(shapeOf, d));
    }
    i.bound = product(shapeOf.shape);
    return i;
  }
  /// A permutation of the index.
  Value shuffledIndex(const Value &shapeOf) {
    Value i = index(shapeOf);
    unsigned n = product(shapeOf.shape);
    if (upTo(3) == 0) i = arithmetic("arith.xori", i, constant(shapeOf, I32, upTo(n)));
    if (upTo(4) == 0) {
      i = arithmetic("arith.muli", i, constant(shapeOf, I32, 2 * upTo(8) + 1));
      i = arithmetic("arith.andi", i, constant(shapeOf, I32, n - 1));
    }
    i.bound = n;
    return i;
  }
  Value mask(const Value &shapeOf) {
    Value i = index(shapeOf), n = constant(shapeOf, I32, upTo(product(shapeOf.shape) + 1));
    Value m = shapeOf;
    if (coin()) i = arithmetic("arith.xori", i, constant(shapeOf, I32, upTo(64)));
    return make(m, I1, 1, cat("arith.cmpi ", pick({"slt", "ult", "sge", "ne"}), ", ", i.name, ", ", n.name, " : ", typeOf(i)));
  }
  /// Pointers base + offset (a scalar, in elements) + index.
  std::string pointers(const std::string &base, Type t, const std::string &offset, const Value &i) {
    std::string p = offset.empty() ? base : emit(cat("tt.addptr ", base, ", ", offset, " : !tt.ptr<", kTypeNames[t], ">, i32"));
    std::string pt = like(i, (std::string("!tt.ptr<") + kTypeNames[t] + ">").c_str());
    std::string s = emit(cat("tt.splat ", p, " : !tt.ptr<", kTypeNames[t], "> -> ", pt));
    return emit(cat("tt.addptr ", s, ", ", i.name, " : ", pt, ", ", typeOf(i)));
  }
  std::string perProgram(unsigned elements) {
    if (kernel_.programs == 1) return "";
    std::string n = emit(cat("arith.constant ", elements, " : i32"));
    return emit(cat("arith.muli ", pid_, ", ", n, " : i32"));
  }
  Value load(const Shape &s, Type t, bool plain = false) {
    Value v{"", s, t, t == I32 ? -1 : kSmall, newLayout(s, t)};
    const char *base = t == I32 ? "%px" : t == I8 ? "%pb" : t == F16 ? "%ph" : t == BF16 ? "%pg" : "%pf";
    Value i = plain ? index(v) : shuffledIndex(v);
    // Three programs, six rounds of a loop: all within the buffer.
    std::string offset = perProgram(std::min(product(s), (kInputs - product(s)) / 4));
    if (!counter_.empty() && coin()) {
      std::string moved = emit(cat("arith.muli ", counter_, ", ", scalar(std::min(product(s), (kInputs - product(s)) / 12)), " : i32"));
      offset = offset.empty() ? moved : emit(cat("arith.addi ", offset, ", ", moved, " : i32"));
    }
    std::string p = pointers(base, t, offset, i);
    std::string pt = like(v, (std::string("!tt.ptr<") + kTypeNames[t] + ">").c_str());
    if (plain || upTo(3)) {
      v.name = emit(cat("tt.load ", p, " : ", pt));
    } else {
      Value m = mask(v), other = constant(v, t, upTo(4));
      v.name = emit(cat("tt.load ", p, ", ", m.name, ", ", other.name, " : ", pt));
    }
    return v;
  }
  void store(Value v) {
    if (v.shape.empty()) {
      Value one{"", {1}, v.type, v.bound, newLayout({1}, v.type)};
      v = make(one, v.type, v.bound, cat("tt.splat ", v.name, " : ", kTypeNames[v.type], " -> ", typeOf(one)));
    }
    if (v.type == I1 || isNarrow(v.type)) v = cast(v, v.type == I1 ? I8 : F32);
    unsigned bytes = product(v.shape) * kTypeBits[v.type] / 8, all = bytes * unsigned(kernel_.programs);
    if (outputUsed_ + all > kOutputBytes) return;
    if (ttgir_ && coin()) v = converted(v, newLayout(v.shape, v.type));
    Value i = shuffledIndex(v);
    std::string base = "%py";
    if (v.type != I32) base = emit(cat("tt.bitcast %py : !tt.ptr<i32> -> !tt.ptr<", kTypeNames[v.type], ">"));
    std::string offset = emit(cat("arith.constant ", outputUsed_ * 8 / kTypeBits[v.type], " : i32"));
    if (kernel_.programs > 1) offset = emit(cat("arith.addi ", offset, ", ", perProgram(product(v.shape)), " : i32"));
    std::string p = pointers(base, v.type, offset, i), pt = like(v, (std::string("!tt.ptr<") + kTypeNames[v.type] + ">").c_str());
    if (upTo(3)) {
      text_ += cat("    tt.store ", p, ", ", v.name, " : ", pt, "\n");
    } else {
      Value m = mask(v);
      text_ += cat("    tt.store ", p, ", ", v.name, ", ", m.name, " : ", pt, "\n");
    }
    outputUsed_ += (all + 15) / 16 * 16;
  }

  // ---- types ----
  /// Whole numbers in [0, m] (or below zero as well), m + 1 a power of two, as i32.
  Value smallInt(Value v, int64_t m, bool negative) {
    v = toI32(v);
    v = arithmetic("arith.andi", v, constant(v, I32, m), m);
    if (negative) v = arithmetic("arith.subi", v, constant(v, I32, (m + 1) / 2), m);
    return v;
  }
  Value toI32(const Value &v) {
    if (v.type == I32) return v;
    if (isNarrow(v.type)) return toI32(cast(v, F32));
    Value to = v;
    to.type = I32;
    if (!isFloat(v.type)) {
      const char *op = v.type == I64 ? "arith.trunci" : v.type == I1 || coin() ? "arith.extui" : "arith.extsi";
      return make(to, I32, -1, cat(op, " ", v.name, " : ", typeOf(v), " to ", typeOf(to)));
    }
    Value f = v.bound >= (int64_t(1) << 31) ? smallFloat(v) : v;
    return make(to, I32, f.bound, cat("arith.fptosi ", f.name, " : ", typeOf(f), " to ", typeOf(to)));
  }
  Value smallFloat(const Value &v) { // only f64 gets so large
    Value i = make(v, I64, v.bound, cat("arith.fptosi ", v.name, " : ", typeOf(v), " to ", like(v, "i64")));
    i = arithmetic("arith.andi", i, constant(i, I64, 1023), 1023);
    return make(v, F64, 1023, cat("arith.sitofp ", i.name, " : ", typeOf(i), " to ", like(v, "f64")));
  }
  /// The value in another type, made smaller where that does not hold it.
  Value cast(Value v, Type t) {
    if (v.type == t) return v;
    Value to = v;
    to.type = t;
    if (isNarrow(t)) {
      if (v.bound < 0 || v.bound > exactUpTo(t) || !isFloat(v.type) || v.type == F64) v = cast(smallInt(v, t == E4M3 ? 15 : 7, true), F32);
      if (isNarrow(v.type)) v = cast(v, F32);
      return make(to, t, v.bound, cat("tt.fp_to_fp ", v.name, ", rounding = rtne : ", typeOf(v), " -> ", typeOf(to)));
    }
    if (isNarrow(v.type)) {
      Type wide = t == F16 || t == BF16 ? t : F32;
      Value w = v;
      w.type = wide;
      w = make(w, wide, v.bound, cat("tt.fp_to_fp ", v.name, " : ", typeOf(v), " -> ", typeOf(w)));
      return cast(w, t);
    }
    if (isFloat(t)) {
      if (!isFloat(v.type)) {
        if (v.bound < 0 || v.bound > exactUpTo(t)) v = smallInt(v, std::min<int64_t>(exactUpTo(t), 65536) / 2 - 1, coin());
        bool isUnsigned = v.type == I1;
        return make(to, t, v.bound, cat(isUnsigned ? "arith.uitofp " : "arith.sitofp ", v.name, " : ", typeOf(v), " to ", typeOf(to)));
      }
      if (v.bound > exactUpTo(t)) return cast(smallInt(v, exactUpTo(t) / 2 - 1, true), t);
      if (kTypeBits[t] == kTypeBits[v.type]) return cast(cast(v, F32), t);
      return make(to, t, v.bound, cat(kTypeBits[t] > kTypeBits[v.type] ? "arith.extf " : "arith.truncf ", v.name, " : ", typeOf(v), " to ", typeOf(to)));
    }
    if (isFloat(v.type)) v = toI32(v);
    if (v.type == t) return v;
    if (t == I1) return make(to, I1, 1, cat("arith.cmpi ", pick({"slt", "ne", "ugt"}), ", ", v.name, ", ", constant(v, v.type, upTo(100)).name, " : ", typeOf(v)));
    bool wider = kTypeBits[t] > kTypeBits[v.type];
    int64_t bound = v.bound >= 0 && (wider || v.bound < (int64_t(1) << (kTypeBits[t] - 1))) ? v.bound : -1;
    return make(to, t, bound, cat(wider ? (v.type == I1 || (bound < 0 && coin()) ? "arith.extui " : "arith.extsi ") : "arith.trunci ", v.name, " : ", typeOf(v), " to ", typeOf(to)));
  }
  /// Another value of this shape and type.
  Value partner(const Value &v) {
    for (unsigned tries = 0; tries < 3; ++tries) {
      Value o = any();
      if (o.shape == v.shape && !v.shape.empty()) return cast(converted(o, v.layout), v.type);
    }
    if (v.shape.empty()) return constant(v, v.type, 1 + upTo(5));
    return cast(index(v), v.type);
  }
  static Value named(Value v, const std::string &n) {
    v.name = n;
    return v;
  }
  Value bounded(const Value &v, int64_t most) { return v.bound >= 0 && v.bound <= most ? v : cast(smallInt(v, int64_t(llvm::bit_floor(uint64_t(most) + 1)) - 1, false), v.type); }

  // ---- steps ----
  Value binary(Value a) {
    if (isNarrow(a.type)) a = cast(a, F32);
    if (!isFloat(a.type)) {
      Value b = partner(a);
      const char *op = a.type == I1 ? pick({"arith.andi", "arith.ori", "arith.xori"})
                                    : pick({"arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.shli", "arith.shrui", "arith.shrsi", "arith.divsi", "arith.remui"});
      std::string name = op;
      if (name.find("arith.sh") == 0) b = arithmetic("arith.andi", b, constant(b, b.type, kTypeBits[a.type] - 1));
      if (name == "arith.divsi" || name == "arith.remui") { // by one or more
        b = arithmetic("arith.andi", b, constant(b, b.type, 31));
        b = arithmetic("arith.addi", b, constant(b, b.type, 1));
      }
      return arithmetic(op, a, b);
    }
    Value b = partner(a);
    int64_t most = exactUpTo(a.type);
    switch (upTo(6)) {
    case 5: { // rounded once: not a whole number, so back to one at once
      if (a.type != F32) return arithmetic("arith.maxnumf", a, b, std::max(a.bound, b.bound));
      Value q = make(a, F32, b.bound, cat("math.absf ", b.name, " : ", typeOf(b)));
      q = arithmetic("arith.addf", bounded(q, 1 << 20), constant(a, F32, 1));
      q = coin() ? make(a, F32, a.bound, cat("tt.precise_divf ", a.name, ", ", q.name, " : ", typeOf(a))) : make(a, F32, 1 << 12, cat("tt.precise_sqrt ", q.name, " : ", typeOf(a)));
      q = arithmetic("arith.mulf", q, constant(a, F32, 64));
      Value i = make(a, I32, -1, cat("arith.fptosi ", q.name, " : ", typeOf(q), " to ", like(q, "i32")));
      return cast(smallInt(i, (1 << 20) - 1, false), F32);
    }
    case 0:
      a = bounded(a, most / 2), b = bounded(b, most / 2);
      return arithmetic(coin() ? "arith.addf" : "arith.subf", a, b, a.bound + b.bound);
    case 1: {
      int64_t root = a.type == F64 ? 1 << 20 : a.type == F32 ? 2048 : a.type == F16 ? 31 : 15;
      a = bounded(a, root), b = bounded(b, root);
      return arithmetic("arith.mulf", a, b, a.bound * b.bound);
    }
    case 2: return make(a, a.type, a.bound, cat("arith.negf ", a.name, " : ", typeOf(a)));
    case 3: return make(a, a.type, a.bound, cat("math.absf ", a.name, " : ", typeOf(a)));
    default: return arithmetic(pick({"arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf"}), a, b, std::max(a.bound, b.bound));
    }
  }
  struct Combiner {
    const char *op;
    bool sums;
  };
  Combiner combiner(const Value &v) {
    if (isFloat(v.type)) return coin() ? Combiner{"arith.addf", true} : Combiner{pick({"arith.maxnumf", "arith.minnumf"}), false};
    return {v.type == I1 ? pick({"arith.andi", "arith.ori", "arith.xori"}) : pick({"arith.addi", "arith.xori", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.ori", "arith.andi", "arith.muli"}), true};
  }
  /// Brings a float so far down that `count` of them can be added up.
  Value forSum(const Value &v, const Combiner &c, unsigned count) {
    if (!isFloat(v.type) || !c.sums) return v;
    if (exactUpTo(v.type) < int64_t(count) * 4) return forSum(cast(v, F32), c, count);
    return bounded(v, exactUpTo(v.type) / count);
  }
  Value reduce(Value v) {
    if (isNarrow(v.type)) v = cast(v, coin() ? F16 : F32);
    unsigned axis = upTo(unsigned(v.shape.size())), count = v.shape[axis];
    Combiner c = combiner(v);
    v = forSum(v, c, count);
    c = isFloat(v.type) && c.op[6] != 'm' ? Combiner{"arith.addf", true} : c;
    std::string e = kTypeNames[v.type];
    Value r = v;
    r.shape.erase(r.shape.begin() + axis);
    if (ttgir_) r.layout = r.shape.empty() ? "" : cat("#ttg.slice<{dim = ", axis, ", parent = ", v.layout, "}>");
    r.name = emit(cat("\"tt.reduce\"(", v.name, ") <{axis = ", axis, " : i32}> ({\n    ^bb0(%a: ", e, ", %b: ", e, "):\n      %s = ", c.op, " %a, %b : ", e, "\n      tt.reduce.return %s : ", e, "\n    }) : (", typeOf(v), ") -> ", typeOf(r)));
    r.bound = isFloat(v.type) ? (c.sums ? v.bound * count : v.bound) : -1;
    if (r.shape.empty() || upTo(3) == 0) return r;
    // Broadcast back and combined with what it came from.
    Value back = r;
    back.shape = v.shape, back.shape[axis] = 1, back.layout = v.layout;
    back.name = emit(cat("tt.expand_dims ", r.name, " {axis = ", axis, " : i32} : ", typeOf(r), " -> ", typeOf(back)));
    back = broadcast(back, v.shape);
    if (isFloat(v.type)) return arithmetic("arith.maxnumf", v, back, std::max(v.bound, back.bound));
    return arithmetic(pick({"arith.subi", "arith.xori", "arith.addi"}), v.type == I1 ? cast(v, I32) : v, v.type == I1 ? cast(back, I32) : back);
  }
  /// The largest element of a row and where it is first.
  Value argMax(Value v) {
    if (isNarrow(v.type) || v.type == I1) v = cast(v, I32);
    unsigned axis = upTo(unsigned(v.shape.size()));
    Value i = range(v, axis);
    std::string e = kTypeNames[v.type], more = isFloat(v.type) ? "arith.cmpf ogt" : "arith.cmpi sgt", same = isFloat(v.type) ? "arith.cmpf oeq" : "arith.cmpi eq";
    Value m = v, at = i;
    m.shape.erase(m.shape.begin() + axis);
    if (ttgir_) m.layout = m.shape.empty() ? "" : cat("#ttg.slice<{dim = ", axis, ", parent = ", v.layout, "}>");
    at.shape = m.shape, at.layout = m.layout;
    m.name = fresh(), at.name = m.name + "#1";
    text_ += cat("    ", m.name, ":2 = \"tt.reduce\"(", v.name, ", ", i.name, ") <{axis = ", axis, " : i32}> ({\n    ^bb0(%a: ", e, ", %i: i32, %b: ", e, ", %j: i32):\n      %t = ", same, ", %a, %b : ", e, "\n      %l = arith.cmpi slt, %i, %j : i32\n      %u = arith.andi %t, %l : i1\n      %g = ",
                 more, ", %a, %b : ", e, "\n      %w = arith.ori %g, %u : i1\n      %m = arith.select %w, %a, %b : ", e, "\n      %n = arith.select %w, %i, %j : i32\n      tt.reduce.return %m, %n : ", e, ", i32\n    }) : (", typeOf(v), ", ", typeOf(i), ") -> (", typeOf(m), ", ", typeOf(at), ")\n");
    m.name += "#0";
    put(m);
    return at;
  }
  Value scan(Value v) {
    if (isNarrow(v.type)) v = cast(v, F32);
    unsigned axis = upTo(unsigned(v.shape.size()));
    Combiner c = combiner(v);
    v = forSum(v, c, v.shape[axis]);
    c = isFloat(v.type) && c.op[6] != 'm' ? Combiner{"arith.addf", true} : c;
    std::string e = kTypeNames[v.type];
    return make(v, v.type, isFloat(v.type) ? (c.sums ? v.bound * v.shape[axis] : v.bound) : -1,
                cat("\"tt.scan\"(", v.name, ") <{axis = ", axis, " : i32, reverse = ", coin() ? "true" : "false", "}> ({\n    ^bb0(%a: ", e, ", %b: ", e, "):\n      %s = ", c.op, " %a, %b : ", e, "\n      tt.scan.return %s : ", e, "\n    }) : (", typeOf(v), ") -> ", typeOf(v)));
  }
  Value transpose(const Value &v) {
    std::vector<unsigned> order(v.shape.size());
    for (unsigned k = 0; k < order.size(); ++k) order[k] = k;
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[upTo(unsigned(k))]);
    Value w = v;
    for (unsigned k = 0; k < order.size(); ++k) w.shape[k] = v.shape[order[k]];
    std::string o;
    for (auto [k, x] : llvm::enumerate(order)) o += (k ? ", " : "") + std::to_string(x);
    return make(w, v.type, v.bound, cat("tt.trans ", v.name, " {order = array<i32: ", o, ">} : ", typeOf(v), " -> ", typeOf(w)));
  }
  Value reshape(const Value &v, Shape s) {
    Value w = v;
    w.shape = std::move(s);
    return make(w, v.type, v.bound, cat("tt.reshape ", v.name, " : ", typeOf(v), " -> ", typeOf(w)));
  }
  Shape otherShape(unsigned elements) {
    Shape s{1};
    for (unsigned rank = upTo(3); rank > 0; --rank) s.push_back(1);
    while (elements > 1) s[upTo(unsigned(s.size()))] *= 2, elements /= 2;
    return s;
  }
  Value joinOrSplit(Value v) {
    if (v.shape.back() == 2 && v.shape.size() > 1 && coin()) {
      Value l = v;
      l.shape.pop_back();
      Value r = l;
      l.name = fresh(), r.name = fresh();
      text_ += cat("    ", l.name, ", ", r.name, " = tt.split ", v.name, " : ", typeOf(v), " -> ", typeOf(l), "\n");
      put(l);
      return r;
    }
    Value o = partner(v), j = v;
    if (product(v.shape) > 4096 || v.shape.size() > 3) return v;
    j.shape.push_back(2);
    return make(j, v.type, v.bound < 0 || o.bound < 0 ? -1 : std::max(v.bound, o.bound), cat("tt.join ", v.name, ", ", o.name, " : ", typeOf(v), " -> ", typeOf(j)));
  }
  Value gather(const Value &v) {
    unsigned axis = upTo(unsigned(v.shape.size()));
    Value i = smallInt(partner(v), v.shape[axis] - 1, false);
    return make(v, v.type, v.bound, cat("tt.gather ", v.name, "[", i.name, "] {axis = ", axis, " : i32} : (", typeOf(v), ", ", typeOf(i), ") -> ", typeOf(v)));
  }
  Value histogram(const Value &v) {
    if (product(v.shape) < 32) return v;
    unsigned bins = 1u << (1 + upTo(7));
    Value i = smallInt(v, bins - 1, false);
    if (i.shape.size() > 1) i = ttgir_ ? i : reshape(i, {product(i.shape)});
    if (i.shape.size() > 1) return v;
    Value h = i;
    h.shape = {bins};
    h.layout = newLayout(h.shape, I32);
    return make(h, I32, product(i.shape), cat("tt.histogram ", i.name, coin() ? "" : ", " + mask(i).name, " : ", typeOf(i), " -> ", typeOf(h)));
  }
  Value select(const Value &v) {
    Value o = partner(v), c = mask(v);
    if (!isFloat(v.type) && v.type != I1 && coin()) c = make(v, I1, 1, cat("arith.cmpi ", pick({"slt", "eq", "ugt"}), ", ", v.name, ", ", o.name, " : ", typeOf(v)));
    if (isFloat(v.type) && !isNarrow(v.type) && coin()) c = make(v, I1, 1, cat("arith.cmpf ", pick({"olt", "oeq", "une"}), ", ", v.name, ", ", o.name, " : ", typeOf(v)));
    return make(v, v.type, v.bound < 0 || o.bound < 0 ? -1 : std::max(v.bound, o.bound), cat("arith.select ", c.name, ", ", v.name, ", ", o.name, " : ", typeOf(c), ", ", typeOf(v)));
  }
  std::string scalar(int64_t c) { return emit(cat("arith.constant ", c, " : i32")); }
  Value loop(Value v) {
    if (isFloat(v.type) || v.type == I1) v = cast(v, I32);
    std::string lo = scalar(upTo(2)), hi = scalar(upTo(6)), step = scalar(1 + upTo(2)), t = typeOf(v), r = fresh(), n = r.substr(2);
    Value o = partner(v);
    std::string op = pick({"arith.addi", "arith.muli", "arith.xori", "arith.maxsi", "arith.subi"}), e = kTypeNames[v.type];
    std::string counter = v.type == I32 ? cat("%i", n) : "%j" + n, convert = v.type == I32 ? "" : cat("      %j", n, v.type == I64 ? " = arith.extsi %i" : " = arith.trunci %i", n, " : i32 to ", e, "\n");
    std::string body = cat(convert, "      %d", n, " = tt.splat ", counter, " : ", e, " -> ", t, "\n      %e", n, " = arith.addi %acc", n, ", %d", n, " : ", t, "\n      %f", n, " = ", op, " %e", n, ", ", o.name, " : ", t, "\n");
    if (coin()) {
      text_ += cat("    ", r, " = scf.for %i", n, " = ", lo, " to ", hi, " step ", step, " iter_args(%acc", n, " = ", v.name, ") -> (", t, ") : i32 {\n", body, "      scf.yield %f", n, " : ", t, "\n    }\n");
      return named({"", v.shape, v.type, -1, v.layout}, r);
    }
    // As long as the counter is less, which a program starts from its own number.
    text_ += cat("    ", r, ":2 = scf.while (%c", n, " = ", pid_, ", %a", n, " = ", v.name, ") : (i32, ", t, ") -> (i32, ", t, ") {\n      %m", n, " = arith.cmpi slt, %c", n, ", ", hi, " : i32\n      scf.condition(%m", n, ") %c", n, ", %a", n, " : i32, ", t, "\n    } do {\n    ^bb0(%i", n, ": i32, %acc", n, ": ", t, "):\n", body,
                 "      %k", n, " = arith.addi %i", n, ", ", step, " : i32\n      scf.yield %k", n, ", %f", n, " : i32, ", t, "\n    }\n");
    return named({"", v.shape, v.type, -1, v.layout}, r + "#1");
  }
  /// Appends what `body` emits to a string of its own; values made there are forgotten.
  template <class F> std::string inside(F body) {
    std::string outer = std::move(text_);
    text_.clear();
    size_t known = values_.size();
    ++depth_;
    body();
    --depth_;
    values_.resize(known);
    std::swap(outer, text_);
    return outer;
  }
  /// A value like `v` of what was made since `known`, within its bound.
  Value resultOf(const Value &v, size_t known) {
    Value r = v;
    for (size_t k = known; k < values_.size(); ++k)
      if (values_[k].shape == v.shape) r = values_[k];
    r = cast(converted(r, v.layout), v.type);
    return isFloat(v.type) ? bounded(r, v.bound) : r;
  }
  void someSteps() {
    for (unsigned k = 1 + upTo(3); k > 0; --k) ttgir_ ? ttgirStep() : step();
  }
  /// A loop of any operations with two values that change places: (a, b) = (f(a, b), a).
  Value generalLoop(Value v) {
    if (isNarrow(v.type)) v = cast(v, F32);
    Value other = partner(v);
    if (isFloat(v.type)) {
      int64_t most = exactUpTo(v.type) / 4;
      v = bounded(v, most), other = bounded(other, most);
      v.bound = other.bound = most;
    } else {
      v.bound = other.bound = v.type == I1 ? 1 : -1;
    }
    std::string lo = scalar(upTo(2)), hi = scalar(upTo(6)), one = scalar(1), t = typeOf(v), r = fresh(), n = r.substr(2), before = counter_;
    std::string body = inside([&] {
      counter_ = "%i" + n;
      size_t known = values_.size();
      put(named(other, "%o" + n)), put(named(v, "%a" + n));
      someSteps();
      Value next = resultOf(named(v, "%a" + n), known);
      text_ += cat("      scf.yield ", next.name, ", %a", n, " : ", t, ", ", t, "\n");
    });
    counter_ = before;
    text_ += cat("    ", r, ":2 = scf.for %i", n, " = ", lo, " to ", hi, " step ", one, " iter_args(%a", n, " = ", v.name, ", %o", n, " = ", other.name, ") -> (", t, ", ", t, ") : i32 {\n", body, "    }\n");
    put(named(other, r + "#1"));
    return named(v, r + "#0");
  }
  Value generalBranch(Value v) {
    if (isNarrow(v.type)) v = cast(v, F32);
    if (isFloat(v.type)) {
      int64_t most = exactUpTo(v.type) / 2;
      v = bounded(v, most), v.bound = most;
    } else {
      v.bound = v.type == I1 ? 1 : -1;
    }
    std::string c = emit(cat("arith.cmpi ", pick({"eq", "slt", "ne"}), ", ", counter_.empty() || coin() ? pid_ : counter_, ", ", scalar(upTo(3)), " : i32")), t = typeOf(v), r = fresh(), sides[2];
    for (std::string &s : sides)
      s = inside([&] {
        size_t known = values_.size();
        if (upTo(4)) someSteps();
        text_ += cat("      scf.yield ", resultOf(v, known).name, " : ", t, "\n");
      });
    text_ += cat("    ", r, " = scf.if ", c, " -> (", t, ") {\n", sides[0], "    } else {\n", sides[1], "    }\n");
    return named(v, r);
  }
  Value branch(Value v) {
    Value o = binary(partner(v));
    o = cast(o, v.type);
    std::string c = emit(cat("arith.cmpi ", pick({"eq", "slt", "ne"}), ", ", pid_, ", ", scalar(upTo(2)), " : i32")), t = typeOf(v), r = fresh(), n = r.substr(2);
    std::string inside = isFloat(v.type) || v.type == I1 ? "" : cat("      %t", n, " = arith.xori ", v.name, ", ", o.name, " : ", t, "\n");
    text_ += cat("    ", r, " = scf.if ", c, " -> (", t, ") {\n", inside, "      scf.yield ", inside.empty() ? v.name : "%t" + n, " : ", t, "\n    } else {\n      scf.yield ", o.name, " : ", t, "\n    }\n");
    return named({"", v.shape, v.type, v.bound < 0 || o.bound < 0 || !inside.empty() ? -1 : std::max(v.bound, o.bound), v.layout}, r);
  }
  Value atomic(Value v) {
    if (depth_) return binary(v); // not more often than its region has room for
    // A region of its own; addresses either all different (then the old value may be read) or shared.
    Type t = pick({I32, I32, I64, F32, F16, BF16});
    if ((t == F16 || t == BF16) && product(v.shape) < 2) t = I32;
    v = cast(v, t);
    unsigned elements = product(v.shape), bytes = elements * kTypeBits[t] / 8, all = bytes * unsigned(kernel_.programs);
    if (atomicUsed_ + all > kAtomicBytes) return v;
    bool unique = coin() || t == F16 || t == BF16;
    std::string op = isFloat(t) ? "fadd" : pick({"add", "max", "min", "umax", "umin", "and", "or", "xor"});
    if (isFloat(t)) v = bounded(v, unique ? exactUpTo(t) / 2 : exactUpTo(t) / std::max(1u, elements * unsigned(kernel_.programs)));
    Value i = unique ? shuffledIndex(v) : smallInt(partner(v), int64_t(llvm::bit_floor(elements)) - 1, false);
    std::string base = t == I32 ? "%pz" : emit(cat("tt.bitcast %pz : !tt.ptr<i32> -> !tt.ptr<", kTypeNames[t], ">"));
    std::string offset = scalar(atomicUsed_ * 8 / kTypeBits[t]);
    if (unique && kernel_.programs > 1) offset = emit(cat("arith.addi ", offset, ", ", perProgram(elements), " : i32"));
    std::string p = pointers(base, t, offset, i), pt = like(v, (std::string("!tt.ptr<") + kTypeNames[t] + ">").c_str());
    bool masked = coin();
    std::string m = masked ? mask(v).name : "";
    Value old = make(v, t, -1, cat("tt.atomic_rmw ", op, ", ", pick({"relaxed", "acq_rel", "release"}), ", gpu, ", p, ", ", v.name, masked ? ", " + m : "", " : (", pt, ", ", typeOf(v), masked ? ", " + like(v, "i1") : "", ") -> ", typeOf(v)));
    atomicUsed_ += (all + 15) / 16 * 16;
    // Memory starts as zeros, so the old value of a place that nobody else updates is zero where the mask is set.
    if (unique && !isFloat(t) && !masked) return arithmetic("arith.addi", v, old);
    return v;
  }

  // ---- dots ----
  struct Kind {
    Type operand, accumulator;
    const char *precision;
  };
  Kind dotKind() { return pick<Kind>({{F16, F32, "tf32"}, {F16, F32, "tf32"}, {BF16, F32, "tf32"}, {F32, F32, "tf32"}, {F32, F32, "ieee"}, {I8, I32, "tf32"}, {F16, F16, "tf32"}}); }
  Value operand(Type t, unsigned rows, unsigned columns, bool plain) {
    switch (plain ? 2 : upTo(4)) {
    case 0: return transpose2(load({columns, rows}, t, true));
    case 1: { // computed
      Value v = load({rows, columns}, I32, true);
      return cast(smallInt(v, 3, true), t);
    }
    default: return load({rows, columns}, t, true);
    }
  }
  Value transpose2(const Value &v) {
    Value w = v;
    w.shape = {v.shape[1], v.shape[0]};
    return make(w, v.type, v.bound, cat("tt.trans ", v.name, " {order = array<i32: 1, 0>} : ", typeOf(v), " -> ", typeOf(w)));
  }
  Value multiply(const Value &a, const Value &b, const Value &c, const char *precision) {
    int64_t bound = c.bound + a.bound * b.bound * a.shape[1];
    kernel_.hasDot = true;
    return make(c, c.type, bound, cat("tt.dot ", a.name, ", ", b.name, ", ", c.name, ", inputPrecision = ", precision, " : ", typeOf(a), " * ", typeOf(b), " -> ", typeOf(c)));
  }
  void dot() {
    Kind kind = dotKind();
    unsigned m, n, k;
    do m = 16u << upTo(4), n = 16u << upTo(4), k = 16u << upTo(4);
    while (m * n * k > 1 << 17);
    int64_t most = exactUpTo(kind.accumulator), each = int64_t(kSmall + 1) * (kSmall + 1) * k;
    if (each > most) return;
    Value c = constant({"", {m, n}, kind.accumulator, 0, {}}, kind.accumulator, coin() ? 0 : 1);
    Value r;
    if (coin()) { // a loop over K with moving pointers
      unsigned rounds = unsigned(std::min<int64_t>(1 + upTo(5), most / each));
      Value a{"", {m, k}, kind.operand, kSmall, {}}, b{"", {k, n}, kind.operand, kSmall, {}};
      const char *base = kind.operand == I8 ? "%pb" : kind.operand == F16 ? "%ph" : kind.operand == BF16 ? "%pg" : "%pf";
      // A is m by 128, B is k * rounds by n in memory; some rows of A overlap.
      Value ia = arithmetic("arith.addi", arithmetic("arith.muli", range(a, 0), constant(a, I32, 64)), range(a, 1)), ib = index(b);
      std::string pa = pointers(base, kind.operand, "", ia), pb = pointers(base, kind.operand, "", ib), lo = scalar(0), hi = scalar(rounds), one = scalar(1);
      Value stepA = constant(a, I32, k), stepB = constant(b, I32, k * n < 2048 ? k * n : 16);
      std::string pt = std::string("!tt.ptr<") + kTypeNames[kind.operand] + ">", ta = like(a, pt.c_str()), tb = like(b, pt.c_str()), res = fresh(), s = res.substr(2);
      std::string ra = fresh(), rb = fresh(), acc = fresh(), la = fresh(), lb = fresh(), d = fresh(), na = fresh(), nb = fresh(), ma, mb;
      bool masked = upTo(3) == 0;
      if (masked) {
        Value limA = mask(a), limB = mask(b), zeroA = constant(a, kind.operand, 0), zeroB = constant(b, kind.operand, 1);
        ma = cat(", ", limA.name, ", ", zeroA.name), mb = cat(", ", limB.name, ", ", zeroB.name);
      }
      text_ += cat("    ", res, ":3 = scf.for %i", s, " = ", lo, " to ", hi, " step ", one, " iter_args(", ra, " = ", pa, ", ", rb, " = ", pb, ", ", acc, " = ", c.name, ") -> (", ta, ", ", tb, ", ", typeOf(c), ") : i32 {\n      ", la, " = tt.load ", ra, ma, " : ", ta, "\n      ", lb, " = tt.load ", rb, mb, " : ", tb, "\n      ", d,
                   " = tt.dot ", la, ", ", lb, ", ", acc, ", inputPrecision = ", kind.precision, " : ", typeOf(a), " * ", typeOf(b), " -> ", typeOf(c), "\n      ", na, " = tt.addptr ", ra, ", ", stepA.name, " : ", ta, ", ", typeOf(stepA), "\n      ", nb, " = tt.addptr ", rb, ", ", stepB.name, " : ", tb, ", ", typeOf(stepB),
                   "\n      scf.yield ", na, ", ", nb, ", ", d, " : ", ta, ", ", tb, ", ", typeOf(c), "\n    }\n");
      kernel_.hasDot = true;
      r = named(c, res + "#2");
      r.bound = 1 + each * rounds;
    } else {
      r = multiply(operand(kind.operand, m, k, false), operand(kind.operand, k, n, false), c, kind.precision);
    }
    if (upTo(3) == 0 && m * n * 16 <= 1 << 17) { // another after it
      unsigned n2 = 16u << upTo(2);
      Value a = cast(smallInt(r, 3, true), kind.operand), b = operand(kind.operand, n, n2, true);
      if (int64_t(4) * kSmall * n < most) r = multiply(a, b, constant({"", {m, n2}, kind.accumulator, 0, {}}, kind.accumulator, 0), kind.precision);
    }
    put(r);
  }

  void step() {
    Value v = any();
    if (v.shape.empty()) { // scalars come from reductions of everything; they go on as tensors
      Value t{"", {16}, v.type, v.bound, {}};
      t.name = emit(cat("tt.splat ", v.name, " : ", kTypeNames[v.type], " -> ", typeOf(t)));
      v = t;
    }
    switch (upTo(18)) {
    case 0:
    case 1:
    case 2: return put(binary(v));
    case 3: return put(cast(v, pick({I1, I8, I16, I32, I64, F16, BF16, F32, F64, E4M3, E5M2})));
    case 4:
    case 5: return put(reduce(v));
    case 6: return put(scan(v));
    case 7: return put(transpose(v));
    case 8: return put(reshape(v, otherShape(product(v.shape))));
    case 9: return put(joinOrSplit(v));
    case 10: return put(gather(v));
    case 11: return put(histogram(v));
    case 12: return put(select(v));
    case 13: return put(depth_ < 2 && coin() ? generalLoop(v) : loop(v));
    case 14: return put(depth_ < 2 && coin() ? generalBranch(v) : branch(v));
    case 15: return put(atomic(v));
    case 16: return put(argMax(v));
    case 17:
      if (depth_ && upTo(3) == 0) return dot();
      [[fallthrough]];
    default: return put(load(coin() ? v.shape : randomShape(), pick({I32, I8, F16, BF16, F32})));
    }
  }

  // ---- TTGIR ----
  std::string sharedLayout(const Shape &s, Type t, std::string *transposed) {
    unsigned rank = unsigned(s.size());
    std::vector<unsigned> order(rank);
    for (unsigned d = 0; d < rank; ++d) order[d] = rank - 1 - d;
    if (rank == 2 && coin()) std::swap(order[0], order[1]);
    std::vector<unsigned> other(order.rbegin(), order.rend());
    if (rank == 2 && target_->vendor == ir::Vendor::Nvidia && target_->computeCapability >= 90 && upTo(3) == 0 && t != I1) {
      unsigned bits = kTypeBits[t], bytes = s[1] * bits / 8;
      unsigned width = bytes >= 128 ? 128 : bytes >= 64 ? 64 : bytes >= 32 ? 32 : 0;
      if (width && s[0] >= 8 && bits <= 32) {
        for (unsigned k = upTo(3); k > 0 && width > 32; --k) width /= 2;
        auto text = [&](bool flip) { return cat("#ttg.nvmma_shared<{swizzlingByteWidth = ", width, ", transposed = ", flip ? "true" : "false", ", elementBitWidth = ", bits, "}>"); };
        if (transposed) *transposed = text(true);
        return text(false);
      }
    }
    if (rank == 2 && target_->vendor == ir::Vendor::Amd && upTo(4) == 0) {
      unsigned every = s[order[0]] * (1 + upTo(2)), pad = 4u << upTo(3);
      auto text = [&](llvm::ArrayRef<unsigned> o, llvm::ArrayRef<unsigned> shape) { return cat("#ttg.padded_shared<[", every, ":+", pad, "] {order = ", list(o), ", shape = ", list(shape), "}>"); };
      if (transposed) *transposed = text(other, {s[1], s[0]});
      return text(order, s);
    }
    unsigned vec = 1u << upTo(4), perPhase = 1u << upTo(3), maxPhase = 1u << upTo(4);
    auto text = [&](llvm::ArrayRef<unsigned> o) { return cat("#ttg.swizzled_shared<{vec = ", vec, ", perPhase = ", perPhase, ", maxPhase = ", maxPhase, ", order = ", list(o), "}>"); };
    if (transposed) *transposed = text(other);
    return text(order);
  }
  Value throughShared(Value v) {
    if (v.type == I1) v = cast(v, I8);
    std::string flipped, layout = sharedLayout(v.shape, v.type, &flipped);
    auto memdesc = [&](const Shape &s, const std::string &l, bool isMutable) {
      std::string t = "!ttg.memdesc<";
      for (unsigned d : s) t += std::to_string(d) + "x";
      return t + kTypeNames[v.type] + ", " + l + ", #ttg.shared_memory" + (isMutable ? ", mutable>" : ">");
    };
    bool isMutable = coin();
    std::string type = memdesc(v.shape, layout, isMutable), m;
    if (isMutable && coin()) {
      m = emit(cat("ttg.local_alloc : () -> ", type));
      text_ += cat("    ttg.local_store ", v.name, ", ", m, " : ", typeOf(v), " -> ", type, "\n");
    } else {
      m = emit(cat("ttg.local_alloc ", v.name, " : (", typeOf(v), ") -> ", type));
    }
    Value r = v;
    if (v.shape.size() == 2 && upTo(3) == 0) {
      r.shape = {v.shape[1], v.shape[0]};
      std::string view = memdesc(r.shape, flipped, isMutable);
      m = emit(cat("ttg.memdesc_trans ", m, " {order = array<i32: 1, 0>} : ", type, " -> ", view));
      type = view;
    }
    r.layout = newLayout(r.shape, r.type);
    Value loaded = make(r, v.type, v.bound, cat("ttg.local_load ", m, " : ", type, " -> ", typeOf(r)));
    if (isMutable && upTo(3) == 0) { // used again with other contents
      Value w = binary(converted(loaded, blocked(loaded.shape)));
      w = cast(w, v.type);
      text_ += cat("    ttg.local_store ", w.name, ", ", m, " : ", typeOf(w), " -> ", type, "\n");
      r.layout = newLayout(r.shape, r.type);
      put(loaded);
      loaded = make(r, v.type, w.bound, cat("ttg.local_load ", m, " : ", type, " -> ", typeOf(r)));
    }
    return loaded;
  }
  void ttgirDot() {
    Kind kind = dotKind();
    if (kind.operand == F32 && target_->matrixUnit != ir::MatrixUnit::Mfma && kind.precision[0] == 'i') return;
    if (target_->matrixUnit == ir::MatrixUnit::Wmma && (kind.operand == F32 || kind.accumulator == F16)) return;
    if (target_->matrixUnit == ir::MatrixUnit::Mfma && (kind.accumulator == F16 || (kind.operand == F32 && kind.precision[0] == 't'))) return;
    std::string acc = matrix(kind.operand, true);
    if (acc.empty()) return;
    unsigned m, n, k;
    do m = 32u << upTo(2), n = 32u << upTo(2), k = 32u << upTo(2);
    while (m * n * k > 1 << 17);
    if (int64_t(kSmall + 1) * (kSmall + 1) * k > exactUpTo(kind.accumulator)) return;
    unsigned bits = kTypeBits[kind.operand];
    unsigned width = target_->vendor == ir::Vendor::Nvidia ? 32 / bits : target_->matrixUnit == ir::MatrixUnit::Wmma ? (target_->matrixVersion == 1 ? 16u : 8u) : 0;
    if (target_->matrixUnit == ir::MatrixUnit::Mfma) {
      // instrShape = [m, m, k]: every lane holds k / (64 / m) elements along K.
      size_t at = acc.find("instrShape = [") + 14;
      unsigned tile = unsigned(std::stoi(acc.substr(at))), depth = unsigned(std::stoi(acc.substr(acc.find(", ", acc.find(", ", at) + 1) + 2)));
      width = depth / (64 / tile);
    }
    if (target_->matrixUnit == ir::MatrixUnit::Wmma && kind.operand == I8 && target_->matrixVersion == 1) width = 16;
    auto side = [&](unsigned index, Shape s) {
      std::string layout = cat("#ttg.dot_op<{opIdx = ", index, ", parent = ", acc, ", kWidth = ", width, "}>");
      Value v = load(s, kind.operand, true);
      if (coin()) return converted(v, layout);
      std::string shared = sharedLayout(s, kind.operand, nullptr), type = "!ttg.memdesc<";
      for (unsigned d : s) type += std::to_string(d) + "x";
      type += std::string(kTypeNames[kind.operand]) + ", " + shared + ", #ttg.shared_memory>";
      std::string mem = emit(cat("ttg.local_alloc ", v.name, " : (", typeOf(v), ") -> ", type));
      v.layout = layout;
      return make(v, v.type, v.bound, cat("ttg.local_load ", mem, " : ", type, " -> ", typeOf(v)));
    };
    Value a = side(0, {m, k}), b = side(1, {k, n});
    put(multiply(a, b, constant({"", {m, n}, kind.accumulator, 0, acc}, kind.accumulator, coin() ? 0 : 1), kind.precision));
  }
  void ttgirStep() {
    Value v = any();
    if (v.shape.empty()) return put(load({16, 16}, I32));
    auto blockedOnly = [&] {
      if (v.layout.find("#ttg.blocked") != 0) v = converted(v, blocked(v.shape));
    };
    switch (upTo(14)) {
    case 0:
    case 1: return put(binary(v));
    case 2: return put(cast(v, pick({I1, I8, I16, I32, I64, F16, BF16, F32})));
    case 3:
    case 4: return put(converted(v, newLayout(v.shape, v.type)));
    case 5:
    case 6: return put(throughShared(v));
    case 7: return put(reduce(v));
    case 8: return put(scan(v));
    case 9: return put(gather(v));
    case 10: return put(select(v));
    case 11: return put(coin() ? atomic(v) : argMax(v));
    case 12: return ttgirDot();
    default:
      if (coin()) return put(depth_ < 2 && coin() ? (coin() ? generalLoop(v) : generalBranch(v)) : loop(v));
      blockedOnly();
      return put(histogram(v));
    }
  }

  std::mt19937 random_;
  bool ttgir_;
  const ir::TargetInfo *target_;
  Kernel kernel_;
  std::string text_, pid_;
  std::vector<Value> values_;
  std::string counter_; // of the loop around
  unsigned next_ = 0, outputUsed_ = 0, atomicUsed_ = 0, depth_ = 0;
};

} // namespace

Kernel generate(unsigned seed, Level level, const ir::TargetInfo *target) { return Generator(seed, level, target).run(); }

} // namespace tessera::random
