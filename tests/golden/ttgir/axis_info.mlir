// AxisInfo as -test-print-alignment reports it (transforms/analyses/axis_info.h says what the words mean). Where it
// differs from Triton's analysis the comment says how.
// RUN: tessera opt %s -test-print-alignment --split-input-file --verify-diagnostics=only-expected

tt.func public @ranges(%n: i32 {tt.divisibility = 16 : i32}, %s: i32) {
  // expected-remark @below {{contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>}}
  %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [16], constancy = [128], constant_value = <none>}}
  %1 = tt.splat %n : i32 -> tensor<128xi32>
  // expected-remark @below {{contiguity = [128], divisibility = [16], constancy = [1], constant_value = <none>}}
  %2 = arith.addi %0, %1 : tensor<128xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1], constancy = [16], constant_value = <none>}}
  %3 = arith.cmpi slt, %0, %1 : tensor<128xi32>
  // expected-remark @below {{constancy = [1]}}
  %4 = arith.cmpi sle, %0, %1 : tensor<128xi32>
  tt.return
}

// -----

// Signed division rounds towards zero: -8, -7, -6, -5 divided by four are not equal. Triton takes any dividend for
// non-negative; here it must be shown. Program ids and what is made of them are.
tt.func public @signs(%n: i32 {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %c16 = arith.constant dense<16> : tensor<128xi32>
  %c128 = arith.constant 128 : i32
  %start = tt.splat %n : i32 -> tensor<128xi32>
  %any = arith.addi %start, %range : tensor<128xi32>
  // expected-remark @below {{constancy = [1],}}
  %0 = arith.divsi %any, %c16 : tensor<128xi32>
  // expected-remark @below {{constancy = [16],}}
  %1 = arith.divui %any, %c16 : tensor<128xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [1]}}
  %2 = arith.remsi %any, %c16 : tensor<128xi32>
  // A shift rounds down whatever the sign; Triton has constancy 1 here.
  %c4 = arith.constant dense<4> : tensor<128xi32>
  // expected-remark @below {{constancy = [16],}}
  %3 = arith.shrsi %any, %c4 : tensor<128xi32>
  %pid = tt.get_program_id x : i32
  %block = arith.muli %pid, %c128 : i32
  %splat = tt.splat %block : i32 -> tensor<128xi32>
  %offsets = arith.addi %splat, %range : tensor<128xi32>
  // expected-remark @below {{constancy = [16],}}
  %4 = arith.divsi %offsets, %c16 : tensor<128xi32>
  // expected-remark @below {{contiguity = [16], divisibility = [16]}}
  %5 = arith.remsi %offsets, %start : tensor<128xi32>
  tt.return
}

// -----

tt.func public @assumed(%n: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %ok = arith.cmpi sge, %n, %c0 : i32
  llvm.intr.assume %ok : i1
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %c16 = arith.constant dense<16> : tensor<128xi32>
  %start = tt.splat %n : i32 -> tensor<128xi32>
  %offsets = arith.addi %start, %range : tensor<128xi32>
  // expected-remark @below {{constancy = [16],}}
  %0 = arith.divsi %offsets, %c16 : tensor<128xi32>
  tt.return
}

// -----

tt.func public @casts() {
  %true = arith.constant true
  // expected-remark @below {{constant_value = -1}}
  %0 = arith.extsi %true : i1 to i32
  // expected-remark @below {{constant_value = 1}}
  %1 = arith.extui %true : i1 to i32
  %minus = arith.constant -1 : i8
  // expected-remark @below {{constant_value = 255}}
  %2 = arith.extui %minus : i8 to i32
  %min = arith.constant -9223372036854775808 : i64
  // expected-remark @below {{divisibility = [4611686018427387904], constancy = [1], constant_value = 0}}
  %3 = arith.trunci %min : i64 to i32
  %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  // The values go from 127 to -128 and from -1 to 0.
  // expected-remark @below {{contiguity = [128], divisibility = [128],}}
  %4 = arith.trunci %range : tensor<512xi32> to tensor<512xi8>
  tt.return
}

// -----

// Masks that keep low bits leave runs, masks that drop them leave equal groups. Triton knows neither.
tt.func public @masks() {
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %low = arith.constant dense<31> : tensor<128xi32>
  // expected-remark @below {{contiguity = [32], divisibility = [32], constancy = [1]}}
  %0 = arith.andi %range, %low : tensor<128xi32>
  %high = arith.constant dense<-8> : tensor<128xi32>
  // expected-remark @below {{contiguity = [1], divisibility = [8], constancy = [8]}}
  %1 = arith.andi %high, %range : tensor<128xi32>
  tt.return
}

// -----

tt.func public @hints(%a: tensor<8x16xi32> {tt.contiguity = dense<[1, 16]> : tensor<2xi32>, tt.divisibility = dense<8> : tensor<2xi32>}, %x: i32) {
  // expected-remark @below {{contiguity = [16, 1], divisibility = [8, 8],}}
  %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<8x16xi32> -> tensor<16x8xi32>
  // Numbers count by their power of two; 24 is a multiple of 8.
  // expected-remark @below {{contiguity = [1, 1], divisibility = [8, 8], constancy = [4, 16]}}
  %1 = tt.splat %x {tt.divisibility = dense<[24, 8]> : tensor<2xi32>} : i32 -> tensor<4x16xi32>
  tt.return
}

// -----

tt.func public @shapes() {
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // expected-remark @below {{contiguity = [1, 8], divisibility = [1, 8], constancy = [1, 1]}}
  %0 = tt.reshape %range : tensor<32xi32> -> tensor<4x8xi32>
  // expected-remark @below {{contiguity = [8, 1], divisibility = [8, 1], constancy = [1, 1]}}
  %1 = tt.trans %0 {order = array<i32: 1, 0>} : tensor<4x8xi32> -> tensor<8x4xi32>
  // expected-remark @below {{contiguity = [8, 1, 1], divisibility = [8, 1, 1]}}
  %2 = tt.join %1, %1 : tensor<8x4xi32> -> tensor<8x4x2xi32>
  // expected-remark @below {{contiguity = [8, 1], divisibility = [8, 1]}}
  %3, %4 = tt.split %2 : tensor<8x4x2xi32> -> tensor<8x4xi32>
  tt.return
}

// -----

// Blocks: an argument is what all branches to it have in common, also round a loop.
tt.func public @branches(%c: i1, %p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c4 = arith.constant 4 : i32
  %c0 = arith.constant 0 : i32
  cf.br ^head(%p, %c0 : !tt.ptr<f32>, i32)
^head(%q: !tt.ptr<f32>, %i: i32):
  // expected-remark @below {{divisibility = [4], constancy = [1], constant_value = <none>}}
  %next = arith.addi %i, %c4 : i32
  // expected-remark @below {{divisibility = [16]}}
  %step = tt.addptr %q, %next : !tt.ptr<f32>, i32
  cf.cond_br %c, ^head(%step, %next : !tt.ptr<f32>, i32), ^done
^done:
  tt.return
}
