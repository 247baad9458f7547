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
#: Theano's other flags with their defaults, most of them for its own compiler, profiler and warnings.
_OTHERS = """
DebugMode.check_c True, DebugMode.check_finite True, DebugMode.check_preallocated_output '', DebugMode.check_py True,
DebugMode.check_strides 0, DebugMode.check_preallocated_output_ndim 4, DebugMode.patience 10, DebugMode.warn_input_not_reused True,
NanGuardMode.action 'raise', NanGuardMode.big_is_error True, NanGuardMode.inf_is_error True, NanGuardMode.nan_is_error True,
blas.check_openmp True, cache_optimizations False, check_input True, check_stack_trace 'off', cmodule.age_thresh_use 2073600,
cmodule.compilation_warning False, cmodule.debug False, cmodule.preload_cache False, cmodule.remove_gxx_opt False,
cmodule.warn_no_version False, compile.timeout 120, compile.wait 5, compiledir_format '', compute_test_value_opt 'off',
conv.assert_shape False, ctc.root '', cuda.include_path '', cycle_detection 'regular', deterministic 'default', dnn.base_path '',
dnn.bin_path '', dnn.conv.algo_bwd '', dnn.conv.algo_bwd_data 'none', dnn.conv.algo_bwd_filter 'none', dnn.conv.algo_fwd 'small',
dnn.conv.precision 'as_input_f32', dnn.conv.workmem '', dnn.conv.workmem_bwd '', dnn.include_path '', dnn.library_path '',
experimental.local_alloc_elemwise True, experimental.local_alloc_elemwise_assert True, experimental.unpickle_gpu_on_cpu False,
gpu.local_elemwise_fusion True, gpuelemwise.sync True, lib.amdlibm False, magma.enabled False, magma.include_path '',
magma.library_path '', metaopt.optimizer_excluding '', metaopt.optimizer_including '', metaopt.verbose 0, nocleanup False,
numpy.seterr_all 'ignore', numpy.seterr_divide 'None', numpy.seterr_invalid 'None', numpy.seterr_over 'None',
numpy.seterr_under 'None', on_shape_error 'warn', openmp_elemwise_minsize 200000, optdb.max_use_ratio 8,
optdb.position_cutoff inf, optimizer_requiring '', optimizer_verbose False, pickle_test_value True, print_global_stats False,
print_test_value False, profiling.debugprint False, profiling.destination 'stderr', profiling.ignore_first_call False,
profiling.min_memory_size 1024, profiling.min_peak_memory False, profiling.n_apply 20, profiling.n_ops 20,
profiling.output_line_width 512, profiling.time_thunks True, reoptimize_unpickled_function False, scan.allow_gc False,
scan.allow_output_prealloc True, scan.debug False, tensor.cmp_sloppy 0, tensor.insert_inplace_optimizer_validate_nb -1,
tensor.local_elemwise_fusion True, traceback.compile_limit 0, traceback.limit 8, unittests.rseed '666', unpickle_function True,
vm.lazy 'None', warn.argmax_pushdown_bug False, warn.gpu_set_subtensor1 False, warn.gpusum_01_011_0111_bug False,
warn.identify_1pexp_bug False, warn.inc_set_subtensor1 False, warn.inc_subtensor1_opt True, warn.reduce_join False,
warn.round False, warn.signal_conv2d_interface False, warn.subtensor_merge_bug False, warn.sum_div_dimshuffle_bug False,
warn.sum_sum_bug False, warn.vm_gc_bug False
"""


def _value(text: str) -> object:
    """The value of a Python literal: True, False, text in quotes, or a number."""
    if text in ("True", "False") or text.startswith("'"):
        return text == "True" if text.startswith(("T", "F")) else text.strip("'")
    return float(text) if text == "inf" else int(text)


WITHOUT_EFFECT.update(
    (flag, (_value(text), "it is a setting of Theano's own compiler"))
    for flag, text in (entry.split() for entry in _OTHERS.split(","))
)
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
