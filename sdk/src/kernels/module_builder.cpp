// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/module_builder.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/cache/device_headers.hpp"
#include "kernels/cache/disk_cache.hpp"
#include "kernels/cache/sha256.hpp"
#include "kernels/compile_report.hpp"
#include "kernels/log.hpp"
#include "parse/source_scan.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::kernels {
namespace {

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

std::atomic<std::int64_t> hits{0}, misses{0};  // disk_counts()

// The part of a fingerprint that does not depend on the compiler.
std::string_view without_compiler(std::string_view fingerprint) {
  const std::size_t line = fingerprint.find('\n');
  return line == std::string_view::npos ? std::string_view{} : fingerprint.substr(line);
}
bool has_compiler(std::string_view fingerprint) {
  return !fingerprint.empty() && fingerprint.front() != '\n';
}

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
  bool may_be_cached() const { return includes_.complete && !request_.keep; }

  Ref<ModuleState> from_disk() {
    if (!may_be_cached()) return nullptr;
    std::string key = key_;
    if (!has_compiler(fingerprint_)) key = disk_.follow_alias(alias_).value_or(key_);
    const std::optional<runtime::KernelBinary> binary = disk_.find(key);
    if (!binary) return nullptr;
    try {
      Ref<ModuleState> module = load(*binary, true);
      hits.fetch_add(1, std::memory_order_relaxed);
      log_line(text("hit ", key, " on ", device_));
      return module;
    } catch (const Error& error) {
      // Undamaged but not loadable here: removed and compiled again.
      log_line(text("entry ", key, " does not load and will be compiled again: ", error.what()));
      disk_.remove(key);
      return nullptr;
    }
  }

  Ref<ModuleState> from_compiler() {
    misses.fetch_add(1, std::memory_order_relaxed);
    const auto start = std::chrono::steady_clock::now();
    const runtime::KernelBinary binary = compile();
    if (logging()) {
      const std::chrono::duration<double, std::milli> passed =
          std::chrono::steady_clock::now() - start;
      log_line(text("miss ", key_, " on ", device_, ", compiled in ", passed.count(), " ms"));
    }
    if (includes_.complete && disk_.store(key_, binary)) disk_.set_alias(alias_, key_);
    return load(binary, false);
  }

  runtime::KernelBinary compile() const try {
    if (!includes_.wants_device_headers) return backend_.compile(device_.ordinal(), request_);
    const DeviceHeaderFolder headers;
    runtime::CompileRequest request = request_;
    request.include_dirs.push_back(headers.path());
    return backend_.compile(device_.ordinal(), request);
  } catch (const CompileError& error) {
    throw CompileError(
        text(error.what(), '\n',
             source_excerpt(error.source(), error.log(), file_named_in(error.log()))),
        error.log(), error.source());
  }

  // The file that a compiler's log refers to.
  const std::string& file_named_in(const std::string& log) const {
    for (const parse::KernelSource& linked : request_.linked)
      if (log.find(linked.file_name) != log.npos) return linked.file_name;
    return source_.file_name;
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

}  // namespace

BuiltModule build_module(Device device, parse::KernelSource source,
                         runtime::CompileRequest request) {
  return ModuleBuilder(device, std::move(source), std::move(request)).build();
}

DiskCounts disk_counts() noexcept { return {hits.load(), misses.load()}; }

}  // namespace spanwise::kernels
