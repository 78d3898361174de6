// Inline PTX: what the lowering writes as text because LLVM has no intrinsic for it (predicated and hinted accesses,
// atomics with scopes), what libdevice writes, and what users write in tt.elementwise_inline_asm as far as it is
// plain arithmetic. The text is split into statements and each statement is matched against the forms below: the
// opcode's first word chooses the form, its modifiers are read one by one, and one that the form does not have makes
// the whole text unknown. Registers declared by `.reg` are rows like any other. Source: "Parallel Thread Execution
// ISA", by section.
#include "runtime/emulator/inline_ptx.h"
#include "runtime/emulator/warpgroup.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera::emulator::ptx {
using namespace llvm;

bool PtxDecoder::run(std::string &problem) {
  bindArguments();
  if (!inline_ptx::parseText(asm_->getAsmString(), text_, problem)) return false;
  for (PtxType t : text_.registers) {
    Operand &o = registers_.emplace_back();
    o.bytes = t.bytes();
    o.row = d_.fresh(o.bytes);
  }
  for (auto &each : text_.statements) {
    Statement s;
    if (bind(*each, s) && emit(s)) continue;
    problem = "the inline PTX '" + each->text + "'" + (why_.empty() ? "" : " (" + why_ + ")");
    return false;
  }
  if (loadsTensorMemory_) {
    problem = "a tcgen05.ld whose tcgen05.wait::ld is in another statement";
    return false;
  }
  return true;
}

void PtxDecoder::bindArguments() {
  auto types = d_.elements(call_.getType());
  SmallVector<Row, 8> results;
  for (Type *t : types) results.push_back(d_.fresh(d_.bytesOf(t)));
  d_.define(&call_, SmallVector<Row, 4>(results.begin(), results.end()));
  unsigned out = 0, in = 0;
  for (auto &c : asm_->ParseConstraints()) {
    if (c.Type == InlineAsm::isClobber) continue;
    Operand o;
    if (c.Type == InlineAsm::isOutput) {
      o.row = results[out];
      o.bytes = d_.bytesOf(types[out]);
      ++out;
    } else {
      Value *v = call_.getArgOperand(in++);
      o.row = d_.row(v);
      o.bytes = d_.bytesOf(v->getType());
      if (c.hasMatchingInput() || (!c.Codes.empty() && isDigit(c.Codes[0][0]))) {
        unsigned k;
        if (!StringRef(c.Codes[0]).getAsInteger(10, k) && k < bound_.size()) {
          // An accumulator of wgmma goes through as what it will be.
          StringRef text = asm_->getAsmString();
          if (o.bytes == 4 && (text.contains("wgmma.") || text.trim().empty()))
            emitAccumulatorCopy(d_, bound_[k].row, o.row);
          else
            d_.copy(bound_[k].row, o.row, o.bytes);
          o = bound_[k];
        }
      }
    }
    bound_.push_back(o);
  }
}

bool PtxDecoder::bind(const inline_ptx::TextOperand &t, Operand &o) {
  using Text = inline_ptx::TextOperand;
  switch (t.kind) {
  case Text::Register: o = registers_[t.index]; break;
  case Text::Argument:
    if (t.index >= bound_.size()) return false;
    o = bound_[t.index];
    break;
  case Text::Special: return emitSpecialRegister(d_, t.name, o.row, o.bytes);
  case Text::Integer:
  case Text::Real:
    o.kind = Operand::Immediate;
    o.bytes = 8;
    o.isReal = t.kind == Text::Real;
    o.immediate = o.isReal ? std::bit_cast<uint64_t>(t.real) : t.bits;
    break;
  case Text::Address:
    if (!bind(t.parts[0], o)) return false;
    o.kind = Operand::Address;
    o.offset = t.offset;
    break;
  case Text::Vector:
    o.kind = Operand::Vector;
    for (auto &part : t.parts)
      if (!bind(part, o.parts.emplace_back())) return false;
    break;
  case Text::Sink: o.kind = Operand::Sink; break;
  }
  if (!t.negated) return true;
  if (o.kind != Operand::Register || o.bytes != 1) return false;
  Operand opposite = o;
  opposite.row = d_.fresh(1);
  std::string why;
  call({}, opposite, {o}, *inline_ptx::operationOf("not", {"pred"}, 1, why));
  o = opposite;
  return true;
}

bool PtxDecoder::bind(const inline_ptx::TextStatement &t, Statement &out) {
  if (t.guard) {
    inline_ptx::TextOperand guard = *t.guard;
    guard.negated = false;
    Operand o;
    if (!bind(guard, o)) return bad("guard");
    out.guard = o.row;
    out.guardNegated = t.guard->negated;
  }
  out.opcode = t.opcode;
  out.modifiers.assign(t.modifiers.begin(), t.modifiers.end());
  for (auto &operand : t.operands)
    if (!bind(operand, out.operands.emplace_back()))
      return bad(operand.kind == inline_ptx::TextOperand::Special ? "register '%" + operand.name + "'"
                                                                  : std::string("operands"));
  return true;
}

bool PtxDecoder::emit(Statement &s) {
  if (s.opcode == "ld" || s.opcode == "st") return emitLoadStore(s);
  if (s.opcode == "atom" || s.opcode == "red") return emitAtomic(s);
  if (s.opcode == "createpolicy") { // a hint: any value does
    if (s.operands.empty() || s.operands[0].kind != Operand::Register) return false;
    d_.copy(s.operands[0].row, d_.constant(0, s.operands[0].bytes), s.operands[0].bytes);
    return true;
  }
  if (s.opcode == "cp" && (s.has("bulk"))) return emitTensorCopyForm(s);
  if (s.opcode == "tensormap") return emitTensorMapForm(s);
  if (s.opcode == "cp") return emitCopy(s);
  if (s.opcode == "ldmatrix" || s.opcode == "stmatrix") return emitMatrixAccess(s);
  if (s.opcode == "mma") return emitMma(s);
  if (s.opcode == "wgmma") return emitWarpgroup(s);
  if (s.opcode == "tcgen05") return emitTensorMemoryForm(s);
  if (s.opcode == "fence") return emitFence(s);
  if (s.opcode == "bar" || s.opcode == "barrier") return emitBarrier(s);
  if (s.opcode == "trap") return emitTrap(s);
  if (s.opcode == "nanosleep" || s.opcode == "prefetch") return !s.operands.empty(); // hints
  if (s.opcode == "griddepcontrol") // launches run one after the other: what a grid depends on has ended
    return s.operands.empty() && s.modifiers.size() == 1 && (s.has("wait") || s.has("launch_dependents"));
  if (s.opcode == "mbarrier") return emitMbarrierForm(s);
  if (s.opcode == "elect") return emitElectForm(s);
  if (s.opcode == "mov") return emitMove(s);
  return emitScalar(s);
}

} // namespace tessera::emulator::ptx

namespace tessera::emulator {
using namespace llvm;

bool decodeInlinePtx(Decoder &d, CallInst &c, std::string &problem) { return ptx::PtxDecoder(d, c).run(problem); }

ArrayRef<PtxForm> ptxForms() {
  static constexpr const char *kFloat = "PTX, Floating Point Instructions",
                              *kInteger = "PTX, Integer Arithmetic, Logic and Shift Instructions";
  static const PtxForm forms[] = {
      {"{@p} "
       "ld{.weak,.volatile,.relaxed,.acquire}{.scope}{.space}{.cop}{.L1::evict}{.L2::cache_hint}{.v2,.v4,.v8}.type d, "
       "[a{+imm}]{, policy}",
       "PTX, Data Movement and Conversion Instructions: ld"},
      {"{@p} "
       "st{.weak,.volatile,.relaxed,.release}{.scope}{.space}{.cop}{.L1::evict}{.L2::cache_hint}{.v2,.v4,.v8}.type "
       "[a{+imm}], b{, policy}",
       "PTX, Data Movement and Conversion Instructions: st"},
      {"createpolicy.fractional.L2::evict.b64 d, fraction",
       "PTX, Data Movement and Conversion Instructions: createpolicy"},
      {"{@p} atom{.sem}{.scope}{.space}.op{.noftz}{.v2,.v4}.type d, [a{+imm}], b{, c}",
       "PTX, Parallel Synchronization and Communication Instructions: atom"},
      {"{@p} red{.sem}{.scope}{.space}.op{.noftz}{.v2,.v4}.type [a{+imm}], b",
       "PTX, Parallel Synchronization and Communication Instructions: red"},
      {"{@p} cp.async.{ca,cg}.shared.global [dst{+imm}], [src{+imm}], size{, src-size}; "
       "cp.async.{commit_group,wait_group,wait_all}",
       "PTX, Data Movement and Conversion Instructions: cp.async"},
      {"{ldmatrix,stmatrix}.sync.aligned.m8n8.{x1,x2,x4}{.trans}.shared.b16",
       "PTX, Warp Level Matrix Instructions: ldmatrix, stmatrix"},
      {"mma.sync.aligned.{m16n8,m8n8}kK.row.col.type.type.type.type d, a, b, c",
       "PTX, Warp Level Matrix Instructions: mma, Matrix Fragments"},
      {"wgmma.mma_async.sync.aligned.m64nNkK{.satfinite}.type.type.type d, {a-desc,a}, b-desc, scale-d{, imm-scale-a, "
       "imm-scale-b{, imm-trans-a}{, imm-trans-b}}",
       "PTX, Asynchronous Warpgroup Level Matrix Instructions: wgmma.mma_async, Register Fragments and Shared Memory "
       "Matrix Layouts"},
      {"wgmma.{fence,commit_group,wait_group}.sync.aligned", "PTX, Asynchronous Warpgroup Level Matrix Instructions"},
      {"{@p} tcgen05.{mma,commit,ld,st,wait,fence,alloc,dealloc,relinquish_alloc_permit} of cta_group::1",
       "PTX, TensorCore 5th Generation Family Instructions"},
      {"{@p} cp.async.bulk.tensor.Nd.shared::{cluster,cta}.global{.tile}.mbarrier::complete_tx::bytes [dst], [map, "
       "{c…}], [mbar]",
       "PTX, Data Movement and Conversion Instructions: cp.async.bulk.tensor"},
      {"{@p} cp{.reduce}.async.bulk.tensor.Nd.global.shared::cta{.op}{.tile}.bulk_group [map, {c…}], [src]; "
       "cp.async.bulk.{commit_group,wait_group{.read}}",
       "PTX, Data Movement and Conversion Instructions: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor"},
      {"{@p} tensormap.replace.tile.field.shared::cta.b1024.{b32,b64} [map]{, ordinal}, value; "
       "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [map], [from], 128; "
       "fence.proxy.tensormap::generic.acquire.scope [map], 128",
       "PTX, Data Movement and Conversion Instructions: tensormap.replace, tensormap.cp_fenceproxy; fence.proxy"},
      {"fence.proxy.async{.shared::cta,.shared::cluster,.global}; fence{.acq_rel,.sc}.scope; "
       "fence.mbarrier_init.release.cluster",
       "PTX, Parallel Synchronization and Communication Instructions: membar / fence"},
      {"nanosleep.u32 t; prefetch{.space}.level [a]",
       "PTX, Miscellaneous Instructions; Data Movement and Conversion Instructions: prefetch"},
      {"{@p} trap", "PTX, Miscellaneous Instructions: trap"},
      {"griddepcontrol.{wait,launch_dependents}",
       "PTX, Parallel Synchronization and Communication Instructions: griddepcontrol"},
      {"bar.sync 0; barrier{.cta}.sync{.aligned} 0",
       "PTX, Parallel Synchronization and Communication Instructions: bar / barrier"},
      {"mbarrier.{init,inval,arrive,arrive.expect_tx,expect_tx,complete_tx,test_wait,try_wait}{.parity}{.sem}{.scope}{."
       "shared::cta}.b64",
       "PTX, Parallel Synchronization and Communication Instructions: mbarrier"},
      {"elect.sync d|p, members", "PTX, Parallel Synchronization and Communication Instructions: elect.sync"},
      {"mov.type d, a (also to and from {a, b}, {a, b, c, d}; a may be a special register)",
       "PTX, Data Movement and Conversion Instructions: mov"},
      {"cvt{.rnd}{.ftz}{.sat,.satfinite}{.relu}.type.type d, a{, b} (also to and from f16x2, bf16x2, e4m3x2, e5m2x2, "
       "e2m1x2, ue8m0x2, tf32)",
       "PTX, Data Movement and Conversion Instructions: cvt"},
      {"prmt.b32{.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} d, a, b, c", "PTX, Data Movement and Conversion Instructions: prmt"},
      {"setp.cmp{.boolop}{.ftz}.type p{|q}, a, b{, {!}c}; set.cmp{.ftz}.type.type d, a, b; selp.type d, a, b, p; "
       "slct{.ftz}.type.{s32,f32} d, a, b, c",
       "PTX, Comparison and Selection Instructions"},
      {"{add,sub,mul,fma,div,min,max}{.rnd}{.ftz}{.sat,.relu}{.NaN}.{f16,bf16,f16x2,bf16x2,f32,f32x2,f64} d, a, b{, c}",
       kFloat},
      {"{rcp,rsqrt,sqrt,ex2,lg2,sin,cos,tanh}{.approx,.rnd}{.ftz}.type d, a; {neg,abs}{.ftz}.type d, a; copysign.type "
       "d, "
       "a, b; testp.property.type p, a",
       kFloat},
      {"{add,sub,div,rem,min,max,neg,abs,sad,popc,clz,brev,bfe,bfi,bfind,dp4a,dp2a}.type; {mul,mad}.{lo,hi,wide}.type; "
       "{mul24,mad24}.{lo,hi}.type; {and,or,xor,not,cnot,lop3,shl,shr}.type; shf.{l,r}.{wrap,clamp}.b32",
       kInteger},
      {"{add,addc,sub,subc,mad,madc}{.lo,.hi}{.cc}.{u32,u64}",
       "PTX, Extended-Precision Integer Arithmetic Instructions"},
  };
  return forms;
}

} // namespace tessera::emulator
