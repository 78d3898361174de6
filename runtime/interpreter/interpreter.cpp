// The interpreter (see interpreter.h). A value is a flat, row-major list of bit patterns, one per element, each in the low
// bits of a 64-bit word; pointers are addresses in a space in which each buffer has a range of its own with gaps between.
#include "runtime/interpreter/interpreter.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/printer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "runtime/interpreter/scalar_math.h"
#include <cmath>
#include <cstring>
#include <memory>

namespace tessera::runtime {
using namespace ir;

namespace {

using Data = std::shared_ptr<std::vector<uint64_t>>;
using Shape = llvm::SmallVector<int64_t, 4>;

Data make(size_t n, uint64_t v = 0) { return std::make_shared<std::vector<uint64_t>>(n, v); }
Data make(std::vector<uint64_t> v) { return std::make_shared<std::vector<uint64_t>>(std::move(v)); }
Shape shapeOf(Type t) { return t.isTensor() ? Shape(t.cast<TensorType>().shape()) : Shape(); }
int64_t countOf(Type t) { return t.isTensor() ? t.cast<TensorType>().numElements() : 1; }

/// Row-major strides.
Shape stridesOf(llvm::ArrayRef<int64_t> shape) {
  Shape s(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) s[d - 1] = s[d] * shape[d];
  return s;
}
Shape unflatten(int64_t i, llvm::ArrayRef<int64_t> shape) {
  Shape x(shape.size());
  for (size_t d = shape.size(); d-- > 0;) x[d] = i % shape[d], i /= shape[d];
  return x;
}
int64_t flatten(llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> shape) {
  int64_t i = 0;
  for (size_t d = 0; d < shape.size(); ++d) i = i * shape[d] + x[d];
  return i;
}

class Interpreter {
public:
  Interpreter(std::array<int64_t, 3> grid, llvm::ArrayRef<InterpreterBuffer> buffers, const InterpreterOptions &o, DiagnosticEngine &d) : grid_(grid), buffers_(buffers), options_(o), diag_(d) {
    uint64_t at = uint64_t(1) << 32;
    for (auto &b : buffers_) {
      bases_.push_back(at);
      at += (b.bytes + 4095) / 4096 * 4096 + (uint64_t(1) << 30); // a gap that no 32-bit slip of an index crosses unseen
    }
  }

  absl::Status run(Operation *kernel, llvm::ArrayRef<InterpreterArg> args) {
    int64_t all = grid_[0] * grid_[1] * grid_[2], done = 0;
    for (pid_[2] = 0; pid_[2] < grid_[2]; ++pid_[2])
      for (pid_[1] = 0; pid_[1] < grid_[1]; ++pid_[1])
        for (pid_[0] = 0; pid_[0] < grid_[0]; ++pid_[0]) {
          std::vector<Data> in;
          for (auto &a : args) in.push_back(make(1, a.buffer >= 0 ? bases_[a.buffer] + a.bits : a.bits));
          std::vector<Data> out;
          if (!call(kernel, in, out)) return absl::AbortedError("the kernel failed");
          if (options_.progress) options_.progress(++done, all);
        }
    return absl::OkStatus();
  }

private:
  bool fault(Operation *op, const std::string &what) {
    Diagnostic d;
    d.loc = op->loc();
    d.message = what;
    std::string line = printOperation(op);
    d.snippet = line.substr(0, std::min<size_t>(line.find('\n'), 200)) + "\n";
    d.note(llvm::formatv("in program ({0}, {1}, {2})", pid_[0], pid_[1], pid_[2]).str());
    diag_.report(std::move(d));
    return false;
  }

  Data get(Value v) { return env_[v]; }
  uint64_t scalar(Value v) { return (*env_[v])[0]; }
  void set(Value v, Data d) { env_[v] = std::move(d); }

  bool call(Operation *func, llvm::ArrayRef<Data> args, std::vector<Data> &results) {
    auto f = func->cast<tt::FuncOp>();
    if (f.body().empty()) return fault(func, "calls a function without a body");
    if (++depth_ > 64) return fault(func, "calls nest too deeply");
    Block *entry = f.body().front();
    for (unsigned i = 0; i < args.size(); ++i) set(entry->arg(i), args[i]);
    Operation *end = nullptr;
    if (!runRegion(f.body(), end)) return false;
    for (auto v : end->operands()) results.push_back(get(v));
    --depth_;
    return true;
  }

  /// Runs the blocks of a region from its entry until a terminator that is no branch.
  bool runRegion(Region &r, Operation *&end) {
    Block *b = r.front();
    for (int64_t n = 0;; ++n) {
      if (n > options_.maxIterations) return fault(b->terminator(), "the blocks do not come to an end");
      for (auto &op : *b) {
        if (op.info().has(kTerminator)) break;
        if (++steps_ > options_.maxSteps) return fault(&op, "the kernel runs too long");
        if (!evaluate(&op)) return false;
      }
      Operation *t = b->terminator();
      OperandRange args;
      if (t->is<cf::BrOp>()) {
        b = t->successor(0);
        args = t->operands();
      } else if (auto c = t->dyn<cf::CondBrOp>()) {
        bool taken = scalar(c.condition()) & 1;
        b = t->successor(taken ? 0 : 1);
        args = taken ? c.trueArgs() : c.falseArgs();
      } else {
        end = t;
        return true;
      }
      std::vector<Data> values;
      for (auto v : args) values.push_back(get(v));
      for (unsigned i = 0; i < values.size(); ++i) set(b->arg(i), values[i]);
    }
  }

  // ---- memory ----
  uint8_t *resolve(Operation *op, uint64_t address, unsigned bytes, const char *what) {
    for (unsigned i = 0; i < bases_.size(); ++i) {
      // The nearest buffer below or just above the address is the one meant.
      uint64_t end = i + 1 < bases_.size() ? bases_[i + 1] - (uint64_t(1) << 29) : UINT64_MAX;
      if (address >= end) continue;
      int64_t offset = int64_t(address - bases_[i]);
      if (offset < 0 || uint64_t(offset) + bytes > buffers_[i].bytes) {
        fault(op, llvm::formatv("{0} of {1} bytes at byte {2} of buffer '{3}', which has {4} bytes", what, bytes, offset, buffers_[i].name, buffers_[i].bytes));
        return nullptr;
      }
      if (offset % bytes) {
        fault(op, llvm::formatv("{0} of {1} bytes at byte {2} of buffer '{3}' is misaligned", what, bytes, offset, buffers_[i].name));
        return nullptr;
      }
      return buffers_[i].data + offset;
    }
    fault(op, llvm::formatv("{0} at address {1:x}, which lies in no buffer", what, address));
    return nullptr;
  }
  static unsigned elementBytes(Type pointee) { return std::max(1u, pointee.bitWidth() / 8); }
  static uint64_t readBytes(const uint8_t *p, unsigned n) {
    uint64_t v = 0;
    std::memcpy(&v, p, n);
    return v;
  }

  bool load(Operation *op) {
    auto l = op->cast<tt::LoadOp>();
    if (l.ptr().type().isPointer() && l.ptr().type().cast<PointerType>().pointee().isTensor()) return unknown(op);
    Type pointee = l.ptr().type().scalar().cast<PointerType>().pointee();
    unsigned bytes = elementBytes(pointee);
    Data p = get(l.ptr()), mask = l.mask() ? get(l.mask()) : nullptr, other = l.other() ? get(l.other()) : nullptr;
    auto out = make(p->size(), lowBits(~uint64_t(0), pointee.bitWidth()));
    for (size_t i = 0; i < p->size(); ++i) {
      if (mask && !((*mask)[i] & 1)) {
        if (other) (*out)[i] = (*other)[i];
        continue;
      }
      auto *at = resolve(op, (*p)[i], bytes, "load");
      if (!at) return false;
      (*out)[i] = lowBits(readBytes(at, bytes), pointee.bitWidth());
    }
    set(op->result(), out);
    return true;
  }
  bool store(Operation *op) {
    auto s = op->cast<tt::StoreOp>();
    if (s.ptr().type().isPointer() && s.ptr().type().cast<PointerType>().pointee().isTensor()) return unknown(op);
    unsigned bytes = elementBytes(s.ptr().type().scalar().cast<PointerType>().pointee());
    Data p = get(s.ptr()), v = get(s.value()), mask = s.mask() ? get(s.mask()) : nullptr;
    for (size_t i = 0; i < p->size(); ++i) {
      if (mask && !((*mask)[i] & 1)) continue;
      auto *at = resolve(op, (*p)[i], bytes, "store");
      if (!at) return false;
      std::memcpy(at, &(*v)[i], bytes);
    }
    return true;
  }
  bool atomicRmw(Operation *op) {
    auto a = op->cast<tt::AtomicRmwOp>();
    Type t = a.ptr().type().scalar().cast<PointerType>().pointee();
    unsigned bytes = elementBytes(t);
    Data p = get(a.ptr()), v = get(a.val()), mask = a.mask() ? get(a.mask()) : nullptr;
    auto out = make(p->size());
    for (size_t i = 0; i < p->size(); ++i) {
      if (mask && !((*mask)[i] & 1)) continue;
      auto *at = resolve(op, (*p)[i], bytes, "atomic");
      if (!at) return false;
      uint64_t old = readBytes(at, bytes), n = atomicResult(a.atomicRmwOp(), t, old, (*v)[i]);
      std::memcpy(at, &n, bytes);
      (*out)[i] = old;
    }
    set(op->result(), out);
    return true;
  }
  bool atomicCas(Operation *op) {
    auto a = op->cast<tt::AtomicCasOp>();
    unsigned bytes = elementBytes(a.ptr().type().scalar().cast<PointerType>().pointee());
    Data p = get(a.ptr()), c = get(a.cmp()), v = get(a.val());
    auto out = make(p->size());
    for (size_t i = 0; i < p->size(); ++i) {
      auto *at = resolve(op, (*p)[i], bytes, "atomic");
      if (!at) return false;
      uint64_t old = readBytes(at, bytes);
      if (old == (*c)[i]) std::memcpy(at, &(*v)[i], bytes);
      (*out)[i] = old;
    }
    set(op->result(), out);
    return true;
  }

  // ---- elementwise ----
  bool elementwise(Operation *op) {
    llvm::SmallVector<Data, 4> in;
    llvm::SmallVector<Type, 4> types;
    size_t n = countOf(op->result().type());
    for (auto v : op->operands()) {
      in.push_back(get(v));
      types.push_back(v.type().scalar());
    }
    for (unsigned r = 0; r < op->numResults(); ++r) {
      auto out = make(n);
      ScalarOp f = scalarOp(op, r);
      if (!f) return unknown(op);
      uint64_t args[4] = {0, 0, 0, 0};
      for (size_t i = 0; i < n; ++i) {
        for (unsigned k = 0; k < in.size() && k < 4; ++k) args[k] = (*in[k])[in[k]->size() == 1 ? 0 : i];
        (*out)[i] = f(op, types, args);
      }
      set(op->result(r), out);
    }
    return true;
  }

  // ---- shapes ----
  bool gatherBy(Operation *op, Type from, Type to, llvm::function_ref<int64_t(llvm::ArrayRef<int64_t>)> sourceOf, Data src) {
    auto shape = shapeOf(to);
    int64_t n = countOf(to);
    auto out = make(n);
    for (int64_t i = 0; i < n; ++i) (*out)[i] = (*src)[sourceOf(unflatten(i, shape))];
    set(op->result(), out);
    return true;
  }

  bool combine(Region &r, llvm::ArrayRef<uint64_t> args, llvm::SmallVectorImpl<uint64_t> &out) {
    Block *b = r.front();
    for (unsigned i = 0; i < args.size(); ++i) set(b->arg(i), make(1, args[i]));
    Operation *end;
    if (!runRegion(r, end)) return false;
    for (auto v : end->operands()) out.push_back(scalar(v));
    return true;
  }

  bool reduce(Operation *op) {
    unsigned n = op->numOperands();
    auto shape = shapeOf(op->operand(0).type());
    unsigned axis = op->attr<IntegerAttr>("axis").sext();
    auto strides = stridesOf(shape);
    Shape rest(shape);
    rest.erase(rest.begin() + axis);
    int64_t count = 1;
    for (auto d : rest) count *= d;
    std::vector<Data> out(n);
    for (auto &o : out) o = make(count);
    for (int64_t i = 0; i < count; ++i) {
      Shape at = unflatten(i, rest);
      at.insert(at.begin() + axis, 0);
      int64_t base = flatten(at, shape);
      std::vector<llvm::SmallVector<uint64_t, 2>> level;
      for (int64_t k = 0; k < shape[axis]; ++k) {
        llvm::SmallVector<uint64_t, 2> v;
        for (auto s : op->operands()) v.push_back((*get(s))[base + k * strides[axis]]);
        level.push_back(v);
      }
      while (level.size() > 1) {
        std::vector<llvm::SmallVector<uint64_t, 2>> next;
        for (size_t k = 0; k + 1 < level.size(); k += 2) {
          llvm::SmallVector<uint64_t, 4> args(level[k].begin(), level[k].end());
          args.append(level[k + 1].begin(), level[k + 1].end());
          llvm::SmallVector<uint64_t, 2> r;
          if (!combine(op->region(0), args, r)) return false;
          next.push_back(r);
        }
        if (level.size() % 2) next.push_back(level.back());
        level = std::move(next);
      }
      for (unsigned k = 0; k < n; ++k) (*out[k])[i] = level[0][k];
    }
    for (unsigned k = 0; k < n; ++k) set(op->result(k), out[k]);
    return true;
  }

  bool scan(Operation *op) {
    unsigned n = op->numOperands();
    auto s = op->cast<tt::ScanOp>();
    auto shape = shapeOf(op->operand(0).type());
    unsigned axis = s.axis();
    auto strides = stridesOf(shape);
    std::vector<Data> out(n);
    for (unsigned k = 0; k < n; ++k) out[k] = make(*get(op->operand(k)));
    int64_t total = countOf(op->operand(0).type());
    for (int64_t i = 0; i < total; ++i) {
      if (unflatten(i, shape)[axis] != 0) continue;
      llvm::SmallVector<uint64_t, 2> acc;
      for (int64_t k = 0; k < shape[axis]; ++k) {
        int64_t at = i + (s.reverse() ? shape[axis] - 1 - k : k) * strides[axis];
        llvm::SmallVector<uint64_t, 2> v;
        for (auto &o : out) v.push_back((*o)[at]);
        if (k == 0) acc = v;
        else {
          llvm::SmallVector<uint64_t, 4> args(acc.begin(), acc.end());
          args.append(v.begin(), v.end());
          acc.clear();
          if (!combine(op->region(0), args, acc)) return false;
        }
        for (unsigned j = 0; j < n; ++j) (*out[j])[at] = acc[j];
      }
    }
    for (unsigned k = 0; k < n; ++k) set(op->result(k), out[k]);
    return true;
  }

  bool dot(Operation *op) {
    auto d = op->cast<tt::DotOp>();
    auto a = shapeOf(d.a().type()), b = shapeOf(d.b().type());
    unsigned r = a.size();
    int64_t batch = r == 3 ? a[0] : 1, M = a[r - 2], K = a[r - 1], N = b[r - 1];
    Type at = d.a().type().scalar(), bt = d.b().type().scalar(), ct = d.c().type().scalar();
    bool tf32 = at.isF32() && d.inputPrecision() != InputPrecision::Ieee && d.inputPrecision() == InputPrecision::Tf32;
    auto out = make(*get(d.c()));
    Data x = get(d.a()), y = get(d.b());
    for (int64_t z = 0; z < batch; ++z)
      for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
          uint64_t &c = (*out)[(z * M + i) * N + j];
          if (ct.isInteger()) {
            int64_t sum = signedValue(ct, c);
            for (int64_t k = 0; k < K; ++k) sum += signedValue(at, (*x)[(z * M + i) * K + k]) * signedValue(bt, (*y)[(z * K + k) * N + j]);
            c = lowBits(sum, ct.bitWidth());
          } else {
            double sum = floatValue(ct, c);
            for (int64_t k = 0; k < K; ++k) {
              double u = floatValue(at, (*x)[(z * M + i) * K + k]), v = floatValue(bt, (*y)[(z * K + k) * N + j]);
              if (tf32) u = roundTf32(u), v = roundTf32(v);
              sum += u * v;
            }
            c = floatBits(ct, sum);
          }
        }
    set(op->result(), out);
    return true;
  }

  // ---- control flow ----
  bool forLoop(Operation *op) {
    auto f = op->cast<scf::ForOp>();
    Type t = f.lowerBound().type();
    bool isUnsigned = f.unsignedCmp();
    auto value = [&](Value v) { return isUnsigned ? int64_t(scalar(v)) : signedValue(t, scalar(v)); };
    int64_t lo = value(f.lowerBound()), hi = value(f.upperBound()), st = value(f.step());
    if (st <= 0) return fault(op, llvm::formatv("the loop's step is {0}; it must be positive", st));
    std::vector<Data> carried;
    for (auto v : f.initArgs()) carried.push_back(get(v));
    Block *b = f.body().front();
    int64_t n = 0;
    for (int64_t i = lo; i < hi; i += st) {
      if (++n > options_.maxIterations) return fault(op, "the loop does not come to an end");
      set(b->arg(0), make(1, lowBits(i, t.bitWidth())));
      for (unsigned k = 0; k < carried.size(); ++k) set(b->arg(k + 1), carried[k]);
      Operation *end;
      if (!runRegion(f.body(), end)) return false;
      for (unsigned k = 0; k < carried.size(); ++k) carried[k] = get(end->operand(k));
    }
    for (unsigned k = 0; k < carried.size(); ++k) set(op->result(k), carried[k]);
    return true;
  }
  bool whileLoop(Operation *op) {
    auto w = op->cast<scf::WhileOp>();
    std::vector<Data> carried;
    for (auto v : w.inits()) carried.push_back(get(v));
    for (int64_t n = 0;; ++n) {
      if (n > options_.maxIterations) return fault(op, "the loop does not come to an end");
      for (unsigned k = 0; k < carried.size(); ++k) set(w.before().front()->arg(k), carried[k]);
      Operation *end;
      if (!runRegion(w.before(), end)) return false;
      auto c = end->cast<scf::ConditionOp>();
      std::vector<Data> args;
      for (auto v : c.args()) args.push_back(get(v));
      if (!(scalar(c.condition()) & 1)) {
        for (unsigned k = 0; k < args.size(); ++k) set(op->result(k), args[k]);
        return true;
      }
      for (unsigned k = 0; k < args.size(); ++k) set(w.after().front()->arg(k), args[k]);
      if (!runRegion(w.after(), end)) return false;
      for (unsigned k = 0; k < carried.size(); ++k) carried[k] = get(end->operand(k));
    }
  }

  bool unknown(Operation *op) { return fault(op, "the interpreter does not know '" + op->name().str() + "'"); }

  bool evaluate(Operation *op) {
    switch (op->opcode()) {
    case Opcode::arith_constant: {
      Attribute a = op->attr("value");
      if (auto d = a.dyn_cast<DenseElementsAttr>()) {
        auto out = make(d.size());
        for (size_t i = 0; i < d.size(); ++i) (*out)[i] = d.element(i).getZExtValue();
        set(op->result(), out);
      } else set(op->result(), make(1, splatBits(a)->getZExtValue()));
      return true;
    }
    case Opcode::ub_poison: set(op->result(), make(countOf(op->result().type()), lowBits(~uint64_t(0), op->result().type().bitWidth()))); return true;
    case Opcode::tt_get_program_id: set(op->result(), make(1, pid_[unsigned(op->cast<tt::GetProgramIdOp>().axis())])); return true;
    case Opcode::tt_get_num_programs: set(op->result(), make(1, grid_[unsigned(op->cast<tt::GetNumProgramsOp>().axis())])); return true;
    case Opcode::tt_make_range: {
      auto r = op->cast<tt::MakeRangeOp>();
      auto out = make(r.end() - r.start());
      for (int64_t i = 0; i < r.end() - r.start(); ++i) (*out)[i] = lowBits(r.start() + i, 32);
      set(op->result(), out);
      return true;
    }
    case Opcode::tt_splat: set(op->result(), make(countOf(op->result().type()), scalar(op->operand(0)))); return true;
    case Opcode::tt_unsplat:
    case Opcode::tt_expand_dims:
    case Opcode::tt_reshape:
    case Opcode::ttg_convert_layout: set(op->result(), get(op->operand(0))); return true;
    case Opcode::tt_broadcast: {
      auto src = shapeOf(op->operand(0).type());
      return gatherBy(op, op->operand(0).type(), op->result().type(), [&](llvm::ArrayRef<int64_t> x) {
        Shape y(x);
        for (unsigned d = 0; d < y.size(); ++d) y[d] = src[d] == 1 ? 0 : y[d];
        return flatten(y, src);
      }, get(op->operand(0)));
    }
    case Opcode::tt_trans: {
      auto src = shapeOf(op->operand(0).type());
      auto order = op->cast<tt::TransOp>().order();
      return gatherBy(op, op->operand(0).type(), op->result().type(), [&](llvm::ArrayRef<int64_t> x) {
        Shape y(x.size());
        for (unsigned d = 0; d < x.size(); ++d) y[order[d]] = x[d];
        return flatten(y, src);
      }, get(op->operand(0)));
    }
    case Opcode::tt_cat: {
      auto out = make(*get(op->operand(0)));
      auto b = get(op->operand(1));
      out->insert(out->end(), b->begin(), b->end());
      set(op->result(), out);
      return true;
    }
    case Opcode::tt_join: {
      auto a = get(op->operand(0)), b = get(op->operand(1));
      auto out = make(a->size() * 2);
      for (size_t i = 0; i < a->size(); ++i) (*out)[2 * i] = (*a)[i], (*out)[2 * i + 1] = (*b)[i];
      set(op->result(), out);
      return true;
    }
    case Opcode::tt_split: {
      auto s = get(op->operand(0));
      for (unsigned r = 0; r < 2; ++r) {
        auto out = make(s->size() / 2);
        for (size_t i = 0; i < out->size(); ++i) (*out)[i] = (*s)[2 * i + r];
        set(op->result(r), out);
      }
      return true;
    }
    case Opcode::tt_gather: {
      auto g = op->cast<tt::GatherOp>();
      auto src = shapeOf(g.src().type()), dst = shapeOf(op->result().type());
      auto idx = get(g.indices()), from = get(g.src());
      auto out = make(idx->size());
      for (size_t i = 0; i < idx->size(); ++i) {
        Shape x = unflatten(i, dst);
        int64_t k = signedValue(g.indices().type().scalar(), (*idx)[i]);
        if (k < 0 || k >= src[g.axis()]) return fault(op, llvm::formatv("index {0} is out of range for a dimension of {1}", k, src[g.axis()]));
        x[g.axis()] = k;
        (*out)[i] = (*from)[flatten(x, src)];
      }
      set(op->result(), out);
      return true;
    }
    case Opcode::tt_histogram: {
      auto h = op->cast<tt::HistogramOp>();
      auto src = get(h.src()), mask = h.mask() ? get(h.mask()) : nullptr;
      auto out = make(countOf(op->result().type()));
      for (size_t i = 0; i < src->size(); ++i)
        if ((!mask || (*mask)[i] & 1) && (*src)[i] < out->size()) ++(*out)[(*src)[i]];
      set(op->result(), out);
      return true;
    }
    case Opcode::tt_reduce: return reduce(op);
    case Opcode::tt_scan: return scan(op);
    case Opcode::tt_dot: return dot(op);
    case Opcode::tt_addptr: {
      auto a = op->cast<tt::AddptrOp>();
      Type t = a.offset().type().scalar();
      int64_t bytes = elementBytes(a.ptr().type().scalar().cast<PointerType>().pointee());
      auto p = get(a.ptr()), o = get(a.offset());
      auto out = make(p->size());
      for (size_t i = 0; i < p->size(); ++i) (*out)[i] = (*p)[i] + uint64_t(signedValue(t, (*o)[i]) * bytes);
      set(op->result(), out);
      return true;
    }
    case Opcode::tt_load: return load(op);
    case Opcode::tt_store: return store(op);
    case Opcode::tt_atomic_rmw: return atomicRmw(op);
    case Opcode::tt_atomic_cas: return atomicCas(op);
    case Opcode::gpu_barrier:
    case Opcode::ttg_barrier:
    case Opcode::llvm_intr_assume:
    case Opcode::tt_print: return true;
    case Opcode::tt_assert: {
      for (auto v : *get(op->operand(0)))
        if (!(v & 1)) return fault(op, "assertion failed: " + op->cast<tt::AssertOp>().message().str());
      return true;
    }
    case Opcode::cf_assert: return (scalar(op->operand(0)) & 1) || fault(op, "assertion failed");
    case Opcode::tt_call: {
      std::vector<Data> in, out;
      for (auto v : op->operands()) in.push_back(get(v));
      if (!call(op->module().lookupSymbol(op->cast<tt::CallOp>().callee()), in, out)) return false;
      for (unsigned i = 0; i < out.size(); ++i) set(op->result(i), out[i]);
      return true;
    }
    case Opcode::scf_for: return forLoop(op);
    case Opcode::scf_while: return whileLoop(op);
    case Opcode::scf_if: {
      Region &r = op->region(scalar(op->operand(0)) & 1 ? 0 : 1);
      if (r.empty()) return true;
      Operation *end;
      if (!runRegion(r, end)) return false;
      for (unsigned i = 0; i < op->numResults(); ++i) set(op->result(i), get(end->operand(i)));
      return true;
    }
    case Opcode::scf_execute_region: {
      Operation *end;
      if (!runRegion(op->region(0), end)) return false;
      for (unsigned i = 0; i < op->numResults(); ++i) set(op->result(i), get(end->operand(i)));
      return true;
    }
    default: return op->info().has(kElementwise) || op->is<arith::SelectOp>() ? elementwise(op) : unknown(op);
    }
  }

  std::array<int64_t, 3> grid_, pid_{0, 0, 0};
  llvm::ArrayRef<InterpreterBuffer> buffers_;
  std::vector<uint64_t> bases_;
  const InterpreterOptions &options_;
  DiagnosticEngine &diag_;
  llvm::DenseMap<Value, Data> env_;
  int64_t steps_ = 0;
  int depth_ = 0;
};

} // namespace

absl::Status interpret(Module &, Operation *kernel, std::array<int64_t, 3> grid, llvm::ArrayRef<InterpreterBuffer> buffers, llvm::ArrayRef<InterpreterArg> args, const InterpreterOptions &o, DiagnosticEngine &d) {
  if (kernel->region(0).front()->numArgs() != args.size())
    return absl::InvalidArgumentError(llvm::formatv("the kernel takes {0} arguments, but {1} are given", kernel->region(0).front()->numArgs(), args.size()).str());
  return Interpreter(grid, buffers, o, d).run(kernel, args);
}

} // namespace tessera::runtime
