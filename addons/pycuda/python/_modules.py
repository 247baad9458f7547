# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Loaded modules, whose variables have an address and a size."""

import spanwise as sw

from ._launch import Function
from ._memory import DeviceAllocation, registered
from ._textures import TextureReference

__all__ = ["Module", "module_from_buffer", "module_from_file"]


class Module:
    """Kernels and variables of a spanwise.Module, loaded on one device. `textures` has the texture
    references that its source declares: {name: TextureDeclaration}."""

    def __init__(self, module, textures=None):
        self.module = module
        self._globals, self.textures = {}, {}
        for name, declared in (textures or {}).items():
            self.textures[name] = TextureReference(declared, self.get_global(name)[0])

    def get_function(self, name):
        """The kernel of that name. Raises spanwise.Error if there is none."""
        return Function(self.module.get_function(name), self)

    def get_global(self, name):
        """(address, size in bytes) of a __device__ or __constant__ variable."""
        if name not in self._globals:
            self._globals[name] = registered(DeviceAllocation(self.module.get_global(name)))
        allocation = self._globals[name]
        return int(allocation), allocation.nbytes

    def get_texref(self, name):
        """The TextureReference of that name. Raises NotSupportedError for a name that the source
        does not declare with an element type and a rank that textures have."""
        if name not in self.textures:
            raise sw.NotSupportedError(
                f"get_texref({name!r}): expected one of {sorted(self.textures)}; pass a spanwise.Texture as an "
                "argument of type cudaTextureObject_t"
            )
        return self.textures[name]

    def get_surfref(self, name):
        """Always raises spanwise.NotSupportedError: CUDA 12 removed surface references."""
        raise sw.NotSupportedError(
            f"get_surfref({name!r}): CUDA 12 removed surface references; declare a parameter "
            "cudaSurfaceObject_t and pass a spanwise.Surface"
        )

    @property
    def handle(self):
        return self.module.handle


def module_from_file(filename):
    """Loads a cubin, PTX or fat binary from a file, for a GPU."""
    return Module(sw.driver.module_from_file(filename))


def module_from_buffer(buffer, options=(), message_handler=None):
    """Loads a cubin, PTX or fat binary from memory, for a GPU."""
    return Module(sw.driver.module_from_buffer(buffer, options, message_handler))
