# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""spanwise as a namespace of the array API standard 2025.12; docs/arrays.md lists what is not
supported."""

import inspect
import math
import os
import subprocess
import sys
from inspect import Parameter

import numpy as np
import pytest
from python.array.array_api_names import BINARY, DTYPES, OPERATORS, UNARY, functions, words

import spanwise as sw


def test_arrays_name_their_namespace(device):
    a = sw.zeros(2, device=device)
    assert a.__array_namespace__() is sw
    assert a.__array_namespace__(api_version="2025.12") is sw
    assert sw.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError, match=r"2025\.12, got '2019\.01'"):
        a.__array_namespace__(api_version="2019.01")


def test_namespace_lists_lazily_loaded_names():
    assert {"clip", "searchsorted", "zeros", "pi"} <= set(dir(sw))


def why_not_accepted(ours, theirs):
    """Why the signature `ours` rejects a call that the standard's, `theirs`, allows; None if it accepts all."""
    parameters = ours.parameters.values()
    if any(p.kind == Parameter.VAR_POSITIONAL for p in parameters):
        return None
    positional = [
        p
        for p in parameters
        if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]
    for i, their_parameter in enumerate(theirs.parameters.values()):
        if their_parameter.kind == Parameter.VAR_POSITIONAL:
            return f"takes no {their_parameter}"
        if their_parameter.kind != Parameter.KEYWORD_ONLY:
            if i >= len(positional):
                return f"takes no {their_parameter} by position"
            our_parameter = positional[i]
        if their_parameter.kind != Parameter.POSITIONAL_ONLY:
            our_parameter = ours.parameters.get(their_parameter.name)
            if our_parameter is None or our_parameter.kind == Parameter.POSITIONAL_ONLY:
                return f"takes no {their_parameter} by name"
        if (
            their_parameter.default is not Parameter.empty
            and our_parameter.default is Parameter.empty
        ):
            return f"{their_parameter} has no default"
    return None


@pytest.mark.parametrize(("name", "signature"), list(functions()), ids=str)
def test_signatures_match_the_standard(name, signature):
    function = getattr(sw, name)
    try:
        ours = inspect.signature(function)
    except ValueError:  # pybind11 functions have text signatures only
        assert name in ("can_cast", "result_type", "from_dlpack")
        return
    assert why_not_accepted(ours, signature) is None


@pytest.mark.parametrize(("names", "count"), [(UNARY, 1), (BINARY, 2)])
def test_elementwise_functions_exist_with_the_standards_arity(names, count):
    for name in words(names):
        assert getattr(sw, name).nin == count, name


def test_real_and_imag_return_the_parts(device):
    a = sw.asarray([1 + 2j], device=device)
    assert (sw.real(a).tolist(), sw.imag(a).tolist()) == ([1.0], [2.0])


@pytest.mark.parametrize("name", words(OPERATORS))
def test_arrays_have_the_methods(device, name):
    assert hasattr(sw.zeros(2, device=device), f"__{name}__")


def test_arrays_have_the_attributes(device):
    a = sw.zeros((2, 3), device=device)
    assert (a.ndim, a.size, a.shape, a.device) == (2, 6, (2, 3), sw.device(device))
    assert (a.T.shape, a.mT.shape, a.dtype) == ((3, 2), (3, 2), sw.float64)


def test_constants_are_the_standards():
    assert (sw.e, sw.pi, sw.inf) == (math.e, math.pi, math.inf)
    assert math.isnan(sw.nan)
    assert sw.newaxis is None


def test_namespace_info_lists_capabilities_and_devices(device):
    info = sw.__array_namespace_info__()
    capabilities = info.capabilities()
    assert capabilities == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    assert sw.zeros((1,) * capabilities["max dimensions"], device=device).ndim == 64
    with pytest.raises(ValueError, match="64"):
        sw.zeros((1,) * 65, device=device)
    assert info.default_device() == sw.default_device()
    assert sw.device(device) in info.devices()


def test_namespace_info_selects_dtypes_by_kind(device):
    info = sw.__array_namespace_info__()
    assert info.dtypes() == {name: sw.dtype(name) for name in words(DTYPES)}
    assert set(info.dtypes(kind="signed integer")) == {"int8", "int16", "int32", "int64"}
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}
    assert info.dtypes(device=device, kind="complex floating").keys() == {"complex64", "complex128"}
    with pytest.raises(ValueError, match="'numeric', got 'string'"):
        info.dtypes(kind="string")
    defaults = info.default_dtypes(device=device)
    assert sw.asarray([1.0], device=device).dtype == defaults["real floating"]
    assert sw.asarray([1j], device=device).dtype == defaults["complex floating"]
    assert sw.asarray([1], device=device).dtype == defaults["integral"]
    assert sw.argmax(sw.zeros(3, device=device)).dtype == defaults["indexing"]


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_finfo_matches_numpy(name):
    ours, theirs = sw.finfo(name), np.finfo(name)
    for attribute in ("bits", "eps", "max", "min", "smallest_normal", "smallest_subnormal", "tiny"):
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    assert ours.dtype == theirs.dtype
    assert isinstance(ours.eps, float)
    assert ours == sw.finfo(sw.zeros(1, name, device="cpu"))
    assert ours != sw.iinfo("int8")


def test_finfo_has_the_limits_of_bfloat16(device):
    limits = sw.finfo(sw.bfloat16)
    assert (limits.bits, limits.eps, limits.smallest_normal) == (16, 2.0**-7, 2.0**-126)
    largest = sw.asarray(limits.max, "bfloat16", device=device)
    assert float(largest) == limits.max == 3.3895313892515355e38
    assert "bits=16" in repr(limits)


@pytest.mark.parametrize("name", [n for n in words(DTYPES) if "int" in n])
def test_iinfo_matches_numpy(name):
    ours, theirs = sw.iinfo(name), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)
    assert ours.dtype == name
    assert len({ours, sw.iinfo(name)}) == 1


def test_finfo_and_iinfo_reject_dtypes_of_the_other_kind():
    with pytest.raises(ValueError, match="finfo: expected a floating.* got int8"):
        sw.finfo("int8")
    with pytest.raises(ValueError, match="iinfo: expected an integer.* got bool"):
        sw.iinfo(sw.zeros(2, "bool"))
    assert (sw.iinfo(1).bits, sw.finfo(1.0).bits) == (64, 64)


def test_isdtype_matches_numpy():
    kinds = ("bool", "signed integer", "unsigned integer", "integral", "real floating")
    kinds = (*kinds, "complex floating", "numeric", ("bool", "integral"), sw.float32)
    for name in words(DTYPES):
        for kind in kinds:
            theirs = np.dtype("float32") if kind == sw.float32 else kind
            assert sw.isdtype(sw.dtype(name), kind) == np.isdtype(np.dtype(name), theirs)
    assert sw.isdtype(sw.bfloat16, "real floating")
    assert not sw.isdtype(sw.bfloat16, ("integral", sw.float16))
    with pytest.raises(ValueError, match="expected a dtype or one of"):
        sw.isdtype(sw.int8, "floating")


def test_astype_converts_dtype_and_device(device):
    a = sw.asarray([1.5, -2.5], device=device)
    assert sw.astype(a, sw.int32).tolist() == [1, -2]
    assert sw.astype(a, "float64", copy=False) is a
    assert sw.astype(a, "float64") is not a
    assert sw.astype(a, "float32", device="cpu").device == sw.device("cpu")


SCIPY = """
import numpy as np, scipy.special, spanwise as sw
values = np.arange(6.0).reshape(2, 3)
ours = scipy.special.logsumexp(sw.asarray(values, device={device!r}), axis=1)
assert isinstance(ours, sw.Array) and ours.device == {device!r}
np.testing.assert_allclose(ours.numpy(), np.log(np.exp(values).sum(axis=1)))
"""


def test_scipy_computes_with_our_arrays(device):
    """SciPy with its array API support, which must be enabled before its import."""
    pytest.importorskip("scipy", "1.14")
    code = SCIPY.format(device=device.name)
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
