// Work done in child processes, so that a crash, an abort or an endless loop ends one piece of it and nothing else.
//
// A job has several parts, done in order by one process, which sends each part's result as text. When the process
// dies, or a part takes longer than the limit (the process is then killed), that part is reported as lost, and
// another process continues with the job's next part. The parent has no threads of its own: it starts processes with
// fork(), and waits.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace tessera::runtime {

struct IsolatedWork {
  size_t jobs = 0;
  int processes = 1;
  double limitSeconds = 60; // of one part
  /// How many parts a job has.
  std::function<size_t(size_t job)> parts;
  /// Runs in a child: does one part, gives its result. `renew`: the next part runs in a new process.
  std::function<std::string(size_t job, size_t part, bool &renew)> work;
  /// Runs in the parent, in any order of jobs.
  std::function<void(size_t job, size_t part, const std::string &result)> done;
  /// A part without a result: what happened ("killed by signal 11 (Segmentation fault)", "took longer than 60 s"),
  /// and the last that the process wrote to standard output and standard error.
  std::function<void(size_t job, size_t part, const std::string &what, const std::string &said)> lost;
};

/// Does all of it; the result is empty, or why no process could be started.
std::string runIsolated(const IsolatedWork &);

} // namespace tessera::runtime
