// Leaves out two thirds of what LLVM's static constructors do in a program that never reads LLVM's command line: the
// registration of 2,400 options in a table of names, and the list of destructors. See README.md.
#include "llvm/Support/CommandLine.h"

// Only options of the AMDGPU back end and one of loop strength reduction (codegen/object/strength_reduction.h) are
// looked up by name. The linker sends all calls here (--wrap).
extern "C" void __real__ZN4llvm2cl6Option11addArgumentEv(llvm::cl::Option *);
extern "C" void __wrap__ZN4llvm2cl6Option11addArgumentEv(llvm::cl::Option *option) {
  bool isLookedUp = option->ArgStr.starts_with("amdgpu-") || option->ArgStr == "lsr-drop-solution";
  if (isLookedUp) __real__ZN4llvm2cl6Option11addArgumentEv(option);
}

// Destructors of global objects are not noted: the program ends with _Exit, which runs none (tools/main.cpp).
extern "C" [[gnu::visibility("hidden")]] int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
