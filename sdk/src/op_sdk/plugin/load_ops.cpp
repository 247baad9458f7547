// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "op_sdk/plugin/plugin_op.hpp"
#include "spanwise/error.hpp"
#include "spanwise/fork.hpp"

namespace spanwise {
namespace op_sdk {
namespace {

using Entry = sw_status (*)(const sw_host*, sw_call*, const sw_plugin**);

/// An open shared library; closed again unless it is kept.
class Library {
 public:
  explicit Library(const std::string& path) : path_(path) {
    // A file beside the program first, then what the loader knows by that name.
    std::error_code none;
    const bool is_file = std::filesystem::is_regular_file(path, none);
    const std::string name = is_file ? std::filesystem::absolute(path).string() : path;
    handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char* reason = handle_ == nullptr ? ::dlerror() : nullptr;
    require<ArgumentError>(handle_ != nullptr, "load_ops: expected a shared library, got \"", path,
                           "\": ", reason == nullptr ? "" : reason,
                           ". Remedy: give its full path, and see ldd for what it needs itself");
  }
  ~Library() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* handle() const noexcept { return handle_; }
  void keep() noexcept { handle_ = nullptr; }

  const sw_plugin& plugin() const {
    const auto entry = reinterpret_cast<Entry>(::dlsym(handle_, "spanwise_plugin"));
    require<GraphError>(entry != nullptr, path_,
                        ": exports no function spanwise_plugin; expected a library of ops, built "
                        "by spanwise_add_ops() or with <spanwise/plugin.h>");
    sw_call call(path_);
    const sw_plugin* plugin = nullptr;
    call_plugin(call, entry, &plugin_host(), &call, &plugin);
    require<GraphError>(plugin != nullptr, path_, ": spanwise_plugin gives no table");
    return *plugin;
  }

 private:
  const std::string& path_;
  void* handle_ = nullptr;
};

struct Loaded {
  Mutex mutex;
  std::map<void*, LoadedOps> libraries;  // by the loader's handle: one for each file
  std::deque<PluginTable> tables;        // which ops point to
};

// Never destroyed: what it names stays loaded to the end.
Loaded& loaded() {
  static Loaded& loaded = *new Loaded;
  return loaded;
}

void check_names_free(const PluginTable& table, const std::string& path) {
  for (const std::string& taken : op_names()) {
    require<GraphError>(taken != table.name_space, path, ": its namespace ", table.name_space,
                        " is the name of an op; choose another");
    for (const PluginOpTable& op : table.ops)
      require<GraphError>(taken != op.name, path, ": an op named ", op.name,
                          " is there already, of another library; choose another namespace");
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
  Library library(path);
  auto& libraries = loaded().libraries;
  if (const auto found = libraries.find(library.handle()); found != libraries.end())
    return found->second;
  PluginTable table = read_plugin_table(library.plugin(), path);
  LoadedOps ops = register_all(std::move(table), path);
  libraries.emplace(library.handle(), ops);
  library.keep();
  return ops;
}

}  // namespace spanwise
