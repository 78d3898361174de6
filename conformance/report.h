// What came out of a run of the suite, as a table for terminals, as JSON, as a page and as text for an issue tracker.
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
  std::string versions;                       // of what ran

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
/// For a comment in an issue tracker (Markdown, at most kMarkdownBytes): versions and devices, the matrix, and as many
/// failures as fit.
std::string toMarkdown(const Report &);
inline constexpr size_t kMarkdownBytes = 60000; // GitHub accepts 65,536 characters
/// One file with everything in it: failures first, the matrix, and a table of all cases that can be sorted and
/// searched.
std::string toHtml(const Report &);

} // namespace tessera::conformance
