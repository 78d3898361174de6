/* Launches one kernel with arguments of several kinds; each kind gets code of its own. See README.md. */
#include <stdio.h>
#include <string.h>
#include <tessera.h>

/* out[i] = x[i * stride] for i < n: with a stride of 1 a thread reads several elements at once. */
static const char kText[] = "module {\n"
                            "  tt.func public @gather(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32, %stride: i32) {\n"
                            "    %c256 = arith.constant 256 : i32\n"
                            "    %pid = tt.get_program_id x : i32\n"
                            "    %base = arith.muli %pid, %c256 : i32\n"
                            "    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>\n"
                            "    %first = tt.splat %base : i32 -> tensor<256xi32>\n"
                            "    %i = arith.addi %first, %range : tensor<256xi32>\n"
                            "    %end = tt.splat %n : i32 -> tensor<256xi32>\n"
                            "    %mask = arith.cmpi slt, %i, %end : tensor<256xi32>\n"
                            "    %strides = tt.splat %stride : i32 -> tensor<256xi32>\n"
                            "    %at = arith.muli %i, %strides : tensor<256xi32>\n"
                            "    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>\n"
                            "    %from = tt.addptr %xs, %at : tensor<256x!tt.ptr<f32>>, tensor<256xi32>\n"
                            "    %v = tt.load %from, %mask : tensor<256x!tt.ptr<f32>>\n"
                            "    %outs = tt.splat %out : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>\n"
                            "    %to = tt.addptr %outs, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>\n"
                            "    tt.store %to, %v, %mask : tensor<256x!tt.ptr<f32>>\n"
                            "    tt.return\n"
                            "  }\n"
                            "}\n";

enum { COUNT = 4096 };

static void print(const tessera_diagnostic *d, void *user) {
  (void)user;
  fputs(d->text, stderr);
}

/* Everything that is made; destroyed at the end whatever happened. */
static tessera_context *context;
static tessera_device *device;
static tessera_module *module;
static tessera_variants *variants;
static tessera_buffer *x, *out;
static float numbers[COUNT], results[COUNT];

/* The handler has printed what went wrong. */
#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    tessera_status status_ = (call);                                                                                   \
    if (status_) return status_;                                                                                       \
  } while (0)

static tessera_status gather(int n, int stride) {
  const uint32_t grid[3] = {(uint32_t)(n + 255) / 256, 1, 1};
  tessera_argument arguments[4];
  tessera_kernel *kernel; /* of the variants */
  arguments[0] = tessera_argument_buffer(x);
  arguments[1] = tessera_argument_buffer(out);
  arguments[2] = tessera_argument_value(&n, sizeof n);
  arguments[3] = tessera_argument_value(&stride, sizeof stride);
  TRY(tessera_variants_kernel(variants, arguments, 4, &kernel, NULL));
  TRY(tessera_launch(kernel, grid, arguments, 4, NULL));
  TRY(tessera_buffer_read(out, 0, results, (size_t)n * sizeof results[0], NULL));
  for (int i = 0; i < n; ++i)
    if (results[i] != numbers[i * stride]) {
      fprintf(stderr, "element %d is %g, not %g\n", i, results[i], numbers[i * stride]);
      return TESSERA_FAILED;
    }
  printf("n = %4d, stride = %2d: right; variants: %zu\n", n, stride, tessera_variants_count(variants));
  return TESSERA_OK;
}

static tessera_status run(const char *spec) {
  tessera_context_options options;
  tessera_context_options_init(&options, sizeof options);
  options.handler = print;
  TRY(tessera_context_create(&options, &context, NULL));
  TRY(tessera_device_open(context, spec, &device, NULL));
  TRY(tessera_module_parse(context, kText, strlen(kText), "gather.ttir", &module, NULL));
  TRY(tessera_variants_create(device, module, NULL, &variants, NULL));
  for (int i = 0; i < COUNT; ++i) numbers[i] = (float)i;
  TRY(tessera_buffer_create(device, sizeof numbers, &x, NULL));
  TRY(tessera_buffer_create(device, sizeof results, &out, NULL));
  TRY(tessera_buffer_write(x, 0, numbers, sizeof numbers, NULL));
  TRY(gather(1024, 1)); /* n is divisible by 16, the stride is 1 */
  TRY(gather(2048, 1)); /* the same code */
  TRY(gather(1000, 1)); /* nothing is known of n */
  return gather(100, 16);
}

int main(int argc, char **argv) {
  tessera_status status = run(argc > 1 ? argv[1] : NULL);
  tessera_variants_destroy(variants);
  tessera_module_destroy(module);
  tessera_buffer_destroy(x);
  tessera_buffer_destroy(out);
  tessera_device_destroy(device);
  tessera_context_destroy(context);
  return (int)status;
}
