// tritongpu-allocate-warp-groups: partitions that cannot get warps are errors.
// RUN: tessera opt %s --split-input-file --verify-diagnostics -tritongpu-allocate-warp-groups --target sm_90a
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @too_many() {
    // expected-error @below {{needs 36 warps, which are 1152 threads; sm_90a allows 1024 in a block}}
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(16) {
      ttg.warp_return
    }
    partition1() num_warps(16) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

#d = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @captured_tensor(%t: tensor<128xi32, #d>) {
    // expected-error @below {{captures a tensor}}
    ttg.warp_specialize(%t)
    default {
      ttg.warp_yield
    }
    partition0(%p: tensor<128xi32, #d>) num_warps(4) {
      ttg.warp_return
    } : (tensor<128xi32, #d>) -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @nested() {
    ttg.warp_specialize()
    default {
      // expected-error @below {{must not be nested in another ttg.warp_specialize}}
      ttg.warp_specialize()
      default {
        ttg.warp_yield
      }
      partition0() num_warps(1) {
        ttg.warp_return
      } : () -> ()
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @function() attributes {noinline = true} {
    // expected-error @below {{is in the function 'function', which is called and not inlined}}
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @start_ids() {
    // expected-error @below {{lets partition 1 begin at warp 5, which other warps of the kernel use}}
    ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 4, 5>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(2) {
      ttg.warp_return
    }
    partition1() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @unaligned() {
    // expected-error @below {{lets partition 0 of 4 warps begin at warp 6}}
    ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 6>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 5 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @total() {
    // expected-error @below {{needs 6 warps, but the module says that ttg.total-num-warps = 5}}
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(2) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @registers() {
    // expected-warning @below {{requests more registers than there are: of 168 for each of 12 warps it leaves 8 to the kernel's own}}
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 248>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(8) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
