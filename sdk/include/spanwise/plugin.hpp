// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spanwise/op_sdk/plugin_array.hpp"
#include "spanwise/op_sdk/plugin_call.hpp"
#include "spanwise/plugin.h"

/// Ops in a separate shared library, loaded by sw.load_ops(): derive from Op, use SW_REGISTER_OP
/// for each, and SW_PLUGIN once. Includes no header of Spanwise's library and needs no linking: all
/// calls use the C interface of <spanwise/plugin.h>, and no exception crosses it.
namespace spanwise {
namespace [[gnu::visibility("hidden")]] plugin {

/// State of one node, made by Op::bind; destroyed with the compiled function.
struct State {
  virtual ~State() = default;
};

/// An op with its properties. Several threads may call one op at the same time.
class Op {
 public:
  virtual ~Op() = default;
  /// Checks the inputs' types and sets the outputs'. Throws Error.
  virtual void infer(const Infer& infer) const = 0;
  /// Called once per node of a compiled function, before its first run: compile kernels, make a
  /// State.
  virtual std::unique_ptr<State> bind(const Bind&) const { return nullptr; }
  /// Computes the outputs; on a GPU, queues the work on the stream. Throws Error.
  virtual void run(const Run& run) const = 0;
};

/// A property that users pass by keyword, with its default.
struct Property {
  enum Required { boolean = SW_BOOL, integer, real, text, integers };

  /// A required property: {"length", Property::integer}.
  Property(const char* property_name, Required kind) : name(property_name), required(true) {
    value.kind = kind;
  }
  Property(const char* property_name, bool default_value) : name(property_name) {
    value.kind = SW_BOOL;
    value.as.integer = default_value;
  }
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  Property(const char* property_name, T default_value) : name(property_name) {
    value.kind = SW_INT;
    value.as.integer = static_cast<std::int64_t>(default_value);
  }
  Property(const char* property_name, double default_value) : name(property_name) {
    value.kind = SW_REAL;
    value.as.real = default_value;
  }
  /// `default_value` must have static lifetime, as a string literal has.
  Property(const char* property_name, const char* default_value) : name(property_name) {
    value.kind = SW_TEXT;
    value.as.text = default_value;
  }
  Property(const char* property_name, std::vector<std::int64_t> default_value)
      : name(property_name), list(std::move(default_value)) {
    value.kind = SW_INTS;
  }

  const char* name;
  sw_value value{};  ///< without the elements of a list
  std::vector<std::int64_t> list{};
  bool required = false;
};

/// The inputs of a gradient op: input `i` of the node, its output `i`, or the derivative of the
/// cost with respect to its output `i`.
constexpr sw_gradient_input from_input(std::int32_t i) noexcept { return {SW_FROM_INPUT, i}; }
constexpr sw_gradient_input from_output(std::int32_t i) noexcept { return {SW_FROM_OUTPUT, i}; }
constexpr sw_gradient_input from_gradient(std::int32_t i) noexcept { return {SW_FROM_GRADIENT, i}; }

/// The derivatives of an op, computed by another op of the library. Members as in sw_op.
struct Gradient {
  const char* op = nullptr;                 ///< its name; null: the op has no derivative
  std::vector<sw_gradient_input> inputs{};  ///< empty: inputs, outputs, derivatives of all outputs
  std::vector<std::int32_t> wrt{};          ///< empty: input 0, 1, ...
};

/// The description of an op. Strings must have static lifetime.
struct OpInfo {
  const char* name;
  const char* summary = "";
  int inputs = 1;
  int outputs = 1;
  std::vector<Property> properties{};
  std::vector<sw_alias> views{};                ///< {output, input}: may share memory
  std::vector<sw_alias> overwrites{};           ///< {output, input}: computed in the input's memory
  std::vector<std::int32_t> reusable_inputs{};  ///< see sw_op
  std::uint32_t flags = SW_ON_CPU | SW_ON_GPU;
  Gradient gradient{};
  const char* element_body = nullptr;        ///< "z = x * y": see sw_op; Op::run computes the same
  std::vector<const char*> element_names{};  ///< of the inputs, then the outputs
};

/// The values of an op's properties.
class Properties {
 public:
  Properties(const sw_create& create, const OpInfo& info) noexcept : create_(create), info_(info) {}
  bool boolean(const std::string& name) const { return value(name, SW_BOOL).as.integer != 0; }
  std::int64_t integer(const std::string& name) const { return value(name, SW_INT).as.integer; }
  double real(const std::string& name) const { return value(name, SW_REAL).as.real; }
  std::string text(const std::string& name) const { return value(name, SW_TEXT).as.text; }
  std::vector<std::int64_t> integers(const std::string& name) const {
    const sw_value& list = value(name, SW_INTS);
    return {list.as.integers, list.as.integers + list.count};
  }

 private:
  const sw_value& value(const std::string& name, std::int32_t kind) const {
    for (std::size_t i = 0; i < info_.properties.size(); ++i)
      if (name == info_.properties[i].name && create_.values[i].kind == kind)
        return create_.values[i];
    throw Error(SW_ERROR, "OpInfo::properties has no " + name + " of the kind that is read");
  }

  const sw_create& create_;
  const OpInfo& info_;
};

/// Runs `work`; converts an exception to a status, and passes its message to the host.
template <class Work>
sw_status guarded(sw_call* call, Work&& work) noexcept {
  try {
    work();
    return SW_OK;
  } catch (const HostFailed&) {
    return SW_HOST_FAILED;
  } catch (const Error& error) {
    return host->fail(call, error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return host->fail(call, SW_MEMORY_ERROR, "the host has no memory left");
  } catch (const std::invalid_argument& error) {
    return host->fail(call, SW_ARGUMENT_ERROR, error.what());
  } catch (const std::exception& error) {
    return host->fail(call, SW_ERROR, error.what());
  } catch (...) {
    return host->fail(call, SW_ERROR, "an exception that is no std::exception");
  }
}

/// Holds the sw_op table of an op.
class Registration {
 public:
  template <class OpClass>
  static Registration of(OpInfo info) {
    Registration registration(std::move(info));
    registration.table_.create = &create<OpClass>;
    return registration;
  }

  /// Valid while this object lives and is not moved.
  const sw_op& table() {
    properties_.clear();
    for (const Property& property : info_.properties) {
      sw_property& entry = properties_.emplace_back();
      entry = {property.name, property.value, property.required};
      if (property.value.kind != SW_INTS) continue;
      entry.value.count = static_cast<std::int32_t>(property.list.size());
      entry.value.as.integers = property.list.data();
    }
    table_.properties = properties_.data();
    table_.views = info_.views.data();
    table_.overwrites = info_.overwrites.data();
    table_.reusable_inputs = info_.reusable_inputs.data();
    table_.user_data = &info_;
    const Gradient& gradient = info_.gradient;
    table_.gradient_inputs = gradient.inputs.empty() ? nullptr : gradient.inputs.data();
    table_.element_names = info_.element_names.data();
    table_.gradient_wrt = gradient.wrt.empty() ? nullptr : gradient.wrt.data();
    return table_;
  }

 private:
  explicit Registration(OpInfo info) : info_(std::move(info)) {
    const auto count = [](const auto& list) { return static_cast<std::int32_t>(list.size()); };
    table_.struct_size = sizeof(sw_op);
    table_.flags = info_.flags;
    table_.name = info_.name;
    table_.summary = info_.summary;
    table_.input_count = info_.inputs;
    table_.output_count = info_.outputs;
    table_.property_count = count(info_.properties);
    table_.view_count = count(info_.views);
    table_.overwrite_count = count(info_.overwrites);
    table_.reusable_count = count(info_.reusable_inputs);
    table_.gradient_op = info_.gradient.op;
    table_.element_body = info_.element_body;
    table_.gradient_input_count = count(info_.gradient.inputs);
    table_.gradient_wrt_count = count(info_.gradient.wrt);
    table_.destroy = [](void* op) { delete static_cast<Op*>(op); };
    table_.infer = [](void* op, const sw_infer* infer) {
      return guarded(infer->call, [&] { static_cast<const Op*>(op)->infer(Infer(*infer)); });
    };
    table_.bind = [](void* op, const sw_bind* bind, void** state) {
      return guarded(bind->call,
                     [&] { *state = static_cast<const Op*>(op)->bind(Bind(*bind)).release(); });
    };
    table_.unbind = [](void* state) { delete static_cast<State*>(state); };
    table_.run = [](void* op, const sw_run* run) {
      return guarded(run->call, [&] { static_cast<const Op*>(op)->run(Run(*run)); });
    };
  }

  template <class OpClass>
  static sw_status create(void* info, const sw_create* create, void** op) {
    return guarded(create->call, [&] {
      const Properties properties(*create, *static_cast<const OpInfo*>(info));
      // As Op*, which is the type that the other functions of the table expect.
      Op* created = nullptr;
      if constexpr (std::is_constructible_v<OpClass, const Properties&>)
        created = new OpClass(properties);
      else
        created = new OpClass;
      *op = created;
    });
  }

  OpInfo info_;
  sw_op table_{};
  std::vector<sw_property> properties_;
};

/// The ops of this library, in order of registration. Never destroyed: ops outlive static objects.
inline std::vector<Registration>& registrations() {
  static auto& all = *new std::vector<Registration>;
  return all;
}

template <class OpClass>
bool register_op(OpInfo info) {
  registrations().push_back(Registration::of<OpClass>(std::move(info)));
  return true;
}

/// The body of the entry function: stores the host's functions and describes the registered ops.
inline sw_status describe(const char* name_space, const sw_host* functions, sw_call* call,
                          const sw_plugin** plugin) noexcept {
  host = functions;
  // A host of another major version reads only the version fields, and reports the mismatch itself.
  if (host->abi_major == SW_PLUGIN_ABI_MAJOR && host->struct_size < sizeof(sw_host))
    return host->fail(call, SW_ERROR,
                      "was built for a newer Spanwise; build it with this one's "
                      "headers, or install the newer");
  return guarded(call, [&] {
    static auto& tables = *new std::vector<const sw_op*>;
    static auto& library = *new sw_plugin{};
    for (Registration& op : registrations()) tables.push_back(&op.table());
    library = {SW_PLUGIN_ABI_MAJOR, SW_PLUGIN_ABI_MINOR,
               sizeof(sw_plugin),   static_cast<std::int32_t>(tables.size()),
               name_space,          tables.data()};
    *plugin = &library;
  });
}

}  // namespace plugin
}  // namespace spanwise

/// Registers an op, at namespace scope: SW_REGISTER_OP(Scale, {.name = "scale", .properties =
/// {{"factor", 2.0}}});
#define SW_REGISTER_OP(OpClass, ...) SW_REGISTER_OP_AT(__LINE__, OpClass, __VA_ARGS__)
#define SW_REGISTER_OP_AT(line, OpClass, ...) SW_REGISTER_OP_NAMED(line, OpClass, __VA_ARGS__)
#define SW_REGISTER_OP_NAMED(line, OpClass, ...)            \
  [[maybe_unused]] static const bool sw_op_of_line_##line = \
      ::spanwise::plugin::register_op<OpClass>(__VA_ARGS__)

/// Defines the entry function, once per library: SW_PLUGIN(signal) makes the ops
/// sw.ops.signal.<name>.
#define SW_PLUGIN(name_space)                                                               \
  extern "C" SW_PLUGIN_EXPORT sw_status spanwise_plugin(const sw_host* host, sw_call* call, \
                                                        const sw_plugin** plugin) {         \
    return ::spanwise::plugin::describe(#name_space, host, call, plugin);                   \
  }                                                                                         \
  static_assert(true, "so that a semicolon may follow")
