// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "tensor_impl_offsets.hpp"

#include <pybind11/pybind11.h>

#include <bitset>
#include <optional>

namespace spanwise::python {

namespace py = pybind11;

/// Compares tensors of many kinds and eliminates each offset that does not match one of them.
class TensorImplOffsets::Search {
 public:
  Search() : torch_(py::module_::import("torch")) {}

  std::optional<TensorImplOffsets> run() {
    // The program's modes must not affect the samples.
    const py::object no_inference_mode = torch_.attr("inference_mode")(false);
    no_inference_mode.attr("__enter__")();
    try {
      compare_samples();
    } catch (...) {
      no_inference_mode.attr("__exit__")(py::none(), py::none(), py::none());
      throw;
    }
    no_inference_mode.attr("__exit__")(py::none(), py::none(), py::none());
    if (!is_impl_found_ || keys_.count() != 1 || autograd_.count() != 1) return std::nullopt;
    TensorImplOffsets offsets;
    offsets.keys_ = first(keys_);
    offsets.autograd_ = first(autograd_);
    return offsets;
  }

 private:
  // The object is 23 words long in the releases that have the exchange API (c10/core/TensorImpl.h,
  // which bounds the sizes of its members), and nothing beyond it is read.
  static constexpr std::size_t length = 23;
  using OffsetSet = std::bitset<length>;

  static std::size_t first(const OffsetSet& offsets) noexcept {
    std::size_t offset = 0;
    while (!offsets[offset]) ++offset;
    return offset;
  }

  py::object sample(const char* dtype) const {
    return torch_.attr("empty")(py::make_tuple(2, 3), py::arg("dtype") = torch_.attr(dtype),
                                py::arg("device") = "cpu");
  }

  // Whether the word after the PyObject header is the address that PyTorch reports, for this and
  // all earlier samples.
  bool is_impl_address(const py::object& tensor) {
    const auto address = tensor.attr("_cdata").cast<std::uintptr_t>();
    is_impl_found_ =
        is_impl_found_ && reinterpret_cast<std::uintptr_t>(impl_of(tensor.ptr())) == address;
    return is_impl_found_;
  }

  void compare_keys(const py::object& tensor) {
    const auto keys =
        torch_.attr("_C").attr("_dispatch_keys")(tensor).attr("raw_repr")().cast<std::uint64_t>();
    if (!is_impl_address(tensor)) return;
    for (std::size_t offset = 0; offset < length; ++offset)
      if (word(tensor.ptr(), offset) != keys) keys_.reset(offset);
  }

  // The pointer to autograd's data is null until it is needed.
  void compare_autograd(const py::object& tensor) {
    if (!is_impl_address(tensor)) return;
    OffsetSet was_null;
    for (std::size_t offset = 0; offset < length; ++offset)
      was_null[offset] = word(tensor.ptr(), offset) == 0;
    tensor.attr("requires_grad_")();
    for (std::size_t offset = 0; offset < length; ++offset)
      if (!was_null[offset] || word(tensor.ptr(), offset) == 0) autograd_.reset(offset);
  }

  void compare_samples() {
    keys_.set();
    autograd_.set();
    const py::object negated = torch_.attr("_neg_view");
    for (const char* dtype : {"float32", "float64", "complex64"}) {
      const py::object plain = sample(dtype);
      compare_keys(plain);
      compare_keys(plain.attr("t")());
      compare_keys(negated(plain));
      compare_autograd(sample(dtype));
    }
    const py::object complex = sample("complex128");
    compare_keys(complex.attr("conj")());
    compare_keys(negated(complex.attr("conj")()));
    compare_keys(sample("int64"));
    compare_keys(sample("int64").attr("to")("meta"));
    compare_keys(sample("float32").attr("to_sparse")());
  }

  py::module_ torch_;
  OffsetSet keys_, autograd_;
  bool is_impl_found_ = true;
};

const TensorImplOffsets* TensorImplOffsets::get_if_usable() noexcept {
  static std::optional<TensorImplOffsets> offsets;
  static bool is_searched = false;
  if (!is_searched) [[unlikely]] {
    is_searched = true;  // set first, because creating the samples may call this function
    try {
      offsets = Search().run();
    } catch (const std::exception&) {
      // This PyTorch lacks one of these functions: the offsets are not used.
      PyErr_Clear();
    }
  }
  return offsets ? &*offsets : nullptr;
}

}  // namespace spanwise::python
