// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The floor of a kernel call: cuLaunchKernel from C, in a loop, with the arguments already packed.
// Built by native.py; the driver is loaded by name so that it builds without CUDA's headers.

#include <dlfcn.h>

#include <chrono>

namespace {
using Function = void*;
using Module = void*;
using Launch = int (*)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, void*, void**, void**);

template <class F>
F symbol(const char* name) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver == nullptr ? nullptr : reinterpret_cast<F>(dlsym(driver, name));
}
}  // namespace

// Loads `image` in the current context; null where that fails.
extern "C" Function floor_load(const char* image, const char* kernel) {
  const auto load = symbol<int (*)(Module*, const void*)>("cuModuleLoadData");
  const auto get = symbol<int (*)(Function*, Module, const char*)>("cuModuleGetFunction");
  Module module = nullptr;
  Function function = nullptr;
  if (load == nullptr || load(&module, image) != 0 || get(&function, module, kernel) != 0)
    return nullptr;
  return function;
}

// Seconds a launch over `repeats` of them, or -1. Does not wait for the kernels.
extern "C" double floor_launch(Function function, void* stream, void* a, void* b, void* c,
                               int repeats) {
  static const auto launch = symbol<Launch>("cuLaunchKernel");
  void* arguments[] = {&a, &b, &c};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i)
    if (launch(function, 1, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr) != 0) return -1;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats;
}
