// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spanwise/device.hpp"
#include "spanwise/graph/type.hpp"
#include "spanwise/plugin.h"

namespace spanwise::op_sdk {

class PluginThunk;

/// The output types of one make_node, as far as the plug-in has said them.
using InferredTypes = std::vector<std::optional<TensorType>>;

}  // namespace spanwise::op_sdk

/// What a plug-in's calls back need to know: made by whoever calls into the plug-in.
struct sw_call {
  /// `who_is_called` begins the messages, and outlives the call.
  explicit sw_call(const std::string& who_is_called) : who(who_is_called) {}

  const std::string& who;
  spanwise::op_sdk::InferredTypes* inferred = nullptr;  ///< in infer
  std::optional<spanwise::Device> device{};             ///< in bind and run
  spanwise::op_sdk::PluginThunk* run = nullptr;         ///< in run
  std::exception_ptr failure{};  ///< what failed last, in the host or as the plug-in says
};

namespace spanwise::op_sdk {

/// The functions that plug-ins call.
const sw_host& plugin_host() noexcept;

/// Throws what the plug-in said, or what failed in the host, after it gave `status`.
[[noreturn]] void throw_plugin_failure(sw_call& call, sw_status status);
[[noreturn]] void throw_plugin_exception(const sw_call& call);

/// Calls function(arguments...) of a plug-in, and throws where it gives another status than SW_OK.
template <class Function, class... Arguments>
void call_plugin(sw_call& call, Function function, Arguments... arguments) {
  call.failure = nullptr;
  sw_status status;
  try {
    status = function(arguments...);
  } catch (...) {  // against the contract; its type is perhaps of another C++ library
    throw_plugin_exception(call);
  }
  if (status != SW_OK) [[unlikely]]
    throw_plugin_failure(call, status);
}

}  // namespace spanwise::op_sdk
