# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that NumPy computes on the CPU and Spanwise or CuPy on a GPU: each gives NumPy's values, as
arrays of the device of its arguments."""

import importlib.util
import io
import re
import sys

import numpy as np
import pytest

import spanwise as sw
from spanwise import _names
from spanwise._numpy import borrowed

#: Name -> arguments, or None where a test of its own calls it, of: strided matrices a (float64), h (float32, positive definite), c (complex64) and
#: e (no rows); vectors v (float64), n (nan, 1, -inf), i (int32, sorted, 0 to 3), u (uint8) and t (bool); z of rank 0.
CALLS = {
    "apply_along_axis": "lambda row: row[::-1] * 2, 1, a",
    "apply_over_axes": "np.sum, a, [0, 1]",
    "argpartition": "v[:1], 0",
    "argsort": "v",
    "array2string": "a",
    "array_equiv": "a, a[:1]",
    "array_repr": "a, precision=3",
    "array_str": "h, precision=3",
    "asfortranarray": "h",
    "average": "a, 1, v[: a.shape[1]]",
    "bartlett": "5",
    "bincount": "i",
    "bitwise_count": "i",
    "blackman": "5",
    "block": "[[a, a], [a, a]]",
    "c_": None,
    "common_type": "h, i",
    "convolve": "v, i",
    "corrcoef": "a",
    "correlate": "v, i",
    "cov": "a",
    "cross": "a[:, :3], a[:, 1:4]",
    "diag_indices_from": "h",
    "digitize": "v, i",
    "ediff1d": "v",
    "fix": "a",
    "frombuffer": "b'abcd', 'u1'",
    "fromfile": None,
    "fromfunction": "lambda x, y: x + y, (3, 2)",
    "fromiter": "[1, 2, 3], 'f4'",
    "fromstring": "'1 2 3', sep=' '",
    "gcd": "i, 6",
    "genfromtxt": "['1 2', '3 4']",
    "geomspace": "1, 8, 4",
    "hamming": "5",
    "hanning": "5",
    "histogram": "a, 4",
    "histogram2d": "v, v[::-1], 3",
    "histogram_bin_edges": "a, 4",
    "histogramdd": "a[:, :2], 3",
    "i0": "v",
    "identity": "3",
    "interp": "v, i, i * 2.5",
    "intersect1d": "i, u",
    "iscomplex": "c",
    "isfortran": "h.copy().T",
    "isin": "i, u",
    "isneginf": "a",
    "isposinf": "a",
    "isreal": "c",
    "isscalar": "3.0",
    "issubdtype": "a.dtype, np.floating",
    "kaiser": "5, 8.6",
    "kron": "a, h",
    "lcm": "i, 6",
    "lexsort": "(v, v[::-1])",
    "load": None,
    "loadtxt": "['1 2', '3 4']",
    "logspace": "0, 2, 3",
    "median": "a, 1",
    "min_scalar_type": "300",
    "nan_to_num": "n",
    "nanargmax": "a, 0",
    "nanargmin": "a, 0",
    "nancumprod": "a, 1",
    "nancumsum": "a, 1",
    "nanmax": "a, 1",
    "nanmean": "h, 1",
    "nanmedian": "a, 1",
    "nanmin": "c, 1",
    "nanpercentile": "a, [20, 50]",
    "nanprod": "c, 0",
    "nanquantile": "a, 0.25",
    "nanstd": "h, 1",
    "nanvar": "a, 0, keepdims=True",
    "ndenumerate": None,
    "packbits": "t",
    "partition": "v[:1], 0",
    "percentile": "a, [20, 50], axis=1",
    "piecewise": "v, [v < 0, v >= 0], [-1, 1]",
    "poly": "v",
    "polyadd": "v, i",
    "polyder": "v",
    "polydiv": "v, v[1:]",
    "polyfit": "v, v * v, 2",
    "polyint": "v",
    "polymul": "v, i",
    "polysub": "v, i",
    "polyval": "i, a",
    "quantile": "a, 0.25, axis=-1",
    "r_": None,
    "real_if_close": "c",
    "require": "a, 'f4', ['C', 'W']",
    "roots": "v",
    "save": None,
    "savetxt": None,
    "savez": None,
    "savez_compressed": None,
    "setdiff1d": "i, u",
    "setxor1d": "i, u",
    "shares_memory": "v[::2], v[1::2]",
    "sinc": "a",
    "sort": "c, 0",
    "sort_complex": "c[0]",
    "spacing": "h",
    "trapezoid": "a, axis=0",
    "trim_zeros": "i",
    "union1d": "i, u",
    "unique": "i, return_counts=True",
    "unique_all": "i",
    "unique_counts": "i",
    "unique_inverse": "i",
    "unique_values": None,
    "unpackbits": "u",
    "unwrap": "v * 10",
    "vander": "v",
    "vectorize": None,
    "linalg.cholesky": "h",
    "linalg.cond": "h",
    "linalg.cross": "a[:, :3], a[:, 1:4]",
    "linalg.det": "h",
    "linalg.eigh": "h",
    "linalg.eigvalsh": "h",
    "linalg.inv": "h",
    "linalg.lstsq": "a, a[:, 0]",
    "linalg.matrix_rank": "a",
    "linalg.multi_dot": "[a, a.T, a]",
    "linalg.pinv": "a",
    "linalg.qr": "a",
    "linalg.slogdet": "h",
    "linalg.solve": "h, h[:, 1:]",
    "linalg.svd": "c",
    "linalg.svdvals": "a",
    "linalg.tensorinv": "h, 1",
    "linalg.tensorsolve": "h, h[0]",
    "fft.fftshift": "a",
    "fft.ifftshift": "a",
    "fft.fftfreq": "5, 0.5",
    "fft.rfftfreq": "5, 0.5",
    **{f"fft.{name}": "c" for name in ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn")},
    **{f"fft.{name}": "c" for name in ("hfft", "irfft", "irfft2", "irfftn")},
    **{f"fft.{name}": "h" for name in ("rfft", "rfft2", "rfftn", "ihfft")},
}
OWN = ("explain_function",)


def arrays(convert):
    r = np.random.default_rng(5)
    a = r.standard_normal((10, 12))[::-2, ::2]
    h = (np.eye(5) * 4 + 1).astype("f4")[::-1, ::-1]
    c = (r.standard_normal((4, 12)) + 1j * r.standard_normal((4, 12))).astype("c8")[:, ::3]
    v, i = r.standard_normal(16)[::2], np.repeat(np.arange(4, dtype="i4"), 4)[::2]
    host = {"a": a, "h": h, "c": c, "v": v, "i": i, "e": a[:0], "z": np.array(2.5)}
    host |= {"u": np.arange(12, dtype="u1")[::3], "t": v > 0, "n": np.array([np.nan, 1, -np.inf])}
    return {name: convert(value) for name, value in host.items()}


def call(library, path, text, variables):
    function = library
    for part in path.split("."):
        function = getattr(function, part)
    return eval(f"function({text})", {"function": function, "np": np, **variables})


def check(result, expected, device, is_exact=None):
    is_exact = device.kind == "cpu" if is_exact is None else is_exact
    if isinstance(expected, tuple | list):
        assert len(result) == len(expected)
        for mine, theirs in zip(result, expected, strict=True):
            check(mine, theirs, device, is_exact)
    elif isinstance(expected, np.ndarray | np.generic):
        assert isinstance(result, sw.Array) and result.device == device
        assert (result.shape, np.dtype(result.dtype)) == (expected.shape, expected.dtype)
        if is_exact:
            np.testing.assert_array_equal(result.numpy(), expected)
        else:
            scale = np.nanmax(np.abs(expected), initial=1, where=np.isfinite(expected))
            np.testing.assert_allclose(result.numpy(), expected, 1e-5, 1e-6 * scale)
    else:
        assert result == expected


# Of factors that are not unique, the product is compared.
FACTORS = {
    "linalg.eigh": lambda w, v: (v * w) @ v.conj().T,
    "linalg.svd": lambda u, s, v: (u[:, : len(s)] * s) @ v[: len(s)],
}


def recomposed(path, factors):
    host = [np.asarray(x.numpy() if isinstance(x, sw.Array) else x) for x in factors]
    device = factors[0].device if isinstance(factors[0], sw.Array) else None
    product = FACTORS[path](*host)
    return product if device is None else sw.asarray(product, device=device)


def test_every_borrowed_name_is_called_here():
    names = {*_names._NAMES["_numpy.borrowed"].split()} - {*OWN}
    names -= {name for name in names if getattr(sw, name) is getattr(np, name)}
    names |= {f"fft.{name}" for name in sw.fft.__all__}
    names |= {
        f"linalg.{name}" for name in set(dir(sw.linalg)) - {*sw.linalg.__all__, "LinAlgError"}
    }
    assert names == set(CALLS)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # NumPy 2.5
@pytest.mark.parametrize("path", [path for path, text in CALLS.items() if text])
def test_function_gives_the_values_of_numpy(device, path):
    variables = arrays(lambda x: sw.asarray(x, device="cpu").to(device))
    text = CALLS[path]
    expected = call(np, path, text, arrays(np.asarray))
    try:
        with device:  # where results without arrays among the arguments are
            result = call(sw, path, text, variables)
    except (sw.NotSupportedError, NotImplementedError, TypeError) as error:
        if device.kind == "cpu":
            raise
        if isinstance(error, sw.NotSupportedError):
            assert "CuPy" in str(error)
        pytest.skip(f"CuPy: {error}")
    if path in FACTORS:
        result, expected = recomposed(path, result), recomposed(path, expected)
    check(result, expected, device)


BY_TORCH = [path for path in CALLS if path.partition(".")[0] in ("linalg", "fft")]
BY_TORCH = sorted({*BY_TORCH} - {"linalg.lstsq", "fft.fftfreq", "fft.rfftfreq"})


@pytest.fixture
def by_torch():
    pytest.importorskip("torch", reason="PyTorch is not installed")

    def call(path, *args, **kwargs):
        library = borrowed._Torch
        device = next(x.device for x in (*args, *args[0]) if isinstance(x, sw.Array))
        return borrowed._by_library(path, library, library.find(path), device, args, kwargs)

    return call


@pytest.mark.parametrize("path", BY_TORCH)
def test_pytorch_computes_what_numpy_computes(device, path, by_torch):
    variables = arrays(lambda x: sw.asarray(x, device="cpu").to(device)) | {"by_torch": by_torch}
    result = eval(f"by_torch({path!r}, {CALLS[path]})", {"np": np}, variables)
    expected = call(np, path, CALLS[path], arrays(np.asarray))
    if hasattr(expected, "_fields"):
        assert result._fields == expected._fields
    if path in FACTORS:
        result, expected = recomposed(path, result), recomposed(path, expected)
    if path != "linalg.qr":  # signs differ
        check(result, expected, device, is_exact=False)


def test_pytorchs_functions_have_numpys_errors_and_dtypes(device, by_torch):
    a = sw.ones((3, 3), device=device)
    with pytest.raises(np.linalg.LinAlgError, match=r"^linalg\.inv"):
        by_torch("linalg.inv", a[:2])
    with pytest.raises(ValueError, match=r"^fft\.fft"):
        by_torch("fft.fft", a, axis=7)
    ints = sw.arange(8, device=device)
    assert by_torch("fft.fft", ints).dtype == "complex128"
    assert by_torch("fft.fft", ints.astype("float16")).dtype == "complex64"
    stack = sw.broadcast_to(sw.eye(3, device=device) * 2, (3, 3, 3))
    assert by_torch("linalg.solve", stack, sw.ones((3, 2), device=device)).shape == (3, 3, 2)
    assert by_torch("linalg.solve", stack, sw.ones(3, device=device)).shape == (3, 3)
    q = by_torch("linalg.qr", a + sw.eye(3, device=device), mode="r")
    assert isinstance(q, sw.Array) and q.shape == (3, 3)
    with pytest.raises(AttributeError, match=r"PyTorch has no function like numpy\.kron"):
        by_torch("kron", a, a)


def test_pytorch_is_asked_where_cupy_is_not_installed(device, monkeypatch):
    if device.kind == "cpu":
        pytest.skip("NumPy computes on the CPU")
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert "PyTorch's" in sw.explain_function("linalg.svd", device)
    a = sw.ones((3, 3), device=device)
    assert abs(float(sw.linalg.svd(a).S[0]) - 3) < 1e-12
    assert abs(float(sw.linalg.eigh(sw.broadcast_to(a, (2, 3, 3))).eigenvalues[1, 2]) - 3) < 1e-12
    with pytest.raises(sw.NotSupportedError, match="neither has it"):
        sw.roots(a[0])


def test_pytorch_comes_first_where_it_is_faster_and_imported(device, monkeypatch):
    if device.kind == "cpu":
        pytest.skip("NumPy computes on the CPU")
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("cupy", reason="CuPy is not installed")
    assert "PyTorch's" in sw.explain_function("fft.fft", device)
    assert "CuPy's" in sw.explain_function("linalg.inv", device)
    a = sw.eye(100, device=device) * 2
    stack = sw.broadcast_to(a, (2, 100, 100))
    for x in (a, stack):
        np.testing.assert_allclose(sw.linalg.solve(x, x).numpy(), np.eye(100) + 0 * x.numpy())
    monkeypatch.delitem(sys.modules, "torch")
    assert "CuPy's" in sw.explain_function("fft.fft", device)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int64", "float16", "float32", "complex64"]
)
@pytest.mark.parametrize("shape", [(0,), (1,), (37,), (3, 0, 2), (4, 5)])
def test_sorts_match_numpy_in_both_orders(dtype, shape):
    values = np.random.default_rng(3).integers(0, 9, shape).astype(dtype)
    x = sw.asarray(values, device="cpu")
    ascending = np.argsort(values, stable=True)
    np.testing.assert_array_equal(sw.sort(x).numpy(), np.sort(values))
    np.testing.assert_array_equal(sw.argsort(x).numpy(), ascending)
    key = -values.astype("complex128" if dtype == "complex64" else "float64")
    descending = np.argsort(key, stable=True)
    np.testing.assert_array_equal(sw.argsort(x, descending=True).numpy(), descending)
    np.testing.assert_array_equal(
        sw.sort(x, descending=True).numpy(), np.take_along_axis(values, descending, -1)
    )
    np.testing.assert_array_equal(x.numpy(), values)


def test_methods_sort_and_partition_the_array_itself():
    values = np.random.default_rng(2).standard_normal((5, 14))
    x = sw.asarray(values.copy(), device="cpu")
    strided = x[::-1, ::2]
    assert strided.argsort(0).tolist() == np.argsort(values[::-1, ::2], 0).tolist()
    assert strided.sort(descending=True) is None
    expected = values.copy()
    expected[::-1, ::2] = -np.sort(-values[::-1, ::2])
    np.testing.assert_array_equal(x.numpy(), expected)
    assert x.argpartition(0)[:, 0].tolist() == expected.argmin(1).tolist()
    x.partition(0)
    np.testing.assert_array_equal(x[:, 0].numpy(), expected.min(1))


def test_sizes_and_copies_of_anything():
    x = [[1, 2, 3], [4, 5, 6]]
    assert (sw.shape(x), sw.ndim(x), sw.size(x), sw.size(x, 0)) == ((2, 3), 2, 6, 2)
    a = sw.asarray(x)
    assert sw.copy(a).tolist() == x and not sw.may_share_memory(sw.copy(a), a)
    assert sw.iscomplexobj(1j) and sw.isrealobj(a)
    v = sw.tensor.fmatrix("v")
    assert sw.ndim(v) == 2


def test_nans_come_last_in_both_orders():
    x = sw.asarray([2.0, np.nan, 1.0, np.nan, 3.0], device="cpu")
    for descending in (False, True):
        result = sw.sort(x, descending=descending).numpy()
        assert list(np.isnan(result)) == [False] * 3 + [True] * 2
        assert list(result[:3]) == sorted([1.0, 2.0, 3.0], reverse=descending)


def test_distinct_values_treat_each_nan_as_itself():
    x = sw.asarray([[1.0, np.nan], [1.0, np.nan]], device="cpu")
    result = sw.unique_all(x)
    assert result.counts.tolist() == [2, 1, 1]
    assert result.inverse_indices.shape == (2, 2)
    assert sw.unique_values(x).shape == sw.unique_counts(x).values.shape == (3,)
    assert sw.unique_values(sw.asarray([3, 1, 3, 0], device="cpu")).tolist() == [0, 1, 3]
    assert sw.unique_inverse(x).values.shape == (3,)


def test_results_share_memory_with_arguments_that_numpy_returns_views_of():
    x = sw.arange(4, dtype="complex64", device="cpu")
    assert sw.real_if_close(x.real).ptr == x.ptr


def test_files_hold_arrays(tmp_path, device):
    x = sw.arange(6, dtype="float32", device="cpu").reshape(2, 3)
    sw.save(tmp_path / "x.npy", x.T)
    y = sw.load(tmp_path / "x.npy", device=device)
    assert y.device == device and y.tolist() == x.T.tolist()
    sw.savez(tmp_path / "x.npz", x=x)
    sw.savez_compressed(tmp_path / "y.npz", x=x)
    for name in ("x.npz", "y.npz"):
        with np.load(tmp_path / name) as file:
            np.testing.assert_array_equal(file["x"], x.numpy())
    text = io.StringIO()
    sw.savetxt(text, x)
    text.seek(0)
    assert sw.loadtxt(text, device=device).tolist() == x.tolist()
    (tmp_path / "raw").write_bytes(b"\1\2")
    assert sw.fromfile(tmp_path / "raw", "u1", device=device).tolist() == [1, 2]


def test_results_without_arrays_are_on_the_device_asked_for(device):
    assert sw.hanning(4, device=device).device == sw.logspace(0, 1, device=device).device == device
    assert sw.fft.fftfreq(4, dtype="float32", device=device).dtype == "float32"


def test_functions_that_cupy_lacks_are_made_of_its_own(monkeypatch):
    from spanwise._numpy.borrowed import _function_of_cupy

    monkeypatch.setitem(sys.modules, "cupy", np)  # has what they are made of
    keys = np.random.default_rng(3).integers(0, 3, (3, 4, 5))
    np.testing.assert_array_equal(_function_of_cupy("lexsort")(tuple(keys)), np.lexsort(keys))
    with pytest.raises(sw.NotSupportedError, match="last axis"):
        _function_of_cupy("lexsort")(tuple(keys), axis=0)
    x = np.random.default_rng(4).standard_normal((2, 3, 4))
    np.testing.assert_allclose(_function_of_cupy("linalg.svdvals")(x), np.linalg.svdvals(x), 1e-12)


def test_eigenvalues_are_complex_as_in_the_array_api_but_for_numpys_function():
    x = sw.asarray([[2.0, 1.0], [1.0, 2.0]], "float32", device="cpu")
    values, vectors = sw.linalg.eig(x)
    assert values.dtype == vectors.dtype == sw.linalg.eigvals(x).dtype == "complex64"
    np.testing.assert_allclose(
        (x.numpy() @ vectors.numpy()), vectors.numpy() * values.numpy(), 1e-5
    )
    theirs = np.linalg.eigvals(x.numpy()).dtype  # complex since NumPy 2.5
    assert np.linalg.eig(x).eigenvalues.dtype == np.linalg.eigvals(x).dtype == theirs


def test_norms_and_powers_by_factorisations():
    x = np.random.default_rng(1).standard_normal((2, 4, 3))
    mine = sw.asarray(x, device="cpu")
    for order in (2, -2, "nuc"):
        for keepdims in (False, True):
            expected = np.linalg.norm(x, order, (0, 2), keepdims)
            result = sw.linalg.norm(mine, order, (0, 2), keepdims)
            np.testing.assert_allclose(result.numpy(), expected, 1e-13)
    square = x[0, :3]
    result = sw.linalg.matrix_power(sw.asarray(square, device="cpu"), -3)
    np.testing.assert_allclose(result.numpy(), np.linalg.matrix_power(square, -3), 1e-10)


def test_misuse_raises():
    x = sw.ones((2, 3), device="cpu")
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        sw.linalg.inv(x)
    assert sw.linalg.LinAlgError is np.linalg.LinAlgError
    with pytest.raises(TypeError, match=r"median: .*variable .* op"):
        sw.median(sw.tensor.fvector("v"))
    with pytest.raises(TypeError, match="nosuch"):
        sw.median(x, nosuch=1)
    with pytest.raises(AttributeError):
        sw.fft.nosuch  # noqa: B018
    with pytest.raises(AttributeError):
        sw.linalg.nosuch  # noqa: B018


def test_ways_are_explained(device):
    assert "own" in sw.explain_function("sum", device)
    way = sw.explain_function("linalg.svd", device)
    assert re.search("NumPy" if device.kind == "cpu" else "CuPy|PyTorch", way)
    assert "copy on the host" in sw.explain_function("array_str", device)
    assert sw.explain_function("sort", "cpu") == "sort on cpu: NumPy's, over the array's memory"


def test_joined_ranges_index_expressions_and_vectorize_equal_numpy(device):
    host = np.arange(4, dtype="float32")
    a = sw.asarray(host, device=device)
    if sw.device(device).kind == "cuda" and importlib.util.find_spec("cupy") is None:
        with pytest.raises(sw.NotSupportedError, match="r_.*borrowed from CuPy or PyTorch"):
            sw.r_[a, 0]
        with pytest.raises(TypeError, match="use sw.ElementwiseKernel"):
            sw.vectorize(lambda x: x)(a)
        return
    try:
        joined = sw.r_[a, 0, 1:4, 2:3:3j]
    except NotImplementedError as error:
        pytest.skip(f"CuPy: {error}")
    for ours, expected in (
        (joined, np.r_[host, 0, 1:4, 2:3:3j]),
        (sw.r_["0,2", a, a], np.r_["0,2", host, host]),
        (sw.c_[a, a * 2], np.c_[host, host * 2]),
        (sw.gradient(a, 2.0), np.gradient(host, 2.0)),
    ):
        assert isinstance(ours, sw.Array) and str(ours.device) == str(a.device)
        assert str(ours.dtype) == str(expected.dtype)
        np.testing.assert_array_equal(ours.numpy(), expected)
    rows = sw.gradient(sw.asarray(host.reshape(2, 2), device=device), axis=(0, 1))
    for ours, expected in zip(rows, np.gradient(host.reshape(2, 2), axis=(0, 1)), strict=True):
        np.testing.assert_array_equal(ours.numpy(), expected)
    assert sw.gradient.grad is sw.tensor.grad and "NumPy" in sw.explain_function("gradient", "cpu")
    assert sw.s_[1:, 0] == np.s_[1:, 0] and sw.index_exp[2] == (2,) == np.index_exp[2]
    assert sw.r_[1:3].device == sw.default_device()

    @sw.vectorize
    def clipped(x, limit):
        """The smaller one."""
        return min(x, limit)

    if a.device.kind == "cpu":
        np.testing.assert_array_equal(clipped(a, 2).numpy(), np.minimum(host, 2))
        assert clipped.__doc__ == "The smaller one." and isinstance(clipped(a, 1.5), sw.Array)
        assert sw.vectorize(otypes=["f8"])(lambda x: x)(a).dtype == "float64"


def test_a_function_of_a_newer_numpy_is_named_and_not_listed(monkeypatch):
    with pytest.raises(AttributeError, match=r"numpy\.of_numpy_9, which NumPy \d.* does not have"):
        borrowed.borrowed("of_numpy_9")
    assert "bitwise_count" in dir(sw) or not hasattr(np, "bitwise_count")
    monkeypatch.delattr(np, "trapezoid", raising=False)
    assert "trapezoid" not in dir(sw) and "explain_function" in dir(sw)
