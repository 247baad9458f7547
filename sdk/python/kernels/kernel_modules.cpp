// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/kernels/kernel_function.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/bundle_files.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/source_outline.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/stream.hpp"

/// Modules of kernels, SourceModule and Module.load, and the records that describe kernels and the
/// disk cache.
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
  info.def_property_readonly("path", [](const Info& self) { return system_text(self.path); })
      .def_readonly("entries", &Info::entries)
      .def_readonly("bytes", &Info::bytes)
      .def_readonly("hits", &Info::hits, "In this process.")
      .def_readonly("misses", &Info::misses, "In this process.")
      .def_property_readonly(
          "problem", [](const Info& self) { return readable_text(self.problem); },
          "Why the cache cannot be written; \"\" if it can.")
      .def("__repr__", [](const Info& self) {
        return readable_text(text("<kernel cache ", self.path, ": ", self.entries, " entries, ",
                                  self.bytes, " bytes, ", self.hits, " hits, ", self.misses,
                                  " misses",
                                  self.problem.empty() ? "" : ", not kept: " + self.problem, ">"));
      });
  py::class_<KernelCache> cache(module, "_KernelCache", "The disk cache of compiled kernels.");
  cache.def(
           "info", [](const KernelCache&) { return kernel_cache::info(); }, "A KernelCacheInfo.")
      .def(
          "clear", [](const KernelCache&) { kernel_cache::clear(); }, "Removes every entry.")
      .def_property_readonly(
          "path", [](const KernelCache&) { return system_text(kernel_cache::info().path); });
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

/// A module and the arguments from which it was made, for its pickle.
struct RecordedModule : Module {
  RecordedModule(Module module, pybind11::tuple from_arguments)
      : Module(std::move(module)), arguments(std::move(from_arguments)) {}
  pybind11::tuple arguments;
};

struct RecordedSourceModule : RecordedModule {
  RecordedSourceModule(const SourceModule& module, pybind11::tuple from_arguments)
      : RecordedModule(module, std::move(from_arguments)), from_cache(module.from_cache()) {}
  bool from_cache;
};

// A list of strings or paths; none for None. Throws ArgumentError for other items and for a single
// string, which Python would iterate by characters.
std::vector<std::string> strings_from(py::handle object, const char* argument) {
  std::vector<std::string> out;
  if (object.is_none()) return out;
  const auto is_text = [](py::handle item) {
    return py::isinstance<py::str>(item) || py::hasattr(item, "__fspath__");
  };
  if (is_text(object) || !py::isinstance<py::iterable>(object)) {
    const std::string got(py::repr(object));
    fail<ArgumentError>("SourceModule: expected ", argument, " as a list of strings, got ", got,
                        is_text(object) ? "; for a single one write [" + got + "]" : "");
  }
  for (const py::handle item : object) {
    if (!is_text(item))
      fail<ArgumentError>("SourceModule: expected each of ", argument, " as a string, got ",
                          std::string(py::repr(item)));
    out.push_back(system_bytes(item));
  }
  return out;
}

// The list link=: CUDA C++ as str, compiled device code as objects with the buffer protocol.
std::vector<std::string> link_inputs(py::handle object) {
  std::vector<std::string> out;
  const bool is_single = py::isinstance<py::str>(object) || PyObject_CheckBuffer(object.ptr()) != 0;
  if (is_single || !py::isinstance<py::iterable>(object))
    fail<ArgumentError>(
        "SourceModule: expected link as a list of sources (str) and compiled device "
        "code (bytes), got ",
        std::string(py::str(py::type::of(object).attr("__name__"))),
        is_single ? "; put a single one in a list: link=[x]" : "");
  for (const py::handle item : object) {
    if (py::isinstance<py::str>(item)) {
      out.push_back(item.cast<std::string>());
    } else if (PyObject_CheckBuffer(item.ptr()) != 0) {
      out.push_back(py::bytes(owned(PyBytes_FromObject(item.ptr()))));
    } else {
      fail<ArgumentError>(
          "SourceModule: expected each of link as CUDA C++ (str) or compiled device "
          "code (bytes), got ",
          std::string(py::repr(item)),
          "; of a file give its contents, path.read_text() or path.read_bytes()");
    }
  }
  return out;
}

// The bytes of a source file.
std::string read_source(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.good() && text.empty())
    fail<ArgumentError>("SourceModule: expected path to name a CUDA C++ file, got ", path,
                        ", which cannot be read: ", std::system_category().message(errno));
  return text;
}

// The object itself; for an iterator, which can be read only once, a tuple of its items.
py::object rereadable(py::handle object) {
  const auto items = py::reinterpret_borrow<py::object>(object);
  return PyIter_Check(object.ptr()) != 0 ? py::object(py::tuple(items)) : items;
}

// Appends `option` to `options` if `value` is `other`, the alternative to "auto".
void add_choice(const char* keyword, const std::string& value, const char* other,
                const char* option, std::vector<std::string>& options) {
  if (value == other)
    options.emplace_back(option);
  else if (value != "auto")
    fail<ArgumentError>("SourceModule: ", keyword, ": expected \"auto\" or \"", other, "\", got \"",
                        value, '"');
}

std::unique_ptr<RecordedSourceModule> compile_source(py::handle source, py::handle options,
                                                     py::handle names, py::handle include_dirs,
                                                     py::handle device, bool keep, py::handle link,
                                                     py::handle path, const std::string& cpu_warps,
                                                     const std::string& cpu_barriers) {
  const py::object units = rereadable(link);
  ModuleOptions request{.options = strings_from(options, "options"),
                        .names = strings_from(names, "names"),
                        .include_dirs = strings_from(include_dirs, "include_dirs"),
                        .keep = keep,
                        .link = link_inputs(units),
                        .is_covered = true};
  add_choice("cpu_warps", cpu_warps, "step", "-DSW_CPU_WARPS=step", request.options);
  add_choice("cpu_barriers", cpu_barriers, "fibers", "-DSW_CPU_BARRIERS=fibers", request.options);
  py::tuple arguments = py::make_tuple(source, request.options, request.names, request.include_dirs,
                                       device, keep, units, path);
  if (!device.is_none()) request.device = device_from(device);
  if (source.is_none() == path.is_none())
    fail<ArgumentError>(
        "SourceModule: expected either source, a text, or path, a file with the text, got ",
        source.is_none() ? "neither" : "both");
  std::string text;
  if (path.is_none()) {
    text = value_of<std::string>(source, "SourceModule: source");
  } else {
    const std::filesystem::path file = system_bytes(path);
    text = read_source(file.string());
    request.file_name = file.filename().string();
    request.include_dirs.push_back(file.has_parent_path() ? file.parent_path().string() : ".");
  }
  return std::make_unique<RecordedSourceModule>(
      without_gil([&] { return SourceModule(text, std::move(request)); }), std::move(arguments));
}

RecordedModule load_module(py::handle source, py::handle device) {
  std::optional<Device> target;
  if (!device.is_none()) target = device_from(device);
  if (PyObject_CheckBuffer(source.ptr())) {
    const py::bytes bytes = owned(PyBytes_FromObject(source.ptr()));
    const std::string_view image = bytes;
    return {without_gil([&] { return Module::load(std::as_bytes(std::span(image)), target); }),
            py::make_tuple(bytes, device)};
  }
  const py::object path = owned(PyOS_FSPath(source.ptr()));
  const std::string name = system_bytes(path);
  return {without_gil([&] { return Module::load_file(name, target); }),
          py::make_tuple(path, device)};
}

std::string repr_of(const Module& module, const char* kind) {
  std::string names;
  for (const std::string& name : module.function_names())
    names += (names.empty() ? "" : ", ") + name;
  return text("<", kind, " on ", module.device(), ": ", names, ">");
}

// The result of __reduce__, by a function of kernels/_pickle.py.
py::object reduce_by(const char* function, const py::tuple& arguments) {
  return py::module_::import("spanwise.kernels._pickle").attr(function)(*arguments);
}

void bind_module(py::module_& module) {
  py::class_<RecordedModule> type(module, "Module", "Compiled kernels, loaded on one device.");
  type.def_static(
      "load", &load_module, py::arg("path_or_bytes"), py::arg("device") = py::none(),
      "Loads a cubin, PTX, fat binary or LTO-IR, or a bundle of sw.compile, also on the "
      "CPU. Raises DeviceError,\nwhich lists its architectures, if none runs on the "
      "device.");
  type.def(
      "get_function",
      [](const py::object& self, const std::string& name) {
        // For pickling: the arguments of reduce_kernel() in kernels/_pickle.py. None: no parameters
        // were declared by bind().
        const py::tuple origin = py::make_tuple(self, name, py::none());
        return owned(
            wrap_kernel(self.cast<const RecordedModule&>().get_function(name), origin.ptr()));
      },
      py::arg("name"),
      "The kernel of that name, a KernelFunction. Raises ArgumentError, which lists the kernels of "
      "the module.");
  type.def(
      "get_global",
      [](const RecordedModule& self, const std::string& name) { return self.get_global(name); },
      py::arg("name"),
      "A __device__ or __constant__ variable as a uint8 array that shares its memory.");
  const auto handle = [](const RecordedModule& self) { return self.handle(); };
  type.def_property_readonly("function_names",
                             [](const RecordedModule& self) { return self.function_names(); });
  type.def_property_readonly("device", [](const RecordedModule& self) { return self.device(); });
  type.def_property_readonly("handle", handle, "The CUmodule as an integer; 0 on the CPU.");
  type.def("__int__", handle);
  type.def("__repr__", [](const RecordedModule& self) { return repr_of(self, "Module"); });
  type.def("__reduce__", [](const RecordedModule& self) {
    return reduce_by("reduce_loaded_module", self.arguments);
  });
}

void bind_source_module(py::module_& module) {
  py::class_<RecordedSourceModule, RecordedModule> type(
      module, "SourceModule",
      "CUDA C/C++ text compiled for one device: by NVRTC for a GPU, by the system's C++ "
      "compiler for the CPU.");
  type.def(
      py::init(&compile_source), py::arg("source") = py::none(), py::arg("options") = py::tuple(),
      py::arg("names") = py::tuple(), py::arg("include_dirs") = py::tuple(),
      py::arg("device") = py::none(), py::arg("keep") = false, py::arg("link") = py::tuple(),
      py::arg("path") = py::none(), py::arg("cpu_warps") = "auto", py::arg("cpu_barriers") = "auto",
      "`names` lists the template instances to compile, such as \"scale<float>\". `keep` keeps the "
      "compiler's files. `path` names a file to compile in place of `source`; its folder is the "
      "last include\nfolder, and messages give its name.\n\n"
      "`link` lists further translation units: sources (str), each compiled separately with the "
      "same options,\nand on a GPU compiled device code (bytes: relocatable cubins, PTX, LTO-IR, "
      "fat binaries, objects,\narchives). extern declarations are resolved between them. Raises "
      "CompileError with .log and\n.source, also for link errors.\n\n"
      "On the CPU, the lanes of a warp execute each store together where the source seems to rely "
      "on it (stores\nthrough volatile), and with `cpu_warps=\"step\"` in all kernels. Kernels "
      "with barriers run as\n"
      "loops between the barriers where the source shows that all threads of a block reach them; "
      "with\n"
      "`cpu_barriers=\"fibers\"`, each thread is a fiber.");
  type.def_readonly("from_cache", &RecordedSourceModule::from_cache,
                    "Whether the binary came from the disk cache.");
  type.def("__repr__",
           [](const RecordedSourceModule& self) { return repr_of(self, "SourceModule"); });
  type.def("__reduce__", [](const RecordedSourceModule& self) {
    return reduce_by("reduce_source_module", self.arguments);
  });
}

// Sources of bundles are tuples (text, file_name, options, names, include_dirs).
py::bytes compile_bundle(const std::vector<py::tuple>& sources,
                         const std::vector<std::string>& targets, std::string metadata) {
  std::vector<bundles::Source> all;
  for (const py::tuple& source : sources)
    all.emplace_back(source[0].cast<std::string>(),
                     ModuleOptions{.options = strings_from(source[2], "options"),
                                   .names = strings_from(source[3], "names"),
                                   .include_dirs = strings_from(source[4], "include_dirs"),
                                   .file_name = source[1].cast<std::string>()});
  return without_gil([&] { return bundles::compile(all, targets, std::move(metadata)); });
}

// (metadata, [(text, file_name, options, names, targets)]).
py::tuple read_bundle(const py::bytes& contents, const std::string& name) {
  const bundles::Contents bundle = bundles::read(std::string_view(contents), name);
  py::list units;
  for (const auto& [source, targets] : bundle.units)
    units.append(py::make_tuple(source.first, source.second.file_name, source.second.options,
                                source.second.names, targets));
  return py::make_tuple(bundle.metadata, units);
}

void bind_bundles(py::module_& module) {
  module.def("_compile_bundle", &compile_bundle);
  module.def("_read_bundle", &read_bundle);
  module.def("_attach_bundle", [](const py::bytes& contents, const std::string& name) {
    bundles::attach(std::string_view(contents), name);
  });
}

void bind_helpers(py::module_& module) {
  module.def(
      "_order_use",
      [](const Stream& stream, const Array& array, bool writes) {
        order_use(stream, array, writes);
      },
      py::arg("stream"), py::arg("array"), py::arg("writes"),
      "Makes later work on `stream` wait for all work queued on the array, and records the stream "
      "as a reader or writer of the array.");
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
  module.def("_warp_step_lines", &warp_step_lines, py::arg("source"),
             "The lines that rely on the lanes of a warp executing each statement together.");
}

SW_BIND(kernels, streams) {  // after the class Stream, which the signatures name
  bind_module(module);
  bind_source_module(module);
  bind_helpers(module);
  bind_bundles(module);
}

}  // namespace spanwise::python
