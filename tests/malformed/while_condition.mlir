module {
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %x: f32) {
    scf.while : () -> () {
      scf.yield
    } do {
      scf.yield
    }
    tt.return
  }
}
