// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "dlpack_capsule.hpp"
#include "dlpack_streams.hpp"
#include "dlpack_tensor.hpp"
#include "python/interop/exchange.hpp"
#include "spanwise/python/bridge_kit.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"

namespace spanwise {
namespace {

namespace py = pybind11;

/// See as_immutable_producer().
struct ImmutableProducer {
  Array array;

  py::object capsule(const py::object& stream) const {
    const auto number = stream.cast<std::optional<std::int64_t>>();
    if (const auto consumer = dlpack::consumer_stream(number, array.device()))
      dlpack::order_consumer(*consumer, array);
    return python::owned(dlpack::capsule_of(array, /*versioned=*/false));
  }
};

}  // namespace

py::object python::as_immutable_producer(const Array& array) {
  return py::cast(ImmutableProducer{array});
}

SW_BIND(bridge_immutable_producer) {
  py::class_<ImmutableProducer>(module, "_ImmutableProducer")
      .def(
          "__dlpack__",
          [](const ImmutableProducer& self, const py::object& stream, const py::kwargs&) {
            return self.capsule(stream);
          },
          py::kw_only(), py::arg("stream") = py::none())
      .def("__dlpack_device__", [](const ImmutableProducer& self) {
        const dlpack::TensorDevice device = dlpack::device_of(self.array);
        return py::make_tuple(static_cast<int>(device.type), device.id);
      });
}

}  // namespace spanwise
