// Operands of dots that the matrix unit reads from shared memory (wgmma, tcgen05): buffers with the values as they lie
// in registers, so that asynchronous copies can fill them. Elements of 16 bits may lie along K or across it, bytes
// across it for tcgen05 alone, others only along K: what lies otherwise is stored along K, element by element, or not
// taken.
#pragma once
#include "ir/builder.h"
#include "ir/target.h"
#include "ir/type.h"

namespace tessera::transforms {

/// How a buffer is filled, and read.
struct SharedReading {
  bool alongK = false;      // rows run along K, however the registers lie
  bool bytesAcross = false; // the unit reads bytes across K, too
};

/// Whether the matrix unit can read the value, cast to `element`, from shared memory. `kDim`: which dimension is K.
/// `tile`: rows or columns of an instruction.
bool isReadable(ir::Value v, unsigned kDim, ir::Type element, int64_t tile, SharedReading = {});
/// The value in a buffer that the matrix unit reads, made where the value is. @pre isReadable
ir::Value toShared(ir::Location, ir::Value v, unsigned kDim, ir::Type element, int64_t tile, SharedReading = {});
/// Whether shared memory has room for operands at the same time, cast to elements of so many bits.
bool fitTogether(llvm::ArrayRef<ir::Value> operands, int bits, const ir::TargetInfo &);
/// A view of the buffer with rows and columns exchanged. @pre it has an nvmma_shared layout
ir::Value transposedView(ir::Builder &, ir::Location, ir::Value buffer);

} // namespace tessera::transforms
