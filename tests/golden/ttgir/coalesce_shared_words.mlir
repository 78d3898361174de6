// tritongpu-coalesce: words that several elements share, such as weights of 4 bits. A thread has the eight elements of a
// word, which it loads once, and its neighbour those of the next word; scales of groups take the same layout.
// RUN: tessera compile %S/../../kernels/vector_packed_words/vector_packed_words.ttir --target gfx942 --emit ttgir | FileCheck %s
// RUN: tessera compile %S/../../kernels/vector_packed_words/vector_packed_words.ttir --target gfx1100 --emit ttgir | FileCheck %s
// RUN: tessera compile %S/../../kernels/vector_packed_words/vector_packed_words.ttir --target sm_90a --emit ttgir | FileCheck %s
// A thread with fewer elements than a word has keeps one in a row:
// RUN: tessera compile %S/../../kernels/vector_packed_words/vector_packed_words.ttir --target gfx942 --num-warps 16 --emit ttgir | FileCheck %s --check-prefix=FEW
// So does one whose words are not proved to be shared (eight becomes a number that divides no multiple of 16):
// RUN: sed 's/dense<8> : tensor<1x128xi32>/dense<7> : tensor<1x128xi32>/' %S/../../kernels/vector_packed_words/vector_packed_words.ttir | tessera compile - --target gfx942 --emit ttgir | FileCheck %s --check-prefix=SEVEN

// CHECK: #[[WORDS:.*]] = #ttg.blocked<{sizePerThread = [1, 8], {{.*}}, order = [1, 0]}>
// CHECK: tt.load {{.*}} : tensor<16x128x!tt.ptr<i32>, #[[WORDS]]>
// CHECK: tt.load {{.*}} : tensor<16x128x!tt.ptr<f16>, #[[WORDS]]>

// FEW: #[[ONE:.*]] = #ttg.blocked<{sizePerThread = [1, 1], {{.*}}, order = [1, 0]}>
// FEW: tt.load {{.*}} : tensor<16x128x!tt.ptr<i32>, #[[ONE]]>

// SEVEN: #[[SEVENTH:.*]] = #ttg.blocked<{sizePerThread = [1, 1], {{.*}}>
// SEVEN: tt.load {{.*}} : tensor<16x128x!tt.ptr<i32>, #[[SEVENTH]]>
