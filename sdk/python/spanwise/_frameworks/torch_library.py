# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m spanwise torch-library``: kernel ops as a library of PyTorch's stable ABI, which programs
load without Spanwise."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .. import _core
from .._core import ArgumentError
from ..kernels import _bundle
from ..kernels._hub_layout import digest_of, python_name, write_repository

#: The oldest PyTorch that loads a library, in the form of its headers, and what Hugging Face's kernels call
#: such libraries; the driver decides which GPUs they run on, not the version of CUDA in their names.
_TARGET_VERSION = "0x020a000000000000"
_VARIANTS = {"cpu": "cpu", "cu126": "cuda", "cu130": "cuda"}
_MODULE = '''\
"""Operators of PyTorch, compiled ahead of time."""

from pathlib import Path

import torch as _torch

_torch.ops.load_library(Path(__file__).with_name("ops.so"))
_ops = _torch.ops.NAMESPACE


def _set_gradients(op, inputs, outputs, gradients):
    """`gradients`: of an input, the operator that computes its derivative, and the names of what it takes."""

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, *(output if isinstance(output, tuple) else [output]))

    def backward(ctx, *derivatives):
        values = dict(zip(inputs + outputs, ctx.saved_tensors))
        for name, derivative in zip(outputs, derivatives):
            values["d" + name] = _torch.zeros_like(values[name]) if derivative is None else derivative
        found = []
        for name, is_needed in zip(inputs, ctx.needs_input_grad):
            if is_needed and name not in gradients:
                raise RuntimeError(f"{op}: there is no derivative with respect to {name}")
            found.append(
                gradients[name][0](*(values[key] for key in gradients[name][1])) if is_needed else None
            )
        return tuple(found)

    _torch.library.register_autograd(f"NAMESPACE::{op}", backward, setup_context=setup_context)


'''

# The library: libspanwise and the bundle as data, and an operator for each op, which calls libspanwise.
_SHIM = r"""
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <spanwise/op_sdk/op_library.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#define SW_DATA(name, file)                                                                \
  __asm__(".section .rodata\n.balign 64\nsw_" name ":\n.incbin \"" file "\"\nsw_" name "_end:\n" \
          ".byte 0\n.previous\n")
SW_DATA("runtime", "libspanwise.so");
SW_DATA("bundle", "ops.swb");
SW_DATA("declarations", "declarations");
extern "C" const char sw_runtime[], sw_runtime_end[], sw_bundle[], sw_bundle_end[],
    sw_declarations[], sw_declarations_end[];

namespace {

using torch::stable::Tensor;
using torch::headeronly::ScalarType;

constexpr std::pair<ScalarType, const char *> dtypes[] = {
    {ScalarType::Bool, "bool"},        {ScalarType::Byte, "uint8"},
    {ScalarType::Char, "int8"},        {ScalarType::Short, "int16"},
    {ScalarType::Int, "int32"},        {ScalarType::Long, "int64"},
    {ScalarType::Half, "float16"},     {ScalarType::BFloat16, "bfloat16"},
    {ScalarType::Float, "float32"},    {ScalarType::Double, "float64"},
    {ScalarType::ComplexFloat, "complex64"}, {ScalarType::ComplexDouble, "complex128"}};

struct Library {
  const sw_op_library_functions *functions = nullptr;
  sw_op_library *ops = nullptr;
  int (*current_stream)(std::int32_t device, void **stream) = nullptr;

  Library() {
    // The descriptor stays open: the loader recognizes a library by its path.
    const int file = ::memfd_create("libspanwise.so", MFD_CLOEXEC);
    const std::size_t bytes = sw_runtime_end - sw_runtime;
    std::size_t done = 0;
    while (file >= 0 && done < bytes) {
      const ssize_t count = ::write(file, sw_runtime + done, bytes - done);
      if (count <= 0) break;
      done += count;
    }
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    void *const runtime = done == bytes ? ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    using Get = const sw_op_library_functions *(*)();
    auto *const get = runtime ? (Get)::dlsym(runtime, SW_OP_LIBRARY_SYMBOL) : nullptr;
    if (!get) {
      const char *const reason = ::dlerror();
      throw std::runtime_error(std::string("SW_NAMESPACE: cannot load the library's own runtime: ") +
                               (reason ? reason : "no memory"));
    }
    functions = get();
    check([&](char *error, std::uint64_t capacity) {
      return functions->open(sw_bundle, sw_bundle_end - sw_bundle, sw_declarations,
                             sw_declarations_end - sw_declarations, &ops, error, capacity);
    });
    if (void *const cuda = ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD))
      current_stream = (decltype(current_stream))::dlsym(cuda, "aoti_torch_get_current_cuda_stream");
  }

  template <class F>
  static void check(F &&call) {
    char error[2048];
    if (call(error, sizeof error) != 0) throw std::runtime_error(error);
  }
};

Library &library() {
  static Library loaded;
  return loaded;
}

ScalarType type_of(const char *name) {
  for (const auto &[type, dtype] : dtypes)
    if (std::strcmp(dtype, name) == 0) return type;
  throw std::runtime_error(std::string("SW_NAMESPACE: PyTorch has no dtype ") + name);
}

sw_library_tensor described(const Tensor &tensor, bool has_data) {
  sw_library_tensor out{};
  const ScalarType type = tensor.scalar_type();
  for (const auto &[known, dtype] : dtypes)
    if (known == type) std::strncpy(out.dtype, dtype, sizeof out.dtype - 1);
  if (out.dtype[0] == 0 || tensor.dim() > SW_LIBRARY_MAX_RANK)
    throw std::runtime_error("SW_NAMESPACE: expected a tensor of a numeric dtype and at most 16 axes");
  out.rank = static_cast<std::int32_t>(tensor.dim());
  std::copy_n(tensor.sizes().data(), out.rank, out.shape);
  std::copy_n(tensor.strides().data(), out.rank, out.strides);
  if (has_data) out.data = tensor.data_ptr();
  out.device = tensor.is_cuda() ? tensor.get_device_index() : -1;
  return out;
}

// `op` with `input_count` inputs, on tensors with data or, to find shapes, without.
template <int op, int input_count, int output_count, bool has_data>
void call(StableIValue *stack, std::uint64_t, std::uint64_t) {
  Library &loaded = library();
  std::vector<Tensor> tensors, results;
  std::array<sw_library_tensor, input_count> inputs;
  std::array<sw_library_tensor, output_count> outputs;
  for (int i = 0; i < input_count; ++i)
    tensors.push_back(torch::stable::detail::to<Tensor>(stack[i]));
  for (int i = 0; i < input_count; ++i) inputs[i] = described(tensors[i], has_data);
  for (int i = 1; has_data && i < input_count; ++i)
    if (inputs[i].device != inputs[0].device)
      throw std::runtime_error("SW_NAMESPACE: expected all tensors on one device");
  Library::check([&](char *error, std::uint64_t capacity) {
    return loaded.functions->shapes(loaded.ops, op, inputs.data(), outputs.data(), error, capacity);
  });
  for (sw_library_tensor &output : outputs) {
    if (std::any_of(output.shape, output.shape + output.rank, [](auto n) { return n < 0; }))
      throw std::runtime_error("SW_NAMESPACE: the shape of an output depends on values");
    results.push_back(torch::stable::new_empty(
        tensors[0], torch::headeronly::IntHeaderOnlyArrayRef(output.shape, output.rank),
        type_of(output.dtype)));
    if (has_data) output = described(results.back(), true);
  }
  if (has_data) {
    void *stream = nullptr;
    if (inputs[0].device >= 0 &&
        (!loaded.current_stream || loaded.current_stream(inputs[0].device, &stream) != 0))
      throw std::runtime_error("SW_NAMESPACE: PyTorch does not say its current stream");
    Library::check([&](char *error, std::uint64_t capacity) {
      return loaded.functions->run(loaded.ops, op, inputs.data(), outputs.data(), stream, error,
                                   capacity);
    });
  }
  for (int i = 0; i < output_count; ++i)
    stack[i] = torch::stable::detail::from(results[i]);
}

}  // namespace

STABLE_TORCH_LIBRARY_FRAGMENT(SW_NAMESPACE, m) {
SW_DEFINITIONS
}
STABLE_TORCH_LIBRARY_IMPL(SW_NAMESPACE, CPU, m) {
SW_COMPUTE
}
STABLE_TORCH_LIBRARY_IMPL(SW_NAMESPACE, CUDA, m) {
SW_COMPUTE
}
STABLE_TORCH_LIBRARY_IMPL(SW_NAMESPACE, Meta, m) {
SW_SHAPES
}
"""


def torch_library(
    ops: Sequence[Any],
    output: str | os.PathLike[str],
    archs: Sequence[str] | None = None,
    *,
    namespace: str | None = None,
    dtypes: Mapping[str, Any] | None = None,
    cpu: bool = True,
) -> list[str]:
    """Writes a library with the operators ``<namespace>::<op>`` of kernel ops, and of their gradients that
    are kernel ops, compiled ahead of time as by ``sw.compile``; returns the operators' names. The namespace
    is by default the name of the file without "lib".

    ``torch.ops.load_library(output)`` loads it in PyTorch 2.10 and newer, of any Python, where neither
    Spanwise nor a compiler is installed. The operators take tensors of the dtypes that were compiled, on
    the CPU or a GPU, and have rules for shapes; ``torch.library.register_autograd`` gives them
    derivatives. Raises what ``sw.compile`` raises, ArgumentError for a name that PyTorch does not take,
    and DeviceError where the host compiler fails.
    """
    path = Path(output)
    name = namespace or path.name.split(".")[0].removeprefix("lib")
    all_ops = dict(_with_gradients(ops))
    for each in (name, *all_ops):
        if not each.isidentifier():
            raise ArgumentError(
                f"torch-library: expected a name of letters, digits and underscores, got {each!r}"
            )
    if not all_ops:
        raise ArgumentError("torch-library: expected ops made by kernel_op, found none")
    bundle = _bundle.compile(
        list(ops), archs if archs is not None else _bundle.ARCHS, cpu, dtypes=dtypes
    )
    with TemporaryDirectory() as folder:
        files = {
            "ops.swb": bytes(bundle),
            "declarations": _count(len(all_ops)) + b"".join(map(_encoded, all_ops.values())),
            "ops.cpp": _shim(name, all_ops).encode(),
            "libspanwise.so": _own_library().read_bytes(),
        }
        for file, contents in files.items():
            Path(folder, file).write_bytes(contents)
        _compile(Path(folder), path.absolute())
    return list(all_ops)


def _with_gradients(ops: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, declaration) of the ops and of their gradients that are ops."""
    for op in ops:
        declaration = _bundle.declaration_of(op)
        yield declaration["name"], declaration
        if isinstance(declaration["grad"], Mapping):
            yield from _with_gradients(list(declaration["grad"].values()))


# ---- The encoding that sdk/src/op_sdk/op_library.cpp reads ----


def _count(number: int) -> bytes:
    return b"%d " % number


def _text(text: str | bytes) -> bytes:
    data = text if isinstance(text, bytes) else text.encode()
    return _count(len(data)) + data


def _encoded(declaration: Mapping[str, Any]) -> bytes:
    import numpy

    parts = [_text(declaration[key]) for key in ("name", "source", "kernel", "shared")]
    for key in ("inputs", "outputs", "arguments", "block", "grid", "options"):
        parts += [_count(len(declaration[key])), *map(_text, declaration[key])]
    scalars = {name: numpy.asarray(value) for name, value in declaration["scalars"].items()}
    parts.append(_count(len(scalars)))
    for name, value in scalars.items():
        parts += [_text(name), _text(str(value.dtype)), _text(value.tobytes())]
    parts.append(_count(len(declaration["overwrites"])))
    for pair in declaration["overwrites"].items():
        parts += map(_text, pair)
    return b"".join(parts)


# ---- The library ----


def _shim(namespace: str, ops: Mapping[str, dict[str, Any]]) -> str:
    definitions, bodies = [], {"true": "", "false": ""}
    for number, (name, declaration) in enumerate(ops.items()):
        counts = len(declaration["inputs"]), len(declaration["outputs"])
        if not counts[0]:
            raise ArgumentError(f"torch-library: {name}: expected an op with inputs")
        inputs = ", ".join(f"Tensor {each}" for each in _names(declaration["inputs"]))
        results = "Tensor" if counts[1] == 1 else f"({', '.join(['Tensor'] * counts[1])})"
        definitions.append(f'  m.def("{name}({inputs}) -> {results}");')
        for has_data in bodies:
            arguments = f"{number}, {counts[0]}, {counts[1]}, {has_data}"
            bodies[has_data] += f'  m.impl("{name}", &call<{arguments}>);\n'
    return (
        _SHIM.replace("SW_DEFINITIONS", "\n".join(definitions))
        .replace("SW_COMPUTE\n", bodies["true"])
        .replace("SW_SHAPES\n", bodies["false"])
        .replace("SW_NAMESPACE", namespace)
    )


def _own_library() -> Path:
    """The library that this process has loaded."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.partition("/")
        if re.search(r"/libspanwise\.so[.\d]*$", line):
            return Path(path[1] + path[2])
    raise _core.DeviceError("torch-library: libspanwise.so is not a library of its own")


def _compile(folder: Path, output: Path) -> None:
    spec = find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(
            "torch-library: expected PyTorch with its headers, which is not installed; pip install torch"
        )
    torch = Path(spec.submodule_search_locations[0])
    here = Path(__file__).resolve()  # in an installed package, or in the source tree
    include = next(
        folder
        for folder in (here.parents[1] / "include", here.parents[3] / "include", here.parent)
        if (folder / "spanwise" / "op_sdk" / "op_library.h").is_file() or folder == here.parent
    )
    compiler = shlex.split(os.environ.get("CXX") or "g++")
    command = [*compiler, "-std=c++20", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-w"]
    command += [f"-DTORCH_TARGET_VERSION={_TARGET_VERSION}", f"-I{include}"]
    command += [f"-I{torch / 'include'}", "ops.cpp", "-o", str(output)]
    command += [f"-L{torch / 'lib'}", "-Wl,--no-as-needed", "-ltorch_cpu", "-ldl"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise _core.DeviceError(
            f"torch-library: {compiler[0]} could not compile the library:\n{done.stderr[:4000]}"
        )


def torch_repository(
    ops: Sequence[Any], folder: Path, name: str, archs: Sequence[str], **options: Any
) -> list[str]:
    """Writes a repository for Hugging Face's package kernels with such a library."""
    declarations = dict(_with_gradients(ops))
    digest = digest_of({key: _encoded(value) for key, value in declarations.items()})
    namespace = f"{python_name(name)}_{digest}"
    with TemporaryDirectory() as temporary:
        library = Path(temporary, "ops.so")
        names = torch_library(ops, library, archs, namespace=namespace, **options)
        module = _MODULE + "".join(f"{op} = _ops.{op}\n" for op in names)
        module += "".join(map(_gradients_of, declarations.values()))
        module = module.replace("NAMESPACE", namespace)
        files = {"__init__.py": module.encode(), "ops.so": library.read_bytes()}
    system = f"{platform.machine()}-linux"
    variants = {f"torch-stable-abi210-{key}-{system}": kind for key, kind in _VARIANTS.items()}
    write_repository(folder, name, variants, files)
    return names


def _gradients_of(declaration: Mapping[str, Any]) -> str:
    """The call of _set_gradients() for an op whose gradients are ops."""
    if not isinstance(declaration["grad"], Mapping):
        return ""
    gradients = ", ".join(
        f"{name!r}: (_ops.{inner['name']}, {_names(inner['inputs'])!r})"
        for name, op in declaration["grad"].items()
        if (inner := _bundle.declaration_of(op))
    )
    names = [_names(declaration[key]) for key in ("inputs", "outputs")]
    return f"_set_gradients({declaration['name']!r}, {names[0]!r}, {names[1]!r}, {{{gradients}}})\n"


def _names(declared: Sequence[str]) -> list[str]:
    return [each.partition(":")[0].strip() for each in declared]


# ---- python -m spanwise torch-library ----


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m spanwise torch-library",
        description="Compiles the kernel ops of a Python file to a library for PyTorch 2.10 and newer, which "
        "loads without Spanwise. Needs no GPU.",
    )
    parser.add_argument("file", help="a Python file that makes ops by kernel_op")
    parser.add_argument("-o", "--output", required=True, help="the library, libops.so")
    parser.add_argument("--namespace", help="of the operators; default: the name of the library")
    _bundle.add_target_options(parser)
    given = parser.parse_args(arguments)
    try:
        ops, archs = _bundle.ops_of_file(given.file), _bundle.archs_of(given)
        targets: dict[str, Any] = {"dtypes": _bundle.dtypes_of(given), "cpu": not given.no_cpu}
        if given.kernels is not None:
            names = torch_repository(ops, Path(given.output), given.kernels, archs, **targets)
            print(f"{given.output}: a repository for kernels; operators {', '.join(names)}")
            return 0
        names = torch_library(ops, given.output, archs, namespace=given.namespace, **targets)
    except (OSError, ImportError, _core.Error) as error:
        print(f"spanwise torch-library: {error}", file=sys.stderr)
        return 1
    print(f"{given.output}: {os.path.getsize(given.output)} bytes; operators {', '.join(names)}")
    return 0
