"""The libraries' packages: what of them is imported, and stand-ins for what is not there."""

import sys
import types

from library_packages import bare, no, same, stub, units, yes

GPU = "NVIDIA H200"  # whose tuned configurations are used, and those of gfx950 by aiter
PACKAGES = (
    "xformers mslk flash_attn sageattention transformer_engine native_sparse_attention minference applied_ai "
    "gptqmodel conch gemlite lightllm aiter flag_attn colossalai deepspeed flashinfer"
).split()
WHOLE = ("trident", "stk")  # with their __init__


class Log:
    def __getattr__(self, name):
        return no


def prepare(folder):
    for name in PACKAGES:
        bare(name, f"{folder}/{name}", whole=["gemlite.triton_kernels", "deepspeed.ops.triton_ops"])
    sys.path.append(folder)  # of WHOLE
    stub("nvtx", annotate=same)
    add_older_triton()
    stub("flashinfer.utils", get_compute_capability=lambda _: (9, 0))
    stub("deepspeed.accelerator", "deepspeed.comm", "deepspeed.ops.transformer.inference.op_binding")
    prepare_training()
    prepare_quantised()
    prepare_serving()


def prepare_training():
    stub("transformer_engine.pytorch.cpp_extensions", general_gemm=general_gemm)
    stub("triton.ops", "xformers.ops._triton.matmul_perf_model", "mslk.gemm.triton.matmul_perf_model",
         early_config_prune=lambda configs, *_, **__: configs, estimate_matmul_time=lambda **_: 1.0)  # fmt: skip
    stub("xformers.ops.fmha")
    stub("fla", mean_pooling=mean_pooling, autocast_custom_fwd=same, autocast_custom_bwd=same, contiguous=same)
    stub("minference.cuda")


def general_gemm(a, b, out_dtype=None, out=None, layout="TN", **_):
    """TransformerEngine's call of cuBLAS: b @ a, either transposed as its letter says."""
    made = (b if layout[1] == "N" else b.t()).float() @ (a if layout[0] == "N" else a.t()).float()
    return (made.to(out_dtype or a.dtype),)


def prepare_quantised():
    stub("gptqmodel.utils.logger", setup_logger=Log)
    stub("gptqmodel.utils.torch", HAS_XPU=False)
    stub("gptqmodel.nn_modules.qlinear.gguf", "gptqmodel.adapter", "gptqmodel.models", "gptqmodel.utils.backend",
         "gptqmodel.utils.python", "gptqmodel.quantization.config")  # fmt: skip
    stub("mslk.moe._meta", "mslk.attention.fmha.utils.cpp_lib")
    platform = types.SimpleNamespace(is_nvidia=yes, is_amd=no, has_cuda=yes, supports_fp8=yes, device="cuda",
                                     get_device_name=lambda: "NVIDIA H100")  # fmt: skip
    stub("conch.platforms", current_platform=platform)
    stub("tqdm")


class FrozenDict(dict):
    """A key of a cache."""

    def __hash__(self):
        return hash(str(self))


def prepare_serving():
    stub("frozendict", frozendict=FrozenDict)
    count = lambda *_, **__: 2 * units()  # blocks of its persistent kernels
    stub("lightllm.utils", HAS_LIGHTLLM_KERNEL=False, sgl_ops=None, vllm_ops=None, HAS_SGL_KERNEL=False,
         init_logger=lambda *_: Log(), is_tesla=no, is_hopper=yes,
         get_device_sm_count=units, calcu_kernel_best_vsm_count=count, get_current_device_name=lambda: GPU)  # fmt: skip
    stub("aiter.jit", "aiter.ops.triton.comms", torch_compile_guard=same, get_cu_num=units)
    stub("aiter.ops.triton._gluon_kernels", "aiter.ops.triton.gluon",
         "aiter.ops.triton._triton_kernels.flash_attn_triton_amd")  # fmt: skip
    stub("aiter.ops.triton.utils._triton.arch_info", get_arch=lambda: "gfx950", is_fp4_avail=yes, is_fp8_avail=yes,
         is_gluon_avail=no, is_tdm_avail=no, is_mx_scale_preshuffling_avail=no, _LDS_CAP_BYTES={})  # fmt: skip
    ignore_amd_options()


def ignore_amd_options():
    """Launches of kernels that are written for AMD's GPUs name options that others do not have."""
    from triton.runtime.jit import JITFunction

    run, names = JITFunction.run, ("waves_per_eu", "matrix_instr_nonkdim", "kpack")

    def without(self, *args, **options):
        kept = {k: v for k, v in options.items() if k in self.arg_names or k not in names}
        return run(self, *args, **kept)

    JITFunction.run = without


def add_older_triton():
    """Names of triton.language.math that older versions had. Their triton.autotune had two numbers of milliseconds as
    fifth and sixth argument."""
    import triton
    from triton.language import math

    math.fast_expf, math.max, math.min = math.exp, triton.language.maximum, triton.language.minimum
    autotune = triton.autotune

    def without(*args, **options):
        return autotune(*(None if isinstance(a, int) else a for a in args), **options)

    triton.autotune = without


def mean_pooling(x, block, _=None):
    """The means of blocks of keys or values (B, T, H, D), (B, T / block, H, D)."""
    return x.unflatten(1, (-1, block)).mean(2)
