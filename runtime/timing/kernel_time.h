// The time of a whole kernel from the replay of a few of its workgroups on one compute unit.
//
// The steps: occupancy (how many workgroups a compute unit holds), a sample of the grid (the workgroups of one compute
// unit, and the beginning of its neighbours on the same die, whose lines say what L2 shares), the replay of the sample,
// and the sum over the workgroups that the busiest compute unit executes, the incomplete last ones included. The clock
// falls from its peak as far as the matrix units are busy (machine.def, matrixClockMHz).
#pragma once
#include "runtime/code_object/code_object.h"
#include "runtime/code_object/execute.h"
#include "runtime/timing/replay.h"

namespace tessera::timing {

struct Occupancy {
  unsigned wavesPerWorkgroup = 0;
  unsigned wavesByRegisters = 0; // of a SIMD
  unsigned workgroups = 0;       // resident on a compute unit
  const char *limit = "";        // what limits it: "registers", "LDS", "number of waves"
};
/// ResourceExhausted if not even one workgroup fits.
absl::StatusOr<Occupancy> occupancy(const Machine &, const code_object::Kernel &, const code_object::Grid &);

struct SampleOptions {
  unsigned workgroups = 0;  // on the replayed compute unit; 0: as many as are resident at a time
  unsigned neighbours = 31; // others of its die that are executed to find lines that several of them read
  /// Of each of their waves so many instructions. Lines that are read later are taken to have as many readers as those
  /// that the same instruction read before.
  unsigned neighbourInstructions = 4096;
};

/// Which workgroups are executed and replayed.
struct Sample {
  std::vector<code_object::WorkgroupId> replayed, neighbours;
  unsigned residentOnDie = 1; // workgroups at a time
  std::vector<code_object::WorkgroupId> all() const;
};
/// Workgroups are distributed over the dies one after the other, on a die over its compute units (machine.def, dies).
Sample sampleOf(const Machine &, const Occupancy &, const code_object::Grid &, const SampleOptions & = {});

struct KernelTime {
  Machine machine;
  Occupancy occupancy;
  Sample sample;
  CuReplay replay; // of the sample, with all compute units busy
  uint64_t workgroups = 0;
  unsigned fullBatches = 0;  // times that every compute unit executes as many workgroups as are resident
  unsigned lastResident = 0; // workgroups of the busiest compute unit after these
  Cycle batchCycles = 0, lastCycles = 0;
  double footprintBytes = 0; // of memory, all workgroups together
  double behindBytes = 0;    // fetched and written behind L2
  double matrixLoad = 0;     // part of the time that a matrix unit is busy, of all of the GPU
  double clockMHz = 0;       // at that load
  bool inCache = false;      // what is accessed is in the memory-side cache when the kernel starts
  double microseconds = 0;
  double computeMicroseconds = 0;   // by the replay
  double bandwidthMicroseconds = 0; // by what moves through the interfaces of memory and of the memory-side cache
};

struct TimeOptions {
  MachineOverrides machine;
  SampleOptions sample;
  size_t mostRecords = 0;
  /// Bytes of all buffers that the kernel's arguments point to; 0: not known. Bounds the footprint.
  double bufferBytes = 0;
  /// The buffers are in memory when the kernel starts; else in the memory-side cache, if they fit.
  bool cold = false;
};

/// `trace` has the sample's workgroups. Errors: those of replay(); InvalidArgument if the trace lacks a workgroup.
absl::StatusOr<KernelTime> timeKernel(const Machine &, const Occupancy &, const Sample &, const code_object::Program &,
                                      const code_object::Grid &, const code_object::Trace &, const TimeOptions & = {});

} // namespace tessera::timing
