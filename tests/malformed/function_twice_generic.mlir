"builtin.module"() ({
  "tt.func"() <{function_type = () -> (), sym_name = "f"}> ({
    "tt.return"() : () -> ()
  }) : () -> ()
  "tt.func"() <{function_type = () -> (), sym_name = "f"}> ({
    "tt.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
