// Functions that kernels call and no library in the module defines: printf and failed assertions, of CUDA's driver
// (vprintf, __assertfail) and of AMD's ockl (__ockl_printf_*). Sources: "CUDA C++ Programming Guide", "Formatted
// Output" and "Assertion"; ROCm-Device-Libs, ockl/src/services.cl.
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::emulator {
using namespace llvm;

namespace {

std::string textAt(Launch &l, uint64_t address) {
  std::string s;
  for (;; ++address) {
    Region *r = regionOf(l, address);
    if (!r || address - r->base >= r->bytes || !r->data[address - r->base]) return s;
    s += char(r->data[address - r->base]);
  }
}
void assertFails(Warp &w, const Instruction &i) {
  unsigned l = unsigned(std::countr_zero(w.mask));
  Launch &launch = *w.block->launch;
  std::string message = textAt(launch, w.row<uint64_t>(i.more[0])[l]);
  fail(w, &i, int(l), "assertion failed: " + message);
}
/// The text of a printf; `take` gives the next argument of so many bytes.
std::string formatted(Launch &launch, const std::string &format, function_ref<uint64_t(unsigned bytes)> take) {
  std::string out;
  for (size_t k = 0; k < format.size(); ++k) {
    if (format[k] != '%') {
      out += format[k];
      continue;
    }
    std::string spec = "%";
    for (++k; k < format.size() && !strchr("diouxXcpsfFeEgGaA%", format[k]); ++k) spec += format[k];
    if (k == format.size()) break;
    char kind = format[k];
    bool isLong = spec.find('l') != std::string::npos || kind == 'p';
    while (spec.find('l') != std::string::npos) spec.erase(spec.find('l'), 1);
    char text[128];
    if (kind == '%') {
      out += '%';
      continue;
    }
    if (kind == 's') {
      out += textAt(launch, take(8));
      continue;
    }
    if (strchr("fFeEgGaA", kind))
      snprintf(text, sizeof text, (spec + kind).c_str(), std::bit_cast<double>(take(8)));
    else if (strchr("di", kind))
      snprintf(text, sizeof text, (spec + "ll" + kind).c_str(),
               isLong ? (long long)(take(8)) : (long long)(int32_t(take(4))));
    else if (kind == 'p')
      snprintf(text, sizeof text, "0x%llx", (unsigned long long)(take(8)));
    else if (kind == 'c')
      snprintf(text, sizeof text, "%c", int(take(4)));
    else
      snprintf(text, sizeof text, (spec + "ll" + kind).c_str(),
               isLong ? (unsigned long long)(take(8)) : (unsigned long long)(uint32_t(take(4))));
    out += text;
  }
  return out;
}
void printOut(Launch &launch, const std::string &text) {
  if (launch.options->print)
    launch.options->print(text);
  else
    llvm::outs() << text;
}
void printFormatted(Warp &w, const Instruction &i) { // a: format, b: record in the thread's memory
  Launch &launch = *w.block->launch;
  for (uint64_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint64_t at = w.row<uint64_t>(i.b)[l];
    const uint8_t *record = at >= kPrivateWindow && at < kConstantBase
                                ? w.privateMemory.get() + size_t(l) * w.program->privateBytes + (at - kPrivateWindow)
                                : nullptr;
    size_t used = 0, room = record ? w.program->privateBytes - (at - kPrivateWindow) : 0;
    printOut(launch, formatted(launch, textAt(launch, w.row<uint64_t>(i.a)[l]), [&](unsigned bytes) {
               used = (used + bytes - 1) / bytes * bytes;
               uint64_t v = 0;
               if (used + bytes <= room) memcpy(&v, record + used, bytes);
               used += bytes;
               return v;
             }));
    w.row<uint32_t>(i.to)[l] = uint32_t(used);
  }
}
/// __ockl_printf_append_string_n(message, text, length, last), __ockl_printf_append_args(message, count, seven words,
/// last): `more`: the operands; immediate: 0 begin, 1 text, 2 words.
void appendToMessage(Warp &w, const Instruction &i) {
  Launch &launch = *w.block->launch;
  w.messages.resize(w.lanes);
  for (uint64_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    Message &message = w.messages[l];
    w.row<uint64_t>(i.to)[l] = 0;
    if (!i.immediate) message = {};
    if (i.immediate == 1) message.format += textAt(launch, w.row<uint64_t>(i.more[1])[l]);
    if (i.immediate == 2)
      for (unsigned k = 0; k < w.row<uint32_t>(i.more[1])[l] && k < 7; ++k)
        message.words.push_back(w.row<uint64_t>(i.more[2 + k])[l]);
    if (!i.immediate || !w.row<uint32_t>(i.more.back())[l]) continue;
    size_t next = 0;
    printOut(launch, formatted(launch, message.format,
                               [&](unsigned) { return next < message.words.size() ? message.words[next++] : 0; }));
    message = {};
  }
}

} // namespace

bool decodeDriverFunction(Decoder &d, CallInst &c) {
  StringRef name = c.getCalledFunction()->getName();
  if (name == "__assertfail") {
    Row in[1] = {d.row(c.getArgOperand(0))};
    d.emit(assertFails).more = d.list(in);
    return true;
  }
  if (name == "vprintf") {
    d.program().blocksInteract = true;
    d.emit(printFormatted, d.defineFresh(&c)[0], d.row(c.getArgOperand(0)), d.row(c.getArgOperand(1)));
    return true;
  }
  unsigned part = name == "__ockl_printf_begin"             ? 0
                  : name == "__ockl_printf_append_string_n" ? 1
                  : name == "__ockl_printf_append_args"     ? 2
                                                            : 3;
  if (part < 3) {
    d.program().blocksInteract = true;
    SmallVector<Row, 10> in;
    for (Value *v : c.args()) in.push_back(d.row(v));
    d.emit(appendToMessage, d.defineFresh(&c)[0], kNoRow, kNoRow, kNoRow, part).more = d.list(in);
    return true;
  }
  return false;
}

} // namespace tessera::emulator
