# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Gnumpy: the real library on a GPU. Without one two runs: Gnumpy 0.2 from the package index over
npmat, if it can be downloaded, and a fake over the fake of CUDAMat, whose arrays are addresses as
on a GPU."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import spanwise as sw

SHAPES = [(), (1,), (5,), (3, 4), (1, 4), (4, 1), (2, 3, 4), (1, 2, 3), (2, 1, 3), (2, 3, 1)]


def numbered(shape):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


def array(library, values):
    return sw.array(values, device=library.device)


@pytest.mark.parametrize("shape", SHAPES)
def test_garray_is_imported_with_its_shape(gnumpy, shape):
    values = numbered(shape)
    theirs = gnumpy.make(values)
    ours = sw.from_gnumpy(theirs)
    assert (ours.shape, ours.dtype, str(ours.device)) == (shape, "float32", gnumpy.device)
    np.testing.assert_array_equal(ours.numpy(), values)
    ours[...] = 3
    ours.sync()
    assert (gnumpy.read(theirs) == 3).all()
    gnumpy.write(theirs, 4)
    assert (ours.numpy() == 4).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_array_is_exported_with_its_shape(gnumpy, shape):
    values = numbered(shape)
    ours = array(gnumpy, values)
    theirs = sw.to_gnumpy(ours)
    assert theirs.shape == shape
    np.testing.assert_array_equal(gnumpy.read(theirs), values)
    theirs += 1
    sw.synchronize()
    np.testing.assert_array_equal(ours.numpy(), values + 1)
    again = sw.from_gnumpy(theirs)
    assert again.ptr == ours.ptr


@pytest.mark.parametrize("name", ["to_garray", "from_garray"])
def test_garray_functions_are_those_of_the_gnumpy_bridge(name):
    assert getattr(sw, name) is getattr(sw, name.replace("garray", "gnumpy"))


def test_memory_with_a_live_view_is_not_reused(gnumpy):
    """Gnumpy keeps the memory of dead arrays for later arrays of the same size."""
    for _ in range(20):
        theirs = gnumpy.make(numbered((3, 5)))
        ours = sw.asarray(theirs)
        del theirs
        later = [gnumpy.make(np.full((3, 5), -1.0)) for _ in range(5)]
        np.testing.assert_array_equal(ours.numpy(), numbered((3, 5)))
        del later, ours


def test_released_memory_is_reused(gnumpy):
    theirs = gnumpy.make(numbered((3, 7)))
    address = sw.asarray(theirs).ptr
    del theirs
    sw.synchronize()
    gc.collect()
    assert sw.asarray(gnumpy.make(numbered((7, 3)))).ptr == address


def test_garbage_collection_leaves_no_freed_matrix_in_gnumpys_cache(gnumpy):
    """A matrix in one reference cycle with its garray is freed, and its data still copied back."""
    sw.asarray(gnumpy.make(numbered((3, 4))))
    cycle = [gnumpy.make(numbered((3, 4))) for _ in range(3)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    theirs = sw.to_gnumpy(array(gnumpy, numbered((3, 4))))
    theirs += 1
    np.testing.assert_array_equal(gnumpy.read(theirs), numbered((3, 4)) + 1)
    later = [gnumpy.make(numbered((3, 4))) for _ in range(4)]
    for garray in later:
        np.testing.assert_array_equal(gnumpy.read(garray), numbered((3, 4)))


def test_exported_memory_never_enters_gnumpys_cache(gnumpy):
    cache = gnumpy.module._cmsForReuse  # free matrices by their number of elements
    before = len(cache[6])
    theirs = sw.to_gnumpy(array(gnumpy, numbered((2, 3))))
    parts = [theirs.reshape(3, 2), theirs[0:1]]
    del theirs
    gc.collect()
    np.testing.assert_array_equal(gnumpy.read(parts[0]), numbered((3, 2)))
    del parts
    gc.collect()
    assert len(cache[6]) == before


def test_exported_memory_is_held_by_the_garray_and_its_views(gnumpy):
    if gnumpy.device != "cpu":
        pytest.skip("the owner whose references are counted is a NumPy array")
    values = numbered((4, 3))
    theirs = sw.to_gnumpy(values)
    held = sys.getrefcount(values)
    part = theirs.reshape(12)
    del theirs
    gc.collect()
    assert sys.getrefcount(values) == held
    del part
    gc.collect()
    assert sys.getrefcount(values) == held - 1


def test_slice_is_imported_as_a_view(gnumpy):
    theirs = gnumpy.make(numbered((5, 4)))
    part = sw.asarray(theirs[1:3])
    assert part.ptr == sw.asarray(theirs).ptr + 16
    np.testing.assert_array_equal(part.numpy(), numbered((5, 4))[1:3])
    del theirs
    gc.collect()
    np.testing.assert_array_equal(part.numpy(), numbered((5, 4))[1:3])


def test_shape_of_the_base_is_ignored(gnumpy):
    theirs = gnumpy.make(numbered((2, 6)))
    theirs._base.reshape((3, 4))
    np.testing.assert_array_equal(sw.asarray(theirs).numpy(), numbered((2, 6)))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_arrays_without_elements_go_both_ways(gnumpy, shape):
    theirs = sw.to_gnumpy(sw.zeros(shape, dtype="float32", device=gnumpy.device))
    assert theirs.shape == shape
    assert sw.asarray(theirs).shape == shape


@pytest.mark.parametrize(
    "window",
    [lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::-1], lambda x: x[:, 1:]],
    ids=["transposed", "steps", "backwards", "columns"],
)
def test_other_layouts_are_copied_only_where_that_is_allowed(gnumpy, window):
    values = numbered((3, 4))
    ours = window(array(gnumpy, values))
    assert not sw.explain(ours, "gnumpy").shares
    with pytest.raises(sw.CopyNeededError, match="C order"):
        sw.to_gnumpy(ours)
    theirs = sw.to_gnumpy(ours, copyif=True)
    np.testing.assert_array_equal(gnumpy.read(theirs), window(values))
    gnumpy.write(theirs, 9)
    np.testing.assert_array_equal(ours.numpy(), window(values))


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
def test_other_dtypes_are_never_cast(gnumpy, dtype):
    with pytest.raises(sw.DTypeError, match=r"float32.*astype"):
        sw.to_gnumpy(sw.ones(3, dtype=dtype, device=gnumpy.device), copyif=True)


def test_uninitialised_garray_raises(gnumpy):
    unfinished = object.__new__(gnumpy.module.garray)
    with pytest.raises(TypeError, match="shape"):
        sw.from_gnumpy(unfinished)


def test_a_shape_of_more_elements_than_64_bits_count_is_refused(gnumpy):
    garray = gnumpy.make(numbered((3, 4)))
    garray.shape = (2**32, 2**32)
    with pytest.raises(sw.Error, match="4294967296"):
        sw.from_gnumpy(garray)


def test_theanos_conversion_functions_share_memory_or_need_copyif(gnumpy):
    from spanwise.compat import gnumpy_utils

    values = numbered((3, 4, 5))
    ours = gnumpy_utils.garray_to_cudandarray(gnumpy.make(values))
    np.testing.assert_array_equal(ours.numpy(), values)
    theirs = gnumpy_utils.cudandarray_to_garray(ours)
    theirs += 1
    sw.synchronize()
    np.testing.assert_array_equal(ours.numpy(), values + 1)
    with pytest.raises(ValueError, match="copyif"):
        gnumpy_utils.cudandarray_to_garray(ours.T)
    copied = gnumpy_utils.cudandarray_to_garray(ours.T, copyif=True)
    np.testing.assert_array_equal(gnumpy.read(copied), (values + 1).T)
    with pytest.raises(TypeError):
        gnumpy_utils.garray_to_cudandarray(values)


@pytest.mark.skipif("SPANWISE_TEST_GNUMPY" in os.environ, reason="this is the run that it starts")
def test_these_tests_pass_with_the_fake_whose_arrays_are_addresses(pytestconfig):
    if any(device.kind == "cuda" for device in sw.devices()):
        pytest.skip("the real library is tested here")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
        env=dict(
            os.environ,
            SPANWISE_TEST_GNUMPY="stand-in",
            PYTHONPATH=os.pathsep.join(p for p in sys.path if p),
        ),
        cwd=pytestconfig.rootpath,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    # That run skips this test and no other.
    assert "skipped" not in done.stdout.splitlines()[-1].replace("1 skipped", "")


def test_library_without_a_version_is_listed_as_unknown(gnumpy):
    (info,) = [info for info in sw.bridges() if info.name == "gnumpy"]
    assert info.version == getattr(gnumpy.module, "__version__", "unknown")
