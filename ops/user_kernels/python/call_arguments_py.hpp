// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../arguments.hpp"
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
  /// Of the largest array.
  std::int64_t bytes() const noexcept;

 private:
  std::span<const ops::user_kernels::Argument> all() const noexcept {
    return {arguments_.data(), most_};
  }

  const std::string& who_;
  std::size_t most_;
  ops::user_kernels::Places<ops::user_kernels::Argument> arguments_;
  std::vector<Array> imported_;
  std::vector<std::string> structs_;
};

/// The outputs of a kernel's call: the objects given for them, and arrays made for the others.
/// Parameters are counted with the inputs first, as in the kernel's list.
class KernelOutputs {
 public:
  /// Takes the outputs that stand among the `count` values, and those of `out` (null and None:
  /// none; one object or a tuple), which are added to `arguments`. Throws KernelArgumentError in
  /// the name of `who` where some, but not all, are given.
  KernelOutputs(const std::string& who, KernelCallArguments& arguments, PyObject* const* values,
                std::size_t count, std::size_t inputs, std::size_t total, PyObject* out);

  /// Where the kernel leaves the outputs that it makes, in order.
  std::vector<Array>& made() noexcept { return made_; }
  /// What the call returns: the only output by itself unless `as_tuple`. A new reference; call
  /// once.
  PyObject* result(bool as_tuple);

 private:
  void take(PyObject* out, KernelCallArguments& arguments);
  pybind11::object object_of(std::size_t output);

  const std::string& who_;
  std::size_t inputs_, count_;
  std::array<PyObject*, ops::user_kernels::most_operands> given_{};  // borrowed from the call
  std::vector<Array> made_;
  std::size_t next_made_ = 0;
};

/// Whether other Python threads should run during a call on arrays of at most `bytes` bytes: while
/// the CPU works through much. A GPU is only told what to do. They run during a compile in any
/// case.
bool is_long_call(Device device, std::int64_t bytes);

/// Makes `stream` (null and None: nothing) the current one of `device` while this lives.
class StreamForCall {
 public:
  StreamForCall(PyObject* stream, Device device);

 private:
  std::optional<StreamGuard> guard_;
};

}  // namespace spanwise::python
