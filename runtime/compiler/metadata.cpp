// Metadata as JSON (see metadata.h).
#include "runtime/compiler/metadata.h"
#include "runtime/launch/json_reader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace tessera::runtime {

namespace {

/// Whether the argument is a tensor descriptor, or the first of its parts.
bool beginsDescriptor(const KernelMetadata::Arg &a) {
  return !a.descriptor.empty() || llvm::StringRef(a.type).starts_with("tensordesc<");
}

llvm::json::Value toJson(const std::optional<TensorMapFormat> &f) {
  if (!f) return nullptr;
  return llvm::json::Object{{"swizzle", f->swizzle},
                            {"elem_size", f->elementBytes},
                            {"elem_type", f->elementType},
                            {"block_size", llvm::json::Array(f->blockSize)},
                            {"fp4_padded", f->fp4Padded}};
}

TensorMapFormat tensorMapFrom(const JsonNode &n) {
  constexpr int64_t kMaxSwizzle = 3, kMaxElementType = 15, kMaxBox = 256; // what a tensor map can say
  TensorMapFormat f;
  f.swizzle = int(n.get("swizzle").integer(0, kMaxSwizzle).value_or(0));
  f.elementBytes = int(n.get("elem_size").integer(1, 8).value_or(1));
  f.elementType = int(n.get("elem_type").integer(0, kMaxElementType).value_or(0));
  auto block = n.get("block_size");
  auto sizes = block.elements();
  if (sizes.size() > kMaxDescriptorRank) block.error("has more than 5 dimensions");
  for (auto &s : sizes) f.blockSize.push_back(s.integer(1, kMaxBox).value_or(1));
  f.fp4Padded = n.get("fp4_padded").boolean().value_or(false);
  return f;
}

/// The descriptors among the arguments: their types, the parts of those that are expanded, and how the others' tensor
/// maps are made.
void readDescriptors(const JsonNode &root, std::vector<KernelMetadata::Arg> &args) {
  auto list = root.get("tensordesc_meta");
  auto entries = list.present() ? list.elements() : std::vector<JsonNode>();
  auto nodes = root.get("args").elements();
  size_t next = 0;
  for (auto [i, a] : llvm::enumerate(args)) {
    if (!beginsDescriptor(a)) continue;
    bool isExpanded = !a.descriptor.empty();
    auto type = DescriptorType::parse(isExpanded ? a.descriptor : a.type);
    if (!type) {
      nodes[i].error("is no type of a tensor descriptor");
      continue;
    }
    std::vector<std::string> parts(2 * type->blockShape.size(), "i64"); // shape, strides
    parts.push_back("i1");                                              // whether the padding is NaN
    for (auto [k, part] : llvm::enumerate(parts))
      if (isExpanded && (i + 1 + k >= args.size() || args[i + 1 + k].type != part)) {
        nodes[i].error("is not followed by the parts of a tensor descriptor");
        break;
      }
    const JsonNode *entry = next < entries.size() ? &entries[next] : nullptr;
    ++next;
    if (!entry || entry->isNull()) continue;
    if (isExpanded)
      entry->error("must be null: the argument is expanded");
    else
      a.tensorMap = tensorMapFrom(*entry);
    if (a.tensorMap && a.tensorMap->blockSize.size() != type->blockShape.size())
      entry->error("has another rank than its argument's type");
  }
  if (list.present() && entries.size() != next)
    list.error(llvm::formatv("has {0} entries, but \"args\" has {1} tensor descriptors", entries.size(), next).str());
}

} // namespace

std::string toJson(const KernelMetadata &m) {
  llvm::json::Array args;
  llvm::json::Array descriptors;
  for (auto &a : m.args) {
    llvm::json::Object o{{"name", llvm::json::fixUTF8(a.name)}, {"type", a.type}};
    if (!a.descriptor.empty()) o["descriptor"] = a.descriptor;
    args.push_back(std::move(o));
    if (beginsDescriptor(a)) descriptors.push_back(toJson(a.tensorMap));
  }
  std::string s;
  llvm::raw_string_ostream o(s);
  llvm::json::OStream j(o, 1);
  // Unknown is not 0.
  auto attributeFrom = [&](KernelMetadata::Known needs, const char *key, int64_t value) {
    if (m.known >= needs)
      j.attribute(key, value);
    else
      j.attribute(key, nullptr);
  };
  j.object([&] {
    j.attribute("kernel", llvm::json::fixUTF8(m.kernel)); // names in the IR may be any bytes
    j.attribute("target", m.target);
    for (auto &option : kernelOptions()) j.attribute(option.key, m.*option.field);
    j.attribute("threads_per_warp", m.threadsPerWarp);
    attributeFrom(KernelMetadata::Launch, "threads_per_block", m.threadsPerBlock);
    j.attribute("cluster_dims", llvm::json::Array{m.clusterDims[0], m.clusterDims[1], m.clusterDims[2]});
    attributeFrom(KernelMetadata::Launch, "dynamic_shared_bytes", m.dynamicSharedBytes);
    attributeFrom(KernelMetadata::Resources, "static_shared_bytes", m.staticSharedBytes);
    attributeFrom(KernelMetadata::Launch, "global_scratch_bytes", m.globalScratchBytes);
    attributeFrom(KernelMetadata::Launch, "global_scratch_align", m.globalScratchAlign);
    j.attribute("args", std::move(args));
    j.attribute("tensordesc_meta", std::move(descriptors));
    attributeFrom(KernelMetadata::Resources, "registers", m.registers);
    attributeFrom(KernelMetadata::Resources, "spill_bytes", m.spillBytes);
    attributeFrom(KernelMetadata::Resources, "occupancy", m.occupancy);
    j.attributeObject("compile_ms", [&] {
      for (auto &[n, ms] : m.compileMs) j.attribute(n, std::round(ms * 1000) / 1000); // whole microseconds
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
  // As toJson writes them: null if the metadata does not know.
  auto numberFrom = [&](KernelMetadata::Known needs, const char *key, auto &out, int64_t lo, int64_t hi) {
    JsonNode n = root.get(key);
    if (n.isNull())
      m.known = std::min(m.known, KernelMetadata::Known(needs - 1));
    else
      number(n, out, lo, hi);
  };
  auto optionalFrom = [&](KernelMetadata::Known needs, const char *key, auto &out, int64_t lo, int64_t hi) {
    if (root.get(key).present()) numberFrom(needs, key, out, lo, hi);
  };
  if (root.present()) {
    text(root.get("kernel"), m.kernel);
    text(root.get("target"), m.target);
    for (auto &option : kernelOptions()) {
      bool isRequired = option.field == &KernelConfig::numWarps;
      JsonNode node = root.get(option.key);
      if (!node.present() && !isRequired) continue;
      if (auto v = node.integer(option.least, option.most, option.allowed())) {
        m.*option.field = int(*v);
        if (auto problem = option.problem(*v); !problem.empty()) node.error(problem);
      }
    }
    number(root.get("threads_per_warp"), m.threadsPerWarp, 1, 64);
    if (!llvm::isPowerOf2_32(m.threadsPerWarp)) root.get("threads_per_warp").error("must be a power of two");
    numberFrom(KernelMetadata::Launch, "threads_per_block", m.threadsPerBlock, 1, 1024);
    if (auto n = root.get("cluster_dims"); n.present())
      for (auto [i, d] : llvm::enumerate(n.elements()))
        i < 3 ? number(d, m.clusterDims[i], 1, 16) : d.error("is one dimension too many");
    numberFrom(KernelMetadata::Launch, "dynamic_shared_bytes", m.dynamicSharedBytes, 0, 1 << 20);
    optionalFrom(KernelMetadata::Resources, "static_shared_bytes", m.staticSharedBytes, 0, 1 << 20);
    optionalFrom(KernelMetadata::Launch, "global_scratch_bytes", m.globalScratchBytes, 0, int64_t(1) << 32);
    optionalFrom(KernelMetadata::Launch, "global_scratch_align", m.globalScratchAlign, 1, 1 << 20);
    for (auto &a : root.get("args").elements()) {
      m.args.emplace_back();
      text(a.get("name"), m.args.back().name);
      text(a.get("type"), m.args.back().type);
      if (auto n = a.get("descriptor"); n.present()) text(n, m.args.back().descriptor);
    }
    if (root.get("args").isArray()) readDescriptors(root, m.args);
    optionalFrom(KernelMetadata::Resources, "registers", m.registers, 0, 1 << 20);
    optionalFrom(KernelMetadata::Resources, "spill_bytes", m.spillBytes, 0, 1 << 30);
    optionalFrom(KernelMetadata::Resources, "occupancy", m.occupancy, 0, 1 << 20);
    if (auto n = root.get("compile_ms"); n.present())
      for (auto &[stage, ms] : n.members())
        if (auto t = ms.number()) m.compileMs.push_back({stage, *t});
  }
  if (auto s = reader.status(); !s.ok()) return s;
  return m;
}

} // namespace tessera::runtime
