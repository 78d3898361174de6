#a = #ttg.padded_shared<[4:+4] {order = [1, 0], shape = [16, 16], CGALayout = [[1]]}>
#b = #ttg.padded_shared<[4:+4] {order = [1, 0], shape = [1048576, 1], CGALayout = [[268435456, 0]]}>
#c = #triton_gpu.shared<{vec = 8, perPhase = 2147483647, maxPhase = 2147483647, order = [1, 0], hasLeadingOffset = true}>
