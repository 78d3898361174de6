/* Adds two vectors on a device: compiles the kernel for it, loads and launches it, checks the result. See README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <tessera.h>

enum { COUNT = 5000, BLOCK = 256 }; /* elements, and how many of them a block of the kernel adds */

static void print(const tessera_diagnostic *d, void *user) {
  (void)user;
  fputs(d->text, stderr);
}

static char *read_file(const char *path, size_t *length) {
  FILE *f = fopen(path, "rb");
  char *text;
  long size;
  if (!f) return NULL;
  if (fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
    fclose(f);
    return NULL;
  }
  text = malloc((size_t)size + 1);
  if (text) *length = fread(text, 1, (size_t)size, f);
  fclose(f);
  return text;
}

/* Everything that is made; destroyed at the end whatever happened. */
static tessera_context *context;
static tessera_device *device;
static tessera_kernel *kernel;
static tessera_stream *stream;
static tessera_buffer *x, *y, *out;
static float numbers[3][COUNT];

/* The handler has printed what went wrong. (Each call's last parameter can return the error instead.) */
#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    tessera_status status_ = (call);                                                                                   \
    if (status_) return status_;                                                                                       \
  } while (0)

static tessera_status add(const char *file, const char *text, size_t length, const char *spec) {
  tessera_context_options options;
  tessera_argument arguments[4];
  tessera_times times;
  const uint32_t grid[3] = {(COUNT + BLOCK - 1) / BLOCK, 1, 1};
  int n = COUNT;
  tessera_context_options_init(&options, sizeof options);
  options.handler = print;
  TRY(tessera_context_create(&options, &context, NULL));
  TRY(tessera_device_open(context, spec, &device, NULL));
  TRY(tessera_kernel_compile(device, text, length, file, NULL, &kernel, NULL));
  for (int i = 0; i < COUNT; ++i) {
    numbers[0][i] = (float)i;
    numbers[1][i] = (float)(2 * i + 1);
  }
  TRY(tessera_buffer_create(device, sizeof numbers[0], &x, NULL));
  TRY(tessera_buffer_create(device, sizeof numbers[1], &y, NULL));
  TRY(tessera_buffer_create(device, sizeof numbers[2], &out, NULL));
  TRY(tessera_buffer_write(x, 0, numbers[0], sizeof numbers[0], NULL));
  TRY(tessera_buffer_write(y, 0, numbers[1], sizeof numbers[1], NULL));
  arguments[0] = tessera_argument_buffer(x);
  arguments[1] = tessera_argument_buffer(y);
  arguments[2] = tessera_argument_buffer(out);
  arguments[3] = tessera_argument_value(&n, sizeof n);
  TRY(tessera_stream_create(device, &stream, NULL));
  TRY(tessera_stream_launch(stream, kernel, grid, arguments, 4, NULL)); /* tessera_launch would wait */
  TRY(tessera_stream_synchronize(stream, NULL));
  TRY(tessera_buffer_read(out, 0, numbers[2], sizeof numbers[2], NULL));
  for (int i = 0; i < COUNT; ++i)
    if (numbers[2][i] != numbers[0][i] + numbers[1][i]) {
      fprintf(stderr, "element %d is %g, not %g\n", i, numbers[2][i], numbers[0][i] + numbers[1][i]);
      return TESSERA_FAILED;
    }
  TRY(tessera_time(kernel, grid, arguments, 4, 10, &times, NULL));
  printf("%s (%s): %d sums are right; median of 10 launches %g ms\n", tessera_device_describe(device)->spec,
         tessera_device_describe(device)->name, COUNT, times.median_ms);
  return TESSERA_OK;
}

int main(int argc, char **argv) {
  size_t length = 0;
  char *text;
  tessera_status status;
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: %s VECADD.ttir [DEVICE]\n", argv[0]);
    return TESSERA_USAGE;
  }
  text = read_file(argv[1], &length);
  if (!text) {
    perror(argv[1]);
    return TESSERA_INPUT;
  }
  status = add(argv[1], text, length, argc == 3 ? argv[2] : NULL);
  tessera_buffer_destroy(x);
  tessera_buffer_destroy(y);
  tessera_buffer_destroy(out);
  tessera_stream_destroy(stream);
  tessera_kernel_destroy(kernel);
  tessera_device_destroy(device);
  tessera_context_destroy(context);
  free(text);
  return (int)status;
}
