// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/stack_usage.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/cpu/shim/spanwise/spanwise_abi.h"
#include "core/string_utils.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cpu_backend {
namespace {

// Reserve below the kernel: the stack switch, a library function such as powf, the frame of a
// signal handler with all vector registers.
constexpr std::size_t always = 6 << 10;
// Reserves for printf, and for an unknown depth: recursion, or an array of variable length.
constexpr std::size_t for_printf = 16 << 10, for_unknown_depth = 128 << 10;

struct Frame {
  std::string_view function;
  std::size_t bytes = 0;
  bool is_fixed = true;
};

// "kernel.cu:3:17:void add(const float*)<tab>48<tab>static"
bool read_frame(std::string_view line, Frame& frame) {
  const std::size_t size = line.find('\t'), kind = line.find('\t', size + 1);
  if (size == std::string_view::npos || kind == std::string_view::npos) return false;
  frame.function = line.substr(0, size);
  frame.bytes = number_in<std::size_t>(line.substr(size + 1, kind - size - 1)).value_or(0);
  frame.is_fixed = line.substr(kind + 1).find("dynamic") == std::string_view::npos ||
                   line.substr(kind + 1).find("bounded") != std::string_view::npos;
  return true;
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
    Frame frame;
    if (!read_frame(line, frame)) continue;
    is_bounded &= frame.is_fixed;
    // Kernels may be inlined into their launchers, which then have their frames.
    if (names_kernel(frame.function, module) || frame.function.find("sw_code") != line.npos)
      kernel = std::max(kernel, frame.bytes);
    else
      others += frame.bytes;
  }
  return always + 2 * kernel + others + (module.prints ? for_printf : 0) +
         (is_bounded ? 0 : for_unknown_depth);
}

void set_stack_need(std::string& image, std::size_t bytes) {
  const std::uint64_t pattern[] = {SW_MODULE_MAGIC, SW_STACK_UNKNOWN};
  const std::string_view wanted(reinterpret_cast<const char*>(pattern), sizeof pattern);
  const std::uint64_t need = bytes;
  std::size_t position = image.find(wanted);
  if (position == std::string::npos)
    fail<DeviceError>("cpu: what the compiler made is no kernel module (it lacks sw_module_info)");
  for (; position != std::string::npos; position = image.find(wanted, position + wanted.size()))
    std::memcpy(image.data() + position + sizeof(std::uint64_t), &need, sizeof need);
}

}  // namespace spanwise::cpu_backend
