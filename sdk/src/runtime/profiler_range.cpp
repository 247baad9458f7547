// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/profiler_range.hpp"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "spanwise/core/fork.hpp"

/// The program's side of NVTX 3: the tool's library, which the variable names, gets the addresses
/// of function pointers, and sets those of the functions that it implements. Names and numbers are
/// those of nvtx3/nvtxDetail/nvtxTypes.h, which few machines have.
namespace spanwise::runtime {
namespace {

constexpr const char* library_variable = "NVTX_INJECTION64_PATH";

using Function = void (*)();
constexpr unsigned module_core = 1, callback_push = 9, callback_pop = 11;  // RangePushA, RangePop
constexpr std::uint32_t table_callbacks = 1, table_version = 3;

struct Slots {
  // By module: invalid, core, CUDA, OpenCL, CUDA runtime, core 2, synchronization.
  static constexpr std::array<unsigned, 7> sizes{0, 16, 9, 15, 7, 16, 7};
  std::array<std::array<Function, 16>, sizes.size()> functions{};
  std::array<std::array<Function*, 17>, sizes.size()> addresses{};  // the last one is null

  Slots() {
    for (std::size_t module = 0; module < sizes.size(); ++module)
      for (std::size_t i = 0; i < sizes[module]; ++i) addresses[module][i] = &functions[module][i];
  }
};

Slots& slots() {
  static NeverDestroyed<Slots> all;
  return *all;
}

int module_table(int module, Function*** table, unsigned* size) {
  if (module < 1 || module >= static_cast<int>(Slots::sizes.size())) return 0;
  if (table != nullptr) *table = slots().addresses[static_cast<std::size_t>(module)].data();
  if (size != nullptr) *size = Slots::sizes[static_cast<std::size_t>(module)];
  return 1;
}

struct Callbacks {
  std::size_t struct_size = sizeof(Callbacks);
  int (*module_table)(int, Function***, unsigned*) = &runtime::module_table;
};
struct Version {
  std::size_t struct_size = sizeof(Version);
  std::uint32_t version = 3, reserved = 0;
  void (*set_tool_version)(std::uint32_t) = [](std::uint32_t) {};
};

const void* export_table(std::uint32_t id) {
  static const Callbacks callbacks;
  static const Version version;
  if (id == table_callbacks) return &callbacks;
  return id == table_version ? &version : nullptr;
}

// Loads the tool's library once; afterwards the functions that it lacks are null.
void attach() noexcept {
  static NeverDestroyed<Mutex> mutex;
  static bool is_done = false;
  const std::lock_guard lock(*mutex);
  if (std::exchange(is_done, true)) return;
  using Initialize = int (*)(const void* (*)(std::uint32_t));
  void* const library = ::dlopen(std::getenv(library_variable), RTLD_LAZY);
  auto* const initialize =
      library != nullptr
          ? reinterpret_cast<Initialize>(::dlsym(library, "InitializeInjectionNvtx2"))
          : nullptr;
  if (initialize == nullptr || initialize(&export_table) == 0) slots().functions = {};
}

template <class F>
F function_of(unsigned callback) noexcept {
  return reinterpret_cast<F>(slots().functions[module_core][callback]);
}

}  // namespace

bool profiler_attached = std::getenv(library_variable) != nullptr;

bool ProfilerRange::push(const char* name) noexcept {
  attach();
  auto* const push_range = function_of<int (*)(const char*)>(callback_push);
  if (push_range == nullptr) return false;
  push_range(name);
  return true;
}

void ProfilerRange::pop() noexcept {
  if (auto* const pop_range = function_of<int (*)()>(callback_pop)) pop_range();
}

}  // namespace spanwise::runtime
