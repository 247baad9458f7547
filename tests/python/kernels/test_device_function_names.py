# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Every device function of the CUDA 13 headers has a test of its values, or is refused by its name."""

import re
from pathlib import Path

import pytest

import spanwise as sw

from . import (
    test_device_functions as functions,
    test_device_rounding as rounding,
    test_device_small_floats as small_floats,
)
from .device_functions import integer_functions, math_functions

FOLDER = Path(__file__).parent
# device_functions/names.txt has the functions that the headers of CUDA 13.0 declare, by header.
NAMES = [
    name
    for line in (FOLDER / "device_functions" / "names.txt").read_text().splitlines()
    if not line.startswith("[")
    for name in line.split()
]
# What the CPU does not have.
REFUSED = re.compile(
    r"tex\w+(Lod|Grad)|texCubemap\w*|surfCubemap\w*|__cluster\w+|__threadfence_cluster|__is\w*Shared"
    r"|__isGlobal|__isLocal|__isConstant|__isGridConstant|__nv_fp128_\w+|__u128Atomic\w+"
    r"|__nv_memcpy_async_shared_global_\w+|__nv_associate_access_property|__mbarrier_token_pending_count"
    r"|dadd|dsub|dmul|(double|float|int|uint|ll|ull)2(double|int|uint|ll|ull)"
)


def names_of_tables():
    """The functions whose calls the tests make from tables."""
    tables = [*integer_functions.video_functions(), *integer_functions.extreme_functions()]
    tables += integer_functions.INTEGER_FUNCTIONS
    for dtype in ("float32", "float64"):
        for suffix in rounding.SUFFIXES:
            tables += rounding.arithmetic(dtype, suffix)
    names = {name for function in tables for name in function.names}
    for name in (*math_functions.UNARY, *math_functions.SEVERAL, *math_functions.MIXED):
        names |= {name, name + "f"}
    names |= functions.NAMES | {"tex1DLayered", "tex2DLayered"}  # test_texture_channels.py
    names |= {*math_functions.FAST, *math_functions.PREDICATES}
    names |= {f"__{p}{f}" for p in ("is", "") for f in ("finite", "inf", "nan", "signbit")}
    names |= {f"__{f}f" for f in ("finite", "isinf", "isnan", "signbit")}
    for s in rounding.SUFFIXES:
        names |= {f"__{p}{f}_{s}" for p in "fd" for f in ("rcp", "sqrt")}
        names |= {f"__{f}2_{s}" for f in ("fadd", "fmul", "ffma")}
        names |= {
            f"__{a}2{b}_{s}" for a in ("int", "uint", "ll", "ull") for b in ("float", "double")
        }
        names |= {
            f"__{a}2{b}_{s}"
            for a in ("float", "double")
            for b in ("int", "uint", "ll", "ull", "float")
        }
    for _, word, _ in small_floats.HALVES.values():
        integers = ("int", "uint", "ll", "ull", "short", "ushort")
        for s in rounding.SUFFIXES:
            names |= {f"__{a}2{word}_{s}" for a in (*integers, "float")}
            names |= {f"__{word}2{a}_{s}" for a in integers}
        names |= {f"__{word}2char_rz", f"__{word}2uchar_rz"}
    for table in small_floats.table_of("__half"):
        for name in table:
            stem, *rest = name.removeprefix("__").split("_")
            names |= {name, "__" + "_".join([stem + "2", *rest])}
    for name in small_floats.ORDERS:
        for u in ("", "u"):
            names |= {f"__h{name}{u}", f"__h{name}{u}2", f"__h{name}{u}2_mask", f"__hb{name}{u}2"}
    return names


def words_of_tests():
    """The words of the tests of kernels, this file excepted."""
    words = set()
    for path in FOLDER.rglob("*"):
        if path.suffix in (".py", ".cu") and path.name != Path(__file__).name:
            words |= set(re.findall(r"\w+", path.read_text()))
    return words


def test_each_device_function_has_a_test_or_is_refused():
    known = names_of_tables() | words_of_tests()
    missing = sorted(name for name in NAMES if name not in known and not REFUSED.fullmatch(name))
    assert not missing


@pytest.mark.parametrize("name", sorted({n for n in NAMES if REFUSED.fullmatch(n)}))
def test_functions_of_a_gpu_are_refused_by_name(name):
    source = f"__global__ void k(int* out) {{\n  out[0] = (int){name}(out);\n}}"
    with pytest.raises(sw.CompileError) as caught:
        sw.SourceModule(source, device="cpu")
    assert name in str(caught.value)
    assert "SW_CPU" in str(caught.value)
    assert "kernel.cu:2" in str(caught.value)
