module {
  tt.func public @f(%x: tensor<16xf32>) {
    %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = ""} : (tensor<16xf32>) -> tensor<16xf32>
    tt.return
  }
}
