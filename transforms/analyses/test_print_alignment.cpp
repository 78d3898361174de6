// Pass test-print-alignment: for tests, reports what AxisInfo knows of every result as a remark, in the words of
// triton-opt's pass of that name, so that the analysis is tested by text (one line in the test):
//
//   // expected-remark @below {{contiguity = [128], divisibility = [1073741824], constancy = [1],
//   //                          constant_value = <none>}}
//   %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
#include "transforms/analyses/axis_info.h"
#include "transforms/passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::transforms {
using namespace ir;

static std::string words(const AxisInfo &i) {
  auto list = [](llvm::ArrayRef<int64_t> v) {
    return "[" + llvm::join(llvm::map_range(v, [](int64_t x) { return std::to_string(x); }), ", ") + "]";
  };
  return llvm::formatv("contiguity = {0}, divisibility = {1}, constancy = {2}, constant_value = {3}",
                       list(i.contiguity), list(i.divisibility), list(i.constancy),
                       i.constant ? std::to_string(*i.constant) : "<none>");
}

absl::StatusOr<bool> testPrintAlignment(Module &m, PassContext &c) {
  AxisInfoAnalysis axis(m);
  m.op()->walk([&](Operation *op) {
    for (auto r : op->results()) {
      Diagnostic d;
      d.severity = Severity::Remark;
      d.message = words(axis.get(r));
      d.loc = op->loc();
      d.op = op;
      c.diagnostics.report(std::move(d));
    }
  });
  return false;
}

} // namespace tessera::transforms
