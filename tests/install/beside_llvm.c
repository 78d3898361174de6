/* libtessera.so beside another LLVM in one process, both with their symbols in the global scope. Checks that
 * - kernels compile for both vendors, before and after the other LLVM has been used;
 * - the process's signal handlers are as before.
 * usage: beside_llvm LIBTESSERA LIBLLVM KERNEL.ttir */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                                    \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static void *symbol(void *library, const char *name) {
  void *address = dlsym(library, name);
  if (!address) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return address;
}

static char text[1 << 20];
static void *tessera;

static void compile(const char *target, const char *stage, const char *expected) {
  tessera_status (*context_create)(const tessera_context_options *, tessera_context **, tessera_error **);
  void (*options_init)(tessera_options *, size_t);
  tessera_status (*compile_text)(tessera_context *, const char *, size_t, const char *, const tessera_options *,
                                 tessera_result **, tessera_error **);
  const char *(*error_text)(const tessera_error *);
  const char *(*data)(const tessera_result *, size_t *);
  void (*result_destroy)(tessera_result *);
  void (*context_destroy)(tessera_context *);
  *(void **)&context_create = symbol(tessera, "tessera_context_create");
  *(void **)&options_init = symbol(tessera, "tessera_options_init");
  *(void **)&compile_text = symbol(tessera, "tessera_compile");
  *(void **)&error_text = symbol(tessera, "tessera_error_text");
  *(void **)&data = symbol(tessera, "tessera_result_data");
  *(void **)&result_destroy = symbol(tessera, "tessera_result_destroy");
  *(void **)&context_destroy = symbol(tessera, "tessera_context_destroy");
  tessera_context *context = NULL;
  tessera_result *result = NULL;
  tessera_error *error = NULL;
  tessera_options options;
  size_t length = 0;
  options_init(&options, sizeof options);
  options.target = target;
  options.stage = stage;
  CHECK(context_create(NULL, &context, NULL) == TESSERA_OK);
  if (compile_text(context, text, strlen(text), "k.ttir", &options, &result, &error)) {
    fputs(error_text(error), stderr);
    exit(1);
  }
  CHECK(memmem(data(result, &length), length, expected, strlen(expected)) != NULL);
  result_destroy(result);
  context_destroy(context);
}

/* Makes a module with the other LLVM. */
static void use_other(void *llvm) {
  void (*version)(unsigned *, unsigned *, unsigned *);
  void *(*context_create)(void);
  void (*context_dispose)(void *);
  void *(*module_create)(const char *, void *);
  void (*module_dispose)(void *);
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  *(void **)&version = symbol(llvm, "LLVMGetVersion");
  *(void **)&context_create = symbol(llvm, "LLVMContextCreate");
  *(void **)&context_dispose = symbol(llvm, "LLVMContextDispose");
  *(void **)&module_create = symbol(llvm, "LLVMModuleCreateWithNameInContext");
  *(void **)&module_dispose = symbol(llvm, "LLVMDisposeModule");
  version(&major, &minor, &patch);
  CHECK(major > 0);
  void *context = context_create();
  module_dispose(module_create("m", context));
  context_dispose(context);
}

int main(int argc, char **argv) {
  struct sigaction before[NSIG];
  FILE *file;
  void *llvm;
  CHECK(argc == 4);
  CHECK((file = fopen(argv[3], "rb")) != NULL);
  CHECK(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  CHECK((llvm = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL)) != NULL);
  use_other(llvm);
  memset(before, 0, sizeof before);
  for (int s = 1; s < NSIG; ++s) sigaction(s, NULL, &before[s]);
  if (!(tessera = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  for (int round = 0; round < 2; ++round) {
    compile("sm_90a", "ptx", ".visible .entry");
    compile("gfx942", "hsaco", "\177ELF");
    use_other(llvm);
  }
  for (int s = 1; s < NSIG; ++s) {
    struct sigaction after;
    memset(&after, 0, sizeof after);
    sigaction(s, NULL, &after);
    if (after.sa_handler != before[s].sa_handler) {
      fprintf(stderr, "the handler of signal %d has changed\n", s);
      return 1;
    }
  }
  puts("libtessera.so and LLVM work side by side");
  return 0;
}
