/* Host time of a launch: tessera_stream_launch against a loop of the driver's own launch call, and how long it takes to
 * find the variant for arguments.
 *
 *   cc -O2 -std=gnu99 benchmarks/launch_cost.c $(pkg-config --cflags --libs tessera) -ldl -o launch_cost
 *   ./launch_cost tests/kernels/vecadd/vecadd.ttir cuda:0 [LAUNCHES]
 *
 * The driver's library is the one that libtessera opens (TESSERA_CUDA_LIBRARY, TESSERA_HIP_LIBRARY). A kernel that does
 * as good as nothing (n is 0) is launched on one stream, which is synchronised after every 500 launches, so that no
 * launch waits for room in a queue. Each loop is run in 9 rounds, alternately; printed are the medians, in nanoseconds.
 * `--find-only` measures what needs no launch: any device. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>
#include <time.h>

enum { ROUNDS = 9, BETWEEN_SYNCHRONISATIONS = 500, PARAMETERS = 6 };

typedef int (*launch_function)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                               void **, void **);

static void print(const tessera_diagnostic *d, void *user) {
  (void)user;
  fputs(d->text, stderr);
}
static void check(int failed, const char *what) {
  if (!failed) return;
  fprintf(stderr, "%s failed (%d)\n", what, failed);
  exit(3);
}
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static double median(double *times) {
  qsort(times, ROUNDS, sizeof *times, compare);
  return times[ROUNDS / 2];
}

static tessera_device *device;
static tessera_kernel *kernel;
static tessera_stream *stream;
static tessera_variants *variants;
static tessera_argument arguments[PARAMETERS - 2];
static const uint32_t grid[3] = {1, 1, 1};

/* The same kernel as the driver's own: loaded once more from the compiler's output. */
static launch_function driver_launch;
static void *driver_function;
static unsigned threads;

static char *read_file(const char *path, size_t *length) {
  FILE *f = fopen(path, "rb");
  char *text = malloc(1 << 20);
  if (!f || !text) return NULL;
  *length = fread(text, 1, (1 << 20) - 1, f);
  fclose(f);
  return text;
}

static void load_by_driver(tessera_context *context, const char *text, size_t length) {
  const tessera_device_info *info = tessera_device_describe(device);
  int is_cuda = !strncmp(info->spec, "cuda", 4);
  const char *named = getenv(is_cuda ? "TESSERA_CUDA_LIBRARY" : "TESSERA_HIP_LIBRARY");
  void *library = dlopen(named ? named : is_cuda ? "libcuda.so.1" : "libamdhip64.so", RTLD_NOW);
  int (*load)(void **, const void *);
  int (*find)(void **, void *, const char *);
  void *module;
  const char *found;
  tessera_options options;
  tessera_result *result;
  check(!library, "dlopen of the driver's library");
  *(void **)&load = dlsym(library, is_cuda ? "cuModuleLoadData" : "hipModuleLoadData");
  *(void **)&find = dlsym(library, is_cuda ? "cuModuleGetFunction" : "hipModuleGetFunction");
  *(void **)&driver_launch = dlsym(library, is_cuda ? "cuLaunchKernel" : "hipModuleLaunchKernel");
  tessera_options_init(&options, sizeof options);
  options.target = info->target;
  check(tessera_compile(context, text, length, "kernel", &options, &result, NULL), "tessera_compile");
  check(load(&module, tessera_result_data(result, NULL)), "loading by the driver");
  check(find(&driver_function, module, "vecadd"), "finding 'vecadd' by the driver");
  found = strstr(tessera_result_metadata(result), "\"threads_per_block\":");
  check(!found, "reading the metadata");
  threads = (unsigned)atoi(found + strlen("\"threads_per_block\":"));
  tessera_result_destroy(result);
}

static double by_driver(int launches) {
  static uint64_t values[PARAMETERS]; /* null pointers, n = 0 and the two hidden pointers */
  void *parameters[PARAMETERS], *on = tessera_stream_native(stream);
  double time = 0;
  for (int i = 0; i < PARAMETERS; ++i) parameters[i] = &values[i];
  for (int done = 0; done < launches; done += BETWEEN_SYNCHRONISATIONS) {
    double start = now();
    for (int i = 0; i < BETWEEN_SYNCHRONISATIONS; ++i)
      check(driver_launch(driver_function, 1, 1, 1, threads, 1, 1, 0, on, parameters, NULL), "the driver's launch");
    time += now() - start;
    check(tessera_stream_synchronize(stream, NULL), "tessera_stream_synchronize");
  }
  return time / launches;
}
static double by_tessera(int launches, int finds) {
  double time = 0;
  for (int done = 0; done < launches; done += BETWEEN_SYNCHRONISATIONS) {
    double start = now();
    for (int i = 0; i < BETWEEN_SYNCHRONISATIONS; ++i) {
      if (finds) check(tessera_variants_kernel(variants, arguments, 4, &kernel, NULL), "tessera_variants_kernel");
      check(tessera_stream_launch(stream, kernel, grid, arguments, 4, NULL), "tessera_stream_launch");
    }
    time += now() - start;
    check(tessera_stream_synchronize(stream, NULL), "tessera_stream_synchronize");
  }
  return time / launches;
}
static double finding(int times) {
  tessera_kernel *k;
  double start = now();
  for (int i = 0; i < times; ++i)
    check(tessera_variants_kernel(variants, arguments, 4, &k, NULL), "tessera_variants_kernel");
  return (now() - start) / times;
}

int main(int argc, char **argv) {
  double driver[ROUNDS], tessera[ROUNDS], variant[ROUNDS], find[ROUNDS];
  int find_only = argc == 4 && !strcmp(argv[3], "--find-only"), launches;
  size_t length = 0;
  char *text = argc >= 3 ? read_file(argv[1], &length) : NULL;
  tessera_context_options options;
  tessera_context *context;
  tessera_module *module;
  uint64_t none = 0, odd = 4; /* addresses that 16 divides and does not */
  int32_t n = 0;
  if (!text) {
    fprintf(stderr, "usage: %s VECADD.ttir DEVICE [LAUNCHES | --find-only]\n", argv[0]);
    return 2;
  }
  launches = argc == 4 && !find_only ? atoi(argv[3]) : 50000;
  tessera_context_options_init(&options, sizeof options);
  options.handler = print;
  check(tessera_context_create(&options, &context, NULL), "tessera_context_create");
  check(tessera_device_open(context, argv[2], &device, NULL), "tessera_device_open");
  check(tessera_module_parse(context, text, length, argv[1], &module, NULL), "tessera_module_parse");
  check(tessera_variants_create(device, module, NULL, &variants, NULL), "tessera_variants_create");
  for (int i = 0; i < 3; ++i) arguments[i] = tessera_argument_value(&none, sizeof none);
  arguments[3] = tessera_argument_value(&n, sizeof n);
  for (int i = 0; i < 8; ++i) { /* eight variants, the last of which is looked for */
    n = i % 2 ? 7 : 1;
    arguments[1].value = i / 2 % 2 ? &none : &odd;
    arguments[2].value = i / 4 ? &none : &odd;
    check(tessera_variants_kernel(variants, arguments, 4, &kernel, NULL), "tessera_variants_kernel");
  }
  n = 0;
  check(tessera_variants_kernel(variants, arguments, 4, &kernel, NULL), "tessera_variants_kernel");
  if (find_only) {
    for (int i = 0; i < ROUNDS; ++i) find[i] = finding(1000000);
    printf("tessera_variants_kernel %8.1f ns, one of %zu\n", median(find), tessera_variants_count(variants));
    return 0;
  }
  check(tessera_stream_create(device, &stream, NULL), "tessera_stream_create");
  load_by_driver(context, text, length);
  by_driver(1000), by_tessera(1000, 0);
  for (int i = 0; i < ROUNDS; ++i) {
    driver[i] = by_driver(launches);
    tessera[i] = by_tessera(launches, 0);
    variant[i] = by_tessera(launches, 1);
    find[i] = finding(launches);
  }
  printf("%s, %d launches a round\n", tessera_device_describe(device)->name, launches);
  printf("driver's launch call            %8.1f ns\n", median(driver));
  printf("tessera_stream_launch           %8.1f ns, %.2f times\n", median(tessera), median(tessera) / median(driver));
  printf("with tessera_variants_kernel    %8.1f ns\n", median(variant));
  printf("tessera_variants_kernel alone   %8.1f ns, one of %zu\n", median(find), tessera_variants_count(variants));
  return 0;
}
