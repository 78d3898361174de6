// What trials have in common (see trials.h).
#include "runtime/compiler/trials.h"

namespace tessera::runtime {

CompileOptions unobserved(const CompileOptions &o) {
  CompileOptions quiet = o;
  quiet.passes = {};
  quiet.passes.skip = o.passes.skip;
  quiet.passes.bisectLimit = o.passes.bisectLimit;
  return quiet;
}

double milliseconds(const CompileResult &r) {
  double sum = 0;
  for (auto &[stage, ms] : r.metadata.compileMs) sum += ms;
  return sum;
}

} // namespace tessera::runtime
