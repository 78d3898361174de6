// How layouts follow each other through operations that rename elements, so that no data moves: result register r of a
// thread is the element that its operand register r was. The rules are those by which Triton checks its operations:
// blocked layouts stay blocked where they can (and give Triton's parameters), all others become linear ones.
//
// A null result means that there is no such layout, or that the operand's layout is one that is not modelled.
#pragma once
#include "layouts/encoding_pool.h"

namespace tessera::layouts {

/// Result of tt.trans or ttg.memdesc_trans: result dimension i is source dimension order[i]. Distributed or shared.
const Encoding *inferTrans(EncodingPool &, const Encoding *src, llvm::ArrayRef<int64_t> order,
                           llvm::ArrayRef<int64_t> srcShape);
/// Result of a row-major tt.reshape or ttg.memdesc_reshape: threads (or offsets) keep what they hold. Going back with
/// the shapes exchanged gives an equivalent layout. @pre the shapes have the same number of elements
const Encoding *inferReshape(EncodingPool &, const Encoding *src, llvm::ArrayRef<int64_t> srcShape,
                             llvm::ArrayRef<int64_t> dstShape);
/// Result of tt.join: a new last dimension of 2, held by one thread in neighbouring registers.
const Encoding *inferJoin(EncodingPool &, const Encoding *src, llvm::ArrayRef<int64_t> srcShape);
/// Results of tt.split: the last dimension gone; null if it is not 2 elements of one thread.
const Encoding *inferSplit(EncodingPool &, const Encoding *src, llvm::ArrayRef<int64_t> srcShape);
/// The layout nearest to `src` that tt.split takes: the bit of the lane or warp that says which half it is
/// changes places with the register bit whose elements are farthest apart, so that neighbours stay in one thread:
///
///   lane = [[0, 1], [4, 0]], register = [[1, 0], [2, 0]]   →   lane = [[2, 0], [4, 0]], register = [[1, 0], [0, 1]]
///
/// Null if threads hold one element each, or the halves differ in more than one bit.
const Encoding *nearestToSplit(EncodingPool &, const Encoding *src, llvm::ArrayRef<int64_t> srcShape);
/// Result of tt.reduce (and the operand of tt.expand_dims that gives `src`): the slice along the axis.
const Encoding *inferReduce(EncodingPool &, const Encoding *src, int64_t axis);

/// The linear encoding of a layout: `linear` where the layout allows it, else `generic_linear`; null if neither does.
const Encoding *linearEncodingOf(EncodingPool &, const LinearLayout &);
/// The layouts hold the same elements in the same places.
bool sameLayout(const Encoding *, const Encoding *, llvm::ArrayRef<int64_t> shape);
/// Both layouts have as many registers, lanes, warps and blocks, and the same of them hold copies of each other's
/// elements. If every register keeps its value, a tensor of one layout then is one of the other, with its elements in
/// another order. The shapes may differ.
bool holdCopiesAlike(const LinearLayout &, const LinearLayout &);

} // namespace tessera::layouts
