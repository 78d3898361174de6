// Bank conflicts (see bank_conflicts.h), by brute force over the lanes.
#include "layouts/bank_conflicts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>

namespace tessera::layouts {

SharedPasses countSharedPasses(llvm::ArrayRef<int64_t> lanes, int bytes, const MemoryModel &m) {
  size_t group = std::max(1, m.banks * m.bankBytes / std::max(bytes, m.bankBytes));
  SharedPasses w;
  llvm::SmallVector<int64_t, 128> words;
  llvm::SmallVector<int, 64> perBank(m.banks);
  for (size_t from = 0; from < lanes.size(); from += group) {
    words.clear();
    for (auto offset : lanes.slice(from, std::min(group, lanes.size() - from)))
      for (int64_t word = offset / m.bankBytes; word <= (offset + bytes - 1) / m.bankBytes; ++word)
        words.push_back(word);
    llvm::sort(words);
    words.erase(llvm::unique(words), words.end());
    std::fill(perBank.begin(), perBank.end(), 0);
    for (auto word : words) ++perBank[word % m.banks];
    w.actual += std::max(1, *llvm::max_element(perBank));
    ++w.least;
  }
  return w;
}

int bankConflicts(llvm::ArrayRef<int64_t> lanes, int bytes, const MemoryModel &m) {
  auto w = countSharedPasses(lanes, bytes, m);
  return w.least ? (w.actual + w.least - 1) / w.least : 1;
}

} // namespace tessera::layouts
