// What came out of a run of the suite, as a table for terminals, as JSON and as a page.
#pragma once
#include "conformance/run.h"
#include <string>
#include <vector>

namespace tessera::conformance {

struct Report {
  std::vector<DeviceName> devices;
  std::vector<Case> cases;
  std::vector<std::vector<Outcome>> outcomes; // by case, then device
  std::string program = "tessera";            // how the commands begin
  std::string coverage;                       // "--quick", "--all" or nothing
  std::vector<std::string> files;             // --kernels
  bool times = true;                          // false: leaves out what differs from run to run

  bool failed() const;
  /// The command that repeats one case on one device.
  std::string command(size_t c, size_t device) const;
  /// Commands that write the case as files and run these.
  std::string commandOnFiles(size_t c, size_t device) const;
};

/// Devices against features: cases passed, worst errors, time.
std::string matrix(const Report &);
/// Every failure with its message and command, in the order of cases.
std::string failures(const Report &);
std::string toJson(const Report &);
/// One file with everything in it: failures first, the matrix, and a table of all cases that can be sorted and
/// searched.
std::string toHtml(const Report &);

} // namespace tessera::conformance
