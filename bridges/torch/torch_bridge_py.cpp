// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "python/interop/dlpack_exchange.hpp"
#include "python/interop/library_bridge.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/python/binding.hpp"
#include "torch_tensor.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const ForeignClass tensor_class("torch", "Tensor");
constinit const AttributeName requires_grad("requires_grad"), is_conj("is_conj"), is_neg("is_neg"),
    is_quantized("is_quantized"), is_nested("is_nested"), is_meta("is_meta");

PyTypeObject* tensor_type() noexcept { return reinterpret_cast<PyTypeObject*>(tensor_class.get()); }

// The exchange table of torch.Tensor, which lives as long as the process; null before PyTorch 2.10.
const dlpack::ExchangeApi* exchange_api() noexcept {
  static const dlpack::ExchangeApi* table = nullptr;
  if (table == nullptr && tensor_type() != nullptr) table = dlpack::exchange_api_of(tensor_type());
  return table;
}

// The tensor, or its detach() if it requires grad. Autograd does not track changes that Spanwise
// makes to the memory, so such tensors are taken only where autograd records nothing: in
// torch.no_grad() and in the methods of an autograd.Function.
py::object without_gradient(PyObject* tensor) {
  if (!bool_attribute(tensor, requires_grad)) [[likely]]
    return py::reinterpret_borrow<py::object>(tensor);
  if (py::module_::import("torch").attr("is_grad_enabled")().cast<bool>())
    fail<ArgumentError>(
        "torch: a tensor that requires grad; expected one that autograd does not "
        "track, pass x.detach(), or convert it inside torch.no_grad()");
  return py::handle(tensor).attr("detach")();
}

// Throws the reason why a tensor is not plain strided memory; DLPack's messages do not name it.
[[noreturn]] void explain_refusal(PyObject* tensor, std::string_view refusal) {
  const py::handle x(tensor);
  const py::object layout = x.attr("layout");
  if (!layout.is(py::module_::import("torch").attr("strided")))
    fail<ArgumentError>("torch: a tensor of layout ", std::string(py::str(layout)),
                        "; expected torch.strided, pass x.to_dense()");
  if (bool_attribute(tensor, is_quantized))
    fail<ArgumentError>("torch: a quantized tensor; expected ",
                        "numbers, pass x.dequantize(), or x.int_repr() for the stored integers");
  if (bool_attribute(tensor, is_nested))
    fail<ArgumentError>("torch: a nested tensor; expected one of ",
                        "one shape, pass torch.nested.to_padded_tensor(x, 0.0)");
  if (bool_attribute(tensor, is_meta))
    fail<ArgumentError>(
        "torch: a tensor of the meta device, which has no values; expected one "
        "with memory, make it on another device");
  fail<ArgumentError>("torch: a tensor of ", std::string(py::str(x.attr("dtype"))), " on ",
                      std::string(py::str(x.attr("device"))),
                      " whose memory torch does not export (", refusal,
                      "); expected one that has its values in memory, call spanwise ",
                      "outside of torch.func's transforms and fake modes, or pass x.clone()");
}

// Lazy conjugation and negation are bits of the tensor that are not visible in its memory.
bool has_lazy_bits(PyObject* tensor, DType dtype) {
  return (dtype.is_complex() && bool_method(tensor, is_conj)) || bool_method(tensor, is_neg);
}

// Whether `result`, a new reference or null with an error set, is False. Clears the error.
bool is_false(PyObject* result) noexcept {
  Py_XDECREF(result);  // False is never freed
  if (result == nullptr) PyErr_Clear();
  return result == Py_False;
}

// Uses the descriptor of the class, which is faster than an attribute lookup on the tensor.
bool needs_no_grad(PyObject* tensor) noexcept {
  const auto descriptor =
      py::reinterpret_borrow<py::object>(_PyType_Lookup(Py_TYPE(tensor), requires_grad.get()));
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(tensor));
  const descrgetfunc get = descriptor ? Py_TYPE(descriptor.ptr())->tp_descr_get : nullptr;
  return get != nullptr && is_false(get(descriptor.ptr(), tensor, type));
}

bool has_no_lazy_bit(PyObject* tensor) noexcept {
  const auto returns_false = [&](const AttributeName& name) {
    const auto method =
        py::reinterpret_borrow<py::object>(_PyType_Lookup(Py_TYPE(tensor), name.get()));
    return method && is_false(PyObject_Vectorcall(method.ptr(), &tensor, 1, nullptr));
  };
  return returns_false(is_neg) && returns_false(is_conj);
}

// The dispatch keys determine the lazy bits. A program uses a few sets of keys, so PyTorch's result
// is cached for each set.
constinit std::array<std::uint64_t, 8> plain_sets{};

bool is_known_set(std::uint64_t keys) noexcept {
  for (const std::uint64_t plain : plain_sets)
    if (plain == keys && keys != 0) return true;
  return false;
}

bool has_plain_keys(PyObject* tensor, std::uint64_t keys) noexcept {
  static std::size_t next = 0;
  if (is_known_set(keys)) return true;
  if (!has_no_lazy_bit(tensor)) return false;
  plain_sets[next++ % plain_sets.size()] = keys;
  return true;
}

// Whether try_describe_through_exchange() and has_plain_keys() have succeeded before for a tensor
// with the same keys.
bool is_known_plain(PyObject* tensor) noexcept {
  const TensorImplOffsets* offsets = TensorImplOffsets::get_if_usable();
  return offsets != nullptr && is_known_set(offsets->keys(tensor)) &&
         (offsets->is_unknown_to_autograd(tensor) || needs_no_grad(tensor));
}

// Whether memory and strides describe the tensor completely.
bool is_plain(PyObject* tensor) noexcept {
  const TensorImplOffsets* offsets = TensorImplOffsets::get_if_usable();
  if (offsets == nullptr) return needs_no_grad(tensor) && has_no_lazy_bit(tensor);
  return (offsets->is_unknown_to_autograd(tensor) || needs_no_grad(tensor)) &&
         has_plain_keys(tensor, offsets->keys(tensor));
}

// Whether the stream is one of torch's own, from pools that are never freed. A stream of another
// library, which the program made torch's current one (torch.cuda.ExternalStream), may be destroyed
// by its owner; torch uses its address as its id, and positions in a pool for its own
// (c10/cuda/CUDAStream.cpp).
bool is_torchs_current_stream(std::uintptr_t stream, int ordinal) noexcept {
  try {
    const py::object current = py::module_::import("torch.cuda").attr("current_stream")(ordinal);
    const auto handle = current.attr("cuda_stream").cast<std::uintptr_t>();
    return handle == stream && current.attr("stream_id").cast<std::uintptr_t>() != handle;
  } catch (const std::exception&) {
    PyErr_Clear();
    return false;
  }
}

bool is_torchs_stream(std::uintptr_t stream, int ordinal) noexcept {
  constexpr std::uintptr_t per_thread = 2;  // the default streams always exist
  if (stream <= per_thread) return true;
  static NeverDestroyed<std::vector<std::uintptr_t>> cached;  // guarded by the GIL
  if (std::find(cached->begin(), cached->end(), stream) != cached->end()) return true;
  if (!is_torchs_current_stream(stream, ordinal)) return false;
  try {
    cached->push_back(stream);
  } catch (const std::exception&) {  // out of memory: not cached, torch is queried again
  }
  return true;
}

// Torch has a module attribute for each dtype. Dtypes that were found once, and torch
// itself, stay available.
bool torch_has(DType dtype) {
  static auto& cached = *new std::vector<DType>;
  if (std::find(cached.begin(), cached.end(), dtype) != cached.end()) return true;
  if (!py::hasattr(import_library("torch", "torch"), dtype.name().c_str())) return false;
  cached.push_back(dtype);
  return true;
}

class TorchBridge final : public LibraryBridge {
 public:
  TorchBridge() : LibraryBridge("torch", "DLPack C exchange API, else DLPack", tensor_class) {}

  bool speaks_dlpack(PyObject*) const override { return true; }

  bool try_describe(PyObject* tensor, BorrowedTensor& memory) const override {
    // A subclass may add meaning to the memory.
    const dlpack::ExchangeApi* api = exchange_api();
    if (Py_TYPE(tensor) != tensor_type() || api == nullptr) return false;
    const TensorFunctions* functions = TensorFunctions::get_if_usable();
    const bool is_found =
        functions != nullptr && is_known_plain(tensor) && functions->try_describe(tensor, memory)
            ? try_describe_stream(*api, memory)
            : try_describe_through_exchange(*api, tensor, memory) && is_plain(tensor);
    // view() waits immediately for a stream that may be destroyed.
    return is_found && is_torchs_stream(memory.stream, memory.device.ordinal());
  }

  ForeignView view(PyObject* object, bool may_copy) const override {
    const py::object plain = without_gradient(object);
    PyObject* const tensor = plain.ptr();
    ForeignView view = view_memory(tensor, may_copy);
    if (!has_lazy_bits(tensor, view.memory.dtype)) [[likely]]
      return view;
    if (!may_copy) {
      throw SharingError("torch", {"the tensor is conjugated or negated lazily",
                                   "pass x.resolve_conj().resolve_neg(), or allow a copy"});
    }
    const py::object resolved = py::handle(tensor).attr("resolve_conj")().attr("resolve_neg")();
    view = view_memory(resolved.ptr(), may_copy);
    view.copied = true;
    return view;
  }

  std::optional<ShareBlocker> share_blocker(const Array& array) const override {
    check_dtype(array.dtype(), torch_has(array.dtype()));
    const Layout& layout = array.layout();
    for (int axis = 0; axis < layout.rank(); ++axis) {
      if (layout.strides[axis] >= 0 || layout.shape[axis] <= 1 || array.size() == 0) continue;
      return ShareBlocker{text("its strides ", strides_text(array), " are negative on axis ", axis,
                               ", which torch cannot represent"),
                          "allow a copy (copyif=True), or pass it unflipped and flip it in torch"};
    }
    return readonly_share_blocker(array, "torch");
  }

  PyObject* wrap(const Array& array) const override {
    if (const dlpack::ExchangeApi* api = exchange_api())
      return wrap_through_exchange(*api, array, &is_torchs_stream).release().ptr();
    return py::module_::import("torch").attr("from_dlpack")(object_of(array)).release().ptr();
  }

 private:
  static ForeignView view_memory(PyObject* tensor, bool may_copy) {
    const Bridge& dlpack = *find_bridge("dlpack");
    try {
      ForeignView view = on_own_device(tensor, [&] { return dlpack.view(tensor, may_copy); });
      if (view.memory.data == nullptr && !view.memory.is_empty())
        explain_refusal(tensor, "its address is null");
      view.persistent_streams = view.streams.size() == 1 &&
                                is_torchs_stream(view.streams[0], view.memory.device.ordinal());
      return view;
    } catch (const BridgeError& refusal) {
      explain_refusal(tensor, refusal.what());
    }
  }

  // Without the exchange API, torch refuses unless the tensor's device is current.
  template <class F>
  static ForeignView on_own_device(PyObject* tensor, F&& view) {
    if (exchange_api() != nullptr || !py::cast<bool>(py::handle(tensor).attr("is_cuda")))
      return view();
    const py::object guard =
        py::module_::import("torch.cuda").attr("device_of")(py::handle(tensor));
    guard.attr("__enter__")();
    try {
      ForeignView result = view();
      guard.attr("__exit__")(py::none(), py::none(), py::none());
      return result;
    } catch (...) {
      guard.attr("__exit__")(py::none(), py::none(), py::none());
      throw;
    }
  }
};

const TorchBridge torch_bridge;
[[maybe_unused]] const bool torch_registered = register_bridge(torch_bridge);

}  // namespace

// Which fast paths are in use, for tests.
SW_BIND(torch_bridge) {
  module.def("_reads_tensor_words", [] { return TensorImplOffsets::get_if_usable() != nullptr; });
  module.def("_asks_tensor_functions", [] { return TensorFunctions::get_if_usable() != nullptr; });
  module.def("_is_known_plain_tensor", [](py::handle x) {
    return tensor_class.is_type_of(x.ptr()) && is_known_plain(x.ptr());
  });
}

}  // namespace spanwise::python
