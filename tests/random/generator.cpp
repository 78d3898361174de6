// See generator.h. The frame of a kernel, its pool of values, and which step comes next.
#include "kernel_writer.h"

namespace tessera::random {

Kernel Generator::run() {
  kernel_.programs = upTo(3) ? 1 : int(2 + upTo(2));
  kernel_.numWarps = 1 << upTo(4);
  kernel_.numStages = 1 + int(upTo(4));
  if (extended_) chooseViews();
  pid_ = emit("tt.get_program_id x : i32");
  if (ttgir_) {
    Shape s{1u << (2 + upTo(5)), 1u << (2 + upTo(5))};
    put(load(s, pick({I32, I32, I8, F16, F32})));
    for (unsigned k = 0, steps = 3 + upTo(6); k < steps; ++k) ttgirStep();
  } else if (described_) {
    descriptorSteps();
  } else if (ragged_) {
    raggedSteps();
  } else if (upTo(16) == 0) {
    largeSteps();
  } else {
    put(load(randomShape(), pick({I32, I32, I8, F16, BF16, F32})));
    if (upTo(3) == 0) coin() ? dot() : pipelinedDots();
    if (extended_ && upTo(8) == 0) attention();
    for (unsigned k = 0, steps = 3 + upTo(9); k < steps; ++k) step();
  }
  store(values_.back());
  for (unsigned k = upTo(3); k-- > 0;) store(any());
  kernel_.text = header() + text_ + "    tt.return\n  }\n}\n";
  return kernel_;
}

std::string Generator::emit(const std::string &s) {
  std::string n = fresh();
  text_ += "    " + n + " = " + s + "\n";
  return n;
}

std::string Generator::tensorOf(const Shape &s, const std::string &element, const std::string &layout) {
  if (s.empty()) return element;
  std::string out = "tensor<";
  for (unsigned d : s) out += std::to_string(d) + "x";
  return out + element + (layout.empty() ? "" : ", " + layout) + ">";
}

std::string Generator::typeOf(const Value &v) { return tensorOf(v.shape, kTypeNames[v.type], v.layout); }
std::string Generator::like(const Value &v, const char *element) { return tensorOf(v.shape, element, v.layout); }

Value Generator::make(Value shapeOf, Type t, int64_t bound, const std::string &s) {
  shapeOf.type = t, shapeOf.bound = bound, shapeOf.name = emit(s);
  return shapeOf;
}

Value Generator::constant(const Value &shapeOf, Type t, int64_t c) {
  std::string text = isFloat(t) ? cat(c, ".0") : cat(c);
  Value v = shapeOf;
  v.type = t;
  return make(v, t, std::abs(c),
              v.shape.empty() ? cat("arith.constant ", text, " : ", kTypeNames[t])
                              : cat("arith.constant dense<", text, "> : ", typeOf(v)));
}

std::string Generator::header() const {
  std::string attributes;
  if (ttgir_)
    attributes = cat(" attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = ", kernel_.numWarps,
                     " : i32, ttg.target = \"", target_->tritonTarget.str(),
                     "\", \"ttg.threads-per-warp\" = ", target_->warpSize, " : i32}");
  std::string s = "module" + attributes + " {\n" + functions_ + "  tt.func public @k(";
  for (auto [k, p] : llvm::enumerate(kParameters)) {
    const char *aligned = kernel_.starts[k] % 16 ? "" : "tt.divisibility = 16 : i32";
    const char *range = !hasRanges_ ? "" : *aligned ? ", tt.pointer_range = 32 : i32" : "tt.pointer_range = 32 : i32";
    s += cat(k ? ", " : "", p.name, isView(unsigned(k)) ? "v" : "", ": !tt.ptr<", kTypeNames[p.type], "> {", aligned,
             range, "}");
  }
  return s + parameters_ + ") {\n";
}

void Generator::chooseViews() {
  hasRanges_ = upTo(4);
  constexpr unsigned kInBuffers = 9; // of inputs, y and z
  for (unsigned k = 0; k < kInBuffers; ++k) {
    if (upTo(3) == 0) continue;
    auto &p = kParameters[k];
    unsigned width = kTypeBits[p.type] / 8, bytes = k < 7 ? kInputs * width : k == 7 ? kOutputBytes : kAtomicBytes;
    uint64_t &start = kernel_.starts[k];
    start = uint64_t(upTo(bytes / width)) * width;
    if (coin()) start = start / 16 * 16;
    if (!start) continue;
    Type t = coin() ? I32 : I64;
    text_ += cat("    ", p.name, " = tt.addptr ", p.name, "v, ", number(-int64_t(start / width), t), " : !tt.ptr<",
                 kTypeNames[p.type], ">, ", kTypeNames[t], "\n");
  }
}

Value Generator::any() { return values_[values_.size() - 1 - std::min<size_t>(upTo(4), values_.size() - 1)]; }

Shape Generator::randomShape() {
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

void Generator::step() {
  Value v = any();
  if (v.shape.empty()) { // scalars come from reductions of everything; they become tensors again
    Value t{"", {16}, v.type, v.bound, {}};
    t.name = emit(cat("tt.splat ", v.name, " : ", kTypeNames[v.type], " -> ", typeOf(t)));
    v = t;
  }
  switch (upTo(22)) {
  case 0:
  case 1:
  case 2: return put(binary(v));
  case 3: return put(cast(v, pick({I1, I8, I16, I32, I64, F16, BF16, F32, F64, E4M3, E5M2})));
  case 4:
  case 5: return put(reduce(v));
  case 6: return put(scan(v));
  case 7: return put(transpose(v));
  case 8: return put(reshape(v, otherShape(elementCount(v.shape))));
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
    return put(recurrence(v));
  case 18: return put(call(v));
  case 19: return put(concatenate(v));
  case 20: return storeBlock(v);
  default: return put(load(coin() ? v.shape : randomShape(), pick({I32, I8, F16, BF16, F32, E4M3, E5M2})));
  }
}

void Generator::ttgirStep() {
  Value v = any();
  if (v.shape.empty()) return put(load({16, 16}, I32));
  if (extended_) switch (upTo(6)) {
    case 0: return coin() ? copyGroups() : put(copyLoop());
    case 1:
    case 2: return throughViews(v);
    default: break;
    }
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

Kernel generate(unsigned seed, Level level, const ir::TargetInfo *target) {
  return Generator(seed, level, target).run();
}

} // namespace tessera::random
