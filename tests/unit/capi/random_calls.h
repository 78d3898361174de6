// What every call of the C API promises, checked; for tests that make random calls from a seed.
#pragma once
#include "capi/tessera.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

/// One in a run of all tests; TESSERA_STRESS_SEEDS says how many others.
inline unsigned seeds() {
  const char *stress = std::getenv("TESSERA_STRESS_SEEDS");
  return 1 + (stress ? unsigned(std::atoi(stress)) : 0);
}

/// A call succeeds, or fails with an error that says why and leaves its other out-parameters null.
class CheckedCalls {
public:
  explicit CheckedCalls(unsigned seed) : random_(seed) {}
  /// Calls that succeeded: the others test nothing but refusals.
  int succeeded = 0;

protected:
  size_t below(size_t n) { return random_() % n; }
  bool oneIn(size_t n) { return !below(n); }
  template <class T> T *orNull(T *object) { return oneIn(8) ? nullptr : object; }

  /// Where a call's error goes, at times nowhere; not null before the call.
  tessera_error **error() {
    hasError_ = !oneIn(8);
    error_ = reinterpret_cast<tessera_error *>(this);
    return hasError_ ? &error_ : nullptr;
  }
  void check(tessera_status status) {
    EXPECT_GE(status, TESSERA_OK);
    EXPECT_LE(status, TESSERA_FAILED);
    succeeded += !status;
    if (!hasError_) return;
    ASSERT_EQ(error_ == nullptr, status == TESSERA_OK);
    EXPECT_EQ(tessera_error_status(error_), status);
    if (error_) {
      EXPECT_STRNE(tessera_error_message(error_), "");
      EXPECT_STRNE(tessera_error_text(error_), "");
    }
    tessera_error_destroy(error_);
  }
  /// … of a call that makes an object, or at times has no place for it.
  template <class T, class Make> void making(void (*destroy)(T *), Make make) {
    bool hasPlace = !oneIn(10);
    T *made = reinterpret_cast<T *>(this);
    tessera_status status = make(hasPlace ? &made : nullptr, error());
    check(status);
    if (!hasPlace) {
      EXPECT_EQ(status, TESSERA_USAGE);
      return;
    }
    ASSERT_EQ(made != nullptr, status == TESSERA_OK);
    destroy(made);
  }

  std::mt19937 random_;

private:
  bool hasError_ = false;
  tessera_error *error_ = nullptr;
};
