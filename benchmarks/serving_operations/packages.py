"""The libraries' packages: what of them is imported, and stand-ins for what is not there."""

import types

from library_packages import Library, bare, no, same, stub, units, yes
from sized_operations import SMALL

GPU = "NVIDIA_H200"  # whose tuned configurations are used


class Platform:
    """What vLLM and SGLang query of the machine: it is a Hopper GPU of NVIDIA."""

    device_type = "cuda"
    is_cuda = is_cuda_alike = yes
    is_sm90 = is_sm90_supported = True

    def __getattr__(self, name):
        return no

    def fp8_dtype(self):
        import torch

        return torch.float8_e4m3fn

    def get_device_name(self, *_):
        return GPU

    def get_device_capability(self, *_, **__):
        return 9, 0

    def has_device_capability(self, wanted, *_, **__):
        return (wanted if isinstance(wanted, int) else 10 * wanted[0] + wanted[1]) <= 90

    def is_device_capability(self, wanted, *_, **__):
        return wanted in (90, (9, 0))

    def is_device_capability_family(self, wanted, *_, **__):
        return wanted == 90


class Log:
    def __getattr__(self, name):
        return no


class Settings:
    """The environment variables of SGLang, all unset."""

    def __getattr__(self, name):
        return types.SimpleNamespace(get=no)


def to_gpu(data, device=None, dtype=None, out=None):
    import torch

    return torch.as_tensor(data, dtype=dtype).to(device)


def next_power_of_2(n):
    return 1 << (n - 1).bit_length()


def prepare(folder):
    for name in ("vllm", "sglang", "triton_kernels", "torchao", "bitsandbytes"):
        bare(name, f"{folder}/{name}", whole=["vllm.triton_utils"])
    prepare_vllm()
    prepare_sglang()
    if SMALL:  # emulators query its tensors for their memory
        Library("triton_kernels")("tensor").Tensor.untyped_storage = lambda t: t.data.untyped_storage()


def prepare_vllm():
    stub("vllm._custom_ops", "vllm._aiter_ops", "vllm.config", "vllm.distributed")
    stub("vllm.utils.torch_utils", async_tensor_h2d=to_gpu)
    stub("vllm.utils.deep_gemm", "vllm.model_executor.layers.fused_moe.modular_kernel", "vllm.v1.outputs")
    stub("vllm.model_executor.parameter", "vllm.model_executor.utils")
    stub("vllm.v1.sample.sampler", "vllm.v1.sample.metadata", "vllm.v1.spec_decode.metadata", "vllm.sampling_params")
    stub("vllm.v1.sample.logits_processor", "vllm.v1.sample.ops.topk_topp_sampler", "vllm.v1.sample.ops.penalties")
    stub("vllm.v1.sample.ops.bad_words", "vllm.v1.worker.gpu.states", "vllm.v1.worker.gpu.buffer_utils")
    stub("vllm.model_executor.layers.quantization.utils.w8a8_utils", "vllm.model_executor.custom_op")
    stub("vllm.model_executor.layers.fused_moe.config", "vllm.model_executor.layers.fused_moe.activation")
    stub("vllm.model_executor.layers.fused_moe.moe_align_block_size")
    stub("vllm.logger", init_logger=lambda *_: Log())
    stub("vllm.platforms", current_platform=Platform(), vllm_version_matches_substr=no)
    stub("vllm.utils.platform_utils", num_compute_units=units, get_device_name_as_file_name=lambda *_: GPU)
    stub("vllm.utils.gpu_sync_debug")
    stub("vllm.v1.attention.backends", NULL_BLOCK_ID=0, PAD_SLOT_ID=-1)
    stub("vllm.utils.mem_utils", get_max_shared_memory_bytes=lambda *_: 232448)
    swap = lambda m, n: m < 64 <= n
    stub("vllm.model_executor.layers.fused_moe.utils", enable_swap_ab=swap, resolve_moe_use_td=no,
         normalize_batched_scales_shape=lambda scales, _: scales)  # fmt: skip
    stub("vllm.v1.kv_cache_interface", KVQuantMode=types.SimpleNamespace(
        NONE=0, FP8_PER_TENSOR=1, INT8_PER_TOKEN_HEAD=2, FP8_PER_TOKEN_HEAD=3, INT4_PER_TOKEN_HEAD=4,
    ), is_quantized_kv_cache=lambda name: name.startswith("fp8"))  # fmt: skip


def prepare_sglang():
    others = "hip npu xpu cpu musa gfx95_supported gfx1250_supported sm100_supported sm120_supported mps hpu".split()
    utils = {"is_" + name: no for name in others} | dict(is_cuda=yes, is_sm90_supported=yes, get_bool_env_var=no)
    utils |= dict(get_device_name=lambda *_: GPU, get_device_core_count=units, next_power_of_2=next_power_of_2)
    utils |= dict(
        ceil_div=lambda a, b: -(-a // b), cached_triton_kernel=lambda *_, **__: same, get_int_env_var=lambda _, n=0: n
    )
    stub("sglang.srt", current_platform=Platform(), get_platform=Platform, register_custom_op=same, LoRABatchInfo=None,
         register_fake_if_exists=same, is_batch_invariant_mode_enabled=no, get_moe_padding_size=lambda *_: 0,
         ENABLE_JIT_DEEPGEMM=False, envs=Settings(), **utils)  # fmt: skip
    stub("sglang.kernels.jit", is_arch_support_pdl=no, cache_once=same, get_jit_cuda_arch=Platform)
    stub("sglang.kernels.kernel_api_logging", debug_kernel_api=same)
