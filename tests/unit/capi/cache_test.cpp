// The C API's cache of compiled kernels, in memory and in a folder: what it gives, what it counts, and that a folder
// that is damaged, too small or missing costs a compilation and nothing else.
#include "session.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace {

class Cache : public testing::Test {
protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "tessera-cache-XXXXXX";
    ASSERT_TRUE(mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::vector<std::string> files() {
    std::vector<std::string> out;
    for (auto &f : std::filesystem::directory_iterator(folder_)) out.push_back(f.path().string());
    return out;
  }
  static void write(const std::string &path, const std::string &text) { std::ofstream(path, std::ios::binary) << text; }
  static tessera_cache_counts counts(Session &s) {
    tessera_cache_counts c;
    EXPECT_EQ(tessera_cache_count(s.context, &c, nullptr), TESSERA_OK);
    return c;
  }
  static std::string compile(Session &s, const char *target = "gfx942", const char *stage = "llir", int warps = 4,
                             const std::string &text = kAxpy, const char *file = "k") {
    tessera_options o;
    tessera_options_init(&o, sizeof o);
    o.target = target, o.stage = stage, o.num_warps = warps;
    tessera_result *r;
    EXPECT_EQ(tessera_compile(s.context, text.data(), text.size(), file, &o, &r, nullptr), TESSERA_OK)
        << s.diagnostics.texts;
    size_t length;
    const char *data = tessera_result_data(r, &length);
    std::string out = std::string(data, length) + tessera_result_metadata(r);
    tessera_result_destroy(r);
    return out;
  }
  std::string folder_;
};

TEST_F(Cache, GivesWhatWasCompiled) {
  std::string first, other;
  {
    Session s(nullptr, folder_.c_str());
    first = compile(s);
    EXPECT_EQ(counts(s).misses, 1u);
    EXPECT_EQ(compile(s), first); // times, too: it is the same compilation
    EXPECT_EQ(counts(s).memory_hits, 1u);
    // Everything that code depends on is another entry.
    compile(s, "gfx950"), compile(s, "gfx942", "ttgir"), compile(s, "gfx942", "llir", 8),
        compile(s, "gfx942", "llir", 4, std::string(kAxpy) + "\n"), compile(s, "gfx942", "llir", 4, kAxpy, "l");
    EXPECT_EQ(counts(s).misses, 6u);
    EXPECT_EQ(counts(s).memory_hits, 1u);
    EXPECT_EQ(files().size(), 6u);
  }
  Session s(nullptr, folder_.c_str());
  EXPECT_EQ(compile(s), first);
  EXPECT_EQ(counts(s).directory_hits, 1u);
  EXPECT_EQ(compile(s), first);
  EXPECT_EQ(counts(s).memory_hits, 1u);
  EXPECT_EQ(tessera_cache_clear(s.context, nullptr), TESSERA_OK);
  EXPECT_EQ(files().size(), 0u);
  compile(s);
  EXPECT_EQ(counts(s).misses, 1u);
}

TEST_F(Cache, KeepsOptionsAtTheirLimits) {
  auto compileWith = [](Session &s, const char *target, int warps, int stages, int ctas, int waves) {
    tessera_options o;
    tessera_options_init(&o, sizeof o);
    o.target = target, o.stage = "bitcode";
    o.num_warps = warps, o.num_stages = stages, o.num_ctas = ctas, o.waves_per_eu = waves;
    tessera_result *r;
    EXPECT_EQ(tessera_compile(s.context, kAxpy, sizeof kAxpy - 1, "k", &o, &r, nullptr), TESSERA_OK)
        << s.diagnostics.texts;
    // The library reads the metadata that it wrote.
    tessera_device *d;
    EXPECT_EQ(tessera_device_open(s.context, (std::string("emulator:") + target).c_str(), &d, nullptr), TESSERA_OK);
    size_t length;
    const char *data = tessera_result_data(r, &length);
    tessera_kernel *k;
    EXPECT_EQ(tessera_kernel_load(d, data, length, tessera_result_metadata(r), &k, nullptr), TESSERA_OK)
        << s.diagnostics.texts;
    tessera_kernel_destroy(k);
    tessera_device_destroy(d);
    tessera_result_destroy(r);
  };
  for (bool again : {false, true}) {
    Session s(nullptr, folder_.c_str());
    compileWith(s, "sm_80", 32, 100, 1, 16);
    compileWith(s, "gfx942", 16, 1, 1, 8);
    compileWith(s, "gfx1100", 1, 100, 1, 16);
    EXPECT_EQ(counts(s).directory_hits, again ? 3u : 0u);
    EXPECT_EQ(counts(s).damaged, 0u);
  }
}

TEST_F(Cache, DamagedFilesAreReplaced) {
  std::string first;
  {
    Session s(nullptr, folder_.c_str());
    first = compile(s);
  }
  std::string path = files().at(0);
  std::ostringstream contents;
  contents << std::ifstream(path, std::ios::binary).rdbuf();
  std::string whole = contents.str();
  std::vector<std::string> versions = {"", "x", whole.substr(0, whole.size() - 1), whole + "x"};
  for (size_t at : {size_t(3), size_t(20), size_t(50), whole.size() / 2, whole.size() - 1})
    versions.push_back(whole), versions.back()[at] ^= 1;
  for (auto &v : versions) {
    write(path, v);
    Session s(nullptr, folder_.c_str());
    std::string again = compile(s);
    EXPECT_EQ(again.substr(0, 2000), first.substr(0, 2000));
    EXPECT_EQ(counts(s).damaged, 1u);
    EXPECT_EQ(counts(s).misses, 1u);
    Session t(nullptr, folder_.c_str());
    EXPECT_EQ(compile(t), again);
    EXPECT_EQ(counts(t).directory_hits, 1u);
  }
}

TEST_F(Cache, LimitsHold) {
  std::string foreign = folder_ + "/notes.txt";
  write(foreign, std::string(100000, 'x'));
  tessera_context_options o;
  tessera_context_options_init(&o, sizeof o);
  o.cache_directory = folder_.c_str(), o.cache_directory_bytes = 40000, o.cache_memory_bytes = 0;
  Session s(nullptr);
  tessera_context_destroy(s.context);
  ASSERT_EQ(tessera_context_create(&o, &s.context, nullptr), TESSERA_OK);
  for (int i = 0; i < 12; ++i) compile(s, "gfx942", "llir", 4, std::string(kAxpy) + std::string(i, '\n'));
  uint64_t bytes = 0;
  for (auto &f : files())
    if (f != foreign) bytes += std::filesystem::file_size(f);
  EXPECT_LE(bytes, 40000u);
  EXPECT_GT(bytes, 0u);
  EXPECT_TRUE(std::filesystem::exists(foreign));
  compile(s, "gfx942", "llir", 4, std::string(kAxpy) + std::string(11, '\n')); // the newest is there, and not in memory
  EXPECT_EQ(counts(s).directory_hits, 1u);
  EXPECT_EQ(counts(s).memory_hits, 0u);
  EXPECT_EQ(tessera_cache_clear(s.context, nullptr), TESSERA_OK);
  EXPECT_EQ(files(), std::vector<std::string>{foreign});
}

TEST_F(Cache, AFolderThatCannotBeIsNoError) {
  std::string file = folder_ + "/file";
  write(file, "x");
  Session s(nullptr, (file + "/below").c_str());
  std::string first = compile(s);
  EXPECT_EQ(counts(s).unwritten, 1u);
  EXPECT_EQ(compile(s), first);
}

TEST_F(Cache, ErrorsAreNotKept) {
  Session s(nullptr, folder_.c_str());
  tessera_options o;
  tessera_options_init(&o, sizeof o);
  o.target = "sm_80";
  for (int i = 0; i < 2; ++i) {
    tessera_result *r;
    EXPECT_EQ(tessera_compile(s.context, "bad", 3, "k", &o, &r, nullptr), TESSERA_INPUT);
  }
  EXPECT_EQ(counts(s).misses, 2u);
  EXPECT_EQ(files().size(), 0u);
  tessera_cache_counts c;
  EXPECT_EQ(tessera_cache_count(nullptr, &c, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_cache_count(s.context, nullptr, nullptr), TESSERA_USAGE);
  EXPECT_EQ(tessera_cache_clear(nullptr, nullptr), TESSERA_USAGE);
}

} // namespace
