// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "spanwise/core/device.hpp"
#include "spanwise/graph/type.hpp"
#include "spanwise/plugin.h"

namespace spanwise::op_sdk {

class PluginThunk;

/// The output types of one node, as far as the plug-in has set them.
using InferredTypes = std::vector<std::optional<TensorType>>;

}  // namespace spanwise::op_sdk

/// The context of one call into a plug-in, passed to the host functions that it calls.
struct sw_call {
  /// `name`, of the op or library that is called, begins error messages and must outlive the call.
  explicit sw_call(const std::string& name) : callee(name) {}

  const std::string& callee;
  spanwise::op_sdk::InferredTypes* inferred = nullptr;  ///< in infer
  std::optional<spanwise::Device> device{};             ///< in bind and run
  spanwise::op_sdk::PluginThunk* run = nullptr;         ///< in run
  std::exception_ptr failure{};  ///< the last error of a host function, or reported by the plug-in
};

namespace spanwise::op_sdk {

/// The host's function table.
const sw_host& plugin_host() noexcept;

/// Throws the error stored in `call`, or a GraphError if the plug-in returned `status` without one.
[[noreturn]] void throw_plugin_failure(sw_call& call, sw_status status);
[[noreturn]] void throw_plugin_exception(const sw_call& call);

/// Calls function(arguments...) of a plug-in; throws where it returns another status than SW_OK.
template <class Function, class... Arguments>
void call_plugin(sw_call& call, Function function, Arguments... arguments) {
  call.failure = nullptr;
  sw_status status;
  try {
    status = function(arguments...);
  } catch (...) {  // violates the contract; the type may belong to another C++ library
    throw_plugin_exception(call);
  }
  if (status != SW_OK) [[unlikely]]
    throw_plugin_failure(call, status);
}

}  // namespace spanwise::op_sdk
