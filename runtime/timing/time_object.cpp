// From an object and a description to a time (see time_object.h).
#include "runtime/timing/time_object.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::timing {
using code_object::CodeObject;
using code_object::Grid;
using code_object::Kernel;
using runtime::LaunchDescription;

namespace {

absl::StatusOr<const Kernel *> kernelOf(const CodeObject &object, const LaunchDescription &d, const std::string &name) {
  std::string wanted = !name.empty() ? name : d.kernel;
  if (!wanted.empty())
    if (const Kernel *k = object.find(wanted)) return k;
  // A description names the kernel of a source, whose object may call it otherwise.
  if (name.empty() && object.kernels.size() == 1) return &object.kernels.front();
  std::string known;
  for (auto &k : object.kernels) absl::StrAppend(&known, known.empty() ? "" : ", ", k.name);
  return absl::InvalidArgumentError(wanted.empty()
                                        ? absl::StrCat("the object has several kernels, so --kernel is needed: ", known)
                                        : absl::StrCat("the object has no kernel '", wanted, "'; it has ", known));
}

absl::StatusOr<Grid> gridOf(const Kernel &k, const LaunchDescription &d, const TimeObjectOptions &options) {
  Grid g;
  for (unsigned i = 0; i < 3; ++i) {
    if (d.grid[i] < 1 || d.grid[i] > INT32_MAX)
      return absl::InvalidArgumentError(absl::StrCat(d.path, ": the grid has a size of ", d.grid[i]));
    g.workgroups[i] = uint32_t(d.grid[i]);
  }
  g.dynamicLdsBytes = options.dynamicLdsBytes;
  if (options.workItems)
    g.workItems = {options.workItems, 1, 1};
  else if (k.requiredWorkgroup[0])
    g.workItems = {k.requiredWorkgroup[0], k.requiredWorkgroup[1], k.requiredWorkgroup[2]};
  else
    g.workItems = {uint32_t(d.numWarps) * k.waveSize, 1, 1};
  return g;
}

} // namespace

absl::StatusOr<TimedObject> timeObject(const LaunchDescription &d, llvm::StringRef hsaco,
                                       const TimeObjectOptions &options) {
  auto object = code_object::readCodeObject(hsaco);
  if (!object.ok()) return object.status();
  auto machine = machineOf(object->target, options.time.machine);
  if (!machine.ok()) return machine.status();
  auto kernel = kernelOf(*object, d, options.kernel);
  if (!kernel.ok()) return kernel.status();
  auto grid = gridOf(**kernel, d, options);
  if (!grid.ok()) return grid.status();
  auto resident = occupancy(*machine, **kernel, *grid);
  if (!resident.ok()) return resident.status();

  Sample sample = sampleOf(*machine, *resident, *grid, options.time.sample);
  code_object::ObjectRunOptions run;
  run.kernel = (*kernel)->name;
  run.workItems = grid->workItems[0] * grid->workItems[1] * grid->workItems[2];
  run.dynamicLdsBytes = options.dynamicLdsBytes;
  run.check = run.keepBuffers = false; // only some workgroups are executed
  run.execute.workgroups = sample.all();
  // Others are executed if one of these waits for them.
  run.execute.isTraced = [&](auto &id) { return llvm::is_contained(run.execute.workgroups, id); };
  unsigned ofNeighbour = options.time.sample.neighbourInstructions;
  run.execute.stopsAfter = [&](auto &id) {
    return llvm::is_contained(sample.neighbours, id) ? uint64_t(ofNeighbour) : ~uint64_t(0);
  };
  // Traces of longer waves do not fit memory.
  run.execute.maxInstructionsPerWave = uint64_t(1) << 22;
  uint64_t all = run.execute.workgroups.size();
  if (options.progress) run.execute.progress = [&](uint64_t done) { return options.progress(done, all); };
  auto executed = code_object::runObject(d, hsaco, run);
  if (!executed.ok()) return executed.status();

  TimeOptions time = options.time;
  for (auto &a : d.args) time.bufferBytes += double(a.bytes());
  auto t = timeKernel(*machine, *resident, sample, executed->program, *grid, executed->trace, time);
  if (!t.ok()) return t.status();
  return TimedObject{*std::move(t), std::move(executed->program)};
}

} // namespace tessera::timing
