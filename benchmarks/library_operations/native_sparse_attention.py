"""Operations of native-sparse-attention."""

from library_operations.inputs import leaf
from library_packages import Library
from profiled_operations import with_gradients
from sized_operations import operation, uniform


@operation(dict(tokens=256, kv_heads=1), batch=1, tokens=8192, heads=16, kv_heads=4, dim=128, blocks=16)
def nsa_attention(batch, tokens, heads, kv_heads, dim, blocks):
    """Attention to means of blocks, and to the blocks that they choose; 16 query heads a head of keys."""
    q, k, v = [leaf(batch, tokens, h, dim) for h in (16 * kv_heads, kv_heads, kv_heads)]
    gates = [uniform(batch, tokens, 16 * kv_heads).bfloat16() for _ in "csw"]
    f = Library("native_sparse_attention.ops")("parallel").parallel_nsa
    return with_gradients(lambda: f(q, k, v, *gates, block_counts=blocks, block_size=64), [q, k, v])
