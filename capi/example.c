/* Compiles a kernel for the targets named on the command line: cc -std=c99 example.c $(pkg-config --cflags --libs tessera)
 *
 *   example kernel.ttir sm_90a gfx942
 */
#include <stdio.h>
#include <stdlib.h>
#include <tessera.h>

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

int main(int argc, char **argv) {
  size_t length = 0;
  char *text = argc > 2 ? read_file(argv[1], &length) : NULL;
  tessera_options options;
  tessera_status worst = TESSERA_OK;
  if (!text) {
    fprintf(stderr, "usage: %s KERNEL.ttir TARGET...\n", argv[0]);
    return TESSERA_USAGE;
  }
  tessera_options_init(&options, sizeof options);
  for (int i = 2; i < argc; ++i) {
    tessera_result *result;
    tessera_status status;
    size_t bytes;
    options.target = argv[i];
    options.stage = argv[i][0] == 's' ? "ptx" : "hsaco";
    status = tessera_compile(text, length, argv[1], &options, print, NULL, &result);
    if (status > worst) worst = status;
    if (status) continue;
    tessera_result_data(result, &bytes);
    printf("%s: %lu bytes of %s\n%s\n", argv[i], (unsigned long)bytes, options.stage, tessera_result_metadata(result));
    tessera_result_destroy(result);
  }
  free(text);
  return (int)worst;
}
