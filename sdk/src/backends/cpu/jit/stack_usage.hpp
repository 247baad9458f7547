// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "backends/cpu/jit/translation_unit.hpp"

namespace spanwise::cpu_backend {

/// Bytes of stack that a thread of any kernel of `module` may need: the largest frame of a kernel,
/// the frames of all functions that it might call, and reserves. `report` is the output of
/// -fstack-usage.
std::size_t stack_need(std::string_view report, const Translation& module);

/// Stores `bytes` in each sw_module of the compiled image, in place of SW_STACK_UNKNOWN. Throws
/// DeviceError if the image has none.
void set_stack_need(std::string& image, std::size_t bytes);

}  // namespace spanwise::cpu_backend
