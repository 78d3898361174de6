// The .npy format (see npy.h).
#include "runtime/npy.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::runtime {

static absl::Status bad(llvm::StringRef file, const std::string &what) { return absl::InvalidArgumentError(file.str() + ": " + what); }

static std::optional<DType> fromNumpy(llvm::StringRef d) {
  d = d.trim();
  if (d.starts_with("<") || d.starts_with("|") || d.starts_with("=")) d = d.drop_front();
  static constexpr std::pair<const char *, DType> map[] = {{"b1", DType::I1}, {"i1", DType::I8}, {"u1", DType::U8}, {"i2", DType::I16}, {"u2", DType::U16}, {"i4", DType::I32}, {"u4", DType::U32}, {"i8", DType::I64}, {"u8", DType::U64}, {"f2", DType::F16}, {"f4", DType::F32}, {"f8", DType::F64}};
  for (auto [n, t] : map)
    if (d == n) return t;
  return std::nullopt;
}

absl::StatusOr<NpyArray> parseNpy(llvm::StringRef b, llvm::StringRef file) {
  if (!b.starts_with("\x93NUMPY") || b.size() < 10) return bad(file, "not a .npy file");
  unsigned major = uint8_t(b[6]);
  size_t header, at;
  if (major == 1) header = uint8_t(b[8]) | uint8_t(b[9]) << 8, at = 10;
  else if ((major == 2 || major == 3) && b.size() >= 12) header = uint8_t(b[8]) | uint8_t(b[9]) << 8 | uint8_t(b[10]) << 16 | size_t(uint8_t(b[11])) << 24, at = 12;
  else return bad(file, llvm::formatv("unknown .npy version {0}", major));
  if (header > b.size() - at) return bad(file, "the header is cut off");
  llvm::StringRef h = b.substr(at, header);
  auto field = [&](llvm::StringRef key) -> llvm::StringRef {
    auto p = h.find(("'" + key + "'").str());
    if (p == llvm::StringRef::npos) return {};
    auto v = h.substr(p + key.size() + 2).ltrim();
    return v.consume_front(":") ? v.ltrim() : llvm::StringRef();
  };
  NpyArray a;
  auto descr = field("descr");
  if (!descr.consume_front("'")) return bad(file, "the header has no simple 'descr'");
  descr = descr.take_until([](char c) { return c == '\''; });
  if (descr.starts_with(">")) return bad(file, "big-endian data is not supported");
  auto t = fromNumpy(descr);
  if (!t) return bad(file, "unsupported element type '" + descr.str() + "'");
  a.dtype = *t;
  auto shape = field("shape");
  if (!shape.consume_front("(")) return bad(file, "the header has no 'shape'");
  shape = shape.take_until([](char c) { return c == ')'; });
  int64_t count = 1, bytes = dtypeBytes(a.dtype);
  for (auto part : llvm::split(shape, ',')) {
    part = part.trim();
    part.consume_back("L");
    if (part.empty()) continue;
    int64_t d;
    if (part.getAsInteger(10, d) || d < 0) return bad(file, "malformed shape (" + shape.str() + ")");
    if (d && count > (int64_t(1) << 40) / d) return bad(file, "the shape is too large");
    count *= d;
    a.shape.push_back(d);
  }
  llvm::StringRef data = b.substr(at + header);
  if (int64_t(data.size()) < count * bytes) return bad(file, llvm::formatv("has {0} bytes of data; its shape needs {1}", data.size(), count * bytes));
  a.data.assign(data.bytes_begin(), data.bytes_begin() + count * bytes);
  return a;
}

absl::StatusOr<NpyArray> readNpy(const std::string &path) {
  auto b = llvm::MemoryBuffer::getFile(path, false, false);
  if (!b) return absl::NotFoundError(path + ": " + b.getError().message());
  return parseNpy((*b)->getBuffer(), path);
}

absl::Status writeNpy(const std::string &path, DType t, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<uint8_t> data) {
  static constexpr const char *names[] = {"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<u2", "<f4", "<f8", "|u1", "|u1", "|u1", "|u1"};
  std::string header = llvm::formatv("{{'descr': '{0}', 'fortran_order': False, 'shape': (", names[unsigned(t)]);
  for (auto d : shape) header += std::to_string(d) + ",";
  header += "), }";
  while ((10 + header.size() + 1) % 64) header += ' ';
  header += '\n';
  std::error_code ec;
  llvm::raw_fd_ostream o(path, ec);
  if (ec) return absl::UnavailableError(path + ": " + ec.message());
  o << "\x93NUMPY" << char(1) << char(0) << char(header.size() & 255) << char(header.size() >> 8) << header;
  o.write(reinterpret_cast<const char *>(data.data()), data.size());
  o.close();
  if (o.has_error()) {
    auto e = o.error();
    o.clear_error();
    return absl::UnavailableError(path + ": " + e.message());
  }
  return absl::OkStatus();
}

} // namespace tessera::runtime
