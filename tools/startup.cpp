// What runs before the constructors of LLVM's global objects, of which there are thousands: a compilation of a small
// kernel takes a few milliseconds, and setting up the process was a good part of it.
#include "llvm/Support/CommandLine.h"
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
extern "C" char __data_start[], _end[]; // of the program's own variables, by the linker
#endif

[[gnu::constructor(101)]] static void startUp() {
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
  // The constructors to come write to all pages of variables but a few: one call instead of 150 faults. (Where the
  // kernel does not know the call, before Linux 5.14, the faults are taken.)
  uintptr_t firstPage = reinterpret_cast<uintptr_t>(__data_start) & ~uintptr_t(4095);
  madvise(reinterpret_cast<void *>(firstPage), reinterpret_cast<uintptr_t>(_end) - firstPage, MADV_POPULATE_WRITE);
#endif
#ifdef __GLIBC__
  // The heap grows in few steps and is never handed back piecemeal, and may use large pages: a fault per 2 MiB
  // instead of one per 4 KiB, where the kernel leaves that to programs (transparent huge pages "madvise"). malloc
  // writes at its beginning as soon as it exists: that stays a small page, the last one before a multiple of 2 MiB.
  constexpr uintptr_t kLargePage = 2 << 20, kSmallPage = 4 << 10;
  mallopt(M_TOP_PAD, 16 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 256 << 20);
  uintptr_t end = reinterpret_cast<uintptr_t>(sbrk(0)), gap = (0 - end - kSmallPage) % kLargePage;
  if (sbrk(intptr_t(gap)) == reinterpret_cast<void *>(end)) {
    void *volatile first = std::malloc(1); // volatile: the pair would be optimised away
    std::free(first);
    uintptr_t large = end + gap + kSmallPage, newEnd = reinterpret_cast<uintptr_t>(sbrk(0));
    if (newEnd > large) madvise(reinterpret_cast<void *>(large), newEnd - large, MADV_HUGEPAGE);
  }
#endif
}

#ifdef TESSERA_ONE_PROGRAM
// These two took one in fourteen instructions of a small kernel's compilation, and memory to write to.

// LLVM's command-line options, of which there are 2,400, register themselves in a table of names. Nobody gives them
// here; only codegen_amd/scheduler_options.cpp looks two up. (The linker sends the constructors here: --wrap.)
extern "C" void __real__ZN4llvm2cl6Option11addArgumentEv(llvm::cl::Option *);
extern "C" void __wrap__ZN4llvm2cl6Option11addArgumentEv(llvm::cl::Option *option) {
  if (option->ArgStr.starts_with("amdgpu-")) __real__ZN4llvm2cl6Option11addArgumentEv(option);
}

// Destructors of global objects, which the program's end leaves out (main.cpp), need not be noted down.
extern "C" [[gnu::visibility("hidden")]] int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
#endif
