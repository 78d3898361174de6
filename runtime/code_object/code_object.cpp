// ELF, kernel descriptors and metadata of AMD code objects (see code_object.h).
#include "runtime/code_object/code_object.h"
#include "absl/status/status.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/BinaryFormat/MsgPackReader.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::code_object {
using namespace llvm;

namespace {

using Elf = object::ELFFile<object::ELF64LE>;

absl::Status bad(const Twine &what) { return absl::InvalidArgumentError(("the code object " + what).str()); }
absl::Status bad(const Twine &what, Error e) { return bad(what + ": " + toString(std::move(e))); }

struct Machine {
  unsigned id;
  const char *name;
  const char *refusal = nullptr; // why its code cannot be executed
};
/// AMDGPUUsage, "AMDGPU ELF Header e_flags".
constexpr Machine kMachines[] = {
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX900, "gfx900"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX906, "gfx906"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX908, "gfx908"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A, "gfx90a"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX942, "gfx942"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX950, "gfx950"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1030, "gfx1030"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100, "gfx1100"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1101, "gfx1101"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1102, "gfx1102"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1103, "gfx1103"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1150, "gfx1150"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1151, "gfx1151"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1200, "gfx1200"},
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1201, "gfx1201"},
    // Not of RDNA 4's instruction set, though LLVM numbers it so.
    {ELF::EF_AMDGPU_MACH_AMDGCN_GFX1250, "gfx1250",
     "more than 256 vector registers, its wait counters and its matrix instructions are not modelled"},
};

/// Objects whose segments take more than this in memory are refused: no GPU code is so large.
constexpr uint64_t kMaxSegmentBytes = uint64_t(1) << 30;
constexpr uint64_t kDescriptorBytes = 64;
/// The same for arguments (compilers stop at 4 KiB) and for the scratch memory of a wave (hardware, at 64 MiB).
constexpr uint64_t kMaxKernargBytes = uint64_t(1) << 20, kMaxScratchBytes = uint64_t(1) << 26;

absl::Status readTarget(const Elf &elf, CodeObject &out) {
  const auto &h = elf.getHeader();
  if (h.e_machine != ELF::EM_AMDGPU) return bad(formatv("is for another machine (ELF machine {0})", h.e_machine));
  if (h.e_type != ELF::ET_DYN) return bad("is not linked (its ELF type is not ET_DYN)");
  // ABI versions 1 to 4 are code objects V3 to V6.
  if (unsigned abi = h.e_ident[ELF::EI_ABIVERSION]; abi < ELF::ELFABIVERSION_AMDGPU_HSA_V3)
    return bad("is of version 2, which no compiler makes any more");
  unsigned mach = h.e_flags & ELF::EF_AMDGPU_MACH;
  for (auto &m : kMachines) {
    if (m.id != mach) continue;
    if (m.refusal) return bad(formatv("is for {0}: {1}", m.name, m.refusal));
    out.target = m.name;
  }
  if (out.target.empty()) return bad(formatv("is for a target that is not known here (EF_AMDGPU_MACH {0:x})", mach));
  // V4 and above: two bits each; 2: off, 3: on.
  unsigned xnack = (h.e_flags & ELF::EF_AMDGPU_FEATURE_XNACK_V4) >> 8;
  unsigned sramecc = (h.e_flags & ELF::EF_AMDGPU_FEATURE_SRAMECC_V4) >> 10;
  auto feature = [&](unsigned bits, const char *name) {
    if (bits < 2) return;
    out.features += out.features.empty() ? "" : ",";
    out.features += (bits == 3 ? "+" : "-") + std::string(name);
  };
  feature(xnack, "xnack");
  feature(sramecc, "sramecc");
  return absl::OkStatus();
}

absl::Status readSegments(const Elf &elf, CodeObject &out) {
  auto headers = elf.program_headers();
  if (!headers) return bad("has no readable program headers", headers.takeError());
  uint64_t total = 0;
  for (const auto &p : *headers) {
    if (p.p_type != ELF::PT_LOAD) continue;
    uint64_t fileEnd = p.p_offset + p.p_filesz;
    if (fileEnd < p.p_offset || fileEnd > elf.getBufSize() || p.p_filesz > p.p_memsz)
      return bad("has a segment that lies outside of the file");
    if (p.p_memsz > kMaxSegmentBytes || (total += p.p_memsz) > kMaxSegmentBytes || p.p_vaddr > (uint64_t(1) << 40))
      return bad("has a segment that is too large");
    Segment s;
    s.address = p.p_vaddr;
    s.bytes.assign(p.p_memsz, 0);
    std::copy_n(elf.base() + p.p_offset, size_t(p.p_filesz), s.bytes.begin());
    out.segments.push_back(std::move(s));
  }
  if (out.segments.empty()) return bad("has nothing to load");
  return absl::OkStatus();
}

struct Symbol {
  std::string name;
  uint64_t address = 0, size = 0;
  bool isFunction = false;
};

absl::StatusOr<std::vector<Symbol>> readSymbols(const Elf &elf) {
  auto sections = elf.sections();
  if (!sections) return bad("has no readable sections", sections.takeError());
  std::vector<Symbol> out;
  for (const auto &s : *sections) {
    if (s.sh_type != ELF::SHT_DYNSYM && s.sh_type != ELF::SHT_SYMTAB) continue;
    auto symbols = elf.symbols(&s);
    if (!symbols) return bad("has a damaged symbol table", symbols.takeError());
    auto strings = elf.getStringTableForSymtab(s);
    if (!strings) return bad("has a damaged string table", strings.takeError());
    for (const auto &y : *symbols) {
      if (y.st_shndx == ELF::SHN_UNDEF) continue;
      auto name = y.getName(*strings);
      if (!name) return bad("has a symbol without a name", name.takeError());
      if (!name->empty()) out.push_back({name->str(), y.st_value, y.st_size, y.getType() == ELF::STT_FUNC});
    }
    if (s.sh_type == ELF::SHT_DYNSYM && !out.empty()) break; // it has all kernels
  }
  return out;
}

/// The registers that a descriptor allocates. AMDGPUUsage, compute_pgm_rsrc1 GRANULATED_*, compute_pgm_rsrc3
/// ACCUM_OFFSET.
void readRegisters(StringRef target, Kernel &k) {
  const KernelDescriptor &d = k.descriptor;
  unsigned vgprs = d.resource1 & 63, sgprs = d.resource1 >> 6 & 15;
  bool isGfx9 = target.starts_with("gfx9");
  bool hasOneFile = target == "gfx90a" || target == "gfx942" || target == "gfx950";
  k.waveSize = !isGfx9 && d.properties >> 10 & 1 ? 32 : 64;
  unsigned granule = hasOneFile || k.waveSize == 32 ? 8 : 4;
  k.vgprs = (vgprs + 1) * granule;
  k.firstAgpr = hasOneFile ? ((d.resource3 & 63) + 1) * 4 : k.vgprs;
  k.sgprs = isGfx9 ? (sgprs / 2 + 1) * 16 : 128;
}

absl::Status readKernel(CodeObject &object, const Symbol &symbol, ArrayRef<Symbol> symbols) {
  Kernel k;
  k.name = StringRef(symbol.name).drop_back(3).str();
  ArrayRef<uint8_t> bytes = object.at(symbol.address);
  if (bytes.size() < kDescriptorBytes) return bad("has a kernel descriptor outside of its segments: '" + k.name + "'");
  auto word = [&](unsigned at) { return support::endian::read32le(bytes.data() + at); };
  KernelDescriptor &d = k.descriptor;
  d.ldsBytes = word(0);
  d.privateBytes = word(4);
  d.kernargBytes = word(8);
  int64_t entryOffset = int64_t(support::endian::read64le(bytes.data() + 16));
  d.resource3 = word(44);
  d.resource1 = word(48);
  d.resource2 = word(52);
  d.properties = support::endian::read16le(bytes.data() + 56);
  d.preload = support::endian::read16le(bytes.data() + 58);
  k.entry = symbol.address + uint64_t(entryOffset);
  ArrayRef<uint8_t> code = object.at(k.entry);
  if (code.empty()) return bad("has a kernel whose code lies outside of its segments: '" + k.name + "'");
  k.codeBytes = code.size();
  for (auto &s : symbols)
    if (s.isFunction && s.address == k.entry && s.size && s.size <= code.size()) k.codeBytes = s.size;
  readRegisters(object.target, k);
  object.kernels.push_back(std::move(k));
  return absl::OkStatus();
}

uint64_t number(msgpack::MapDocNode &map, StringRef key) {
  auto at = map.find(key);
  if (at == map.end()) return 0;
  if (at->second.getKind() == msgpack::Type::UInt) return at->second.getUInt();
  if (at->second.getKind() == msgpack::Type::Int) return uint64_t(std::max<int64_t>(0, at->second.getInt()));
  return 0;
}
std::string text(msgpack::MapDocNode &map, StringRef key) {
  auto at = map.find(key);
  return at != map.end() && at->second.isString() ? at->second.getString().str() : "";
}

void readKernelMetadata(msgpack::MapDocNode &map, Kernel &k) {
  k.hasMetadata = true;
  k.maxWorkItems = uint32_t(number(map, ".max_flat_workgroup_size"));
  // Some producers leave the descriptor's size of the segment at 0.
  k.descriptor.kernargBytes = std::max(k.descriptor.kernargBytes, uint32_t(number(map, ".kernarg_segment_size")));
  if (auto at = map.find(".reqd_workgroup_size"); at != map.end() && at->second.isArray()) {
    auto &sizes = at->second.getArray();
    for (unsigned i = 0; i < 3 && i < sizes.size(); ++i)
      if (sizes[i].getKind() == msgpack::Type::UInt) k.requiredWorkgroup[i] = uint32_t(sizes[i].getUInt());
  }
  auto args = map.find(".args");
  if (args == map.end() || !args->second.isArray()) return;
  for (auto &node : args->second.getArray()) {
    if (!node.isMap()) continue;
    auto &a = node.getMap();
    k.arguments.push_back(
        {text(a, ".name"), text(a, ".value_kind"), uint32_t(number(a, ".offset")), uint32_t(number(a, ".size"))});
  }
}

/// Whether all keys of maps are text: LLVM's document must not have others, such as maps, to compare.
bool keysAreText(StringRef blob) {
  struct Container {
    uint64_t left; // objects in it that were not read yet; of a map keys and values
    bool isMap;
  };
  msgpack::Reader reader(blob);
  SmallVector<Container, 8> inside = {{1, false}};
  while (!inside.empty()) {
    Container &in = inside.back();
    if (!in.left) {
      inside.pop_back();
      continue;
    }
    msgpack::Object o;
    auto isThere = reader.read(o);
    if (!isThere) {
      consumeError(isThere.takeError());
      return false;
    }
    bool isKey = in.isMap && in.left % 2 == 0;
    if (!*isThere || (isKey && o.Kind != msgpack::Type::String)) return false;
    --in.left;
    if (o.Kind == msgpack::Type::Array) inside.push_back({o.Length, false});
    if (o.Kind == msgpack::Type::Map) inside.push_back({uint64_t(o.Length) * 2, true});
  }
  return true;
}

/// What executing the kernel would take of the host's memory.
absl::Status checkSizes(const Kernel &k) {
  const KernelDescriptor &d = k.descriptor;
  if (d.kernargBytes > kMaxKernargBytes)
    return bad(formatv("has a kernel with {0} bytes of arguments: '{1}'", d.kernargBytes, k.name));
  if (uint64_t(d.privateBytes) * k.waveSize > kMaxScratchBytes)
    return bad(formatv("has a kernel with {0} bytes of scratch for each work-item: '{1}'", d.privateBytes, k.name));
  return absl::OkStatus();
}

absl::Status readMetadata(CodeObject &object, ArrayRef<uint8_t> note) {
  msgpack::Document doc;
  StringRef blob(reinterpret_cast<const char *>(note.data()), note.size());
  if (!keysAreText(blob) || !doc.readFromBlob(blob, /*Multi=*/false) || !doc.getRoot().isMap())
    return bad("has damaged metadata");
  auto &root = doc.getRoot().getMap();
  auto kernels = root.find("amdhsa.kernels");
  if (kernels == root.end() || !kernels->second.isArray()) return absl::OkStatus();
  for (auto &node : kernels->second.getArray()) {
    if (!node.isMap()) continue;
    auto &map = node.getMap();
    std::string symbol = text(map, ".symbol");
    for (Kernel &k : object.kernels)
      if (k.name + ".kd" == symbol) readKernelMetadata(map, k);
  }
  for (Kernel &k : object.kernels)
    for (auto &a : k.arguments)
      if (uint64_t(a.offset) + a.size > k.descriptor.kernargBytes)
        return bad("has an argument outside of the argument segment of '" + k.name + "'");
  return absl::OkStatus();
}

absl::Status readNotes(const Elf &elf, CodeObject &object) {
  auto headers = elf.program_headers();
  if (!headers) return bad("has no readable program headers", headers.takeError());
  for (const auto &p : *headers) {
    if (p.p_type != ELF::PT_NOTE) continue;
    Error error = Error::success();
    absl::Status status;
    for (const auto &note : elf.notes(p, error))
      if (note.getType() == ELF::NT_AMDGPU_METADATA && note.getName() == "AMDGPU") {
        if (status.ok()) status = readMetadata(object, note.getDesc(std::max<size_t>(4, p.p_align)));
      }
    if (error) return bad("has a damaged note", std::move(error));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

} // namespace

const Kernel *CodeObject::find(StringRef kernel) const {
  for (auto &k : kernels)
    if (k.name == kernel) return &k;
  return nullptr;
}

ArrayRef<uint8_t> CodeObject::at(uint64_t address) const {
  for (auto &s : segments)
    if (address >= s.address && address - s.address < s.bytes.size())
      return ArrayRef<uint8_t>(s.bytes).drop_front(address - s.address);
  return {};
}

absl::StatusOr<CodeObject> readCodeObject(StringRef bytes) {
  if (!bytes.starts_with(StringRef("\x7f"
                                   "ELF",
                                   4)))
    return bad("is not an ELF file");
  if (bytes.size() < sizeof(object::ELF64LE::Ehdr) || bytes[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
      bytes[ELF::EI_DATA] != ELF::ELFDATA2LSB)
    return bad("is not a 64-bit little-endian ELF file");
  CodeObject out;
  out.bytes = bytes.str(); // aligned as LLVM's reader needs it
  auto elf = Elf::create(out.bytes);
  if (!elf) return bad("is not readable", elf.takeError());
  if (absl::Status s = readTarget(*elf, out); !s.ok()) return s;
  if (absl::Status s = readSegments(*elf, out); !s.ok()) return s;
  auto symbols = readSymbols(*elf);
  if (!symbols.ok()) return symbols.status();
  for (auto &s : *symbols)
    if (StringRef(s.name).ends_with(".kd") && !out.find(StringRef(s.name).drop_back(3)))
      if (absl::Status status = readKernel(out, s, *symbols); !status.ok()) return status;
  if (out.kernels.empty()) return bad("has no kernels");
  if (absl::Status s = readNotes(*elf, out); !s.ok()) return s;
  for (const Kernel &k : out.kernels)
    if (absl::Status s = checkSizes(k); !s.ok()) return s;
  return out;
}

} // namespace tessera::code_object
