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

PtxType typeOf(StringRef s) {
  PtxType t;
  t.pair = s.consume_back("x2");
  if (s == "pred") return {'p', 1, false};
  if (s == "f16") return {'h', 16, t.pair};
  if (s == "bf16") return {'y', 16, t.pair};
  unsigned bits;
  if (t.pair || s.size() < 2 || !StringRef("busf").contains(s[0]) || s.drop_front().getAsInteger(10, bits)) return {};
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return {};
  return {s[0], bits, false};
}

bool PtxDecoder::run(std::string &problem) {
  bindOperands();
  auto refuse = [&](const std::string &reason) {
    problem = reason;
    return false;
  };
  text_ = unescaped(asm_->getAsmString());
  StringRef rest = text_;
  while (true) {
    rest = rest.ltrim(" \t\n\r{};");
    if (rest.starts_with("//")) {
      rest = rest.drop_until([](char c) { return c == '\n'; });
      continue;
    }
    if (rest.empty()) break;
    size_t end = rest.find(';');
    StringRef one = rest.take_front(end).trim();
    rest = end == StringRef::npos ? "" : rest.drop_front(end + 1);
    if (one.starts_with(".reg")) {
      if (!declare(one)) return refuse("the declaration '" + one.str() + "' in inline PTX");
      continue;
    }
    Statement s;
    if (!parse(one, s) || !emit(s))
      return refuse("the inline PTX '" + one.str() + "'" + (why_.empty() ? "" : " (" + why_ + ")"));
  }
  return true;
}

std::string PtxDecoder::unescaped(StringRef s) {
  // LLVM's text: $N or ${N} an operand, $$ a dollar sign. Operands become %N, so that names may contain dollars.
  std::string out;
  for (size_t k = 0; k < s.size(); ++k) {
    if (s[k] != '$') {
      out += s[k];
      continue;
    }
    ++k;
    if (k < s.size() && s[k] == '$') {
      out += '$';
      continue;
    }
    out += "%@";
    bool brace = k < s.size() && s[k] == '{';
    if (brace) ++k;
    while (k < s.size() && isDigit(s[k])) out += s[k++];
    if (brace)
      while (k < s.size() && s[k++] != '}') {
      }
    --k;
  }
  return out;
}

void PtxDecoder::bindOperands() {
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

constexpr unsigned kMostRegisters = 256; // of one declaration: a thread has no more

bool PtxDecoder::declare(StringRef s) { // .reg .u32 a, b; .reg .b8 c<4>: c0 to c3
  auto [type, names] = s.drop_front(4).ltrim().split(' ');
  if (names.empty()) std::tie(type, names) = s.drop_front(4).ltrim().split('\t');
  PtxType t = typeOf(type.trim().drop_front());
  if (!t) return false;
  while (!names.empty()) {
    auto [name, rest] = names.split(',');
    auto add = [&](const Twine &one) {
      Operand o;
      o.bytes = t.bytes();
      o.row = d_.fresh(o.bytes);
      registers_[one.str()] = o;
    };
    names = rest;
    auto [stem, count] = name.trim().split('<');
    unsigned n = 0;
    if (count.empty()) {
      add(stem);
    } else {
      if (!count.consume_back(">") || count.trim().getAsInteger(10, n) || n > kMostRegisters) return false;
      for (unsigned k = 0; k < n; ++k) add(stem.trim() + Twine(k));
    }
  }
  return true;
}

bool PtxDecoder::operand(StringRef s, Operand &o) {
  s = s.trim();
  if (s.consume_front("{")) {
    if (!s.consume_back("}")) return false;
    o.kind = Operand::Vector;
    while (!s.empty()) {
      auto [one, rest] = s.split(',');
      o.parts.emplace_back();
      if (!operand(one, o.parts.back())) return false;
      s = rest;
    }
    return true;
  }
  if (s == "_") {
    o.kind = Operand::Sink;
    return true;
  }
  if (s.contains('|')) { // a destination and a predicate
    o.kind = Operand::Vector;
    auto [first, second] = s.split('|');
    o.parts.resize(2);
    return operand(first, o.parts[0]) && operand(second, o.parts[1]);
  }
  if (s.consume_front("[")) {
    if (!s.consume_back("]")) return false;
    if (auto [map, coordinates] = s.split(','); !coordinates.empty()) { // a place in a tensor
      o.kind = Operand::Vector;
      o.parts.resize(2);
      return operand(("[" + map.trim() + "]").str(), o.parts[0]) && operand(coordinates, o.parts[1]);
    }
    size_t sign = s.find('+', 1); // a negative offset is written +-4, as ptxas wants it
    int64_t offset = 0;
    if (sign != StringRef::npos) {
      if (s.drop_front(sign + 1).trim().getAsInteger(0, offset)) return false;
      s = s.take_front(sign);
    }
    if (!operand(s, o)) return false;
    if (o.kind != Operand::Register) return false;
    o.kind = Operand::Address;
    o.offset = offset;
    return true;
  }
  if (s.consume_front("%@")) {
    unsigned k;
    if (s.getAsInteger(10, k) || k >= bound_.size()) return false;
    o = bound_[k];
    return true;
  }
  if (auto it = registers_.find(s); it != registers_.end()) {
    o = it->second;
    return true;
  }
  if (s.consume_front("%")) return emitSpecialRegister(d_, s, o.row, o.bytes);
  o.kind = Operand::Immediate;
  o.bytes = 8;
  if (s.size() == 10 && (s.starts_with("0f") || s.starts_with("0F")))
    return !s.drop_front(2).getAsInteger(16, o.immediate);
  if (s.size() == 18 && (s.starts_with("0d") || s.starts_with("0D")))
    return !s.drop_front(2).getAsInteger(16, o.immediate);
  if (s.consume_back("U")) {
  }
  int64_t v;
  if (!s.getAsInteger(0, o.immediate)) return true;
  if (s.getAsInteger(0, v)) {
    double real;
    if (!s.getAsDouble(real)) {
      isReal_ = true;
      o.immediate = std::bit_cast<uint64_t>(real);
      return true;
    }
    return false;
  }
  o.immediate = uint64_t(v);
  return true;
}

bool PtxDecoder::parse(StringRef s, Statement &out) {
  if (s.consume_front("@")) {
    out.guardNegated = s.consume_front("!");
    auto [name, rest] = s.split(' ');
    Operand o;
    if (!operand(name, o) || o.kind != Operand::Register) return false;
    out.guard = o.row;
    s = rest.trim();
  }
  size_t end = s.find_first_of(" \t\n");
  StringRef name = s.take_front(end);
  SmallVector<StringRef, 8> words;
  name.split(words, '.');
  out.opcode = words[0];
  out.modifiers.assign(words.begin() + 1, words.end());
  StringRef rest = end == StringRef::npos ? "" : s.drop_front(end).trim();
  int depth = 0;
  size_t from = 0;
  for (size_t k = 0; k <= rest.size(); ++k) {
    if (k < rest.size() && (rest[k] == '{' || rest[k] == '[')) ++depth;
    if (k < rest.size() && (rest[k] == '}' || rest[k] == ']')) --depth;
    if (k == rest.size() || (rest[k] == ',' && !depth)) {
      StringRef one = rest.slice(from, k).trim();
      if (!one.empty()) {
        out.operands.emplace_back();
        if (!operand(one, out.operands.back())) {
          why_ = "operand '" + one.str() + "'";
          return false;
        }
      }
      from = k + 1;
    }
  }
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
  if (s.opcode == "fence") return emitFence(s);
  if (s.opcode == "bar" || s.opcode == "barrier") return emitBarrier(s);
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
      {"cvt{.rnd}{.ftz}.type.type d, a", "PTX, Data Movement and Conversion Instructions: cvt"},
      {"prmt.b32 d, a, b, c", "PTX, Data Movement and Conversion Instructions: prmt"},
      {"setp.cmp{.ftz}.type p, a, b; selp.type d, a, b, p", "PTX, Comparison and Selection Instructions"},
      {"{add,sub,mul,fma,div,min,max}{.rnd}{.ftz}{.sat}.{f16,bf16,f32,f64} d, a, b{, c}", kFloat},
      {"{rcp,rsqrt,sqrt,ex2,lg2,sin,cos,tanh}.approx{.ftz}.type d, a; {neg,abs}.type d, a", kFloat},
      {"{add,sub,min,max,neg,abs,popc,clz,brev,bfe,bfind}.type; {mul,mad}.{lo,hi,wide}.type; "
       "{and,or,xor,not,lop3,shl,shr,shf}.type",
       kInteger},
      {"{add,addc,sub,subc,mad,madc}{.lo,.hi}{.cc}.u32", "PTX, Extended-Precision Integer Arithmetic Instructions"},
  };
  return forms;
}

} // namespace tessera::emulator
