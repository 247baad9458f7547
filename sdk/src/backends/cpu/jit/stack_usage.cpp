// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/stack_usage.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "backends/cpu/shim/spanwise/spanwise_abi.h"
#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

// Bytes below the kernel's frames: for the stack switch, a library function such as powf, and the
// frame of a signal handler with all vector registers.
constexpr std::size_t base_reserve = 6 << 10;
// Bytes for printf, and for an unknown depth: recursion, or an array of variable length.
constexpr std::size_t printf_reserve = 16 << 10, unknown_depth_reserve = 128 << 10;

struct Frame {
  std::string_view function;
  std::size_t bytes = 0;
  bool is_fixed = true;
};

// "kernel.cu:3:17:void add(const float*)<tab>48<tab>static"
std::optional<Frame> read_frame(std::string_view line) {
  const std::size_t size = line.find('\t'), kind = line.find('\t', size + 1);
  if (size == std::string_view::npos || kind == std::string_view::npos) return {};
  Frame frame;
  frame.function = line.substr(0, size);
  frame.bytes = parse_number<std::size_t>(line.substr(size + 1, kind - size - 1)).value_or(0);
  frame.is_fixed = line.substr(kind + 1).find("dynamic") == std::string_view::npos ||
                   line.substr(kind + 1).find("bounded") != std::string_view::npos;
  return frame;
}

bool names_kernel(std::string_view function, const Translation& module) {
  return std::ranges::any_of(module.kernel_names, [&](const std::string& name) {
    return function.find(name) != std::string_view::npos;
  });
}

}  // namespace

std::size_t stack_need(std::string_view report, const Translation& module) {
  std::size_t kernel = 0, others = 0;
  bool is_bounded = !module.recurses;
  for (const std::string_view line : split(report, '\n')) {
    const std::optional<Frame> frame = read_frame(line);
    if (!frame) continue;
    is_bounded &= frame->is_fixed;
    // A kernel may be inlined into members of sw_code (spanwise_launch.h), which then have its
    // frame.
    if (names_kernel(frame->function, module) || frame->function.find("sw_code") != line.npos)
      kernel = std::max(kernel, frame->bytes);
    else
      others += frame->bytes;
  }
  // Twice the kernel's frame: its own, and that of the member of sw_code that calls it.
  return base_reserve + 2 * kernel + others + (module.prints ? printf_reserve : 0) +
         (is_bounded ? 0 : unknown_depth_reserve);
}

void set_stack_need(std::string& image, std::size_t bytes) {
  const std::uint64_t pattern[] = {SW_MODULE_MAGIC, SW_STACK_UNKNOWN};
  const std::string_view placeholder(reinterpret_cast<const char*>(pattern), sizeof pattern);
  const std::uint64_t need = bytes;
  std::size_t position = image.find(placeholder);
  if (position == std::string::npos)
    fail<DeviceError>(
        "cpu: the compiler's output is not a kernel module (it lacks sw_module_info)");
  for (; position != std::string::npos;
       position = image.find(placeholder, position + placeholder.size()))
    std::memcpy(image.data() + position + sizeof(std::uint64_t), &need, sizeof need);
}

}  // namespace spanwise::cpu_backend
