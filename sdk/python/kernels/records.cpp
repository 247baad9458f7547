// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <string>

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/source_outline.hpp"

/// The records that describe kernels: attributes, parameters, declarations, and the disk cache.
namespace spanwise::python {

namespace py = pybind11;

namespace {

void bind_records(py::module_& module) {
  py::class_<KernelAttributes> attributes(module, "KernelAttributes",
                                          "The resources that a compiled kernel uses.");
  attributes.def_readonly("registers", &KernelAttributes::registers, "Per thread; 0 on the CPU.")
      .def_readonly("static_shared_bytes", &KernelAttributes::static_shared_bytes, "Per block.")
      .def_readonly("local_bytes", &KernelAttributes::local_bytes, "Per thread.")
      .def_readonly("const_bytes", &KernelAttributes::const_bytes)
      .def_readonly("max_threads_per_block", &KernelAttributes::max_threads_per_block)
      .def_readonly("architecture", &KernelAttributes::architecture)
      .def("__repr__", [](const KernelAttributes& self) {
        return text("<", self.architecture, ": ", self.registers, " registers, ",
                    self.static_shared_bytes, " bytes shared, ", self.local_bytes, " local, ",
                    self.const_bytes, " constant, at most ", self.max_threads_per_block,
                    " threads a block>");
      });
  py::class_<KernelParameter> parameter(
      module, "KernelParameter",
      "A kernel's parameter: name and type from the source (\"\" if unknown), offset and size in "
      "bytes from the binary.");
  parameter.def_readonly("name", &KernelParameter::name)
      .def_readonly("type", &KernelParameter::type)
      .def_readonly("offset", &KernelParameter::offset)
      .def_readonly("size", &KernelParameter::size)
      .def_readonly("is_pointer", &KernelParameter::is_pointer)
      .def_readonly("is_const", &KernelParameter::is_const, "A pointer to const or a const view.")
      .def_readonly("view_rank", &KernelParameter::view_rank,
                    "N of a spanwise::View<T, N>, else 0.")
      .def_property_readonly(
          "layout",
          [](const KernelParameter& self) {
            constexpr std::array names{"", "raw", "contiguous", "strided"};
            return names[static_cast<std::size_t>(self.layout)];
          },
          "How it accepts an array: \"raw\", \"contiguous\" or \"strided\"; \"\" for a value.")
      .def_property_readonly(
          "dtype",
          [](const KernelParameter& self) -> py::object {
            return self.dtype ? dtype_object(*self.dtype) : py::none();
          },
          "The dtype of the number, or of the elements of a pointer or view; None if unknown.")
      .def("__repr__", [](const KernelParameter& self) {
        return text("<", self.type.empty() ? "parameter" : self.type + " " + self.name, ", ",
                    self.size, " bytes at ", self.offset, ">");
      });
}

// The object spanwise.kernel_cache; the cache itself is global.
struct KernelCache {};

void bind_kernel_cache(py::module_& module) {
  using kernel_cache::Info;
  py::class_<Info> info(module, "KernelCacheInfo",
                        "Contents and statistics of the disk cache of compiled kernels.");
  info.def_readonly("path", &Info::path)
      .def_readonly("entries", &Info::entries)
      .def_readonly("bytes", &Info::bytes)
      .def_readonly("hits", &Info::hits, "In this process.")
      .def_readonly("misses", &Info::misses, "In this process.")
      .def_readonly("problem", &Info::problem, "Why the cache cannot be written; \"\" if it can.")
      .def("__repr__", [](const Info& self) {
        return text("<kernel cache ", self.path, ": ", self.entries, " entries, ", self.bytes,
                    " bytes, ", self.hits, " hits, ", self.misses, " misses",
                    self.problem.empty() ? "" : ", not kept: " + self.problem, ">");
      });
  py::class_<KernelCache> cache(module, "_KernelCache", "The disk cache of compiled kernels.");
  cache.def(
           "info", [](const KernelCache&) { return kernel_cache::info(); }, "A KernelCacheInfo.")
      .def(
          "clear", [](const KernelCache&) { kernel_cache::clear(); }, "Removes every entry.")
      .def_property_readonly("path", [](const KernelCache&) { return kernel_cache::info().path; });
  module.attr("kernel_cache") = KernelCache{};
}

py::tuple outline_of(const std::string& source) {
  py::list tokens, declarations;
  const SourceOutline outline = outline_source(source);
  for (const SourceOutline::Token& token : outline.tokens)
    tokens.append(py::make_tuple(token.text, token.line));
  for (const SourceOutline::Declaration& d : outline.declarations)
    declarations.append(py::make_tuple(d.kind, d.begin, d.end, d.head, d.names));
  return py::make_tuple(tokens, declarations);
}

// The kernels declared in a source text, for sw.wrap_cu and for declarations of host launchers.
py::list scan_text(const std::string& source) {
  py::list out;
  for (const DeclaredKernel& kernel : declared_kernels(source))
    out.append(py::make_tuple(kernel.name, kernel.line, kernel.is_template, kernel.has_barrier,
                              kernel.parameters));
  return out;
}

}  // namespace

SW_BIND(kernel_records) {
  bind_records(module);
  bind_kernel_cache(module);
  module.def("_header_on_cpu", &header_on_cpu, py::arg("name"),
             "\"known\", \"replaced\", \"left out\" or \"\": what the CPU does with an #include of "
             "`name` where no file of that name is found.");
  module.def("_outline", &outline_of, py::arg("source"),
             "[(text, line)] of the tokens, comments skipped and each directive one token, and "
             "[(kind, begin, end, head, names)] of the declarations at namespace scope.");
  module.def("_scan_kernels", &scan_text, py::arg("source"),
             "(name, line, is_template, has_barrier, [KernelParameter]) of each kernel.");
}

}  // namespace spanwise::python
