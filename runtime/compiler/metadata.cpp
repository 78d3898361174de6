// Metadata as JSON (see metadata.h).
#include "runtime/compiler/metadata.h"
#include "runtime/launch/json_reader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
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
    for (auto &option : kernelOptions()) j.attribute(option.key, m.*option.field);
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

absl::StatusOr<KernelMetadata> metadataFromJson(llvm::StringRef json, llvm::StringRef name) {
  JsonReader reader(json, name);
  JsonNode root = reader.root();
  KernelMetadata m;
  auto text = [](JsonNode n, std::string &out) {
    if (auto s = n.string()) out = *s;
  };
  auto number = [](JsonNode n, auto &out, int64_t lo, int64_t hi) {
    if (auto i = n.integer(lo, hi)) out = *i;
  };
  auto optional = [&](const char *key, auto &out, int64_t lo, int64_t hi) {
    if (auto n = root.get(key); n.present()) number(n, out, lo, hi);
  };
  if (root.present()) {
    text(root.get("kernel"), m.kernel);
    text(root.get("target"), m.target);
    for (auto &option : kernelOptions()) {
      bool isRequired = option.field == &KernelConfig::numWarps;
      JsonNode node = root.get(option.key);
      if (!node.present() && !isRequired) continue;
      number(node, m.*option.field, INT32_MIN, INT32_MAX);
      if (auto problem = option.problem(m.*option.field); !problem.empty()) node.error(problem);
    }
    number(root.get("threads_per_warp"), m.threadsPerWarp, 1, 64);
    if (!llvm::isPowerOf2_32(m.threadsPerWarp)) root.get("threads_per_warp").error("must be a power of two");
    number(root.get("threads_per_block"), m.threadsPerBlock, 1, 1024);
    if (auto n = root.get("cluster_dims"); n.present())
      for (auto [i, d] : llvm::enumerate(n.elements()))
        i < 3 ? number(d, m.clusterDims[i], 1, 16) : d.error("is one dimension too many");
    number(root.get("dynamic_shared_bytes"), m.dynamicSharedBytes, 0, 1 << 20);
    optional("static_shared_bytes", m.staticSharedBytes, 0, 1 << 20);
    optional("global_scratch_bytes", m.globalScratchBytes, 0, int64_t(1) << 32);
    optional("global_scratch_align", m.globalScratchAlign, 1, 1 << 20);
    for (auto &a : root.get("args").elements()) {
      m.args.emplace_back();
      text(a.get("name"), m.args.back().name);
      text(a.get("type"), m.args.back().type);
    }
    optional("registers", m.registers, 0, 1 << 20);
    optional("spill_bytes", m.spillBytes, 0, 1 << 30);
    optional("occupancy", m.occupancy, 0, 1 << 20);
    if (auto n = root.get("compile_ms"); n.present())
      for (auto &[stage, ms] : n.members())
        if (auto t = ms.number()) m.compileMs.push_back({stage, *t});
  }
  if (auto s = reader.status(); !s.ok()) return s;
  return m;
}

} // namespace tessera::runtime
