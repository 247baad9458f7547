// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "spanwise/stream.hpp"

/// Python's arguments of a user's kernel.
namespace spanwise::python {

/// The arguments of one call, read. What had to be imported lives as long as this.
class KernelCallArguments {
 public:
  /// Throws KernelArgumentError in the name of `who` where there are more than `most`.
  KernelCallArguments(const std::string& who, PyObject* const* values, std::size_t count,
                      std::size_t most);
  KernelCallArguments(const KernelCallArguments&) = delete;
  KernelCallArguments& operator=(const KernelCallArguments&) = delete;

  void set(std::size_t place, PyObject* value);
  const ops::user_kernels::Argument* data() const noexcept { return arguments_.data(); }
  /// Of the first array; the default device where there is none.
  Device device() const;
  /// Of all arrays together, a large number where they are many.
  std::int64_t bytes() const noexcept;

 private:
  std::span<const ops::user_kernels::Argument> all() const noexcept {
    return {arguments_.data(), most_};
  }

  const std::string& who_;
  std::size_t most_;
  std::array<ops::user_kernels::Argument, ops::user_kernels::most_operands> arguments_{};
  std::vector<Array> imported_;
  std::vector<std::string> structs_;
};

/// Makes `stream` (null and None: nothing) the current one of `device` while this lives.
class StreamForCall {
 public:
  StreamForCall(PyObject* stream, Device device);

 private:
  std::optional<StreamGuard> guard_;
};

/// An array that may be written, sharing memory with `object`.
Array writable_array(PyObject* object);

}  // namespace spanwise::python
