// AMDGCN → hsaco: LLVM's code generator writes a relocatable object (from text: its assembler does), link.cpp makes of
// it the shared object that the HSA loader takes, and the metadata note of that says what kernels use.
// Sources: LLVM "User Guide for AMDGPU Backend", sections "ELF Code Object", "Code Object V5 Metadata".
#include "codegen_amd/object.h"
#include "absl/status/status.h"
#include "codegen/object/toolchain.h"
#include "codegen_amd/device_library.h"
#include "codegen_amd/link.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::amd {

using codegen::ArchInfo;
using codegen::BackendOptions;
using codegen::ObjectInfo;

absl::StatusOr<std::string> assembleText(llvm::StringRef assembly, const ArchInfo &arch) {
  absl::StatusOr<const llvm::Target *> found = codegen::llvmTarget(arch);
  if (!found.ok()) return found.status();
  const llvm::Target *target = *found;
  llvm::Triple triple(arch.triple);
  llvm::SourceMgr sources;
  std::string messages;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &d, void *context) {
        if (d.getKind() != llvm::SourceMgr::DK_Error) return;
        llvm::raw_string_ostream out(*static_cast<std::string *>(context));
        d.print("amdgcn", out, /*ShowColors=*/false);
      },
      &messages);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(assembly, "amdgcn", /*RequiresNullTerminator=*/false),
                             llvm::SMLoc());
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> asmInfo(target->createMCAsmInfo(*registers, triple, options));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, arch.cpu, arch.features));
  llvm::MCContext context(triple, asmInfo.get(), registers.get(), subtarget.get(), &sources, &options);
  std::unique_ptr<llvm::MCObjectFileInfo> objectInfo(target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(objectInfo.get());
  llvm::SmallString<0> object;
  {
    llvm::raw_svector_ostream out(object);
    llvm::MCAsmBackend *backend = target->createMCAsmBackend(*subtarget, *registers, options);
    std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(out);
    std::unique_ptr<llvm::MCStreamer> streamer(target->createMCObjectStreamer(
        triple, context, std::unique_ptr<llvm::MCAsmBackend>(backend), std::move(writer),
        std::unique_ptr<llvm::MCCodeEmitter>(target->createMCCodeEmitter(*instructions, context)), *subtarget));
    std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, *asmInfo));
    std::unique_ptr<llvm::MCTargetAsmParser> targetParser(
        target->createMCAsmParser(*subtarget, *parser, *instructions, options));
    parser->setTargetParser(*targetParser);
    if (parser->Run(/*NoInitialTextSection=*/false) || !messages.empty())
      return absl::InternalError("the assembler refused the text for " + arch.info.name.str() + ": " + messages);
  }
  return std::string(object);
}

absl::Status readMetadataNote(ObjectInfo &info) {
  auto file = llvm::object::ELFFile<llvm::object::ELF64LE>::create(info.object);
  if (!file) return absl::InternalError("hsaco: " + llvm::toString(file.takeError()));
  auto headers = file->program_headers();
  if (!headers) return absl::InternalError("hsaco: " + llvm::toString(headers.takeError()));
  for (const auto &header : *headers) {
    if (header.p_type != llvm::ELF::PT_NOTE) continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file->notes(header, error)) {
      if (note.getName() != "AMDGPU" || note.getType() != llvm::ELF::NT_AMDGPU_METADATA) continue;
      llvm::msgpack::Document document;
      if (!document.readFromBlob(note.getDescAsStringRef(header.p_align), /*Multi=*/false) ||
          !document.getRoot().isMap())
        return absl::InternalError("hsaco: its metadata note is not a MessagePack map");
      llvm::msgpack::DocNode &kernels = document.getRoot().getMap()["amdhsa.kernels"];
      if (!kernels.isArray()) return absl::InternalError("hsaco: its metadata note has no kernels");
      for (llvm::msgpack::DocNode &kernel : kernels.getArray()) {
        if (!kernel.isMap()) continue;
        auto number = [&](llvm::StringRef key) -> int64_t {
          auto it = kernel.getMap().find(key);
          if (it == kernel.getMap().end()) return 0;
          if (it->second.getKind() == llvm::msgpack::Type::UInt) return int64_t(it->second.getUInt());
          return it->second.getKind() == llvm::msgpack::Type::Int ? it->second.getInt() : 0;
        };
        info.registers = std::max(info.registers, int(number(".vgpr_count")));
        info.accumulatorRegisters = std::max(info.accumulatorRegisters, int(number(".agpr_count")));
        info.scalarRegisters = std::max(info.scalarRegisters, int(number(".sgpr_count")));
        // Registers that were spilled to accumulation registers count as spilled there, but take no memory.
        int64_t inMemory = std::min(4 * number(".vgpr_spill_count"), number(".private_segment_fixed_size"));
        info.spillBytes = std::max(info.spillBytes, int(inMemory));
        info.scratchBytesPerThread = std::max(info.scratchBytesPerThread, int(number(".private_segment_fixed_size")));
        info.staticSharedBytes = std::max(info.staticSharedBytes, number(".group_segment_fixed_size"));
      }
    }
    if (error) return absl::InternalError("hsaco: " + llvm::toString(std::move(error)));
  }
  return absl::OkStatus();
}

absl::StatusOr<ObjectInfo> makeHsaco(llvm::StringRef relocatable, const ArchInfo &arch, const BackendOptions &options) {
  absl::StatusOr<std::string> object = linkShared(relocatable);
  if (!object.ok()) return object.status();
  ObjectInfo info;
  info.object = *std::move(object);
  if (absl::Status s = readMetadataNote(info); !s.ok()) return s;
  info.occupancy = arch.info.occupancy(
      {options.numWarps, info.staticSharedBytes + options.dynamicSharedBytes, info.registers, info.scalarRegisters});
  return info;
}

absl::Status checkToolVariables() { return codegen::checkVariable("TESSERA_DEVICE_LIBS", findDeviceLibrary); }

std::vector<std::string> describeTools() {
  absl::StatusOr<std::string> ocml = findDeviceLibrary();
  return {ocml.ok() ? "ocml: " + *ocml : std::string(ocml.status().message()), "lld 22 (in process)"};
}

} // namespace tessera::amd
