// What MLIR reads but does not print: no module, generic form, quoted keywords, attributes out of order, comments,
// unused and unordered aliases, blocks and values before their definitions, types with and without their prefix.
!ptr = !tt.ptr<f32, 1>
#unused = #ttg.blocked<{order = [0], warpsPerCTA = [4], threadsPerWarp = [32], sizePerThread = [1]}>
{-# external_resources: { mlir_reproducer: { verify_each: true } } #-}
"tt.func"() <{function_type = (i32) -> i32, sym_name = "generic"}> ({
^bb0(%a: i32):
  %b = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<nsw>}> : (i32, i32) -> i32
  %c = "arith.cmpi"(%a, %b) <{predicate = 2 : i64}> : (i32, i32) -> i1
  %p = "tt.get_program_id"() <{axis = 1 : i32}> : () -> i32
  "scf.if"(%c) ({
    "gpu.barrier"() : () -> ()
    "scf.yield"() : () -> ()
  }, {
  }) : (i1) -> ()
  "tt.return"(%b) : (i32) -> ()
}) : () -> ()
tt.func @"a name"(%p : !ptr, // a comment
                  %n: i32) attributes {x.b, "x.a" = 1 : i32} {
  %cond = arith.cmpi "slt", %n, %n : i32
  cf.br ^last
^first:
  %use = arith.addi %def, %n : i32
  tt.call @"a name"(%p, %use) : (!ptr, i32) -> ()
  tt.return
^last:
  %def = arith.addi %n, %n : i32
  %v = tt.load %p {isVolatile = false, cache = 3 : i32} : !ptr
  %f = arith.constant 1.0 : f32
  %g = arith.constant dense<1> : tensor<2x2xi64>
  %h = arith.constant dense<[1, 1]> : tensor<2xi8>
  %i = arith.constant dense<"0x0100000002000000"> : tensor<2xi32>
  %j = arith.constant 0xFF : i8
  cf.cond_br %cond, ^first, ^last
}
tt.func @names_of_loops(%n: i32) -> i32 {
  %r = scf.for %i_0_7 = %n to %n step %n iter_args(%a_b_0_83 = %n) -> (i32) : i32 {
    %s = arith.addi %a_b_0_83, %i_0_7 : i32
    scf.yield %s : i32
  }
  tt.return %r : i32
}
