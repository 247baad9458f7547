# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow: tensors are read-only, C-contiguous and aligned; other arrays raise with the
reason."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from support import foreign

import spanwise as sw

DTYPES = foreign.Tensorflow.dtypes


@pytest.fixture(scope="module")
def tf():
    try:
        return foreign.library("tensorflow").module
    except foreign.Unavailable as reason:
        pytest.skip(str(reason))


def aligned(shape, dtype):
    """An array at an address that TensorFlow can share, as those of all whole arrays are."""
    return sw.zeros(shape, dtype=dtype, device="cpu")


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
@pytest.mark.parametrize("shape", [(), (0, 2), (3,), (2, 3, 4)])
def test_tensors_go_both_ways(tf, shape, dtype):
    theirs = sw.to_tensorflow(aligned(shape, dtype))
    assert (tuple(theirs.shape), theirs.dtype.name) == (shape, dtype)
    back = sw.from_tensorflow(theirs)
    assert (back.shape, back.dtype.name, str(back.device)) == (shape, dtype, "cpu")
    assert not back.flags.writeable
    if back.size:
        assert back.ptr == sw.asarray(theirs).ptr


def test_memory_is_shared_and_kept(tf):
    ours = sw.arange(1000, dtype="float32", device="cpu")
    theirs = sw.to_tensorflow(ours)
    ours[3] = -1
    assert float(theirs[3]) == -1
    del ours
    gc.collect()
    assert float(tf.reduce_sum(theirs)) == 499500 - 4  # the sum of 0 to 999, with -1 for 3
    theirs = tf.range(1000)
    ours = sw.asarray(theirs)
    del theirs
    gc.collect()
    assert int(ours.sum()) == 499500


@pytest.mark.parametrize(
    "window",
    [lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::-1], lambda x: x[1:]],
    ids=["transposed", "steps", "backwards", "unaligned"],
)
def test_other_layouts_are_copied_only_where_that_is_allowed(tf, window):
    values = np.arange(12, dtype="float32").reshape(4, 3)
    ours = window(sw.array(values, device="cpu"))
    assert not sw.explain(ours, "tensorflow").shares
    with pytest.raises(sw.CopyNeededError, match="C order|64 bytes"):
        sw.to_tensorflow(ours)
    theirs = sw.to_tensorflow(ours, copyif=True)
    np.testing.assert_array_equal(theirs.numpy(), window(values))
    np.testing.assert_array_equal((theirs + theirs).numpy(), 2 * window(values))


def test_read_only_memory_is_exported_and_shared(tf):
    ours = sw.array(np.arange(16.0), device="cpu")
    readonly = sw.broadcast_to(ours, (1, 16))[0]
    assert not readonly.flags.writeable
    assert sw.from_tensorflow(sw.to_tensorflow(readonly)).ptr == ours.ptr


def test_unsupported_arrays_are_refused(tf):
    with pytest.raises(sw.DTypeError, match="string"):
        sw.asarray(tf.constant(["a", "b"]))
    with pytest.raises(sw.DTypeError, match="float8"):
        sw.to_tensorflow(sw.empty(3, dtype="float8_e5m2", device="cpu"))

    @tf.function
    def traced(x):
        with pytest.raises(sw.ArgumentError, match=r"tf\.function"):
            sw.asarray(x)
        return x

    traced(tf.constant(1.0))


def test_gpu_memory_is_copied_through_the_host(tf, device):
    if device.kind == "cpu":
        pytest.skip("needs a GPU")
    ours = sw.arange(5, dtype="float32", device=device)
    with pytest.raises(sw.CopyNeededError, match="no stream"):
        sw.to_tensorflow(ours)
    assert sw.to_tensorflow(ours, copyif=True).numpy().tolist() == [0, 1, 2, 3, 4]


def test_gpu_tensor_is_shared(tf, device):
    if device.kind == "cpu" or not tf.config.list_physical_devices("GPU"):
        pytest.skip("needs a GPU that TensorFlow has")
    with tf.device("GPU:0"):
        theirs = tf.range(1 << 20, dtype=tf.float32) * 2
    ours = sw.from_tensorflow(theirs)
    assert (ours.device, ours.flags.writeable) == (device, False)
    del theirs
    gc.collect()
    assert float(ours[-1]) == 2 * ((1 << 20) - 1)


def test_importing_spanwise_does_not_import_tensorflow():
    program = "import spanwise as sw, sys; sw.asarray([1]); print('tensorflow' in sys.modules)"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
