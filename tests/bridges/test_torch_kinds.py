# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of PyTorch tensors: plain strided memory is shared, other kinds raise with the remedy."""

import os
import sys
import textwrap

import pytest
from support import package

import spanwise as sw

torch = pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(autouse=True)
def on_a_device_of_both(device):
    if device.kind == "cuda" and not torch.cuda.is_available():
        pytest.skip("this torch has no GPU")


def test_tensor_that_requires_a_gradient_is_refused_with_the_remedy(device):
    foreign = torch.ones(3, requires_grad=True, device=str(device))
    for take in (sw.asarray, sw.from_dlpack, sw.from_torch):
        with pytest.raises(sw.ArgumentError, match=r"detach\(\)"):
            take(foreign)
    assert sw.asarray(foreign.detach()).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(sw.ArgumentError, match=r"detach\(\)"):
        sw.asarray(torch.nn.Parameter(torch.ones(3)))


def test_tensor_with_gradient_is_shared_where_autograd_is_off(device):
    foreign = torch.ones(3, requires_grad=True, device=str(device))
    lazy = torch.tensor([1 + 2j], device=str(device), requires_grad=True).conj()
    for block in (torch.no_grad, torch.inference_mode):
        with block():
            for take in (sw.asarray, sw.from_dlpack, sw.from_torch):
                assert take(foreign).ptr == foreign.data_ptr()
            assert sw.asarray(lazy).tolist() == [1 - 2j]
            with torch.enable_grad(), pytest.raises(sw.ArgumentError, match=r"no_grad\(\)"):
                sw.asarray(foreign * 2 if block is torch.no_grad else foreign)

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return sw.to_torch(sw.asarray(x) * 2)

        @staticmethod
        def backward(ctx, dy):
            return sw.to_torch(sw.asarray(dy) * 2)

    Double.apply(foreign).sum().backward()
    assert foreign.grad.tolist() == [2, 2, 2]


def test_lazy_conjugates_and_negatives_are_resolved(device):
    foreign = torch.tensor([1 + 2j, 3 - 1j], device=str(device))
    for lazy in (foreign.conj(), foreign.conj().imag):
        with pytest.raises(sw.CopyNeededError, match="resolve_conj"):
            sw.asarray(lazy, copy=False)
        with pytest.raises(sw.CopyNeededError):
            sw.from_torch(lazy)
        assert sw.asarray(lazy).tolist() == lazy.tolist()
        assert sw.from_torch(lazy, copyif=True).tolist() == lazy.tolist()


def test_import_checks_tensor_flags_even_for_cached_type(device):
    plain = torch.tensor([1 + 2j, 3 - 1j], device=str(device))
    for _ in range(3):
        assert sw.asarray(plain).ptr == plain.data_ptr()
        assert sw.asarray(plain.conj()).tolist() == [1 - 2j, 3 + 1j]
        assert sw.asarray(plain.conj().imag).tolist() == [-2.0, 1.0]
        with pytest.raises(sw.ArgumentError, match="detach"):
            sw.asarray(plain.clone().requires_grad_())
        with pytest.raises(sw.ArgumentError, match="to_dense"):
            sw.asarray(torch.eye(3, device=str(device)).to_sparse())


# Each function makes a tensor of one kind from its own plain complex64 tensor.
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
def test_each_kind_of_tensor_is_recognized(device, order):
    def kinds():
        plain = torch.arange(6, device=str(device)) * (1 + 2j)
        for makers, outcome in ((SHARED, "shared"), (LAZY, "lazy"), (REFUSED, "refused")):
            for make in makers.values():
                yield outcome, make(plain.to(torch.complex64).clone())

    for outcome, tensor in [*kinds(), *kinds()][::order]:
        if outcome == "refused":
            with pytest.raises(sw.ArgumentError, match="detach"):
                sw.asarray(tensor)
            continue
        ours = sw.asarray(tensor)
        assert ours.tolist() == tensor.tolist()
        assert (ours.ptr == tensor.data_ptr()) == (outcome == "shared")
    if hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        assert sw._core._reads_tensor_words()
        assert sw._core._asks_tensor_functions()


def test_views_are_read_by_libtorchs_functions_too(device):
    if not sw._core._asks_tensor_functions():
        pytest.skip("this release of torch is read through DLPack")
    base = torch.arange(12, dtype=torch.float32, device=str(device))
    watched = torch.ones(12, device=str(device), requires_grad=True)
    for plain in (base, base.reshape(3, 4), base[::2], base.reshape(3, 4).T, watched.detach()):
        assert sw.asarray(plain).tolist() == plain.tolist()
        assert sw._core._is_known_plain_tensor(plain)
    for not_plain in (watched, watched.reshape(3, 4), watched[::2], 3.0):
        assert not sw._core._is_known_plain_tensor(not_plain)


DTYPES = "bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64 complex64 complex128"


@pytest.mark.parametrize("dtype", DTYPES.split())
def test_views_of_every_rank_and_dtype_are_imported(device, dtype):
    for rank in range(9):
        shape = [(2, 1, 3)[axis % 3] for axis in range(rank)]
        whole = torch.zeros(shape, dtype=getattr(torch, dtype), device=str(device))
        tensors = [whole, whole.permute(list(range(rank))[::-1])]
        tensors += [whole[1:], whole[::2], whole.expand(4, *shape)] if rank else []
        for tensor in tensors:
            for _ in range(2):  # a first tensor with its dispatch keys is read through DLPack
                ours = sw.asarray(tensor, copy=None)
                assert ours.shape == tuple(tensor.shape)
                assert str(ours.dtype) == dtype
                assert ours.device == device
                assert ours.ptr == tensor.data_ptr()
                steps = [stride * tensor.element_size() for stride in tensor.stride()]
                wide = [axis for axis in range(tensor.ndim) if tensor.shape[axis] > 1]
                assert [ours.strides[axis] for axis in wide] == [steps[axis] for axis in wide]


def test_tensor_whose_storage_was_freed_is_refused(device):
    assert sw.asarray(torch.ones(3, device=str(device))).shape == (3,)
    assert sw.asarray(torch.ones(0, 3, device=str(device))).shape == (0, 3)
    freed = torch.ones(3, device=str(device))
    freed.untyped_storage().resize_(0)
    with pytest.raises((sw.Error, RuntimeError)):
        sw.asarray(freed)


def test_later_changes_of_a_tensor_are_seen(device):
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
def test_torch_with_unknown_layout_uses_its_python_api(missing):
    program = """
        import sys
        import torch
        import spanwise as sw

        if sys.argv[1] != "None":
            delattr(torch._C, sys.argv[1])
        errors = []
        for _ in range(3):
            plain = torch.ones(2, dtype=torch.complex64)
            assert sw.asarray(plain).ptr == plain.data_ptr()
            assert sw.asarray(torch._neg_view(plain)).tolist() == [-1, -1]
            assert sw.asarray(plain.conj().imag).tolist() == [0, 0]
            try:
                sw.asarray(plain.requires_grad_())
            except sw.ArgumentError:
                errors.append(True)
        assert sw._core._asks_tensor_functions() == sw._core._reads_tensor_words()
        print(sw._core._reads_tensor_words(), len(errors))
    """
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    command = (sys.executable, "-c", textwrap.dedent(program), str(missing))
    reads = missing is None and hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
    assert package.run(*command, env=environment).split() == [str(reads), "3"]


def test_subclass_is_shared_and_tensor_inside_vmap_is_refused(device):
    class Named(torch.Tensor):
        pass

    plain = torch.zeros(3, device=str(device))
    assert sw.asarray(plain.as_subclass(Named)).ptr == plain.data_ptr()
    imported = []

    def inside(x):
        # On a GPU PyTorch itself raises a TypeError, since NumPy cannot hold the memory.
        with pytest.raises((sw.Error, RuntimeError, TypeError)):
            imported.append(sw.asarray(x))
        return x

    torch.func.vmap(inside)(torch.ones(3, 2, device=str(device)))
    assert not imported


def test_sparse_tensors_are_refused(device):
    with pytest.raises(sw.ArgumentError, match=r"to_dense\(\)"):
        sw.asarray(torch.eye(3, device=str(device)).to_sparse())


# Tensors without strided memory, and the word of the error text that names the kind or a remedy.
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
def test_tensor_without_memory_is_refused_by_kind(kind):
    make, remedy = NO_MEMORY[kind]
    for take in (sw.asarray, sw.from_torch):
        with pytest.raises(sw.ArgumentError, match=remedy):
            take(make())
    assert sw.asarray(torch._efficientzerotensor(3).clone()).tolist() == [0.0, 0.0, 0.0]
    assert sw.asarray(torch.zeros(0, 3)).shape == (0, 3)
