// Options of LLVM that exist for the whole process alone, with neither a function attribute nor a subtarget feature for
// them. They are set while threads run what wants them, and restored when the last of these threads is done, so that
// every caller of the library gets the same code and the library leaves no option changed.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace llvm::cl {
class Option;
}

namespace tessera::codegen {

/// LLVM's option of this name, or null: another version of LLVM may have renamed it.
llvm::cl::Option *findProcessOption(llvm::StringRef name);

/// Options that are set and restored together. A setting numbers the values that they can be set to. One that is used
/// for the whole process must never be destroyed, since threads may outlive static objects.
class HeldOptions {
public:
  using Set = void (*)(unsigned setting);
  using Restore = void (*)();

  HeldOptions(Set set, Restore restore) : set_(set), restore_(restore) {}

  /// Runs `body` with the options set. Threads with the same setting may be in it at once, others wait for each other.
  /// An exception of the body passes through. Within `body` the setting must stay the same.
  void holdDuring(llvm::function_ref<void()> body, unsigned setting = 0);

private:
  void enter(unsigned wanted);
  void leave();
  bool mayEnter(unsigned wanted) const;

  const Set set_;
  const Restore restore_;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned setting_ = 0;                 // of the threads inside
  std::map<std::thread::id, int> depth_; // of the bodies of each thread inside
  std::map<unsigned, int> waiting_;      // threads, by setting
};

} // namespace tessera::codegen
