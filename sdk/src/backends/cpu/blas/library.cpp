// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/blas/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "backends/cpu/blas/blas.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend::blas {
namespace {

[[maybe_unused]] const bool blas_declared = config::declare({
    .name = "blas",
    .description = "the BLAS library for products on the CPU: a file, a folder that has one, or "
                   "none for Spanwise's own loops; empty looks for an OpenBLAS",
});

/// What a library adds to names such as cblas_sgemm: SciPy's wheels a prefix, builds with 64-bit
/// integers a suffix.
struct SymbolAffixes {
  const char *prefix, *suffix;
};
constexpr SymbolAffixes symbol_affixes[] = {
    {"scipy_", ""}, {"", ""}, {"scipy_", "64_"}, {"", "64_"}};

class Symbols {
 public:
  Symbols(void* handle, SymbolAffixes affixes) : handle_(handle), affixes_(affixes) {}

  template <class F>
  bool get(const std::string& name, F& function) const {
    const std::string full = text(affixes_.prefix, name, affixes_.suffix);
    function = reinterpret_cast<F>(dlsym(handle_, full.c_str()));
    return function != nullptr;
  }

  template <class T, class I>
  bool fill(const char* letter, Functions<T, I>& functions) const {
    const auto name = [&](const char* operation) { return text("cblas_", letter, operation); };
    constexpr bool is_real = std::is_floating_point_v<T>;
    return get(name("gemm"), functions.gemm) && get(name("gemv"), functions.gemv) &&
           get(name("syrk"), functions.syrk) &&
           get(name(is_real ? "dot" : "dotu_sub"), functions.dot) &&
           get(name(is_real ? "dot" : "dotc_sub"), functions.conjugated_dot);
  }
  template <class I>
  bool fill(Tables<I>& tables) const {
    return fill("s", tables.f32) && fill("d", tables.f64) && fill("c", tables.c64) &&
           fill("z", tables.c128);
  }

 private:
  void* handle_;
  SymbolAffixes affixes_;
};

// The name and number in "OpenBLAS 0.3.29 USE64BITINT DYNAMIC_ARCH ..."; "" if the library is not
// OpenBLAS.
std::string version_of_blas(const Symbols& symbols) {
  const char* (*get_config)() = nullptr;
  if (!symbols.get("openblas_get_config", get_config)) return {};
  const std::string config = get_config();
  const std::size_t name_end = config.find(' ');
  return config.substr(0, config.find(' ', name_end == config.npos ? name_end : name_end + 1));
}

// Null if the library cannot be used; the reason is appended to `reason`. Never closed: its threads
// keep running.
std::unique_ptr<BlasLibrary> open_blas(const std::string& path, bool must_be_openblas,
                                       std::string& reason) {
  const std::lock_guard loading(loader_mutex());
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* error = dlerror();
    reason += text("; ", error != nullptr ? error : path);
    return nullptr;
  }
  for (const SymbolAffixes& affixes : symbol_affixes) {
    const Symbols symbols(handle, affixes);
    auto result = std::make_unique<BlasLibrary>();
    result->has_wide_integers = *affixes.suffix != '\0';
    if (result->has_wide_integers ? !symbols.fill(result->wide) : !symbols.fill(result->narrow))
      continue;
    result->path = path;
    result->version = version_of_blas(symbols);
    if (must_be_openblas && result->version.empty()) continue;
    if (symbols.get("openblas_get_num_threads", result->get_threads))
      result->threads = result->get_threads();
    symbols.get("openblas_set_num_threads", result->set_threads);
    return result;
  }
  reason += text("; ", path, must_be_openblas ? " is no OpenBLAS with" : " has no",
                 " C interface (cblas_sgemm, ...)");
  return nullptr;
}

// The files in a folder whose names contain "openblas" and ".so", the shortest name first.
std::vector<std::string> libraries_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.find("openblas") != name.npos && name.find(".so") != name.npos)
      paths.push_back(it->path().string());
  }
  std::ranges::sort(paths, [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return paths;
}

std::unique_ptr<BlasLibrary> search(const std::string& setting, std::string& reason) {
  if (setting == "none") {
    reason = "; config blas is none";
    return nullptr;
  }
  std::error_code error;
  if (!setting.empty() && !std::filesystem::is_directory(setting, error))
    return open_blas(setting, false, reason);
  if (!setting.empty()) {
    for (const std::string& path : libraries_in(setting))
      if (auto result = open_blas(path, false, reason)) return result;
  }
  for (const char* name : {"libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libblas.so.3"})
    if (auto result = open_blas(name, true, reason)) return result;
  return nullptr;
}

struct BlasState {
  Mutex mutex;
  std::string setting, why;
  std::vector<std::unique_ptr<BlasLibrary>> opened;
  std::atomic<std::uint64_t> version{0};  // config::version() at the last search
  std::atomic<const BlasLibrary*> library{nullptr};
};
BlasState& blas_state() {
  // Never destroyed: other threads may use it until the process ends.
  static BlasState& instance = *new BlasState;
  return instance;
}

// Counts the SingleThreadGuard objects. One counter for all libraries: the library changes only
// with config "blas".
struct SingleThreadUses final : ForkParticipant {
  // The child has no other threads, so their products never end there.
  void after_fork_in_child(bool) noexcept override { count = 0; }

  Mutex mutex;
  int count = 0;
  int saved_threads = 0;  // the library's number of threads to restore
};

// Keeps products and forks apart: OpenBLAS ends its threads before a fork, and that hangs while a
// product is running.
class BlasForkGuard final : public ForkParticipant {
 public:
  void enter() noexcept {
    while (running_.fetch_add(1), is_forking_.load()) {
      leave();
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // a fork takes longer
    }
  }
  void leave() noexcept { running_.fetch_sub(1); }

 private:
  bool try_pause() noexcept override {
    is_forking_.store(true);
    if (running_.load() == 0) return true;
    resume();
    return false;
  }
  void resume() noexcept override { is_forking_.store(false); }
  void after_fork_in_child(bool) noexcept override {
    running_.store(0);
    resume();
  }
  std::chrono::milliseconds pause_timeout() const noexcept override {
    return std::chrono::minutes(5);
  }

  std::atomic<int> running_{0};
  std::atomic<bool> is_forking_{false};
};
BlasForkGuard& fork_guard() {
  static auto& instance = *new BlasForkGuard;
  return instance;
}

SingleThreadUses& single_thread_uses() {
  static SingleThreadUses& instance = *new SingleThreadUses;
  return instance;
}

}  // namespace

BlasCallGuard::BlasCallGuard() { fork_guard().enter(); }
BlasCallGuard::~BlasCallGuard() { fork_guard().leave(); }

SingleThreadGuard::SingleThreadGuard(const BlasLibrary& library) : library_(library) {
  SingleThreadUses& all = single_thread_uses();
  const std::lock_guard lock(all.mutex);
  if (all.count++ > 0 || !library.can_set_threads()) return;
  all.saved_threads = library.get_threads();
  if (all.saved_threads > 1) library.set_threads(1);
}

SingleThreadGuard::~SingleThreadGuard() {
  SingleThreadUses& all = single_thread_uses();
  const std::lock_guard lock(all.mutex);
  if (--all.count > 0 || !library_.can_set_threads()) return;
  // If the number is not 1 any more, other code has set it: keep it.
  if (all.saved_threads > 1 && library_.get_threads() == 1) library_.set_threads(all.saved_threads);
}

const BlasLibrary* library(std::string* why) {
  BlasState& now = blas_state();
  const std::uint64_t version = config::version();
  if (now.version.load(std::memory_order_acquire) == version && why == nullptr)
    return now.library.load(std::memory_order_relaxed);
  const std::lock_guard lock(now.mutex);
  const bool is_first = now.version.load(std::memory_order_relaxed) == 0;
  if (std::string setting = config::get("blas"); is_first || setting != now.setting) {
    now.setting = std::move(setting);
    now.why.clear();
    auto result = search(now.setting, now.why);
    now.library.store(result.get(), std::memory_order_relaxed);
    if (result) renew_fork_handlers();
    if (result) now.opened.push_back(std::move(result));
  }
  now.version.store(version, std::memory_order_release);
  if (why != nullptr) *why = now.why;
  return now.library.load(std::memory_order_relaxed);
}

}  // namespace spanwise::cpu_backend::blas

namespace spanwise::cpu_backend {

Tool blas_tool() {
  Tool tool{.name = "BLAS"};
  std::string why;
  if (const blas::BlasLibrary* library = blas::library(&why)) {
    tool.version = library->version.empty() ? "of unknown version" : library->version;
    tool.path = library->path;
  } else {
    tool.missing = text(
        "Products on the CPU run in Spanwise's own loops, which are slower. Install one (python3 "
        "-m pip "
        "install scipy-openblas32), or name its file in SPANWISE_BLAS",
        why);
  }
  return tool;
}

}  // namespace spanwise::cpu_backend
