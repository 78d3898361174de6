module {
  tt.func public @f() {
    tt.return loc(callsite("a.py":1:2 from "b.py":3:4))
  }
}
