// What TTGIR alone has: views of shared memory (stages, parts, transposed and reshaped buffers, and all of these in
// turn), through which elements are read, written, gathered and scattered. The whole buffer is read in the end, which
// shows a write that reaches beyond its view.
#include "kernel_writer.h"

namespace tessera::random {

/// A layout whose kind and numbers stay the same when its dimensions are permuted or counted otherwise.
std::string Generator::Buffer::layout() const {
  std::string ordered = cat("order = ", list(order));
  if (padEvery)
    return cat("#ttg.padded_shared<[", padEvery, ":+", pad, "] {", ordered, ", shape = ", list(whole), "}>");
  return cat("#ttg.swizzled_shared<{vec = ", vec, ", perPhase = ", perPhase, ", maxPhase = ", maxPhase, ", ", ordered,
             "}>");
}

std::string Generator::Buffer::type() const {
  std::string text = bufferType(shape, element, layout(), true);
  if (shape == whole) return text;
  text.pop_back();
  text += ", ";
  for (auto [i, d] : llvm::enumerate(whole)) text += (i ? "x" : "") + std::to_string(d);
  return text + ">";
}

Generator::Buffer Generator::newBuffer(const Value &v) {
  Buffer b{"", v.shape, v.shape, {}, v.type};
  unsigned rank = unsigned(v.shape.size());
  for (unsigned d = 0; d < rank; ++d) b.order.push_back(rank - 1 - d);
  if (coin()) shuffle(b.order);
  switch (upTo(3)) {
  case 0: b.padEvery = 4u << upTo(6), b.pad = 1u << upTo(5); break;
  case 1: b.vec = 1u << upTo(4), b.perPhase = 1u << upTo(3), b.maxPhase = 1u << upTo(4); break;
  default: break; // as it is, which can be reshaped
  }
  unsigned stages = pick({0, 0, 2, 3});
  if (!stages) {
    b.name = emit(cat("ttg.local_alloc : () -> ", b.type()));
    return b;
  }
  Shape all = b.shape;
  all.insert(all.begin(), stages);
  std::string type = bufferType(all, b.element, b.layout(), true), buffer = emit(cat("ttg.local_alloc : () -> ", type));
  b.name = emit(cat("ttg.memdesc_index ", buffer, "[", scalar(upTo(stages)), "] : ", type, " -> ", b.type()));
  return b;
}

Generator::Buffer Generator::transposedView(const Buffer &b) {
  std::vector<unsigned> order;
  for (unsigned d = 0; d < b.shape.size(); ++d) order.push_back(d);
  shuffle(order);
  Buffer r = b;
  for (auto [d, from] : llvm::enumerate(order)) r.shape[d] = b.shape[from], r.whole[d] = b.whole[from];
  for (unsigned &d : r.order) d = unsigned(llvm::find(order, d) - order.begin());
  std::string text = list(order);
  r.name = emit(cat("ttg.memdesc_trans ", b.name, " {order = array<i32: ", text.substr(1, text.size() - 2),
                    ">} : ", b.type(), " -> ", r.type()));
  return r;
}

Generator::Buffer Generator::part(const Buffer &b) {
  Buffer r = b;
  std::vector<unsigned> offsets;
  for (unsigned &d : r.shape) {
    unsigned whole = d;
    d = std::max(1u, d >> upTo(3));
    offsets.push_back(upTo(whole / d) * d);
  }
  r.name = emit(cat("ttg.memdesc_subslice ", b.name, list(offsets), " : ", b.type(), " -> ", r.type()));
  return r;
}

/// The buffer in another shape, if its elements are in row-major order, or in that of the dimensions backwards.
Generator::Buffer Generator::reshapedView(const Buffer &b) {
  bool isRowMajor = b.vec * b.perPhase * b.maxPhase == 1;
  for (auto [i, d] : llvm::enumerate(b.order)) isRowMajor &= d == b.shape.size() - 1 - i;
  if (!isRowMajor || b.shape != b.whole) return b;
  Buffer r = b;
  r.shape = r.whole = otherShape(elementCount(b.shape));
  r.order.clear();
  for (unsigned d = 0; d < r.shape.size(); ++d) r.order.push_back(unsigned(r.shape.size()) - 1 - d);
  r.name = emit(cat("ttg.memdesc_reshape ", b.name, " : ", b.type(), " -> ", r.type()));
  return r;
}

Value Generator::read(const Buffer &b, int64_t bound) {
  Value r{"", b.shape, b.element, bound, newLayout(b.shape, b.element)};
  if (upTo(4)) return make(r, r.type, bound, cat("ttg.local_load ", b.name, " : ", b.type(), " -> ", typeOf(r)));
  unsigned axis = upTo(unsigned(r.shape.size()));
  if (coin()) r.shape[axis] = std::max(1u, r.shape[axis] * 2 >> upTo(3)); // more or fewer than there are
  r.layout = blocked(r.shape);
  Value i = smallInt(index(r), b.shape[axis] - 1, false);
  i = arithmetic("arith.xori", i, constant(i, I32, upTo(b.shape[axis])));
  return make(r, r.type, bound,
              cat("ttg.local_gather ", b.name, "[", i.name, "] {axis = ", axis, " : i32} : ", b.type(), ", ", typeOf(i),
                  " -> ", typeOf(r)));
}

/// Writes to all of a view: each element at its place, or permuted along an axis. The bound of what is written.
int64_t Generator::write(const Buffer &b) {
  Value w{"", b.shape, b.element, -1, newLayout(b.shape, b.element)};
  w = cast(cast(index(w), I32), b.element);
  if (upTo(3)) {
    text_ += cat("    ttg.local_store ", w.name, ", ", b.name, " : ", typeOf(w), " -> ", b.type(), "\n");
    return w.bound;
  }
  unsigned axis = upTo(unsigned(b.shape.size()));
  Value i = range(w, axis);
  i = arithmetic("arith.xori", i, constant(i, I32, upTo(b.shape[axis])));
  text_ += cat("    ttg.local_scatter ", b.name, "[", i.name, "], ", w.name, " {axis = ", axis, " : i32} : ", b.type(),
               ", ", typeOf(i), ", ", typeOf(w), "\n");
  return w.bound;
}

void Generator::throughViews(Value v) {
  if (v.type == I1) v = cast(v, I8);
  Buffer whole = newBuffer(v);
  text_ += cat("    ttg.local_store ", v.name, ", ", whole.name, " : ", typeOf(v), " -> ", whole.type(), "\n");
  int64_t bound = v.bound;
  for (unsigned views = 1 + upTo(2); views > 0; --views) {
    Buffer b = whole;
    for (unsigned steps = 1 + upTo(4); steps > 0; --steps) switch (upTo(5)) {
      case 0: b = reshapedView(b); break;
      case 1:
      case 2: b = transposedView(b); break;
      default: b = part(b); break;
      }
    if (coin()) {
      int64_t written = write(b);
      bound = bound < 0 || written < 0 ? -1 : std::max(bound, written);
    }
    put(read(b, bound));
  }
  put(read(whole, bound));
}

} // namespace tessera::random
