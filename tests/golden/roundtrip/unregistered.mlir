// Operations, types and attributes of unknown dialects are carried along (with the option that the tests set for files
// with the word unregistered).
#loc = loc(unknown)
module {
  tt.func public @f(%arg0: i32 loc(unknown)) {
    %0:2 = "unregistered.op"(%arg0) ({
    ^bb0(%arg1: !other.type<f32, {x}> loc(unknown)):
      "unregistered.yield"(%arg1) : (!other.type<f32, {x}>) -> () loc(#loc)
    }) {d = 1 : i32, p = #other.attr<"a>", [1]>} : (i32) -> (vector<4xf32>, memref<?x2xf32>) loc(#loc)
    "unregistered.use"(%0#1) {operandSegmentSizes = array<i32: 1, 0>} : (memref<?x2xf32>) -> () loc(#loc)
    "unregistered.use"(%arg0) {operand_segment_sizes = array<i32: 1>} : (i32) -> () loc(#loc)
    "unregistered.br"()[^bb1] : () -> () loc(#loc)
  ^bb1:  // pred: ^bb0
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
