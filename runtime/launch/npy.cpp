// The .npy format (see npy.h). The header is a Python dictionary; the small reader below takes exactly the form that
// numpy writes, with free white space.
#include "runtime/launch/npy.h"
#include "ir/write_file.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

namespace tessera::runtime {

namespace {

constexpr unsigned kMaxDimensions = 64; // numpy's own limit
constexpr llvm::StringRef kMagic = "\x93NUMPY";

struct TypeCode {
  const char *code; // after the byte-order character
  DType dtype;
};
constexpr TypeCode kTypeCodes[] = {
    {"b1", DType::I1},  {"i1", DType::I8},  {"u1", DType::U8},  {"i2", DType::I16},
    {"u2", DType::U16}, {"i4", DType::I32}, {"u4", DType::U32}, {"i8", DType::I64},
    {"u8", DType::U64}, {"f2", DType::F16}, {"f4", DType::F32}, {"f8", DType::F64},
    {"V1", DType::U8},  {"V2", DType::U16}, {"V4", DType::U32}, {"V8", DType::U64},
};

struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// Reads the header's dictionary. Each function consumes what it names or leaves an error.
class HeaderReader {
public:
  explicit HeaderReader(llvm::StringRef text) : rest_(text) {}

  bool read(Header &h) {
    bool haveDescr = false, haveOrder = false, haveShape = false;
    if (!expect('{')) return false;
    while (!accept('}')) {
      std::string key;
      if (!string(key, "a key in quotes")) return false;
      if (!expect(':')) return false;
      bool *have = key == "descr"           ? &haveDescr
                   : key == "fortran_order" ? &haveOrder
                   : key == "shape"         ? &haveShape
                                            : nullptr;
      if (!have) return fail("unknown key '" + key + "'");
      if (*have) return fail("key '" + key + "' appears twice");
      *have = true;
      if (have == &haveDescr ? !descr(h.descr) : have == &haveOrder ? !boolean(h.fortranOrder) : !tuple(h.shape))
        return false;
      if (accept('}')) break;
      if (!expect(',')) return false;
    }
    skipSpace();
    if (!rest_.empty()) return fail("text after the dictionary");
    if (!haveDescr) return fail("'descr' is missing");
    if (!haveOrder) return fail("'fortran_order' is missing");
    if (!haveShape) return fail("'shape' is missing");
    return true;
  }
  const std::string &error() const { return error_; }

private:
  bool fail(const std::string &what) {
    if (error_.empty()) error_ = what;
    return false;
  }
  void skipSpace() { rest_ = rest_.ltrim(" \t\r\n"); }
  bool accept(char c) {
    skipSpace();
    return rest_.consume_front(llvm::StringRef(&c, 1));
  }
  bool expect(char c) {
    if (accept(c)) return true;
    return fail(std::string("expected '") + c + "' " + found());
  }
  std::string found() const {
    if (rest_.empty()) return "but the header ends";
    std::string printable;
    llvm::raw_string_ostream(printable).write_escaped(rest_.take_front(12));
    return "at \"" + printable + "\"";
  }
  bool string(std::string &out, const char *what) {
    skipSpace();
    char quote = rest_.empty() ? 0 : rest_.front();
    if (quote != '\'' && quote != '"') return fail(std::string("expected ") + what + " " + found());
    size_t end = rest_.find(quote, 1);
    if (end == llvm::StringRef::npos) return fail("a string does not end");
    out = rest_.substr(1, end - 1).str();
    rest_ = rest_.drop_front(end + 1);
    return true;
  }
  bool descr(std::string &out) {
    skipSpace();
    if (rest_.starts_with("[")) return fail("structured arrays are not supported");
    return string(out, "the element type in quotes");
  }
  bool boolean(bool &out) {
    skipSpace();
    if (rest_.consume_front("True"))
      out = true;
    else if (rest_.consume_front("False"))
      out = false;
    else
      return fail("'fortran_order' must be True or False " + found());
    return true;
  }
  bool tuple(std::vector<int64_t> &out) {
    if (!expect('(')) return false;
    while (!accept(')')) {
      skipSpace();
      llvm::StringRef digits = rest_.take_while([](char c) { return c >= '0' && c <= '9'; });
      if (digits.empty()) return fail("expected a size in 'shape' " + found());
      int64_t size;
      if (digits.getAsInteger(10, size)) return fail("a size in 'shape' is too large: " + digits.take_front(40).str());
      rest_ = rest_.drop_front(digits.size());
      rest_.consume_front("L"); // Python 2 wrote long integers so
      if (out.size() == kMaxDimensions) return fail("'shape' has more than 64 dimensions");
      out.push_back(size);
      if (accept(')')) break;
      if (!expect(',')) return false;
    }
    return true;
  }

  llvm::StringRef rest_;
  std::string error_;
};

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string s = "(";
  for (size_t i = 0; i < shape.size(); ++i) (s += i ? ", " : "") += std::to_string(shape[i]);
  return s + (shape.size() == 1 ? ",)" : ")");
}

/// The bytes that a shape needs, or nothing if that does not fit an int64.
std::optional<int64_t> bytesOf(llvm::ArrayRef<int64_t> shape, int64_t elementBytes) {
  int64_t bytes = elementBytes;
  for (int64_t d : shape)
    if (d == 0) return 0;
  for (int64_t d : shape)
    if (d < 0 || __builtin_mul_overflow(bytes, d, &bytes)) return std::nullopt;
  return bytes;
}

} // namespace

absl::StatusOr<NpyArray> parseNpy(llvm::StringRef bytes, llvm::StringRef fileName) {
  auto bad = [&](const llvm::Twine &what) { return absl::InvalidArgumentError((fileName + ": " + what).str()); };
  auto byte = [&](size_t i) { return size_t(uint8_t(bytes[i])); };
  if (!bytes.starts_with(kMagic))
    return bad(bytes.empty() ? "is empty" : "is not a .npy file (no \\x93NUMPY at its start)");
  if (bytes.size() < 10) return bad("is cut off within its first 10 bytes");
  size_t major = byte(6), minor = byte(7), start = major == 1 ? 10 : 12;
  if (major < 1 || major > 3 || minor != 0)
    return bad(llvm::formatv("is of .npy version {0}.{1}; versions 1.0, 2.0 and 3.0 are read", major, minor));
  if (bytes.size() < start) return bad("is cut off within its first 12 bytes");
  size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start)
    return bad(llvm::formatv("is cut off within its header: that has {0} bytes, the file {1} after the header's start",
                             length, bytes.size() - start));
  Header header;
  HeaderReader reader(bytes.substr(start, length));
  if (!reader.read(header)) return bad("malformed header: " + reader.error());

  NpyArray a;
  llvm::StringRef code(header.descr);
  char order = code.empty() ? 0 : code.front();
  if (order == '<' || order == '>' || order == '|' || order == '=') code = code.drop_front();
  auto *type = llvm::find_if(kTypeCodes, [&](const TypeCode &t) { return code == t.code; });
  if (type == std::end(kTypeCodes)) return bad("has elements of type '" + header.descr + "', which is not supported");
  a.dtype = type->dtype;
  unsigned elementBytes = dtypeBytes(a.dtype);
  if (order == '>' && elementBytes > 1)
    return bad("holds big-endian data ('" + header.descr + "'); only little endian is read");
  a.shape = std::move(header.shape);
  llvm::StringRef data = bytes.drop_front(start + length);
  auto needed = bytesOf(a.shape, elementBytes);
  if (!needed) return bad("its shape " + shapeText(a.shape) + " is too large");
  if (int64_t(data.size()) < *needed)
    return bad(llvm::formatv("is cut off: shape {0} of {1} needs {2} bytes of data, there are {3}", shapeText(a.shape),
                             header.descr, *needed, data.size()));
  if (int64_t(data.size()) > *needed)
    return bad(
        llvm::formatv("has {0} bytes after the data of shape {1}", int64_t(data.size()) - *needed, shapeText(a.shape)));
  llvm::ArrayRef<uint8_t> contents(data.bytes_begin(), data.size());
  a.fortranOrder = header.fortranOrder && a.shape.size() > 1;
  a.data = a.fortranOrder ? reorder(contents, a.shape, elementBytes, false) : contents.vec();
  return a;
}

absl::StatusOr<NpyArray> readNpy(const std::string &path) {
  // Only regular files have a size to check against; a device or pipe could be endless.
  llvm::sys::fs::file_status status;
  if (std::error_code ec = llvm::sys::fs::status(path, status))
    return absl::InvalidArgumentError(path + ": " + ec.message());
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    return absl::InvalidArgumentError(path + ": is not a regular file");
  // Volatile: the file is copied, not mapped, so that nobody can shrink it under our reading.
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false, /*IsVolatile=*/true);
  if (!buffer) return absl::InvalidArgumentError(path + ": " + buffer.getError().message());
  return parseNpy((*buffer)->getBuffer(), path);
}

/// Byte order, kind and bytes; what numpy has no type for travels as unsigned integers.
static std::string npyCode(DType t) {
  if (t == DType::I1) return "|b1";
  bool isNumpyFloat = t == DType::F16 || t == DType::F32 || t == DType::F64;
  char kind = isNumpyFloat ? 'f' : isSigned(t) ? 'i' : 'u';
  return llvm::formatv("{0}{1}{2}", dtypeBytes(t) == 1 ? '|' : '<', kind, dtypeBytes(t)).str();
}

/// Magic, lengths and dictionary, padded so that the data start at a multiple of 64 bytes.
static absl::StatusOr<std::string> formatHeader(DType t, llvm::ArrayRef<int64_t> shape, size_t dataBytes) {
  auto needed = bytesOf(shape, dtypeBytes(t));
  if (!needed || *needed != int64_t(dataBytes) || shape.size() > kMaxDimensions)
    return absl::InvalidArgumentError(
        llvm::formatv("{0} bytes of {1} do not make an array of shape {2}", dataBytes, dtypeName(t), shapeText(shape))
            .str());
  std::string header =
      llvm::formatv("{{'descr': '{0}', 'fortran_order': False, 'shape': {1}, }", npyCode(t), shapeText(shape));
  while ((10 + header.size() + 1) % 64) header += ' ';
  header += '\n';
  std::string out = kMagic.str() + std::string{char(1), char(0), char(header.size() & 255), char(header.size() >> 8)};
  return out + header;
}

absl::StatusOr<std::string> formatNpy(DType t, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> data) {
  auto out = formatHeader(t, shape, data.size());
  if (out.ok()) out->append(reinterpret_cast<const char *>(data.data()), data.size());
  return out;
}

absl::Status writeNpy(const std::string &path, DType t, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> data) {
  auto header = formatHeader(t, shape, data.size());
  if (!header.ok()) return absl::InvalidArgumentError(path + ": " + std::string(header.status().message()));
  llvm::StringRef bytes(reinterpret_cast<const char *>(data.data()), data.size());
  std::error_code ec = ir::writeFile(path, {*header, bytes});
  return ec ? absl::UnavailableError(path + ": " + ec.message()) : absl::OkStatus();
}

std::vector<uint8_t> reorder(llvm::ArrayRef<uint8_t> data, llvm::ArrayRef<int64_t> shape, unsigned elementBytes,
                             bool toColumnMajor) {
  std::vector<uint8_t> out(data.begin(), data.end());
  if (shape.size() < 2 || data.empty()) return out;
  // Walks the row-major positions in order and keeps the column-major one beside them.
  size_t rank = shape.size();
  llvm::SmallVector<int64_t> index(rank, 0), stride(rank);
  int64_t count = 1;
  for (size_t d = 0; d < rank; ++d) {
    stride[d] = count;
    count *= shape[d];
  }
  int64_t column = 0;
  for (int64_t row = 0; row < count; ++row) {
    int64_t from = toColumnMajor ? row : column, to = toColumnMajor ? column : row;
    std::memcpy(&out[to * elementBytes], &data[from * elementBytes], elementBytes);
    for (size_t d = rank; d-- > 0;) {
      column += stride[d];
      if (++index[d] < shape[d]) break;
      column -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
  return out;
}

} // namespace tessera::runtime
