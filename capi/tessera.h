/* The compiler for programs that embed it: TTIR or TTGIR text in, code for a GPU out. C99; nothing of C++ or LLVM shows.
 *
 * Status     Every function that can fail returns one, with the meaning of the program's exit codes. A failure has told
 *            the handler why at least once, and leaves *result null.
 * Ownership  Texts and options belong to the caller and are not kept. A result belongs to the caller, who destroys it; what
 *            is read from it lives as long as it does. What a diagnostic points to lives until the handler returns.
 * Threads    All functions may be called from any number of threads at once. A handler is called on the thread that made
 *            the call, while it runs.
 * Process    Nothing is printed and the process is never ended; errors that LLVM calls fatal are failures like others. Tools
 *            (ptxas, device libraries) are found as the program `tessera` finds them: docs/command_line.md, "Environment".
 */
#ifndef TESSERA_H
#define TESSERA_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tessera_status {
  TESSERA_OK = 0,
  TESSERA_INPUT = 1,  /* the text is at fault */
  TESSERA_USAGE = 2,  /* an argument or option is */
  TESSERA_FAILED = 3, /* a tool or library is missing or failed */
} tessera_status;

typedef enum tessera_severity { TESSERA_ERROR = 0, TESSERA_WARNING = 1, TESSERA_REMARK = 2, TESSERA_NOTE = 3 } tessera_severity;

typedef struct tessera_diagnostic {
  tessera_severity severity;
  const char *message;
  const char *file;      /* "" where it is not known */
  unsigned line, column; /* from 1; 0 where they are not known */
  const char *text;      /* all of it, as `tessera` prints it: place, message, the line with a caret, notes */
} tessera_diagnostic;

typedef void (*tessera_handler)(const tessera_diagnostic *, void *user);

typedef struct tessera_options {
  size_t size;        /* set by tessera_options_init: options that are added later come after those of today */
  const char *target; /* "sm_90a", "gfx942", … (tessera_target); needed to compile */
  const char *stage;  /* ttir ttgir llir, ptx cubin, amdgcn hsaco; NULL: the last of the target */
  const char *kernel; /* which function of several; NULL: the only one */
  int num_warps, num_stages, num_ctas;
  int opt_level;      /* 0 to 3 */
  int fp_fusion;      /* whether a * b + c is contracted */
  int line_info;      /* whether the code knows source lines */
} tessera_options;

/* The defaults: 4 warps, 3 stages, 1 block per cluster, level 3, fusion, no lines, no target. `size` is
 * sizeof(tessera_options). */
void tessera_options_init(tessera_options *, size_t size);

typedef struct tessera_result tessera_result;

/* Compiles a kernel. `file_name` is what diagnostics call the text; `handler` may be NULL, `user` is handed to it. */
tessera_status tessera_compile(const char *text, size_t length, const char *file_name, const tessera_options *, tessera_handler, void *user,
                               tessera_result **result);

/* Parses, verifies, runs passes and prints. Passes are named as by `tessera opt`: "cse", "tritongpu-pipeline=num-stages=2".
 * `target` (what passes may ask about) may be NULL: then it is the one that the text names, if it does. With no passes the
 * text is checked, and printed in today's spelling. */
tessera_status tessera_run_passes(const char *text, size_t length, const char *file_name, const char *const *passes, size_t count, const char *target,
                                  tessera_handler, void *user, tessera_result **result);

/* Text or the object's bytes; a NUL that `length` does not count follows. `length` may be NULL. */
const char *tessera_result_data(const tessera_result *, size_t *length);
/* What a launcher needs, as the JSON that `tessera compile --metadata` writes; "" of passes. */
const char *tessera_result_metadata(const tessera_result *);
void tessera_result_destroy(tessera_result *); /* NULL is fine */

const char *tessera_version(void);            /* "0.1.0" */
const char *tessera_target(size_t index);     /* the targets' names; NULL after the last */

#ifdef __cplusplus
}
#endif
#endif
