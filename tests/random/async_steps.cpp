// What TTGIR alone has: copies from global to shared memory that are in flight during other work. Groups that
// arrive in order, some of them several at a time, whose buffers are filled again; and a loop that copies some
// iterations ahead into the stages of one buffer. Where a wait allows more groups in flight than may be, or a barrier
// is missing between the readers of a stage and the next copy into it, the emulator's results or its races tell.
#include "kernel_writer.h"
#include <deque>

namespace tessera::random {

Generator::Copied Generator::copied() {
  Shape s{1u << (3 + upTo(3)), 1u << (3 + upTo(4))};
  Type t = pick({I32, I32, F16, F16, BF16, F32, I8, E4M3, E5M2});
  Copied c{{"", s, t, t == I32 ? -1 : kSmall, newLayout(s, t)}, sharedLayout(s, t, nullptr), false};
  unsigned lanes = unsigned(target_->warpSize), width = std::max(1u, pick({32u, 128u}) / kTypeBits[t]);
  unsigned across = s[1] / std::min(width, s[1]);
  if (coin() || across > lanes || elementCount(s) < lanes * width) return c;
  // As AMD's loads into LDS need it: each lane's part follows that of the lane before.
  c.value.layout = cat("#ttg.blocked<{sizePerThread = ", list({1, s[1] / across}),
                       ", threadsPerWarp = ", list({lanes / across, across}),
                       ", warpsPerCTA = ", list({unsigned(kernel_.numWarps), 1}), ", order = [1, 0]}>");
  c.layout = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>";
  c.inOrder = true;
  return c;
}

std::string Generator::copyToBuffer(const Copied &c, const std::string &offset, const std::string &onlyIf,
                                    const std::string &buffer, llvm::StringRef type) {
  const Value &v = c.value;
  std::string p = pointers(inputOf(v.type), v.type, offset, c.inOrder ? index(v) : shuffledIndex(v)),
              pt = like(v, (std::string("!tt.ptr<") + kTypeNames[v.type] + ">").c_str()), masks;
  // Elements that are masked off without a value are undefined: only those that nobody reads may be.
  std::string m = onlyIf.empty() ? "" : splat(onlyIf, v, I1).name;
  if (upTo(c.inOrder ? 6 : 3) == 0) {
    Value some = mask(v);
    m = m.empty() ? some.name : arithmetic("arith.andi", named(some, m), some).name;
    masks = cat(" mask ", m, " other ", constant(v, v.type, pick({0, 0, 3})).name);
  } else if (!m.empty()) {
    masks = " mask " + m;
  }
  type.consume_front("!ttg.memdesc");
  return emit(cat("ttg.async_copy_global_to_local ", p, ", ", buffer, masks, " : ", pt, " -> ", type.str()));
}

void Generator::copyGroups() {
  struct Copy {
    Copied what;
    std::string buffer, type;
  };
  struct Group {
    unsigned number;
    std::string token;
    std::vector<Copy> copies;
  };
  std::deque<Group> inFlight;
  unsigned committed = 0, left = 2 + upTo(4);
  auto start = [&](std::vector<Copy> copies) {
    std::string tokens;
    for (Copy &c : copies) {
      std::string offset = perProgram(std::min(elementCount(c.what.value.shape), kInputs / 8));
      tokens += (tokens.empty() ? "" : ", ") + copyToBuffer(c.what, offset, "", c.buffer, c.type);
    }
    inFlight.push_back({committed++, emit("ttg.async_commit_group tokens " + tokens), std::move(copies)});
    --left;
  };
  auto startNew = [&] {
    std::vector<Copy> copies(1 + upTo(2));
    for (Copy &c : copies) {
      c.what = copied();
      c.type = bufferType(c.what.value.shape, c.what.value.type, c.what.layout, true);
      c.buffer = emit("ttg.local_alloc : () -> " + c.type);
    }
    start(std::move(copies));
  };
  for (unsigned k = 1 + upTo(3); k > 0 && left > 0; --k) startNew();
  while (!inFlight.empty()) {
    size_t arriving = 1 + upTo(unsigned(inFlight.size()));
    unsigned mayBeInFlight = committed - 1 - inFlight[arriving - 1].number;
    if (upTo(4) == 0) mayBeInFlight = upTo(mayBeInFlight + 1);
    std::string token =
        emit(cat("ttg.async_wait ", inFlight[arriving - 1].token, " {num = ", mayBeInFlight, " : i32}"));
    for (; arriving > 0; --arriving) {
      Group g = std::move(inFlight.front());
      inFlight.pop_front();
      for (Copy &c : g.copies) {
        Value v = c.what.value;
        v.layout = newLayout(v.shape, v.type);
        put(make(v, v.type, v.bound,
                 cat("ttg.local_load ", c.buffer, coin() ? " token " + token : "", " : ", c.type, " -> ", typeOf(v))));
      }
      if (left && coin()) coin() ? start(std::move(g.copies)) : startNew();
    }
  }
}

Value Generator::copyLoop() {
  Copied what = copied();
  while (isNarrow(what.value.type)) what = copied();
  const Value &v = what.value;
  unsigned stages = 2 + upTo(3), iterations = upTo(6), elements = elementCount(v.shape);
  int64_t bound = v.type == I32 ? -1 : kSmall * int64_t(iterations + 1);
  Shape staged = v.shape;
  staged.insert(staged.begin(), stages);
  std::string stage = bufferType(v.shape, v.type, what.layout, true),
              all = bufferType(staged, v.type, what.layout, true);
  std::string buffer = emit("ttg.local_alloc : () -> " + all), first = perProgram(elements);
  std::string end = number(iterations, I32), zero = scalar(0), one = scalar(1), stageCount = scalar(stages),
              ahead = scalar(stages - 1), size = scalar(std::min(elements, kInputs / 16));
  // Iteration `i`, if there is one.
  auto copy = [&](const std::string &i) {
    std::string offset = emit(cat("arith.muli ", i, ", ", size, " : i32"));
    if (!first.empty()) offset = emit(cat("arith.addi ", offset, ", ", first, " : i32"));
    std::string to = emit(cat("arith.remui ", i, ", ", stageCount, " : i32"));
    to = emit(cat("ttg.memdesc_index ", buffer, "[", to, "] : ", all, " -> ", stage));
    std::string exists = emit(cat("arith.cmpi slt, ", i, ", ", end, " : i32"));
    std::string token = copyToBuffer(what, offset, exists, to, stage);
    emit(cat("ttg.async_commit_group tokens ", token));
  };
  for (unsigned k = 0; k + 1 < stages; ++k) copy(scalar(k));
  bool copiesFirst = coin();
  unsigned mayBeInFlight = copiesFirst ? stages - 1 : stages - 2;
  if (upTo(4) == 0) mayBeInFlight = upTo(mayBeInFlight + 1);
  Value loaded = v;
  if (coin()) loaded.layout = newLayout(v.shape, v.type);
  Value sum = constant(loaded, v.type, 0);
  std::string result = fresh(), i = fresh(), before = fresh();
  text_ += cat("    ", result, " = scf.for ", i, " = ", zero, " to ", end, " step ", one, " iter_args(", before, " = ",
               sum.name, ") -> (", typeOf(sum), ") : i32 {\n");
  auto copyAhead = [&] { copy(emit(cat("arith.addi ", i, ", ", ahead, " : i32"))); };
  if (copiesFirst) copyAhead();
  std::string token = emit(cat("ttg.async_wait {num = ", mayBeInFlight, " : i32}"));
  std::string at = emit(cat("arith.remui ", i, ", ", stageCount, " : i32"));
  at = emit(cat("ttg.memdesc_index ", buffer, "[", at, "] : ", all, " -> ", stage));
  loaded =
      make(loaded, v.type, v.bound, cat("ttg.local_load ", at, " token ", token, " : ", stage, " -> ", typeOf(loaded)));
  sum = arithmetic(isFloat(v.type) ? "arith.addf" : "arith.addi", named(sum, before), loaded, bound);
  if (!copiesFirst) copyAhead();
  text_ += cat("    scf.yield ", sum.name, " : ", typeOf(sum), "\n    }\n");
  emit("ttg.async_wait {num = 0 : i32}");
  return named(sum, result);
}

} // namespace tessera::random
