"""Operations of bitsandbytes."""

from library_packages import Library
from sized_operations import ints, operation, rand, variant, zeros

bits = Library("bitsandbytes.backends.triton")


def four_bits(rows, columns, kind):
    import torch

    x, g = rand(rows, columns), bits("ops")

    def step():
        made, largest = g.quantize_4bit(x, 64, kind, torch.uint8)
        return [made, largest, g.dequantize_4bit(made, largest, 64, kind, x.shape, torch.bfloat16)]

    return step


small_rows = dict(rows=16, columns=256)
variant("bitsandbytes_nf4", four_bits, small_rows, rows=4096, columns=14336, kind="nf4")


@operation(small_rows, rows=4096, columns=14336)
def bitsandbytes_8bit(rows, columns):
    import torch

    x, g = rand(rows, columns), bits("ops")
    code = torch.linspace(-1, 1, 256, device="cuda")

    def step():
        made, largest = g.quantize_blockwise(x, code, 256)
        return [made, largest, g.dequantize_blockwise(made, largest, code, 256, torch.bfloat16)]

    return step


def optimiser(numbers, name, eight):
    import torch

    g, p0 = rand(numbers), rand(numbers)
    code = torch.linspace(-1, 1, 256, device="cuda")
    blocks = -(-numbers // 256)

    def step():
        p = p0.clone()
        if eight:
            states = [ints(100, 156, numbers, dtype="uint8"), ints(128, 200, numbers, dtype="uint8")]
            scales = [zeros(blocks, dtype="float32") + 0.1 for _ in "12"]
            f = bits("ops").optimizer_update_8bit_blockwise
            f(name, g, p, *states, 0.9, 0.95, 0.0, 0.0, 1e-8, 3, 1e-3, code, code, *scales, 0.01)
            return [p, *scales]
        states = [zeros(numbers, dtype="float32") + 0.1 for _ in "12"]
        f = bits("ops").optimizer_update_32bit
        f(name, g, p, states[0], states[1], None, 0.0, 0.0, 0.9, 0.95, 0.0, 0.0, 1e-8, 0.01, 3, 1e-3, 1.0)
        return [p, *states]

    return step


variant("bitsandbytes_adam_8bit", optimiser, dict(numbers=1000), numbers=32 * 2**20, name="adam", eight=True)
variant("bitsandbytes_adam", optimiser, dict(numbers=1000), numbers=32 * 2**20, name="adam", eight=False)
