tt.func @f() {
  tt.return
}
{-# dialect_resources: {
