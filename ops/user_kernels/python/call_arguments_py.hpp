// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../arguments.hpp"
#include "python/support/gil.hpp"
#include "spanwise/runtime/stream.hpp"

/// The Python arguments of a user's kernel.
namespace spanwise::python {

/// The converted arguments of one call. Imported arrays live as long as this object.
class KernelCallArguments {
 public:
  /// Throws KernelArgumentError in the name of `label` if there are more than `max_count`.
  KernelCallArguments(const std::string& label, PyObject* const* values, std::size_t count,
                      std::size_t max_count);
  KernelCallArguments(const KernelCallArguments&) = delete;
  KernelCallArguments& operator=(const KernelCallArguments&) = delete;

  /// Converts the argument for parameter `index`.
  void set(std::size_t index, PyObject* value);
  const ops::user_kernels::Argument* data() const noexcept { return arguments_.data(); }
  /// The device that the kernel runs on, see device_array(); the default device without arrays.
  Device device() const;
  /// The bytes of the largest array.
  std::int64_t bytes() const noexcept;

 private:
  std::span<const ops::user_kernels::Argument> all() const noexcept {
    return {arguments_.data(), max_count_};
  }

  const std::string& label_;
  std::size_t max_count_;
  ops::user_kernels::UninitializedArray<ops::user_kernels::Argument> arguments_;
  std::vector<Array> imported_;
  std::vector<std::string> structs_;
};

/// The outputs of a kernel call: the objects that are passed for them, or new arrays. In the
/// kernel's parameters, inputs come first.
class KernelOutputs {
 public:
  /// Reads the outputs among the `count` values, and those of `out` (null and None: none; one
  /// object or a tuple), which are added to `arguments`. Throws KernelArgumentError in the name of
  /// `label` if some, but not all, are given.
  KernelOutputs(const std::string& label, KernelCallArguments& arguments, PyObject* const* values,
                std::size_t count, std::size_t inputs, std::size_t total, PyObject* out);

  /// The outputs that the kernel allocates, in order.
  std::vector<Array>& allocated() noexcept { return allocated_; }
  /// The result of the call: all outputs as a tuple, or a single output itself unless `as_tuple`. A
  /// new reference; call once.
  PyObject* result(bool as_tuple);

 private:
  void read_out(PyObject* out, KernelCallArguments& arguments);
  pybind11::object object_of(std::size_t output);

  const std::string& label_;
  std::size_t inputs_, count_;
  std::array<PyObject*, ops::user_kernels::max_operands> objects_{};  // borrowed from the call
  std::vector<Array> allocated_;
  std::size_t next_allocated_ = 0;
};

/// The keyword arguments of a call, null if absent. They are borrowed.
struct KernelKeywords {
  PyObject *size = nullptr, *out = nullptr, *axis = nullptr, *keepdims = nullptr;
  PyObject *stream = nullptr, *block_size = nullptr;
};
/// Reads the keyword arguments that are among `accepted`; throws KernelArgumentError, or
/// ArgumentError for range= and slice=, in the name of `label` for others.
KernelKeywords kernel_keywords(const std::string& label,
                               std::initializer_list<const char*> accepted, PyObject* names,
                               PyObject* const* values);

/// Whether a call on arrays of at most `bytes` bytes releases the GIL: for long work on the CPU, or
/// with config.launch_blocking on a GPU, where launches are asynchronous otherwise. Compiling
/// releases it in any case.
bool is_long_call(Device device, std::int64_t bytes);

/// Makes `stream` the current stream of `device` while the result lives; nothing for null and None.
std::optional<StreamGuard> stream_guard(PyObject* stream, Device device);

/// One call of a kernel with named outputs.
struct UserKernelCall {
  /// Reads the arguments; `accepted` are the names of keyword arguments.
  template <class Kernel>
  UserKernelCall(const Kernel& kernel, std::initializer_list<const char*> accepted,
                 PyObject* const* values, std::size_t flags, PyObject* names)
      : count(static_cast<std::size_t>(PyVectorcall_NARGS(flags))),
        total(kernel.parameters().size()),
        keywords(kernel_keywords(kernel.label(), accepted, names, values + count)),
        arguments(kernel.label(), values, count, total),
        outputs(kernel.label(), arguments, values, count, kernel.inputs(), total, keywords.out) {}

  template <class Kernel, class Option>
  void run(const Kernel& kernel, const Option& option) {
    const Device device = arguments.device();
    const auto guard = stream_guard(keywords.stream, device);
    const GilRelease unlocked(is_long_call(device, arguments.bytes()));
    kernel({arguments.data(), total}, option, outputs.allocated());
  }

  std::size_t count, total;
  KernelKeywords keywords;
  KernelCallArguments arguments;
  KernelOutputs outputs;
};

}  // namespace spanwise::python
