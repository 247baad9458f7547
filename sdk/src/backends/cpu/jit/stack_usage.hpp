// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "backends/cpu/jit/translation_unit.hpp"

namespace spanwise::host {

/// Bytes of stack that a thread of any kernel of `module` may need: the largest kernel's frame,
/// with those of all functions that it might call. `report` is what -fstack-usage wrote.
std::size_t stack_need(std::string_view report, const Translation& module);

/// Writes the need into the compiled module, where each sw_module has SW_STACK_UNKNOWN. Throws
/// DeviceError where the image is no module.
void set_stack_need(std::string& image, std::size_t bytes);

}  // namespace spanwise::host
