// What the sanitizers of the asan preset must know about libraries that are built without them, libLLVM and lld
// first. Options given in ASAN_OPTIONS and LSAN_OPTIONS still count.
//
// LLVM's allocators mark the unused part of their memory for AddressSanitizer, in code inlined into whoever was built
// with it: memory that one side marked, the other hands out without taking the mark off. And where code generation
// ends in one of LLVM's fatal errors (codegen/object/fatal_errors.h), the module and the passes that were at work are
// left behind. libnvJitLink leaks a little itself.
//
// LLVM gives a thread that compiles a signal stack of its own, which AddressSanitizer would unmap at the thread's end
// as if it were the sanitizer's. An allocation that cannot be is a null pointer, as without the sanitizer.
extern "C" {
const char *__asan_default_options() { return "allow_user_poisoning=0:use_sigaltstack=0:allocator_may_return_null=1"; }
const char *__lsan_default_suppressions() { return "leak:libLLVM\nleak:libnvJitLink\n"; }
const char *__lsan_default_options() { return "print_suppressions=0"; }
}
