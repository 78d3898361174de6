// What allocate-shared-memory reports (see shared_memory_remarks.h).
#include "transforms/memory/shared_memory_remarks.h"
#include "ir/tensor_queries.h"
#include "layouts/conversion_plan.h"
#include "transforms/memory/scratch.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace tessera::transforms {
using namespace ir;

namespace {

constexpr size_t kBuffersInError = 6; // that the error about too much shared memory names

std::string describeBuffer(const SharedBuffer &b) {
  return llvm::formatv("'{0}' needs {1} bytes of shared memory ({2})", b.op->name(), b.bytes, describe(b.op->loc()));
}

bool holdsMbarriers(Value buffer) {
  return llvm::any_of(buffer.users(), [](Operation *u) {
    return u->is<ttng::InitBarrierOp>() || (u->is<ttg::MemdescIndexOp>() && holdsMbarriers(u->result()));
  });
}

/// What a buffer is for.
std::string purposeOf(const SharedBuffer &b) {
  if (auto alloc = b.op->dyn<ttg::LocalAllocOp>())
    return (holdsMbarriers(alloc.result()) ? "mbarriers of type " : "buffer of type ") + alloc.result().type().str();
  return scratchPurpose(b.op);
}

Remark bufferRemark(tt::FuncOp func, const SharedBuffer &b, const BufferLifetimes &lifetimes) {
  Operation *first = lifetimes.operation(b.from);
  Operation *last = lifetimes.operation(b.to);
  auto at = [](llvm::StringRef word, Operation *op) {
    return llvm::formatv("{0} '{1}' ({2})", word, op->name(), describe(op->loc())).str();
  };
  std::string lifetime = first == b.op ? "live " : at("live from", first) + " ";
  lifetime += last == b.op ? "during the operation" : at("until", last);
  std::string purpose = purposeOf(b);
  llvm::json::Object facts{{"function", func.symName().str()},
                           {"operation", b.op->name()},
                           {"bytes", b.bytes},
                           {"alignment", b.alignment},
                           {"offset", b.offset},
                           {"purpose", purpose},
                           {"first", describe(first->loc())},
                           {"firstOperation", first->name()},
                           {"firstNumber", int64_t(b.from)},
                           {"last", describe(last->loc())},
                           {"lastOperation", last->name()},
                           {"lastNumber", int64_t(b.to)}};
  std::string where;
  if (b.partition) {
    // Which ttg.warp_specialize, since a function may have several.
    facts["warpSpecialize"] = describe(b.partition.op->loc());
    facts["partition"] = b.partition.index;
    where = b.partition.hasOwnWarps() ? llvm::formatv(" in partition {0}", b.partition.index).str()
                                      : std::string(" in the default partition");
  }
  return {Remark::Analysis,
          "",
          "SharedMemoryBuffer",
          b.op,
          llvm::formatv("'{0}'{1} takes {2} bytes of shared memory at offset {3}, aligned to {4}, {5}: {6}",
                        b.op->name(), where, b.bytes, b.offset, b.alignment, lifetime, purpose)
              .str(),
          std::move(facts)};
}

std::optional<Remark> conversionRemark(const SharedBuffer &b, const TargetInfo &target) {
  auto convert = b.op->dyn<ttg::ConvertLayoutOp>();
  if (!convert) return std::nullopt;
  auto from = tensorOf(convert.src());
  auto to = tensorOf(convert.result());
  auto &source = from.encoding()->layoutOf(from.shape());
  auto &destination = to.encoding()->layoutOf(to.shape());
  if (!source.ok() || !destination.ok()) return std::nullopt;
  auto plan = layouts::planConversion(*source, *destination, std::max<int64_t>(8, from.element().bitWidth()),
                                      target.memoryModel(), planOptionsOf(b.op, target));
  if (!plan.ok()) return std::nullopt;
  std::string repetitions =
      plan->repetitions > 1 ? llvm::formatv(" in {0} repetitions", plan->repetitions).str() : std::string();
  return Remark{Remark::Analysis,
                "",
                "LayoutConversion",
                b.op,
                llvm::formatv("a conversion of {0} goes through {1} bytes of shared memory{2}; bank conflicts: writes "
                              "{3}-way, reads {4}-way",
                              from.str(), b.bytes, repetitions, plan->writeConflicts, plan->readConflicts)
                    .str(),
                llvm::json::Object{{"bytes", b.bytes},
                                   {"writeConflicts", plan->writeConflicts},
                                   {"readConflicts", plan->readConflicts},
                                   {"repetitions", plan->repetitions}}};
}

} // namespace

void remarkSharedMemory(tt::FuncOp func, llvm::ArrayRef<SharedBuffer> buffers, const BufferLifetimes &lifetimes,
                        int64_t size, const PassContext &c) {
  for (auto &b : buffers) {
    c.remark(bufferRemark(func, b, lifetimes));
    if (auto conversion = conversionRemark(b, *c.target)) c.remark(std::move(*conversion));
  }
  c.remark({Remark::Analysis, "", "SharedMemory", func->loc(),
            llvm::formatv("'{0}' takes {1} of the {2} bytes of shared memory that a block of {3} can have",
                          func.symName(), size, c.target->sharedMemoryPerBlock, c.target->name)
                .str(),
            llvm::json::Object{{"bytes", size}, {"available", c.target->sharedMemoryPerBlock}}});
}

void reportTooMuchSharedMemory(tt::FuncOp func, llvm::ArrayRef<SharedBuffer> buffers, int64_t size, PassContext &c) {
  Diagnostic d;
  d.loc = func->loc();
  d.message = llvm::formatv("kernel '{0}' needs {1} bytes of shared memory, but a block on {2} has {3}", func.symName(),
                            size, c.target->name, c.target->sharedMemoryPerBlock);
  std::vector<SharedBuffer> largest(buffers.begin(), buffers.end());
  std::stable_sort(largest.begin(), largest.end(), [](auto &a, auto &b) { return a.bytes > b.bytes; });
  if (largest.size() > kBuffersInError) largest.resize(kBuffersInError, largest.front());
  for (auto &b : largest) d.note(describeBuffer(b)).loc = b.op->loc();
  c.diagnostics.report(std::move(d));
}

} // namespace tessera::transforms
