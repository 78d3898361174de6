// One case on one device: evaluated by the interpreter, compiled for the device and run there, compared.
//
// The interpreter's results are held against the formulas of the kernel, and a device's against the interpreter's.
// The error of an element is counted in units in the last place of the output's type at the larger of the expected
// value and the value that the kernel's `within … of` names; integers and outputs without `within` must agree
// exactly, except that any NaN is as good as another and 0 as -0.
#pragma once
#include "conformance/suite.h"
#include "runtime/emulator/emulator.h"
#include <string>
#include <vector>

namespace tessera::conformance {

struct Outcome {
  enum Status : uint8_t {
    Passed,
    Failed,
    Skipped,
    NotMeant
  } status = Passed;            // NotMeant: the text is for other devices
  double ulp = 0, relative = 0; // the largest error of an element
  double ms = 0;                // evaluating, or compiling and running
  std::string message;          // of what did not pass

  std::string encode() const;
  static Outcome decode(const std::string &);
};

/// The allowed error of every element of an output, by argument; empty where none is.
struct Expectation {
  std::vector<std::vector<uint8_t>> contents; // by argument
  std::vector<std::vector<double>> bounds;    // 0: exact
};

/// A device as the command line names it, with its target ("" for the interpreter), opened where it is first used.
struct DeviceName {
  std::string spec, target;
  std::string description = ""; // of a GPU: its name, memory, and the driver
  bool isInterpreter() const { return spec == "interpreter"; }
  bool isGpu() const { return spec != "interpreter" && spec.compare(0, 9, "emulator:"); }
};

class CaseRunner {
public:
  /// The suite outlives the runner.
  explicit CaseRunner(const Suite &suite);
  ~CaseRunner();

  /// `faulted` is set if the device cannot be trusted with further runs by this process.
  Outcome run(const Case &, const DeviceName &, bool &faulted);
  /// What the interpreter gives and by how much it may be missed; the outcome is that of the interpreter.
  Outcome expect(const Case &, Instance &, Expectation &);

private:
  struct Opened;
  const Suite &suite_;
  std::vector<std::unique_ptr<Opened>> opened_;
  // The case at hand, which runs on one device after the other.
  std::string current_;
  Instance instance_;
  Expectation expectation_;
  Outcome interpreted_;
};

/// Writes a case as files that `tessera run FOLDER/launch.json --check` takes: kernel.mlir, the contents of the
/// buffers, what must come out and by how much it may be missed.
absl::Status dumpCase(const Suite &, const Case &, const std::string &folder);

} // namespace tessera::conformance
