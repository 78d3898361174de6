// The autotuner (see tuner.h).
#include "runtime/debug/tuner.h"
#include "ir/context.h"
#include "runtime/launch/argument_data.h"
#include "runtime/launch/check.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>

namespace tessera::runtime {

double equalLimit(DType t) {
  switch (t) {
  case DType::F64: return 1e-12;
  case DType::F32: return 1e-5;
  case DType::F16: return 0x1p-10;
  case DType::BF16: return 0x1p-7;
  case DType::F8E3M4: return 0x1p-4;
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E4M3B11FNUZ:
  case DType::F8E4M3: return 0x1p-3;
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ: return 0x1p-2;
  case DType::I1:
  case DType::I8:
  case DType::U8:
  case DType::I16:
  case DType::U16:
  case DType::I32:
  case DType::U32:
  case DType::I64:
  case DType::U64:
  case DType::F8E8M0FNU: return 0;
  }
  llvm_unreachable("element type");
}

namespace {

class Tuner {
public:
  explicit Tuner(const TuneJob &job) : job_(job), target_(requireTarget(job.device.target())) {}

  std::vector<TuneMeasurement> run() {
    for (auto [i, c] : llvm::enumerate(job_.configurations)) {
      if (job_.progress) job_.progress(i);
      done_.emplace_back().configuration = c;
      objects_.emplace_back();
      measure(done_.back());
    }
    if (job_.progress) job_.progress(done_.size());
    return std::move(done_);
  }

private:
  void measure(TuneMeasurement &m) {
    CompileResult compiled;
    if (!compile(m, compiled)) return;
    m.metadata = compiled.metadata;
    for (size_t i = 0; i + 1 < done_.size(); ++i)
      if (objects_[i] == compiled.output && launchedAlike(done_[i].metadata, m.metadata)) {
        auto &same = done_[i];
        m.outcome = same.outcome == TuneMeasurement::Measured ? TuneMeasurement::SameCode : same.outcome;
        m.reason = same.reason;
        m.sameAs = i;
        m.medianMs = same.medianMs;
        m.minMs = same.minMs;
        m.instructions = same.instructions;
        return;
      }
    objects_.back() = compiled.output;

    LaunchArguments arguments = job_.arguments;
    auto values = arguments.values();
    LaunchTiming timing;
    auto s = job_.device.run(compiled.output, compiled.metadata, job_.description.grid, values,
                             job_.report ? 0 : job_.reps, &timing);
    if (!s.ok()) return end(m, TuneMeasurement::Failed, std::string(s.message()));
    m.medianMs = timing.medianMs;
    m.minMs = timing.minMs;
    if (job_.report) m.instructions = job_.report->instructions;
    if (std::string problem = compare(arguments); !problem.empty()) return end(m, TuneMeasurement::Wrong, problem);
  }

  static bool launchedAlike(const KernelMetadata &a, const KernelMetadata &b) {
    return a.threadsPerBlock == b.threadsPerBlock && a.dynamicSharedBytes == b.dynamicSharedBytes &&
           a.clusterDims == b.clusterDims;
  }

  static void end(TuneMeasurement &m, TuneMeasurement::Outcome outcome, const std::string &reason) {
    m.outcome = outcome;
    m.reason = reason;
  }

  bool compile(TuneMeasurement &m, CompileResult &out) {
    std::string first;
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) {
      if (d.severity == ir::Severity::Error && first.empty()) first = d.message;
    });
    CompileOptions o = m.configuration;
    if (!target_.ok()) {
      end(m, TuneMeasurement::NotCompiled, std::string(target_.status().message()));
      return false;
    }
    auto r = job_.cache.compile(job_.source, job_.sourcePath, nullptr, **target_, o, diag);
    if (!r.ok()) {
      end(m, TuneMeasurement::NotCompiled, first.empty() ? std::string(r.status().message()) : first);
      return false;
    }
    out = *std::move(r);
    // What the emulator executes has no registers yet: those of the machine code, where it can be made here.
    if (o.bitcode) {
      o.stage = Stage::Object;
      o.bitcode = o.lineInfo = o.opNames = false;
      auto object = job_.cache.compile(job_.source, job_.sourcePath, nullptr, **target_, o, diag);
      if (object.ok()) {
        out.metadata.known = object->metadata.known;
        out.metadata.registers = object->metadata.registers;
        out.metadata.spillBytes = object->metadata.spillBytes;
        out.metadata.occupancy = object->metadata.occupancy;
        out.metadata.staticSharedBytes = object->metadata.staticSharedBytes;
      }
    }
    return true;
  }

  /// Empty, or which output differs and how.
  std::string compare(const LaunchArguments &a) {
    auto &d = job_.description;
    for (auto &e : d.expected) {
      auto c = check(d, e, a.buffers[e.arg]);
      if (!c.ok()) return std::string(c.status().message());
      if (!c->ok) return c->line;
    }
    if (!d.expected.empty()) return "";
    if (!job_.right && first_.buffers.empty()) {
      first_ = a;
      return "";
    }
    auto &right = job_.right ? *job_.right : first_;
    for (auto [i, arg] : llvm::enumerate(d.args)) {
      if (arg.isScalar || a.buffers[i] == right.buffers[i]) continue;
      // What both leave the same is no difference, a NaN neither.
      auto actual = withoutGaps(arg, a.buffers[i]);
      auto expected = withoutGaps(arg, right.buffers[i]);
      unsigned width = dtypeBytes(arg.dtype);
      for (size_t at = 0; at + width <= actual.size(); at += width)
        if (isFloat(arg.dtype) && !std::memcmp(&actual[at], &expected[at], width) &&
            std::isnan(toDouble(arg.dtype, &actual[at])))
          std::memset(&actual[at], 0, width), std::memset(&expected[at], 0, width);
      auto c = compareArrays(arg.name, arg.dtype, arg.shape, actual, expected, equalLimit(arg.dtype));
      if (!c.ok) return c.line;
    }
    return "";
  }

  const TuneJob &job_;
  absl::StatusOr<const ir::TargetInfo *> target_;
  std::vector<TuneMeasurement> done_;
  std::vector<std::string> objects_; // of each; empty where another has the same or there is none
  LaunchArguments first_;
};

} // namespace

std::vector<TuneMeasurement> tune(const TuneJob &job) { return Tuner(job).run(); }

std::optional<size_t> best(llvm::ArrayRef<TuneMeasurement> all, bool byInstructions) {
  std::optional<size_t> best;
  auto cost = [&](const TuneMeasurement &m) { return byInstructions ? double(m.instructions) : m.medianMs; };
  for (auto [i, m] : llvm::enumerate(all))
    if (m.outcome == TuneMeasurement::Measured && (!best || cost(m) < cost(all[*best]))) best = i;
  return best;
}

} // namespace tessera::runtime
