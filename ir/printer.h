// Printing: Triton's textual form with layout and location aliases and SSA names as MLIR gives them, so that
// parse → print → parse is the identity and a dump of Triton's prints back as it was.
#pragma once
#include "ir/operation.h"

namespace llvm {
class raw_ostream;
}
namespace tessera::ir {

struct PrintOptions {
  bool locations = true;    // loc(...) with aliases; false prints none
  bool nameLocs = true;     // SSA names from name locations (`%offs_12`)
  bool genericForm = false; // every op in the generic form
};

void print(const Module &, llvm::raw_ostream &, const PrintOptions & = {});
std::string printToString(const Module &, const PrintOptions & = {});
/// One operation (with its regions, unless `skipRegions`) in its pretty form with the SSA names it has in its module;
/// what diagnostics show.
std::string printOperation(Operation *, const PrintOptions & = {.locations = false}, bool skipRegions = true);

} // namespace tessera::ir
