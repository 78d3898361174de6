module {
  tt.func public @f(%a: i32, %b: i64) {
    "scf.for"(%a, %b, %a) ({
    ^bb0(%i: i32):
      "scf.yield"() : () -> ()
    }) : (i32, i64, i32) -> ()
    tt.return
  }
  tt.func public @g(%a: i32) {
    "scf.for"(%a, %a, %a) ({
    ^bb0(%i: i64):
      "scf.yield"() : () -> ()
    }) : (i32, i32, i32) -> ()
    tt.return
  }
  tt.func public @h(%a: i32, %x: f32) {
    %0 = "scf.for"(%a, %a, %a, %x) ({
    ^bb0(%i: i32, %y: f32):
      "scf.yield"(%i) : (i32) -> ()
    }) : (i32, i32, i32, f32) -> f32
    tt.return
  }
  tt.func public @i(%m: i1) {
    "scf.if"(%m) ({
      "tt.return"() : () -> ()
    }, {
    }) : (i1) -> ()
    tt.return
  }
}
