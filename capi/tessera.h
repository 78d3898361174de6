/* The compiler and its launcher for programs that embed them: TTIR or TTGIR text in, code for a GPU out, and launches.
 * C99; no C++ and no LLVM in the interface.
 *
 *   tessera_context_create(&options, &context, &error);
 *   tessera_device_open(context, "cuda:0", &device, &error);
 *   tessera_kernel_compile(device, text, length, "k.ttir", NULL, &kernel, &error);
 *   tessera_buffer_create(device, 4096, &buffer, &error);
 *   tessera_launch(kernel, grid, arguments, count, &error);
 *
 * Status     Every function that can fail returns a status, with the meaning of the program's exit codes, and takes an
 *            error out-parameter as its last, which may be NULL. It is set to NULL on success and to an error
 *            otherwise. After a failure the other out-parameters are NULL (or zero).
 * Ownership  What a function makes (`**` parameters, and errors) belongs to the caller, who destroys it; destroying
 *            NULL does nothing. Texts, options, arguments and bytes that are passed in belong to the caller and are not
 *            kept. Returned strings live as long as the object that they were read from. Objects may be destroyed in
 *            any order: what others need of them stays until those are gone.
 * Threads    All functions may be called from any number of threads at once, also on the same objects, but no object
 *            may be used while it is destroyed. Launches of one kernel by tessera_launch are serialised; the caller
 *            synchronises launches that access the same buffer. A call on a GPU's device, buffer or kernel makes that
 *            GPU the calling thread's current one (CUDA: its primary context, which is retained as long as the device).
 * Handler    A context's handler receives every diagnostic, errors among them, on the thread that made the call, while
 *            the call runs; calls of several threads may run it at the same time. What a diagnostic points to lives
 *            until the handler returns. The handler may be called until the context and all that was made with it are
 *            destroyed.
 * Process    The library prints nothing, does not end the process, and leaves its signal handlers as they are (LLVM's
 *            are installed while an hsaco is linked, and removed). Errors that LLVM treats as fatal become failed
 *            calls, and what LLVM had allocated by then is leaked. Memory that runs out inside LLVM and a stack
 *            overflow end the process. Compiling writes temporary files (AMD objects, cubins). The released library
 *            contains its own LLVM, whose global state is separate from any other LLVM in the process; a library built
 *            with shared LLVM uses the process's. While it compiles, it replaces that LLVM's handler of fatal errors
 *            and removes it afterwards (see tessera_set_fatal_error_handler), and sets two options of LLVM's scheduler
 *            for AMD, which are restored. It keeps LLVM's target machines, the files of device libraries and a loaded
 *            libnvJitLink for the next compilation, to the end of the process.
 * Tools      ptxas, device libraries and drivers are found as the program `tessera` finds them: docs/command_line.md,
 *            "Environment".
 */
#ifndef TESSERA_H
#define TESSERA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tessera_status {
  TESSERA_OK = 0,
  TESSERA_INPUT = 1,  /* the text is wrong */
  TESSERA_USAGE = 2,  /* an argument, an option or the value of an environment variable is wrong */
  TESSERA_FAILED = 3, /* a tool, library, driver or device is missing or failed, or the kernel failed while it ran */
} tessera_status;

/* ---- Errors and diagnostics ---- */

typedef struct tessera_error tessera_error;
tessera_status tessera_error_status(const tessera_error *); /* of the call that made it; TESSERA_OK for NULL */
const char *tessera_error_message(const tessera_error *);   /* the first error in one sentence; "" for NULL */
const char *tessera_error_text(const tessera_error *);      /* all errors, as `tessera` prints them; "" for NULL */
void tessera_error_destroy(tessera_error *);

typedef enum tessera_severity {
  TESSERA_ERROR = 0,
  TESSERA_WARNING = 1,
  TESSERA_REMARK = 2,
  TESSERA_NOTE = 3
} tessera_severity;

typedef struct tessera_diagnostic {
  tessera_severity severity; /* TESSERA_REMARK: also what a running kernel prints, on interpreter and emulators */
  const char *message;
  const char *file;      /* "" if unknown */
  unsigned line, column; /* from 1; 0 if unknown */
  const char *text;      /* as `tessera` prints it: place, message, the line with a caret, notes */
  /* Of a remark: which version of the kernel's body it is about, such as "aligned" or "general" (the message
   * says so, too); "" if the body exists once, or all of it is meant. */
  const char *version;
} tessera_diagnostic;

typedef void (*tessera_handler)(const tessera_diagnostic *, void *user);

/* ---- Contexts: the handler of diagnostics, and the cache of compiled kernels ---- */

typedef struct tessera_context tessera_context;

typedef struct tessera_context_options {
  size_t size; /* set by tessera_context_options_init: options that are added later come after those of today */
  tessera_handler handler;        /* may be NULL */
  void *user;                     /* passed to the handler */
  uint64_t cache_memory_bytes;    /* compiled kernels kept in memory; 0: none */
  const char *cache_directory;    /* also kept in files, which processes may share; NULL: no files */
  uint64_t cache_directory_bytes; /* size of these files; the least recently used are removed first */
} tessera_context_options;

/* The defaults: no handler, 64 MiB, no directory, 1 GiB. `size` is sizeof(tessera_context_options). */
void tessera_context_options_init(tessera_context_options *, size_t size);
/* `options` may be NULL: the defaults. */
tessera_status tessera_context_create(const tessera_context_options *options, tessera_context **, tessera_error **);
void tessera_context_destroy(tessera_context *);

/* The key of an entry is text, file name, target, options, this library and the toolkit's files. Kernels that
 * compile with a diagnostic are not cached. A directory that cannot be written to is no error. */
typedef struct tessera_cache_counts {
  uint64_t memory_hits, directory_hits, misses;
  uint64_t damaged;   /* files with a wrong checksum: counted as misses, and replaced */
  uint64_t unwritten; /* entries that could not be written to the directory */
} tessera_cache_counts;
tessera_status tessera_cache_count(tessera_context *, tessera_cache_counts *, tessera_error **);
/* Empties the cache, in memory and in the directory. */
tessera_status tessera_cache_clear(tessera_context *, tessera_error **);

/* ---- Compiling ---- */

typedef struct tessera_options {
  size_t size;              /* set by tessera_options_init: options that are added later come after those of today */
  const char *target;       /* "sm_90a", "gfx942", … (tessera_target); tessera_compile needs it; NULL: the device's */
  const char *stage;        /* the output: see below; NULL: the target's last */
  const char *kernel;       /* which function of several; NULL: the only one */
  int num_warps;            /* per block, a power of two; of 32 threads, on gfx9 of 64; at most 1024 threads */
  int num_stages;           /* of software pipelines, 0 to 100; 0: none; 1: only of wgmma loops with few warps */
  int num_ctas;             /* blocks per cluster: a hint; 1, 2, 4 or 8 where the target has clusters, else 1 */
  int opt_level;            /* 0 to 3 */
  int fp_fusion;            /* whether a * b + c is contracted */
  int line_info;            /* whether the code has source lines for debuggers */
  int waves_per_eu;         /* AMD: waves per SIMD that the registers should allow, a hint, at most as many as the SIMD
                             * holds (8, on gfx1100 to gfx1201 16); 0: the compiler's choice */
  int matrix_instr_nonkdim; /* AMD: rows and columns of matrix instructions, 16 or 32; 0: the compiler's choice */
  int exact_num_warps;      /* not 0: num_warps warps. Else the compiler may take two to eight times as many where
                             * registers would be spilled, add four of which one only copies, and take fewer where
                             * most would have nothing to do; threads_per_block of the metadata is what to launch */
  int keep_texts;           /* not 0: the result has the texts of its stages, too (tessera_result_text) */
  int remarks;              /* not 0: the handler also receives, as remarks, what passes did and could not do, and why.
                             * With either of the two a compilation does not use the cache */
  int maxnreg;              /* NVIDIA: the most registers of a thread, at most 256; 0: the compiler's choice */
  int no_tensor_memory;     /* sm_100a, not 0: dots by mma.sync instead of tcgen05 */
} tessera_options;

/* Stages are "ttir", "ttgir", "llir", then "ptx" and "cubin", or "amdgcn" and "hsaco"; "bitcode" is for emulators.
 * The defaults: 4 warps, 3 stages, 1 block per cluster, level 3, fusion, no lines, no target. `size` is
 * sizeof(tessera_options). */
void tessera_options_init(tessera_options *, size_t size);

typedef struct tessera_result tessera_result;

/* Compiles a kernel, or finds it in the cache. `length` is the text's length in bytes; diagnostics show `file_name`
 * (NULL: "<text>"). */
tessera_status tessera_compile(tessera_context *, const char *text, size_t length, const char *file_name,
                               const tessera_options *, tessera_result **, tessera_error **);

/* Parses, verifies, runs passes and prints. Passes have the names of `tessera opt`: "cse",
 * "tritongpu-pipeline=num-stages=2". `target`, which passes may query, may be NULL: then it is the one that the text
 * names, if any. Without passes the text is verified and printed in the current spelling. */
tessera_status tessera_run_passes(tessera_context *, const char *text, size_t length, const char *file_name,
                                  const char *const *passes, size_t count, const char *target, tessera_result **,
                                  tessera_error **);

/* ---- Modules: text that is parsed once ---- */

typedef struct tessera_module tessera_module;

/* Parses and verifies; text of several kernels is one module. */
tessera_status tessera_module_parse(tessera_context *, const char *text, size_t length, const char *file_name,
                                    tessera_module **, tessera_error **);
/* The names of the functions that can be compiled, in the text's order; NULL after the last. */
const char *tessera_module_kernel(const tessera_module *, size_t index);
/* As tessera_run_passes, on the module, which changes only if all passes succeed. */
tessera_status tessera_module_run_passes(tessera_module *, const char *const *passes, size_t count, const char *target,
                                         tessera_error **);
/* The text in the current spelling, with or without locations. */
tessera_status tessera_module_print(const tessera_module *, int locations, tessera_result **, tessera_error **);
/* As tessera_compile. The module does not change: it may be compiled any number of times. */
tessera_status tessera_module_compile(const tessera_module *, const tessera_options *, tessera_result **,
                                      tessera_error **);
void tessera_module_destroy(tessera_module *);

/* Text or the object's bytes; a NUL that `length` does not count follows. `length` may be NULL. */
const char *tessera_result_data(const tessera_result *, size_t *length);
/* What a launcher needs, as the JSON that `tessera compile --metadata` writes; "" for the result of passes. */
const char *tessera_result_metadata(const tessera_result *);
/* The text of a stage, "ttgir", "llir", "ptx" or "amdgcn", of a compilation with keep_texts; NULL if it was not made.
 * `length` may be NULL. */
const char *tessera_result_text(const tessera_result *, const char *stage, size_t *length);
void tessera_result_destroy(tessera_result *);

/* ---- Layouts ---- */

/* Shows how a tensor is laid out: `layout` is an attribute ("#ttg.blocked<{sizePerThread = [1, 4], ...}>"), `tensor` a
 * type ("tensor<16x16xf16>") of at most 1,048,576 elements, in drawings 65,536. Formats are "text" (for each element,
 * who holds it), "hardware" (for each thread, what it holds), "svg" and "html". */
tessera_status tessera_layout(tessera_context *, const char *layout, const char *tensor, const char *format,
                              tessera_result **, tessera_error **);

/* ---- Devices: GPUs, emulators of GPUs, and the interpreter of the text itself ---- */

typedef struct tessera_device tessera_device;

typedef struct tessera_device_info {
  const char *spec;      /* as tessera_device_open takes it: "cuda:0", "hip:1", "emulator:gfx942", "interpreter" */
  const char *name;      /* "NVIDIA H200" */
  const char *target;    /* "sm_90a"; "" of the interpreter */
  const char *stage;     /* what tessera_kernel_load takes: cubin, hsaco, bitcode, or ttir (ttgir, too) */
  const char *driver;    /* its version */
  uint64_t memory_bytes; /* 0: the host's */
  /* Of the target; 0 where there is none, as on the interpreter. */
  uint64_t shared_bytes_per_block; /* shared memory that a block can have */
  uint32_t threads_per_warp;
} tessera_device_info;

/* All devices of the machine: the GPUs in the drivers' order, CUDA's first, and last the interpreter. Emulators, one
 * for every target, are not listed. A driver that is installed and fails is a warning. */
typedef struct tessera_device_list tessera_device_list;
tessera_status tessera_device_list_create(tessera_context *, tessera_device_list **, tessera_error **);
size_t tessera_device_list_count(const tessera_device_list *);
/* NULL after the last. */
const tessera_device_info *tessera_device_list_info(const tessera_device_list *, size_t index);
void tessera_device_list_destroy(tessera_device_list *);

/* `spec` NULL: the first of the list. */
tessera_status tessera_device_open(tessera_context *, const char *spec, tessera_device **, tessera_error **);
const tessera_device_info *tessera_device_describe(const tessera_device *); /* NULL of NULL */
void tessera_device_destroy(tessera_device *);

/* ---- Memory of a device ---- */

typedef struct tessera_buffer tessera_buffer;

/* The contents are undefined at first. 0 bytes are fine. */
tessera_status tessera_buffer_create(tessera_device *, size_t bytes, tessera_buffer **, tessera_error **);
size_t tessera_buffer_bytes(const tessera_buffer *); /* 0 of NULL */
/* These bytes count as never written, until a kernel or tessera_buffer_write writes them: interpreter and emulators
 * report a kernel that reads them and depends on what it finds. Their contents stay. Without effect on GPUs. */
tessera_status tessera_buffer_undefine(tessera_buffer *, size_t offset, size_t bytes, tessera_error **);
/* Copies `bytes` bytes to or from the buffer, which begin at `offset`, and waits for the copy. */
tessera_status tessera_buffer_write(tessera_buffer *, size_t offset, const void *from, size_t bytes, tessera_error **);
tessera_status tessera_buffer_read(const tessera_buffer *, size_t offset, void *to, size_t bytes, tessera_error **);
void tessera_buffer_destroy(tessera_buffer *);

/* ---- Kernels ---- */

typedef struct tessera_kernel tessera_kernel;

/* Compiles a kernel for the device, or finds it in the context's cache, and loads it. `options` may be NULL: the
 * defaults. Their stage is ignored: the device's is used. */
tessera_status tessera_kernel_compile(tessera_device *, const char *text, size_t length, const char *file_name,
                                      const tessera_options *, tessera_kernel **, tessera_error **);
/* The same for a module. */
tessera_status tessera_kernel_compile_module(tessera_device *, const tessera_module *, const tessera_options *,
                                             tessera_kernel **, tessera_error **);
/* Loads what was compiled before: a result's data (of the device's stage) and metadata. For the interpreter
 * `metadata` may be NULL: the module's only kernel is loaded. */
tessera_status tessera_kernel_load(tessera_device *, const char *object, size_t length, const char *metadata,
                                   tessera_kernel **, tessera_error **);
/* As tessera_result_metadata; on the interpreter only the kernel's name and arguments. */
const char *tessera_kernel_metadata(const tessera_kernel *);
void tessera_kernel_destroy(tessera_kernel *);

/* An argument of a kernel.
 * For a pointer: `buffer` and an offset into it, or the address itself as a `value` of 8 bytes. GPUs take any
 * address that they can access, also memory of another library; interpreter and emulators take NULL only.
 * For a scalar: its `value` in the type's representation: 1 byte for i1 (0 or 1), 2 for f16 and bf16, and so on;
 * other sizes are refused.
 * For a tensor descriptor: tessera_argument_descriptor.
 * What the text promises about an argument (tt.divisibility) must hold: on GPUs nothing checks it. */
typedef struct tessera_argument {
  const tessera_buffer *buffer; /* on the kernel's device (any handle of it); NULL: `value` is used */
  size_t offset;                /* in bytes, at most the buffer's size */
  const void *value;
  size_t bytes; /* size of what `value` points to */
} tessera_argument;
tessera_argument tessera_argument_buffer(const tessera_buffer *);
tessera_argument tessera_argument_value(const void *value, size_t bytes);

/* A tensor descriptor, for an argument of type !tt.tensordesc: one argument of the launch, whether the kernel's code
 * takes its parts or a tensor map of it ("tensordesc_meta" of the metadata). Shapes and strides are in elements,
 * outermost dimension first. A kernel of Triton takes the shape (i32) and the strides (i64) once more, as arguments of
 * their own. Where the code takes the parts (base, shape and strides as i64, whether the padding is NaN as i1), they
 * may also be passed one by one. */
typedef struct tessera_tensor_descriptor {
  size_t size;              /* set by tessera_tensor_descriptor_init: fields that are added later come after these */
  const char *element_type; /* the kernel's: "f16", "i8", … as in launch descriptions */
  unsigned rank;            /* 1 to 5 */
  int64_t shape[5];         /* at least 1 */
  int64_t strides[5];       /* the last is 1, the others are multiples of 16 bytes */
  int64_t block_shape[5];   /* the kernel's */
  int nan_padding;          /* whether elements outside of the tensor read as NaN (floats) instead of zero */
  uint64_t address;         /* of the tensor where the argument has no buffer, on GPUs; a multiple of 16 */
} tessera_tensor_descriptor;
/* Everything zero. `size` is sizeof(tessera_tensor_descriptor). */
void tessera_tensor_descriptor_init(tessera_tensor_descriptor *, size_t size);
/* `buffer` holds the tensor from `offset` on, a multiple of 16; NULL: the descriptor's address is used. The tensor may
 * be larger than the buffer: what the kernel accesses must lie in it. The descriptor must live until the launch
 * returns. */
tessera_argument tessera_argument_descriptor(const tessera_buffer *buffer, size_t offset,
                                             const tessera_tensor_descriptor *);

/* Launches a kernel on a grid of x * y * z blocks, each at least 1, and waits until it has run. `arguments` are
 * those of the function in the text; the pointers that the ABI adds are added. A fault that interpreter or emulator
 * finds in the kernel is TESSERA_FAILED with its place in the text. After a fault on a GPU its driver may refuse all
 * further calls of the process. */
tessera_status tessera_launch(tessera_kernel *, const uint32_t grid[3], const tessera_argument *arguments, size_t count,
                              tessera_error **);
/* Ends the launches of the kernel that run on interpreter or emulator now, on other threads: their calls fail with
 * TESSERA_FAILED, and buffers hold what was written until then. It waits for nothing, and takes no lock: handlers of
 * signals may call it. Launches that begin later run. Without effect on GPUs, and for NULL. */
void tessera_kernel_interrupt(tessera_kernel *);

/* ---- Variants: one text, compiled for what the arguments of a launch are ---- */

/* As Triton specialises its kernels: an integer that is 1 becomes a constant, and the code may use that 16 divides an
 * integer, an address or a buffer's offset. Other values do not matter. */
typedef struct tessera_variants tessera_variants;
/* Nothing is compiled yet. The module may change or be destroyed afterwards. `options` as in tessera_kernel_compile. */
tessera_status tessera_variants_create(tessera_device *, const tessera_module *, const tessera_options *options,
                                       tessera_variants **, tessera_error **);
/* The kernel for such arguments, which is launched with them, or with others of the same classes. The first call for
 * their classes compiles and loads it (or finds it in the context's cache); later ones take no lock and allocate
 * nothing. The kernel belongs to the variants: do not destroy it. `arguments` are all those of the function in the
 * text, a descriptor as one argument (descriptors are not specialised). */
tessera_status tessera_variants_kernel(tessera_variants *, const tessera_argument *arguments, size_t count,
                                       tessera_kernel **, tessera_error **);
size_t tessera_variants_count(const tessera_variants *); /* those that are compiled */
void tessera_variants_destroy(tessera_variants *);       /* and their kernels */

/* ---- Streams: asynchronous launches ---- */

/* Launches on one stream run in order, those on several streams may run at once. Reads and writes of buffers wait
 * for what was launched on all streams that tessera_stream_create made. On interpreter and emulators a launch has
 * run when the call returns. A stream's kernels and buffers must stay until it is synchronised. */
typedef struct tessera_stream tessera_stream;
tessera_status tessera_stream_create(tessera_device *, tessera_stream **, tessera_error **);
/* A stream of the driver (CUstream, hipStream_t; NULL: the default stream) that the caller made and destroys. */
tessera_status tessera_stream_adopt(tessera_device *, void *native, tessera_stream **, tessera_error **);
void *tessera_stream_native(const tessera_stream *); /* the driver's handle; NULL on interpreter and emulators */
/* As tessera_launch, without waiting. A later call reports a fault on a GPU, tessera_stream_synchronize at the
 * latest. Nothing in it synchronises: a stream that the driver captures into a graph takes it, and the graph may be
 * launched as long as the kernel and its buffers exist. Where all arguments are buffers and values, it costs two calls
 * of the driver and allocates nothing, kernels with scratch memory aside ("global_scratch_bytes" of the metadata). */
tessera_status tessera_stream_launch(tessera_stream *, tessera_kernel *, const uint32_t grid[3],
                                     const tessera_argument *arguments, size_t count, tessera_error **);
tessera_status tessera_stream_synchronize(tessera_stream *, tessera_error **);
void tessera_stream_destroy(tessera_stream *);

/* A point between the launches of a stream, recorded any number of times. */
typedef struct tessera_event tessera_event;
tessera_status tessera_event_create(tessera_device *, tessera_event **, tessera_error **);
tessera_status tessera_event_record(tessera_event *, tessera_stream *, tessera_error **);
/* Launches on the stream from now on wait for the event, which may be of another stream. */
tessera_status tessera_stream_wait(tessera_stream *, tessera_event *, tessera_error **);
/* Waits for `stop`, and gives the time from `start` to it in milliseconds. Both must have been recorded. */
tessera_status tessera_event_elapsed(tessera_event *start, tessera_event *stop, double *milliseconds, tessera_error **);
void tessera_event_destroy(tessera_event *);

typedef struct tessera_times {
  double median_ms, min_ms; /* milliseconds */
} tessera_times;
/* Launches a kernel `repetitions` times (at least 1) and measures each launch: on GPUs between events before and
 * after it, else by the host's clock. Caches are as the previous launch left them. */
tessera_status tessera_time(tessera_kernel *, const uint32_t grid[3], const tessera_argument *arguments, size_t count,
                            int repetitions, tessera_times *, tessera_error **);

/* ---- Tuning: the options with which a kernel runs fastest ---- */

typedef enum tessera_outcome {
  TESSERA_MEASURED = 0,
  TESSERA_SAME_CODE = 1,    /* the code of measurement `same_as`, whose figures it has */
  TESSERA_NOT_COMPILED = 2, /* it does not compile: `reason` */
  TESSERA_RUN_FAILED = 3,   /* the launch failed: `reason` */
  TESSERA_WRONG_RESULT = 4, /* its results differ from the first that ran: `reason` */
} tessera_outcome;

typedef struct tessera_measurement {
  tessera_outcome outcome;
  const char *reason; /* "" if there is none */
  size_t same_as;
  tessera_times times;   /* zero on emulators, which have no time */
  uint64_t instructions; /* executed by an emulator's warps; 0 on GPUs */
  const char *metadata;  /* as tessera_result_metadata; "" if it was not compiled */
} tessera_measurement;

/* The measurements, one for each of the options that were tried. */
typedef struct tessera_tuning tessera_tuning;
/* Compiles a module's kernel with each of the options, launches it as tessera_launch does, compares its results with
 * those of the first that runs (integers bit by bit, floats within what another order of additions explains), and
 * measures `repetitions` launches (at least 1): on a GPU their time, on an emulator the executed instructions. All
 * launches begin with the contents of the buffers, and work on copies: the buffers do not change. So no two arguments
 * may be of one buffer, and addresses are not taken. Options name the same kernel, and the device's target or none.
 * Options that do not compile are measurements too. The interpreter is refused: its time says nothing about a
 * kernel. */
tessera_status tessera_tune(tessera_device *, const tessera_module *, const tessera_options *const *options,
                            size_t options_count, const uint32_t grid[3], const tessera_argument *arguments,
                            size_t count, int repetitions, tessera_tuning **, tessera_error **);
size_t tessera_tuning_count(const tessera_tuning *);
/* In the options' order; NULL after the last. */
const tessera_measurement *tessera_tuning_measurement(const tessera_tuning *, size_t index);
/* The index of the fastest (on an emulator: the one with the fewest instructions); the count if none ran correctly. */
size_t tessera_tuning_best(const tessera_tuning *);
void tessera_tuning_destroy(tessera_tuning *);

/* ---- The library ---- */

const char *tessera_version(void);        /* "0.2.0" */
const char *tessera_target(size_t index); /* the targets' names; NULL after the last */

/* For a program that shares LLVM with a library built with shared LLVM, and has a handler of LLVM's fatal errors: The
 * library cannot find out which handler that is. `handler` (of LLVM's type; NULL: none) is installed now, serves
 * other threads while the library compiles, and is installed again afterwards. The LLVM of the released library is its
 * own: nobody else's errors reach the handler there. */
typedef void (*tessera_fatal_error_handler)(void *user, const char *reason, bool crash_diagnostics);
void tessera_set_fatal_error_handler(tessera_fatal_error_handler handler, void *user);

#ifdef __cplusplus
}
#endif
#endif
