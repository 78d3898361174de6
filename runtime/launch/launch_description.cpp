// Launch descriptions (see launch_description.h): reading, validating and writing them.
#include "runtime/launch/launch_description.h"
#include "runtime/launch/json_reader.h"
#include "runtime/launch_checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <limits>
#include <system_error>

namespace tessera::runtime {

namespace {

constexpr int64_t kMaxBufferBytes = int64_t(1) << 40;
constexpr size_t kMaxDimensions = 64; // as .npy files have

constexpr llvm::StringRef kRootKeys[] = {"kernel", "ttir",     "grid",
#define KERNEL_OPTION(field, key, flag, initial, form, least, most, help, needs) #key,
#include "runtime/options.def"
                                         "args",   "expected", "flops", "bytes"};
// For people and other programs.
constexpr llvm::StringRef kIgnoredRootKeys[] = {"name", "description", "note", "comment", "library"};
constexpr llvm::StringRef kScalarKeys[] = {"name", "scalar", "type"};
constexpr llvm::StringRef kBufferKeys[] = {"name",  "dtype",      "shape",  "file",        "fill",    "lo",     "hi",
                                           "scale", "transposed", "offset", "block_shape", "strides", "padding"};
constexpr llvm::StringRef kPaddings[] = {"zero", "nan"};
constexpr llvm::StringRef kExpectedKeys[] = {"file", "rel_l2", "within"};
constexpr llvm::StringRef kScalarTypes[] = {"i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"};
constexpr llvm::StringRef kFills[] = {"randn", "randint", "poison", "inf", "-inf", "nan"};

std::optional<double> specialFloat(llvm::StringRef text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

/// One description being read. Each function reads one part and reports what is wrong with it.
class DescriptionReader {
public:
  DescriptionReader(JsonNode root, LaunchDescription &d) : root_(root), d_(d) {}

  void read() {
    if (!root_.isObject()) {
      if (root_.present()) root_.members(); // says that it must be an object
      return;
    }
    rootKeys();
    if (auto n = root_.get("kernel"); n.present()) {
      auto name = n.string();
      if (name && name->empty()) n.error("must name a function; without the key it is the only one");
      d_.kernel = name.value_or("");
      d_.kernelPlace = n.position();
    }
    if (auto n = root_.get("ttir"); n.present()) {
      d_.ttir = fileName(n);
      d_.ttirPlace = n.position();
    }
    grid(root_.get("grid"));
    for (auto &option : kernelOptions()) kernelOption(option);
    auto args = root_.get("args");
    d_.argsPlace = args.position();
    for (auto &n : args.elements()) {
      d_.args.emplace_back().place = n.position();
      argument(n, d_.args.back());
    }
    uniqueNames(args);
    if (auto n = root_.get("expected"); n.present()) expected(n);
    amount("flops", d_.flops);
    amount("bytes", d_.bytesMoved);
  }

private:
  void rootKeys() {
    for (auto &[key, node] : root_.members())
      if (!llvm::is_contained(kRootKeys, key) && !llvm::is_contained(kIgnoredRootKeys, key) &&
          !llvm::StringRef(key).starts_with("triton_"))
        node.error("unknown key; " + suggestName(key, kRootKeys));
  }

  void grid(const JsonNode &n) {
    auto sizes = n.elements();
    if (n.isArray() && (sizes.empty() || sizes.size() > 3)) return n.error("must have one to three sizes");
    // What the device takes of these is checked when the launch is run.
    for (size_t i = 0; i < sizes.size(); ++i) d_.grid[i] = sizes[i].integer(1, kMaxGridSize).value_or(1);
  }

  void kernelOption(const KernelOption &option) {
    auto n = root_.get(option.key);
    if (!n.present()) return;
    auto v = n.integer(option.least, option.most, option.allowed());
    if (!v) return;
    if (auto problem = option.problem(*v); !problem.empty())
      n.error(problem);
    else
      d_.*option.field = int(*v);
  }

  void amount(llvm::StringRef key, double &out) {
    auto n = root_.get(key);
    if (!n.present()) return;
    auto v = n.number();
    if (v && *v < 0) n.error("must not be negative");
    out = v.value_or(0);
  }

  /// A file's name: not empty, and without characters that would end it early.
  std::string fileName(const JsonNode &n) {
    auto s = n.string();
    if (!s) return "";
    if (s->empty()) n.error("must name a file");
    if (llvm::any_of(*s, [](char c) { return uint8_t(c) < 32; })) n.error("has a control character");
    return *s;
  }

  void argument(const JsonNode &n, LaunchArg &a) {
    if (!n.isObject()) {
      n.members(); // says that it must be an object
      return;
    }
    name(n.get("name"), a);
    a.isScalar = n.get("scalar").present();
    if (!a.isScalar && !n.get("shape").present() && !n.get("dtype").present()) {
      auto keys = llvm::to_vector<16>(llvm::ArrayRef(kScalarKeys));
      llvm::append_range(keys, llvm::drop_begin(kBufferKeys)); // both have "name"
      n.allowKeys(keys);                                       // a misspelt one is why
      return n.error("is neither a scalar (\"scalar\" and \"type\") nor a buffer (\"dtype\" and \"shape\")");
    }
    n.allowKeys(a.isScalar ? llvm::ArrayRef(kScalarKeys) : llvm::ArrayRef(kBufferKeys));
    a.isScalar ? scalar(n, a) : buffer(n, a);
  }

  /// Names become file names with --out.
  void name(const JsonNode &n, LaunchArg &a) {
    auto s = n.string();
    if (!s) return;
    a.name = *s;
    if (a.name.empty())
      n.error("must not be empty");
    else if (a.name == "." || a.name == ".." ||
             llvm::any_of(a.name, [](char c) { return c == '/' || uint8_t(c) < 32; }))
      n.error("must be usable as a file's name");
  }

  void uniqueNames(const JsonNode &args) {
    llvm::StringMap<size_t> first;
    auto nodes = args.isArray() ? args.elements() : std::vector<JsonNode>();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (d_.args[i].name.empty()) continue;
      auto [it, fresh] = first.try_emplace(d_.args[i].name, i);
      if (!fresh)
        nodes[i].get("name").error("\"" + d_.args[i].name + "\" is the name of args[" + llvm::Twine(it->second) +
                                   "] already");
    }
  }

  void scalar(const JsonNode &n, LaunchArg &a) {
    auto type = n.get("type").string();
    if (!type) return;
    a.scalarType = *type;
    if (!llvm::is_contained(kScalarTypes, *type))
      return n.get("type").error("unknown scalar type \"" + *type + "\"; " + suggestName(*type, kScalarTypes));
    auto v = n.get("scalar");
    if (type->front() != 'i') {
      if (v.isString()) {
        auto special = specialFloat(*v.string());
        if (!special) v.error("must be a number, \"inf\", \"-inf\" or \"nan\"");
        a.floatValue = special.value_or(0);
      } else if (auto number = v.number()) {
        a.floatValue = *number;
        double rounded;
        uint64_t bits = 0;
        fromDouble(*parseDType(*type), *number, &bits);
        rounded = toDouble(*parseDType(*type), &bits);
        if (!std::isfinite(rounded)) v.error("is too large for " + *type);
      }
      return;
    }
    if (*type == "i1" && v.isBoolean()) {
      a.intValue = *v.boolean();
      return;
    }
    if (*type == "i64") {
      a.intValue = int64_t(v.bits64().value_or(0)); // unsigned values too: the IR's integers have no sign
      return;
    }
    unsigned bits = 0;
    llvm::StringRef(*type).drop_front().getAsInteger(10, bits);
    a.intValue = v.integer(*type == "i1" ? 0 : -(int64_t(1) << (bits - 1)), (int64_t(1) << bits) - 1).value_or(0);
  }

  void buffer(const JsonNode &n, LaunchArg &a) {
    auto dtype = n.get("dtype").string();
    if (dtype) {
      auto t = parseDType(*dtype);
      if (!t) {
        std::vector<llvm::StringRef> names;
        for (unsigned i = 0; i < kDTypeCount; ++i) names.push_back(dtypeName(DType(i)));
        n.get("dtype").error("unknown element type \"" + *dtype + "\"; " + suggestName(*dtype, names));
      }
      a.dtype = t.value_or(DType::F32);
      dtype = t ? dtype : std::nullopt;
    }
    bool shapeFits = shape(n.get("shape"), a);
    auto file = n.get("file"), fill = n.get("fill");
    if (file.present() && fill.present()) n.error("has both \"file\" and \"fill\"");
    if (file.present()) {
      a.source = LaunchArg::File;
      a.file = fileName(file);
      a.filePlace = file.position();
    } else if (fill.present())
      fillWith(fill, a, dtype.has_value());
    else {
      a.source = LaunchArg::Randn;
      if (dtype && !isFloat(a.dtype)) n.error("needs \"file\" or \"fill\" (only floats are \"randn\" without them)");
    }
    if (auto t = n.get("transposed"); t.present()) a.transposed = t.boolean().value_or(false);
    if (auto o = n.get("offset"); o.present() && shapeFits) offset(o, n, a);
    if (n.get("block_shape").present()) {
      if (dtype && shapeFits) descriptor(n, a);
    } else
      for (const char *key : {"strides", "padding"})
        if (auto k = n.get(key); k.present()) k.error("means something with \"block_shape\" only");
    if (auto s = n.get("scale"); s.present()) {
      if (a.source != LaunchArg::Randn)
        s.error("means something with \"randn\" only");
      else
        a.scale = s.number().value_or(1);
    }
    range(n, a, dtype.has_value());
  }

  void offset(const JsonNode &o, const JsonNode &n, LaunchArg &a) {
    if (n.get("block_shape").present()) return o.error("excludes \"block_shape\": a descriptor describes its tensor");
    a.offset = o.integer(0, a.elements()).value_or(0);
  }

  /// False after an error.
  bool shape(const JsonNode &n, LaunchArg &a) {
    auto sizes = n.elements();
    if (sizes.size() > kMaxDimensions) {
      n.error("has more than 64 dimensions");
      return false;
    }
    bool overflow = false;
    bool known = n.isArray();
    int64_t bytes = dtypeBytes(a.dtype);
    for (auto &s : sizes) {
      auto d = s.integer(0, kMaxBufferBytes);
      a.shape.push_back(d.value_or(0));
      known &= d.has_value();
      // Zero sizes do not excuse an overflow before or after them: the size of a part of the shape must fit too.
      if (d && *d && __builtin_mul_overflow(bytes, *d, &bytes)) overflow = true;
    }
    if (overflow || bytes > kMaxBufferBytes) {
      n.error("is a buffer of more than 1 TiB");
      a.shape.assign(1, 0);
      return false;
    }
    return known;
  }

  /// Nothing after an error.
  static std::optional<std::vector<int64_t>> numbers(const JsonNode &n) {
    std::vector<int64_t> out;
    bool ok = n.isArray();
    for (auto &e : n.elements()) {
      auto v = e.integer(-kMaxBufferBytes, kMaxBufferBytes);
      ok &= v.has_value();
      out.push_back(v.value_or(0));
    }
    if (!ok) return std::nullopt;
    return out;
  }

  void descriptor(const JsonNode &n, LaunchArg &a) {
    HostDescriptor d;
    d.dtype = a.dtype;
    d.shape = a.shape;
    auto strides = n.get("strides");
    auto block = numbers(n.get("block_shape"));
    auto steps = strides.present() ? numbers(strides) : contiguousStrides(a.shape);
    if (auto p = n.get("padding"); p.present())
      if (auto s = p.string()) {
        if (!llvm::is_contained(kPaddings, *s))
          p.error("unknown padding \"" + *s + "\"; " + suggestName(*s, kPaddings));
        d.nanPadding = *s == "nan";
      }
    if (a.transposed)
      n.get("transposed").error("excludes \"block_shape\": the rows of a tensor descriptor are contiguous");
    if (!block || !steps) return;
    d.blockShape = *block;
    d.strides = *steps;
    bool valid = true;
    checkDescriptor(d, [&](DescriptorPart part, const std::string &what) {
      valid = false;
      switch (part) {
      case DescriptorPart::ElementType: return n.get("dtype").error(what);
      case DescriptorPart::Shape: return n.get("shape").error(what);
      case DescriptorPart::Strides:
        if (strides.present()) return strides.error(what);
        return n.get("shape").error("strides " + what + "; \"strides\" can say others");
      case DescriptorPart::BlockShape: return n.get("block_shape").error(what);
      case DescriptorPart::Padding: return n.get("padding").error(what);
      }
    });
    if (valid) rowsInMemory(strides, d);
    a.descriptor = std::move(d);
  }

  /// A buffer's elements have memory of their own, of a size that there can be.
  void rowsInMemory(const JsonNode &strides, const HostDescriptor &d) {
    int64_t bytes = dtypeBytes(d.dtype);
    int64_t spanned = 1;
    for (size_t k = d.shape.size(); k-- > 0;) {
      if (d.shape[k] > 1 && d.strides[k] < spanned)
        return strides.error(
            llvm::formatv("let rows overlap: one is {0}, and the rows below span {1} elements", d.strides[k], spanned)
                .str());
      int64_t step;
      if (__builtin_mul_overflow(d.shape[k] - 1, d.strides[k], &step) || step > kMaxBufferBytes / bytes - spanned)
        return strides.error("give a buffer of more than 1 TiB");
      spanned += step;
    }
  }

  void fillWith(const JsonNode &n, LaunchArg &a, bool dtypeKnown) {
    if (n.isString()) {
      std::string s = *n.string();
      if (s == "randn")
        a.source = LaunchArg::Randn;
      else if (s == "randint")
        a.source = LaunchArg::Randint;
      else if (s == "poison")
        a.source = LaunchArg::Poison;
      else if (auto special = specialFloat(s))
        a.fill = *special;
      else {
        llvm::StringRef numbers = llvm::any_of(s, llvm::isDigit) ? "; numbers are written without quotes" : "";
        return n.error("unknown fill \"" + s + "\"; " + suggestName(s, kFills) + numbers);
      }
      if (a.source == LaunchArg::Randn && dtypeKnown && !isFloat(a.dtype))
        n.error("\"randn\" needs a floating-point element type, not " + dtypeName(a.dtype) + "; use \"randint\"");
    } else if (n.isBoolean() && a.dtype == DType::I1)
      a.fill = *n.boolean();
    else if (n.isNumber())
      a.fill = n.number().value_or(0);
    else
      return n.error("must be a number, \"randn\", \"randint\" or \"poison\"");
    if (a.source == LaunchArg::Fill && dtypeKnown && !holdsExactly(a.dtype, a.fill))
      n.error("is no value of " + dtypeName(a.dtype));
  }

  void range(const JsonNode &n, LaunchArg &a, bool dtypeKnown) {
    auto lo = n.get("lo"), hi = n.get("hi");
    if (a.source != LaunchArg::Randint) {
      for (auto &bound : {lo, hi})
        if (bound.present()) bound.error("means something with \"randint\" only");
      return;
    }
    // Within ±2^53, so that every value can be said in a double.
    constexpr int64_t most = int64_t(1) << 53;
    auto l = lo.integer(-most, most), h = hi.integer(-most, most);
    if (!l || !h) return;
    a.lo = *l;
    a.hi = *h;
    if (a.hi <= a.lo) return hi.error(llvm::formatv("must be above \"lo\" ({0}), not {1}", a.lo, a.hi).str());
    if (!dtypeKnown) return;
    if (!holdsExactly(a.dtype, double(a.lo))) lo.error("is no value of " + dtypeName(a.dtype));
    if (!holdsExactly(a.dtype, double(a.hi - 1))) hi.error("is beyond the values of " + dtypeName(a.dtype));
  }

  void expected(const JsonNode &outputs) {
    for (auto &[key, n] : outputs.members()) {
      ExpectedOutput e;
      unsigned index;
      if (llvm::StringRef(key).getAsInteger(10, index) || std::to_string(index) != key) {
        n.error("the key must be the index of an argument");
        continue;
      }
      if (index >= d_.args.size()) {
        n.error(llvm::formatv("there is no argument {0}; \"args\" has {1}", index, d_.args.size()).str());
        continue;
      }
      if (d_.args[index].isScalar)
        n.error("args[" + key + "] (\"" + d_.args[index].name + "\") is a scalar, not an output");
      if (!n.isObject()) {
        n.members(); // says that it must be an object
        continue;
      }
      n.allowKeys(kExpectedKeys);
      e.arg = index;
      e.file = fileName(n.get("file"));
      e.filePlace = n.get("file").position();
      if (auto limit = n.get("rel_l2"); limit.present()) {
        e.relL2 = limit.number().value_or(0);
        if (e.relL2 < 0) limit.error("must not be negative");
      }
      if (auto within = n.get("within"); within.present()) {
        e.within = fileName(within);
        if (n.get("rel_l2").present()) within.error("excludes \"rel_l2\"");
      }
      d_.expected.push_back(std::move(e));
    }
    llvm::sort(d_.expected, [](auto &a, auto &b) { return a.arg < b.arg; });
  }

  JsonNode root_;
  LaunchDescription &d_;
};

} // namespace

std::string LaunchDescription::at(LaunchPlace p) const {
  return p.first ? llvm::formatv("{0}:{1}:{2}: ", path, p.first, p.second).str() : path + ": ";
}

std::string LaunchDescription::resolve(llvm::StringRef file) const {
  if (llvm::sys::path::is_absolute(file)) return file.str();
  return directory == "." ? file.str() : directory + "/" + file.str();
}

std::vector<std::string> LaunchDescription::files() const {
  std::vector<std::string> all{path};
  auto add = [&](const std::string &file) {
    if (!file.empty()) all.push_back(resolve(file));
  };
  add(ttir);
  for (auto &a : args) add(a.file);
  for (auto &e : expected) {
    add(e.file);
    add(e.within);
  }
  return all;
}

absl::StatusOr<LaunchDescription> parseLaunch(llvm::StringRef text, const std::string &path) {
  LaunchDescription d;
  d.path = path;
  d.directory = llvm::sys::path::parent_path(path).str();
  if (d.directory.empty()) d.directory = ".";
  JsonReader json(text, path);
  DescriptionReader(json.root(), d).read();
  if (absl::Status s = json.status(); !s.ok()) return s;
  return d;
}

absl::StatusOr<LaunchDescription> readLaunch(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) return absl::InvalidArgumentError(path + ": " + buffer.getError().message());
  return readLaunchText((*buffer)->getBuffer(), path);
}

absl::StatusOr<LaunchDescription> readLaunchText(llvm::StringRef text, const std::string &path) {
  auto d = parseLaunch(text, path);
  if (!d.ok() || !d->ttir.empty()) return d;
  llvm::SmallString<256> folder(d->directory);
  llvm::sys::fs::make_absolute(folder);
  llvm::sys::path::remove_dots(folder, true);
  std::string candidate = llvm::sys::path::filename(folder).str() + ".ttir";
  if (llvm::sys::fs::exists(d->resolve(candidate))) d->ttir = candidate;
  return d;
}

namespace {

/// A description's JSON once more, members in their order, with some values replaced.
class DescriptionWriter {
public:
  DescriptionWriter(const LaunchDescription &d, const KernelConfig &config, const std::string &folder)
      : d_(d), config_(config), elsewhere_(absolute(folder) != absolute(d.directory)) {}

  std::string write(const JsonNode &root) {
    for (auto &[key, n] : root.members()) {
      member(key);
      node(n, key);
    }
    if (!root.get("ttir").present()) member("ttir"), file(d_.ttir);
    for (auto &option : kernelOptions()) {
      int value = config_.*option.field;
      bool alwaysWritten = option.field == &KernelConfig::numWarps || option.field == &KernelConfig::numStages;
      if (root.get(option.key).present() || (value == option.initial && !alwaysWritten)) continue;
      member(option.key);
      s_ << value;
    }
    return out_ + "}\n";
  }

private:
  static std::string absolute(llvm::StringRef path) {
    llvm::SmallString<256> p(path.empty() ? "." : path);
    llvm::sys::fs::make_absolute(p);
    llvm::sys::path::remove_dots(p, true);
    return p.str().str();
  }
  void member(llvm::StringRef key) { s_ << (out_.empty() ? "{" : ",\n ") << llvm::json::Value(key) << ": "; }
  void file(llvm::StringRef name) { s_ << llvm::json::Value(elsewhere_ ? absolute(d_.resolve(name)) : name.str()); }

  void node(const JsonNode &n, llvm::StringRef key) {
    llvm::StringRef path = n.path();
    const auto *replaced = llvm::find_if(kernelOptions(), [&](auto &option) { return option.key == path; });
    if (replaced != kernelOptions().end())
      s_ << config_.*replaced->field;
    else if (n.isString() && (path == "ttir" || ((path.starts_with("args[") || path.starts_with("expected")) &&
                                                 (key == "file" || key == "within"))))
      file(*n.string());
    else if (n.isNumber())
      number(n.value());
    else if (n.isObject()) {
      s_ << "{";
      for (auto [i, m] : llvm::enumerate(n.members())) {
        s_ << (i ? ", " : "") << llvm::json::Value(m.first) << ": ";
        node(m.second, m.first);
      }
      s_ << "}";
    } else if (n.isArray()) {
      s_ << "[";
      for (auto [i, e] : llvm::enumerate(n.elements())) {
        s_ << (i ? "," : "") << (e.isObject() ? "\n  " : i ? " " : "");
        node(e, "");
      }
      s_ << "]";
    } else
      s_ << n.value();
  }
  /// With as many digits as the value needs.
  void number(const llvm::json::Value &v) {
    if (v.getAsInteger() || v.getAsUINT64()) {
      s_ << v;
      return;
    }
    double d = *v.getAsNumber();
    std::string text;
    for (int digits = 1; digits <= 17; ++digits) {
      text.clear();
      llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, d);
      if (std::strtod(text.c_str(), nullptr) == d) break;
    }
    s_ << text;
  }

  const LaunchDescription &d_;
  const KernelConfig &config_;
  bool elsewhere_; // files are then given by absolute names
  std::string out_;
  llvm::raw_string_ostream s_{out_};
};

} // namespace

std::string launchWith(llvm::StringRef text, const LaunchDescription &d, const KernelConfig &config,
                       const std::string &folder) {
  JsonReader json(text, d.path);
  return DescriptionWriter(d, config, folder).write(json.root());
}

} // namespace tessera::runtime
