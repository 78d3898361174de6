// Used by golden.driver_needs_run_lines: a file without commands is no test, and must not pass as one.
tt.func @f() {
  tt.return
}
