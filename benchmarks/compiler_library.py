"""libtessera.so of any version, in a process of its own: texts in, code, metadata or errors out, and the time taken.

Run as a program with a library's path it serves requests, one JSON line each: see Worker.
"""
import base64
import ctypes
import json
import pathlib
import select
import subprocess
import sys
import time


class Options(ctypes.Structure):
    """The beginning of `tessera_options`, which all versions share."""
    _fields_ = [("size", ctypes.c_size_t), ("target", ctypes.c_char_p), ("stage", ctypes.c_char_p),
                ("kernel", ctypes.c_char_p), ("num_warps", ctypes.c_int), ("num_stages", ctypes.c_int),
                ("num_ctas", ctypes.c_int), ("opt_level", ctypes.c_int), ("fp_fusion", ctypes.c_int),
                ("line_info", ctypes.c_int), ("waves_per_eu", ctypes.c_int), ("matrix_instr_nonkdim", ctypes.c_int)]


class ContextOptions(ctypes.Structure):
    """`tessera_context_options`."""
    _fields_ = [("size", ctypes.c_size_t), ("handler", ctypes.c_void_p), ("user", ctypes.c_void_p),
                ("cache_memory_bytes", ctypes.c_uint64), ("cache_directory", ctypes.c_char_p),
                ("cache_directory_bytes", ctypes.c_uint64)]


def assembly_of(target):
    return "ptx" if target.startswith("sm_") else "amdgcn"


class Library:
    """The compiler, without a cache of compiled kernels."""

    def __init__(self, path):
        self.api = ctypes.CDLL(path)
        for name in ("tessera_error_text", "tessera_result_metadata", "tessera_target"):
            getattr(self.api, name).restype = ctypes.c_char_p
        self.api.tessera_result_data.restype = ctypes.c_void_p
        options = ContextOptions()
        self.api.tessera_context_options_init(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.cache_memory_bytes = 0
        self.context = ctypes.c_void_p()
        if self.api.tessera_context_create(ctypes.byref(options), ctypes.byref(self.context), None):
            sys.exit(f"{path}: no context")

    def targets(self):
        names = iter(range(1000))
        return [n.decode() for n in iter(lambda: self.api.tessera_target(ctypes.c_size_t(next(names))), None)]

    def compile(self, text, target, warps):
        """(status, code, metadata, text of the errors, milliseconds of the process's processor time)"""
        options = Options()
        self.api.tessera_options_init(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.target = target.encode()
        options.stage = assembly_of(target).encode()
        options.num_warps = warps
        result, error, length = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        start = time.process_time_ns()
        status = self.api.tessera_compile(self.context, text, ctypes.c_size_t(len(text)), b"kernel.ttir",
                                          ctypes.byref(options), ctypes.byref(result), ctypes.byref(error))
        cpu = (time.process_time_ns() - start) / 1e6
        code, metadata, message = b"", None, ""
        if status == 0:
            data = self.api.tessera_result_data(result, ctypes.byref(length))
            code = ctypes.string_at(data, length.value)
            metadata = json.loads(self.api.tessera_result_metadata(result))
        else:
            message = self.api.tessera_error_text(error).decode(errors="replace")
        self.api.tessera_result_destroy(result)
        self.api.tessera_error_destroy(error)
        return status, code, metadata, message, cpu


def target_list(path):
    """Every target of a library, which a process of its own loads."""
    return subprocess.run([sys.executable, __file__, path, "--targets"], capture_output=True, text=True).stdout.split()


class Worker:
    """A process that has loaded a library. One that ends or takes too long is replaced by a fresh one."""

    def __init__(self, path, limit=300):
        self.path = path
        self.limit = limit
        self.start()

    def start(self):
        command = [sys.executable, __file__, self.path]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL)

    def compile(self, case):
        """`case`: (file, target, warps). As Library.compile; status -1 where the process ended or took too long."""
        print(json.dumps(case), file=self.process.stdin, flush=True)
        line = ""
        if select.select([self.process.stdout], [], [], self.limit)[0]:
            line = self.process.stdout.readline()
        if line:
            status, code, *others = json.loads(line)
            return status, base64.b64decode(code), *others
        self.process.kill()
        code = self.process.wait()
        self.start()
        return -1, b"", None, f"the process ended ({code}) or took more than {self.limit} s", 0


def serve(path):
    library, texts = Library(path), {}
    for line in sys.stdin:
        file, target, warps = json.loads(line)
        if file not in texts:
            texts[file] = pathlib.Path(file).read_bytes()
        status, code, *others = library.compile(texts[file], target, warps)
        print(json.dumps([status, base64.b64encode(code).decode(), *others]), flush=True)


if __name__ == "__main__":
    if "--targets" in sys.argv:
        print(*Library(sys.argv[1]).targets())
    else:
        serve(sys.argv[1])
