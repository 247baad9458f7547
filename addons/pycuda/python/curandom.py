# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of ``pycuda.curandom``, over the generator of ``spanwise.random``.

Names, dtypes and distributions are PyCUDA's; the numbers are others. Every class draws from the
same counter-based generator, the Sobol classes too: their numbers are pseudorandom.
"""

import functools

import numpy as np

import spanwise as sw

from ._array import GPUArray, device_array, to_gpu
from ._devices import mem_alloc, on_stream
from ._unsupported import module_getattr

__all__ = [
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]

# Above this mean exp(-mean) is close to the smallest double; the normal distribution is used.
_MAX_MEAN = 600


@functools.cache
def _poisson_kernel():
    """Poisson numbers `count` from uniform `u` by inversion, or from normal `z` for large means. 2000
    bounds the loop, where rounding keeps the sum of all probabilities below `u`."""
    return sw.ElementwiseKernel(
        "double *count, double *mean, double *u, double *z",
        f"""
        if (mean[i] > {_MAX_MEAN}) {{
          count[i] = fmax(0.0, floor(mean[i] + sqrt(mean[i]) * z[i] + 0.5));
        }} else {{
          double p = exp(-mean[i]), below = p;
          int k = 0;
          while (u[i] >= below && k < 2000) {{ ++k; p *= mean[i] / k; below += p; }}
          count[i] = k;
        }}
        """,
        "poisson",
    )


def _fill_poisson(generator, data, lambda_value):
    """Fills a GPUArray; without `lambda_value` the mean of each element is its old value."""
    shape = data.shape
    if lambda_value is None:
        mean = device_array(data).astype("float64")
    else:
        mean = sw.full(shape, float(lambda_value), dtype="float64")
    count = sw.empty(shape, dtype="float64")
    u, z = generator.random(shape), generator.standard_normal(shape)
    _poisson_kernel()(count, mean, u, z)
    device_array(data)[...] = count.astype(data.dtype)


_MAX_SEED = 2**31 - 1
_MAX_DIRECTIONS = 20000  # dimensions of cuRAND's tables


class direction_vector_set:  # noqa: N801  (PyCUDA's name)
    """The tables of cuRAND that generate_direction_vectors can name; they are not needed here."""

    VECTOR_32, SCRAMBLED_VECTOR_32, VECTOR_64, SCRAMBLED_VECTOR_64 = range(4)


def get_curand_version():
    """The version of cuRAND whose distributions are provided."""
    return 10, 0, 0


def _fill_uniform(generator, out):
    kind = out.dtype.kind
    if kind == "f":
        device_array(out)[...] = generator.random(out.shape, dtype=out.dtype)
    elif kind in "iu":
        info = np.iinfo(out.dtype)
        device_array(out)[...] = generator.integers(
            int(info.min), int(info.max), out.shape, dtype=out.dtype, endpoint=True
        )
    else:
        raise TypeError(f"curandom: expected floating or integer dtypes, got {out.dtype}")
    return out


@functools.cache
def _default_generator():
    """The generator of rand(), which loads spanwise.random."""
    return sw.random.default_rng()


def rand(shape, dtype=np.float32, stream=None):
    """A new array: floating numbers from [0, 1), or integers from the whole range of the dtype."""
    with on_stream(stream):
        return _fill_uniform(_default_generator(), GPUArray(shape, dtype))


def seed_getter_uniform(n):
    """An int32 array of `n` times the same random seed."""
    seed = np.random.default_rng().integers(_MAX_SEED)
    return GPUArray((n,), np.int32).fill(int(seed))


def seed_getter_unique(n):
    """An int32 array of `n` random seeds."""
    return to_gpu(np.random.default_rng().integers(0, _MAX_SEED, n, dtype=np.int32))


def generate_direction_vectors(count, direction=direction_vector_set.VECTOR_32):
    """An array (count, 32) or (count, 64) of zeros: the generators need no direction vectors."""
    bits = 64 if direction in (2, 3) else 32
    if not 0 <= count <= _MAX_DIRECTIONS:
        raise ValueError(
            f"generate_direction_vectors: expected 0 to {_MAX_DIRECTIONS} vectors, got {count}"
        )
    return GPUArray((count, bits), np.dtype(f"uint{bits}")).fill(0)


def generate_scramble_constants32(count):
    """A uint32 array of zeros: the generators need no scramble constants."""
    return GPUArray((count,), np.uint32).fill(0)


def generate_scramble_constants64(count):
    """A uint64 array of zeros: the generators need no scramble constants."""
    return GPUArray((count,), np.uint64).fill(0)


def _generates(fill):
    """A method that makes an array of a shape and a dtype, fills it by the method `fill`, and returns
    it."""

    def generate(self, shape, dtype, *arguments, **named):
        data = GPUArray(shape, dtype, mem_alloc)
        fill(self, data, *arguments, **named)
        return data

    generate.__doc__ = f"A new array of `shape` and `dtype`, by {fill.__name__}()."
    return generate


class _Generator:
    """Fills arrays with random numbers. `seed_getter(n)` returns a GPUArray of seeds, of which the
    first is used; `offset` selects another sequence."""

    def __init__(self, seed_getter=None, offset=0):
        seed = None
        if seed_getter is not None:
            seed = [int(seed_getter(1).get()[0]) & 0xFFFFFFFF, int(offset)]  # as unsigned
        self._start(seed)

    def _start(self, seed):
        self._random = sw.random.default_rng(seed)

    generators_per_block = 256
    block_count = 1

    def fill_uniform(self, data, stream=None):
        """Floating numbers from [0, 1), or integers from the whole range of the dtype."""
        with on_stream(stream):
            _fill_uniform(self._random, data)

    def fill_normal(self, data, stream=None):
        """Numbers with mean 0 and standard deviation 1."""
        with on_stream(stream):
            device_array(data)[...] = self._random.standard_normal(data.shape, dtype=data.dtype)

    def fill_log_normal(self, data, mean, stddev, stream=None):
        """exp() of numbers with this mean and standard deviation."""
        with on_stream(stream):
            normal = self._random.standard_normal(data.shape, dtype=data.dtype)
            device_array(data)[...] = sw.exp(normal * float(stddev) + float(mean))

    def fill_poisson(self, data, lambda_value=None, stream=None):
        """Poisson numbers of this mean; without it the mean of each element is its old value."""
        with on_stream(stream):
            _fill_poisson(self._random, data, lambda_value)

    gen_uniform, gen_normal = _generates(fill_uniform), _generates(fill_normal)
    gen_log_normal, gen_poisson = _generates(fill_log_normal), _generates(fill_poisson)

    def call_skip_ahead(self, i, stream=None):
        """Skips `i` numbers."""
        self._random.random(int(i))


class _Sobol(_Generator):
    """As the other generators; direction vectors and scramble constants are ignored."""

    def __init__(self, dir_vector=None, offset=0):
        self._start(None if not offset else [0, int(offset)])


class _ScrambledSobol(_Sobol):
    __doc__ = _Sobol.__doc__

    def __init__(self, dir_vector=None, scramble_vector=None, offset=0):
        super().__init__(dir_vector, offset)


for _base, _names in {
    _Generator: ("XORWOW", "MRG32k3a"),
    _Sobol: ("Sobol32", "Sobol64"),
    _ScrambledSobol: ("ScrambledSobol32", "ScrambledSobol64"),
}.items():
    for _name in _names:
        _class = f"{_name}RandomNumberGenerator"
        __all__.append(_class)
        globals()[_class] = type(
            _class, (_base,), {"__module__": __name__, "__doc__": _base.__doc__}
        )

__getattr__ = module_getattr("pycuda.curandom", __name__)
