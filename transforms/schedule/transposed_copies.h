// Loads of a loop whose values go to a buffer with rows across their own: B of a matmul that lies across K in memory,
// in bytes, for wgmma, which reads bytes along K alone.
//
// Asynchronous copies would write such a buffer element by element. So they write another one, as the values lie in
// memory. In each iteration, threads read squares of elements from it, whole words (of four bytes, in four rows),
// permute them, and store words along the buffer's rows:
//
//   %m = ttg.local_load %copied : … -> tensor<64x32xi8, #squares>     sizePerThread = [4, 4]
//   %b = ttg.local_alloc %m : … -> !ttg.memdesc<64x32xi8, #nvmma_shared, #smem>
#pragma once
#include "ir/target.h"
#include "ir/type.h"
#include "layouts/encoding_pool.h"

namespace tessera::transforms {

/// Whether the rows of `buffer`, which a matrix unit reads, run across those in which `loaded` lies, whose elements are
/// narrower than a word.
bool runsAcross(ir::TensorType loaded, ir::MemDescType buffer);

/// Squares whose sides have as many elements as a word, for warps that store to `buffer`. Null if there is none.
/// @pre runsAcross
const layouts::Encoding *layoutOfSquares(ir::TensorType loaded, ir::MemDescType buffer, int64_t numWarps,
                                         const ir::TargetInfo &);

/// Rows as they are loaded, in which a warp reads such squares, and threads write their vectors, without bank
/// conflicts. Null if a row is shorter than a vector, or the layout is of several blocks.
const layouts::Encoding *bufferOfSquares(layouts::EncodingPool &, ir::TensorType loaded);

} // namespace tessera::transforms
