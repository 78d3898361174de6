// Tensor descriptors: arguments, which the launcher encodes where the target copies blocks in hardware, and descriptors
// that the kernel makes. Blocks of one to five dimensions, also such as no tensor map describes, in tensors with gaps
// between their rows; they begin before a tensor's first element, end behind its last, or lie far outside. Loads,
// stores, reductions, gathers and scatters stand alone, in loops with dots and without, in loops over tiles, in
// branches and in functions.
//
// What a kernel stores through one descriptor it stores once: programs and iterations have a block each, along the
// first dimension. Padding that is NaN is replaced before anything is computed with it, but copied as it is.
#include "kernel_writer.h"

namespace tessera::random {

namespace {

constexpr int64_t kMaxElements = 1 << 16; // that a tensor spans

runtime::DType dtypeOf(Type t) {
  switch (t) {
  case I1: return runtime::DType::I1;
  case I8: return runtime::DType::I8;
  case I16: return runtime::DType::I16;
  case I32: return runtime::DType::I32;
  case I64: return runtime::DType::I64;
  case F16: return runtime::DType::F16;
  case BF16: return runtime::DType::BF16;
  case F32: return runtime::DType::F32;
  case F64: return runtime::DType::F64;
  case E4M3: return runtime::DType::F8E4M3FN;
  case E5M2: return runtime::DType::F8E5M2;
  }
  return runtime::DType::I32;
}

} // namespace

std::string Generator::parameter(int64_t value, Type t) {
  std::string name = newArgument();
  kernel_.more.push_back({Kernel::Parameter::Scalar, {}, 0, uint64_t(value)});
  bool aligned = value % 16 == 0 && coin();
  parameters_ += cat(", ", name, ": ", kTypeNames[t], aligned ? " {tt.divisibility = 16 : i32}" : "");
  return name;
}

std::string Generator::number(int64_t value, Type t) {
  return coin() && !isInFunction_ ? parameter(value, t) : emit(cat("arith.constant ", value, " : ", kTypeNames[t]));
}

Shape Generator::describedBlock(Type t) {
  unsigned rank = pick({1u, 2u, 2u, 2u, 3u, 3u, 4u, 5u}), bits = 3 + upTo(9);
  Shape s;
  for (unsigned k = 0; k < rank; ++k) {
    unsigned here = k + 1 == rank ? bits : upTo(3) == 0 ? 0 : upTo(bits + 1);
    s.push_back(1u << here), bits -= here;
  }
  for (unsigned k = rank; k > 1; --k) std::swap(s[k - 1], s[upTo(k)]);
  // Mostly rows that a tensor map takes.
  if (unsigned least = 128 / kTypeBits[t]; s.back() < least && upTo(5)) s.back() = least;
  return s;
}

runtime::HostDescriptor Generator::described(Type t, const Shape &block, unsigned blocks) {
  runtime::HostDescriptor d;
  d.dtype = dtypeOf(t);
  size_t rank = block.size();
  for (size_t k = 0; k < rank; ++k) {
    int64_t whole = int64_t(block[k]) * (k ? 1 : blocks);
    d.blockShape.push_back(block[k]);
    d.shape.push_back(coin() ? whole : 1 + int64_t(upTo(unsigned(2 * whole))));
  }
  int64_t unit = wholeRows_ ? 128 / kTypeBits[t] : 1;
  // Outer dimensions lie in any order in memory.
  std::vector<size_t> order;
  for (size_t k = rank; k-- > 0;) order.push_back(k);
  if (rank > 2 && upTo(3) == 0) std::swap(order[1], order[2]);
  for (;;) { // smaller until it fits
    d.shape.back() = int64_t(llvm::alignTo(uint64_t(d.shape.back()), uint64_t(unit)));
    d.strides.assign(rank, 1);
    int64_t elements = 128 / kTypeBits[t], stride = 1;
    for (size_t k : order) {
      d.strides[k] = stride;
      stride = int64_t(llvm::alignTo(uint64_t(stride * d.shape[k]), uint64_t(elements)));
      if (upTo(3) == 0) stride += elements * upTo(3);
    }
    if (d.spannedElements() <= kMaxElements) return d;
    int64_t &largest = *std::max_element(d.shape.begin(), d.shape.end());
    if (largest <= unit) return d;
    largest = (largest + 1) / 2;
  }
}

std::string Generator::signedName(Type t, const char *sign) {
  return isFloat(t) ? kTypeNames[t] : cat(sign, kTypeNames[t] + (*sign ? 1 : 0));
}

Generator::Described Generator::descriptorOf(Type t, const Shape &block, unsigned blocks, bool mayBeNan,
                                             const char *sign) {
  Described out;
  out.type = t, out.block = block;
  out.memory = described(t, block, blocks);
  out.memory.nanPadding = mayBeNan && !wholeRows_ && isFloat(t) && upTo(3) == 0;
  out.text = cat("!tt.tensordesc<", tensorOf(block, signedName(t, sign), ""), ">");
  // The base lies anywhere that is aligned.
  uint64_t at = 16 * upTo(4), bytes = at + uint64_t(out.memory.spannedElements()) * ((kTypeBits[t] + 7) / 8);
  out.isArgument = upTo(4) != 0;
  if (out.isArgument) {
    bool tensorMaps = kTypeBits[t] != 8 || !isFloat(t);
    out.memory.nanPadding &= tensorMaps; // launchers refuse NaN of 8 bits
    out.name = newArgument();
    parameters_ += cat(", ", out.name, ": ", out.text);
    kernel_.more.push_back({Kernel::Parameter::Descriptor, out.memory, at, bytes});
    return out;
  }
  std::string base = newArgument();
  parameters_ += cat(", ", base, ": !tt.ptr<", kTypeNames[t], ">", coin() ? " {tt.divisibility = 16 : i32}" : "");
  kernel_.more.push_back({Kernel::Parameter::Pointer, out.memory, at, bytes});
  std::string shape, strides;
  for (int64_t n : out.memory.shape) shape += (shape.empty() ? "" : ", ") + number(n, I32);
  for (auto [k, n] : llvm::enumerate(out.memory.strides))
    strides += (k ? ", " : "") + (k + 1 == block.size() ? emit(cat("arith.constant 1 : i64")) : number(n, I64));
  out.name = emit(cat("tt.make_tensor_descriptor ", base, ", [", shape, "], [", strides, "]",
                      out.memory.nanPadding ? " {padding = 2 : i32}" : "", " : <", kTypeNames[t], ">, <",
                      tensorOf(block, signedName(t, sign), ""), ">"));
  return out;
}

std::string Generator::places(const Described &d, bool once, const std::string &index, unsigned iterations) {
  std::string out;
  for (auto [k, n] : llvm::enumerate(d.block)) {
    bool atStart = coin();
    int64_t first = atStart ? 0 : int64_t(upTo(2 * n)) - int64_t(n) / 2;
    if (upTo(40) == 0) first = pick<int64_t>({-(1 << 20), 1 << 20, -int64_t(n), d.memory.shape[k]});
    std::string at = number(first, I32);
    auto moved = [&](const std::string &by, int64_t distance) {
      std::string step = emit(cat("arith.muli ", by, ", ", scalar(distance), " : i32"));
      at = emit(cat("arith.addi ", at, ", ", step, " : i32"));
    };
    bool moves = once ? k == 0 : coin();
    if (moves && kernel_.programs > 1) moved(pid_, once ? int64_t(n) * iterations : int64_t(upTo(2 * n)));
    if (moves && !index.empty()) moved(index, once ? n : pick({n, n, upTo(8)}));
    out += (k ? ", " : "") + at;
  }
  return out;
}

Value Generator::replaceNan(Value v) {
  if (isNarrow(v.type)) v = cast(v, F32);
  Value no = make(v, I1, 1, cat("arith.cmpf uno, ", v.name, ", ", v.name, " : ", typeOf(v))),
        two = constant(v, v.type, 2);
  return make(v, v.type, kSmall,
              cat("arith.select ", no.name, ", ", two.name, ", ", v.name, " : ", typeOf(no), ", ", typeOf(v)));
}

Value Generator::loadFrom(const Described &d, const std::string &places) {
  Value v{"", d.block, d.type, isFloat(d.type) ? kSmall : -1, {}};
  while (v.shape.size() > 1 && v.shape[0] == 1 && upTo(3) == 0) v.shape.erase(v.shape.begin());
  return make(v, v.type, v.bound, cat("tt.descriptor_load ", d.name, "[", places, "] : ", d.text, " -> ", typeOf(v)));
}

Value Generator::loadDescribed() {
  Type t = pick({I8, I16, I32, I64, F16, F16, BF16, F32, F32, F64, E4M3, E5M2});
  Described d = descriptorOf(t, describedBlock(t), unsigned(kernel_.programs), true, pick({"", "", "si", "ui"}));
  Value v = loadFrom(d, places(d, false, "", 1));
  // The bits of the padding, as they are.
  if (upTo(3) == 0 && v.shape == d.block) storeTo(v, "", 1);
  return d.memory.nanPadding ? replaceNan(v) : v;
}

void Generator::storeTo(const Value &v, const std::string &index, unsigned iterations) {
  Described d = descriptorOf(v.type, v.shape, unsigned(kernel_.programs) * iterations, false, "");
  text_ += cat("    tt.descriptor_store ", d.name, "[", places(d, true, index, iterations), "], ", v.name, " : ",
               d.text, ", ", typeOf(v), "\n");
}

bool Generator::canBeStored(const Value &v) {
  return !v.shape.empty() && v.shape.size() <= runtime::kMaxDescriptorRank && v.type != I1 &&
         elementCount(v.shape) <= 8192;
}

void Generator::reduceInto(Value v, const std::string &index, unsigned iterations) {
  Type t = pick({I32, I32, I64, F16, BF16, F32, F32});
  const char *sign = pick({"si", "ui", ""});
  std::string kind = isFloat(t) ? t == F32 ? "add" : pick({"add", "add", "max", "min"})
                                : pick({"add", "max", "min", "and", "or", "xor"});
  if (kind == "min" || kind == "max") sign = *sign ? sign : "si"; // else the sign is the unit's to choose
  if (t == F16 || t == BF16)                                      // two of them are combined at once
    if (v.shape.back() < 2) t = F32, kind = "add";
  unsigned times = unsigned(kernel_.programs) * iterations;
  if (isFloat(t)) {
    int64_t most = kind == "add" ? exactUpTo(t) / int64_t(times) - kSmall : 127;
    v = cast(smallInt(v, int64_t(llvm::bit_floor(uint64_t(std::min<int64_t>(most, 1 << 20)))) - 1, true), t);
  }
  v = cast(v, t);
  Described d = descriptorOf(t, v.shape, 1 + upTo(2), false, sign);
  // Any place: every order gives the same.
  text_ += cat("    tt.descriptor_reduce ", kind, ", ", d.name, "[", places(d, false, index, iterations), "], ", v.name,
               " : ", d.text, ", ", typeOf(v), "\n");
}

Value Generator::gatherDescribed() {
  Type t = pick({I8, I32, F16, BF16, F32});
  unsigned width = (256u << upTo(2)) / kTypeBits[t], rows = 8u << upTo(3);
  Described d = descriptorOf(t, {1, width}, 8 + upTo(64), true, "");
  Value v{"", {rows, width}, t, isFloat(t) ? kSmall : -1, {}}, i{"", {rows}, I32, -1, {}};
  i = smallInt(cast(shuffledIndex(i), I32), 63, true);
  std::string column = number(int64_t(upTo(2 * width)) - width / 2, I32);
  v = make(v, t, v.bound,
           cat("tt.descriptor_gather ", d.name, "[", i.name, ", ", column, "] : (", d.text, ", ", typeOf(i),
               ", i32) -> ", typeOf(v)));
  if (d.memory.nanPadding) v = replaceNan(v);
  if (coin()) { // rows of this program, each once
    Described o = descriptorOf(v.type, {1, width}, rows * unsigned(kernel_.programs), false, "");
    Value to{"", {rows}, I32, -1, {}};
    to = shuffledIndex(to);
    std::string first = emit(cat("arith.muli ", pid_, ", ", scalar(rows), " : i32"));
    to = arithmetic("arith.addi", to, splat(first, to, I32));
    text_ += cat("    tt.descriptor_scatter ", o.name, "[", to.name, ", ", number(int64_t(upTo(width)), I32), "], ",
                 v.name, " : ", o.text, ", ", typeOf(to), ", i32, ", typeOf(v), "\n");
  }
  return v;
}

std::string Generator::stagesAttribute() { return upTo(3) ? "" : cat(" {tt.num_stages = ", 1 + upTo(4), " : i32}"); }

Value Generator::describedLoop() {
  Type t = pick({I8, I32, I32, F16, BF16, F32, F64, E4M3});
  unsigned most = 1 + upTo(5);
  Described d = descriptorOf(t, describedBlock(t), unsigned(kernel_.programs) * most, true, "");
  Type sums = isNarrow(t) || t == BF16 ? F32 : t;
  Value sum = constant({"", d.block, sums, 0, {}}, sums, 0);
  std::string lo = scalar(0), hi = number(most, I32), one = scalar(1), r = fresh(), n = r.substr(2), type = typeOf(sum);
  bool stores = coin(), reduces = upTo(4) == 0, branches = upTo(3) == 0;
  std::string body = inside([&] {
    Value v{"", d.block, t, isFloat(t) ? kSmall : -1, {}};
    v = make(
        v, t, v.bound,
        cat("tt.descriptor_load ", d.name, "[", places(d, false, "%i" + n, most), "] : ", d.text, " -> ", typeOf(v)));
    if (d.memory.nanPadding) v = replaceNan(v);
    v = cast(v, sums);
    Value a = make(v, sums, -1, cat(isFloat(sums) ? "arith.addf" : "arith.addi", " %a", n, ", ", v.name, " : ", type));
    if (stores || reduces) {
      std::string made;
      made = inside([&] {
        if (stores) storeTo(v, "%i" + n, most);
        if (reduces) reduceInto(v, "%i" + n, most);
      });
      if (branches)
        made = cat("    %c", n, " = arith.cmpi ", pick({"slt", "ne"}), ", %i", n, ", ", scalar(upTo(3)),
                   " : i32\n    scf.if %c", n, " {\n", made, "    }\n");
      text_ += made;
    }
    text_ += cat("      scf.yield ", a.name, " : ", type, "\n");
  });
  text_ += cat("    ", r, " = scf.for %i", n, " = ", lo, " to ", hi, " step ", one, " iter_args(%a", n, " = ", sum.name,
               ") -> (", type, ") : i32 {\n", body, "    }", stagesAttribute(), "\n");
  sum.bound = isFloat(sums) ? kSmall * int64_t(most) : -1;
  return named(sum, r);
}

/// A matmul of descriptors: of one tile of each program, or of several in a loop.
void Generator::describedDots() {
  Kind kind = dotKind();
  kernel_.numStages = int(1 + upTo(4));
  // What a producer warp may copy for (sm_90a): by whole warp groups, with stages.
  bool forProducer = upTo(3) == 0;
  if (forProducer) kernel_.numStages = int(2 + upTo(3)), kernel_.numWarps = 4 << upTo(3);
  unsigned m = (forProducer || coin() ? 64u : 16u) << upTo(2), n = 16u << upTo(forProducer ? 2 : 3),
           k = forProducer ? 32u : 32u << upTo(2), rounds = upTo(5), tiles = 1 + upTo(4), columns = 1 + upTo(2);
  int64_t each = int64_t(kSmall + 1) * (kSmall + 1) * k, most = exactUpTo(kind.accumulator);
  if (each > most || m * n * k > 1 << 17) return;
  rounds = unsigned(std::min<int64_t>(rounds, most / each));
  bool persistent = forProducer || coin(), transposedA = upTo(4) == 0, transposedB = upTo(3) == 0;
  Described a = descriptorOf(kind.operand, transposedA ? Shape{k, m} : Shape{m, k}, transposedA ? rounds + 1 : tiles,
                             false, ""),
            b = descriptorOf(kind.operand, transposedB ? Shape{n, k} : Shape{k, n}, transposedB ? columns : rounds + 1,
                             false, "");
  Value c = constant({"", {m, n}, kind.accumulator, 0, {}}, kind.accumulator, 0);
  std::string lo = scalar(0), one = scalar(1), hi = number(rounds, I32), r = fresh(), i = r.substr(2), type = typeOf(c);
  auto times = [&](const std::string &x, unsigned by) {
    return emit(cat("arith.muli ", x, ", ", scalar(by), " : i32"));
  };
  auto tile = [&](const std::string &number) { // the accumulator
    std::string wide = scalar(columns), row = times(emit(cat("arith.divsi ", number, ", ", wide, " : i32")), m),
                column = times(emit(cat("arith.remsi ", number, ", ", wide, " : i32")), n);
    std::string body = inside([&] {
      std::string at = times("%k" + i, k);
      auto operand = [&](const Described &d, const std::string &x, const std::string &y, bool transposed) {
        Value v{"", d.block, d.type, kSmall, {}};
        v = make(v, v.type, kSmall,
                 cat("tt.descriptor_load ", d.name, "[", transposed ? y : x, ", ", transposed ? x : y, "] : ", d.text,
                     " -> ", typeOf(v)));
        return transposed ? transpose2(v) : v;
      };
      Value x = operand(a, row, at, transposedA);
      Value acc = multiply(x, operand(b, at, column, transposedB), named(c, "%a" + i), kind.precision);
      text_ += cat("      scf.yield ", acc.name, " : ", type, "\n");
    });
    text_ += cat("    %q", i, " = scf.for %k", i, " = ", lo, " to ", hi, " step ", one, " iter_args(%a", i, " = ",
                 c.name, ") -> (", type, ") : i32 {\n", body, "    }", stagesAttribute(), "\n");
    Value sum = named(c, "%q" + i);
    sum.bound = each * int64_t(std::max(rounds, 1u));
    return sum;
  };
  if (!persistent) {
    Value sum = tile(pid_);
    put(sum);
    return storeTo(coin() ? cast(sum, kind.operand) : sum, "", 1);
  }
  std::string all = number(tiles, I32), step = scalar(kernel_.programs);
  std::string body = inside([&] {
    Value sum = tile("%t" + i);
    if (coin()) sum = cast(sum, pick({kind.operand, F32}));
    if (upTo(4) == 0) return reduceInto(sum, "%t" + i, tiles);
    // A tile for each number: programs share the tiles.
    Described d = descriptorOf(sum.type, sum.shape, tiles, false, "");
    std::string x = times("%t" + i, m);
    text_ += cat("    tt.descriptor_store ", d.name, "[", x, ", ", number(int64_t(upTo(n)) - n / 2, I32), "], ",
                 sum.name, " : ", d.text, ", ", typeOf(sum), "\n");
  });
  bool isRequested = forProducer ? coin() : upTo(4) == 0;
  std::string attributes = isRequested ? " {tt.warp_specialize}" : pick({"", "", " {tt.flatten}"});
  text_ +=
      cat("    scf.for %t", i, " = ", pid_, " to ", all, " step ", step, " : i32 {\n", body, "    }", attributes, "\n");
}

/// Descriptors that are chosen by a branch, carried by a loop or passed to a function.
Value Generator::travellingDescriptor() {
  Type t = pick({I32, F16, F32, BF16});
  Shape block = describedBlock(t);
  Described d = descriptorOf(t, block, 2, false, ""), e = descriptorOf(t, block, 1, false, "");
  Value v{"", block, t, isFloat(t) ? kSmall : -1, {}};
  std::string at = places(d, false, "", 1), r = fresh(), n = r.substr(2), type = typeOf(v);
  auto load = [&](const std::string &from, const std::string &places) {
    return cat("tt.descriptor_load ", from, "[", places, "] : ", d.text, " -> ", type);
  };
  switch (upTo(4)) {
  case 0: { // chosen
    std::string c = emit(cat("arith.cmpi eq, ", pid_, ", ", scalar(upTo(2)), " : i32"));
    text_ += cat("    ", r, " = scf.if ", c, " -> (", d.text, ") {\n      scf.yield ", d.name, " : ", d.text,
                 "\n    } else {\n      scf.yield ", e.name, " : ", d.text, "\n    }\n");
    return make(v, t, v.bound, load(r, at));
  }
  case 1: { // selected
    std::string c = emit(cat("arith.cmpi ne, ", pid_, ", ", scalar(upTo(2)), " : i32"));
    std::string s = emit(cat("arith.select ", c, ", ", d.name, ", ", e.name, " : ", d.text));
    return make(v, t, v.bound, load(s, at));
  }
  case 2: { // exchanged in a loop
    if (t == BF16)
      t = v.type = F32, d = descriptorOf(t, block, 2, false, ""), e = descriptorOf(t, block, 1, false, ""),
      type = typeOf(v);
    std::string lo = scalar(0), hi = number(1 + upTo(4), I32), one = scalar(1);
    v = constant(v, t, 0);
    text_ += cat("    ", r, ":3 = scf.for %i", n, " = ", lo, " to ", hi, " step ", one, " iter_args(%x", n, " = ",
                 d.name, ", %y", n, " = ", e.name, ", %a", n, " = ", v.name, ") -> (", d.text, ", ", d.text, ", ", type,
                 ") : i32 {\n      %l", n, " = ", load("%x" + n, at), "\n      %b", n, " = ",
                 isFloat(t) ? "arith.addf" : "arith.addi", " %a", n, ", %l", n, " : ", type, "\n      scf.yield %y", n,
                 ", %x", n, ", %b", n, " : ", d.text, ", ", d.text, ", ", type, "\n    }\n");
    v.bound = isFloat(t) ? kSmall * 4 : -1;
    return named(v, r + "#2");
  }
  default: { // passed to a function
    std::string inner, types, names;
    for (unsigned k = 0; k < block.size(); ++k)
      inner += cat(", %p", k, ": i32"), types += ", i32", names += cat(k ? ", %p" : "%p", k);
    functions_ += cat("  tt.func private @f", n, "(%d: ", d.text, inner, ") -> ", type,
                      " attributes {noinline = ", coin() ? "true" : "false", "} {\n    %r = ", load("%d", names),
                      "\n    tt.return %r : ", type, "\n  }\n");
    auto called = [&](const Described &x) {
      return make(v, t, v.bound, cat("tt.call @f", n, "(", x.name, ", ", at, ") : (", d.text, types, ") -> ", type));
    };
    put(called(d));
    return called(e);
  }
  }
}

void Generator::descriptorSteps() {
  wholeRows_ = coin();
  put(load(randomShape(), pick({I32, I32, I8, F16, BF16, F32})));
  for (unsigned k = 0, steps = 2 + upTo(4); k < steps; ++k) switch (upTo(12)) {
    case 0:
    case 1: put(loadDescribed()); break;
    case 2:
      if (canBeStored(any())) storeTo(values_.back().shape.empty() ? values_[0] : values_.back(), "", 1);
      break;
    case 3: reduceInto(loadDescribed(), "", 1); break;
    case 4:
    case 5: put(describedLoop()); break;
    case 6:
    case 7:
    case 8: describedDots(); break;
    case 9: put(travellingDescriptor()); break;
    case 10: put(gatherDescribed()); break;
    default: step();
    }
  Value last = values_.back();
  if (canBeStored(last)) storeTo(last, "", 1);
}

} // namespace tessera::random
