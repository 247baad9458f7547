// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// A bridge for frames.Frame: it describes a frame's memory, and which arrays a frame can share. The
// SDK implements copies, errors, counters, explain(), strict_copies() and convert() with it. A
// function of the module takes and returns Spanwise's types by the casters of binding.hpp.

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/python/bridge_kit.hpp"
#include "spanwise/runtime/creation.hpp"

namespace sw = spanwise;
namespace py = pybind11;

namespace {

constinit const sw::python::ForeignClass frame_class("frames", "Frame");
constinit const sw::python::CachedAttribute address("address"), rows("rows"), columns("columns"),
    pitch("pitch");

std::int64_t integer(PyObject* frame, const sw::python::CachedAttribute& attribute) {
  const py::object value = attribute.of(frame);
  if (!value || !PyLong_Check(value.ptr()))
    sw::fail<sw::BridgeError>(
        "frames: got a Frame with a missing or non-integer attribute; expected integers in "
        "address, "
        "rows, columns and pitch");
  return value.cast<std::int64_t>();
}

class FramesBridge final : public sw::Bridge {
 public:
  std::string_view name() const override { return "frames"; }
  sw::BridgePriority priority() const override { return sw::BridgePriority::library; }
  std::string_view protocols() const override { return "address and pitch"; }
  std::string_view module() const override { return "frames"; }

  bool accepts(PyObject* object) const override { return frame_class.has(object); }

  sw::ForeignView view(PyObject* frame, bool) const override {
    return {.owner = sw::python::python_owner(frame),
            .memory = {.data = reinterpret_cast<void*>(integer(frame, address)),
                       .device = sw::cpu,
                       .dtype = sw::float32,
                       .shape = {integer(frame, rows), integer(frame, columns)},
                       .byte_strides = {integer(frame, pitch), 4}}};
  }

  bool exports() const override { return true; }

  std::optional<sw::ShareBlocker> share_blocker(const sw::Array& array) const override {
    if (array.dtype() != sw::float32)
      sw::fail<sw::DTypeError>("frames: got dtype ", array.dtype(),
                               "; expected float32, cast it first: x.astype(\"float32\")");
    if (array.rank() != 2)
      sw::fail<sw::ArgumentError>("frames: got shape ", array.shape(),
                                  "; expected two axes, rows and columns");
    if (!array.device().is_cpu()) {
      return sw::ShareBlocker{
          sw::text("its memory is on ", array.device(), ", frames are on the host"),
          "allow a copy (copyif=True)"};
    }
    const std::int64_t row_length = array.shape()[1];
    if ((row_length != 1 && array.strides()[1] != 1) || array.strides()[0] < row_length) {
      return sw::ShareBlocker{sw::text("its strides ", strides_text(array),
                                       " do not have contiguous rows at ascending addresses"),
                              "allow a copy (copyif=True)"};
    }
    if (array.readonly()) {
      return sw::ShareBlocker{"its memory is read-only, and frames can always be written",
                              "allow a copy (copyif=True)"};
    }
    return std::nullopt;
  }

  PyObject* wrap(const sw::Array& array) const override {
    // The Frame holds the spanwise.Array, and so the memory.
    return py::handle(frame_class.get())(array.shape()[0], array.shape()[1], array.strides()[0] * 4,
                                         reinterpret_cast<std::uintptr_t>(array.data()),
                                         sw::python::object_of(array))
        .release()
        .ptr();
  }

  sw::Array exportable_copy(const sw::Array& array) const override {
    return array.device().is_cpu() ? sw::copy(array) : sw::to_device(array, sw::cpu);
  }
};

const FramesBridge bridge;

}  // namespace

PYBIND11_MODULE(frames_bridge, module) {
  module.doc() = "frames.Frame for Spanwise.";
  py::module_::import("spanwise");
  py::module_::import("frames");
  sw::register_bridge(bridge);
  module.def(
      "zeros",
      [](const sw::Shape& shape, sw::Device device) {
        return sw::zeros(shape, sw::float32, device);
      },
      "A spanwise.Array of zeros that a Frame can share.");
}
