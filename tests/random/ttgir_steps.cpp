// What TTGIR alone has: tensors that go through shared memory of a random layout.
#include "kernel_writer.h"

namespace tessera::random {

std::string Generator::sharedLayout(const Shape &s, Type t, std::string *transposed) {
  unsigned rank = unsigned(s.size());
  std::vector<unsigned> order(rank);
  for (unsigned d = 0; d < rank; ++d) order[d] = rank - 1 - d;
  if (rank == 2 && coin()) std::swap(order[0], order[1]);
  std::vector<unsigned> other(order.rbegin(), order.rend());
  if (rank == 2 && target_->vendor == ir::Vendor::Nvidia && target_->computeCapability >= 90 && upTo(3) == 0 &&
      t != I1) {
    unsigned bits = kTypeBits[t], bytes = s[1] * bits / 8;
    unsigned width = bytes >= 128 ? 128 : bytes >= 64 ? 64 : bytes >= 32 ? 32 : 0;
    if (width && s[0] >= 8 && bits <= 32) {
      for (unsigned k = upTo(3); k > 0 && width > 32; --k) width /= 2;
      auto text = [&](bool flip) {
        return cat("#ttg.nvmma_shared<{swizzlingByteWidth = ", width, ", transposed = ", flip ? "true" : "false",
                   ", elementBitWidth = ", bits, "}>");
      };
      if (transposed) *transposed = text(true);
      return text(false);
    }
  }
  if (rank == 2 && target_->vendor == ir::Vendor::Amd && upTo(4) == 0) {
    unsigned every = s[order[0]] * (1 + upTo(2)), pad = 4u << upTo(3);
    auto text = [&](llvm::ArrayRef<unsigned> o, llvm::ArrayRef<unsigned> shape) {
      return cat("#ttg.padded_shared<[", every, ":+", pad, "] {order = ", list(o), ", shape = ", list(shape), "}>");
    };
    if (transposed) *transposed = text(other, {s[1], s[0]});
    return text(order, s);
  }
  unsigned vec = 1u << upTo(4), perPhase = 1u << upTo(3), maxPhase = 1u << upTo(4);
  auto text = [&](llvm::ArrayRef<unsigned> o) {
    return cat("#ttg.swizzled_shared<{vec = ", vec, ", perPhase = ", perPhase, ", maxPhase = ", maxPhase,
               ", order = ", list(o), "}>");
  };
  if (transposed) *transposed = text(other);
  return text(order);
}

std::string Generator::bufferType(const Shape &s, Type t, const std::string &layout, bool isMutable) {
  std::string text = "!ttg.memdesc<";
  for (unsigned d : s) text += std::to_string(d) + "x";
  return text + kTypeNames[t] + ", " + layout + ", #ttg.shared_memory" + (isMutable ? ", mutable>" : ">");
}

Value Generator::throughShared(Value v) {
  if (v.type == I1) v = cast(v, I8);
  std::string flipped, layout = sharedLayout(v.shape, v.type, &flipped);
  bool isMutable = coin();
  std::string type = bufferType(v.shape, v.type, layout, isMutable), m;
  if (isMutable && coin()) {
    m = emit(cat("ttg.local_alloc : () -> ", type));
    text_ += cat("    ttg.local_store ", v.name, ", ", m, " : ", typeOf(v), " -> ", type, "\n");
  } else {
    m = emit(cat("ttg.local_alloc ", v.name, " : (", typeOf(v), ") -> ", type));
  }
  Value r = v;
  if (v.shape.size() == 2 && upTo(3) == 0) {
    r.shape = {v.shape[1], v.shape[0]};
    std::string view = bufferType(r.shape, v.type, flipped, isMutable);
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

} // namespace tessera::random
