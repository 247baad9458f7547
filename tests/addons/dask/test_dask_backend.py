# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The backend "spanwise" of dask.array: conversion, creation, random numbers, sizes."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from support.tree import ROOT

import spanwise as sw

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

import spanwise.dask  # noqa: E402


@pytest.fixture
def backend():
    with dask.config.set({"array.backend": "spanwise", "scheduler": "sync"}):
        yield


def test_to_backend_converts_chunks_and_back():
    host = np.arange(12.0).reshape(3, 4)
    x = da.from_array(host, chunks=2).to_backend("spanwise")
    assert type(x._meta) is sw.Array and x._meta.shape == (0, 0) and x.dtype == "float64"
    assert x._meta.device == sw.device()
    assert x.to_backend("spanwise") is x
    assert type(x.compute(scheduler="sync")) is sw.Array
    back = x.to_backend("numpy")
    assert type(back._meta) is np.ndarray
    result = back.compute(scheduler="sync")
    assert type(result) is np.ndarray and result.tolist() == host.tolist()


def test_dtypes_that_spanwise_lacks_are_refused():
    with pytest.raises(TypeError, match=r"expected chunks of numbers, got dtype datetime64\[D\]"):
        da.from_array(np.array(["2026-01-01"], "datetime64[D]")).to_backend("spanwise")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: da.ones((4, 3), chunks=2), np.ones((4, 3))),
        (lambda: da.zeros(5, dtype="float32", chunks=2), np.zeros(5, "float32")),
        (lambda: da.full((2, 2), 7, chunks=1), np.full((2, 2), 7)),
        (lambda: da.arange(2, 9, 2, chunks=2), np.arange(2, 9, 2)),
        (lambda: da.empty((3,), dtype="int32", chunks=2) * 0, np.zeros(3, "int32")),
    ],
)
def test_creation_functions_make_spanwise_chunks(backend, make, expected):
    x = make()
    result = x.compute()
    assert type(x._meta) is sw.Array and type(result) is sw.Array
    assert result.dtype == expected.dtype and result.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "draw",
    [
        lambda g: g.random((50, 40), chunks=20),
        lambda g: g.normal(0.5, 0.1, size=(50, 40), chunks=20),
        lambda g: g.uniform(0, 1, size=(50, 40), chunks=20),
        lambda g: g.integers(0, 2, size=(50, 40), chunks=20),
        lambda g: g.gamma(5.0, 0.1, size=(50, 40), chunks=20),  # drawn by NumPy
        lambda g: g.poisson(0.5, size=(50, 40), chunks=20),
        lambda g: g.choice(2, size=2000, chunks=500),
    ],
)
def test_random_chunks_depend_on_the_seed_and_differ(backend, draw):
    first, again, other = (draw(da.random.default_rng(seed)) for seed in (3, 3, 4))
    x = first.compute()
    assert type(first._meta) is sw.Array and type(x) is sw.Array
    assert x.tolist() == again.compute().tolist() != other.compute().tolist()
    assert abs(float(x.mean()) - 0.5) < 0.06  # the mean of all these distributions
    # The halves are of different chunks.
    assert x.numpy().reshape(2, -1)[0].tolist() != x.numpy().reshape(2, -1)[1].tolist()


def test_random_state_repeats_with_its_seed(backend):
    for name, options in {
        "normal": {"loc": 2.0},
        "random_sample": {},
        "poisson": {"lam": 3},
    }.items():
        x, same = (
            getattr(da.random.RandomState(7), name)(size=(30, 20), chunks=10, **options)
            for _ in range(2)
        )
        assert type(x.compute()) is sw.Array
        assert x.compute().tolist() == same.compute().tolist()


def test_unknown_distribution_raises_attribute_error(backend):
    with pytest.raises(AttributeError, match="abacus"):
        spanwise.dask.BitGenerator(1).abacus  # noqa: B018


def test_generator_is_pickled_with_its_seed():
    g = spanwise.dask.BitGenerator(5)
    assert pickle.loads(pickle.dumps(g)).random(3).tolist() == g.random(3).tolist()


def test_sizeof_counts_memory_and_not_broadcast_elements():
    from dask.sizeof import sizeof

    x = sw.zeros((100, 50), dtype="float32")
    assert sizeof(x) == 20000
    assert sizeof(sw.broadcast_to(x[0], (10**6, 50))) == 200
    assert sizeof(sw.zeros((0, 3))) == 0


def test_map_blocks_calls_kernels_and_compiled_functions():
    host = np.arange(10, dtype="float32")
    x = da.from_array(host, chunks=4).to_backend("spanwise")
    kernel = sw.ElementwiseKernel("T x, float32 g", "T y", "y = x * g", "scaled")
    v = sw.tensor.fvector("v")
    f = sw.function([v], v * 2 + 1)
    assert x.map_blocks(kernel, 3, dtype="float32").compute(scheduler="sync").tolist() == [
        *(host * 3)
    ]
    assert x.map_blocks(f, dtype="float32").compute(scheduler="sync").tolist() == [*(host * 2 + 1)]


@pytest.mark.parametrize(
    "use",
    [
        lambda s, d: s + d,
        lambda s, d: s * d,
        lambda s, d: s @ d,
        lambda s, d: s == d,
        lambda s, d: np.exp(d) + s,
    ],
)
def test_operators_with_dask_arrays_are_lazy(use):
    s, d = sw.arange(4.0, device="cpu"), da.arange(4.0, chunks=2)  # Dask's chunks are of NumPy
    result = use(s, d)
    assert isinstance(result, da.Array)
    assert np.array_equal(result.compute(scheduler="sync"), use(s.numpy(), np.arange(4.0)))


@pytest.mark.parametrize(
    "use", [sw.exp, sw.sum, lambda d: sw.ElementwiseKernel("T x", "T y", "y = x")(d)]
)
def test_functions_of_spanwise_refuse_to_compute_a_dask_array(use):
    computed = []
    d = da.arange(4.0, chunks=2).map_blocks(lambda x: (computed.append(1), x)[1], dtype=float)
    computed.clear()
    with pytest.raises((TypeError, sw.Error)):
        use(d)
    assert not computed


PROGRAM = """
import sys
import numpy as np, dask.array as da, dask.sizeof
assert "spanwise.dask" not in sys.modules
x = da.ones((4, 4), chunks=2).to_backend("spanwise")
import spanwise as sw
assert dask.sizeof.sizeof(sw.zeros(1000)) == 8000
print(type(x.sum().compute(scheduler="sync")).__name__, float(x.sum().compute(scheduler="sync")))
"""


def test_entry_points_register_without_import(tmp_path):
    """The entry points of pyproject.toml, read from the metadata of an installation."""
    info = tmp_path / "spanwise-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: spanwise\nVersion: 1.0\n")
    text = (ROOT / "pyproject.toml").read_text()
    sections = text.split('[project.entry-points."dask.')[1:]
    assert len(sections) == 2
    groups = [
        "[dask." + section.split("\n\n")[0].replace('"]', "]").replace('"', "")
        for section in sections
    ]
    (info / "entry_points.txt").write_text("\n\n".join(groups))
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["Array", "16.0"]
