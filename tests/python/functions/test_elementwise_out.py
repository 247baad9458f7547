# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""out=, where=, order= and dtype= of elementwise operations, and memory that overlaps."""

import warnings

import numpy as np
import pytest
from support.arrays import poisoned, windows, writable_broadcast
from support.elementwise import assert_close, operand
from support.elementwise_cases import hypothesis, on_gpu, st

import spanwise as sw


@pytest.fixture(autouse=True)
def silence():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@hypothesis.given(
    window=windows(broadcast=False),
    out_dtype=st.sampled_from(["float32", "float64", "complex64", "float16"]),
    masked=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_out_and_where_change_only_selected_elements(device, window, out_dtype, masked, seed):
    random = np.random.default_rng(seed)
    guarded = poisoned(window.base_shape, out_dtype, device)
    before = guarded.numpy().copy()
    out, theirs = window.of(guarded), window.of(before)
    a, b = operand("float32", out.shape, seed), operand("int16", out.shape, seed + 1)
    mask = random.integers(0, 2, out.shape).astype(bool) if masked else np.True_
    np.add(a, b, out=theirs, where=mask)
    ours = [sw.asarray(x, device=device) for x in (a, b)]
    where = sw.asarray(mask, device=device) if masked else True
    assert sw.add(*ours, out=out, where=where) is out
    after = guarded.numpy()
    same = (after == before) | ((after != after) & (before != before))
    assert same.all()


@hypothesis.given(
    shift=st.integers(-3, 3),
    step=st.sampled_from([1, -1, 2]),
    dtypes=st.tuples(*[st.sampled_from(["int16", "float32", "int32", "float64"])] * 2),
)
def test_out_may_overlap_the_operands(device, shift, step, dtypes):
    size = 5000
    memory = operand(dtypes[0], (size + 10,), 3)
    ours = sw.array(memory, device=device)
    theirs = memory.copy()
    for base, call in ((theirs, np.add), (ours, sw.add)):
        source = base[5 : 5 + size : abs(step)][:: 1 if step > 0 else -1]
        target = base[5 + shift : 5 + shift + len(source)]
        call(source, source, out=target, casting="unsafe")
    np.testing.assert_array_equal(ours.numpy(), theirs)


def test_out_may_be_a_view_of_an_operand_with_another_dtype(device):
    memory = sw.array(np.arange(4000, dtype="int32"), device=device)
    sw.multiply(memory, 2, out=memory.view("float32"), casting="unsafe")
    np.testing.assert_array_equal(memory.view("float32").numpy(), np.arange(4000) * 2.0)


def test_out_whose_elements_overlap_is_written(device):
    out = writable_broadcast(sw.zeros((1,), "int64", device=device), (3,))
    sw.add(sw.array([7, 7, 7], device=device), 1, out=out)
    assert out.tolist() == [8, 8, 8]


def test_misaligned_memory_is_read_correctly():
    memory = np.zeros(8 * 600 + 1, "uint8")
    misaligned = memory[1:].view("float64")
    misaligned[:] = np.arange(600)
    np.testing.assert_array_equal(sw.add(misaligned, 1).numpy(), misaligned + 1)
    np.testing.assert_array_equal((sw.asarray(misaligned[::2]) * 2).numpy(), misaligned[::2] * 2)


@pytest.mark.parametrize("order", "CFAK")
def test_result_has_numpys_strides_for_each_order(order, device):
    a = operand("float32", (4, 5, 6), 0).transpose(2, 0, 1)
    ours = sw.add(sw.asarray(a, device=device), 1, order=order)
    oracle = np.add(np.asarray(a), 1, order=order)
    assert_close(ours, oracle)
    assert ours.strides == oracle.strides


@pytest.mark.parametrize("shape", [(4, 5), (5,), (4, 1), (1, 5)])
def test_order_a_is_fortran_order_for_fortran_operands(shape, device):
    a = np.asfortranarray(operand("float32", (4, 5), 0))
    for b in (operand("float32", shape, 1), np.asfortranarray(operand("float32", shape, 1))):
        ours = sw.add(*(sw.asarray(x, device=device) for x in (a, b)), order="A")
        assert ours.strides == np.add(a, b, order="A").strides


def test_dtype_argument_sets_the_result_dtype(device):
    a = operand("complex64", (20,), 1)
    ours = sw.asarray(a, device=device)
    assert_close(sw.absolute(ours, dtype="float64"), np.absolute(a, dtype="float64"))
    assert_close(sw.add(ours, 1, dtype="complex128"), np.add(a, 1, dtype="complex128"))
    left, right = (sw.asarray([1, 2], dtype, device=device) for dtype in ("int64", "uint64"))
    for function in (sw.logical_and, sw.less, sw.equal):
        assert function(left, right, dtype=bool).dtype == "bool"
        with pytest.raises(TypeError, match="no loop gives dtype=float32"):
            function(left, right, dtype="float32")
    with pytest.raises(TypeError, match="no loop gives dtype=float64"):
        sw.logical_not(left, dtype="float64")


def test_numpy_ufuncs_return_spanwise_arrays(device):
    a = sw.array([1.0, 4.0], "float32", device=device)
    for result, oracle in (
        (np.sqrt(a), [1, 2]),
        (np.add(a, 1), [2, 5]),
        (np.multiply(2.0, a), [2, 8]),
        (np.true_divide(a, a), [1, 1]),
        (np.abs(a), [1, 4]),
    ):
        assert isinstance(result, sw.Array) and result.device == device
        assert result.tolist() == oracle
    quotient, remainder = np.divmod(a, 3)
    assert quotient.tolist() == [0, 1] and remainder.tolist() == [1, 1]
    out = sw.zeros(2, "float32", device=device)
    assert np.negative(a, out=out) is out and out.tolist() == [-1, -4]


def test_numpy_operands_mix_on_the_cpu_and_raise_on_a_gpu(device):
    a, b = sw.array([1.0, 2.0], device=device), np.array([3.0, 4.0])
    if on_gpu(device):  # NumPy's memory is the host's, and copies between devices are explicit
        for mixed in (
            lambda: a + b,
            lambda: b + a,
            lambda: np.add(b, a),
            lambda: np.add(a, a, out=b),
        ):
            with pytest.raises(sw.DeviceError, match=r"\.to\("):
                mixed()
        assert b.tolist() == [3, 4]
        return
    for result in (a + b, b + a, np.add(b, a)):
        assert isinstance(result, sw.Array) and result.tolist() == [4, 6]
    b += a
    assert type(b) is np.ndarray and b.tolist() == [4, 6]
    assert np.add(a, a, out=b) is b and b.tolist() == [2, 4]


# Layouts of a window in its memory: the order of the axes there, and the selected elements. The axis
# with the smallest stride differs from that of the result, is reversed, has gaps or an offset.
LAYOUTS = {
    "C order": ((0, 1, 2), np.s_[:]),
    "transposed": ((2, 1, 0), np.s_[:]),
    "axes 2, 0, 1": ((2, 0, 1), np.s_[:]),
    "last axes exchanged": ((0, 2, 1), np.s_[:]),
    "reversed": ((0, 1, 2), np.s_[:, :, ::-1]),
    "transposed, reversed": ((2, 1, 0), np.s_[::-1, :, ::-1]),
    "every second": ((0, 1, 2), np.s_[:, :, ::2]),
    "transposed, every second": ((2, 1, 0), np.s_[::2, :, ::-1]),
    "offset": ((0, 1, 2), np.s_[:, :, 1:]),
    "transposed, offset": ((2, 1, 0), np.s_[3:, :, 1:]),
}


def view_with_layout(layout, shape, make, device):
    """A view of `shape` with the layout in the array make(base shape): Spanwise's and NumPy's."""
    order, key = LAYOUTS[layout]
    base = [0, 0, 0]
    for axis, position in enumerate(order):
        base[position] = 2 * shape[axis] + 3
    values = make(tuple(base))
    cut = tuple(slice(0, n) for n in shape)
    ours, theirs = sw.array(values, device=device), values.copy()
    return ours.transpose(order)[key][cut], theirs.transpose(order)[key][cut]


@hypothesis.settings(max_examples=60)
@hypothesis.given(
    st.tuples(st.integers(1, 140), st.integers(1, 3), st.integers(1, 140)),
    *[st.sampled_from(sorted(LAYOUTS))] * 4,
    st.sampled_from(["uint8", "float16", "float32", "float64", "complex128"]),
    st.sampled_from([(), (0,), (2,)]),
    st.booleans(),
)
def test_operands_and_out_of_any_layout_match_numpy(
    device, shape, left_layout, right_layout, out_layout, mask_layout, dtype, broadcast_axes, masked
):
    """The layouts select loops by tiles, by vectors and by single elements, also for each operand."""
    right_shape = tuple(1 if axis in broadcast_axes else n for axis, n in enumerate(shape))
    pairs = [
        view_with_layout(left_layout, shape, lambda base: operand(dtype, base, 1), device),
        view_with_layout(right_layout, right_shape, lambda base: operand(dtype, base, 2), device),
    ]
    ours, theirs = zip(*pairs, strict=True)
    assert_close(sw.add(*ours), np.add(*theirs))

    out, oracle = view_with_layout(
        out_layout, shape, lambda base: poisoned(base, dtype, device).numpy(), device
    )
    mask, where = True, True
    if masked:
        mask, where = view_with_layout(
            mask_layout, shape, lambda base: operand("bool", base, 4), device
        )
    np.multiply(*theirs, out=oracle, where=where)
    sw.multiply(*ours, out=out, where=mask)
    assert_close(out, oracle)
