// Used by golden.run_needs_run_lines: a file without commands is not a test and must not pass as one.
tt.func @f() {
  tt.return
}
