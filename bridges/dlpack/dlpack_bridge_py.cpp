// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <array>
#include <string>

#include "dlpack_capsule.hpp"
#include "dlpack_tensor.hpp"
#include "python/interop/interface.hpp"
#include "python/support/array.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::dlpack {

namespace py = pybind11;
using python::AttributeName;

namespace {

constinit const AttributeName method_name("__dlpack__"), device_name("__dlpack_device__");
constinit const AttributeName stream_keyword("stream"), version_keyword("max_version"),
    copy_keyword("copy");

// Keyword arguments of a vectorcall.
class KeywordArguments {
 public:
  void add(const AttributeName& keyword, PyObject* value) {
    names_[count_] = keyword.get();
    values_[++count_] = value;
  }
  // Calls object.__dlpack__(**keywords); returns null with a Python error set on failure.
  py::object call(PyObject* object) {
    values_[0] = object;
    py::tuple names(count_);
    for (std::size_t i = 0; i < count_; ++i) names[i] = py::handle(names_[i]);
    return py::reinterpret_steal<py::object>(PyObject_VectorcallMethod(
        method_name.get(), values_.data(), 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
        count_ == 0 ? nullptr : names.ptr()));
  }

 private:
  std::size_t count_ = 0;
  std::array<PyObject*, 3> names_{};
  std::array<PyObject*, 4> values_{};
};

py::object version_tuple() {
  static constinit PyObject* pair = nullptr;  // guarded by the GIL
  if (pair == nullptr) pair = py::make_tuple(version.major, version.minor).release().ptr();
  return py::reinterpret_borrow<py::object>(pair);
}

// Clears the BufferError or NotImplementedError that is set and returns its message; throws other
// errors.
std::string take_refusal() {
  if (PyErr_ExceptionMatches(PyExc_BufferError) == 0 &&
      PyErr_ExceptionMatches(PyExc_NotImplementedError) == 0)
    throw py::error_already_set();
  const py::error_already_set error;
  return std::string(py::str(error.value()));
}

TensorDevice reported_device(PyObject* object) {
  const auto pair =
      py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(object, device_name.get()));
  if (!pair)
    fail<BridgeError>("dlpack: a ", Py_TYPE(object)->tp_name, " refused: ", take_refusal());
  const auto numbers = integer_pair_in(pair.ptr());
  if (!numbers)
    fail<BridgeError>("dlpack: __dlpack_device__() of a ", Py_TYPE(object)->tp_name, " returned ",
                      std::string(py::repr(pair)), "; expected (device type, device id)");
  return {static_cast<DeviceType>(numbers->first), static_cast<std::int32_t>(numbers->second)};
}

py::object call_dlpack(PyObject* object, const py::object& stream, bool may_copy) {
  KeywordArguments keywords;
  if (stream) keywords.add(stream_keyword, stream.ptr());
  KeywordArguments plain = keywords;
  keywords.add(version_keyword, version_tuple().ptr());
  if (!may_copy) keywords.add(copy_keyword, Py_False);
  py::object capsule = keywords.call(object);
  // Methods from before 1.0 do not have the arguments max_version and copy, and always share.
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    capsule = plain.call(object);
  }
  if (capsule) return capsule;
  const std::string reason = take_refusal();
  if (!may_copy) {
    throw SharingError("dlpack", {text("a ", Py_TYPE(object)->tp_name, " refused: ", reason),
                                  "allow a copy (copy=None, copyif=True)"});
  }
  fail<BridgeError>("dlpack: a ", Py_TYPE(object)->tp_name, " refused: ", reason);
}

class DlpackBridge final : public Bridge {
 public:
  std::string_view name() const override { return "dlpack"; }
  BridgePriority priority() const override { return BridgePriority::dlpack; }
  std::string_view protocols() const override { return "DLPack 1.3, C exchange API"; }

  bool accepts(PyObject* object) const override {
    if (PyType_Check(object)) return false;
    if (is_capsule(object) || exchange_api_of(Py_TYPE(object)) != nullptr) return true;
    return static_cast<bool>(python::attribute_or_null(object, method_name));
  }
  bool speaks_dlpack(PyObject*) const override { return true; }

  ForeignView view(PyObject* object, bool may_copy) const override {
    if (PyCapsule_CheckExact(object)) return view_of_capsule(object);
    if (const ExchangeApi* api = exchange_api_of(Py_TYPE(object)))
      return view_through(*api, object);
    const Device device = device_from(reported_device(object));
    // The producer makes Spanwise's current stream wait for its work.
    py::object stream;
    if (device.is_cuda() || device.kind() == DeviceKind::cuda_managed) {
      const Device worker(DeviceKind::cuda, device.ordinal());
      stream = py::int_(Stream::current(worker).handle());
    }
    const py::object capsule = call_dlpack(object, stream, may_copy);
    if (!PyCapsule_CheckExact(capsule.ptr()))
      fail<BridgeError>("dlpack: __dlpack__() of a ", Py_TYPE(object)->tp_name, " returned a ",
                        Py_TYPE(capsule.ptr())->tp_name, "; expected a capsule");
    return view_of_capsule(capsule.ptr());
  }
};

const DlpackBridge dlpack_bridge;
[[maybe_unused]] const bool dlpack_registered = register_bridge(dlpack_bridge);

}  // namespace
}  // namespace spanwise::dlpack
