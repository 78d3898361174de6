// Contents of a launch's arguments (see argument_data.h).
#include "runtime/launch/argument_data.h"
#include "runtime/launch/npy.h"
#include "runtime/launch/random.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace tessera::runtime {

namespace {

/// Calls work(from, to) for pieces of [0, count) on several threads.
template <class F> void inParallel(int64_t count, F work) {
  constexpr int64_t kPiece = int64_t(1) << 18;
  int64_t threads = std::min<int64_t>({std::thread::hardware_concurrency(), 16, count / kPiece});
  if (threads < 2) return work(int64_t(0), count);
  std::vector<std::thread> pool;
  int64_t done = 0, share = (count + threads - 1) / threads;
  for (; done + share < count; done += share) {
    try {
      pool.emplace_back(work, done, done + share);
    } catch (const std::system_error &) { // no more threads: this one does the rest
      break;
    }
  }
  work(done, count);
  for (std::thread &t : pool) t.join();
}

absl::Status atKey(const LaunchDescription &d, LaunchPlace place, const llvm::formatv_object_base &key,
                   const absl::Status &s) {
  if (!place.first) return s; // a description that was not read
  return absl::Status(s.code(), d.at(place) + key.str() + ": " + std::string(s.message()));
}

/// The file's array, checked against the argument's type and shape.
absl::StatusOr<NpyArray> readFor(const LaunchDescription &d, llvm::StringRef file, unsigned index) {
  const LaunchArg &a = d.args[index];
  std::string path = d.resolve(file);
  auto npy = readNpy(path);
  if (!npy.ok()) return npy.status();
  std::string argument = llvm::formatv("args[{0}] (\"{1}\")", index, a.name).str();
  if (!mayHold(npy->dtype, a.dtype))
    return absl::InvalidArgumentError(
        llvm::formatv("{0}: holds {1}, but {2} is {3}", path, dtypeName(npy->dtype), argument, dtypeName(a.dtype))
            .str());
  // Sizes of one are no difference: a file of shape () serves an argument of shape [1].
  auto significant = [](llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<int64_t> s;
    llvm::copy_if(shape, std::back_inserter(s), [](int64_t n) { return n != 1; });
    return s;
  };
  if (significant(npy->shape) != significant(a.shape)) {
    auto text = [](llvm::ArrayRef<int64_t> shape) {
      std::string s;
      for (int64_t n : shape) (s += s.empty() ? "[" : ", ") += std::to_string(n);
      return s.empty() ? "[]" : s + "]";
    };
    return absl::InvalidArgumentError(
        llvm::formatv("{0}: has shape {1}, but {2} has {3}", path, text(npy->shape), argument, text(a.shape)).str());
  }
  return npy;
}

/// The same; errors begin with the place at which the description names the file.
absl::StatusOr<NpyArray> loadFile(const LaunchDescription &d, unsigned index) {
  const LaunchArg &a = d.args[index];
  auto npy = readFor(d, a.file, index);
  return npy.ok() ? npy : atKey(d, a.filePlace, llvm::formatv("args[{0}].file", index), npy.status());
}
absl::StatusOr<NpyArray> loadFile(const LaunchDescription &d, const ExpectedOutput &e) {
  auto npy = readFor(d, e.file, e.arg);
  return npy.ok() ? npy : atKey(d, e.filePlace, llvm::formatv("expected[\"{0}\"].file", e.arg), npy.status());
}

bool hasGaps(const LaunchArg &a) { return a.descriptor && a.descriptor->spannedElements() != a.elements(); }

/// Calls copy(in order, in memory, bytes) for every row: where it begins among the elements in C order, where in a
/// tensor descriptor's memory, and its size.
void forRows(const LaunchArg &a, llvm::function_ref<void(size_t, size_t, size_t)> copy) {
  auto &d = *a.descriptor;
  size_t width = dtypeBytes(a.dtype);
  size_t rowBytes = size_t(d.shape.back()) * width;
  std::vector<int64_t> index(d.shape.size(), 0);
  for (size_t inOrder = 0, all = size_t(a.elements()) * width; inOrder < all; inOrder += rowBytes) {
    int64_t element = 0;
    for (auto [i, stride] : llvm::zip(index, d.strides)) element += i * stride;
    copy(inOrder, size_t(element) * width, rowBytes);
    for (size_t k = d.shape.size() - 1; k-- > 0 && ++index[k] == d.shape[k];) index[k] = 0;
  }
}

/// One value for all elements: converted once, the filled part copied after itself.
void fillWith(DType type, double value, std::vector<uint8_t> &out) {
  size_t done = std::min<size_t>(dtypeBytes(type), out.size());
  if (!done) return;
  fromDouble(type, value, out.data());
  for (; done < out.size(); done = std::min(2 * done, out.size()))
    std::memcpy(out.data() + done, out.data(), std::min(done, out.size() - done));
}

} // namespace

ScalarBits scalarBits(const LaunchArg &a) {
  DType t = parseDType(a.scalarType).value_or(DType::I64);
  ScalarBits s{0, dtypeBytes(t)};
  if (isFloat(t))
    fromDouble(t, a.floatValue, &s.bits);
  else if (t == DType::I1)
    s.bits = a.intValue & 1;
  else
    s.bits = uint64_t(a.intValue) & (~uint64_t(0) >> (64 - 8 * s.bytes));
  return s;
}

std::vector<uint8_t> withoutGaps(const LaunchArg &a, llvm::ArrayRef<uint8_t> memory) {
  if (!hasGaps(a) || int64_t(memory.size()) != a.bytes()) return memory.vec();
  std::vector<uint8_t> out(size_t(a.elements()) * dtypeBytes(a.dtype));
  forRows(a, [&](size_t inOrder, size_t inMemory, size_t bytes) {
    std::memcpy(out.data() + inOrder, memory.data() + inMemory, bytes);
  });
  return out;
}

/// An error if the argument has more bytes than the machine, or than this process may have.
static absl::Status fitsIntoMemory(const LaunchDescription &d, unsigned index) {
  const LaunchArg &a = d.args[index];
  auto exceeds = [&](const char *what, int64_t bytes) {
    return absl::ResourceExhaustedError(llvm::formatv("{0}args[{1}] (\"{2}\") has {3} MiB, but {4} {5} MiB of memory",
                                                      d.at(a.place), index, a.name, a.bytes() >> 20, what, bytes >> 20)
                                            .str());
  };
  auto physical = int64_t(sysconf(_SC_PHYS_PAGES)) * int64_t(sysconf(_SC_PAGESIZE));
  if (physical > 0 && a.bytes() > physical) return exceeds("this machine has", physical);
  rlimit limit; // of `ulimit -v`
  if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY && uint64_t(a.bytes()) > limit.rlim_cur)
    return exceeds("this process is limited to", int64_t(limit.rlim_cur));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint8_t>> materialize(const LaunchDescription &d, unsigned index) {
  const LaunchArg &a = d.args[index];
  if (auto s = fitsIntoMemory(d, index); !s.ok()) return s;
  std::vector<uint8_t> out;
  bool columns = a.transposed;
  auto elementBytes = size_t(a.elements()) * dtypeBytes(a.dtype);
  if (a.source == LaunchArg::File) {
    auto array = loadFile(d, index);
    if (!array.ok()) return array.status();
    out = std::move(array->data);
    if (a.descriptor && array->fortranOrder) // a descriptor's strides say how the memory lies
      out = reorder(out, a.shape, dtypeBytes(a.dtype), false);
    else
      columns |= array->fortranOrder; // the kernel gets the memory as it lies
  } else {
    out.assign(elementBytes, 0xFF);
    if (a.source == LaunchArg::Poison) {
      out.resize(size_t(a.bytes()), 0xFF);
      return out;
    }
    unsigned bytes = dtypeBytes(a.dtype);
    CounterRandom random(index);
    auto fill = [&](auto value) {
      inParallel(a.elements(), [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i) fromDouble(a.dtype, value(i), &out[i * bytes]);
      });
    };
    if (a.source == LaunchArg::Randn)
      fill([&](int64_t i) { return random.normal(i) * a.scale; });
    else if (a.source == LaunchArg::Randint)
      fill([&](int64_t i) { return double(random.integer(i, a.lo, a.hi)); });
    else
      fillWith(a.dtype, a.fill, out);
  }
  if (columns) return reorder(out, a.shape, dtypeBytes(a.dtype), true);
  if (!hasGaps(a)) return out;
  std::vector<uint8_t> memory(size_t(a.bytes()), 0xFF);
  forRows(a, [&](size_t inOrder, size_t inMemory, size_t bytes) {
    std::memcpy(memory.data() + inMemory, out.data() + inOrder, bytes);
  });
  return memory;
}

absl::StatusOr<CheckResult> check(const LaunchDescription &d, const ExpectedOutput &e, llvm::ArrayRef<uint8_t> actual) {
  const LaunchArg &a = d.args[e.arg];
  auto expected = loadFile(d, e);
  if (!expected.ok()) return expected.status();
  std::vector<uint8_t> rowMajor;
  bool columns = a.transposed;
  if (hasGaps(a)) {
    rowMajor = withoutGaps(a, actual);
    actual = rowMajor;
  }
  if (a.source == LaunchArg::File && a.shape.size() > 1 && !a.descriptor) {
    auto input = loadFile(d, e.arg);
    if (!input.ok()) return input.status();
    columns |= input->fortranOrder;
  }
  if (columns && int64_t(actual.size()) == a.bytes()) {
    rowMajor = reorder(actual, a.shape, dtypeBytes(a.dtype), false);
    actual = rowMajor;
  }
  if (e.within.empty()) return compareArrays(a.name, a.dtype, a.shape, actual, expected->data, e.relL2);
  auto bounds = readNpy(d.resolve(e.within));
  if (!bounds.ok()) return bounds.status();
  if (bounds->dtype != DType::F64 || bounds->elements() != a.elements())
    return absl::InvalidArgumentError(
        llvm::formatv("{0}: holds {1} of {2}, but the bounds of args[{3}] (\"{4}\") are {5} of f64",
                      d.resolve(e.within), bounds->elements(), dtypeName(bounds->dtype), e.arg, a.name, a.elements())
            .str());
  return compareWithin(a.name, a.dtype, a.shape, actual, expected->data,
                       llvm::ArrayRef(reinterpret_cast<const double *>(bounds->data.data()), bounds->elements()));
}

} // namespace tessera::runtime
