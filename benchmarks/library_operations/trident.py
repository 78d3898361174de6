"""Operations of Trident, forward and backward."""

from library_operations.inputs import leaf
from library_packages import Library
from profiled_operations import with_gradients
from sized_operations import ints, operation, rand, uniform, variant

trident = Library("trident")


def function(name):
    return getattr(trident("function.function"), name)


def of_rows(rows, width, name, weights=0, dtype="float16", gradients=True, arguments=lambda *_: ()):
    """A function of a matrix, weights of its rows' width, and other arguments."""
    x, parameters = leaf(rows, width, dtype=dtype), [leaf(width, dtype=dtype) for _ in range(weights)]
    f, rest = function(name), arguments(rows, width)
    if not gradients:
        return lambda: [f(x.detach(), *rest)]
    return with_gradients(lambda: f(x, *rest, *parameters), [x, *parameters])


few = dict(rows=40, width=256)


def add(case, rows=8192, width=4096, **options):
    variant(f"trident_{case}", of_rows, few, rows=rows, width=width, **options)


along_rows = dict(arguments=lambda *_: (1,))
add("argmax", name="argmax", gradients=False, **along_rows)
add("max", name="max", **along_rows)
add("mean", name="mean", **along_rows)
add("sum", name="sum", **along_rows)
add("sum_columns", name="sum", arguments=lambda *_: (0,))
add("softmax", name="softmax", **along_rows)
add("softmax_columns", name="softmax", arguments=lambda *_: (0,))
add("masked_softmax", name="masked_softmax", arguments=lambda n, m: (ints(0, 2, n, m, dtype="bool"), 1))
add("layer_norm", name="layer_norm", weights=2, arguments=lambda _, m: ([m],))
add("rms_norm", name="rms_norm", weights=1, arguments=lambda *_: (1.0,))
add("silu", name="silu")
add("relu", name="relu")
add("leaky_relu", name="leaky_relu")
add("cosine_similarity", name="cosine_similarity", dtype="float32",
    arguments=lambda n, m: (rand(n, m, dtype="float32"), 1))  # fmt: skip


@operation(dict(tokens=70, width=64, outputs=96), tokens=4096, width=4096, outputs=4096)
def trident_linear(tokens, width, outputs):
    x, w, b = [leaf(*shape, dtype="float16", scale=s) for shape, s in
               (((2, tokens // 2, width), 1), ((outputs, width), 0.02), ((outputs,), 1))]  # fmt: skip
    f = function("linear")
    return with_gradients(lambda: f(x, w, b, use_accelerator=True), [x, w, b])


def normalised(batch, channels, size, name, groups=None):
    x, w, b = leaf(batch, channels, size, dtype="float32"), *[leaf(channels, dtype="float32") for _ in "wb"]
    f = function(name)
    if groups:
        return with_gradients(lambda: f(x, groups, w, b), [x, w, b])
    means, variances = uniform(channels), uniform(channels)
    return with_gradients(lambda: f(x, means.clone(), variances.clone(), w, b, True), [x, w, b])


images = dict(batch=3, channels=8, size=100)
variant("trident_group_norm", normalised, images, batch=64, channels=256, size=1024, name="group_norm", groups=4)
variant("trident_instance_norm", normalised, images, batch=64, channels=256, size=1024, name="instance_norm")
