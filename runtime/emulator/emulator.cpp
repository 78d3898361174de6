// A launch: memory, arguments, decoding, and what is reported at the end. The blocks run in blocks.cpp.
//
// Blocks that have nothing to do with each other may run on several host threads (runInParallel). That they have not
// is not believed but checked: every thread keeps its own record of who accessed what; if two threads accessed a byte
// that one of them wrote, or anything was found wrong, buffers are put back as they were and the blocks run one after
// the other.
#include "runtime/emulator/emulator.h"
#include "runtime/compiler/targets.h"
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/blocks.h"
#include "runtime/emulator/decode.h"
#include "runtime/emulator/matrix.h"
#include "runtime/emulator/registers_live.h"
#include "runtime/emulator/tensor_map.h"
#include "runtime/emulator/unwritten_trials.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <thread>

namespace tessera::emulator {

namespace {

Region sameMemory(const Region &r) {
  Region s;
  s.name = r.name;
  s.data = r.data;
  s.base = r.base;
  s.bytes = r.bytes;
  s.undefined = r.undefined;
  s.readOnly = r.readOnly;
  s.holdsTensorMaps = r.holdsTensorMaps;
  return s;
}

/// The launch with nothing run yet, on the same memory.
std::unique_ptr<Launch> sameLaunch(const Launch &launch) {
  auto p = std::make_unique<Launch>();
  p->program = launch.program;
  p->options = launch.options;
  p->checks = launch.checks;
  p->grid = launch.grid;
  for (auto &r : launch.buffers) p->buffers.push_back(sameMemory(r));
  for (auto &r : launch.constants) p->constants.push_back(sameMemory(r));
  p->sites.resize(launch.sites.size());
  p->executed.resize(launch.executed.size());
  return p;
}

/// Whether two threads accessed a byte that one of them wrote.
bool shareWrites(const std::vector<std::unique_ptr<Launch>> &parts) {
  for (size_t b = 0; b < parts[0]->buffers.size(); ++b) {
    size_t pages = 0;
    for (auto &p : parts) pages = std::max(pages, p->buffers[b].shadow.size());
    for (size_t page = 0; page < pages; ++page) {
      llvm::SmallVector<const ShadowPage *, 8> seen;
      unsigned granule = kLargestGranule;
      for (auto &p : parts)
        if (auto &shadow = p->buffers[b].shadow; page < shadow.size() && shadow[page].cells)
          seen.push_back(&shadow[page]), granule = std::min<unsigned>(granule, shadow[page].granule);
      if (seen.size() < 2) continue;
      for (unsigned k = 0; k < kShadowPage; k += granule) {
        unsigned writers = 0, others = 0;
        for (auto *p : seen) {
          const GlobalCell &c = p->cells[k / p->granule];
          if (c.write.stamp || c.touched)
            ++writers;
          else if (c.read.stamp)
            ++others;
        }
        if (writers && writers + others > 1) return true;
      }
    }
  }
  return false;
}

/// Runs the blocks on several threads; false if they must run one after the other, with everything as it was.
bool runInParallel(Launch &launch, const std::vector<uint64_t> &arguments) {
  uint64_t total = uint64_t(launch.grid[0]) * uint64_t(launch.grid[1]) * uint64_t(launch.grid[2]);
  unsigned threads = unsigned(std::min<uint64_t>(uint64_t(std::max(1, launch.options->threads)), total));
  // Without the record of accesses it is unknown whether the order mattered.
  if (threads < 2 || launch.program->blocksInteract || !launch.checks.races) return false;
  for (auto &r : launch.buffers)
    if (r.bytes > kMaxShadowed) return false;
  for (auto &r : launch.constants)
    if (!r.readOnly) return false;
  MemoryContents before(launch);
  std::vector<std::unique_ptr<Launch>> parts;
  for (unsigned k = 0; k < threads; ++k) parts.push_back(sameLaunch(launch));
  std::atomic<uint64_t> next{0};
  std::atomic<bool> sound{true};
  std::vector<std::thread> workers;
  for (auto &p : parts)
    workers.emplace_back([&, part = p.get()] {
      if (!runBlocks(*part, arguments, next).ok()) { // nobody need begin another
        sound = false;
        next = total;
      }
    });
  for (auto &t : workers) t.join();
  if (!sound || shareWrites(parts)) {
    before.restore();
    return false;
  }
  launch.report.threads = threads;
  for (auto &p : parts) {
    launch.report.instructions += p->report.instructions;
    for (auto [to, from] : llvm::zip(launch.executed, p->executed)) to |= from;
    for (auto [to, from] : llvm::zip(launch.sites, p->sites)) {
      if (!from.executed) continue;
      if (!to.executed) {
        to.operation = from.operation;
        to.where = from.where;
        to.kind = from.kind;
        to.bytesPerLane = from.bytesPerLane;
      }
      to.executed += from.executed, to.lanes += from.lanes, to.transactions += from.transactions,
          to.leastPossible += from.leastPossible;
    }
  }
  return true;
}

} // namespace

static absl::Status checkGridSize(std::array<int64_t, 3> grid) {
  constexpr int64_t kMaxBlocks = int64_t(1) << 31;
  for (int64_t n : grid)
    if (n < 1 || n > kMaxBlocks)
      return absl::InvalidArgumentError(
          llvm::formatv("the grid's size along a dimension must be from 1 to 2^31, not {0}", n).str());
  if (grid[0] * grid[1] > kMaxBlocks || grid[0] * grid[1] * grid[2] > kMaxBlocks)
    return absl::InvalidArgumentError("the grid has more than 2^31 blocks");
  return absl::OkStatus();
}

static void addBuffer(Launch &launch, std::string name, uint8_t *data, size_t bytes, uint8_t *undefined = nullptr) {
  Region r;
  r.name = std::move(name);
  r.data = data;
  r.bytes = bytes;
  r.undefined = undefined;
  r.base = kGlobalBase + kGlobalStride * launch.buffers.size();
  launch.buffers.push_back(std::move(r));
}

/// What AMD kernels find after their arguments (code object V5): counts of blocks, then sizes of a block.
struct ImplicitArguments {
  uint32_t blocks[3];
  uint16_t size[3];
  uint16_t remainder[3];
  uint8_t rest[232];
};

static void addImplicitArguments(Launch &launch, ImplicitArguments &implicit, unsigned threads) {
  for (size_t k = 0; k < 3; ++k) {
    implicit.blocks[k] = uint32_t(launch.grid[k]);
    implicit.size[k] = k ? 1 : uint16_t(threads);
  }
  Region r;
  r.name = "implicit arguments";
  r.data = reinterpret_cast<uint8_t *>(&implicit);
  r.bytes = sizeof implicit;
  r.readOnly = true;
  r.base = kConstantBase;
  launch.constants.push_back(std::move(r));
}

/// The bits of the given arguments. Tensor maps get memory (`maps`), of which the kernel takes the addresses.
static std::vector<uint64_t> argumentBits(Launch &launch, const std::vector<Argument> &arguments,
                                          std::vector<uint8_t> &maps) {
  uint64_t base = kConstantBase + kConstantStride * launch.constants.size();
  std::vector<uint64_t> values;
  for (auto &a : arguments) {
    uint64_t bits = a.buffer >= 0 ? launch.buffers[size_t(a.buffer)].base + a.bits : a.bits;
    if (a.tensorMap) {
      auto encoded = encodeTensorMap(*a.tensorMap, bits);
      bits = base + maps.size();
      maps.insert(maps.end(), encoded.begin(), encoded.end());
    }
    values.push_back(bits);
  }
  if (maps.empty()) return values;
  Region r;
  r.name = "tensor maps of the arguments";
  r.data = maps.data();
  r.bytes = maps.size();
  r.readOnly = r.holdsTensorMaps = true;
  r.base = base;
  launch.constants.push_back(std::move(r));
  return values;
}

/// Counts the live registers of the blocks that were executed.
static absl::Status countRegisters(Launch &launch, llvm::Module &module, const std::string &kernel,
                                   const ir::TargetInfo &target) {
  std::vector<const llvm::BasicBlock *> executed;
  for (auto [block, ran] : llvm::zip(launch.program->blocks, launch.executed))
    if (ran) executed.push_back(block.terminator->getParent());
  auto analyse = [&](llvm::TargetMachine &machine) {
    launch.report.live = registersLive(*module.getFunction(kernel), executed, target, machine);
  };
  return runtime::createBackend(*runtime::findArch(target.name), {})->withMachine(analyse);
}

absl::StatusOr<Report> emulate(llvm::Module &module, const std::string &kernel, const ir::TargetInfo &target,
                               std::array<int64_t, 3> grid, std::vector<Buffer> &buffers,
                               const std::vector<Argument> &arguments, const Options &options) {
  if (auto s = checkGridSize(grid); !s.ok()) return s;
  Launch launch;
  launch.options = &options;
  launch.checks = options.checks;
  launch.grid = grid;
  for (Buffer &b : buffers) addBuffer(launch, b.name, b.data, b.bytes, b.undefined);
  std::vector<uint8_t> scratch;
  if (options.globalScratchBytes) {
    uint64_t align = std::max<int64_t>(1, options.globalScratchAlign);
    uint64_t ofBlock = (uint64_t(options.globalScratchBytes) + align - 1) / align * align;
    scratch.resize(ofBlock * uint64_t(grid[0] * grid[1] * grid[2]));
    addBuffer(launch, "global scratch", scratch.data(), scratch.size());
  }
  ImplicitArguments implicit{};
  addImplicitArguments(launch, implicit, unsigned(options.numWarps * target.warpSize));
  std::vector<uint8_t> tensorMaps;
  std::vector<uint64_t> values = argumentBits(launch, arguments, tensorMaps);

  size_t ofArguments = launch.constants.size();
  Decoder decoder(module, target);
  auto program = decoder.run(kernel, launch);
  struct Constants { // the decoder's, after those of the arguments
    Launch &l;
    size_t first;
    ~Constants() {
      for (size_t k = first; k < l.constants.size(); ++k) delete[] l.constants[k].data;
    }
  } constants{launch, ofArguments};
  if (!program.ok()) return program.status();
  launch.program = program->get();
  if (options.counters) {
    launch.sites.resize((*program)->instructions.size());
    launch.executed.resize((*program)->blocks.size());
  }

  // The two hidden pointers.
  values.push_back(options.globalScratchBytes ? launch.buffers.back().base : 0);
  values.push_back(0);
  if (values.size() != (*program)->arguments.size())
    return absl::InvalidArgumentError(llvm::formatv("kernel '{0}' takes {1} arguments, but {2} are given", kernel,
                                                    (*program)->arguments.size(), values.size())
                                          .str());
  auto run = [&](Launch &l) -> absl::Status {
    if (runInParallel(l, values)) return absl::OkStatus();
    std::atomic<uint64_t> next{0};
    return runBlocks(l, values, next);
  };
  if (auto s = runWithTrials(launch, [&] { return sameLaunch(launch); }, run); !s.ok()) return s;
  for (auto &s : launch.sites)
    if (s.executed) launch.report.sites.push_back(std::move(s));
  if (options.counters)
    if (auto s = countRegisters(launch, module, kernel, target); !s.ok()) return s;
  return std::move(launch.report);
}

std::string knownForms() {
  std::string out;
  auto table = [&](const char *title, llvm::ArrayRef<IntrinsicRow> rows) {
    out += std::string("### ") + title + "\n| intrinsic | manual |\n|---|---|\n";
    // A line per section, or several: long cells are hard to read.
    constexpr size_t kWidest = 400;
    std::vector<std::pair<std::string, std::string>> lines;
    for (auto &r : rows) {
      std::string name = std::string("`") + r.name + "`";
      if (!lines.empty() && lines.back().second == r.section && lines.back().first.size() + name.size() < kWidest)
        lines.back().first += " " + name;
      else
        lines.push_back({name, r.section});
    }
    for (auto &[names, section] : lines) out += "| " + names + " | " + section + " |\n";
    out += "\n";
  };
  table("LLVM's own", llvmIntrinsics());
  table("NVIDIA", nvidiaIntrinsics());
  table("AMD", amdIntrinsics());
  table("AMD, lanes", amdLaneIntrinsics());
  table("AMD, matrices", amdMatrixIntrinsics());
  out += "### Inline PTX\n| form | manual |\n|---|---|\n";
  for (auto &f : ptxForms()) out += std::string("| `") + f.form + "` | " + f.section + " |\n";
  return out;
}

} // namespace tessera::emulator
