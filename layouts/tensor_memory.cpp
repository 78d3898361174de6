// The encodings of tensor memory (see tensor_memory.h).
#include "layouts/tensor_memory.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

static absl::Status checkSplits(int32_t m, int32_t n) {
  if (auto s = checkPowerOfTwo("CTASplitM", m); !s.ok()) return s;
  return checkPowerOfTwo("CTASplitN", n);
}

absl::Status TensorMemoryEncoding::check(const TensorMemoryParams &p) {
  if (p.blockM != 64 && p.blockM != 128) return invalid(llvm::formatv("blockM = {0}; 64 and 128 exist", p.blockM));
  if (auto s = checkPowerOfTwo("blockN", p.blockN); !s.ok()) return s;
  if (auto s = checkPowerOfTwo("colStride", p.colStride); !s.ok()) return s;
  if (auto s = checkSplits(p.ctaSplitM, p.ctaSplitN); !s.ok()) return s;
  return checkCta(p.cta, 2);
}

void TensorMemoryEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << "#ttng.tensor_memory_encoding<blockM = " << p_.blockM << ", blockN = " << p_.blockN
    << ", colStride = " << p_.colStride;
  if (p_.ctaSplitM != 1) o << ", CTASplitM = " << p_.ctaSplitM;
  if (p_.ctaSplitN != 1) o << ", CTASplitN = " << p_.ctaSplitN;
  printCta(o, p_.cta);
  if (p_.twoCtas) o << ", twoCTAs = true";
  o << ">";
}

absl::Status TensorMemoryScalesEncoding::check(const TensorMemoryScalesParams &p) {
  if (auto s = checkSplits(p.ctaSplitM, p.ctaSplitN); !s.ok()) return s;
  return checkCta(p.cta, 2);
}

void TensorMemoryScalesEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << "#ttng.tensor_memory_scales_encoding<";
  bool first = true;
  auto item = [&](llvm::StringRef key) -> llvm::raw_ostream & {
    o << (first ? "" : ", ") << key << " = ";
    first = false;
    return o;
  };
  if (p_.ctaSplitM != 1) item("CTASplitM") << p_.ctaSplitM;
  if (p_.ctaSplitN != 1) item("CTASplitN") << p_.ctaSplitN;
  if (!p_.cta.isTrivial()) printBases(item("CGALayout"), p_.cta.layout(2), Dim::Block);
  o << ">";
}

} // namespace tessera::layouts
