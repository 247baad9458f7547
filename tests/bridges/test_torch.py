# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch: shared through its C exchange API, refused where a tensor is more than memory."""

import gc
import os
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import package
from support.arrays import assert_same, pair, windows

import spanwise as sw

torch = pytest.importorskip("torch", reason="torch is not installed")

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


@pytest.fixture(autouse=True)
def on_a_device_of_both(device):
    if device.kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("this torch has no GPU")


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("shape", [(), (0, 2), (3,), (2, 3, 4)])
def test_tensors_are_shared_both_ways(device, shape, dtype):
    foreign = torch.zeros(shape, dtype=getattr(torch, dtype), device=str(device))
    ours = sw.from_torch(foreign)
    assert ours.shape == shape
    assert ours.dtype.name == dtype
    assert ours.device == device
    back = sw.to_torch(ours)
    assert back.dtype == foreign.dtype
    assert back.shape == foreign.shape
    if ours.size:
        assert ours.ptr == foreign.data_ptr() == back.data_ptr()


@given(window=windows(), dtype=st.sampled_from(DTYPES), seed=st.integers(0, 2**32))
def test_what_is_said_is_what_happens(device, window, dtype, seed):
    ours, oracle = pair(window, dtype, device, seed)
    said = sw.explain(ours, "torch")
    if said.shares:
        made = sw.to_torch(ours)
        if ours.size:
            assert made.data_ptr() == ours.ptr
    else:
        # Of two reasons, either may be said, and the refusal says the same one.
        why = "negative" if "negative" in said.reason else "read-only"
        assert why in said.reason
        assert min(ours.strides) < 0 if why == "negative" else not ours.flags.writeable
        with pytest.raises(sw.CopyNeededError, match=why):
            sw.to_torch(ours)
        made = sw.to_torch(ours, copyif=True)
        assert ours.size == 0 or made.data_ptr() != ours.ptr
    np.testing.assert_array_equal(made.cpu().numpy(), oracle)
    back = sw.from_torch(made)
    assert back.size == 0 or back.ptr == made.data_ptr()
    assert_same(back, oracle)


@given(window=windows(), seed=st.integers(0, 2**32))
def test_torchs_own_import_of_ours_is_the_same_memory(device, window, seed):
    ours, oracle = pair(window, "float32", device, seed)
    if not sw.explain(ours, "torch").shares:
        return
    made = torch.from_dlpack(ours)
    np.testing.assert_array_equal(made.cpu().numpy(), oracle)
    if ours.size:
        assert made.data_ptr() == ours.ptr


def test_strided_tensors_keep_their_strides(device):
    base = torch.arange(24, dtype=torch.int32, device=str(device)).reshape(4, 6)
    for foreign in (base[::2, ::3], base.T, base[1], base[:1].expand(3, 6)):
        ours = sw.asarray(foreign, copy=False)
        assert ours.ptr == foreign.data_ptr()
        assert ours.tolist() == foreign.tolist()


def test_gradients_are_refused_by_name(device):
    foreign = torch.ones(3, requires_grad=True, device=str(device))
    for take in (sw.asarray, sw.from_dlpack, sw.from_torch):
        with pytest.raises(sw.ArgumentError, match=r"detach\(\)"):
            take(foreign)
    assert sw.asarray(foreign.detach()).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(sw.ArgumentError, match=r"detach\(\)"):
        sw.asarray(torch.nn.Parameter(torch.ones(3)))


def test_lazy_conjugates_and_negatives_are_resolved(device):
    foreign = torch.tensor([1 + 2j, 3 - 1j], device=str(device))
    for lazy in (foreign.conj(), foreign.conj().imag):
        with pytest.raises(sw.CopyNeededError, match="resolve_conj"):
            sw.asarray(lazy, copy=False)
        with pytest.raises(sw.CopyNeededError):
            sw.from_torch(lazy)
        assert sw.asarray(lazy).tolist() == lazy.tolist()
        assert sw.from_torch(lazy, copyif=True).tolist() == lazy.tolist()


def test_what_is_more_than_memory_is_seen_though_the_type_is_known(device):
    plain = torch.tensor([1 + 2j, 3 - 1j], device=str(device))
    for _ in range(3):
        assert sw.asarray(plain).ptr == plain.data_ptr()
        assert sw.asarray(plain.conj()).tolist() == [1 - 2j, 3 + 1j]
        assert sw.asarray(plain.conj().imag).tolist() == [-2.0, 1.0]
        with pytest.raises(sw.ArgumentError, match="detach"):
            sw.asarray(plain.clone().requires_grad_())
        with pytest.raises(sw.ArgumentError, match="to_dense"):
            sw.asarray(torch.eye(3, device=str(device)).to_sparse())


# Each makes a tensor of one kind from a plain complex64 one of its own.
SHARED = {
    "itself": lambda x: x,
    "a view": lambda x: x[::2],
    "a real part": lambda x: x.real,
    "detached": lambda x: x.clone().requires_grad_().detach(),
    "grad given up": lambda x: x.requires_grad_().requires_grad_(False),
    "conjugated twice": lambda x: x.conj().conj(),
    "of inference": torch.inference_mode()(lambda x: x + 1),
    "a view of inference": torch.inference_mode()(lambda x: (x + 1)[1:]),
    "without grad": torch.no_grad()(lambda x: x.real * 2),
}
LAZY = {
    "conjugated": lambda x: x.conj(),
    "negated": torch._neg_view,
    "both": lambda x: torch._neg_view(x).conj(),
    "an imaginary part": lambda x: x.conj().imag,
    "conjugated in inference": torch.inference_mode()(lambda x: (x + 1).conj()),
    "negated in inference": torch.inference_mode()(lambda x: (x + 1).conj().imag),
    "a view of conjugates": lambda x: x.conj()[1:].t(),
}
REFUSED = {
    "a leaf": lambda x: x.requires_grad_(),
    "a result": lambda x: x.requires_grad_() * 2,
    "a view": lambda x: x.requires_grad_()[1:],
    "a conjugate": lambda x: x.requires_grad_().conj(),
}


@pytest.mark.parametrize("order", [1, -1])
def test_each_kind_of_tensor_is_told_from_the_others(device, order):
    def kinds():
        plain = torch.arange(6, device=str(device)) * (1 + 2j)
        for kinds, made in ((SHARED, "shared"), (LAZY, "lazy"), (REFUSED, "refused")):
            for make in kinds.values():
                yield made, make(plain.to(torch.complex64).clone())

    for made, tensor in [*kinds(), *kinds()][::order]:
        if made == "refused":
            with pytest.raises(sw.ArgumentError, match="detach"):
                sw.asarray(tensor)
            continue
        ours = sw.asarray(tensor)
        assert ours.tolist() == tensor.tolist()
        assert (ours.ptr == tensor.data_ptr()) == (made == "shared")
    if hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        assert sw._core._reads_tensor_words()


def test_what_a_tensor_becomes_later_is_seen(device):
    tensor = torch.ones(3, device=str(device))
    for _ in range(3):
        assert sw.asarray(tensor).ptr == tensor.data_ptr()
    tensor.requires_grad_()
    with pytest.raises(sw.ArgumentError, match="detach"):
        sw.asarray(tensor)
    tensor.requires_grad_(False)
    torch._C._set_neg(tensor, True)
    assert sw.asarray(tensor).tolist() == [-1.0, -1.0, -1.0]
    torch._C._set_neg(tensor, False)
    assert sw.asarray(tensor, copy=False).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("missing", ["_dispatch_keys", None])
def test_a_torch_that_does_not_tell_its_words_is_asked(missing):
    program = """
        import sys
        import torch
        import spanwise as sw

        if sys.argv[1] != "None":
            delattr(torch._C, sys.argv[1])
        told = []
        for _ in range(3):
            plain = torch.ones(2, dtype=torch.complex64)
            assert sw.asarray(plain).ptr == plain.data_ptr()
            assert sw.asarray(torch._neg_view(plain)).tolist() == [-1, -1]
            assert sw.asarray(plain.conj().imag).tolist() == [0, 0]
            try:
                sw.asarray(plain.requires_grad_())
            except sw.ArgumentError:
                told.append(True)
        print(sw._core._reads_tensor_words(), len(told))
    """
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    command = (sys.executable, "-c", textwrap.dedent(program), str(missing))
    reads = missing is None and hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
    assert package.run(*command, env=environment).split() == [str(reads), "3"]


def test_subclasses_and_tensors_of_transforms(device):
    class Named(torch.Tensor):
        pass

    plain = torch.zeros(3, device=str(device))
    assert sw.asarray(plain.as_subclass(Named)).ptr == plain.data_ptr()
    seen = []

    def inside(x):
        # On a GPU PyTorch's own refusal to give the memory to NumPy, a TypeError.
        with pytest.raises((sw.Error, RuntimeError, TypeError)):
            seen.append(sw.asarray(x))
        return x

    torch.func.vmap(inside)(torch.ones(3, 2, device=str(device)))
    assert not seen


def test_a_tensor_is_held_while_an_array_shares_it(device):
    foreign = torch.zeros(8, device=str(device))
    sw.asarray(foreign)
    held = sys.getrefcount(foreign)
    ours = sw.asarray(foreign)
    part = ours[2:]
    assert sys.getrefcount(foreign) == held + 1
    del ours
    assert sys.getrefcount(foreign) == held + 1
    del part
    assert sys.getrefcount(foreign) == held


def test_sparse_tensors_are_refused(device):
    with pytest.raises(sw.ArgumentError, match=r"to_dense\(\)"):
        sw.asarray(torch.eye(3, device=str(device)).to_sparse())


# What has no memory with strides, and how the way out is called.
NO_MEMORY = {
    "quantized": (
        lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
        "int_repr",
    ),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), "padded"),
    "of the meta device": (lambda: torch.ones(3, device="meta"), "meta"),
    "of zeros without memory": (lambda: torch._efficientzerotensor(3), "clone"),
    "of bits": (lambda: torch.empty(3, dtype=torch.bits8), "bits8"),
}


@pytest.mark.parametrize("kind", NO_MEMORY)
@pytest.mark.filterwarnings("ignore")
def test_a_tensor_without_memory_is_refused_by_what_it_is(kind):
    make, remedy = NO_MEMORY[kind]
    for take in (sw.asarray, sw.from_torch):
        with pytest.raises(sw.ArgumentError, match=remedy):
            take(make())
    assert sw.asarray(torch._efficientzerotensor(3).clone()).tolist() == [0.0, 0.0, 0.0]
    assert sw.asarray(torch.zeros(0, 3)).shape == (0, 3)


def test_torchs_own_import_of_negative_strides_is_refused_and_ends_nothing(device):
    ours = sw.asarray(np.arange(6.0).reshape(2, 3), device=device)
    for window in (ours[::-1], ours[:, ::-1]):
        with pytest.raises(sw.CopyNeededError, match=r"negative.*to_torch\(x, copyif=True\)"):
            torch.from_dlpack(window)
        assert sw.to_torch(window, copyif=True).tolist() == window.tolist()
    assert torch.from_dlpack(ours[:1][::-1]).tolist() == [[0.0, 1.0, 2.0]]
    if device.kind == "cpu":
        assert np.from_dlpack(ours[::-1]).tolist() == [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]


def test_read_only_memory_is_not_given_to_tensors():
    values = np.zeros(3, np.float32)
    values.flags.writeable = False
    with pytest.raises(sw.CopyNeededError, match="read-only"):
        sw.to_torch(values)
    made = sw.to_torch(values, copyif=True)
    made += 1
    assert values.tolist() == [0.0, 0.0, 0.0]


def test_a_dtype_that_torch_lacks_is_named(device):
    ours = sw.from_dlpack(lanes()) if device.kind == "cpu" else None
    if ours is None:
        pytest.skip("made on the host")
    with pytest.raises(sw.DTypeError, match="float32x4"):
        sw.to_torch(ours)


def lanes():
    from support import dlpack

    producer = dlpack.Producer(np.zeros(2, np.float64))
    producer.tensor.dtype = dlpack.DataType(2, 32, 4)
    producer.tensor.ndim = 0
    return producer


def test_writes_are_seen_on_both_sides(device):
    foreign = torch.zeros(4, device=str(device))
    ours = sw.asarray(foreign)
    ours[1] = 5
    sw.synchronize(device)
    assert foreign.tolist() == [0, 5, 0, 0]
    foreign[2] = 7
    assert sw.asarray(foreign).tolist() == [0, 5, 7, 0]


def test_memory_lives_as_long_as_either_side_needs_it(device):
    foreign = torch.arange(1000, device=str(device))
    ours = sw.asarray(foreign)
    del foreign
    gc.collect()
    assert_same(ours, np.arange(1000))
    back = sw.to_torch(ours)
    del ours
    gc.collect()
    assert int(back.sum()) == 499500


def test_work_of_both_is_ordered_without_waiting_by_hand(device):
    if device.kind == "cpu":
        pytest.skip("needs a GPU")
    stream = torch.cuda.Stream()
    for round in range(20):
        with torch.cuda.stream(stream):
            foreign = torch.full((1 << 22,), float(round), device="cuda")
            foreign += 1
            copied = sw.asarray(foreign).copy()
        foreign = sw.to_torch(copied)
        foreign += 1
        assert sw.asarray(foreign)[-1].item() == round + 2


def test_memory_that_torch_still_reads_is_nobodys_next(device):
    if device.kind == "cpu":
        pytest.skip("needs a GPU")
    side = torch.cuda.Stream()
    for value in range(20):
        ours = sw.full((1 << 20,), float(value), dtype="float32", device=device)
        with torch.cuda.stream(side):
            theirs = sw.to_torch(ours)
            torch.cuda._sleep(10_000_000)
            read = theirs.clone()
        del theirs, ours
        others = [sw.full((1 << 20,), -1.0, dtype="float32", device=device) for _ in range(3)]
        side.synchronize()
        assert bool((read == value).all())
        del others


def test_many_tensors_do_not_leak(device):
    foreign = torch.zeros(1000, device=str(device))
    for _ in range(1000):
        sw.to_torch(sw.asarray(foreign))
    assert foreign.untyped_storage().nbytes() == 4000
