// PTX → cubin: by ptxas where it is installed (ptxas_process.cpp), else, or when asked for, in our process by
// libnvJitLink (CUDA 12 and later), which saves starting ptxas. It is loaded at run time; its functions are
// thread-safe on separate handles.
//
// It compiles as `ptxas -c` does, for linking with other objects, which costs registers: of 15 kernels 7 got as many as
// with ptxas and 8 got 5 to 45 % more, with nearly the same instructions. Hence, at full optimisation and where
// ptxas is there too: a kernel that registers keep from full occupancy is compiled by ptxas, large PTX at once.
//
// Resources: the compiler's log (`-v`) is read for spills, which the cubin does not state, and stack; registers and
// shared memory come from the cubin, an ELF file: the attribute EIATTR_REGCOUNT of section `.nv.info`, the size of
// sections
// `.nv.shared.*`. Sources: nvJitLink documentation; the attribute numbers are those that cuobjdump -elf prints.
#include "codegen_nvidia/object.h"
#include "absl/status/status.h"
#include "codegen/object/toolchain.h"
#include "codegen_nvidia/device_library.h"
#include "codegen_nvidia/occupancy_hint.h"
#include "codegen_nvidia/ptxas_process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MathExtras.h"
#include <dlfcn.h>

namespace tessera::nvidia {

using codegen::ArchInfo;
using codegen::BackendOptions;
using codegen::ObjectInfo;

namespace {

// ---- the tools ----

// The part of nvJitLink.h that is used. Results: 0 is success.
struct NvJitLink {
  using Handle = struct nvJitLink *;
  static constexpr int kInputPtx = 2;
  static constexpr int kUnrecognizedArch = 16, kUnsupportedArch = 17;
  int (*create)(Handle *, uint32_t, const char **) = nullptr;
  int (*destroy)(Handle *) = nullptr;
  int (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  int (*complete)(Handle) = nullptr;
  int (*cubinSize)(Handle, size_t *) = nullptr;
  int (*cubin)(Handle, void *) = nullptr;
  int (*errorSize)(Handle, size_t *) = nullptr;
  int (*error)(Handle, char *) = nullptr;
  int (*infoSize)(Handle, size_t *) = nullptr;
  int (*info)(Handle, char *) = nullptr;
  std::string path, version;
};

absl::StatusOr<std::string> findNvJitLink() {
  return codegen::findToolFile(
      "libnvJitLink (CUDA toolkit 12 or later)", "TESSERA_NVJITLINK", cudaDirectories(),
      {"lib64/libnvJitLink.so.13", "lib64/libnvJitLink.so.12", "lib64/libnvJitLink.so", "lib/libnvJitLink.so.13",
       "lib/libnvJitLink.so.12", "lib/libnvJitLink.so", "targets/x86_64-linux/lib/libnvJitLink.so.13",
       "targets/x86_64-linux/lib/libnvJitLink.so.12", "targets/x86_64-linux/lib/libnvJitLink.so"});
}

absl::StatusOr<std::unique_ptr<NvJitLink>> openNvJitLink(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return absl::NotFoundError("cannot load " + path + ": " + dlerror());
  auto api = std::make_unique<NvJitLink>();
  int (*version)(unsigned *, unsigned *) = nullptr;
  bool complete = true;
  auto resolve = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    complete &= function != nullptr;
  };
  resolve(version, "nvJitLinkVersion");
  resolve(api->create, "nvJitLinkCreate");
  resolve(api->destroy, "nvJitLinkDestroy");
  resolve(api->addData, "nvJitLinkAddData");
  resolve(api->complete, "nvJitLinkComplete");
  resolve(api->cubinSize, "nvJitLinkGetLinkedCubinSize");
  resolve(api->cubin, "nvJitLinkGetLinkedCubin");
  resolve(api->errorSize, "nvJitLinkGetErrorLogSize");
  resolve(api->error, "nvJitLinkGetErrorLog");
  resolve(api->infoSize, "nvJitLinkGetInfoLogSize");
  resolve(api->info, "nvJitLinkGetInfoLog");
  if (!complete) {
    dlclose(library);
    return absl::FailedPreconditionError(path + " lacks functions of nvJitLink; CUDA 12 or later is needed");
  }
  unsigned major = 0, minor = 0;
  version(&major, &minor);
  api->path = path;
  api->version = std::to_string(major) + "." + std::to_string(minor);
  return api;
}

// Libraries stay loaded to the end of the process, one per path.
absl::StatusOr<const NvJitLink *> nvJitLink() {
  static std::mutex mutex;
  static llvm::StringMap<absl::StatusOr<std::unique_ptr<NvJitLink>>> loaded;
  static std::string found; // where it was found when no variable says otherwise: searched for once
  std::lock_guard<std::mutex> lock(mutex);
  std::string path;
  if (!std::getenv("TESSERA_NVJITLINK") && !found.empty()) {
    path = found;
  } else {
    absl::StatusOr<std::string> search = findNvJitLink();
    if (!search.ok()) return search.status();
    path = *search;
    if (!std::getenv("TESSERA_NVJITLINK")) found = path;
  }
  auto it = loaded.find(path);
  if (it == loaded.end()) it = loaded.try_emplace(path, openNvJitLink(path)).first;
  if (!it->second.ok()) return it->second.status();
  return it->second->get();
}

// ---- compiling ----

// PTX of more bytes than this nearly always needs ptxas for its registers (see above): do not try the library first.
constexpr size_t kLargePtx = 12 << 10;

absl::StatusOr<Compiled> compileInProcess(const NvJitLink &api, llvm::StringRef ptx, const ArchInfo &arch,
                                          const BackendOptions &options) {
  std::vector<std::string> strings = compilerOptions(arch, options, /*forPtxas=*/false);
  std::vector<const char *> pointers;
  for (const std::string &s : strings) pointers.push_back(s.c_str());
  std::string tool = "libnvJitLink " + api.version + " (" + api.path + ")";
  NvJitLink::Handle handle = nullptr;
  int result = api.create(&handle, uint32_t(pointers.size()), pointers.data());
  if (result == NvJitLink::kUnrecognizedArch || result == NvJitLink::kUnsupportedArch)
    return absl::FailedPreconditionError(tool + " does not know the target " + arch.cpu.str() +
                                         "; a newer CUDA toolkit is needed");
  if (result) return absl::InternalError(tool + ": nvJitLinkCreate failed with " + std::to_string(result));
  struct Destroy {
    const NvJitLink &api;
    NvJitLink::Handle handle;
    ~Destroy() { api.destroy(&handle); }
  } destroy{api, handle};
  result = api.addData(handle, NvJitLink::kInputPtx, ptx.data(), ptx.size(), "kernel.ptx");
  if (!result) result = api.complete(handle);
  auto text = [&](auto sizeOf, auto get) {
    size_t size = 0;
    std::string s;
    if (sizeOf(handle, &size) == 0 && size > 1) {
      s.resize(size);
      if (get(handle, s.data()) != 0) s.clear();
      s.resize(strnlen(s.data(), s.size()));
    }
    return s;
  };
  if (result) return refusedPtx(tool, arch, text(api.errorSize, api.error));
  Compiled out;
  size_t size = 0;
  if (api.cubinSize(handle, &size) != 0) return absl::InternalError(tool + " gave no cubin");
  out.cubin.resize(size);
  if (api.cubin(handle, out.cubin.data()) != 0) return absl::InternalError(tool + " gave no cubin");
  out.log = text(api.infoSize, api.info);
  return out;
}

// ---- what a cubin says ----

// Largest "N <what>" in the compiler's log, where N is the number before `what`.
int largestBefore(llvm::StringRef log, llvm::StringRef what) {
  int largest = 0;
  for (size_t at = log.find(what); at != llvm::StringRef::npos; at = log.find(what, at + 1)) {
    llvm::StringRef before = log.take_front(at).rtrim();
    size_t start = before.find_last_not_of("0123456789");
    int n = 0;
    if (!before.substr(start + 1).getAsInteger(10, n)) largest = std::max(largest, n);
  }
  return largest;
}

// Section `.nv.info` is a list of {format, attribute, value}: format 4 has a 16-bit length and as many bytes, the
// others (1: none, 2: 8 bits, 3: 16 bits) have 16 bits there.
constexpr uint8_t kFormatSized = 4, kRegCount = 0x2f;

absl::Status readCubin(ObjectInfo &info, const ir::TargetInfo &target) {
  auto file = llvm::object::ELFFile<llvm::object::ELF64LE>::create(info.object);
  if (!file) return absl::InternalError("cubin: " + llvm::toString(file.takeError()));
  auto sections = file->sections();
  if (!sections) return absl::InternalError("cubin: " + llvm::toString(sections.takeError()));
  for (const auto &section : *sections) {
    auto name = file->getSectionName(section);
    if (!name) return absl::InternalError("cubin: " + llvm::toString(name.takeError()));
    if (name->starts_with(".nv.shared.") && !name->starts_with(".nv.shared.reserved")) {
      // From sm_90 on a kernel's section begins with what the system reserves.
      int64_t reserved = target.computeCapability >= 90 ? target.sharedMemoryReservedPerBlock : 0;
      info.staticSharedBytes = std::max<int64_t>(info.staticSharedBytes, int64_t(section.sh_size) - reserved);
    } else if (*name == ".nv.info") {
      auto bytes = file->getSectionContents(section);
      if (!bytes) return absl::InternalError("cubin: " + llvm::toString(bytes.takeError()));
      for (size_t i = 0; i + 4 <= bytes->size();) {
        uint8_t format = (*bytes)[i], attribute = (*bytes)[i + 1];
        size_t length = format == kFormatSized ? llvm::support::endian::read16le(&(*bytes)[i + 2]) : 0;
        if (i + 4 + length > bytes->size()) break;
        if (attribute == kRegCount && length == 8)
          info.registers = std::max(info.registers, int(llvm::support::endian::read32le(&(*bytes)[i + 8])));
        i += 4 + length;
      }
    }
  }
  return absl::OkStatus();
}

} // namespace

int occupancy(const ir::TargetInfo &t, int registers, int64_t sharedBytes, int warps) {
  int blocks = std::min(t.maxBlocksPerMultiprocessor, t.maxWarpsPerMultiprocessor / warps);
  if (registers > 0) {
    int perWarp = int(llvm::alignTo(registers, t.registerAllocationUnit));
    blocks = std::min(blocks, t.registersPerScheduler / perWarp * t.schedulersPerMultiprocessor / warps);
  }
  int64_t shared = int64_t(
      llvm::alignTo(uint64_t(sharedBytes + t.sharedMemoryReservedPerBlock), uint64_t(t.sharedMemoryGranularity)));
  return int(std::min<int64_t>(blocks, t.sharedMemoryPerMultiprocessor / shared));
}

// The figures of a compiled kernel.
static absl::StatusOr<ObjectInfo> describe(absl::StatusOr<Compiled> compiled, const ArchInfo &arch,
                                           const BackendOptions &options) {
  if (!compiled.ok()) return compiled.status();
  ObjectInfo info;
  info.object = std::move(compiled->cubin);
  if (absl::Status s = readCubin(info, arch.info); !s.ok()) return s;
  info.scratchBytesPerThread = largestBefore(compiled->log, "bytes stack frame");
  info.spillBytes = largestBefore(compiled->log, "bytes spill stores");
  info.occupancy =
      occupancy(arch.info, info.registers, info.staticSharedBytes + options.dynamicSharedBytes, options.numWarps);
  return info;
}

static absl::StatusOr<ObjectInfo> makeCubinOf(llvm::StringRef ptx, const ArchInfo &arch, const BackendOptions &options);

/// The registers that one more block on a multiprocessor leaves a thread; 0 where something else keeps blocks away.
static int registersForOneMore(const ObjectInfo &info, const ir::TargetInfo &t, const BackendOptions &options) {
  int64_t shared = info.staticSharedBytes + options.dynamicSharedBytes;
  for (int r = info.registers; r > 0; --r)
    if (occupancy(t, r, shared, options.numWarps) > info.occupancy) return r;
  return 0;
}

/// Whether ptxas spilled although a thread may have more registers than it used: its allocation of a kernel that needs
/// more than there are can fail and fall back to 168, 64 or 32.
static bool gaveUp(const ObjectInfo &info, const ir::TargetInfo &t, const BackendOptions &options) {
  if (!info.spillBytes || options.maxRegisters || options.optLevel < 3)
    return false; // another compilation is for level 3
  return info.registers + 8 < registersPerThread(t, 1, options.numWarps);
}

// Four things are tried that may turn out wrong. The lowering's `.minnctapersm` is a hint (see
// NvidiaTarget::kernelAttributes): it must not cost spills. And a kernel of warp-group products that misses one more
// block on a multiprocessor by few registers is asked to do with them, if it can without spills: another block
// multiplies while this one does something else (attention with blocks of 128 x 64: 172 registers become 168, 11 %
// faster on an H200). Where ptxas gave up on registers, it mostly does not if told that one block on a multiprocessor
// is enough (10 KiB of spills in 32 registers became 1.5 in 255 for a gradient through a gate); and its level 1,
// which schedules less far, often does not either: 21 KiB of spills in 32 registers became 2.5 KiB in 255 for the
// backward pass of a gated linear attention.
static absl::StatusOr<ObjectInfo> makeCubinOfBounds(llvm::StringRef ptx, const ArchInfo &arch,
                                                    const BackendOptions &options) {
  absl::StatusOr<ObjectInfo> first = makeCubinOf(ptx, arch, options);
  if (!first.ok()) return first;
  if (size_t at = ptx.find(".minnctapersm"); at != llvm::StringRef::npos) {
    int blocks = 0;
    ptx.substr(at + strlen(".minnctapersm")).ltrim().consumeInteger(10, blocks);
    bool allRegisters = blocks && registersPerThread(arch.info, blocks, options.numWarps) ==
                                      registersPerThread(arch.info, 1, options.numWarps);
    if (!first->spillBytes || allRegisters) return first;
    std::string without = (ptx.take_front(at) + ptx.substr(ptx.find('\n', at))).str();
    absl::StatusOr<ObjectInfo> plain = makeCubinOf(without, arch, options);
    return plain.ok() && plain->spillBytes < first->spillBytes ? plain : first;
  }
  constexpr int kWorthInTenths = 9; // of the registers must be left
  size_t bounds = ptx.find(".reqntid");
  auto withBlocks = [&](int blocks) {
    size_t after = ptx.find('\n', bounds) + 1;
    return makeCubinOf(
        (ptx.take_front(after) + ".minnctapersm " + llvm::Twine(blocks) + "\n" + ptx.substr(after)).str(), arch,
        options);
  };
  if (bounds != llvm::StringRef::npos && gaveUp(*first, arch.info, options)) {
    absl::StatusOr<ObjectInfo> one = withBlocks(1);
    return one.ok() && one->spillBytes < first->spillBytes ? one : first;
  }
  if (options.optLevel < 3 || options.maxRegisters || first->spillBytes || bounds == llvm::StringRef::npos ||
      !ptx.contains("wgmma.mma_async"))
    return first;
  int fewer = registersForOneMore(*first, arch.info, options);
  if (fewer * 10 < first->registers * kWorthInTenths) return first;
  absl::StatusOr<ObjectInfo> more = withBlocks(first->occupancy + 1);
  return more.ok() && !more->spillBytes && more->occupancy > first->occupancy ? more : first;
}

absl::StatusOr<ObjectInfo> makeCubin(llvm::StringRef ptx, const ArchInfo &arch, const BackendOptions &options) {
  absl::StatusOr<ObjectInfo> first = makeCubinOfBounds(ptx, arch, options);
  if (!first.ok() || !gaveUp(*first, arch.info, options)) return first;
  absl::StatusOr<std::string> ptxas = findPtxas();
  if (!ptxas.ok()) return first;
  absl::StatusOr<ObjectInfo> second =
      describe(compileByProcess(*ptxas, ptx, arch, options, /*level=*/1), arch, options);
  return second.ok() && second->spillBytes < first->spillBytes ? second : first;
}

static absl::StatusOr<ObjectInfo> makeCubinOf(llvm::StringRef ptx, const ArchInfo &arch,
                                              const BackendOptions &options) {
  absl::StatusOr<std::string> ptxas = findPtxas();
  if (ptxas.ok() && !options.preferInProcess) {
    if (std::optional<Compiled> compiled = compileAhead(options.ahead.get(), *ptxas, ptx))
      return describe(*std::move(compiled), arch, options);
    return describe(compileByProcess(*ptxas, ptx, arch, options), arch, options);
  }
  absl::StatusOr<const NvJitLink *> library = nvJitLink();
  bool wholeProgram = options.optLevel >= 3 && ptxas.ok();
  absl::Status why = library.status();
  if (library.ok() && !(wholeProgram && ptx.size() > kLargePtx)) {
    absl::StatusOr<ObjectInfo> info = describe(compileInProcess(**library, ptx, arch, options), arch, options);
    if (info.ok()) {
      int unlimited = occupancy(arch.info, 0, info->staticSharedBytes + options.dynamicSharedBytes, options.numWarps);
      if (!wholeProgram || info->occupancy == unlimited) return info;
      absl::StatusOr<ObjectInfo> better = describe(compileByProcess(*ptxas, ptx, arch, options), arch, options);
      return better.ok() && better->occupancy >= info->occupancy && better->spillBytes <= info->spillBytes ? better
                                                                                                           : info;
    }
    if (!absl::IsFailedPrecondition(info.status())) return info;
    why = info.status(); // too old for the target: ptxas may be newer
  }
  if (!ptxas.ok())
    return absl::Status(why.code(), "no tool to compile PTX for " + arch.cpu.str() + ": " + std::string(why.message()) +
                                        "; " + std::string(ptxas.status().message()));
  return describe(compileByProcess(*ptxas, ptx, arch, options), arch, options);
}

std::vector<std::string> describeTools() {
  std::vector<std::string> lines;
  if (absl::StatusOr<const NvJitLink *> library = nvJitLink(); library.ok())
    lines.push_back("libnvJitLink " + (*library)->version + ": " + (*library)->path);
  else
    lines.push_back(std::string(library.status().message()));
  for (const auto &[name, found] :
       {std::pair<std::string, absl::StatusOr<std::string>>{"ptxas", findPtxas()}, {"libdevice", findDeviceLibrary()}})
    lines.push_back(found.ok() ? name + ": " + *found : std::string(found.status().message()));
  return lines;
}

} // namespace tessera::nvidia
