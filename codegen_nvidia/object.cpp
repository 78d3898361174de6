// PTX → cubin: by ptxas (ptxas_process.cpp), or, where none is installed or TESSERA_PTXAS is "none", in our process by
// libnvJitLink (CUDA 12 and later). The library is loaded at run time; its functions are thread-safe on separate
// handles. It compiles as `ptxas -c` does, for linking with other objects, which costs registers: of 15 kernels 7 got
// as many as with ptxas and 8 got 5 to 45 % more, with nearly the same instructions.
//
// Resources: the compiler's log (`-v`) is read for spills, which the cubin does not state, and stack; registers and
// shared memory come from the cubin, an ELF file: the attribute EIATTR_REGCOUNT of section `.nv.info`, the size of
// sections `.nv.shared.*`. Sources: nvJitLink documentation; the attribute numbers are those that cuobjdump -elf
// prints.
#include "codegen_nvidia/object.h"
#include "absl/status/status.h"
#include "codegen/object/toolchain.h"
#include "codegen_nvidia/device_library.h"
#include "codegen_nvidia/ptxas_process.h"
#include "codegen_nvidia/recompilation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
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
  if (!codegen::isSet("TESSERA_NVJITLINK") && !found.empty()) {
    path = found;
  } else {
    absl::StatusOr<std::string> search = findNvJitLink();
    if (!search.ok()) return search.status();
    path = *search;
    if (!codegen::isSet("TESSERA_NVJITLINK")) found = path;
  }
  auto it = loaded.find(path);
  if (it == loaded.end()) it = loaded.try_emplace(path, openNvJitLink(path)).first;
  if (!it->second.ok()) return it->second.status();
  return it->second->get();
}

// ---- compiling ----

absl::StatusOr<Compiled> compileInProcess(const NvJitLink &api, llvm::StringRef ptx, const ArchInfo &arch,
                                          const BackendOptions &options, const PtxOptions &how) {
  std::vector<std::string> strings = compilerOptions(arch, options, /*forPtxas=*/false, how);
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

std::string whySerialized(llvm::StringRef log) {
  auto [before, after] = log.split("wgmma.mma_async instructions are serialized due to ");
  auto [reason, function] = after.split('\n').first.split(" in the function ");
  return reason.rtrim(" .").str();
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
  info.dotsSerialized = whySerialized(compiled->log);
  info.occupancy =
      arch.info.occupancy({options.numWarps, info.staticSharedBytes + options.dynamicSharedBytes, info.registers});
  return info;
}

/// Compiles once: by ptxas, or by libnvJitLink if there is no ptxas. `ahead`: a ptxas that was started with the default
/// PtxOptions, for a compilation with these; null: none.
static absl::StatusOr<ObjectInfo> compileOnce(llvm::StringRef ptx, const ArchInfo &arch, const BackendOptions &options,
                                              const PtxOptions &how, codegen::ToolAhead *ahead) {
  absl::StatusOr<std::string> ptxas = findPtxas();
  if (ptxas.ok()) {
    if (std::optional<Compiled> compiled = compileAhead(ahead, *ptxas, ptx))
      return describe(*std::move(compiled), arch, options);
    return describe(compileByProcess(*ptxas, ptx, arch, options, how), arch, options);
  }
  if (absl::IsInvalidArgument(ptxas.status())) return ptxas.status(); // another compiler than the one asked for
  absl::StatusOr<const NvJitLink *> library = nvJitLink();
  absl::Status why = library.status();
  if (library.ok()) {
    absl::StatusOr<ObjectInfo> info = describe(compileInProcess(**library, ptx, arch, options, how), arch, options);
    bool isTooOld = absl::IsFailedPrecondition(info.status());
    if (!isTooOld) return info;
    why = info.status();
  }
  return absl::Status(why.code(), "no tool to compile PTX for " + arch.cpu.str() + ": " + std::string(why.message()) +
                                      "; " + std::string(ptxas.status().message()));
}

/// One of the further compilations.
static absl::StatusOr<ObjectInfo> compileAgain(Attempt attempt, llvm::StringRef ptx, const ArchInfo &arch,
                                               const Compilations &before) {
  auto compile = [&](llvm::StringRef text, const PtxOptions &how) {
    return compileOnce(text, arch, before.options, how, /*ahead=*/nullptr);
  };
  switch (attempt) {
  case Attempt::WithoutRequest: // no option of ptxas lifts `.minnctapersm`
    return compile(withoutRequests(ptx), {});
  case Attempt::BlocksThatFit: return compile(withoutRequests(ptx), {.minBlocks = before.best.occupancy});
  case Attempt::OneBlock: return compile(ptx, {.minBlocks = 1});
  case Attempt::OneMoreBlock: return compile(withoutRequests(ptx), {.minBlocks = before.first.occupancy + 1});
  case Attempt::FewerRegisters: return compile(withRegisterLimit(ptx, fewerRegisters(before)), {});
  case Attempt::LowerLevel: // the library knows one level only
    if (absl::StatusOr<std::string> ptxas = findPtxas(); !ptxas.ok()) return ptxas.status();
    return compile(ptx, {.level = 1});
  }
  llvm_unreachable("every attempt returns");
}

absl::StatusOr<ObjectInfo> makeCubin(llvm::StringRef ptx, const ArchInfo &arch, const BackendOptions &options,
                                     const OccupancyPlan &plan) {
  absl::StatusOr<ObjectInfo> first = compileOnce(ptx, arch, options, {}, options.ahead.get());
  if (!first.ok()) return first;
  ObjectInfo best = *first;
  const Compilations compilations{plan, *first, best, arch.info, options};
  for (Attempt attempt : kAttempts) {
    if (!isWorthTrying(attempt, compilations)) continue;
    absl::StatusOr<ObjectInfo> made = compileAgain(attempt, ptx, arch, compilations);
    if (made.ok() && isBetter(attempt, *made, compilations)) best = *std::move(made);
  }
  return best;
}

absl::Status checkToolVariables(bool makesObject) {
  using codegen::checkVariable;
  if (absl::Status s = checkVariable("TESSERA_LIBDEVICE", findDeviceLibrary); !s.ok() || !makesObject) return s;
  if (absl::Status s = checkVariable("TESSERA_NVJITLINK", findNvJitLink); !s.ok()) return s;
  bool isPtxasNamed = codegen::isSet("TESSERA_PTXAS"); // else a search, which compilations do
  if (absl::Status s = isPtxasNamed ? findPtxas().status() : absl::OkStatus(); absl::IsInvalidArgument(s)) return s;
  return checkPtxasSeconds();
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
