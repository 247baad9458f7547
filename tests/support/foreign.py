# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Other libraries' arrays for tests: the real library where it can work here, else a stand-in.

Each says in the library's own words how an array is made, read and written, so that what a bridge
did can be seen without Spanwise.
"""

import os
import sys
import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from support import cuda_process, gnumpy_source, stand_pycuda

import spanwise as sw

BUILD = Path(__file__).parents[2] / "build" / "foreign"


class Missing(Exception):
    """Why a library cannot be had here, in a sentence."""


def has_gpu():
    return any(device.kind == "cuda" for device in sw.devices())


@dataclass
class Library:
    """A library whose arrays hold anything that NumPy's do, unless a subclass says otherwise."""

    name: str
    module: Any
    device: str  #: where its arrays are
    is_fake: bool = False
    #: Dtypes that it has, of those that the tests use.
    dtypes: ClassVar[tuple] = (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
    is_mutable: ClassVar[bool] = True
    has_views: ClassVar[bool] = True

    def holds_at_all(self, array):
        """Whether it has arrays of this kind, maybe as a copy."""
        return True

    def holds(self, array):
        """Whether it can hold the memory of an array on its device as it is, said from what is known
        of the library and not asked of Spanwise."""
        return array.flags.writeable

    def shares(self, array):
        """Whether it can hold the array's memory as it is."""
        return str(array.device) == self.device and self.holds(array)

    def makes(self, values):
        """Whether make() can make these."""
        return True

    def make(self, values):
        """A new array with these values."""
        raise NotImplementedError

    def can_write(self, array):
        """Whether write() can write to such an array."""
        return self.is_mutable

    def read(self, array):
        """Its values as the library itself gives them out."""
        raise NotImplementedError

    def write(self, array, value):
        """Sets every element, in place, and waits for it."""
        self.fill(array, value)
        sw.synchronize()

    def fill(self, array, value):
        raise NotImplementedError


def steps(array):
    """(extent, stride) of the axes where the stride counts."""
    pairs = zip(array.shape, array.strides, strict=True)
    return [(extent, stride) for extent, stride in pairs if extent > 1 and array.size]


class Numpy(Library):
    def holds(self, array):
        return True

    def make(self, values):
        return np.array(values)

    def read(self, array):
        return np.array(array)

    def fill(self, array, value):
        array[...] = value


class OfBothDevices(Library):
    """One that has arrays of the CPU beside those of its own device."""

    def shares(self, array):
        return str(array.device) in ("cpu", self.device) and self.holds(array)


class Torch(OfBothDevices):
    dtypes = tuple(d for d in Library.dtypes if not d.startswith("uint") or d == "uint8")

    def holds(self, array):
        return array.flags.writeable and all(stride >= 0 for _, stride in steps(array))

    def make(self, values):
        return self.module.from_numpy(np.array(values)).to(self.device)

    def read(self, array):
        return array.cpu().numpy().copy()

    def fill(self, array, value):
        array.fill_(value)


class Jax(OfBothDevices):
    dtypes = tuple(d for d in Library.dtypes if not d.endswith("64") or d == "complex64")
    is_mutable = False
    has_views = False

    def holds(self, array):
        """Packed in any order of the axes, and aligned to 64 bytes on the CPU, to 16 on a GPU."""
        step = array.itemsize
        for extent, stride in sorted(steps(array), key=lambda pair: pair[1]):
            if stride != step:
                return False
            step *= extent
        alignment = 64 if array.device.kind == "cpu" else 16
        return array.size == 0 or array.ptr % alignment == 0

    def make(self, values):
        return self.module.device_put(np.array(values))

    def read(self, array):
        # np.array(x) may give values that JAX has kept.
        if array.platform() == "cpu":
            return np.array(np.from_dlpack(array))
        return np.array(self.module.numpy.copy(array))


class Tensorflow(Library):
    is_mutable = False
    has_views = False

    def holds(self, array):
        """C order at a multiple of 64 bytes."""
        return array.size == 0 or (array.flags.c_contiguous and array.ptr % 64 == 0)

    def make(self, values):
        return self.module.constant(np.array(values))

    def read(self, array):
        return np.array(array.numpy())


class Cupy(Library):
    def make(self, values):
        return self.module.array(values)

    def read(self, array):
        return self.module.asnumpy(array)

    def fill(self, array, value):
        array.fill(value)


class Numba(Library):
    def holds(self, array):
        return array.flags.writeable and all(stride != 0 for _, stride in steps(array))

    def make(self, values):
        return self.module.to_device(np.ascontiguousarray(values))

    def can_write(self, array):
        return False  # Numba fills packed arrays only

    def read(self, array):
        # Numba copies contiguous arrays only.
        return sw.asarray(array).numpy()


class Warp(OfBothDevices):
    dtypes = tuple(d for d in Library.dtypes if not d.startswith("complex"))

    def holds_at_all(self, array):
        return 1 <= array.ndim <= 4

    def makes(self, values):
        return 1 <= values.ndim <= 4

    def make(self, values):
        return self.module.array(np.ascontiguousarray(values), device=self.device)

    def read(self, array):
        return np.array(array.numpy())

    def fill(self, array, value):
        array.fill_(value)


class Pycuda(Library):
    def holds(self, array):
        return array.flags.writeable and all(stride > 0 for _, stride in steps(array))

    def make(self, values):
        return self.module.to_gpu(np.ascontiguousarray(values).reshape(np.shape(values)))

    def _bytes(self, array):
        """Address and number of the bytes that the array lies in, and where element 0 is in them.

        PyCUDA itself copies and fills packed arrays, and few others.
        """
        offsets = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
        first = -sum(offset for offset in offsets if offset < 0)
        count = sum(abs(offset) for offset in offsets) + array.dtype.itemsize
        return int(array.gpudata) - first, count, first

    def _window(self, array):
        address, count, first = self._bytes(array)
        memory = np.empty(count, np.uint8)
        self.driver.memcpy_dtoh(memory, address)
        return memory, np.ndarray(array.shape, array.dtype, memory, first, array.strides)

    @property
    def driver(self):
        return import_module("pycuda.driver")

    def read(self, array):
        if array.size == 0:
            return np.empty(array.shape, array.dtype)
        return self._window(array)[1].copy()

    def fill(self, array, value):
        memory, window = self._window(array)
        window[...] = value
        self.driver.memcpy_htod(self._bytes(array)[0], memory)


class Cudamat(Library):
    dtypes = ("float32",)

    def holds_at_all(self, array):
        return array.ndim == 2 and array.size > 0

    def holds(self, array):
        return array.flags.writeable and array.flags.f_contiguous

    def makes(self, values):
        return values.ndim == 2 and values.size > 0

    def make(self, values):
        return self.module.CUDAMatrix(np.array(values))

    def read(self, array):
        return array.asarray().copy()

    def fill(self, array, value):
        array.assign(float(value))


class Gnumpy(Library):
    dtypes = ("float32",)

    def shares(self, array):
        return array.size == 0 or super().shares(array)

    def holds(self, array):
        return array.size == 0 or (array.flags.writeable and array.flags.c_contiguous)

    def make(self, values):
        return self.module.garray(np.array(values))

    def read(self, array):
        return array.as_numpy_array(dtype=np.float32).copy()

    def fill(self, array, value):
        array._base.assign(float(value))


def _on_gpu(name):
    if not has_gpu():
        raise Missing(f"{name} needs a GPU")
    return "cuda:0"


def _import(name):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the library itself, in its own code
            return import_module(name)
    except (ImportError, AttributeError) as error:
        raise Missing(f"{name} cannot be imported ({error})") from None


def _numpy():
    return Numpy("numpy", np, "cpu")


def _torch():
    torch = _import("torch")
    device = "cuda:0" if has_gpu() and torch.cuda.is_available() else "cpu"
    return Torch("torch", torch, device)


def _jax():
    jax = _import("jax")
    _import("jax.numpy")
    with cuda_process.restored_context():  # JAX leaves the last GPU's context current
        platform = jax.devices()[0].platform
    return Jax("jax", jax, "cpu" if platform == "cpu" else "cuda:0")


def _tensorflow():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # tells of every GPU that it lacks
    tensorflow = _import("tensorflow")
    tensorflow.config.set_visible_devices([], "GPU")  # else it takes all of its memory
    return Tensorflow("tensorflow", tensorflow, "cpu")


def _cupy():
    return Cupy("cupy", _import("cupy"), _on_gpu("cupy"))


def _numba():
    return Numba("numba", _import("numba.cuda"), _on_gpu("numba"))


def _warp():
    warp = _import("warp")
    warp.config.quiet = True
    warp.init()
    device = "cuda:0" if has_gpu() and warp.is_cuda_available() else "cpu"
    return Warp("warp", warp, device)


def _pycuda():
    if has_gpu():
        _import("pycuda.autoprimaryctx")
        return Pycuda("pycuda", _import("pycuda.gpuarray"), "cuda:0")
    return Pycuda("pycuda", stand_pycuda.install(), "cpu", is_fake=True)


def _stand_in(name):
    module = import_module(f"support.stand_{name}")
    sys.modules[name] = module
    return module


def _cudamat():
    if has_gpu():
        module = _import("cudamat")
        module.cublas_init()
        return Cudamat("cudamat", module, "cuda:0")
    return Cudamat("cudamat", _stand_in("cudamat"), "cpu", is_fake=True)


def _gnumpy():
    """On a GPU the one that can be imported; else 0.2 from the package index over npmat, else (or
    where SPANWISE_TEST_GNUMPY says so) a stand-in over that of CUDAMat."""
    if has_gpu():
        library("cudamat")
        os.environ.setdefault("GNUMPY_USE_GPU", "yes")
        return Gnumpy("gnumpy", _import("gnumpy"), "cuda:0")
    if os.environ.get("SPANWISE_TEST_GNUMPY") == "stand-in":
        library("cudamat")
        return Gnumpy("gnumpy", _stand_in("gnumpy"), "cpu", is_fake=True)
    try:
        folder = gnumpy_source.folder(BUILD)
    except gnumpy_source.NotToBeHad as error:
        raise Missing(str(error)) from None
    os.environ["GNUMPY_USE_GPU"] = "no"
    sys.path.insert(0, str(folder))
    return Gnumpy("gnumpy", _import("gnumpy"), "cpu")


MAKERS = {
    "numpy": _numpy,
    "torch": _torch,
    "jax": _jax,
    "cupy": _cupy,
    "numba": _numba,
    "warp": _warp,
    "tensorflow": _tensorflow,
    "pycuda": _pycuda,
    "cudamat": _cudamat,
    "gnumpy": _gnumpy,
}


@cache
def _made(name) -> Library | Missing:
    try:
        return MAKERS[name]()
    except Missing as reason:
        return reason


def library(name) -> Library:
    """Raises Missing."""
    made = _made(name)
    if isinstance(made, Missing):
        raise made
    return made
