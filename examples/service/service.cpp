// A service that compiles kernels on first use: threads request (kernel, target) pairs; the first request of a pair
// compiles, requests that come meanwhile wait for it, and later ones get the object at once. See README.md.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <tessera.h>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// An object that a launcher loads, or why there is none.
struct Compiled {
  std::string object;
  std::string metadata; // JSON: warps, shared memory, arguments
  std::string error;
  double milliseconds = 0; // that compiling took
};

class KernelService {
public:
  explicit KernelService(tessera_context *context) : context_(context) {}

  /// Compiles on first use. Any number of threads may call at once.
  std::shared_ptr<const Compiled> get(const std::string &file, const std::string &text, const std::string &target) {
    std::promise<std::shared_ptr<const Compiled>> promise;
    std::shared_future<std::shared_ptr<const Compiled>> known;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto [entry, isFirst] = entries_.try_emplace({file, target});
      if (isFirst) entry->second = promise.get_future().share();
      known = isFirst ? decltype(known)() : entry->second;
    }
    if (known.valid()) return known.get();
    std::shared_ptr<const Compiled> compiled = compile(file, text, target); // without the lock
    promise.set_value(compiled);
    return compiled;
  }

private:
  std::shared_ptr<const Compiled> compile(const std::string &file, const std::string &text,
                                          const std::string &target) const {
    auto start = Clock::now();
    auto out = std::make_shared<Compiled>();
    tessera_options options;
    tessera_options_init(&options, sizeof options);
    options.target = target.c_str();
    if (target.compare(0, 3, "sm_") == 0) options.stage = "ptx"; // the driver makes the cubin: no toolkit needed
    tessera_result *result = nullptr;
    tessera_error *error = nullptr;
    if (tessera_compile(context_, text.data(), text.size(), file.c_str(), &options, &result, &error) == TESSERA_OK) {
      size_t length = 0;
      const char *data = tessera_result_data(result, &length);
      out->object.assign(data, length);
      out->metadata = tessera_result_metadata(result);
    } else {
      out->error = tessera_error_text(error);
    }
    tessera_result_destroy(result);
    tessera_error_destroy(error);
    out->milliseconds = millisecondsSince(start);
    return out;
  }

  tessera_context *context_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_future<std::shared_ptr<const Compiled>>> entries_;
};

int serve(tessera_context *context, const std::vector<std::string> &files, unsigned threadCount, int requests) {
  const std::vector<std::string> targets = {"sm_80", "sm_90a", "gfx942", "gfx1100"};
  std::vector<std::string> texts;
  for (const std::string &file : files) {
    std::ifstream stream(file, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }

  KernelService service(context);
  std::vector<std::vector<double>> waits(threadCount); // milliseconds of every request, by thread
  auto start = Clock::now();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < threadCount; ++t)
    threads.emplace_back([&, t] {
      std::minstd_rand random(t + 1);
      for (int i = 0; i < requests; ++i) {
        size_t kernel = random() % files.size();
        auto before = Clock::now();
        service.get(files[kernel], texts[kernel], targets[random() % targets.size()]);
        waits[t].push_back(millisecondsSince(before));
      }
    });
  for (std::thread &thread : threads) thread.join();
  double total = millisecondsSince(start);

  bool failed = false;
  for (size_t kernel = 0; kernel < files.size(); ++kernel)
    for (const std::string &target : targets) {
      auto compiled = service.get(files[kernel], texts[kernel], target);
      if (!compiled->error.empty()) std::fputs(compiled->error.c_str(), stderr);
      failed |= !compiled->error.empty();
      std::printf("%-40s %-8s %7zu bytes, compiled in %7.2f ms\n", files[kernel].c_str(), target.c_str(),
                  compiled->object.size(), compiled->milliseconds);
    }
  std::vector<double> all;
  for (const auto &ofThread : waits) all.insert(all.end(), ofThread.begin(), ofThread.end());
  std::sort(all.begin(), all.end());
  std::printf("%zu requests of %u threads in %.1f ms: median %.4f ms, longest %.2f ms\n", all.size(), threadCount,
              total, all[all.size() / 2], all.back());
  return failed ? TESSERA_INPUT : TESSERA_OK;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s KERNEL.ttir...\n", argv[0]);
    return TESSERA_USAGE;
  }
  tessera_context *context = nullptr;
  if (tessera_context_create(nullptr, &context, nullptr) != TESSERA_OK) return TESSERA_FAILED;
  int code = serve(context, {argv + 1, argv + argc}, /*threadCount=*/4, /*requests=*/1000);
  tessera_context_destroy(context);
  return code;
}
