// Kernels of one operation each, made from a table: every operation on values with every element type, on scalars and
// on tensors of 256 elements, each loading its operands from memory and storing its results. What they are for: no
// combination may be refused, crash LLVM or give another result than the interpreter's.
#pragma once
#include <string>
#include <vector>

namespace tessera::testing {

struct OneOperationKernel {
  std::string name;                   // "arith.addi_i32_tensor"
  std::string opcode;                 // "arith.addi"
  std::string text;                   // a module of TTIR with one kernel, @k
  std::vector<std::string> ins, outs; // element types of its buffers, inputs first
  bool scalar = false;                // one element per program; otherwise one program of 256 elements
  std::string domain;                 // which operands have a defined result ("shift", "divisor", …); empty: all
  int elements = 256;                 // of each buffer
};

std::vector<OneOperationKernel> oneOperationKernels();

} // namespace tessera::testing
