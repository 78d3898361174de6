// Integer operations by their definitions, for tests that check claims of analyses on all small numbers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// The lowest `width` bits, read as signed and as unsigned. @pre 0 < width < 64
inline int64_t wrapped(int64_t v, int width) { return int64_t(uint64_t(v) << (64 - width)) >> (64 - width); }
inline uint64_t unsignedOf(int64_t v, int width) { return uint64_t(v) & ((uint64_t(1) << width) - 1); }

/// An operation on two integers. `apply` gives the exact result, which may need wrapping; none where it is undefined.
struct IntegerOperation {
  std::string name; // "arith.addi"
  std::function<std::optional<int64_t>(int64_t x, int64_t y, int width)> apply;
  bool comparison = false;
};

inline std::vector<IntegerOperation> integerOperations() {
  using O = std::optional<int64_t>;
  auto divides = [](int64_t x, int64_t y, int w) { return y && !(y == -1 && x == wrapped(int64_t(1) << (w - 1), w)); };
  auto shifts = [](int64_t y, int w) { return unsignedOf(y, w) < uint64_t(w); };
  std::vector<IntegerOperation> all = {
      {"arith.addi", [](int64_t x, int64_t y, int) -> O { return x + y; }},
      {"arith.subi", [](int64_t x, int64_t y, int) -> O { return x - y; }},
      {"arith.muli", [](int64_t x, int64_t y, int) -> O { return x * y; }},
      {"arith.andi", [](int64_t x, int64_t y, int) -> O { return x & y; }},
      {"arith.ori", [](int64_t x, int64_t y, int) -> O { return x | y; }},
      {"arith.xori", [](int64_t x, int64_t y, int) -> O { return x ^ y; }},
      {"arith.maxsi", [](int64_t x, int64_t y, int) -> O { return std::max(x, y); }},
      {"arith.minsi", [](int64_t x, int64_t y, int) -> O { return std::min(x, y); }},
      {"arith.maxui", [](int64_t x, int64_t y, int w) -> O { return unsignedOf(x, w) > unsignedOf(y, w) ? x : y; }},
      {"arith.minui", [](int64_t x, int64_t y, int w) -> O { return unsignedOf(x, w) < unsignedOf(y, w) ? x : y; }},
      {"arith.shli", [=](int64_t x, int64_t y, int w) -> O { return shifts(y, w) ? O(x * (int64_t(1) << y)) : O(); }},
      {"arith.shrsi", [=](int64_t x, int64_t y, int w) -> O { return shifts(y, w) ? O(x >> y) : O(); }},
      {"arith.shrui",
       [=](int64_t x, int64_t y, int w) -> O { return shifts(y, w) ? O(int64_t(unsignedOf(x, w) >> y)) : O(); }},
      {"arith.divsi", [=](int64_t x, int64_t y, int w) -> O { return divides(x, y, w) ? O(x / y) : O(); }},
      {"arith.remsi", [=](int64_t x, int64_t y, int w) -> O { return divides(x, y, w) ? O(x % y) : O(); }},
      {"arith.divui",
       [](int64_t x, int64_t y, int w) -> O { return y ? O(int64_t(unsignedOf(x, w) / unsignedOf(y, w))) : O(); }},
      {"arith.remui",
       [](int64_t x, int64_t y, int w) -> O { return y ? O(int64_t(unsignedOf(x, w) % unsignedOf(y, w))) : O(); }},
  };
  auto compare = [&](const char *predicate, auto signedOp, bool isUnsigned) {
    all.push_back({std::string("arith.cmpi ") + predicate + ",",
                   [=](int64_t x, int64_t y, int w) -> O {
                     return isUnsigned ? signedOp(int64_t(unsignedOf(x, w)), int64_t(unsignedOf(y, w)))
                                       : signedOp(x, y);
                   },
                   true});
  };
  compare("eq", [](int64_t x, int64_t y) { return x == y; }, false);
  compare("ne", [](int64_t x, int64_t y) { return x != y; }, false);
  for (bool u : {false, true}) {
    compare(u ? "ult" : "slt", [](int64_t x, int64_t y) { return x < y; }, u);
    compare(u ? "ule" : "sle", [](int64_t x, int64_t y) { return x <= y; }, u);
    compare(u ? "ugt" : "sgt", [](int64_t x, int64_t y) { return x > y; }, u);
    compare(u ? "uge" : "sge", [](int64_t x, int64_t y) { return x >= y; }, u);
  }
  return all;
}

} // namespace tessera
