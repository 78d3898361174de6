module {
  tt.func public @f(%p: !tt.ptr<f32>, %a: tensor<16x16xi8>, %s: tensor<16x1xi8>, %c: tensor<16x16xf32>) {
    %0 = tt.load %p cacheModifier = cq : !tt.ptr<f32>
    %1 = tt.load %p evictionPolicy = evict_later : !tt.ptr<f32>
    %2 = tt.load %p cacheModifier = cg cacheModifier = ca : !tt.ptr<f32>
    %3 = tt.dot_scaled %a scale %s, %a, %c lhs = e9m9 rhs = e4m3 {fastMath = false} : tensor<16x16xi8>, tensor<16x1xi8> * tensor<16x16xi8> -> tensor<16x16xf32>
    %4 = arith.constant true : i32
    %5 = arith.constant false : i1
    tt.return
  }
}
