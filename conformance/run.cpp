// Running cases (see run.h).
#include "conformance/run.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/printer.h"
#include "ir/write_file.h"
#include "runtime/compiler/compiler.h"
#include "runtime/compiler/kernel_function.h"
#include "runtime/emulator/emulator_device.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launch/npy.h"
#include "runtime/launcher.h"
#include "runtime/open_device.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::conformance {
using namespace runtime;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The distance of neighbours of a float type at a value, as a double. Subnormal numbers are as far apart as the
/// smallest normal ones.
double unitInLastPlace(DType t, double value) {
  int mantissa = 0, least = 0; // bits after the point, exponent of the smallest normal number
  switch (t) {
  case DType::F64: mantissa = 52, least = -1022; break;
  case DType::F32: mantissa = 23, least = -126; break;
  case DType::F16: mantissa = 10, least = -14; break;
  case DType::BF16: mantissa = 7, least = -126; break;
  case DType::F8E4M3FN:
  case DType::F8E4M3: mantissa = 3, least = -6; break;
  case DType::F8E4M3FNUZ: mantissa = 3, least = -7; break;
  case DType::F8E4M3B11FNUZ: mantissa = 3, least = -10; break;
  case DType::F8E5M2: mantissa = 2, least = -14; break;
  case DType::F8E5M2FNUZ: mantissa = 2, least = -15; break;
  case DType::F8E3M4: mantissa = 4, least = -2; break;
  default: return 1; // integers
  }
  int exponent = least;
  if (std::isfinite(value) && value != 0) exponent = std::max(least, std::ilogb(value));
  return std::ldexp(1.0, exponent - mantissa);
}

/// A deviation of an element that shall be this; NaN counts as infinitely far from numbers.
double distance(DType t, const uint8_t *actual, const uint8_t *expected) {
  if (!std::memcmp(actual, expected, dtypeBytes(t))) return 0;
  if (!isFloat(t)) {
    double d = std::abs(double(elementAt(t, actual).integer) - double(elementAt(t, expected).integer));
    return std::max(d, 1.0); // also if they are the same double
  }
  double a = toDouble(t, actual), e = toDouble(t, expected);
  if (a == e || (std::isnan(a) && std::isnan(e))) return 0;
  double d = std::abs(a - e);
  return std::isnan(d) ? kInfinity : d;
}

std::string indexText(int64_t flat, llvm::ArrayRef<int64_t> shape) {
  std::string s;
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d])
    s = std::to_string(flat % shape[d]) + (s.empty() ? "" : ", ") + s;
  return "[" + s + "]";
}
std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", v);
  return std::isnan(v) ? "nan" : text;
}
std::string valueText(DType t, const uint8_t *p) {
  Number n = elementAt(t, p);
  return n.real ? number(n.value) : std::to_string(n.integer);
}

std::vector<int64_t> indices(int64_t flat, llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> out(shape.size());
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d]) out[d] = flat % shape[d];
  return out;
}

/// Elements in an order of their own, where a kernel may give them in any.
std::vector<uint8_t> sorted(DType t, std::vector<uint8_t> bytes) {
  unsigned n = dtypeBytes(t);
  std::vector<std::vector<uint8_t>> elements;
  for (size_t i = 0; i < bytes.size(); i += n) elements.emplace_back(bytes.begin() + i, bytes.begin() + i + n);
  std::sort(elements.begin(), elements.end());
  bytes.clear();
  for (auto &e : elements) bytes.insert(bytes.end(), e.begin(), e.end());
  return bytes;
}

/// Compares all outputs of a run, and notes the largest errors.
void compareOutputs(const Instance &in, const std::vector<std::vector<uint8_t>> &actual, const Expectation &expected,
                    const char *whose, Outcome &r) {
  for (auto &o : in.outputs) {
    if (o.kind == Output::Ignored) continue;
    auto &arg = in.launch.args[o.arg];
    unsigned bytes = dtypeBytes(arg.dtype);
    auto a = actual[o.arg], e = expected.contents[o.arg];
    auto &bounds = expected.bounds[o.arg];
    if (o.kind == Output::Unordered) {
      a = sorted(arg.dtype, a);
      e = sorted(arg.dtype, e);
    }
    int64_t wrong = 0, worst = -1;
    double worstExcess = -1;
    for (int64_t i = 0; i < arg.elements(); ++i) {
      double d = distance(arg.dtype, &a[i * bytes], &e[i * bytes]);
      if (d == 0) continue;
      double value = std::abs(elementAt(arg.dtype, &e[i * bytes]).asReal()), unit = unitInLastPlace(arg.dtype, value),
             scale = value;
      // Errors are in the unit of the bound.
      if (o.of) {
        auto of = o.of->evaluate(indices(i, arg.shape), in.names);
        if (of.ok()) {
          scale = std::max(value, std::abs(of->asReal()));
          unit = unitInLastPlace(arg.dtype, scale);
        }
      }
      r.ulp = std::max(r.ulp, d / unit);
      r.relative = std::max(r.relative, scale > 0 ? d / scale : kInfinity);
      if (d <= bounds[i]) continue;
      ++wrong;
      if (d - bounds[i] > worstExcess) {
        worstExcess = d - bounds[i];
        worst = i;
      }
    }
    if (!wrong) continue;
    r.status = Outcome::Failed;
    if (!r.message.empty()) r.message += "; ";
    r.message += llvm::formatv("{0}: {1} of {2} elements differ from {3}, most at {4}: {5}, expected {6}", arg.name,
                               wrong, arg.elements(), whose, indexText(worst, arg.shape),
                               valueText(arg.dtype, &a[worst * bytes]), valueText(arg.dtype, &e[worst * bytes]))
                     .str();
    if (bounds[worst] > 0) r.message += " within " + number(bounds[worst]);
  }
}

/// The kernel's text as a module; null with the reason.
std::unique_ptr<ir::Module> parse(const Instance &in, ir::Context &context, std::string &why) {
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { why += (why.empty() ? "" : "\n") + ir::render(d); });
  auto m = frontend::parseModule(in.text, in.launch.path, context, diag, {.locateByText = true});
  return m;
}

std::string joined(const std::string &diagnostics, const absl::Status &s) {
  return llvm::StringRef(diagnostics.empty() ? std::string(s.message()) : diagnostics).trim().str();
}

LaunchArguments argumentsOf(const Instance &in) {
  LaunchArguments a;
  for (size_t i = 0; i < in.launch.args.size(); ++i) {
    bool scalar = in.launch.args[i].isScalar;
    auto bits = scalar ? scalarBits(in.launch.args[i]) : ScalarBits{0, 0};
    a.buffers.push_back(scalar ? std::vector<uint8_t>() : in.contents[i]);
    a.scalars.push_back(bits.bits);
    a.scalarBytes.push_back(bits.bytes);
    a.descriptors.push_back(in.launch.args[i].descriptor);
  }
  return a;
}

/// The type of a kernel's argument that takes the descriptor.
std::string descriptorType(const HostDescriptor &d) {
  std::string s = "!tt.tensordesc<tensor<";
  for (int64_t n : d.blockShape) s += std::to_string(n) + "x";
  return s + dtypeName(d.dtype).str() + ">>";
}

/// The elements of a buffer that its descriptor describes, in order; all, if it has none.
std::vector<uint8_t> described(const LaunchArg &a, llvm::ArrayRef<uint8_t> buffer, unsigned bytes) {
  if (!a.descriptor) return buffer.vec();
  std::vector<uint8_t> out;
  int64_t n = 1;
  for (int64_t d : a.descriptor->shape) n *= d;
  for (int64_t i = 0; i < n; ++i) {
    int64_t element = 0;
    for (auto [k, at] : llvm::enumerate(indices(i, a.descriptor->shape))) element += at * a.descriptor->strides[k];
    llvm::append_range(out, buffer.slice(size_t(element) * bytes, bytes));
  }
  return out;
}

/// What the interpreter makes of the case; the status is about the kernel.
absl::Status interpretCase(const Instance &in, std::vector<std::vector<uint8_t>> &buffers) {
  ir::Context context;
  std::string why;
  auto m = parse(in, context, why);
  if (!m) return absl::InvalidArgumentError(why);
  auto kernel = selectKernel(*m, "");
  if (!kernel.ok()) return kernel.status();
  // The description's own checks of arguments against the kernel's, without the contents.
  auto *entry = (*kernel)->region(0).front();
  if (entry->numArgs() != in.launch.args.size())
    return absl::InvalidArgumentError(
        llvm::formatv("the kernel takes {0}, not {1}", ir::counted(entry->numArgs(), "argument"), in.launch.args.size())
            .str());
  for (unsigned i = 0; i < entry->numArgs(); ++i) {
    auto &a = in.launch.args[i];
    std::string wanted = a.isScalar ? a.scalarType : ("!tt.ptr<" + dtypeName(a.dtype) + ">").str();
    if (a.descriptor) wanted = descriptorType(*a.descriptor);
    if (entry->arg(i).type().str() != wanted)
      return absl::InvalidArgumentError("argument '" + a.name + "' is " + entry->arg(i).type().str() +
                                        " in the text, not " + wanted);
  }
  auto args = argumentsOf(in);
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { why += (why.empty() ? "" : "\n") + ir::render(d); });
  auto s = interpretLaunch(*m, *kernel, in.launch, args, {}, diag);
  if (!s.ok()) return absl::Status(s.code(), joined(why, s));
  buffers = std::move(args.buffers);
  return absl::OkStatus();
}

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

std::string Outcome::encode() const {
  char text[120];
  std::snprintf(text, sizeof text, "%d %a %a %a ", int(status), ulp, relative, ms);
  return text + message;
}

Outcome Outcome::decode(const std::string &s) {
  Outcome o;
  int status = 0, used = 0;
  if (std::sscanf(s.c_str(), "%d %la %la %la%n", &status, &o.ulp, &o.relative, &o.ms, &used) < 4) {
    o.status = Failed;
    o.message = "a process sent what cannot be read";
    return o;
  }
  o.status = Status(status);
  o.message = s.substr(std::min(s.size(), size_t(used) + 1));
  return o;
}

struct CaseRunner::Opened {
  std::string spec;
  std::unique_ptr<Device> device;
};
CaseRunner::CaseRunner(const Suite &suite) : suite_(suite) {}
CaseRunner::~CaseRunner() = default;

Outcome CaseRunner::expect(const Case &c, Instance &in, Expectation &e) {
  Outcome r;
  auto start = std::chrono::steady_clock::now();
  auto failed = [&](const std::string &why) {
    r.status = Outcome::Failed;
    r.message = why;
    r.ms = millisecondsSince(start);
    return r;
  };
  auto made = instantiate(suite_, c);
  if (!made.ok()) return failed(std::string(made.status().message()));
  in = std::move(*made);
  for (size_t i = 0; i < in.names.size(); ++i) in.names[i].data = in.contents[i].data();
  std::vector<std::vector<uint8_t>> interpreted;
  start = std::chrono::steady_clock::now();
  if (auto s = interpretCase(in, interpreted); !s.ok()) return failed(std::string(s.message()));
  r.ms = millisecondsSince(start);
  // The formulas' results, and the bounds: both know the buffers as they were before the launch.
  e.contents = interpreted;
  e.bounds.assign(interpreted.size(), {});
  Expectation wanted = e;
  for (auto &o : in.outputs) {
    auto &arg = in.launch.args[o.arg];
    unsigned bytes = dtypeBytes(arg.dtype);
    auto &bounds = e.bounds[o.arg];
    bounds.assign(arg.elements(), 0);
    for (int64_t i = 0; i < arg.elements(); ++i) {
      auto at = indices(i, arg.shape);
      at.resize(o.variables.size());
      if (o.want) {
        auto v = o.want->evaluate(at, in.names);
        if (!v.ok()) return failed("the formula of '" + arg.name + "': " + std::string(v.status().message()));
        store(arg.dtype, *v, &wanted.contents[o.arg][i * bytes]);
      }
      if (!o.within) continue;
      double scale = std::abs(elementAt(arg.dtype, &wanted.contents[o.arg][i * bytes]).asReal());
      auto units = o.within->evaluate(at, in.names);
      auto of = o.of ? o.of->evaluate(at, in.names) : absl::StatusOr<Number>(Number::ofReal(0));
      if (!units.ok() || !of.ok())
        return failed("the bound of '" + arg.name +
                      "': " + std::string((units.ok() ? of.status() : units.status()).message()));
      if (std::isfinite(of->asReal())) scale = std::max(scale, std::abs(of->asReal()));
      bounds[i] = units->asReal() * unitInLastPlace(arg.dtype, scale);
    }
  }
  wanted.bounds = e.bounds;
  compareOutputs(in, interpreted, wanted, "the formula", r);
  return r;
}

Outcome CaseRunner::run(const Case &c, const DeviceName &name, bool &faulted) {
  if (current_ != c.name) {
    current_ = c.name;
    instance_ = {};
    expectation_ = {};
    interpreted_ = expect(c, instance_, expectation_);
  }
  if (name.isInterpreter()) return interpreted_;
  Outcome r;
  auto failed = [&](const std::string &why) {
    r.status = Outcome::Failed;
    r.message = why;
    return r;
  };
  if (expectation_.contents.empty()) return failed("nothing to compare with: " + interpreted_.message);
  auto target = requireTarget(name.target);
  if (!target.ok()) return failed(std::string(target.status().message()));
  if (instance_.lanes && instance_.lanes != (*target)->warpSize) {
    r.status = Outcome::NotMeant;
    return r;
  }
  if (auto why = instance_.whyNot(name.target); !why.empty()) {
    r.status = Outcome::Skipped;
    r.message = why;
    return r;
  }
  Device *device = nullptr;
  for (auto &o : opened_)
    if (o->spec == name.spec) device = o->device.get();
  if (!device) {
    llvm::StringRef spec(name.spec);
    auto opened = spec.consume_front("emulator:") ? openEmulator(spec, {}) : openDevice(name.spec);
    if (!opened.ok()) return failed(std::string(opened.status().message()));
    device = opened->get();
    opened_.push_back(std::make_unique<Opened>(Opened{name.spec, std::move(*opened)}));
  }
  auto start = std::chrono::steady_clock::now();
  ir::Context context;
  std::string why;
  auto m = parse(instance_, context, why);
  if (!m) return failed(why);
  CompileOptions o;
  o.numWarps = instance_.launch.numWarps;
  o.exactNumWarps = true; // cases name numbers of warps to test them
  o.numStages = instance_.launch.numStages;
  if (device->takesBitcode()) {
    o.stage = Stage::Llir;
    o.bitcode = o.lineInfo = o.opNames = true;
  }
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { why += (why.empty() ? "" : "\n") + ir::render(d); });
  auto object = compile(*m, **target, o, diag);
  if (absl::IsNotFound(object.status()) && why.empty()) { // a part of the vendor's toolkit is not installed
    r.status = Outcome::Skipped;
    r.message = std::string(object.status().message());
    return r;
  }
  if (!object.ok()) return failed("does not compile: " + joined(why, object.status()));
  auto args = argumentsOf(instance_);
  auto values = args.values();
  auto s = device->run(object->output, object->metadata, instance_.launch.grid, values, 0, nullptr);
  r.ms = millisecondsSince(start);
  if (!s.ok()) {
    faulted = name.isGpu();
    return failed(std::string(s.message()));
  }
  compareOutputs(instance_, args.buffers, expectation_, "the interpreter's", r);
  return r;
}

absl::Status dumpCase(const Suite &suite, const Case &c, const std::string &folder) {
  CaseRunner runner(suite);
  Instance in;
  Expectation e;
  auto r = runner.expect(c, in, e);
  if (e.contents.empty()) return absl::InvalidArgumentError(c.name + ": " + r.message);
  if (auto ec = llvm::sys::fs::create_directories(folder)) return absl::UnavailableError(folder + ": " + ec.message());
  auto write = [&](const std::string &name, llvm::StringRef text) -> absl::Status {
    std::error_code ec = ir::writeFile(folder + "/" + name, text);
    return ec ? absl::UnavailableError(folder + "/" + name + ": " + ec.message()) : absl::OkStatus();
  };
  ir::Context context;
  std::string why;
  auto m = parse(in, context, why);
  if (!m) return absl::InvalidArgumentError(why);
  if (auto s = write("kernel.mlir", ir::printToString(*m, {.locations = false})); !s.ok()) return s;
  llvm::json::Array args;
  llvm::json::Object expected;
  for (size_t i = 0; i < in.launch.args.size(); ++i) {
    auto &a = in.launch.args[i];
    if (a.isScalar) {
      llvm::json::Object o{{"name", a.name}, {"type", a.scalarType}};
      if (parseDType(a.scalarType) && isFloat(*parseDType(a.scalarType)))
        o["scalar"] = a.floatValue;
      else
        o["scalar"] = a.intValue;
      args.push_back(std::move(o));
      continue;
    }
    auto &shape = a.descriptor ? a.descriptor->shape : a.shape;
    llvm::json::Object o{{"name", a.name}, {"dtype", dtypeName(a.dtype)}, {"shape", llvm::json::Array(shape)}};
    if (a.descriptor) {
      o["block_shape"] = llvm::json::Array(a.descriptor->blockShape);
      o["strides"] = llvm::json::Array(a.descriptor->strides);
      o["padding"] = a.descriptor->nanPadding ? "nan" : "zero";
    }
    if (llvm::all_of(in.contents[i], [](uint8_t b) { return b == 0xFF; }))
      o["fill"] = "poison";
    else {
      o["file"] = a.name + ".npy";
      if (auto s = writeNpy(folder + "/" + a.name + ".npy", a.dtype, shape,
                            described(a, in.contents[i], dtypeBytes(a.dtype)));
          !s.ok())
        return s;
    }
    args.push_back(std::move(o));
  }
  for (auto &o : in.outputs) {
    if (o.kind != Output::Compared) continue; // no description says "in any order"
    auto &a = in.launch.args[o.arg];
    std::string file = a.name + ".expected.npy", within = a.name + ".within.npy";
    auto &bounds = e.bounds[o.arg];
    auto *bytes = reinterpret_cast<const uint8_t *>(bounds.data());
    auto &shape = a.descriptor ? a.descriptor->shape : a.shape;
    auto want = described(a, e.contents[o.arg], dtypeBytes(a.dtype));
    auto tolerances = described(a, llvm::ArrayRef(bytes, bounds.size() * sizeof(double)), sizeof(double));
    if (auto s = writeNpy(folder + "/" + file, a.dtype, shape, want); !s.ok()) return s;
    if (auto s = writeNpy(folder + "/" + within, DType::F64, shape, tolerances); !s.ok()) return s;
    expected[std::to_string(o.arg)] = llvm::json::Object{{"file", file}, {"within", within}};
  }
  llvm::json::Object launch{{"ttir", "kernel.mlir"},
                            {"grid", llvm::json::Array{in.launch.grid[0], in.launch.grid[1], in.launch.grid[2]}},
                            {"num_warps", in.launch.numWarps},
                            {"num_stages", in.launch.numStages},
                            {"args", std::move(args)},
                            {"expected", std::move(expected)}};
  return write("launch.json", llvm::formatv("{0:2}\n", llvm::json::Value(std::move(launch))).str());
}

} // namespace tessera::conformance
