// Loops over tiles: a loop whose body computes where a tile is, runs a pipelined loop over K, and stores the tile
// (persistent kernels). tritongpu-pipeline issues the next tile's first copies before this tile is stored.
//
//   scf.for %tile = … {                       scf.for %tile = … iter_args(copies so far) {
//     addresses of the tile                     addresses of the tile, for its stores
//     first copies                       →      scf.for %k = … { }
//     scf.for %k = … { }                        addresses of the next tile
//     stores                                    the last iterations of %k, with its first copies
//   }                                           wait for the last dots; stores
//                                             }
#pragma once
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/tuning.h"
#include "transforms/analyses/body_slice.h"
#include "llvm/ADT/SetVector.h"
#include <string>

namespace tessera::transforms {

struct PipelinePlan;

/// The loop over tiles around a pipelined loop, and what its body computes for the first copies of a tile.
struct TileLoop {
  ir::scf::ForOp loop;                      // null: there is none
  BodySlice addresses;                      // what the first copies are computed from, in its body
  llvm::SetVector<ir::Operation *> updates; // operations of its body that take the carried ones to the next tile
};

/// The loop over tiles around `inner`, if the first copies of a tile may be issued before the tile before is stored:
///   - it carries or computes all that these copies need by pure operations, without shared memory and without a
///     result of `inner`;
///   - nothing in it but `inner` may write what the copies read, or orders threads;
///   - it has one block, a signed counter, and no dots beside those of `inner`.
/// Otherwise its `loop` is null, and `whyNot` is the reason if `inner` is in a loop at all.
TileLoop findTileLoop(ir::scf::ForOp inner, const PipelinePlan &, std::string &whyNot);

/// Scalars among the addresses that others than scalars are computed from, such as a tile's row and column. A loop that
/// carries them need not compute them again when it comes to the tile. None if there are many.
llvm::SmallVector<ir::Value, 8> positionOfTile(const TileLoop &, const ir::Tuning &);

/// Clones the addresses on the values of `map`, which maps the counter and the carried values. `exists` (i1): whether
/// the tile exists; divisions by what is computed for one that does not are undefined, so that these divide by a power
/// of two. Null: it does.
void cloneAddresses(ir::Builder &, const TileLoop &, ir::ValueMap &map, ir::Value exists);

/// Maps the counter and the carried values to those of the next tile, or of this one if `exists` (i1) is false. The
/// builder is in the body, after `inner`.
ir::ValueMap nextTile(ir::Builder &, const TileLoop &, ir::Operation *inner, ir::Value exists);

} // namespace tessera::transforms
