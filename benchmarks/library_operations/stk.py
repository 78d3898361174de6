"""Operations of stk: matmuls of block sparse matrices, as MegaBlocks has them."""

from library_operations.inputs import leaf
from library_packages import Library
from sized_operations import variant

stk = Library("stk")


def sparse(rows, columns, share):
    """A matrix whose blocks of 128 x 128 are there with this probability."""
    import numpy

    numpy.random.seed(0)
    return stk("random").randn((rows, columns), 1 - share, blocking=128).cuda()


def block_sparse_matmul(m, n, k, name, share=0.25, transposed=()):
    """sdd: dense @ dense at the blocks of a sparse matrix; dsd: sparse @ dense; dds: dense @ sparse."""
    ops = stk("ops")
    make = lambda rows, columns, swap: (leaf(columns, rows, dtype="float16").t() if swap else
                                        leaf(rows, columns, dtype="float16"))  # fmt: skip
    shapes = dict(sdd=(m, n), dsd=(m, k), dds=(k, n))
    topology = sparse(*shapes[name], share)
    a, b = make(m, k, "a" in transposed), make(k, n, "b" in transposed)

    def step():
        if name == "sdd":
            return [ops.sdd(a, b, topology).data]
        made = ops.dsd(topology, b) if name == "dsd" else ops.dds(a, topology)
        return [made]

    return step


few = dict(m=256, n=256, k=256, share=0.5)
many = dict(m=8192, n=4096, k=2048)
for name in ("sdd", "dsd", "dds"):
    variant(f"stk_{name}", block_sparse_matmul, few, **many, name=name)
variant("stk_sdd_tn", block_sparse_matmul, few, **many, name="sdd", transposed="a")
variant("stk_dsd_nt", block_sparse_matmul, few, **many, name="dsd", transposed="b")
