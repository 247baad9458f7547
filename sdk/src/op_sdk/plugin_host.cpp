// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>

#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/include_closure.hpp"
#include "op_sdk/plugin_op.hpp"
#include "runtime/files.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/version.hpp"
#include "spanwise/kernels/kernel.hpp"

// load_ops(), and the functions of the library that plug-ins call.

struct sw_compiled_kernel {
  spanwise::Kernel function;
};

namespace spanwise::op_sdk {
namespace {

// Returns the result of `work`; if it throws, stores the exception in `call` and returns `failed`.
template <class Result, class Work>
Result guarded(sw_call* call, Result failed, Work&& work) noexcept {
  if (call == nullptr) return failed;
  try {
    return work();
  } catch (...) {
    call->failure = std::current_exception();
    return failed;
  }
}

PluginThunk& running_thunk(const sw_call& call, const char* function) {
  if (call.run == nullptr)
    fail<GraphError>(call.callee, ": calls ", function, " outside of run; call it there");
  return *call.run;
}

DType dtype_from(sw_dtype dtype) {
  return DType(static_cast<DTypeCode>(dtype.code), dtype.bits, dtype.lanes);
}

template <class List>
List extents_from(const sw_call& call, std::int32_t rank, const std::int64_t* values) {
  if (rank < 0 || rank > max_rank || (rank != 0 && values == nullptr))
    fail<LayoutError>(call.callee, ": gives ", rank, " axes",
                      values == nullptr ? " at no address" : "", "; expected 0 to ", max_rank,
                      " and an array of that many");
  return List(std::span(values, static_cast<std::size_t>(rank)));
}

std::exception_ptr exception_for(sw_status status, const std::string& message) {
  if (status == SW_ARGUMENT_ERROR) return std::make_exception_ptr(ArgumentError(message));
  if (status == SW_DTYPE_ERROR) return std::make_exception_ptr(DTypeError(message));
  if (status == SW_LAYOUT_ERROR) return std::make_exception_ptr(LayoutError(message));
  if (status == SW_DEVICE_ERROR) return std::make_exception_ptr(DeviceError(message));
  if (status == SW_MEMORY_ERROR) return std::make_exception_ptr(OutOfMemoryError(message));
  return std::make_exception_ptr(GraphError(message));
}

sw_status host_fail(sw_call* call, sw_status status, const char* message) {
  if (status == SW_OK) status = SW_ERROR;
  return guarded(call, status, [&] {
    call->failure =
        exception_for(status, text(call->callee, ": ", message == nullptr ? "" : message));
    return status;
  });
}

sw_status host_set_output_type(sw_call* call, std::int32_t output, const sw_type* type) {
  return guarded(call, sw_status{SW_HOST_FAILED}, [&] {
    if (call->inferred == nullptr || type == nullptr)
      fail<GraphError>(call->callee, ": calls set_output_type outside of infer, or without a type");
    auto& types = *call->inferred;
    if (output < 0 || static_cast<std::size_t>(output) >= types.size())
      fail<GraphError>(call->callee, ": says the type of output ", output, "; expected 0 to ",
                       types.size() - 1);
    types[static_cast<std::size_t>(output)].emplace(
        dtype_from(type->dtype), extents_from<Shape>(*call, type->rank, type->shape));
    return sw_status{SW_OK};
  });
}

const sw_array* host_new_output(sw_call* call, std::int32_t output, std::int32_t rank,
                                const std::int64_t* shape) {
  return guarded(call, static_cast<const sw_array*>(nullptr), [&] {
    return running_thunk(*call, "new_output")
        .new_output(output, extents_from<Shape>(*call, rank, shape));
  });
}

const sw_array* host_output_from_input(sw_call* call, std::int32_t output, std::int32_t input,
                                       std::int32_t rank, const std::int64_t* shape,
                                       const std::int64_t* strides, std::int64_t offset) {
  return guarded(call, static_cast<const sw_array*>(nullptr), [&] {
    std::optional<Layout> window;
    if (shape != nullptr || strides != nullptr)
      window = Layout{extents_from<Shape>(*call, rank, shape),
                      extents_from<Strides>(*call, rank, strides), offset};
    return running_thunk(*call, "output_from_input")
        .output_from_input(output, input, std::move(window));
  });
}

const sw_array* host_scratch(sw_call* call, sw_dtype dtype, std::int32_t rank,
                             const std::int64_t* shape) {
  return guarded(call, static_cast<const sw_array*>(nullptr), [&] {
    return running_thunk(*call, "scratch")
        .scratch(dtype_from(dtype), extents_from<Shape>(*call, rank, shape));
  });
}

std::vector<std::string> options_of(const sw_call& call, const sw_kernel_source& source) {
  const std::int32_t count = source.option_count;
  if (count < 0 || (count > 0 && source.options == nullptr))
    fail<ArgumentError>(call.callee, ": calls compile with ", count, " options",
                        source.options == nullptr ? " at no address" : "",
                        "; expected option_count >= 0 and an array of that many");
  std::vector<std::string> options;
  for (std::int32_t i = 0; i < count; ++i) {
    if (source.options[i] == nullptr)
      fail<ArgumentError>(call.callee, ": calls compile with option ", i,
                          " null; expected a text that ends in a zero byte");
    options.emplace_back(source.options[i]);
  }
  return options;
}

sw_status host_compile(sw_call* call, const sw_kernel_source* source, sw_compiled_kernel** kernel) {
  return guarded(call, sw_status{SW_HOST_FAILED}, [&] {
    if (!call->device.has_value())
      fail<GraphError>(call->callee,
                       ": calls compile outside of bind and run, where no device is known");
    if (source == nullptr || kernel == nullptr || source->text == nullptr ||
        source->name == nullptr || source->struct_size < sizeof(sw_kernel_source))
      fail<ArgumentError>(call->callee, ": calls compile without text, name, or struct_size");
    ModuleOptions options;
    options.device = *call->device;
    options.is_covered = true;
    options.options = options_of(*call, *source);
    const std::string name = source->name;
    if (name.find('<') != std::string::npos) options.names.push_back(name);
    const SourceModule module(source->text, std::move(options));
    *kernel = new sw_compiled_kernel{module.get_function(name)};
    return sw_status{SW_OK};
  });
}

sw_status host_need_input(sw_call* call, std::int32_t input) {
  return guarded(call, sw_status{SW_HOST_FAILED}, [&] {
    running_thunk(*call, "need_input").need_input(input);
    return sw_status{SW_OK};
  });
}

void host_release_kernel(sw_compiled_kernel* kernel) { delete kernel; }

KernelArg kernel_argument(const PluginThunk& thunk, const sw_call& call,
                          const sw_argument& argument) {
  if (argument.kind == SW_ARRAY_ARGUMENT) return KernelArg(thunk.array_of(argument.as.array));
  if (argument.kind == SW_INT_ARGUMENT) return KernelArg::integer(argument.as.integer);
  if (argument.kind == SW_REAL_ARGUMENT) return KernelArg::real(argument.as.real);
  if (argument.kind == SW_BYTES_ARGUMENT)
    return KernelArg::bytes({static_cast<const std::byte*>(argument.as.bytes),
                             static_cast<std::size_t>(argument.byte_count)});
  fail<ArgumentError>(call.callee, ": gives a kernel an argument of kind ", argument.kind,
                      "; expected SW_ARRAY_ARGUMENT to SW_BYTES_ARGUMENT");
}

sw_status host_launch(sw_call* call, sw_compiled_kernel* kernel, const sw_launch* launch,
                      const sw_argument* arguments, std::int32_t count) {
  return guarded(call, sw_status{SW_HOST_FAILED}, [&] {
    PluginThunk& thunk = running_thunk(*call, "launch");
    if (kernel == nullptr || launch == nullptr || launch->struct_size < sizeof(sw_launch) ||
        count < 0 || (count != 0 && arguments == nullptr))
      fail<ArgumentError>(call->callee, ": calls launch without kernel, launch, or struct_size");
    std::vector<KernelArg>& converted = thunk.arguments();
    converted.clear();
    for (std::int32_t i = 0; i < count; ++i)
      converted.push_back(kernel_argument(thunk, *call, arguments[i]));
    LaunchConfig config;
    config.grid = {launch->grid[0], launch->grid[1], launch->grid[2]};
    config.block = {launch->block[0], launch->block[1], launch->block[2]};
    config.shared_bytes = launch->shared_bytes;
    kernel->function.launch(config, converted);
    return sw_status{SW_OK};
  });
}

}  // namespace

void throw_plugin_failure(sw_call& call, sw_status status) {
  if (const std::exception_ptr failure = std::exchange(call.failure, nullptr))
    std::rethrow_exception(failure);
  fail<GraphError>(call.callee, ": the plug-in gives status ", status,
                   " and no reason; expected SW_OK, or the status that sw_host.fail() returned");
}

void throw_plugin_exception(const sw_call& call) {
  fail<GraphError>(call.callee,
                   ": the plug-in let a C++ exception out; expected a status, to which "
                   "<spanwise/plugin.hpp> converts exceptions");
}

const sw_host& plugin_host() noexcept {
  static const sw_host host{
      SW_PLUGIN_ABI_MAJOR, SW_PLUGIN_ABI_MINOR,   sizeof(sw_host),      SW_VERSION_STRING,
      &host_fail,          &host_set_output_type, &host_new_output,     &host_output_from_input,
      &host_scratch,       &host_compile,         &host_release_kernel, &host_launch,
      &host_need_input};
  return host;
}

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
  static NeverDestroyed<LoadedLibraries> libraries;
  return *libraries;
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
}  // namespace spanwise::op_sdk

namespace spanwise {

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
