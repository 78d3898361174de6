// Launch descriptions (see launch_description.h).
#include "runtime/launch_description.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "runtime/npy.h"
#include <cmath>
#include <cstring>

namespace tessera::runtime {

namespace {

class Reader {
public:
  Reader(const std::string &path) : path_(path) {}
  absl::Status status = absl::OkStatus();

  void fail(const std::string &where, const std::string &what) {
    if (status.ok()) status = absl::InvalidArgumentError(path_ + ": " + (where.empty() ? "" : where + ": ") + what);
  }
  void checkKeys(const llvm::json::Object &o, const std::string &where, std::initializer_list<llvm::StringRef> known) {
    for (auto &kv : o) {
      llvm::StringRef key = kv.first;
      if (llvm::is_contained(known, key)) continue;
      llvm::StringRef best;
      unsigned distance = 4;
      for (auto k : known)
        if (unsigned d = k.edit_distance(key, true, 4); d < distance) distance = d, best = k;
      fail(where, "unknown key \"" + key.str() + "\"" + (best.empty() ? "" : "; did you mean \"" + best.str() + "\"?"));
    }
  }
  std::string string(const llvm::json::Object &o, llvm::StringRef key, const std::string &where, bool required = true) {
    auto *v = o.get(key);
    if (!v) {
      if (required) fail(where, "\"" + key.str() + "\" is missing");
      return "";
    }
    if (auto s = v->getAsString()) return s->str();
    fail(join(where, key), "must be a string");
    return "";
  }
  int64_t integer(const llvm::json::Value &v, const std::string &where, int64_t lo, int64_t hi) {
    auto i = v.getAsInteger();
    if (!i) fail(where, "must be an integer");
    else if (*i < lo || *i > hi) fail(where, llvm::formatv("must be between {0} and {1}, not {2}", lo, hi, *i));
    return i.value_or(0);
  }
  static std::string join(const std::string &where, llvm::StringRef key) { return where.empty() ? key.str() : where + "." + key.str(); }

private:
  std::string path_;
};

} // namespace

absl::StatusOr<LaunchDescription> parseLaunch(llvm::StringRef text, const std::string &path) {
  auto json = llvm::json::parse(text);
  if (!json) {
    std::string m = llvm::toString(json.takeError()); // "[line:column, byte=n]: what"
    llvm::StringRef r(m);
    if (r.consume_front("[")) {
      auto at = r.take_until([](char c) { return c == ','; });
      auto what = r.split("]: ").second;
      return absl::InvalidArgumentError(path + ":" + at.str() + ": " + what.str());
    }
    return absl::InvalidArgumentError(path + ": " + m);
  }
  auto *root = json->getAsObject();
  if (!root) return absl::InvalidArgumentError(path + ": must be an object");
  LaunchDescription d;
  d.path = path;
  d.directory = llvm::sys::path::parent_path(path).str();
  if (d.directory.empty()) d.directory = ".";
  Reader r(path);
  r.checkKeys(*root, "", {"kernel", "ttir", "grid", "num_warps", "num_stages", "args", "expected", "name", "flops", "bytes", "library", "triton_ms", "description", "note"});
  d.kernel = r.string(*root, "kernel", "", false);
  d.ttir = r.string(*root, "ttir", "", false);
  if (auto *g = root->get("grid")) {
    auto *a = g->getAsArray();
    if (!a || a->empty() || a->size() > 3) r.fail("grid", "must be a list of one to three integers");
    else
      for (size_t i = 0; i < a->size(); ++i) d.grid[i] = r.integer((*a)[i], "grid[" + std::to_string(i) + "]", 0, i ? 65535 : INT32_MAX);
  } else r.fail("", "\"grid\" is missing");
  if (auto *w = root->get("num_warps")) d.numWarps = r.integer(*w, "num_warps", 1, 64);
  if (auto *s = root->get("num_stages")) d.numStages = r.integer(*s, "num_stages", 1, 100);
  auto *args = root->getArray("args");
  if (!args) r.fail("", "\"args\" is missing or no list");
  for (size_t i = 0; args && i < args->size(); ++i) {
    std::string where = "args[" + std::to_string(i) + "]";
    auto *o = (*args)[i].getAsObject();
    LaunchArg a;
    if (!o) {
      r.fail(where, "must be an object");
      continue;
    }
    r.checkKeys(*o, where, {"name", "scalar", "type", "dtype", "shape", "file", "fill", "lo", "hi", "scale", "transposed"});
    a.name = r.string(*o, "name", where);
    if (auto *s = o->get("scalar")) {
      a.isScalar = true;
      a.scalarType = r.string(*o, "type", where);
      static constexpr const char *types[] = {"i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"};
      if (r.status.ok() && !llvm::is_contained(types, a.scalarType)) r.fail(where + ".type", "unknown scalar type \"" + a.scalarType + "\"");
      bool floating = a.scalarType[0] == 'f' || a.scalarType[0] == 'b';
      if (auto b = s->getAsBoolean()) a.intValue = *b, a.floatValue = *b;
      else if (floating) {
        if (auto n = s->getAsNumber()) a.floatValue = *n;
        else r.fail(where + ".scalar", "must be a number");
      } else {
        unsigned bits = 64;
        llvm::StringRef(a.scalarType).drop_front().getAsInteger(10, bits);
        a.intValue = bits >= 64 ? r.integer(*s, where + ".scalar", INT64_MIN, INT64_MAX) : r.integer(*s, where + ".scalar", -(int64_t(1) << (bits - 1)), (int64_t(1) << bits) - 1);
      }
    } else {
      auto name = r.string(*o, "dtype", where);
      auto t = parseDType(name);
      if (!t && r.status.ok()) r.fail(where + ".dtype", "unknown element type \"" + name + "\"");
      a.dtype = t.value_or(DType::F32);
      auto *shape = o->getArray("shape");
      if (!shape) r.fail(where, "\"shape\" is missing or no list (a scalar needs \"scalar\" and \"type\")");
      int64_t n = 1;
      for (size_t k = 0; shape && k < shape->size(); ++k) {
        int64_t dim = r.integer((*shape)[k], where + ".shape[" + std::to_string(k) + "]", 0, int64_t(1) << 40);
        if (dim && n > (int64_t(1) << 36) / dim) r.fail(where + ".shape", "the buffer is too large");
        else n *= dim;
        a.shape.push_back(dim);
      }
      auto *file = o->get("file"), *fill = o->get("fill");
      if (bool(file) == bool(fill) && (file || fill)) r.fail(where, "give \"file\" or \"fill\", not both");
      if (file) {
        a.source = LaunchArg::File;
        a.file = r.string(*o, "file", where);
      } else if (fill) {
        if (auto s = fill->getAsString()) {
          if (*s == "randn") a.source = LaunchArg::Randn;
          else if (*s == "randint") a.source = LaunchArg::Randint;
          else if (*s == "poison") a.source = LaunchArg::Poison;
          else r.fail(where + ".fill", "must be a number, \"randn\", \"randint\" or \"poison\", not \"" + s->str() + "\"");
        } else if (auto n2 = fill->getAsNumber()) a.fill = *n2;
        else r.fail(where + ".fill", "must be a number, \"randn\", \"randint\" or \"poison\"");
      } else a.source = LaunchArg::Randn;
      if (auto *s = o->get("scale")) a.scale = s->getAsNumber().value_or(1);
      if (a.source == LaunchArg::Randint) {
        if (!o->get("lo") || !o->get("hi")) r.fail(where, "\"randint\" needs \"lo\" and \"hi\"");
        else {
          a.lo = r.integer(*o->get("lo"), where + ".lo", INT64_MIN / 2, INT64_MAX / 2);
          a.hi = r.integer(*o->get("hi"), where + ".hi", INT64_MIN / 2, INT64_MAX / 2);
          if (r.status.ok() && a.hi <= a.lo) r.fail(where, "\"hi\" must be above \"lo\"");
        }
      }
    }
    d.args.push_back(std::move(a));
  }
  if (auto *e = root->get("expected")) {
    auto *o = e->getAsObject();
    if (!o) r.fail("expected", "must be an object from argument indices to outputs");
    else
      for (auto &kv : *o) {
        std::string where = "expected.\"" + kv.first.str() + "\"";
        ExpectedOutput x;
        unsigned index;
        if (llvm::StringRef(kv.first).getAsInteger(10, index) || index >= d.args.size()) {
          r.fail(where, "is no index of an argument");
          continue;
        }
        if (d.args[index].isScalar) r.fail(where, "argument " + std::to_string(index) + " is a scalar");
        auto *entry = kv.second.getAsObject();
        if (!entry) {
          r.fail(where, "must be an object");
          continue;
        }
        r.checkKeys(*entry, where, {"file", "rel_l2"});
        x.arg = index;
        x.file = r.string(*entry, "file", where);
        if (auto *t = entry->get("rel_l2")) {
          auto n = t->getAsNumber();
          if (!n || *n < 0 || std::isnan(*n)) r.fail(where + ".rel_l2", "must be a number that is not negative");
          x.relL2 = n.value_or(0);
        }
        d.expected.push_back(x);
      }
  }
  if (!r.status.ok()) return r.status;
  llvm::sort(d.expected, [](auto &a, auto &b) { return a.arg < b.arg; });
  return d;
}

absl::StatusOr<LaunchDescription> readLaunch(const std::string &path) {
  auto b = llvm::MemoryBuffer::getFile(path);
  if (!b) return absl::InvalidArgumentError(path + ": " + b.getError().message());
  return parseLaunch((*b)->getBuffer(), path);
}

/// SplitMix64, counter-based: element i of argument a is a function of (a, i) alone.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

static absl::StatusOr<std::vector<uint8_t>> loadFile(const LaunchDescription &d, const std::string &file, const LaunchArg &a) {
  auto npy = readNpy(d.directory + "/" + file);
  if (!npy.ok()) return absl::InvalidArgumentError(npy.status().message());
  if (dtypeBytes(npy->dtype) != dtypeBytes(a.dtype))
    return absl::InvalidArgumentError(llvm::formatv("{0}/{1}: holds {2}, but argument '{3}' is {4}", d.directory, file, dtypeName(npy->dtype), a.name, dtypeName(a.dtype)).str());
  if (int64_t(npy->data.size()) != a.elements() * dtypeBytes(a.dtype))
    return absl::InvalidArgumentError(llvm::formatv("{0}/{1}: holds {2} elements, but argument '{3}' has {4}", d.directory, file, npy->data.size() / dtypeBytes(a.dtype), a.name, a.elements()).str());
  return std::move(npy->data);
}

absl::StatusOr<std::vector<uint8_t>> materialize(const LaunchDescription &d, unsigned index) {
  auto &a = d.args[index];
  if (a.source == LaunchArg::File) return loadFile(d, a.file, a);
  int64_t n = a.elements();
  unsigned bytes = dtypeBytes(a.dtype);
  std::vector<uint8_t> out(n * bytes, 0xFF);
  if (a.source == LaunchArg::Poison) return out;
  for (int64_t i = 0; i < n; ++i) {
    double v = a.fill;
    uint64_t u = mix((uint64_t(index) << 48) ^ uint64_t(i));
    if (a.source == LaunchArg::Randn) {
      double x = (double(u >> 11) + 0.5) / 9007199254740992.0, y = double(mix(u) >> 11) / 9007199254740992.0;
      v = std::sqrt(-2 * std::log(x)) * std::cos(6.283185307179586 * y) * a.scale;
    } else if (a.source == LaunchArg::Randint) v = double(a.lo + int64_t(u % uint64_t(a.hi - a.lo)));
    fromDouble(a.dtype, v, &out[i * bytes]);
  }
  return out;
}

absl::StatusOr<CheckResult> check(const LaunchDescription &d, const ExpectedOutput &e, llvm::ArrayRef<uint8_t> actual) {
  auto &a = d.args[e.arg];
  auto want = loadFile(d, e.file, a);
  if (!want.ok()) return want.status();
  unsigned bytes = dtypeBytes(a.dtype);
  double error = 0, norm = 0, worst = -1;
  int64_t n = a.elements(), at = -1, different = 0;
  bool nan = false;
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t *x = actual.data() + i * bytes, *y = want->data() + i * bytes;
    bool same = !std::memcmp(x, y, bytes);
    double u = toDouble(a.dtype, x), v = toDouble(a.dtype, y);
    if (std::isnan(u) || std::isnan(v)) nan = true, at = at < 0 ? i : at;
    if (!same) ++different;
    double diff = same ? 0 : std::abs(u - v);
    if (!same && diff > worst) worst = diff, at = nan ? at : i;
    error += diff * diff;
    norm += v * v;
  }
  double rel = norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
  CheckResult r;
  r.ok = !nan && (e.relL2 == 0 ? different == 0 : rel <= e.relL2);
  r.line = llvm::formatv("{0} {1}: {2}, rel_l2 {3:e2} (limit {4:e2})", r.ok ? "ok  " : "FAIL", a.name, different == 0 ? "bit-exact" : llvm::formatv("{0} of {1} elements differ", different, n).str(), rel, e.relL2);
  if (!r.ok && at >= 0) r.line += llvm::formatv("; worst at [{0}]: {1}, expected {2}", at, toDouble(a.dtype, actual.data() + at * bytes), toDouble(a.dtype, want->data() + at * bytes));
  if (nan) r.line += "; NaN";
  return r;
}

} // namespace tessera::runtime
