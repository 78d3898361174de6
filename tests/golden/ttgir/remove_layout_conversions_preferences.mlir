// Two layouts would do equally well, and what follows decides. A sum over columns of two tensors in different layouts is
// made in the one in which it stays within a warp, whichever operand has it. What only is stored stays in the layout of
// the first one. Bits by which numbers are selected are converted, rather than the numbers. A column that a long loop compares with rows takes the layout of the loop, in which a thread computes
// one index of a row instead of eight; not if the loop is short.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target sm_90a --verify-each | FileCheck %s
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 16], order = [0, 1]}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [16, 1], order = [1, 0]}>
#column = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 16], order = [0, 1]}>
#wide = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 16], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 16 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: #[[ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8]
  // CHECK-DAG: #[[COLUMNS:.*]] = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4]
  // CHECK-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32]
  // CHECK-LABEL: @summed
  // CHECK: ttg.convert_layout {{.*}} : tensor<64x64xf32, #[[COLUMNS]]> -> tensor<64x64xf32, #[[ROWS]]>
  // CHECK-NEXT: arith.addf {{.*}} : tensor<64x64xf32, #[[ROWS]]>
  // CHECK: "tt.reduce"
  tt.func @summed(%p: tensor<64x64x!tt.ptr<f32>, #columns>, %q: tensor<64x64x!tt.ptr<f32>, #rows>, %out: tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>) {
    %x = tt.load %p : tensor<64x64x!tt.ptr<f32>, #columns>
    %y = tt.load %q : tensor<64x64x!tt.ptr<f32>, #rows>
    %xw = ttg.convert_layout %x : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #wide>
    %yw = ttg.convert_layout %y : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #wide>
    %s = arith.addf %xw, %yw : tensor<64x64xf32, #wide>
    %r = "tt.reduce"(%s) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x64xf32, #wide>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #wide}>>
    %m = "tt.reduce"(%s) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x64xf32, #wide>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #wide}>>
    %d = arith.subf %m, %r : tensor<64xf32, #ttg.slice<{dim = 1, parent = #wide}>>
    %t = ttg.convert_layout %d : tensor<64xf32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %out, %t : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }
  // CHECK-LABEL: @stored
  // CHECK: ttg.convert_layout {{.*}} : tensor<64x64xf32, #[[ROWS]]> -> tensor<64x64xf32, #[[COLUMNS]]>
  // CHECK-NEXT: arith.addf {{.*}} : tensor<64x64xf32, #[[COLUMNS]]>
  // CHECK-NOT: ttg.convert_layout
  tt.func @stored(%p: tensor<64x64x!tt.ptr<f32>, #columns>, %q: tensor<64x64x!tt.ptr<f32>, #rows>, %out: tensor<64x64x!tt.ptr<f32>, #columns>) {
    %x = tt.load %p : tensor<64x64x!tt.ptr<f32>, #columns>
    %y = tt.load %q : tensor<64x64x!tt.ptr<f32>, #rows>
    %xw = ttg.convert_layout %x : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #wide>
    %yw = ttg.convert_layout %y : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #wide>
    %s = arith.addf %xw, %yw : tensor<64x64xf32, #wide>
    %t = ttg.convert_layout %s : tensor<64x64xf32, #wide> -> tensor<64x64xf32, #columns>
    tt.store %out, %t : tensor<64x64x!tt.ptr<f32>, #columns>
    tt.return
  }
  // CHECK-LABEL: @selected
  // CHECK: scf.for
  // CHECK: ttg.convert_layout {{.*}} : tensor<64x64xi1, #[[ROWS]]> -> tensor<64x64xi1, #[[COLUMNS]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.yield {{.*}} : tensor<64x64xf32, #[[COLUMNS]]>
  tt.func @selected(%p: tensor<64x64x!tt.ptr<f32>, #columns>, %q: tensor<64x64x!tt.ptr<i8>, #rows>, %out: tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>) {
    %lower = arith.constant 0 : i32
    %step = arith.constant 1 : i32
    %upper = arith.constant 100 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #rows>
    %none = arith.constant dense<0> : tensor<64x64xi8, #rows>
    %sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> (tensor<64x64xf32, #rows>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f32>, #columns>
      %y = tt.load %p : tensor<64x64x!tt.ptr<f32>, #columns>
      %bits = tt.load %q : tensor<64x64x!tt.ptr<i8>, #rows>
      %xr = ttg.convert_layout %x : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #rows>
      %yr = ttg.convert_layout %y : tensor<64x64xf32, #columns> -> tensor<64x64xf32, #rows>
      %is = arith.cmpi ne, %bits, %none : tensor<64x64xi8, #rows>
      %s = arith.select %is, %xr, %zero : tensor<64x64xi1, #rows>, tensor<64x64xf32, #rows>
      %t = arith.mulf %s, %yr : tensor<64x64xf32, #rows>
      %next = arith.addf %acc, %t : tensor<64x64xf32, #rows>
      scf.yield %next : tensor<64x64xf32, #rows>
    }
    %r = "tt.reduce"(%sum) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x64xf32, #rows>) -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %out, %r : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }
  // CHECK-LABEL: @long_loop
  // CHECK: ttg.convert_layout {{.*}} -> tensor<8x1xi32, #[[WIDE]]>
  // CHECK: scf.for {{.*}} -> (tensor<8x512xi32, #[[WIDE]]>)
  // CHECK-LABEL: @short_loop
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.for
  tt.func @long_loop(%p: tensor<8x1x!tt.ptr<i32>, #column>, %out: tensor<8x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #column}>>) {
    %x = tt.load %p : tensor<8x1x!tt.ptr<i32>, #column>
    %lower = arith.constant 0 : i32
    %step = arith.constant 512 : i32
    %upper = arith.constant 51200 : i32
    %zero = arith.constant dense<0> : tensor<8x512xi32, #wide>
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #ttg.slice<{dim = 0, parent = #wide}>>
    %row = tt.expand_dims %range {axis = 0 : i32} : tensor<512xi32, #ttg.slice<{dim = 0, parent = #wide}>> -> tensor<1x512xi32, #wide>
    %xw = ttg.convert_layout %x : tensor<8x1xi32, #column> -> tensor<8x1xi32, #wide>
    %xs = tt.broadcast %xw : tensor<8x1xi32, #wide> -> tensor<8x512xi32, #wide>
    %sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> (tensor<8x512xi32, #wide>) : i32 {
      %is = tt.splat %i : i32 -> tensor<1x512xi32, #wide>
      %index = arith.addi %is, %row : tensor<1x512xi32, #wide>
      %square = arith.muli %index, %index : tensor<1x512xi32, #wide>
      %indices = tt.broadcast %square : tensor<1x512xi32, #wide> -> tensor<8x512xi32, #wide>
      %both = arith.xori %indices, %xs : tensor<8x512xi32, #wide>
      %next = arith.addi %acc, %both : tensor<8x512xi32, #wide>
      scf.yield %next : tensor<8x512xi32, #wide>
    }
    %r = "tt.reduce"(%sum) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<8x512xi32, #wide>) -> tensor<8xi32, #ttg.slice<{dim = 1, parent = #wide}>>
    %t = ttg.convert_layout %r : tensor<8xi32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<8xi32, #ttg.slice<{dim = 1, parent = #column}>>
    tt.store %out, %t : tensor<8x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #column}>>
    tt.return
  }
  tt.func @short_loop(%p: tensor<8x1x!tt.ptr<i32>, #column>, %out: tensor<8x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #column}>>) {
    %x = tt.load %p : tensor<8x1x!tt.ptr<i32>, #column>
    %lower = arith.constant 0 : i32
    %step = arith.constant 512 : i32
    %upper = arith.constant 2048 : i32
    %zero = arith.constant dense<0> : tensor<8x512xi32, #wide>
    %range = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #ttg.slice<{dim = 0, parent = #wide}>>
    %row = tt.expand_dims %range {axis = 0 : i32} : tensor<512xi32, #ttg.slice<{dim = 0, parent = #wide}>> -> tensor<1x512xi32, #wide>
    %xw = ttg.convert_layout %x : tensor<8x1xi32, #column> -> tensor<8x1xi32, #wide>
    %xs = tt.broadcast %xw : tensor<8x1xi32, #wide> -> tensor<8x512xi32, #wide>
    %sum = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> (tensor<8x512xi32, #wide>) : i32 {
      %is = tt.splat %i : i32 -> tensor<1x512xi32, #wide>
      %index = arith.addi %is, %row : tensor<1x512xi32, #wide>
      %square = arith.muli %index, %index : tensor<1x512xi32, #wide>
      %indices = tt.broadcast %square : tensor<1x512xi32, #wide> -> tensor<8x512xi32, #wide>
      %both = arith.xori %indices, %xs : tensor<8x512xi32, #wide>
      %next = arith.addi %acc, %both : tensor<8x512xi32, #wide>
      scf.yield %next : tensor<8x512xi32, #wide>
    }
    %r = "tt.reduce"(%sum) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<8x512xi32, #wide>) -> tensor<8xi32, #ttg.slice<{dim = 1, parent = #wide}>>
    %t = ttg.convert_layout %r : tensor<8xi32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<8xi32, #ttg.slice<{dim = 1, parent = #column}>>
    tt.store %out, %t : tensor<8x!tt.ptr<i32>, #ttg.slice<{dim = 1, parent = #column}>>
    tt.return
  }
}
