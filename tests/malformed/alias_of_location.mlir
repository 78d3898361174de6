#loc = loc("kernels.py":12:0)
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module {
  tt.func @f(%a: tensor<64xi32>) {
    %b = arith.addi %a, %a {tt.where = #loc} : tensor<64xi32> loc(#loc)
    %c = arith.addi %a, %a : tensor<64xi32, #loc>
    %d = arith.addi %a, %a : tensor<64xi32> loc(#blocked)
    tt.return
  }
}
