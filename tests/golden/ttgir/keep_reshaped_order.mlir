// keep-reshaped-order: reshapes with allow_reorder keep row-major order where something depends on it.
// RUN: tessera opt %s -keep-reshaped-order | FileCheck %s
#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#row = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#parts = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 32, 1], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#sum = #ttg.slice<{dim = 2, parent = #parts}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Places are counted after the reshape.
  // CHECK-LABEL: @places
  // CHECK: %[[R:.*]] = tt.reshape %{{.*}} : tensor<16x64xi32, #{{.*}}> -> tensor<1024xi32, #[[INFERRED:.*]]>
  // CHECK: ttg.convert_layout %[[R]] : tensor<1024xi32, #[[INFERRED]]> -> tensor<1024xi32, #{{.*}}>
  tt.func public @places(%x: tensor<16x64xi32, #rows>) -> i32 {
    %f = tt.reshape %x allow_reorder : tensor<16x64xi32, #rows> -> tensor<1024xi32, #line>
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #line>
    %m:2 = "tt.reduce"(%f, %i) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %j: i32, %b: i32, %k: i32):
      %g = arith.cmpi sgt, %a, %b : i32
      %v = arith.select %g, %a, %b : i32
      %w = arith.select %g, %j, %k : i32
      tt.reduce.return %v, %w : i32, i32
    }) : (tensor<1024xi32, #line>, tensor<1024xi32, #line>) -> (i32, i32)
    tt.return %m#1 : i32
  }
  // Of one sum the order does not matter; these layouts give row-major order anyway.
  // CHECK-LABEL: @sums
  // CHECK: tt.reshape %{{.*}} allow_reorder
  // CHECK-NEXT: math.absi
  // CHECK: tt.reshape %{{.*}} : tensor<16x64xi32, #{{.*}}> -> tensor<1024xi32, #{{.*}}>
  // CHECK-NEXT: arith.addi
  tt.func public @sums(%x: tensor<16x64xi32, #rows>, %y: tensor<1024xi32, #row>) -> (i32, tensor<1024xi32, #row>) {
    %f = tt.reshape %x allow_reorder : tensor<16x64xi32, #rows> -> tensor<1024xi32, #line>
    %g = math.absi %f : tensor<1024xi32, #line>
    %s = "tt.reduce"(%g) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<1024xi32, #line>) -> i32
    %h = tt.reshape %x allow_reorder : tensor<16x64xi32, #rows> -> tensor<1024xi32, #row>
    %z = arith.addi %h, %y : tensor<1024xi32, #row>
    tt.return %s, %z : i32, tensor<1024xi32, #row>
  }
  // Which element is the first one depends on the order.
  // CHECK-LABEL: @first
  // CHECK: tt.reshape %{{.*}} : tensor<16x64xi32
  // CHECK-NEXT: ttg.convert_layout
  tt.func public @first(%x: tensor<16x64xi32, #rows>) -> i32 {
    %f = tt.reshape %x allow_reorder : tensor<16x64xi32, #rows> -> tensor<1024xi32, #line>
    %s = "tt.reduce"(%f) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      tt.reduce.return %a : i32
    }) : (tensor<1024xi32, #line>) -> i32
    tt.return %s : i32
  }
  // A loop carries parts of the rows' sums, all of which are summed up after it. Rows keep their places.
  // CHECK-LABEL: @parts
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout
  // CHECK-NOT: ttg.convert_layout
  tt.func public @parts(%x: tensor<16x1024xi32, #wide>, %n: i32) -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #sum}>> {
    %z = arith.constant dense<0> : tensor<16x128xi32, #sum>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %l = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %z) -> (tensor<16x128xi32, #sum>) : i32 {
      %f = tt.reshape %x allow_reorder efficient_layout : tensor<16x1024xi32, #wide> -> tensor<16x128x8xi32, #parts>
      %p = "tt.reduce"(%f) <{axis = 2 : i32}> ({
      ^bb0(%a: i32, %b: i32):
        %c = arith.addi %a, %b : i32
        tt.reduce.return %c : i32
      }) : (tensor<16x128x8xi32, #parts>) -> tensor<16x128xi32, #sum>
      %s = arith.addi %acc, %p : tensor<16x128xi32, #sum>
      scf.yield %s : tensor<16x128xi32, #sum>
    }
    %r = "tt.reduce"(%l) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<16x128xi32, #sum>) -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #sum}>>
    tt.return %r : tensor<16xi32, #ttg.slice<{dim = 1, parent = #sum}>>
  }
  // Sums of parts whose largest is taken depend on which elements a part has.
  // CHECK-LABEL: @largest_part
  // CHECK: tt.reshape %{{.*}} : tensor<16x1024xi32
  // CHECK-NEXT: ttg.convert_layout
  tt.func public @largest_part(%x: tensor<16x1024xi32, #wide>) -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #sum}>> {
    %f = tt.reshape %x allow_reorder : tensor<16x1024xi32, #wide> -> tensor<16x128x8xi32, #parts>
    %p = "tt.reduce"(%f) <{axis = 2 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<16x128x8xi32, #parts>) -> tensor<16x128xi32, #sum>
    %r = "tt.reduce"(%p) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.maxsi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<16x128xi32, #sum>) -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #sum}>>
    tt.return %r : tensor<16xi32, #ttg.slice<{dim = 1, parent = #sum}>>
  }
}
