// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "torch_tensor.hpp"

#include <dlfcn.h>
#include <pybind11/pybind11.h>

#include <bit>
#include <bitset>
#include <exception>
#include <optional>
#include <string>

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

namespace {

template <class Function>
bool try_find(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// The result of a function without arguments.
std::optional<std::int32_t> try_call(void* library, const std::string& name) {
  std::int32_t (*function)() = nullptr;
  if (!try_find(library, name.c_str(), function)) return std::nullopt;
  return function();
}

void* handle_of(PyObject* tensor) noexcept {
  return reinterpret_cast<std::byte*>(tensor) + sizeof(PyObject);
}

}  // namespace

void TensorFunctions::add_dtype(void* library, DType dtype, std::string_view name) {
  const auto value = try_call(library, "aoti_torch_dtype_" + std::string(name));
  if (!value || *value < 0 || *value >= static_cast<std::int32_t>(dtypes_.size())) return;
  dtypes_[static_cast<std::size_t>(*value)] = dtype;
  known_dtypes_ |= std::uint64_t{1} << *value;
}

bool TensorFunctions::try_load() {
  // Only the library that torch has loaded; never closed, as torch itself is never unloaded.
  void* library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr || !try_find(library, "aoti_torch_get_dim", dim_) ||
      !try_find(library, "aoti_torch_get_sizes", sizes_) ||
      !try_find(library, "aoti_torch_get_strides", strides_) ||
      !try_find(library, "aoti_torch_get_data_ptr", data_ptr_) ||
      !try_find(library, "aoti_torch_get_dtype", dtype_) ||
      !try_find(library, "aoti_torch_get_device_type", device_type_) ||
      !try_find(library, "aoti_torch_get_device_index", device_index_)) {
    return false;
  }
  cpu_type_ = try_call(library, "aoti_torch_device_type_cpu").value_or(-1);
  cuda_type_ = try_call(library, "aoti_torch_device_type_cuda").value_or(-1);
  for (const DType dtype : {bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                            float16, bfloat16, float32, float64, complex64, complex128})
    add_dtype(library, dtype, dtype.name());
  return cpu_type_ >= 0 && cuda_type_ >= 0;
}

bool TensorFunctions::try_describe(PyObject* tensor, BorrowedTensor& memory) const noexcept {
  void* handle = handle_of(tensor);
  std::int64_t rank, *shape, *strides;
  std::int32_t dtype, device;
  // One check for all: none of them fails for a tensor that has values.
  const std::int32_t failed = device_type_(handle, &device) | dtype_(handle, &dtype) |
                              dim_(handle, &rank) | sizes_(handle, &shape) |
                              strides_(handle, &strides);
  if (failed != 0 || dtype < 0 || dtype >= 64 || (known_dtypes_ >> dtype & 1) == 0) return false;
  if (device == cuda_type_) {
    std::int32_t ordinal;
    if (device_index_(handle, &ordinal) != 0 || ordinal < 0) return false;
    memory.device = Device(DeviceKind::cuda, ordinal);
  } else if (device != cpu_type_) {
    return false;
  }
  if (data_ptr_(handle, &memory.data) != 0) return false;
  memory.dtype = dtypes_[static_cast<std::size_t>(dtype)];
  memory.rank = static_cast<int>(rank);
  memory.shape = shape;
  memory.strides = strides;
  memory.in_elements = true;
  return true;
}

bool TensorFunctions::matches_methods_of(PyObject* object) const {
  const py::handle tensor(object);
  const py::module_ torch = py::module_::import("torch");
  // A mode that the program has set may have changed the type of the sample.
  if (!py::type::handle_of(tensor).is(torch.attr("Tensor"))) return false;
  const auto shape = tensor.attr("shape").cast<py::tuple>();
  const auto strides = tensor.attr("stride")().cast<py::tuple>();
  BorrowedTensor memory;
  if (!try_describe(object, memory) || static_cast<std::size_t>(memory.rank) != shape.size())
    return false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (memory.shape[axis] != shape[axis].cast<std::int64_t>() ||
        memory.strides[axis] != strides[axis].cast<std::int64_t>())
      return false;
  const auto address = tensor.attr("data_ptr")().cast<std::uintptr_t>();
  return reinterpret_cast<std::uintptr_t>(memory.data) == address && memory.device.is_cpu() &&
         tensor.attr("dtype").is(torch.attr(memory.dtype.name().c_str()));
}

bool TensorFunctions::matches_methods() const {
  const py::module_ torch = py::module_::import("torch");
  const py::object empty = torch.attr("empty");
  for (std::uint64_t left = known_dtypes_; left != 0; left &= left - 1) {
    const DType dtype = dtypes_[static_cast<std::size_t>(std::countr_zero(left))];
    const auto plain = [&](const py::tuple& shape) -> py::object {
      return empty(shape, py::arg("dtype") = torch.attr(dtype.name().c_str()),
                   py::arg("device") = "cpu");
    };
    const py::object matrix = plain(py::make_tuple(3, 5));
    const py::object transposed = matrix.attr("t")();
    const py::object seven_axes = plain(py::make_tuple(2, 1, 3, 1, 2, 1, 2));
    const py::object row = matrix[py::int_(1)];
    const py::object scalar = plain(py::make_tuple());
    for (const py::object& sample : {matrix, transposed, seven_axes, row, scalar})
      if (!matches_methods_of(sample.ptr())) return false;
  }
  return true;
}

const TensorFunctions* TensorFunctions::get_if_usable() noexcept {
  static TensorFunctions functions;
  static bool is_searched = false, is_usable = false;
  if (!is_searched) [[unlikely]] {
    is_searched = true;  // set first, because creating the samples may call this function
    try {
      is_usable = TensorImplOffsets::get_if_usable() != nullptr && functions.try_load() &&
                  functions.matches_methods();
    } catch (const std::exception&) {
      // This PyTorch lacks a method or dtype: the exchange API is used.
      PyErr_Clear();
    }
  }
  return is_usable ? &functions : nullptr;
}

}  // namespace spanwise::python
