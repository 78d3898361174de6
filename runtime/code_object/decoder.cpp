// Machine code → instructions, by LLVM's disassembler (see decoder.h).
#include "runtime/code_object/decoder.h"
#include "absl/status/status.h"
#include "codegen/object/backend.h"
#include "codegen_amd/arch_table.h"
#include "runtime/code_object/operands.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include <mutex>

extern "C" void LLVMInitializeAMDGPUDisassembler();

namespace tessera::code_object {
using namespace llvm;

Program::Program() = default;
Program::Program(Program &&) noexcept = default;
Program &Program::operator=(Program &&) noexcept = default;
Program::~Program() = default;

std::string Program::describe(uint32_t i) const {
  if (i >= instructions.size()) return "the end of the code";
  const Instruction &n = instructions[i];
  std::string out = formatv("{0:x}: {1}", n.address, n.text);
  if (n.sourceLine) out += formatv(" (source line {0})", n.sourceLine).str();
  return out;
}

namespace {

/// LLVM's disassembler and printer for a target.
struct Disassembler {
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> asmInfo;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> disassembler;
  std::unique_ptr<MCInstPrinter> printer;
};

absl::StatusOr<Disassembler> makeDisassembler(const CodeObject &object, const Kernel &kernel) {
  absl::StatusOr<const Target *> found = codegen::llvmTarget(amd::archTable()[0]); // one for all processors
  if (!found.ok()) return found.status();
  const Target *target = *found;
  static std::once_flag once;
  std::call_once(once, [] {
    std::lock_guard lock(codegen::llvmTargetRegistryMutex());
    LLVMInitializeAMDGPUDisassembler();
  });
  Triple triple("amdgcn-amd-amdhsa");
  Disassembler d;
  MCTargetOptions options;
  std::string features = object.features;
  if (!StringRef(object.target).starts_with("gfx9"))
    features += std::string(features.empty() ? "" : ",") +
                (kernel.waveSize == 32 ? "+wavefrontsize32" : "+wavefrontsize64,-wavefrontsize32");
  d.registers.reset(target->createMCRegInfo(triple));
  d.asmInfo.reset(target->createMCAsmInfo(*d.registers, triple, options));
  d.instructions.reset(target->createMCInstrInfo());
  d.subtarget.reset(target->createMCSubtargetInfo(triple, object.target, features));
  d.context = std::make_unique<MCContext>(triple, d.asmInfo.get(), d.registers.get(), d.subtarget.get());
  d.disassembler.reset(target->createMCDisassembler(*d.subtarget, *d.context));
  d.printer.reset(
      target->createMCInstPrinter(triple, d.asmInfo->getAssemblerDialect(), *d.asmInfo, *d.instructions, *d.registers));
  if (!d.disassembler || !d.printer) return absl::InternalError("LLVM has no disassembler for AMDGPU");
  return d;
}

/// Which unit, by the name (ISA guides, "Instruction formats").
Unit unitOf(StringRef m) {
  auto any = [&](std::initializer_list<const char *> prefixes) {
    return llvm::any_of(prefixes, [&](const char *p) { return m.starts_with(p); });
  };
  if (m.starts_with("s_")) {
    if (any({"s_load", "s_buffer_load", "s_scalar", "s_store", "s_buffer_store", "s_atomic", "s_dcache", "s_memtime",
             "s_memrealtime", "s_scratch", "s_prefetch", "s_buffer_prefetch"}))
      return Unit::Smem;
    if (any({"s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call", "s_endpgm", "s_rfe"})) return Unit::Branch;
    if (any({"s_waitcnt", "s_wait_"})) return Unit::Wait;
    if (any({"s_barrier"})) return Unit::Barrier;
    if (any({"s_nop", "s_sleep", "s_setprio", "s_delay_alu", "s_clause", "s_sethalt", "s_trap", "s_icache", "s_sendmsg",
             "s_set_gpr", "s_inst_prefetch", "s_ttrace", "s_code_end", "s_incperf", "s_decperf", "s_denorm_mode",
             "s_round_mode", "s_set_inst", "s_singleuse"}))
      return Unit::Control;
    return Unit::Salu;
  }
  if (any({"v_mfma", "v_smfmac", "v_wmma", "v_swmmac"})) return Unit::Matrix;
  if (any({"ds_"})) return Unit::Lds;
  if (any({"global_"})) return Unit::Global;
  if (any({"flat_"})) return Unit::Flat;
  if (any({"buffer_", "tbuffer_"})) return Unit::Buffer;
  if (any({"scratch_"})) return Unit::Scratch;
  if (any({"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_", "v_s_"})) return Unit::Transcendental;
  return Unit::Valu;
}

void addRange(std::vector<RegisterRange> &to, const MCRegisterInfo &registers, MCRegister r) {
  RegisterRange range = parseRegister(registers.getName(r));
  if (range.file == RegisterFile::None) return;
  for (auto &x : to)
    if (x.file == range.file && x.index == range.index && x.count == range.count) return;
  to.push_back(range);
}

void setRegisters(const Disassembler &d, const MCInst &inst, Instruction &i) {
  const MCInstrDesc &desc = d.instructions->get(inst.getOpcode());
  for (unsigned k = 0; k < inst.getNumOperands(); ++k)
    if (inst.getOperand(k).isReg() && inst.getOperand(k).getReg())
      addRange(k < desc.getNumDefs() ? i.defs : i.uses, *d.registers, inst.getOperand(k).getReg());
  for (MCPhysReg r : desc.implicit_defs()) addRange(i.defs, *d.registers, r);
  for (MCPhysReg r : desc.implicit_uses()) addRange(i.uses, *d.registers, r);
  // A destination that is a source too has no register of its own in the instruction.
  for (unsigned k = 0; k < desc.getNumOperands(); ++k)
    if (int to = desc.getOperandConstraint(k, MCOI::TIED_TO); to >= 0 && unsigned(to) < inst.getNumOperands())
      if (inst.getOperand(unsigned(to)).isReg()) addRange(i.uses, *d.registers, inst.getOperand(unsigned(to)).getReg());
}

/// What the name of a memory instruction says of its access.
void setAccess(Instruction &i) {
  StringRef m = i.mnemonic;
  bool isMemory = i.unit == Unit::Lds || i.unit == Unit::Global || i.unit == Unit::Flat || i.unit == Unit::Buffer ||
                  i.unit == Unit::Scratch || i.unit == Unit::Smem;
  if (!isMemory) return;
  i.isLoad = m.contains("load") || m.contains("_read");
  i.isStore = m.contains("store") || m.contains("_write");
  i.isAtomic = m.contains("atomic") || (i.unit == Unit::Lds && !i.isLoad && !i.isStore && !m.contains("permute") &&
                                        !m.contains("swizzle") && m != "ds_nop");
  StringRef text = i.text;
  i.toLds = (i.unit == Unit::Buffer && text.ends_with(" lds")) || text.contains(" lds ") || m.contains("_lds_");
  unsigned bytes = 0;
  if (m.contains("b128") || m.contains("dwordx4") || m.contains("format_xyzw"))
    bytes = 16;
  else if (m.contains("b96") || m.contains("dwordx3"))
    bytes = 12;
  else if (m.contains("b256") || m.contains("dwordx8"))
    bytes = 32;
  else if (m.contains("b512") || m.contains("dwordx16"))
    bytes = 64;
  else if (m.contains("64") || m.contains("dwordx2") || m.contains("_x2"))
    bytes = 8;
  else if (m.contains("byte") || m.contains("b8") || m.contains("_u8") || m.contains("_i8"))
    bytes = 1;
  else if (m.contains("short") || m.contains("b16") || m.contains("_u16") || m.contains("_i16"))
    bytes = 2;
  else
    bytes = 4;
  if (m.contains("2st64_b32") || m.contains("read2_b32") || m.contains("write2_b32") || m.contains("_2addr")) {
    bytes = m.contains("64") && !m.contains("st64_b32") ? 8 : 4;
    if (m.contains("b64")) bytes = 8;
  }
  i.accessBytes = uint8_t(bytes);
}

/// Sets the source lines, where the object has debug information.
void setLines(const CodeObject &object, Program &p) {
  auto file =
      object::ObjectFile::createELFObjectFile(MemoryBufferRef(object.bytes, "code object"), /*InitContent=*/false);
  if (!file) return consumeError(file.takeError());
  bool hasLines = llvm::any_of((*file)->sections(), [](const object::SectionRef &s) {
    auto name = s.getName();
    if (name) return *name == ".debug_line";
    consumeError(name.takeError());
    return false;
  });
  if (!hasLines) return;
  auto dwarf = DWARFContext::create(
      **file, DWARFContext::ProcessDebugRelocations::Ignore, nullptr, "", [](Error e) { consumeError(std::move(e)); },
      [](Error e) { consumeError(std::move(e)); });
  for (Instruction &i : p.instructions) {
    auto info = dwarf->getLineInfoForAddress({i.address, object::SectionedAddress::UndefSection});
    if (!info || info->Line == DILineInfo().Line) continue;
    i.sourceLine = info->Line;
    if (p.sourceFile.empty()) p.sourceFile = info->FileName;
  }
}

} // namespace

/// Instructions of Unit::Wait: the two that have all counters, and those that have one or two in SIMM16, or none.
constexpr const char *kWaitNamed = "s_waitcnt", *kWaitIdle = "s_wait_idle";
struct WaitForm {
  const char *mnemonic;
  int16_t WaitCounts::*low, WaitCounts::*high; // null: no counter there
};
constexpr WaitForm kWaitForms[] = {
    {"s_waitcnt_vscnt", &WaitCounts::store, nullptr},
    {"s_waitcnt_vmcnt", &WaitCounts::vm, nullptr},
    {"s_waitcnt_lgkmcnt", &WaitCounts::lgkm, nullptr},
    {"s_waitcnt_expcnt", &WaitCounts::exp, nullptr},
    {"s_wait_loadcnt", &WaitCounts::vm, nullptr},
    {"s_wait_storecnt", &WaitCounts::store, nullptr},
    {"s_wait_samplecnt", &WaitCounts::sample, nullptr},
    {"s_wait_bvhcnt", &WaitCounts::bvh, nullptr},
    {"s_wait_expcnt", &WaitCounts::exp, nullptr},
    {"s_wait_dscnt", &WaitCounts::ds, nullptr},
    {"s_wait_kmcnt", &WaitCounts::km, nullptr},
    {"s_wait_loadcnt_dscnt", &WaitCounts::ds, &WaitCounts::vm},
    {"s_wait_storecnt_dscnt", &WaitCounts::ds, &WaitCounts::store},
    // For exports and for results of the wave's own arithmetic, not for memory.
    {"s_wait_event", nullptr, nullptr},
    {"s_wait_alu", nullptr, nullptr},
    {"s_waitcnt_depctr", nullptr, nullptr},
};

absl::StatusOr<WaitCounts> waitCounts(StringRef text, uint32_t immediate) {
  WaitCounts w;
  StringRef mnemonic = text.split(' ').first;
  if (mnemonic == kWaitNamed) {
    auto named = [&](const char *name, int16_t &to) {
      size_t at = text.find((Twine(name) + "(").str());
      if (at == StringRef::npos) return;
      unsigned n;
      if (!text.substr(at + StringRef(name).size() + 1).consumeInteger(10, n)) to = int16_t(n);
    };
    named("vmcnt", w.vm);
    named("lgkmcnt", w.lgkm);
    named("expcnt", w.exp);
    return w;
  }
  if (mnemonic == kWaitIdle) { // for all that the wave has issued
    w.vm = w.lgkm = w.exp = w.store = w.ds = w.km = w.sample = w.bvh = 0;
    return w;
  }
  const WaitForm *form = llvm::find_if(kWaitForms, [&](const WaitForm &f) { return mnemonic == f.mnemonic; });
  if (form == std::end(kWaitForms))
    return absl::UnimplementedError(("it is not known what '" + text + "' waits for").str());
  if (form->low) w.*form->low = int16_t(immediate & 0xff);
  if (form->high) w.*form->high = int16_t(immediate >> 8 & 0xff);
  return w;
}

std::vector<const char *> waitInstructions() {
  std::vector<const char *> all = {kWaitNamed, kWaitIdle};
  for (const WaitForm &f : kWaitForms) all.push_back(f.mnemonic);
  return all;
}

/// Fills in what is executed for an instruction; leaves no handler where it is not known.
static void makeStep(Code &code, StringRef text, StringRef target, unsigned firstAgpr, unsigned lanes, Step &s) {
  ParsedAssembly p = parseAssembly(text, firstAgpr, lanes);
  std::string mnemonic = p.mnemonic;
  if (StringRef(mnemonic).starts_with("v_dual_")) mnemonic.erase(2, 5);
  s.semantic = findSemantic(code, mnemonic, target);
  if (!s.semantic) return;
  const Semantic &semantic = *s.semantic;
  if (semantic.addsToResult && !p.operands.empty()) {
    p.operands.push_back(p.operands[0]);
    p.operands.back().negate = p.operands.back().absolute = p.operands.back().signExtend = false;
    p.operands.back().select = Select::Dword;
  }
  // A v_cmpx that names no mask has no destination.
  bool hasResult = semantic.result != Type::None && (semantic.result != Type::Mask || p.operands.size() > 2);
  unsigned firstSource = hasResult ? 1 : 0;
  for (unsigned k = 0; k < p.operands.size(); ++k) {
    unsigned source = k - firstSource;
    resolveLiteral(p.operands[k], k >= firstSource && source < 3 ? semantic.sources[source] : Type::B32);
  }
  const Modifiers &m = p.modifiers;
  bool is32 =
      typeBits(semantic.result) == 32 && semantic.result != Type::PackedB16 && semantic.result != Type::PackedF16;
  for (Type t : semantic.sources) is32 &= t == Type::None || t == Type::B32 || t == Type::F32;
  bool changes = llvm::any_of(p.operands, [](const Operand &o) { return o.negate || o.absolute; });
  s.isPlain = is32 && !changes && !m.isDpp && !m.isSdwa && !m.clamp && !m.outputScale && !p.operands.empty() &&
              p.operands[0].isVector();
  code.operands.push_back(std::move(p.operands));
  code.modifiers.push_back(std::move(p.modifiers));
  s.operands = code.operands.back().data();
  s.operandCount = uint16_t(code.operands.back().size());
  s.modifiers = &code.modifiers.back();
  s.handler = semantic.handler;
}

static void makeSteps(Program &p, const CodeObject &object, const Kernel &kernel) {
  static const Modifiers kNone;
  Code &code = *p.code;
  for (auto [index, i] : enumerate(p.instructions)) {
    Step &s = code.steps.emplace_back();
    s.index = uint32_t(index);
    s.target = i.target;
    s.bytes = i.bytes;
    s.address = i.address;
    s.immediate = int16_t(i.immediate);
    s.modifiers = &kNone;
    s.isVector = i.unit == Unit::Valu || i.unit == Unit::Transcendental;
    makeStep(code, StringRef(i.text).split(" :: ").first, object.target, kernel.firstAgpr, kernel.waveSize, s);
  }
  // Second halves of pairs (VOPD) follow the code's steps.
  for (auto [index, i] : enumerate(p.instructions)) {
    StringRef second = StringRef(i.text).split(" :: ").second;
    if (second.empty()) continue;
    Step y = code.steps[index];
    y.handler = nullptr;
    makeStep(code, second, object.target, kernel.firstAgpr, kernel.waveSize, y);
    code.steps[index].immediate = int32_t(code.steps.size());
    code.steps[index].handler = y.handler && code.steps[index].handler ? dualHandler() : nullptr;
    code.steps.push_back(y);
  }
}

static void setBranchTargets(Program &p) {
  DenseMap<uint64_t, uint32_t> at;
  for (auto [index, i] : enumerate(p.instructions)) at[i.address] = uint32_t(index);
  for (Instruction &i : p.instructions) {
    StringRef m = i.mnemonic;
    if (!m.starts_with("s_branch") && !m.starts_with("s_cbranch") && !m.starts_with("s_call")) continue;
    // SIMM16 counts dwords from the next instruction.
    auto found = at.find(i.address + 4 + uint64_t(int64_t(int16_t(i.immediate)) * 4));
    if (found != at.end()) i.target = found->second;
  }
}

/// Whether the instruction, on gfx9, has 8 bytes and says that one of its operands is a literal after them. There are
/// no such instructions, and LLVM's disassembler crashes over them.
static bool hasLiteralWithoutRoom(uint32_t first, uint32_t second) {
  bool isVop3 = first >> 26 == 0b110100;
  constexpr uint32_t kLiteral = 255;
  auto isLiteral = [&](unsigned at) { return (second >> at & 0x1ff) == kLiteral; };
  return isVop3 && (isLiteral(0) || isLiteral(9) || isLiteral(18));
}

absl::StatusOr<Program> decode(const CodeObject &object, const Kernel &kernel) {
  auto d = makeDisassembler(object, kernel);
  if (!d.ok()) return d.status();
  Program p;
  p.kernel = kernel.name;
  p.target = object.target;
  p.waveSize = kernel.waveSize;
  p.code = std::make_unique<Code>();
  p.code->isGfx9 = StringRef(object.target).starts_with("gfx9");
  p.code->isGfx12 = StringRef(object.target).starts_with("gfx12");
  // LLVM's disassembler also crashes if a literal would be after the end.
  constexpr size_t kLongestInstruction = 20;
  std::vector<uint8_t> code = object.at(kernel.entry).take_front(kernel.codeBytes).vec();
  size_t left = code.size();
  code.resize(left + kLongestInstruction);
  uint64_t address = kernel.entry;
  for (const uint8_t *at = code.data(); left >= 4;) {
    Instruction i;
    MCInst inst;
    uint64_t size = 0;
    i.address = address;
    uint32_t first = support::endian::read32le(at), second = support::endian::read32le(at + 4);
    ArrayRef<uint8_t> bytes(at, left + kLongestInstruction);
    i.immediate = first & 0xffff;
    bool isKnown = !(p.code->isGfx9 && hasLiteralWithoutRoom(first, second)) &&
                   d->disassembler->getInstruction(inst, size, bytes, address, nulls()) == MCDisassembler::Success;
    if (isKnown && size && size <= left) {
      raw_string_ostream out(i.text);
      d->printer->printInst(&inst, address, "", *d->subtarget, out);
      StringRef t = StringRef(i.text).trim();
      std::string text = t.str();
      std::replace(text.begin(), text.end(), '\t', ' ');
      i.text = text;
      i.opcode = inst.getOpcode();
      i.mnemonic = parseAssembly(i.text, 0, 64).mnemonic;
      i.unit = unitOf(i.mnemonic);
      i.bytes = uint8_t(size);
      i.scaled = StringRef(i.mnemonic).contains("_scale_");
      if (i.unit == Unit::Wait) {
        auto waits = waitCounts(i.text, i.immediate);
        if (!waits.ok())
          return absl::UnimplementedError(
              formatv("kernel '{0}', {1:x}: {2}", kernel.name, address, std::string(waits.status().message())).str());
        i.waits = *waits;
      }
      setRegisters(*d, inst, i);
      setAccess(i);
    } else {
      size = 4;
      i.mnemonic = ".long";
      i.text = formatv(".long {0:x8}", first);
    }
    p.instructions.push_back(std::move(i));
    address += size;
    at += size;
    left -= size;
  }
  setBranchTargets(p);
  setLines(object, p);
  p.code->vectorRows = std::max(kernel.vgprs, kernel.firstAgpr);
  makeSteps(p, object, kernel);
  return p;
}

} // namespace tessera::code_object
