// Metadata as JSON (see metadata.h).
#include "runtime/metadata.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::runtime {

std::string toJson(const KernelMetadata &m) {
  llvm::json::Array args;
  for (auto &a : m.args) args.push_back(llvm::json::Object{{"name", a.name}, {"type", a.type}});
  std::string s;
  llvm::raw_string_ostream o(s);
  llvm::json::OStream j(o, 1);
  j.object([&] {
    j.attribute("kernel", m.kernel);
    j.attribute("target", m.target);
    j.attribute("num_warps", m.numWarps);
    j.attribute("num_ctas", m.numCtas);
    j.attribute("threads_per_warp", m.threadsPerWarp);
    j.attribute("threads_per_block", m.threadsPerBlock);
    j.attribute("cluster_dims", llvm::json::Array{m.clusterDims[0], m.clusterDims[1], m.clusterDims[2]});
    j.attribute("dynamic_shared_bytes", m.dynamicSharedBytes);
    j.attribute("static_shared_bytes", m.staticSharedBytes);
    j.attribute("global_scratch_bytes", m.globalScratchBytes);
    j.attribute("global_scratch_align", m.globalScratchAlign);
    j.attribute("args", std::move(args));
    j.attribute("registers", m.registers);
    j.attribute("spill_bytes", m.spillBytes);
    j.attribute("occupancy", m.occupancy);
    j.attributeObject("compile_ms", [&] {
      for (auto &[n, ms] : m.compileMs) j.attribute(n, ms);
    });
  });
  return s + "\n";
}

} // namespace tessera::runtime
