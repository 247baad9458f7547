// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/module_cache.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/string_utils.hpp"
#include "kernels/bundle.hpp"
#include "kernels/disk_cache.hpp"
#include "kernels/include_closure.hpp"
#include "kernels/sha256.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/interrupt.hpp"

namespace spanwise::kernels {
namespace {

constexpr std::size_t short_source_lines = 40;  // a source up to this length is shown whole
constexpr std::size_t context_lines = 3;        // shown before and after a line that the log names

// Zero-based line indices, in order of mention.
std::vector<std::size_t> lines_named_in(std::string_view log, std::string_view file) {
  std::vector<std::size_t> named;
  for (std::size_t at = log.find(file); at != log.npos; at = log.find(file, at + 1)) {
    const std::string_view after = log.substr(at + file.size());
    if (after.empty() || (after[0] != ':' && after[0] != '(')) continue;
    std::string_view digits = after.substr(1);
    const std::size_t line = take_number<std::size_t>(digits).value_or(0);
    if (line > 0) named.push_back(line - 1);
  }
  return named;
}

std::vector<bool> lines_to_show(std::size_t count, const std::vector<std::size_t>& named) {
  std::vector<bool> shown(count, count <= short_source_lines);
  for (const std::size_t line : named)
    for (std::size_t i = line - std::min(line, context_lines);
         i < std::min(line + context_lines + 1, count); ++i)
      shown[i] = true;
  // Where the log names no line of the source, shows its beginning, which identifies it.
  if (std::ranges::find(shown, true) == shown.end())
    std::fill_n(shown.begin(), std::min(short_source_lines, count), true);
  return shown;
}

}  // namespace

std::string source_excerpt(std::string_view numbered, std::string_view log, std::string_view file) {
  const std::vector<std::string_view> lines = split(numbered, '\n');
  const std::vector<bool> shown = lines_to_show(lines.size(), lines_named_in(log, file));
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (shown[i]) {
      out.append(lines[i]).append("\n");
    } else if (i > 0 && shown[i - 1]) {
      out.append("     ...\n");
    }
  }
  return out;
}

namespace {

// The file that a compiler's log refers to.
const std::string& file_named_in(const std::string& log, const runtime::CompileRequest& request) {
  for (const parse::KernelSource& linked : request.linked)
    if (log.find(linked.file_name) != log.npos) return linked.file_name;
  return request.source->file_name;
}

}  // namespace

runtime::KernelBinary compile_with_headers(
    const runtime::CompileRequest& request, const IncludeClosure& includes,
    const std::function<runtime::KernelBinary(const runtime::CompileRequest&)>& compile) try {
  if (!includes.wants_device_headers) return compile(request);
  const DeviceHeaderFolder headers;
  runtime::CompileRequest complete = request;
  complete.include_dirs.push_back(headers.path());
  return compile(complete);
} catch (const CompileError& error) {
  throw CompileError(
      text(error.what(), '\n',
           source_excerpt(error.source(), error.log(), file_named_in(error.log(), request))),
      error.log(), error.source());
}

namespace {

// A module, with the compiler fingerprint and include files that it was built from.
struct BuiltModule {
  Ref<ModuleState> module;
  std::string fingerprint;
  IncludeClosure includes;
};

// Incremented when the format or meaning of entries changes.
constexpr std::uint64_t cache_version = 2;

void add_list(Sha256& hash, std::span<const std::string> list) {
  hash.field(std::uint64_t{list.size()});
  for (const std::string& text : list) hash.field(text);
}

// The cache key of a compiled result: a SHA-256 over everything that determines it. Equal keys
// mean equal results, also between processes and after files have changed.
std::string cache_key(DeviceKind kind, std::string_view fingerprint,
                      const runtime::CompileRequest& request, const IncludeClosure& includes) {
  Sha256 hash;
  hash.field(cache_version);
  hash.field(static_cast<std::uint64_t>(kind));
  hash.field(fingerprint);
  hash.field(request.source->file_name);
  hash.field(request.source->text);
  add_list(hash, request.options);
  add_list(hash, request.names);
  add_list(hash, request.include_dirs);
  hash.field(std::uint64_t{request.linked.size()});
  for (const parse::KernelSource& linked : request.linked) hash.field(linked.text);
  hash.field(std::uint64_t{includes.files.size()});
  for (const IncludeClosure::IncludedFile& file : includes.files) {
    hash.field(file.path);
    hash.field(file.digest);
  }
  hash.field(includes.wants_device_headers ? device_headers_digest() : std::string());
  return hash.hex();
}

// Lookups of modules in the disk cache by this process.
std::atomic<std::int64_t> hits{0}, misses{0};

// The part of a fingerprint that does not depend on the compiler.
std::string_view without_compiler(std::string_view fingerprint) {
  const std::size_t line = fingerprint.find('\n');
  return line == std::string_view::npos ? std::string_view{} : fingerprint.substr(line);
}
bool has_compiler(std::string_view fingerprint) {
  return !fingerprint.empty() && fingerprint.front() != '\n';
}

// Loads a module from the disk cache, or compiles it with the back end's compiler. Throws
// CompileError, DeviceError.
class ModuleBuilder {
 public:
  ModuleBuilder(Device device, parse::KernelSource source, runtime::CompileRequest request)
      : device_(device),
        backend_(runtime::backend_for(device)),
        source_(std::move(source)),
        request_(std::move(request)),
        disk_(DiskCache::configured()) {
    request_.source = &source_;
  }

  BuiltModule build() {
    if (Ref<ModuleState> module = from_bundle())
      return {std::move(module), backend_.compiler_fingerprint(device_.ordinal(), request_), {}};
    includes_ = find_includes(source_.text, request_.options, request_.include_dirs);
    for (const parse::KernelSource& linked : request_.linked)
      if (!linked.is_compiled)
        includes_.merge(find_includes(linked.text, request_.options, request_.include_dirs));
    fingerprint_ = backend_.compiler_fingerprint(device_.ordinal(), request_);
    key_ = cache_key(device_.kind(), fingerprint_, request_, includes_);
    // Without the compiler, so that machines that have none find the entry.
    alias_ = cache_key(device_.kind(), without_compiler(fingerprint_), request_, includes_);
    Ref<ModuleState> module = from_disk();
    if (!module) module = from_compiler();
    return {std::move(module), std::move(fingerprint_), std::move(includes_)};
  }

 private:
  // With `keep` the compiler has to run, since it writes the files.
  bool may_be_cached() const { return is_shared() && !request_.keep; }
  // Whether other processes may use the result. The files of line counts are this process's.
  bool is_shared() const { return includes_.complete && !request_.is_covered; }

  Ref<ModuleState> from_bundle() {
    if (!request_.linked.empty() || request_.keep) return nullptr;
    const BundleUnit* unit = find_attached(source_.text, request_.options, request_.names, device_);
    if (unit == nullptr) return nullptr;
    log_message(LogLevel::debug, text("bundle of ", unit->file_name, " on ", device_));
    includes_.declares_variables = unit->declares_variables;
    return load(*unit->image_for(device_), true);
  }

  Ref<ModuleState> from_disk() {
    if (!may_be_cached()) return nullptr;
    std::string key = key_;
    if (!has_compiler(fingerprint_)) key = disk_.follow_alias(alias_).value_or(key_);
    const std::optional<runtime::KernelBinary> binary = disk_.find(key);
    if (!binary) return nullptr;
    try {
      Ref<ModuleState> module = load(*binary, true);
      hits.fetch_add(1, std::memory_order_relaxed);
      log_message(LogLevel::debug, text("hit ", key, " on ", device_));
      return module;
    } catch (const Error& error) {
      // Undamaged but not loadable here: compiling replaces it. Without a compiler this is the
      // error.
      if (!has_compiler(fingerprint_)) throw;
      log_message(LogLevel::warning,
                  text("entry ", key, " does not load and will be compiled again: ", error.what()));
      return nullptr;
    }
  }

  Ref<ModuleState> from_compiler() {
    misses.fetch_add(1, std::memory_order_relaxed);
    const auto start = std::chrono::steady_clock::now();
    const runtime::KernelBinary binary = [this] {
      const ProgressLine line(text("compiling ", source_.file_name, " for ", device_));
      return compile();
    }();
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    log_message(LogLevel::info,
                text("miss ", key_, " on ", device_, ", compiled in ", passed.count(), " ms"));
    if (is_shared() && disk_.store(key_, binary)) disk_.set_alias(alias_, key_);
    return load(binary, false);
  }

  runtime::KernelBinary compile() const {
    return compile_with_headers(request_, includes_, [this](const auto& request) {
      return backend_.compile(device_.ordinal(), request);
    });
  }

  Ref<ModuleState> load(const runtime::KernelBinary& binary, bool from_cache) const {
    Ref<runtime::LoadedModule> loaded = backend_.load(device_.ordinal(), binary);
    const bool has_variables = declares_variables();
    auto reloadable =
        has_variables ? std::make_shared<const runtime::KernelBinary>(binary) : nullptr;
    return make_ref<ModuleState>(device_, source_, request_, binary.symbols, std::move(loaded),
                                 from_cache, has_variables, std::move(reloadable));
  }

  bool declares_variables() const {
    const auto& linked = request_.linked;
    return includes_.declares_variables || parse::declares_variables(source_.text) ||
           std::ranges::any_of(linked, [](const parse::KernelSource& source) {
             return source.is_compiled || parse::declares_variables(source.text);
           });
  }

  Device device_;
  runtime::Backend& backend_;
  parse::KernelSource source_;
  runtime::CompileRequest request_;
  DiskCache disk_;
  IncludeClosure includes_;
  std::string fingerprint_, key_, alias_;
};

/// The pending result of a module that one thread builds and others wait for.
class BuildTicket {
 public:
  /// Called by the building thread. Rethrows what `make` throws; waiting threads get it too if it
  /// is a spanwise::Error.
  template <class F>
  BuiltModule build(F&& make) {
    try {
      BuiltModule built = make();
      finish(built.module, nullptr);
      return built;
    } catch (const Error&) {
      finish(nullptr, std::current_exception());
      throw;
    } catch (...) {
      finish(nullptr, nullptr);
      throw;
    }
  }

  /// Waits for the module. Returns null where the build failed with another exception, such as an
  /// interrupt of the building thread, which does not concern the waiting ones. Throws the build's
  /// Error, and what check_interrupt() throws.
  Ref<ModuleState> wait(const InterpreterUnlocked&) {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        finished_.wait_for(lock, std::chrono::milliseconds(interrupt_check_ms),
                           [this] { return is_done_; });
        if (is_done_ && error_) std::rethrow_exception(error_);
        if (is_done_) return module_;
      }
      check_interrupt();
    }
  }

 private:
  void finish(Ref<ModuleState> module, std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex_);
      module_ = std::move(module);
      error_ = std::move(error);
      is_done_ = true;
    }
    finished_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable finished_;
  bool is_done_ = false;
  Ref<ModuleState> module_;
  std::exception_ptr error_;
};

void append_field(std::string& out, std::string_view field) {
  const std::uint64_t size = field.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += field;
}

void append_list(std::string& out, std::span<const std::string> list) {
  append_field(out, std::to_string(list.size()));
  for (const std::string& field : list) append_field(out, field);
}

// The text of the request. Include files and compiler are compared on a hit (is_current()).
std::string request_key(std::string_view source, const ModuleOptions& options, Device device) {
  std::string key;
  key.reserve(source.size() + 256);
  append_field(key, device.name());
  append_field(key, source);
  append_list(key, options.options);
  append_list(key, options.names);
  append_list(key, options.include_dirs);
  append_list(key, options.link);
  append_field(key, options.file_name);
  // Relative include paths depend on the current directory.
  const auto includes = [](std::string_view text) {
    return text.find("include") != std::string_view::npos;
  };
  if (includes(source) || std::ranges::any_of(options.link, includes))
    append_field(key, std::filesystem::current_path().string());
  return key;
}

class ModuleCache final : ForkParticipant {
 public:
  Ref<ModuleState> get(std::string_view source, const ModuleOptions& options, Device device) {
    const std::string key = request_key(source, options, device);
    for (;;) {
      const std::shared_ptr<CachedModule> cached = find_loaded(key);
      if (cached && is_current(*cached)) return cached->built.module;
      const Lookup lookup = find_or_join_build(key, cached);
      if (lookup.loaded) return lookup.loaded->built.module;
      if (lookup.builds_here)
        return finish(key, *lookup.ticket, [&] { return build_now(source, options, device); });
      if (Ref<ModuleState> built = lookup.ticket->wait(InterpreterUnlocked())) return built;
    }
  }

  void clear() {
    // Modules are unloaded after unlocking.
    std::unordered_map<std::string, std::shared_ptr<CachedModule>> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(loaded_);
  }

  static BuiltModule build_now(std::string_view source, const ModuleOptions& options,
                               Device device) {
    runtime::CompileRequest request;
    request.options = options.options;
    request.names = options.names;
    request.include_dirs = options.include_dirs;
    request.keep = options.keep;
    request.is_covered =
        options.is_covered && device.is_cpu() && !config::get("cpu_coverage").empty();
    for (std::size_t i = 0; i < options.link.size(); ++i)
      request.linked.push_back(parse::scan_linked(options.link[i], text("link[", i, "].cu")));
    return ModuleBuilder(device, parse::scan_kernels(std::string(source), options.file_name),
                         std::move(request))
        .build();
  }

 private:
  struct CachedModule {
    CachedModule(BuiltModule built_module, std::uint64_t version)
        : built(std::move(built_module)), settings(version) {}

    const BuiltModule built;
    std::atomic<std::uint64_t> settings;  // config::version() at the last successful is_current()
    std::uint64_t last_use = 0;           // guarded by mutex_
  };

  std::shared_ptr<CachedModule> find_loaded(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto entry = loaded_.find(key);
    if (entry == loaded_.end()) return nullptr;
    entry->second->last_use = ++uses_;
    return entry->second;
  }

  // A cached module is valid while include files and settings are unchanged. Replacing the compiler
  // takes effect in the next process.
  static bool is_current(CachedModule& loaded) {
    if (!loaded.built.includes.unchanged()) return false;
    const std::uint64_t settings = config::version();
    if (loaded.settings.load(std::memory_order_relaxed) == settings) return true;
    const ModuleState& module = *loaded.built.module;
    runtime::Backend& backend = runtime::backend_for(module.device());
    const std::string fingerprint =
        backend.compiler_fingerprint(module.device().ordinal(), module.request());
    if (fingerprint != loaded.built.fingerprint) return false;
    loaded.settings.store(settings, std::memory_order_relaxed);
    return true;
  }

  struct Lookup {
    std::shared_ptr<CachedModule> loaded;  // by another thread meanwhile; else null
    std::shared_ptr<BuildTicket> ticket;
    bool builds_here = false;
  };

  // `outdated` is the module of `key` that is not current; may be null.
  Lookup find_or_join_build(const std::string& key, const std::shared_ptr<CachedModule>& outdated) {
    const std::lock_guard lock(mutex_);
    if (const auto entry = loaded_.find(key); entry != loaded_.end() && entry->second != outdated)
      return {.loaded = entry->second, .ticket = nullptr};
    // Made first: an entry without a ticket must not remain where there is no memory for it.
    const auto [ticket, is_new] = building_.try_emplace(key, std::make_shared<BuildTicket>());
    return {.loaded = nullptr, .ticket = ticket->second, .builds_here = is_new};
  }

  template <class F>
  Ref<ModuleState> finish(const std::string& key, BuildTicket& ticket, F&& make) {
    std::shared_ptr<CachedModule> result;
    const std::uint64_t settings = config::version();
    try {
      result = std::make_shared<CachedModule>(ticket.build(make), settings);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      building_.erase(key);
      throw;
    }
    std::shared_ptr<CachedModule> dropped, replaced;  // unloaded after unlocking
    const std::lock_guard lock(mutex_);
    building_.erase(key);
    if (result->built.includes.complete) {
      result->last_use = ++uses_;
      replaced = std::exchange(loaded_[key], result);
      if (loaded_.size() > capacity) dropped = take_least_recently_used();
    }
    return result->built.module;
  }

  std::shared_ptr<CachedModule> take_least_recently_used() {
    const auto oldest = std::ranges::min_element(loaded_, [](const auto& a, const auto& b) {
      return a.second->last_use < b.second->last_use;
    });
    std::shared_ptr<CachedModule> out = std::move(oldest->second);
    loaded_.erase(oldest);
    return out;
  }

  // The building threads do not exist in the child. Their tickets are kept, not destroyed: their
  // mutexes and condition variables still count waiters of the parent process.
  void after_fork_in_child(bool) noexcept override { orphans_.merge(building_); }

  // Limits the memory used by a program that keeps generating new sources.
  static constexpr std::size_t capacity = 512;

  Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<CachedModule>> loaded_;
  // Not hashed: merge() allocates nothing.
  std::map<std::string, std::shared_ptr<BuildTicket>> building_;
  // Of builds that threads of a parent process had begun at the fork.
  std::multimap<std::string, std::shared_ptr<BuildTicket>> orphans_;
  std::uint64_t uses_ = 0;
};

// Never destroyed: at exit the driver may have shut down before modules are unloaded.
ModuleCache& module_cache() {
  static NeverDestroyed<ModuleCache> cache;
  return *cache;
}

}  // namespace

Ref<ModuleState> find_or_build(std::string_view source, const ModuleOptions& options) {
  const Device device = options.device.value_or(default_device());
  // With `keep` the compiler has to run.
  if (options.keep) return ModuleCache::build_now(source, options, device).module;
  return module_cache().get(source, options, device);
}

void forget_loaded_modules() { module_cache().clear(); }

}  // namespace spanwise::kernels

namespace spanwise::kernel_cache {

Info info() {
  const kernels::DiskCache cache = kernels::DiskCache::configured();
  const auto [entries, bytes] = cache.usage();
  return {.path = cache.path(),
          .entries = entries,
          .bytes = bytes,
          .hits = kernels::hits,
          .misses = kernels::misses,
          .problem = cache.problem()};
}

void clear() { kernels::DiskCache::configured().clear(); }

}  // namespace spanwise::kernel_cache
