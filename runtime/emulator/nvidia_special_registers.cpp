// NVIDIA's special registers, read by an intrinsic or by inline PTX. Source: "Parallel Thread Execution ISA" (PTX),
// Special Registers.
#include "runtime/emulator/block_operations.h"
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tessera::emulator {
using namespace llvm;

namespace {

void laneId(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned l) { return l; });
}
void warpId(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned) { return w.index; });
}
void warpCount(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned) { return w.block->warps.size(); });
}
void one(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned) { return 1; });
}
void blockSize(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned) { return w.block->warps.size() * w.lanes; });
}
template <int Axis> void blocks(Warp &w, const Instruction &i) {
  perLane(w, i, [&](unsigned) { return w.block->launch->grid[Axis]; });
}
template <unsigned Kind> void laneMask(Warp &w, const Instruction &i) { // eq lt le gt ge
  perLane(w, i, [&](unsigned l) -> uint32_t {
    uint64_t e = uint64_t(1) << l;
    return uint32_t(Kind == 0 ? e : Kind == 1 ? e - 1 : Kind == 2 ? e * 2 - 1 : Kind == 3 ? ~(e * 2 - 1) : ~(e - 1));
  });
}
/// As clock64 (block_operations.h), the low half.
void clock32(Warp &w, const Instruction &i) {
  ++w.block->launch->changes;
  perLane(w, i, [&](unsigned) { return w.block->launch->stamp + w.block->instructions; });
}

struct SpecialRegister {
  std::string name;
  Handler read;
  unsigned bytes = 4;
  bool isTime = false;
};
/// By the end of the intrinsic's name; PTX writes some of the dots as underscores. All blocks run on one
/// multiprocessor.
std::vector<SpecialRegister> makeSpecialRegisters() {
  std::vector<SpecialRegister> all = {
      {"laneid", laneId},
      {"warpid", warpId},
      {"nwarpid", warpCount},
      {"smid", zero},
      {"nsmid", one},
      {"lanemask.eq", laneMask<0>},
      {"lanemask.lt", laneMask<1>},
      {"lanemask.le", laneMask<2>},
      {"lanemask.gt", laneMask<3>},
      {"lanemask.ge", laneMask<4>},
      {"clock", clock32, 4, true},
      {"clock64", clock64, 8, true},
      {"globaltimer", clock64, 8, true},
      {"globaltimer.lo", clock32, 4, true},
      {"cluster.ctarank", zero},
  };
  auto addAxes = [&](const std::string &name, Handler x, Handler y, Handler z) {
    all.insert(all.end(), {{name + ".x", x}, {name + ".y", y}, {name + ".z", z}});
  };
  addAxes("tid", threadX, zero, zero);
  addAxes("ntid", blockSize, one, one);
  // Without clusters a cluster is one block.
  for (const char *name : {"ctaid", "clusterid"}) addAxes(name, blockId<0>, blockId<1>, blockId<2>);
  for (const char *name : {"nctaid", "nclusterid"}) addAxes(name, blocks<0>, blocks<1>, blocks<2>);
  return all;
}
const std::vector<SpecialRegister> &specialRegisters() {
  static const std::vector<SpecialRegister> all = makeSpecialRegisters();
  return all;
}
constexpr StringRef kPrefix = "llvm.nvvm.read.ptx.sreg.";
const SpecialRegister *find(StringRef name) {
  auto found = llvm::find_if(specialRegisters(), [&](auto &r) { return name == r.name; });
  return found == specialRegisters().end() ? nullptr : &*found;
}
void emitRead(Decoder &d, const SpecialRegister &r, Row to) {
  if (r.isTime) d.program().blocksInteract = true;
  d.emit(r.read, to);
}

} // namespace

static void decodeSpecialRegister(Decoder &d, CallInst &c) {
  emitRead(d, *find(c.getCalledFunction()->getName().drop_front(kPrefix.size())), d.defineFresh(&c)[0]);
}

bool emitSpecialRegister(Decoder &d, StringRef name, Row &row, unsigned &bytes) {
  std::string dotted = name.str();
  std::replace(dotted.begin(), dotted.end(), '_', '.');
  const SpecialRegister *r = find(dotted);
  if (!r) return false;
  row = d.fresh(bytes = r->bytes);
  emitRead(d, *r, row);
  return true;
}

ArrayRef<IntrinsicRow> nvidiaSpecialRegisters() {
  static const std::vector<std::string> names = [] { // they must outlive the table
    std::vector<std::string> all;
    for (auto &r : specialRegisters()) all.push_back((kPrefix + r.name).str());
    return all;
  }();
  static const std::vector<IntrinsicRow> rows = [] {
    std::vector<IntrinsicRow> all;
    for (auto &name : names) all.push_back({name.c_str(), "PTX, Special Registers", decodeSpecialRegister});
    return all;
  }();
  return rows;
}

} // namespace tessera::emulator
