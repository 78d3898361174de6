// `tessera cache`: the folder of compiled kernels, its size and what is in it, and ways to make it smaller.
#include "runtime/compiler/cache_folder.h"
#include "tools/arguments.h"
#include "tools/commands.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <ctime>

namespace tessera::tools {
using namespace runtime;

namespace {

uint64_t total(llvm::ArrayRef<CacheFolder::Entry> entries) {
  uint64_t n = 0;
  for (auto &e : entries) n += e.bytes;
  return n;
}

int show(const CacheFolder &folder, llvm::ArrayRef<CacheFolder::Entry> entries, uint64_t limit, bool json) {
  if (json) {
    llvm::json::Object o{{"folder", folder.directory()},
                         {"entries", int64_t(entries.size())},
                         {"bytes", int64_t(total(entries))},
                         {"limit", int64_t(limit)}};
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(o)));
    return kOk;
  }
  llvm::outs() << "folder   " << folder.directory()
               << (llvm::sys::fs::exists(folder.directory()) ? "" : " (not made yet)") << "\n";
  llvm::outs() << llvm::formatv("kernels  {0}\nsize     {1} of at most {2}\n", entries.size(),
                                formatBytes(total(entries)), formatBytes(limit));
  return kOk;
}

/// The most recently used first.
int list(const CacheFolder &folder, llvm::ArrayRef<CacheFolder::Entry> entries) {
  for (auto &e : llvm::reverse(entries)) {
    auto r = folder.look(e.key);
    if (absl::IsNotFound(r.status())) continue; // another process removed it
    time_t used = llvm::sys::toTimeT(e.used);
    char time[32];
    strftime(time, sizeof time, "%Y-%m-%d %H:%M", localtime(&used));
    llvm::outs() << llvm::formatv("{0}  {1,10}  {2}  ", e.key.substr(0, 12), formatBytes(e.bytes), time);
    if (r.ok())
      llvm::outs() << llvm::formatv("{0}  {1}, {2} warps\n", r->metadata.kernel, r->metadata.target,
                                    r->metadata.numWarps);
    else
      llvm::outs() << "damaged\n";
  }
  return kOk;
}

int verify(const CacheFolder &folder, llvm::ArrayRef<CacheFolder::Entry> entries, bool remove) {
  size_t damaged = 0;
  int code = kOk;
  for (auto &e : entries) {
    if (!absl::IsDataLoss(folder.look(e.key).status())) continue;
    ++damaged;
    llvm::outs() << "damaged  " << e.key << "\n";
    if (!remove) continue;
    if (auto s = folder.remove(e.key); !s.ok()) code = fail(kRunFailed, std::string(s.message()));
  }
  llvm::outs() << llvm::formatv("{0} checked, {1} damaged{2}\n", ir::counted(entries.size(), "kernel"), damaged,
                                remove && damaged && !code ? " and removed" : "");
  return damaged && !remove ? int(kRunFailed) : code;
}

int drop(const CacheFolder &folder, llvm::ArrayRef<CacheFolder::Entry> entries, uint64_t limit) {
  auto d = folder.dropOldest(limit);
  if (!d.ok()) return fail(kRunFailed, std::string(d.status().message()));
  llvm::outs() << llvm::formatv("{0} of {1} removed, {2} of {3}\n", d->entries, ir::counted(entries.size(), "kernel"),
                                formatBytes(d->bytes), formatBytes(total(entries)));
  return kOk;
}

} // namespace

int cacheCommand(int argc, char **argv) {
  CLI::App app("Shows the folder of compiled kernels, and makes it smaller.\n"
               "Kernels are kept where --cache is given to compile, run, bench or tune, or TESSERA_CACHE_DIR is set;\n"
               "TESSERA_CACHE_BYTES (1G) is how large the folder may become. Entries that are damaged are made again.",
               "tessera cache");
  std::string what = "show", directory, maxBytes;
  bool remove = false, json = false;
  app.add_option("ACTION", what,
                 "show (folder, kernels and size: the default), list (every kernel), verify (look for damaged "
                 "entries), prune (remove the least recently used down to --max-bytes), clear (remove all)")
      ->check([](const std::string &s) {
        llvm::StringRef names[] = {"show", "list", "verify", "prune", "clear"};
        return llvm::is_contained(names, s)
                   ? ""
                   : "unknown action '" + s + "'" + suggest(s, names) + "; actions: show, list, verify, prune, clear";
      });
  app.add_option("--dir", directory,
                 "the folder; default: TESSERA_CACHE_DIR, else tessera in XDG_CACHE_HOME or ~/.cache");
  app.add_option("--max-bytes", maxBytes, "prune: what may stay, as 500M or 2G; default: the folder's limit")
      ->check([](const std::string &s) {
        return parseBytes(s) ? "" : "must be a number of bytes such as 500M or 2G, not '" + s + "'";
      });
  app.add_flag("--remove", remove, "verify: remove damaged entries");
  app.add_flag("--json", json, "show: as JSON");
  if (auto code = parseArguments(app, argc, argv)) return *code;
  for (auto [flag, action] :
       {std::pair("--max-bytes", "prune"), std::pair("--remove", "verify"), std::pair("--json", "show")})
    if (app.count(flag) && what != action)
      return fail(kUsage, llvm::Twine(flag) + " is for `tessera cache " + action + "`");
  uint64_t limit;
  if (int code = cacheLimit(limit)) return code;
  // A folder that is named is meant: a mistyped one has no damaged kernels.
  bool isRead = what == "list" || what == "verify";
  if (isRead && !directory.empty() && !llvm::sys::fs::exists(directory))
    return fail(kInputAtFault, directory + ": No such file or directory");
  if (directory.empty()) directory = defaultCacheDirectory();
  if (directory.empty()) return fail(kUsage, "neither TESSERA_CACHE_DIR nor HOME is set, so --dir is needed");
  CacheFolder folder(directory);
  auto entries = folder.entries();
  if (!entries.ok()) return fail(kRunFailed, std::string(entries.status().message()));
  if (what == "show") return show(folder, *entries, limit, json);
  if (what == "list") return list(folder, *entries);
  if (what == "verify") return verify(folder, *entries, remove);
  return drop(folder, *entries, what == "clear" ? 0 : maxBytes.empty() ? limit : *parseBytes(maxBytes));
}

} // namespace tessera::tools
