# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays to which functions write: their own memory is written, or the call raises."""

import numpy as np
import pytest

import spanwise as sw
import spanwise.collectives
import spanwise.linalg

_X = np.arange(1.0, 5.0)
_KERNEL = sw.ElementwiseKernel("double *x, double *y", "y[i] = x[i] + 1")
_VALUES = sw.ElementwiseKernel("T x", "T y", "y = x + 1")
_SUMS = sw.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
_SCAN = sw.ScanKernel("float64", "a + b")

_OUTPUTS = {
    "byte-swapped": lambda: np.full(4, -7.0, ">f8"),
    "unaligned": lambda: np.frombuffer(bytearray(33), "u1")[1:33].view("f8"),
    "field of a packed record": lambda: np.full(4, -7, [("a", "u1"), ("x", "f8")])["x"],
    "strided": lambda: np.full(8, -7.0)[::-2],
}


def _at(y):
    sw.add.at(y, [0, 1, 2, 3], _X)


def _reduced(y):
    _SUMS(np.stack([_X, _X]), axis=0, out=y)


def _collective(y):
    with sw.collectives.init() as ranks:
        sw.collectives.all_reduce(sw.array(_X, device="cpu"), ranks, out=y)


_CALLS = {
    "ElementwiseKernel of pointers": (lambda y: _KERNEL(_X, y), _X + 1),
    "ElementwiseKernel by position": (lambda y: _VALUES(_X, y), _X + 1),
    "ElementwiseKernel by name": (lambda y: _VALUES(_X, out=y), _X + 1),
    "ReductionKernel": (_reduced, 2 * _X),
    "ScanKernel": (lambda y: _SCAN(_X, y), np.cumsum(_X)),
    "ufunc": (lambda y: sw.add(_X, 1, out=y), _X + 1),
    "masked ufunc": (lambda y: sw.add(_X, 1, out=y, where=np.ones(4, bool)), _X + 1),
    "clip": (lambda y: sw.clip(_X, 2, 3, out=y), np.clip(_X, 2, 3)),
    "round": (lambda y: sw.round(_X / 7, 1, out=y), np.round(_X / 7, 1)),
    "divmod": (lambda y: sw.divmod(_X, 2, out=(None, y)), _X % 2),
    "sum": (lambda y: sw.sum(np.stack([_X, _X]), axis=0, out=y), 2 * _X),
    "cumsum": (lambda y: sw.cumsum(_X, out=y), np.cumsum(_X)),
    "cumulative_sum": (lambda y: sw.cumulative_sum(_X, out=y), np.cumsum(_X)),
    "mean": (lambda y: sw.mean(np.stack([_X, _X]), axis=0, out=y), _X),
    "concatenate": (lambda y: sw.concatenate([_X[:1], _X[1:]], out=y), _X),
    "take": (lambda y: sw.take(_X, [3, 2, 1, 0], out=y), _X[::-1]),
    "compress": (lambda y: sw.compress([True] * 4, _X, out=y), _X),
    "choose": (lambda y: sw.choose([0, 1, 0, 1], [_X, -_X], out=y), _X * [1, -1, 1, -1]),
    "put": (lambda y: sw.put(y, [0, 1, 2, 3], _X), _X),
    "put_along_axis": (lambda y: sw.put_along_axis(y, np.arange(4), _X, 0), _X),
    "putmask": (lambda y: sw.putmask(y, [True] * 4, _X), _X),
    "place": (lambda y: sw.place(y, [True] * 4, [5.0]), np.full(4, 5.0)),
    "copyto": (lambda y: sw.copyto(y, _X), _X),
    "copyto with a mask": (lambda y: sw.copyto(y, _X, where=np.ones(4, bool)), _X),
    "add.at": (_at, None),
    "matmul": (lambda y: sw.matmul(np.eye(4), _X, out=y), _X),
    "matmul with axes": (
        lambda y: sw.matmul(np.eye(4), _X, out=y, axes=[(0, 1), (0,), (0,)]),
        _X,
    ),
    "dot": (lambda y: sw.dot(np.eye(4), _X, out=y), _X),
    "einsum": (lambda y: sw.einsum("i->i", _X, out=y), _X),
    "random": (lambda y: sw.random.default_rng(7).random(out=y), None),
    "shuffle": (lambda y: sw.random.default_rng(7).shuffle(y), None),
    "all_reduce": (_collective, _X),
}  # fmt: skip


@pytest.mark.parametrize("output", _OUTPUTS)
@pytest.mark.parametrize("call", _CALLS)
def test_outputs_of_numpy_are_written_or_refused(call, output):
    """No result goes to a copy of the output."""
    run, expected = _CALLS[call]
    y = _OUTPUTS[output]()
    before = y.tolist()
    try:
        run(y)
    except sw.CopyNeededError as error:
        assert output != "strided", error
        assert y.tolist() == before
        assert "cannot write" in str(error) and "copy=None" not in str(error)
        return
    if expected is None:
        assert y.tolist() != before or call == "shuffle"
    else:
        np.testing.assert_allclose(y, expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ([0.0] * 4, sw.CopyNeededError),
        ("text", sw.BridgeError),
        (np.broadcast_to(0.0, 4), sw.ReadOnlyError),
    ],
    ids=["list", "text", "read-only"],
)
@pytest.mark.parametrize("call", [c for c in _CALLS if c not in ("shuffle", "einsum")])
def test_outputs_that_are_no_writable_arrays_are_refused(call, output, error):
    with pytest.raises(error) as raised:
        _CALLS[call][0](output)
    assert "tried" not in str(raised.value)


def test_a_text_is_called_a_text():
    with pytest.raises(
        sw.BridgeError, match=r"^add: expected an array to write to, got the text 'y'"
    ):
        sw.add(1, 2, out="y")
    with pytest.raises(
        sw.BridgeError, match=r"argument 'y': expected an array .* got the text 'z'"
    ):
        _VALUES(_X, "z")
    with pytest.raises(sw.BridgeError, match=r"^asarray: expected an array.*, got the text 'x'"):
        sw.add("x", 1)


class TestTwoOutputs:
    """Two outputs in the same memory: one result would replace the other."""

    kernel = sw.ElementwiseKernel("T x", "T y, T z", "y = x + 1; z = x + 2")
    pointers = sw.ElementwiseKernel("double *x, double *y, double *z", "y[i] = x[i]; z[i] = -x[i]")
    reduction = sw.ReductionKernel("T x", "T y, T z", "x", "a + b", "y = a; z = -a", "0")

    @pytest.mark.parametrize("library", ["spanwise", "numpy"])
    @pytest.mark.parametrize("second", [slice(0, 4), slice(1, 5), slice(3, None, -1)])
    def test_kernels(self, device, library, second):
        if library == "numpy" and device.kind != "cpu":
            pytest.skip("a kernel on a GPU has no outputs in host memory")
        b = np.zeros(8) if library == "numpy" else sw.zeros(8, device=device)
        x = sw.array(_X, device=device)
        y, z = b[:4], b[second]
        for kernel in (self.kernel, self.pointers):
            with pytest.raises(sw.LayoutError, match="'y' and 'z' share memory"):
                kernel(x, y, z)
        with pytest.raises(sw.LayoutError, match="'y' and 'z' share memory"):
            self.reduction(sw.stack([x, x]), axis=0, out=(y, z))
        assert not np.asarray(b if library == "numpy" else b.numpy()).any()

    @pytest.mark.parametrize("function", [sw.divmod, np.divmod])
    @pytest.mark.parametrize("second", [slice(0, 4), slice(1, 5)])
    def test_divmod(self, device, function, second):
        b = sw.zeros(8, device=device)
        with pytest.raises(sw.LayoutError, match="divmod: two of the outputs share memory"):
            function(sw.array(_X, device=device), 3, out=(b[:4], b[second]))
        assert not b.numpy().any()

    @pytest.mark.parametrize("function", [np.modf, np.frexp])
    def test_ufuncs_of_numpy(self, function):
        b = sw.zeros(8, device="cpu")
        with pytest.raises(sw.LayoutError, match="two of the outputs share memory"):
            function(sw.array(_X, device="cpu"), out=(b[:4], b[1:5]))

    def test_views_that_interleave_are_separate(self, device):
        x, b = sw.array(_X, device=device), sw.zeros(8, device=device)
        self.kernel(x, b[::2], b[1::2])
        sw.divmod(x, 3, out=(b[::2], b[1::2]))
        np.testing.assert_array_equal(b.numpy(), np.stack(np.divmod(_X, 3), 1).ravel())

    def test_one_array_may_be_read_and_written(self, device):
        """As in CUDA: z[i] = x[i] in place, where x is not declared const."""
        in_place = sw.ElementwiseKernel("double *z, double *x", "z[i] = 2 * x[i]")
        b = sw.array(_X, device=device)
        in_place(b, b)
        np.testing.assert_array_equal(b.numpy(), 2 * _X)


def test_divmod_keeps_elements_outside_where(device):
    quotient, rest = sw.full(4, -7.0, device=device), sw.full(4, -7.0, device=device)
    mask = np.array([True, False, True, False])
    sw.divmod(
        sw.array(_X, device=device), 3, out=(quotient, rest), where=sw.array(mask, device=device)
    )
    np.testing.assert_array_equal(quotient.numpy(), np.where(mask, _X // 3, -7))
    np.testing.assert_array_equal(rest.numpy(), np.where(mask, _X % 3, -7))


def test_an_elementwise_op_refuses_out(device):
    op = sw.kernel_op("twice", "z = x * 2", "T x", "T z")
    with pytest.raises(TypeError, match=r"twice: expected arrays by position, got out=;.*copyto"):
        op(sw.array(_X, device=device), out=np.zeros(4))
