// Small kernels from assembly: assembled and linked by LLVM, then executed.
#pragma once
#include "absl/status/statusor.h"
#include "runtime/code_object/execute.h"
#include <array>
#include <string>
#include <vector>

namespace tessera::testing {

struct AssembledOptions {
  unsigned ldsBytes = 0, scratchBytes = 0;
  bool flushDenormals = false; // MODE: of f32
  bool hasWaves64 = false;     // on RDNA; gfx9 has no others
};

/// The hsaco of a kernel `k`, whose s[0:1] is the address of its 8 bytes of arguments. 64 VGPRs, 64 AGPRs where the
/// target has them, 64 SGPRs; v0 has the work-item's number. `body` must end the program.
absl::StatusOr<std::string> assembleObject(const std::string &target, const std::string &body,
                                           const AssembledOptions & = {});

/// Lanes of registers.
using Lanes = std::array<uint32_t, 64>;

/// Executes `body` in one wave. v1 to v4 have the inputs, and v8 and v9 are returned.
absl::StatusOr<std::array<Lanes, 2>> runLanes(const std::string &target, const std::string &body,
                                              const std::array<Lanes, 4> &inputs, const AssembledOptions & = {});

/// The same with one value for all lanes: lane 0's v8.
uint32_t runOne(const std::string &target, const std::string &body, std::array<uint32_t, 4> inputs = {},
                const AssembledOptions & = {});

/// Executes a whole kernel on a buffer, whose address is at the start of its arguments.
absl::StatusOr<code_object::Trace> runBody(const std::string &target, const std::string &body,
                                           std::vector<uint8_t> &buffer, const code_object::Grid &,
                                           const AssembledOptions & = {}, const code_object::ExecuteOptions & = {});

} // namespace tessera::testing
