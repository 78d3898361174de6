// Layouts for the states of recurrences: loop-carried tensors that are updated and reduced in each iteration.
//
//   %h = scf.for … iter_args(%s = %zeros) -> (tensor<128x32xf32, #L>) {
//     %n = … %s, rows and columns made wide                 : tensor<128x32xf32, #L>
//     %o = "tt.reduce"(%n) <{axis = 0}> …                   : tensor<32xf32, #ttg.slice<{dim = 0, parent = #L}>>
//     scf.yield %n
//
// No access to memory says which layout such a tensor should have. The default layout, or that of the rows from which
// it is computed, may spread the reduced axis over all lanes and warps, which then exchange partial results in each
// iteration, or leave it to single threads, which then compute every element of the rows and columns. Layouts between
// the two take less of both; costsInLayouts compares them.
#pragma once
#include "ir/ops.h"
#include "ir/tuning.h"
#include <vector>

namespace tessera::transforms {

/// The layouts to try for states of the module, with the warps beside each other along the axis that is not reduced.
/// None if there is no state: a tensor of two dimensions that a loop without dots carries from a first value that is
/// not loaded, with a reduction and no access to memory of its shape.
std::vector<const layouts::Encoding *> otherStateLayouts(ir::Module &);

/// Gives all tensors of two dimensions, whose layouts no access to memory decides, the layout, and their slices its
/// slices. Narrow loads that are made columns or rows of such a tensor are done in these slices.
/// @pre the layout is one of otherStateLayouts
void giveStateLayout(ir::Module &, const layouts::Encoding *);

} // namespace tessera::transforms
