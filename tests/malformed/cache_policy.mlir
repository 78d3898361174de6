tt.func @f(%p: !tt.ptr<f32>) {
  %0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = fast, eviction_policy = evict_first>} : !tt.ptr<f32>
  %1 = tt.load %p cacheModifier = cg {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_first>} : !tt.ptr<f32>
  %2 = tt.load %p {cachePolicy = 3 : i32} : !tt.ptr<f32>
  tt.return
}
