#l = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, partitionLayout = 3}>
module {
  tt.func public @f(%a: !ttg.memdesc<32x64xf16, #l, #ttg.shared_memory>) {
    tt.return
  }
}
