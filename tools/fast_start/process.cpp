// Prepares the process before the thousands of constructors of LLVM's global objects run: populates the pages that they
// write in one call, and lets the heap grow in large pages. See README.md, "Memory".
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
extern "C" char __data_start[], _end[]; // the program's own variables; defined by the linker
#endif

[[gnu::constructor(101)]] static void prepareMemory() {
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
  // One call instead of 150 page faults. Linux before 5.14 refuses the call and takes the faults.
  uintptr_t firstPage = reinterpret_cast<uintptr_t>(__data_start) & ~uintptr_t(4095);
  madvise(reinterpret_cast<void *>(firstPage), reinterpret_cast<uintptr_t>(_end) - firstPage, MADV_POPULATE_WRITE);
#endif
#ifdef __GLIBC__
  // The heap grows in few steps, is never handed back piecemeal, and may use large pages: a fault per 2 MiB instead of
  // one per 4 KiB where transparent huge pages are set to "madvise". malloc writes at the heap's beginning as soon as
  // it exists: that stays a small page, the last one before a multiple of 2 MiB.
  constexpr uintptr_t kLargePage = 2 << 20;
  constexpr uintptr_t kSmallPage = 4 << 10;
  mallopt(M_TOP_PAD, 16 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 256 << 20);
  uintptr_t end = reinterpret_cast<uintptr_t>(sbrk(0));
  uintptr_t gap = (0 - end - kSmallPage) % kLargePage;
  if (sbrk(intptr_t(gap)) != reinterpret_cast<void *>(end)) return;
  void *volatile first = std::malloc(1); // volatile: the pair would be optimised away
  std::free(first);
  uintptr_t large = end + gap + kSmallPage;
  uintptr_t newEnd = reinterpret_cast<uintptr_t>(sbrk(0));
  if (newEnd > large) madvise(reinterpret_cast<void *>(large), newEnd - large, MADV_HUGEPAGE);
#endif
}
