// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// A bridge for frames.Frame: it describes a frame's memory, and which arrays a frame can share. The
// SDK implements copies, errors, counters, explain(), strict_copies() and convert() with it.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "spanwise/bridge.hpp"
#include "spanwise/error.hpp"

namespace sw = spanwise;

namespace {

PyObject* frame_class = nullptr;  // set by the import of the module, never released

struct Drop {
  void operator()(PyObject* object) const { Py_XDECREF(object); }
};
using Reference = std::unique_ptr<PyObject, Drop>;

std::int64_t integer(PyObject* frame, const char* name) {
  const Reference value(PyObject_GetAttrString(frame, name));
  const long long number = value ? PyLong_AsLongLong(value.get()) : -1;
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    sw::fail<sw::BridgeError>("frames: ", name, " is no integer; expected a whole Frame");
  }
  return number;
}

// The last array over a frame may be destroyed on any thread, and after Python has ended.
void let_go(void* frame, void*, std::size_t, sw::StreamUses&) noexcept {
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(static_cast<PyObject*>(frame));
  PyGILState_Release(state);
}

void delete_array(PyObject* capsule) {
  delete static_cast<sw::Array*>(PyCapsule_GetPointer(capsule, nullptr));
}

class FramesBridge final : public sw::Bridge {
 public:
  std::string_view name() const override { return "frames"; }
  sw::BridgePriority priority() const override { return sw::BridgePriority::library; }
  std::string_view protocols() const override { return "address and pitch"; }
  std::string_view module() const override { return "frames"; }

  bool accepts(PyObject* object) const override {
    return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(frame_class)) != 0;
  }

  sw::ForeignView view(PyObject* frame, bool) const override {
    sw::ForeignView view;
    view.memory.data = reinterpret_cast<void*>(integer(frame, "address"));
    view.memory.device = sw::cpu;
    view.memory.dtype = sw::float32;
    view.memory.shape = {integer(frame, "rows"), integer(frame, "columns")};
    view.memory.byte_strides = {integer(frame, "pitch"), 4};
    Py_INCREF(frame);
    view.owner = sw::ForeignOwner(&let_go, frame);
    return view;
  }

  bool exports() const override { return true; }

  std::optional<sw::ShareBlocker> share_blocker(const sw::Array& array) const override {
    if (array.dtype() != sw::float32)
      sw::fail<sw::DTypeError>("frames: got dtype ", array.dtype(),
                               "; expected float32, cast it first: x.astype(\"float32\")");
    if (array.rank() != 2)
      sw::fail<sw::ArgumentError>("frames: got shape ", array.shape(),
                                  "; expected rows and columns");
    if (!array.device().is_cpu()) {
      return sw::ShareBlocker{
          sw::text("its memory is on ", array.device(), ", frames are on the host"),
          "allow a copy (copyif=True)"};
    }
    const std::int64_t columns = array.shape()[1];
    if ((columns != 1 && array.strides()[1] != 1) || array.strides()[0] < columns) {
      return sw::ShareBlocker{sw::text("its strides ", array.strides(), " are not whole rows"),
                              "allow a copy (copyif=True)"};
    }
    if (array.readonly()) {
      return sw::ShareBlocker{"its memory is read-only, and frames can always be written",
                              "allow a copy (copyif=True)"};
    }
    return std::nullopt;
  }

  PyObject* wrap(const sw::Array& array) const override {
    auto owner = std::make_unique<sw::Array>(array);
    const Reference capsule(PyCapsule_New(owner.get(), nullptr, &delete_array));
    if (capsule) owner.release();  // owned by the capsule
    return PyObject_CallFunction(frame_class, "LLLKO", static_cast<long long>(array.shape()[0]),
                                 static_cast<long long>(array.shape()[1]),
                                 static_cast<long long>(array.strides()[0] * 4),
                                 reinterpret_cast<unsigned long long>(array.data()), capsule.get());
  }

  sw::Array exportable_copy(const sw::Array& array) const override {
    return array.device().is_cpu() ? sw::copy(array) : sw::to_device(array, sw::cpu);
  }
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "frames_bridge",
                          "frames.Frame for Spanwise.",
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_frames_bridge() {
  const Reference spanwise(PyImport_ImportModule("spanwise"));
  const Reference frames(PyImport_ImportModule("frames"));
  if (!spanwise || !frames) return nullptr;
  frame_class = PyObject_GetAttrString(frames.get(), "Frame");
  if (frame_class == nullptr) return nullptr;
  static const FramesBridge bridge;
  static const bool registered = sw::register_bridge(bridge);
  return registered ? PyModule_Create(&definition) : nullptr;
}
