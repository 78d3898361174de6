// The Context owns what a set of modules shares: uniqued types, attributes, layouts, locations and names. Contexts are
// independent of each other, so modules in different Contexts can be compiled on different threads; one Context is used
// by one thread at a time.
#pragma once
#include "ir/attribute.h"
#include "ir/location.h"
#include "layouts/encoding_pool.h"
#include <memory>

namespace tessera::ir {

class Context {
public:
  Context();
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  layouts::EncodingPool &encodings();

  /// A copy of the text that lives as long as the Context; equal texts give equal pointers.
  llvm::StringRef intern(llvm::StringRef);

  Location unknownLoc() { return Location(); }
  Location fileLoc(llvm::StringRef file, unsigned line, unsigned col, unsigned endLine = 0, unsigned endCol = 0);
  Location nameLoc(llvm::StringRef name, Location child = {});
  Location callSiteLoc(Location callee, Location caller);
  Location fusedLoc(llvm::ArrayRef<Location> parts, llvm::StringRef metadata = "");

  Type i1() { return i1_; }
  Type i8() { return i8_; }
  Type i16() { return i16_; }
  Type i32() { return i32_; }
  Type i64() { return i64_; }
  Type index() { return index_; }
  Type f16() { return f16_; }
  Type bf16() { return bf16_; }
  Type f32() { return f32_; }
  Type f64() { return f64_; }

  struct Impl;
  Impl &impl() { return *impl_; }

private:
  std::unique_ptr<Impl> impl_;
  Type i1_, i8_, i16_, i32_, i64_, index_, f16_, bf16_, f32_, f64_;
};

} // namespace tessera::ir
