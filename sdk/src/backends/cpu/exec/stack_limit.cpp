// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/stack_limit.hpp"

#include <pthread.h>

namespace spanwise::host {
namespace {

constexpr std::size_t reserve = 64 << 10;

std::span<std::byte> read_own_stack() {
  const std::span<std::byte> all = thread_stack();
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

}  // namespace spanwise::host
