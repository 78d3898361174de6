/* Compiles a kernel for a target and prints its assembly: PTX for NVIDIA, AMDGCN for AMD. See README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  long size;
  if (!file) return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0 &&
      (text = malloc((size_t)size + 1)) != NULL)
    *length = fread(text, 1, (size_t)size, file);
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  tessera_context *context = NULL;
  tessera_options options;
  tessera_result *result = NULL;
  tessera_error *error = NULL;
  tessera_status status;
  size_t length = 0;
  char *text;
  if (argc != 3) {
    fprintf(stderr, "usage: %s KERNEL.ttir TARGET\n", argv[0]);
    return TESSERA_USAGE;
  }
  text = read_file(argv[1], &length);
  if (!text) {
    perror(argv[1]);
    return TESSERA_INPUT;
  }
  tessera_options_init(&options, sizeof options);
  options.target = argv[2];
  options.stage = strncmp(argv[2], "sm_", 3) == 0 ? "ptx" : "amdgcn";
  status = tessera_context_create(NULL, &context, &error);
  if (!status) status = tessera_compile(context, text, length, argv[1], &options, &result, &error);
  if (status)
    fputs(tessera_error_text(error), stderr);
  else
    fputs(tessera_result_data(result, NULL), stdout);
  tessera_error_destroy(error);
  tessera_result_destroy(result);
  tessera_context_destroy(context);
  free(text);
  return (int)status;
}
