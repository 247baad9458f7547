# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Flags from ``THEANO_FLAGS`` and ``.theanorc``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_NO_FAST_MATH = "built-in ops have one precision; pass options to SourceModule for your own kernels"
_NO_C_CODE = "no C code is generated"

#: Flag -> default: those that have an effect, then those of WITHOUT_EFFECT.
DEFAULTS: dict[str, object] = {
    "device": "cpu",
    "init_gpu_device": "",
    "force_device": False,
    "floatX": "float64",
    "mode": "Mode",
    "allow_gc": True,
    "profile": False,
    "contexts": "",
    "gpuarray.preallocate": 0.0,
    "lib.cnmem": 0.0,
    "on_unused_input": "raise",
    "optimizer": "fast_run",
    "print_active_device": True,
    "compute_test_value": "off",
    "on_opt_error": "raise",
}

#: Flag -> (default, why it has no effect). Values other than the default cause a warning.
WITHOUT_EFFECT: dict[str, tuple[object, str]] = {
    "nvcc.flags": ("", _NO_FAST_MATH),
    "nvcc.fastmath": (False, _NO_FAST_MATH),
    "nvcc.compiler_bindir": ("", "kernels are compiled by NVRTC"),
    "cuda.root": ("", "set SPANWISE_CUDA_LIBRARY_PATH"),
    "cxx": ("", _NO_C_CODE),
    "gcc.cxxflags": ("", _NO_C_CODE),
    "linker": ("cvm", _NO_C_CODE),
    "base_compiledir": ("", "set SPANWISE_CACHE_DIR"),
    "compiledir": ("", "set SPANWISE_CACHE_DIR"),
    "blas.ldflags": ("", "set SPANWISE_BLAS"),
    "openmp": (False, "set SPANWISE_CPU_THREADS"),
    "optimizer_including": ("", "use sw.Mode(...).including(...)"),
    "optimizer_excluding": ("", "use sw.Mode(...).excluding(...)"),
    "exception_verbosity": ("low", "errors name the node, its shapes and the line that made it"),
    "assert_no_cpu_op": ("ignore", "see debugprint for the device of each op"),
    "warn_float64": ("ignore", "see debugprint for dtypes"),
    "cast_policy": ("custom", "dtypes follow NumPy's promotion rules"),
    "int_division": ("int", "dtypes follow NumPy's promotion rules"),
    "enable_initial_driver_test": (True, "the driver is called when a device is first used"),
    "gpuarray.sync": (False, "set SPANWISE_LAUNCH_BLOCKING=1"),
    "gpuarray.single_stream": (True, "each thread has one current stream"),
    "gpuarray.sched": ("default", "the driver chooses"),
    "gpuarray.cache_path": ("", "set SPANWISE_CACHE_DIR"),
    "dnn.enabled": ("auto", "cuDNN is not used"),
    "profile_memory": (False, "the profile always has the bytes of each node's results"),
    "profile_optimizer": (False, "see sw.printing.rewrites(f)"),
    "warn.ignore_bug_before": ("0.9", "there are no known bugs of Theano to warn about"),
    "pycuda.init": (False, "all arrays are in the primary context"),
}
DEFAULTS.update((flag, default) for flag, (default, _) in WITHOUT_EFFECT.items())
_BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def warn(text: str) -> None:
    """Prints one line to stderr, with the prefix of Theano's warnings."""
    print(f"WARNING (theano): {text}", file=sys.stderr)


def convert(flag: str, value: object) -> object:
    """`value`, text or not, as the type of the flag's default. Raises ValueError if it cannot be converted."""
    default = DEFAULTS[flag]
    if not isinstance(value, str) or isinstance(default, str):
        return value
    if isinstance(default, bool):
        if value.lower() in _BOOLEANS:
            return _BOOLEANS[value.lower()]
        raise ValueError(f"theano flag {flag}: expected True or False, got {value!r}")
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"theano flag {flag}: expected a number, got {value!r}") from None


def read(environment: Mapping[str, str] = os.environ) -> dict[str, object]:
    """{flag: value} from ``.theanorc`` and, with priority, ``THEANO_FLAGS``. Warns about unknown
    flags and those without effect."""
    texts = _read_files(environment) | _read_text(environment.get("THEANO_FLAGS", ""))
    values: dict[str, object] = {}
    for flag, text in texts.items():
        if flag not in DEFAULTS:
            warn(f"unknown flag {flag!r} in THEANO_FLAGS or .theanorc; it has no effect")
            continue
        values[flag] = convert(flag, text)
        if flag in WITHOUT_EFFECT and values[flag] != DEFAULTS[flag]:
            warn(f"flag {flag}={text} has no effect: {WITHOUT_EFFECT[flag][1]}")
    return values


def _read_text(text: str) -> dict[str, str]:
    """The flags of "flag=value,flag=value"."""
    values = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        flag, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"THEANO_FLAGS: expected flag=value, got {part!r}")
        values[flag.strip()] = value.strip()
    return values


def _read_files(environment: Mapping[str, str]) -> dict[str, str]:
    """The flags of the files in ``THEANORC``, by default ``~/.theanorc``; section [nvcc] holds
    ``nvcc.*``. Later files have priority."""
    default = os.path.join(environment.get("HOME", "~"), ".theanorc")
    names = (environment.get("THEANORC") or default).split(os.pathsep)
    paths = [path for path in map(os.path.expanduser, names) if os.path.exists(path)]
    if not paths:
        return {}
    import configparser

    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(paths)
    return {
        name if section == "global" else f"{section}.{name}": value.strip()
        for section in parser.sections()
        for name, value in parser.items(section)
    }
