// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Lower bounds of the host time of a kernel call, from C, in a loop, with the arguments already
// packed: cuLaunchKernel, and a CUDA graph of one node whose arguments are set before each launch.
// Built by native/__init__.py. The driver is loaded by dlopen(), so that this builds without CUDA's
// headers.

#include <dlfcn.h>

#include <chrono>

namespace {
using Function = void*;
using Module = void*;
using Launch = int (*)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, void*, void**, void**);

using Graph = void*;
using Node = void*;
using Exec = void*;
struct NodeParameters {  // CUDA_KERNEL_NODE_PARAMS_v2
  Function function;
  unsigned grid[3], block[3], shared_bytes;
  void** arguments;
  void** extra;
  void* kernel;
  void* context;
};

template <class F>
F symbol(const char* name) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver == nullptr ? nullptr : reinterpret_cast<F>(dlsym(driver, name));
}
}  // namespace

// The function `kernel` of the module `image`, loaded in the current context; null on failure.
extern "C" Function floor_load(const char* image, const char* kernel) {
  const auto load = symbol<int (*)(Module*, const void*)>("cuModuleLoadData");
  const auto get = symbol<int (*)(Function*, Module, const char*)>("cuModuleGetFunction");
  Module module = nullptr;
  Function function = nullptr;
  if (load == nullptr || load(&module, image) != 0 || get(&function, module, kernel) != 0)
    return nullptr;
  return function;
}

// Seconds per launch, the mean of `repeats` launches, or -1 if one fails. Does not wait for the
// kernels.
extern "C" double floor_launch(Function function, void* stream, void* a, void* b, void* c,
                               int repeats) {
  static const auto launch = symbol<Launch>("cuLaunchKernel");
  void* arguments[] = {&a, &b, &c};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i)
    if (launch(function, 1, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr) != 0) return -1;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats;
}

// The same through a graph. The first argument alternates between `a` and `second_a`.
extern "C" double floor_graph(Function function, void* stream, void* a, void* b, void* c,
                              void* second_a, int repeats) {
  static const auto create = symbol<int (*)(Graph*, unsigned)>("cuGraphCreate");
  static const auto add =
      symbol<int (*)(Node*, Graph, const Node*, unsigned long, const NodeParameters*)>(
          "cuGraphAddKernelNode_v2");
  static const auto instantiate =
      symbol<int (*)(Exec*, Graph, unsigned long long)>("cuGraphInstantiateWithFlags");
  static const auto set =
      symbol<int (*)(Exec, Node, const NodeParameters*)>("cuGraphExecKernelNodeSetParams_v2");
  static const auto launch = symbol<int (*)(Exec, void*)>("cuGraphLaunch");
  static Node node = nullptr;
  static Exec exec = nullptr;
  void* arguments[] = {&a, &b, &c};
  NodeParameters parameters{function,  {1, 1, 1}, {128, 1, 1}, 0,
                            arguments, nullptr,   nullptr,     nullptr};
  Graph graph = nullptr;
  if (exec == nullptr &&
      (create(&graph, 0) != 0 || add(&node, graph, nullptr, 0, &parameters) != 0 ||
       instantiate(&exec, graph, 0) != 0))
    return -1;
  void* const targets[] = {a, second_a};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) {
    a = targets[i & 1];
    if (set(exec, node, &parameters) != 0 || launch(exec, stream) != 0) return -1;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats;
}
