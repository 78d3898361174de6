// The state of one random kernel that is being written, and everything that a step can do with it. A generator keeps
// a pool of values; a step takes some, appends operations to the text and puts the result into the pool; at the end
// several values are stored. Each section below is defined in the file it names.
#pragma once
#include "generator.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace tessera::random {

enum Type { I1, I8, I16, I32, I64, F16, BF16, F32, F64, E4M3, E5M2 };
constexpr const char *kTypeNames[] = {"i1",   "i8",  "i16", "i32",      "i64",   "f16",
                                      "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"};
constexpr unsigned kTypeBits[] = {1, 8, 16, 32, 64, 16, 16, 32, 64, 8, 8};
inline bool isFloat(Type t) { return t >= F16; }
inline bool isNarrow(Type t) { return t >= E4M3; }
/// Whole numbers up to here are exact.
inline int64_t exactUpTo(Type t) {
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

/// The kernel's parameters, which every function takes too.
struct Parameter {
  const char *name;
  Type type;
};
constexpr Parameter kParameters[kPointers] = {{"%px", I32},  {"%pb", I8},   {"%ph", F16},  {"%pg", BF16}, {"%pf", F32},
                                              {"%pe", E4M3}, {"%pd", E5M2}, {"%py", I32},  {"%pz", I32},  {"%po0", I32},
                                              {"%po1", I32}, {"%po2", I32}, {"%po3", I32}, {"%po4", I32}};
inline const char *inputOf(Type t) { // of a type that there is an input of
  for (auto &p : kParameters)
    if (p.type == t) return p.name;
  return "";
}

using Shape = std::vector<unsigned>;
struct Value {
  std::string name;
  Shape shape;
  Type type = I32;
  int64_t bound = -1;      // of the size of its elements; -1: none (integers only)
  std::string layout = {}; // TTGIR
};

inline std::string str(const std::string &s) { return s; }
inline std::string str(const char *s) { return s; }
inline std::string str(int64_t v) { return std::to_string(v); }
inline std::string str(unsigned v) { return std::to_string(v); }
inline std::string str(int v) { return std::to_string(v); }
template <class... A> std::string cat(const A &...a) { return (str(a) + ...); }

inline unsigned elementCount(const Shape &s) {
  unsigned n = 1;
  for (unsigned d : s) n *= d;
  return n;
}
inline std::string list(llvm::ArrayRef<unsigned> v) {
  std::string s = "[";
  for (auto [i, x] : llvm::enumerate(v)) s += (i ? ", " : "") + std::to_string(x);
  return s + "]";
}

class Generator {
public:
  Generator(unsigned seed, Level level, const ir::TargetInfo *target)
      : random_(seed * 2 + (level == Level::Ttgir)), ttgir_(level == Level::Ttgir),
        described_(level == Level::Descriptors), ragged_(level == Level::Ragged), target_(target),
        extended_(std::mt19937(seed)() % 3 == 0) {}
  Kernel run();

private:
  // ---- text, the pool of values (generator.cpp) ----
  unsigned upTo(unsigned n) { return unsigned(random_() % n); } // excluded
  bool coin() { return upTo(2); }
  template <class T> void shuffle(T &v) {
    for (size_t k = v.size(); k > 1; --k) std::swap(v[k - 1], v[upTo(unsigned(k))]);
  }
  template <class T> T pick(std::initializer_list<T> l) { return l.begin()[upTo(unsigned(l.size()))]; }
  std::string fresh() { return "%v" + std::to_string(next_++); }
  std::string emit(const std::string &s);
  static std::string tensorOf(const Shape &s, const std::string &element, const std::string &layout);
  static std::string typeOf(const Value &v);
  static std::string like(const Value &v, const char *element);
  Value make(Value shapeOf, Type t, int64_t bound, const std::string &s);
  Value constant(const Value &shapeOf, Type t, int64_t c);
  /// Makes arguments views: the kernel computes the pointers to their buffers' beginnings from them.
  void chooseViews();
  bool isView(unsigned parameter) const { return kernel_.starts[parameter]; }
  std::string header() const;
  void put(Value v) { values_.push_back(std::move(v)); }
  Value any();
  Shape randomShape();
  void step();
  void ttgirStep();

  // ---- layouts (random_layouts.cpp) ----
  std::string blocked(const Shape &s);
  std::string linear(const Shape &s);
  /// A matrix layout of the target for a two-dimensional tensor.
  std::string matrix(Type element, bool forDot);
  static bool matches(ir::MatrixType m, Type t);
  std::string randomLayout(const Shape &s, Type element);
  std::string newLayout(const Shape &s, Type element);
  Value converted(Value v, const std::string &layout);

  // ---- indices, memory (memory_steps.cpp) ----
  Value range(const Value &shapeOf, unsigned dim);
  Value broadcast(const Value &v, const Shape &s);
  Value arithmetic(const char *op, const Value &a, const Value &b, int64_t bound = -1);
  Value splat(const std::string &scalar, const Value &shapeOf, Type t);
  /// Row-major index of every element.
  Value index(const Value &shapeOf);
  /// A permutation of the index.
  Value shuffledIndex(const Value &shapeOf);
  Value mask(const Value &shapeOf);
  /// Pointers base + offset (a scalar, in elements) + index.
  std::string pointers(const std::string &base, Type t, const std::string &offset, Value i);
  std::string perProgram(unsigned elements);
  Value load(const Shape &s, Type t, bool plain = false);
  void store(Value v);
  /// The argument that results are stored through now.
  std::string output() const { return output_ ? cat("%po", output_ - 1) : "%py"; }
  /// Takes bytes of an output; none are left: false. Large blocks go to another one each, as far as there are: the
  /// order of what is stored through one argument is kept.
  bool takeOutput(unsigned bytes, unsigned &at) {
    at = outputsUsed_[output_];
    if (at + bytes > (output_ ? kOtherOutputBytes : kOutputBytes)) return false;
    outputsUsed_[output_] += (bytes + 15) / 16 * 16;
    return true;
  }
  Value atomic(Value v);

  // ---- blocks of memory (block_steps.cpp) ----
  /// A tensor in memory that a block is part of.
  struct Parent {
    std::vector<int64_t> shape, strides, offsets; // offsets: of the block
    std::vector<unsigned> order;                  // the dimension that is contiguous first
    bool reachesOver(const Shape &block, unsigned dim) const {
      return offsets[dim] < 0 || offsets[dim] + block[dim] > shape[dim];
    }
  };
  /// `most`: elements that it may span.
  Parent parent(const Shape &block, Type t, int64_t most, bool forDescriptor);
  /// The scalars of a parent, "%a, %b", as integers of a type.
  std::string scalars(const std::vector<int64_t> &v, const char *type);
  std::string checks(const Parent &p, const Shape &block);
  std::string blockPointer(const std::string &base, Type t, const Shape &block, const Parent &p);
  std::string descriptor(const std::string &base, Type t, const Shape &block, const Parent &p);
  std::string moved(const std::string &base, Type t, const std::string &offset);
  Value loadBlock(const Shape &s, Type t);
  /// A loop that adds up blocks, its pointer moving on.
  Value loadBlocks(const Shape &s, Type t);
  void storeBlock(Value v);

  // ---- tensor descriptors (descriptor_steps.cpp) ----
  struct Described {
    std::string name, text; // text: its type
    Type type = I32;
    Shape block;
    runtime::HostDescriptor memory;
    bool isArgument = true; // else made by the kernel
  };
  std::string newArgument() const { return "%arg" + std::to_string(kernel_.more.size()); }
  /// A new argument of the kernel.
  std::string parameter(int64_t value, Type t);
  /// A new argument or a constant; in a function that the kernel calls, a constant.
  std::string number(int64_t value, Type t);
  Shape describedBlock(Type t);
  /// A tensor that about so many blocks along the first dimension cover.
  runtime::HostDescriptor described(Type t, const Shape &block, unsigned blocks);
  static std::string signedName(Type t, const char *sign);
  Described descriptorOf(Type t, const Shape &block, unsigned blocks, bool mayBeNan, const char *sign);
  /// Where a block begins, "%a, %b". `once`: elsewhere in every program and iteration (`index`; empty: no loop).
  std::string places(const Described &d, bool once, const std::string &index, unsigned iterations);
  Value replaceNan(Value v);
  Value loadFrom(const Described &d, const std::string &places);
  Value loadDescribed();
  static bool canBeStored(const Value &v);
  void storeTo(const Value &v, const std::string &index, unsigned iterations);
  void reduceInto(Value v, const std::string &index, unsigned iterations);
  Value gatherDescribed();
  std::string stagesAttribute();
  Value describedLoop();
  void describedDots();
  Value travellingDescriptor();
  void descriptorSteps();

  // ---- types (values.cpp) ----
  /// Whole numbers in [0, m] (or below zero as well), m + 1 a power of two, as i32.
  Value smallInt(Value v, int64_t m, bool negative);
  Value toI32(const Value &v);
  Value smallFloat(const Value &v);
  /// The value in another type, made smaller where that does not hold it.
  Value cast(Value v, Type t);
  /// Another value of this shape and type.
  Value partner(const Value &v);
  Value boundedPartner(Value &v);
  static Value named(Value v, const std::string &n);
  Value bounded(const Value &v, int64_t most);
  std::string scalar(int64_t c);

  // ---- tensor to tensor (tensor_steps.cpp) ----
  Value binary(Value a);
  struct Combiner {
    const char *op;
    bool sums;
  };
  Combiner combiner(const Value &v);
  /// Brings a float so far down that `count` of them can be added up.
  Value forSum(const Value &v, const Combiner &c, unsigned count);
  Value reduce(Value v);
  /// The largest element of a row and where it is first.
  Value argMax(Value v);
  Value scan(Value v);
  Value transpose(const Value &v);
  Value reshape(const Value &v, Shape s);
  Shape otherShape(unsigned elements);
  Value joinOrSplit(Value v);
  Value gather(const Value &v);
  Value histogram(const Value &v);
  Value select(const Value &v);
  /// A scan of pairs whose operation does not commute: (a, b), (c, d) -> (ac, cb + d).
  Value recurrence(Value v);
  /// @pre one dimension, of i32
  Value reduceInAnyOrder(const Value &line);
  /// Two tensors one behind the other, in whatever order, reduced.
  Value concatenate(Value v);

  // ---- control flow (control_flow_steps.cpp) ----
  Value loop(Value v);
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
  Value resultOf(const Value &v, size_t known);
  void someSteps();
  /// A loop of any operations with two values that change places: (a, b) = (f(a, b), a).
  Value generalLoop(Value v);
  Value generalBranch(Value v);
  Value branch(Value v);
  /// A function of any steps that is not inlined, called once or twice.
  Value call(Value v);

  // ---- dots (dot_steps.cpp) ----
  struct Kind {
    Type operand, accumulator;
    const char *precision;
  };
  Kind dotKind();
  Value operand(Type t, unsigned rows, unsigned columns, bool plain);
  Value transpose2(const Value &v);
  Value multiply(const Value &a, const Value &b, const Value &c, const char *precision);
  void dot();
  void batchedDot();
  /// A loop over dots of loaded or computed operands: plain, of a dot's result, of a matrix with its own transpose.
  void dotLoop();
  /// A loop of one or two dots whose operands advance in memory, loaded some stages ahead.
  void pipelinedDots();
  /// A loop with two dots and sums that are scaled down where a row's largest score grows.
  void attention();
  /// The reduction of each row.
  Value ofRows(const Value &v, const char *op, int64_t bound);
  void ttgirDot();

  // ---- blocks beyond the registers (large_steps.cpp) ----
  /// A vector along one dimension of a shape, 1 along the others.
  Value expanded(Value vector, const Shape &s, unsigned dim);
  /// A vector along one dimension of a shape, the same along the others.
  Value spread(Value vector, const Shape &s, unsigned dim);
  /// Loads from where it then stores, perhaps several times.
  Value inPlace(Value v);
  void largeSteps();

  // ---- blocks that go over an end (ragged_steps.cpp) ----
  /// A dimension of the block, as masks count it.
  struct Extent {
    unsigned size, step; // step: from one program to the next
    int64_t base = 0;    // of the first program
    Type type = I32;
    std::string start = {}; // of a program: a scalar
    Value indices = {};     // start, start + 1, …
  };
  Value extended(const Value &v); // to i64
  std::string scalarSum(const std::string &a, const std::string &b, Type t);
  Extent extent(unsigned size, bool moves);
  /// The same as for a base of 0, for addresses of 32 bits or 64.
  Value placesOf(const Extent &e, bool isWide);
  /// Where indices may be compared to end: in, before or behind a program's block, or at an end of the numbers.
  int64_t endOf(const Extent &e, Type t);
  /// A scalar of that value.
  std::string computedEnd(int64_t n, Type t);
  /// A mask of the shape by one comparison of indices along a dimension.
  Value comparison(const Extent &e, const Shape &s, unsigned dim);
  Value raggedMask(const std::vector<Extent> &extents, const Shape &s);
  struct RaggedBlock {
    Shape shape;
    unsigned moving; // the dimension along which each program has a block of its own
    std::vector<Extent> extents;
  };
  RaggedBlock raggedBlock();
  /// Where each element lies in a tensor of all programs' blocks.
  Value placesIn(const RaggedBlock &block, bool isWide);
  /// The pointers to it, and their type.
  std::pair<std::string, std::string> pointersTo(const RaggedBlock &block, const std::string &base, Type t,
                                                 const std::string &offset);
  /// `m`: the mask; null: none.
  Value loadRagged(const RaggedBlock &block, Type t, const Value *m, bool hasOther);
  void storeRagged(const RaggedBlock &block, Value v, const Value *m);
  void raggedSteps();

  // ---- shared memory (TTGIR) (ttgir_steps.cpp) ----
  std::string sharedLayout(const Shape &s, Type t, std::string *transposed);
  static std::string bufferType(const Shape &s, Type t, const std::string &layout, bool isMutable);
  Value throughShared(Value v);

  // ---- views of shared memory (TTGIR) (view_steps.cpp) ----
  struct Buffer { // or a view of one
    std::string name;
    Shape shape, whole; // whole: of the buffer that it is a part of
    std::vector<unsigned> order;
    Type element;
    unsigned vec = 1, perPhase = 1, maxPhase = 1, padEvery = 0, pad = 0;
    std::string layout() const;
    std::string type() const;
  };
  Buffer newBuffer(const Value &v);
  Buffer transposedView(const Buffer &b);
  Buffer part(const Buffer &b);
  Buffer reshapedView(const Buffer &b);
  Value read(const Buffer &b, int64_t bound);
  int64_t write(const Buffer &b);
  void throughViews(Value v);

  // ---- asynchronous copies (TTGIR) (async_steps.cpp) ----
  struct Copied {
    Value value;        // without a name: shape, type and the layout that it is copied by
    std::string layout; // of the buffer
    bool inOrder;       // consecutive lanes copy consecutive elements
  };
  Copied copied();
  /// Copies to a buffer; the token. `onlyIf`: a scalar i1, without which nobody reads the buffer; empty: in any case.
  std::string copyToBuffer(const Copied &c, const std::string &offset, const std::string &onlyIf,
                           const std::string &buffer, llvm::StringRef type);
  void copyGroups();
  /// The sum of what a loop copies ahead.
  Value copyLoop();

  std::mt19937 random_;
  bool ttgir_, described_, ragged_,
      wholeRows_ = false; // wholeRows_: of tensors that descriptors describe; no padding with NaN
  const ir::TargetInfo *target_;
  Kernel kernel_;
  std::string text_, pid_, functions_, parameters_;
  bool isInFunction_ = false; // that the kernel calls: it has none of the kernel's arguments
  std::vector<Value> values_;
  std::string counter_;    // of the loop around
  bool extended_ = false;  // views, attention, compare and swap, asynchronous copies, views of shared memory
  bool hasRanges_ = false; // arguments are said to point into less than 2 GiB
  unsigned next_ = 0, output_ = 0, outputsUsed_[kOutputs] = {}, atomicUsed_ = 0, depth_ = 0;
};

} // namespace tessera::random
