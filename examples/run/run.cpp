// A row-wise softmax on the interpreter and on emulators of both vendors: the interpreter evaluates the text, an
// emulator executes the code that was lowered for its target. The results are compared. See README.md.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tessera.h>
#include <vector>

namespace {

/// Handles that destroy what they own.
template <auto destroy> struct Destroy {
  template <class T> void operator()(T *handle) const { destroy(handle); }
};
using Context = std::unique_ptr<tessera_context, Destroy<tessera_context_destroy>>;
using Device = std::unique_ptr<tessera_device, Destroy<tessera_device_destroy>>;
using Kernel = std::unique_ptr<tessera_kernel, Destroy<tessera_kernel_destroy>>;
using Buffer = std::unique_ptr<tessera_buffer, Destroy<tessera_buffer_destroy>>;

/// Errors of the C API as exceptions: check([&](tessera_error **e) { return tessera_…(…, e); }).
template <class Call> void check(Call call) {
  tessera_error *error = nullptr;
  if (call(&error) == TESSERA_OK) return;
  std::string text = tessera_error_text(error);
  tessera_error_destroy(error);
  throw std::runtime_error(text);
}

constexpr int kRows = 8;
constexpr int kColumns = 781; // of at most 1024, the kernel's block

/// f16 without a library: positive and negative normal numbers are enough here.
uint16_t toHalf(float value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (value == 0) return sign;
  int exponent;
  float mantissa = std::frexp(std::fabs(value), &exponent); // in [0.5, 1)
  return uint16_t(sign + ((exponent + 14) << 10) + int(std::lround(mantissa * 2048)) - 1024);
}
float fromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  int mantissa = bits & 1023;
  float value = exponent ? std::ldexp(float(mantissa + 1024), exponent - 25) : std::ldexp(float(mantissa), -24);
  return bits & 0x8000 ? -value : value;
}

/// The softmax of each row, computed on the device `spec`.
std::vector<float> softmax(tessera_context *context, const std::string &spec, const std::string &file,
                           const std::string &text, const std::vector<uint16_t> &input) {
  tessera_device *device = nullptr;
  check([&](tessera_error **e) { return tessera_device_open(context, spec.c_str(), &device, e); });
  Device ownedDevice(device);
  tessera_kernel *kernel = nullptr;
  check([&](tessera_error **e) {
    return tessera_kernel_compile(device, text.data(), text.size(), file.c_str(), nullptr, &kernel, e);
  });
  Kernel ownedKernel(kernel);

  const size_t bytes = input.size() * sizeof input[0];
  tessera_buffer *from = nullptr;
  tessera_buffer *to = nullptr;
  check([&](tessera_error **e) { return tessera_buffer_create(device, bytes, &from, e); });
  Buffer ownedFrom(from);
  check([&](tessera_error **e) { return tessera_buffer_create(device, bytes, &to, e); });
  Buffer ownedTo(to);
  check([&](tessera_error **e) { return tessera_buffer_write(from, 0, input.data(), bytes, e); });

  const int32_t columns = kColumns;
  const uint32_t grid[3] = {kRows, 1, 1}; // a row per block
  const tessera_argument arguments[] = {tessera_argument_buffer(from), tessera_argument_buffer(to),
                                        tessera_argument_value(&columns, sizeof columns),  // elements from row to row
                                        tessera_argument_value(&columns, sizeof columns)}; // elements of a row
  check([&](tessera_error **e) { return tessera_launch(kernel, grid, arguments, std::size(arguments), e); });

  std::vector<uint16_t> halves(input.size());
  check([&](tessera_error **e) { return tessera_buffer_read(to, 0, halves.data(), bytes, e); });
  std::vector<float> output;
  std::transform(halves.begin(), halves.end(), std::back_inserter(output), fromHalf);
  return output;
}

int run(const char *file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (text.empty()) throw std::runtime_error(std::string(file) + ": cannot be read\n");
  tessera_context *context = nullptr;
  check([&](tessera_error **e) { return tessera_context_create(nullptr, &context, e); });
  Context owned(context);

  std::vector<uint16_t> input;
  for (int i = 0; i < kRows * kColumns; ++i) input.push_back(toHalf(float(i * 37 % 101) / 25.0f - 2.0f));
  std::vector<float> expected = softmax(context, "interpreter", file, text, input);
  std::printf("interpreter: the first row sums to %.3f\n",
              std::accumulate(expected.begin(), expected.begin() + kColumns, 0.0));
  bool same = true;
  for (const char *spec : {"emulator:sm_90a", "emulator:gfx942", "emulator:gfx1100"}) {
    std::vector<float> output = softmax(context, spec, file, text, input);
    float largest = 0;
    for (size_t i = 0; i < output.size(); ++i) largest = std::max(largest, std::fabs(output[i] - expected[i]));
    std::printf("%s: largest difference %g\n", spec, double(largest));
    same &= largest < 1e-5f;
  }
  return same ? TESSERA_OK : TESSERA_FAILED;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s softmax_row.ttir\n", argv[0]);
    return TESSERA_USAGE;
  }
  try {
    return run(argv[1]);
  } catch (const std::exception &e) {
    std::fputs(e.what(), stderr);
    return TESSERA_FAILED;
  }
}
