#a = #ttg.shared_memory
#a = #ttg.shared_memory
