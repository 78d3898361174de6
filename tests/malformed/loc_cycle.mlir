#loc1 = loc("a"(#loc2))
#loc2 = loc("b"(#loc1))
tt.func @f() {
  tt.return loc(#loc1)
}
