// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "kernels/cache/file_stamp.hpp"
#include "op_sdk/plugin/plugin_op.hpp"
#include "runtime/system/loader_path.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace op_sdk {
namespace {

using EntryFunction = sw_status (*)(const sw_host*, sw_call*, const sw_plugin**);

struct LoadedLibraries {
  Mutex mutex;
  std::map<void*, LoadedOps> libraries;         // by dlopen() handle: one per file
  std::map<void*, kernels::FileStamp> refused;  // rejected, but still loaded
  std::deque<PluginTable> tables;               // referenced by the registered ops
};

// Never destroyed: the libraries stay loaded until the process exits.
LoadedLibraries& loaded() {
  static LoadedLibraries& libraries = *new LoadedLibraries;
  return libraries;
}

// dlopen() returns the library that it has loaded under a path, even if the file has changed. So a
// file that was rejected and then rebuilt is opened under another spelling of its path.
void* open_file(const std::filesystem::path& path) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto& refused = loaded().refused;
  const auto entry = refused.find(handle);
  if (entry == refused.end() || entry->second == kernels::stamp_of(path.string())) return handle;
  const std::string new_path =
      runtime::new_loader_path(path.parent_path().string(), path.filename().string());
  return ::dlopen(new_path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// An open shared library. Never closed: its threads and registered callbacks may still run code in
/// it.
class OpLibrary {
 public:
  explicit OpLibrary(const std::string& path) : path_(path) {
    // A file relative to the current directory first, then the loader's search path.
    std::error_code ignored;
    const bool is_file = std::filesystem::is_regular_file(path, ignored);
    handle_ = is_file ? open_file(std::filesystem::absolute(path))
                      : ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    const char* reason = ::dlerror();
    fail<ArgumentError>("load_ops: expected a shared library, got \"", path,
                        "\": ", reason == nullptr ? "" : reason,
                        ". Remedy: pass its full path, and check by ldd that the libraries it "
                        "needs are found");
  }

  void* handle() const noexcept { return handle_; }

  const sw_plugin& plugin() const {
    const auto entry = reinterpret_cast<EntryFunction>(::dlsym(handle_, "spanwise_plugin"));
    if (entry == nullptr)
      fail<GraphError>(path_,
                       ": exports no function spanwise_plugin; expected a library of ops, built "
                       "by spanwise_add_ops() or with <spanwise/plugin.h>");
    sw_call call(path_);
    const sw_plugin* plugin = nullptr;
    call_plugin(call, entry, &plugin_host(), &call, &plugin);
    if (plugin == nullptr) fail<GraphError>(path_, ": spanwise_plugin gives no table");
    return *plugin;
  }

 private:
  const std::string& path_;
  void* handle_ = nullptr;
};

void check_names_free(const PluginTable& table, const std::string& path) {
  for (const std::string& taken : op_names()) {
    if (taken == table.name_space)
      fail<GraphError>(path, ": its namespace ", table.name_space,
                       " is the name of an op; choose another");
    for (const PluginOpTable& op : table.ops)
      if (taken == op.name)
        fail<GraphError>(path, ": an op named ", op.name,
                         " is already registered by another library; choose another namespace");
  }
}

LoadedOps register_all(PluginTable table, const std::string& path) {
  check_names_free(table, path);
  const PluginTable& kept = loaded().tables.emplace_back(std::move(table));
  LoadedOps ops{kept.name_space, path, {}};
  for (const PluginOpTable& op : kept.ops) {
    register_op(op.name, [&op](const OpProperties& properties) -> Ref<const Op> {
      return make_ref<const PluginOp>(make_ref<const PluginInstance>(op, properties));
    });
    ops.ops.push_back({op.name.substr(kept.name_space.size() + 1), op.summary});
  }
  return ops;
}

}  // namespace
}  // namespace op_sdk

LoadedOps load_ops(const std::string& path) {
  using namespace op_sdk;
  const std::lock_guard lock(loaded().mutex);
  const OpLibrary library(path);
  auto& libraries = loaded().libraries;
  if (const auto entry = libraries.find(library.handle()); entry != libraries.end())
    return entry->second;
  try {
    LoadedOps ops = register_all(read_plugin_table(library.plugin(), path), path);
    libraries.emplace(library.handle(), ops);
    return ops;
  } catch (const Error&) {
    loaded().refused.insert_or_assign(library.handle(), kernels::stamp_of(path));
    throw;
  }
}

}  // namespace spanwise
