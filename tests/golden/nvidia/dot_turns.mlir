// Warp groups take turns at dots: group g waits at a barrier of its own, at which the group before it arrives. The last
// group arrives for the first one before the loop. Behind the loop the first one waits for it, and it for the first one:
// a second loop may follow.
// RUN: cp -r %S/../../kernels/desc_arguments_attn_turns %t && cd %t && tessera compile desc_arguments_attn_turns.ttir --target sm_90a --num-warps 8 --num-stages 3 --emit llir -o - | FileCheck %s
// RUN: cp -r %S/../../kernels/desc_arguments_attn_two_loops %t.two && cd %t.two && sed -i 's/^    } loc/    } {tessera.dot_turns = true} loc/' desc_arguments_attn_two_loops.ttir && \
// RUN:   tessera compile desc_arguments_attn_two_loops.ttir --target sm_90a --num-warps 8 --num-stages 3 --emit llir -o - | FileCheck %s --check-prefix=TWO && \
// RUN:   tessera run launch.json --device emulator:sm_90a --check
// RUN: cd %t && tessera compile desc_arguments_attn_turns.ttir --target sm_90a --num-warps 8 --num-stages 3 --emit ttgir -o turns.ttgir && \
// RUN:   sed -e 's/^\( *\)\(.*tessera.ends_dot_turn.*\)/\1ttg.barrier local\n\1\2/' turns.ttgir > barrier.ttgir && tessera compile barrier.ttgir --target sm_90a --emit llir -o - | FileCheck %s --check-prefix=NONE

// Barriers 5 and 6, behind that of the warps that copy and those of each group by itself.
// CHECK: call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 5, i32 256)
// CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 %{{.*}}, i32 256)
// CHECK: wgmma.commit_group
// CHECK: wgmma.commit_group
// CHECK: call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 %{{.*}}, i32 256)
// CHECK: wgmma.wait_group
// CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 5, i32 256)
// CHECK-NEXT: call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 6, i32 256)
// CHECK: call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 %{{.*}}, i32 256)

// TWO-COUNT-2: call void @llvm.nvvm.barrier.cta.arrive.aligned.count(i32 6, i32 256)

// No turns if all warps wait for each other inside of one.
// NONE-NOT: barrier.cta.arrive
