// Metadata of descriptor arguments that are expanded: the base is marked, and the entry of tensordesc_meta is null.
// RUN: tessera compile %s --target sm_80 --emit llir -o /dev/null --metadata - | FileCheck %s
// RUN: tessera compile %s --target gfx942 --emit llir -o /dev/null --metadata - | FileCheck %s

// CHECK: "args": [
// CHECK-NEXT: {
// CHECK-NEXT: "descriptor": "tensordesc<u8[16, 64]>",
// CHECK-NEXT: "name": "arg0",
// CHECK-NEXT: "type": "*i8"
// CHECK-COUNT-4: "type": "i64"
// CHECK: "type": "i1"
// CHECK: "type": "i32"
// CHECK: "tensordesc_meta": [
// CHECK-NEXT: null
// CHECK-NEXT: ],
tt.func public @k(%d: !tt.tensordesc<tensor<16x64xui8>>, %i: i32) {
  %v = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<16x64xui8>> -> tensor<16x64xi8>
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<tensor<16x64xui8>>, tensor<16x64xi8>
  tt.return
}
