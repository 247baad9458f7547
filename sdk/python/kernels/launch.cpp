// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "arguments.hpp"
#include "dims.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/call.hpp"
#include "python/support/stream.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

enum Keyword : std::size_t { block, grid, shared, stream, cooperative, cluster, keyword_count };

// Interned: keyword names in calls are interned as well, so comparing addresses usually suffices.
std::array<PyObject*, keyword_count> keywords{};
constexpr std::array<const char*, keyword_count> keyword_names{"block",  "grid",        "shared",
                                                               "stream", "cooperative", "cluster"};

std::size_t find_keyword(PyObject* name) {
  for (std::size_t i = 0; i < keyword_count; ++i)
    if (keywords[i] == name) return i;
  for (std::size_t i = 0; i < keyword_count; ++i)
    if (PyUnicode_CompareWithASCIIString(name, keyword_names[i]) == 0) return i;
  return keyword_count;
}

bool may_wait(const Kernel& kernel) {
  static constinit const config::Flag launch_blocking{"launch_blocking"};
  return kernel.device().is_cpu() || launch_blocking.get();
}

// Inside sw.strict_copies(): throws for arrays that a declared "contiguous" parameter would copy.
void refuse_copies(const Kernel& kernel, std::span<const KernelArg> arguments) {
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < std::min(parameters.size(), arguments.size()); ++i) {
    const bool copies = parameters[i].layout == ParameterLayout::contiguous &&
                        arguments[i].kind() == KernelArg::Kind::array &&
                        !arguments[i].array().layout().is_row_major();
    if (copies)
      fail<CopyNeededError>("kernel '", kernel.name(), "', argument ", i + 1, " of ",
                            parameters.size(),
                            ": expected a C-contiguous array inside strict_copies(), got ",
                            text(arguments[i].array()),
                            ". Remedy: make it contiguous before, or declare the parameter as a "
                            "spanwise::View");
  }
}

void launch_with_transfers(const Kernel& kernel, const LaunchConfig& config,
                           PackedArguments& packed) {
  const GilRelease unlocked;
  const StreamGuard guard(config.stream ? *config.stream : Stream::current(kernel.device()));
  packed.copy_in();
  kernel.launch(config, packed.arguments());
  packed.copy_out();
}

}  // namespace

bool read_keywords(PyObject* names, PyObject* const* values, const Kernel& kernel,
                   LaunchConfig& config) {
  const Py_ssize_t count = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  bool has_block = false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    switch (find_keyword(PyTuple_GET_ITEM(names, i))) {
      case block:
        config.block = dim3_from(values[i], "block=");
        has_block = true;
        break;
      case grid:
        config.grid = dim3_from(values[i], "grid=");
        break;
      case shared:
        config.shared_bytes = int64_from(values[i], "shared=");
        break;
      case stream:
        if (values[i] != Py_None) config.stream = stream_from(values[i], kernel.device());
        break;
      case cooperative:
        config.cooperative = truth_or(values[i], false);
        break;
      case cluster:
        config.cluster = dim3_from(values[i], "cluster=");
        break;
      default:
        fail<KernelArgumentError>(
            "kernel '", kernel.name(), "': unexpected keyword argument '",
            std::string(py::str(PyTuple_GET_ITEM(names, i))),
            "'; there are block, grid, shared, stream, cooperative and cluster, and kernel "
            "arguments go by position");
    }
  }
  return has_block;
}

void launch(const Kernel& kernel, const LaunchConfig& config, PyObject* const* values,
            std::size_t count) {
  PackedArguments packed(kernel, values, count);
  if (StrictCopies::active()) [[unlikely]]
    refuse_copies(kernel, packed.arguments());
  if (packed.needs_transfers()) {
    launch_with_transfers(kernel, config, packed);
  } else {
    const GilRelease unlocked(may_wait(kernel));
    kernel.launch(config, packed.arguments());
  }
}

SW_BIND(kernels_launch) {
  for (std::size_t i = 0; i < keyword_count; ++i) {
    keywords[i] = PyUnicode_InternFromString(keyword_names[i]);
    if (keywords[i] == nullptr) throw py::error_already_set();
  }
}

}  // namespace spanwise::python
