// Options of AddressSanitizer for the test programs. LLVM gives a thread that compiles a signal stack of its own, which the
// sanitizer would unmap at the thread's end as if it were the sanitizer's. An allocation that cannot be is a null pointer, as
// without the sanitizer.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() { return "use_sigaltstack=0:allocator_may_return_null=1"; }
