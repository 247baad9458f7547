// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/stack_limit.hpp"

#include <pthread.h>

namespace spanwise::cpu_backend {
namespace {

// Bytes at the low end that kernels may not use, see own_stack().
constexpr std::size_t reserve = 64 << 10;
// Limit of the bytes that kernels use of a stack without a limit: NVRTC sets RLIMIT_STACK to
// unlimited, and a kernel that recurses without end would then take all memory.
constexpr std::size_t max_used = 64 << 20;

std::span<std::byte> read_own_stack() {
  std::span<std::byte> all = thread_stack();
  if (all.size() > max_used) all = all.last(max_used);
  return all.subspan(all.size() < 2 * reserve ? all.size() / 2 : reserve);
}

}  // namespace

std::span<std::byte> thread_stack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return {static_cast<std::byte*>(low), bytes};
}

std::span<std::byte> own_stack() {
  // Cached: for the main thread, the C library reads /proc/self/maps.
  static thread_local const std::span<std::byte> stack = read_own_stack();
  return stack;
}

}  // namespace spanwise::cpu_backend
