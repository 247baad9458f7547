# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.compiler``. Spanwise compiles: NVRTC for a GPU, the host's compiler for the
CPU; nvcc is not used."""

import os

import spanwise as sw

from ._devices import CompileError, pycuda_compile_error
from ._modules import Module, with_spanwise_headers, with_texture_objects
from ._unsupported import module_getattr

__all__ = [
    "DEFAULT_NVCC_FLAGS",
    "CompileError",
    "DynamicModule",
    "DynamicSourceModule",
    "SourceModule",
]

DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()


def _options(options, arch):
    """The `options` of nvcc, by default PyCUDA's, that Spanwise's compilers take, and `arch`."""
    kept = DEFAULT_NVCC_FLAGS if options is None else options
    return [*kept, *([f"-arch={arch}"] if arch else [])]


def _compiled(source, **arguments):
    try:
        return sw.SourceModule(source, **arguments)
    except sw.CompileError as error:
        raise pycuda_compile_error(error, "a SourceModule") from error


class SourceModule(Module):
    """A module compiled from CUDA C++ text.

    Kernels are found by their plain names whether `no_extern_c` is given or not. `options` are those
    of nvcc; those for its host compiler and linker are ignored, as are `nvcc`, `code` and
    `cache_dir` (spanwise.config.cache_dir is the folder of compiled kernels). Texture references
    become texture objects. Raises CompileError.
    """

    def __init__(
        self, source, nvcc="nvcc", options=None, keep=False, no_extern_c=False, arch=None,
        code=None, cache_dir=None, include_dirs=(),
    ):  # fmt: skip
        text, textures = with_texture_objects(with_spanwise_headers(str(source)))
        options = _options(options, arch)
        module = _compiled(text, options=options, include_dirs=list(include_dirs), keep=keep)
        super().__init__(module, textures)


class DynamicModule(Module):
    """A module linked from several sources and binaries: add_source(), add_data(), then link()."""

    def __init__(
        self, nvcc="nvcc", link_options=None, keep=False, no_extern_c=False, arch=None,
        code=None, cache_dir=None, include_dirs=(), message_handler=None,
        log_verbose=False, cuda_libdir=None,
    ):  # fmt: skip
        self._sources, self._options = [], []
        self._arguments = {"keep": keep, "include_dirs": list(include_dirs)}
        self._arch = arch

    def add_source(self, source, nvcc_options=None, name="kernel.ptx"):
        self._sources.append(with_spanwise_headers(str(source)))
        self._options += [
            option for option in _options(nvcc_options, self._arch) if option not in self._options
        ]
        return self

    def add_data(self, data, input_type=None, name="unknown"):
        self._sources.append(bytes(data))
        return self

    def add_file(self, filename, input_type=None):
        with open(filename, "rb") as file:
            return self.add_data(file.read())

    def add_stdlib(self, libname):
        """No effect: the device runtime is linked where it is needed."""
        return self

    def link(self):
        """Compiles and links what was added. Raises CompileError."""
        texts = [part for part in self._sources if isinstance(part, str)] or [""]
        linked = texts[1:] + [part for part in self._sources if not isinstance(part, str)]
        super().__init__(_compiled(texts[0], options=self._options, link=linked, **self._arguments))
        return self


class DynamicSourceModule(DynamicModule):
    """A module whose kernels launch kernels, on a GPU. On the CPU it raises CompileError."""

    def __init__(
        self, source, nvcc="nvcc", options=None, keep=False, no_extern_c=False, arch=None,
        code=None, cache_dir=None, include_dirs=(), cuda_libdir=None,
    ):  # fmt: skip
        super().__init__(keep=keep, arch=arch, include_dirs=include_dirs)
        self.add_source(source, nvcc_options=options)
        self.link()


__getattr__ = module_getattr("pycuda.compiler", __name__)
