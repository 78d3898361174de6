// Blocks of tensors in memory: block pointers (tt.make_tensor_ptr, tt.advance) and tensor descriptors. Blocks begin
// before a tensor's first element, end behind its last, or lie outside; the tensors lie in memory in any order of
// their dimensions.
#include "kernel_writer.h"

namespace tessera::random {

Generator::Parent Generator::parent(const Shape &block, Type t, int64_t most, bool forDescriptor) {
  Parent p;
  size_t rank = block.size();
  p.order.resize(rank), p.strides.resize(rank);
  for (size_t k = 0; k < rank; ++k) p.order[k] = unsigned(rank - 1 - k);
  if (!forDescriptor && upTo(3) == 0) std::reverse(p.order.begin(), p.order.end());
  for (unsigned d : block) {
    bool whole = coin();
    p.shape.push_back(whole ? d : 1 + upTo(2 * d));
    p.offsets.push_back(whole && coin() ? 0 : int64_t(upTo(2 * d)) - d / 2);
  }
  for (;;) { // smaller until it fits
    int64_t stride = 1;
    for (auto [k, d] : llvm::enumerate(p.order)) {
      p.strides[d] = stride;
      stride *= p.shape[d];
      // A descriptor's rows begin at multiples of 16 bytes.
      if (forDescriptor && !k) stride = int64_t(llvm::alignTo(uint64_t(stride), 128 / kTypeBits[t]));
    }
    if (stride <= most) return p;
    int64_t &largest = *std::max_element(p.shape.begin(), p.shape.end());
    largest = largest / 2;
  }
}

std::string Generator::scalars(const std::vector<int64_t> &v, const char *type) {
  std::string s;
  for (int64_t x : v) s += (s.empty() ? "" : ", ") + emit(cat("arith.constant ", x, " : ", type));
  return s;
}

/// The attributes of an access: the dimensions that the block may reach over, and sometimes others.
std::string Generator::checks(const Parent &p, const Shape &block) {
  std::string dims;
  for (unsigned d = 0; d < block.size(); ++d)
    if (p.reachesOver(block, d) || upTo(4) == 0) dims += (dims.empty() ? "" : ", ") + std::to_string(d);
  return dims.empty() ? "" : cat("boundaryCheck = array<i32: ", dims, ">");
}

std::string Generator::moved(const std::string &base, Type t, const std::string &offset) {
  return offset.empty() ? base : emit(cat("tt.addptr ", base, ", ", offset, " : !tt.ptr<", kTypeNames[t], ">, i32"));
}

std::string Generator::blockPointer(const std::string &base, Type t, const Shape &block, const Parent &p) {
  // Half of them are made elsewhere and moved.
  std::vector<int64_t> first = p.offsets, way(p.offsets.size());
  bool advances = coin();
  if (advances)
    for (size_t d = 0; d < first.size(); ++d) way[d] = int64_t(upTo(32)) - 16, first[d] -= way[d];
  std::string shape = scalars(p.shape, "i64"), strides = scalars(p.strides, "i64"), offsets = scalars(first, "i32"),
              order, block_ = tensorOf(block, kTypeNames[t], "");
  for (unsigned d : p.order) order += (order.empty() ? "" : ", ") + std::to_string(d);
  std::string r = emit(cat("tt.make_tensor_ptr ", base, ", [", shape, "], [", strides, "], [", offsets,
                           "] {order = array<i32: ", order, ">} : <", block_, ">"));
  if (!advances) return r;
  std::string steps = scalars(way, "i32");
  return emit(cat("tt.advance ", r, ", [", steps, "] : <", block_, ">"));
}

std::string Generator::descriptor(const std::string &base, Type t, const Shape &block, const Parent &p) {
  std::string shape = scalars(p.shape, "i32"), strides = scalars(p.strides, "i64");
  return emit(cat("tt.make_tensor_descriptor ", base, ", [", shape, "], [", strides, "] : <", kTypeNames[t], ">, <",
                  tensorOf(block, kTypeNames[t], ""), ">"));
}

Value Generator::loadBlock(const Shape &s, Type t) {
  bool described = s.back() * kTypeBits[t] >= 128 && coin();
  Value v{"", s, t, t == I32 ? -1 : kSmall, {}};
  unsigned room = std::min(elementCount(s), (kInputs - elementCount(s)) / 4) / 16 * 16;
  Parent p = parent(s, t, kInputs - 3 * room, described);
  std::string base = moved(inputOf(t), t, room ? perProgram(room) : ""), block = tensorOf(s, kTypeNames[t], "");
  if (described) {
    std::string d = descriptor(base, t, s, p), at = scalars(p.offsets, "i32");
    return make(v, t, v.bound, cat("tt.descriptor_load ", d, "[", at, "] : !tt.tensordesc<", block, "> -> ", block));
  }
  std::string q = blockPointer(base, t, s, p), c = checks(p, s);
  return make(v, t, v.bound,
              cat("tt.load ", q, c.empty() ? "" : " {" + c + ", padding = 1 : i32}", " : !tt.ptr<", block, ">"));
}

Value Generator::loadBlocks(const Shape &s, Type t) {
  Value v{"", s, t, 0, {}};
  v = constant(v, t, 0);
  Parent p = parent(s, t, kInputs, false);
  std::string q = blockPointer(inputOf(t), t, s, p), block = tensorOf(s, kTypeNames[t], ""),
              pt = "!tt.ptr<" + block + ">", every;
  std::vector<int64_t> way(s.size());
  for (unsigned d = 0; d < s.size(); ++d)
    way[d] = coin() ? s[d] : int64_t(upTo(8)) - 4, every += (d ? ", " : "") + std::to_string(d);
  unsigned rounds = 1 + upTo(5);
  std::string step = scalars(way, "i32"), lo = scalar(0), hi = scalar(rounds), one = scalar(1), r = fresh(),
              n = r.substr(2), add = isFloat(t) ? "arith.addf" : "arith.addi";
  text_ += cat("    ", r, ":2 = scf.for %i", n, " = ", lo, " to ", hi, " step ", one, " iter_args(%q", n, " = ", q,
               ", %a", n, " = ", v.name, ") -> (", pt, ", ", block, ") : i32 {\n      %l", n, " = tt.load %q", n,
               " {boundaryCheck = array<i32: ", every, ">, padding = 1 : i32} : ", pt, "\n      %s", n, " = ", add,
               " %a", n, ", %l", n, " : ", block, "\n      %m", n, " = tt.advance %q", n, ", [", step, "] : <", block,
               ">\n      scf.yield %m", n, ", %s", n, " : ", pt, ", ", block, "\n    }\n");
  v = named(v, r + "#1");
  v.bound = t == I32 || t == I8 ? -1 : kSmall * int64_t(rounds);
  return v;
}

void Generator::storeBlock(Value v) {
  if (depth_ || v.type == I1 || isNarrow(v.type)) v = cast(v, I32);
  if (depth_) return put(v); // what is stored has a place of its own
  bool described = v.shape.back() * kTypeBits[v.type] >= 128 && coin();
  Parent p = parent(v.shape, v.type, 2 * int64_t(elementCount(v.shape)) + 64, described);
  unsigned elements = unsigned(llvm::alignTo(uint64_t(p.shape[p.order.back()] * p.strides[p.order.back()]), 16)),
           bytes = elements * kTypeBits[v.type] / 8, all = bytes * unsigned(kernel_.programs);
  unsigned at;
  if (!takeOutput(all, at)) return;
  std::string base = output(), offset = scalar(at * 8 / kTypeBits[v.type]), block = typeOf(v);
  if (v.type != I32) base = emit(cat("tt.bitcast ", output(), " : !tt.ptr<i32> -> !tt.ptr<", kTypeNames[v.type], ">"));
  if (kernel_.programs > 1) offset = emit(cat("arith.addi ", offset, ", ", perProgram(elements), " : i32"));
  base = moved(base, v.type, offset);
  if (described) {
    std::string d = descriptor(base, v.type, v.shape, p), at = scalars(p.offsets, "i32");
    text_ +=
        cat("    tt.descriptor_store ", d, "[", at, "], ", v.name, " : !tt.tensordesc<", block, ">, ", block, "\n");
  } else {
    std::string q = blockPointer(base, v.type, v.shape, p), c = checks(p, v.shape);
    text_ += cat("    tt.store ", q, ", ", v.name, c.empty() ? "" : " {" + c + "}", " : !tt.ptr<", block, ">\n");
  }
  put(v);
}

} // namespace tessera::random
