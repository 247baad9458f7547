# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""JAX: arrays are shared where JAX has their dtype and layout; otherwise an error names the
reason."""

import gc
import os
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support import package
from support.arrays import assert_same, pair, windows

import spanwise as sw

jax = pytest.importorskip("jax", reason="jax is not installed")
jnp = jax.numpy

DTYPES = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32")


def address(array):
    """The address of a JAX array."""
    return array.unsafe_buffer_pointer()


@pytest.fixture(autouse=True)
def skip_devices_that_jax_lacks(device):
    if device.kind == "cuda" and jax.default_backend() != "gpu":
        pytest.skip("this jax has no GPU")


def jax_array(values, device):
    kind = "gpu" if device.kind == "cuda" else "cpu"
    return jax.device_put(values, jax.devices(kind)[0])


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16", "complex64"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4)])
def test_import_shares_memory_and_is_read_only(device, shape, dtype):
    foreign = jax_array(jnp.ones(shape, dtype), device)
    ours = sw.from_jax(foreign)
    assert ours.shape == shape
    assert ours.dtype == dtype
    assert ours.device == device
    assert not ours.flags.writeable
    if ours.size:
        assert ours.ptr == address(foreign)
    np.testing.assert_array_equal(ours.numpy(), np.asarray(foreign))
    with pytest.raises(sw.ReadOnlyError):
        ours[...] = 0


@given(window=windows(broadcast=False), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 2**32))
def test_export_shares_or_copies_as_explained(device, window, dtype, seed):
    ours, oracle = pair(window, dtype, device, seed)
    explanation = sw.explain(ours, "jax")
    if explanation.shares:
        exported = sw.to_jax(ours)
        if ours.size:
            assert address(exported) == ours.ptr
    else:
        with pytest.raises(sw.CopyNeededError):
            sw.to_jax(ours)
        exported = sw.to_jax(ours, copyif=True)
        assert ours.size == 0 or address(exported) != ours.ptr
    np.testing.assert_array_equal(np.asarray(exported), oracle)
    assert exported.dtype == oracle.dtype


def test_permuted_axes_are_shared_and_strided_slices_are_not(device):
    base = sw.asarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4), device=device, copy=True)
    for view in (base, base.T, base.transpose(1, 2, 0), base[None]):
        assert sw.explain(view, "jax").shares
        np.testing.assert_array_equal(np.asarray(sw.to_jax(view)), view.numpy())
    for view in (base[:, ::2], base[::-1]):
        assert "strides" in sw.explain(view, "jax").reason


def test_explain_reports_an_address_that_jax_would_copy():
    # JAX copies host memory that is not aligned to 64 bytes.
    raw = sw.zeros(65, dtype="float32", device="cpu")
    assert sw.explain(raw, "jax").shares
    explanation = sw.explain(raw[1:], "jax")
    assert not explanation.shares
    assert "64" in explanation.reason
    assert sw.to_jax(raw[1:], copyif=True).shape == (64,)


def test_64_bit_dtype_raises_where_jax_would_narrow_it(device):
    ours = sw.zeros(3, dtype="float64", device=device)
    if jax.config.jax_enable_x64:
        pytest.skip("x64 is enabled")
    with pytest.raises(sw.DTypeError, match="jax_enable_x64"):
        sw.to_jax(ours)
    with pytest.raises(sw.DTypeError):
        sw.to_jax(ours, copyif=True)


def test_read_only_array_is_shared_with_jax():
    ours = sw.asarray(sw.zeros(16, dtype="float32", device="cpu"))
    shared = sw.to_jax(sw.from_dlpack(sw.to_jax(ours)))  # imports from JAX are read-only
    assert address(shared) == ours.ptr


def test_traced_array_raises():
    def traced(x):
        sw.asarray(x)
        return x

    with pytest.raises(sw.ArgumentError, match="concrete"):
        jax.jit(traced)(jnp.ones(3))


def test_error_for_unsupported_arrays_gives_the_remedy():
    deleted = jnp.ones(3)
    deleted.delete()
    for array, error, remedy in (
        (deleted, sw.ArgumentError, "deleted"),
        (jax.random.key(0), sw.DTypeError, "key_data"),
        (jnp.ones(3, dtype="int4"), sw.DTypeError, "astype"),
    ):
        for take in (sw.asarray, sw.from_jax):
            with pytest.raises(error, match=remedy):
                take(array)
    assert sw.asarray(jax.random.key_data(jax.random.key(0))).shape == (2,)


def test_array_on_several_devices_raises_naming_addressable_data():
    program = """
        import jax, numpy as np, spanwise as sw
        from jax.sharding import Mesh, NamedSharding, PartitionSpec

        mesh = Mesh(np.array(jax.devices("cpu")), ("rows",))
        rows = jax.device_put(np.arange(8.0, dtype="float32"), NamedSharding(mesh, PartitionSpec("rows")))
        try:
            sw.asarray(rows)
        except sw.ArgumentError as error:
            print(error)
        print(sw.asarray(rows.addressable_data(1)).tolist())
    """
    environment = dict(
        os.environ,
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
        JAX_PLATFORMS="cpu",
        PYTHONPATH=os.pathsep.join(p for p in sys.path if p),
    )
    out = package.run(sys.executable, "-c", textwrap.dedent(program), env=environment)
    message, values = out.splitlines()
    assert "2 devices" in message
    assert "addressable_data" in message
    assert values == "[4.0, 5.0, 6.0, 7.0]"


def test_shared_memory_outlives_either_array(device):
    ours = sw.asarray(np.arange(1024, dtype=np.float32), device=device, copy=True)
    foreign = sw.to_jax(ours)
    del ours
    gc.collect()
    assert float(foreign.sum()) == 1023 * 512
    ours = sw.from_jax(foreign)
    del foreign
    gc.collect()
    assert_same(ours, np.arange(1024, dtype=np.float32))


def test_jax_from_dlpack_accepts_our_arrays(device):
    ours = sw.asarray(np.arange(16, dtype=np.float32), device=device, copy=True)
    np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(ours)), ours.numpy())
