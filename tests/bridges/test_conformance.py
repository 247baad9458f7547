# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of all bridges, for every library x layout x dtype x copyif.

Values are NumPy's; sharing is checked by writes on either side; explain() must predict what
happens; no copy happens that was not allowed, and each is counted.
"""

import contextlib
import gc
import itertools
import os

import numpy as np
import pytest
from support import foreign
from support.sanitizers import skip_under_asan

import spanwise as sw

LIBRARIES = tuple(foreign.MAKERS)
DTYPES = ("float32", "float64", "int32", "uint8", "bool", "complex64")

#: name -> (shape of the base, window on it)
LAYOUTS = {
    "C order": ((3, 4), lambda x: x),
    "Fortran order": ((3, 4), lambda x: x.T),
    "strided": ((6, 9), lambda x: x[::2, 1::3]),
    "negative": ((3, 4), lambda x: x[::-1, ::-1]),
    "broadcast": ((1, 4), lambda x: sw.broadcast_to(x, (3, 4)) if is_ours(x) else broadcast(x)),
    "offset": ((5, 6), lambda x: x[1:4, 2:6]),
    "rows": ((5, 4), lambda x: x[1:4]),
    "columns of Fortran order": ((5, 4), lambda x: x.T[:, 1:4]),
    "one column": ((5, 4), lambda x: x[:, 2:3]),
    "rank 0": ((3,), lambda x: x[1, ...]),
    "rank 1": ((7,), lambda x: x),
    "rank 4": ((2, 3, 2, 2), lambda x: x.transpose(2, 0, 3, 1)),
    "size 0": ((3, 0, 2), lambda x: x),
    "size 0 of a window": ((3, 4), lambda x: x[:, 2:2]),
    # Broadcast to its own shape: C order, but not writable.
    "read-only": ((3, 4), lambda x: sw.broadcast_to(x, (3, 4)) if is_ours(x) else broadcast(x)),
    "a view of a view": ((4, 6, 2), lambda x: x[1:, ::2][..., 1].T[1:]),
}
#: The layouts that are whole arrays; a library without views has only these.
WHOLE = ("C order", "rank 1", "size 0")


def is_ours(array):
    return isinstance(array, sw.Array)


def broadcast(theirs):
    if isinstance(theirs, np.ndarray):
        return np.broadcast_to(theirs, (3, 4))
    if type(theirs).__module__.startswith("torch"):
        return theirs.expand(3, 4)
    raise TypeError("no broadcast views")


@pytest.fixture(params=LIBRARIES)
def library(request):
    try:
        return foreign.library(request.param)
    except foreign.Unavailable as reason:
        pytest.skip(str(reason))


def numbers(shape, dtype):
    count = int(np.prod(shape))
    values = np.arange(2, 2 + count).reshape(shape)
    return (values % 2 if dtype == "bool" else values % 60 + 2).astype(dtype)


def window_pair(layout, dtype, device):
    shape, window = LAYOUTS[layout]
    values = numbers(shape, dtype)
    return window(sw.array(values, device=device)), window(values)


def counts(library):
    """Exchanges of the library's bridge so far: shared, copied, bytes copied."""
    (row,) = [row for row in sw._core._bridge_rows() if row["name"] == library.name]
    shared = row["imports_shared"] + row["exports_shared"]
    return np.array([shared, row["imports_copied"] + row["exports_copied"], row["bytes_copied"]])


def writes_are_shared(library, array, theirs, shares=True):
    """Whether a write on either side is visible on the other; None where neither may be written to.

    Each side writes two values, since the elements may already equal one of them.
    """
    visible = []
    for value in (0, 1) if array.size else ():
        if array.flags.writeable:
            array[...] = value
            array.sync()
            visible.append(bool((library.read(theirs) == value).all()))
    for value in (0, 1) if array.size else ():
        if library.is_writable(theirs) and (array.flags.writeable or not shares):
            library.write(theirs, value)
            visible.append(bool((array.numpy() == value).all()))
    # Memory is shared only if both values of a side were seen.
    results = {zero and one for zero, one in zip(visible[::2], visible[1::2], strict=True)}
    assert len(results) <= 1, "one direction shares memory, the other does not"
    return results.pop() if results else None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_export_shares_or_copies_as_explained(library, device, layout):
    for dtype in DTYPES:
        check_export(library, device, layout, dtype)


def check_export(library, device, layout, dtype):
    array, oracle = window_pair(layout, dtype, device)
    export = getattr(sw, f"to_{library.name}")
    if dtype not in library.dtypes:
        for copyif in (False, True):
            with pytest.raises(sw.DTypeError):
                export(array, copyif=copyif)
        return
    if not library.supports(array):
        for copyif in (False, True):
            with pytest.raises((TypeError, ValueError)) as caught:
                export(array, copyif=copyif)
            assert not isinstance(caught.value, sw.CopyNeededError)
        return

    shares = library.shares(array)
    explanation = sw.explain(array, library.name)
    assert explanation.shares == shares, str(explanation)
    assert explanation.bytes == (0 if shares else oracle.nbytes)
    before = counts(library)
    if not shares:
        assert explanation.remedy
        with pytest.raises(sw.CopyNeededError, match="copyif=True"):
            export(array)
        with sw.strict_copies(), pytest.raises(sw.CopyNeededError):
            export(array, copyif=True)
        assert (counts(library) == before).all()
    theirs = export(array, copyif=not shares)
    counted = counts(library) - before
    assert counted.tolist() == ([1, 0, 0] if shares else [0, 1, oracle.nbytes])

    read = library.read(theirs)
    assert (read.shape, read.dtype) == (oracle.shape, oracle.dtype)
    np.testing.assert_array_equal(read, oracle)
    if shares and oracle.size:  # copyif=True must not copy what can be shared
        again = export(array, copyif=True)
        assert sw.asarray(again).ptr == array.ptr
    assert writes_are_shared(library, array, theirs, shares) in (None, shares)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_import_shares_or_copies_as_explained(library, layout):
    if not library.has_views and layout not in WHOLE:
        pytest.skip(f"{library.name} has no views")
    shape, window = LAYOUTS[layout]
    dtypes = [dtype for dtype in DTYPES if dtype in library.dtypes]
    if not library.can_make(numbers(shape, dtypes[0])):
        pytest.skip(f"{library.name} has no such array")
    for dtype in dtypes:
        for copyif in (False, True):
            try:
                theirs = window(library.make(numbers(shape, dtype)))
                oracle = library.read(theirs)
            except Exception as error:  # each library raises its own type for a view that it lacks
                pytest.skip(f"{library.name} has no such view: {type(error).__name__}")
            check_import(library, layout, theirs, oracle, copyif)


def check_import(library, layout, theirs, oracle, copyif):
    import_ = getattr(sw, f"from_{library.name}")
    before = counts(library)
    array = import_(theirs, copyif=copyif)
    assert (counts(library) - before).tolist() == [1, 0, 0]
    assert str(array.device) == library.device
    np.testing.assert_array_equal(array.numpy(), oracle)
    if not library.is_mutable:
        with pytest.raises(sw.ReadOnlyError):
            array[...] = 0
    elif layout not in ("broadcast", "read-only"):
        assert writes_are_shared(library, array, theirs) in (None, True)
    expected = array.numpy().copy()
    del theirs
    np.testing.assert_array_equal(array.numpy(), expected)


def is_taken_by_from_dlpack(theirs):
    try:
        sw.from_dlpack(theirs)
    except sw.BridgeError as error:
        assert "has no __dlpack__" in str(error)
        return False
    return True


def test_from_dlpack_takes_the_same_objects_before_and_after_an_import(library):
    theirs = library.make(numbers((3, 4), "float32"))
    offered = hasattr(theirs, "__dlpack__")
    assert is_taken_by_from_dlpack(theirs) == offered
    sw.asarray(theirs)
    assert is_taken_by_from_dlpack(theirs) == offered


def test_from_dlpack_refuses_scalars_of_numpy_after_an_import_too():
    assert not is_taken_by_from_dlpack(np.float32(1))
    sw.asarray(np.float32(1))
    assert not is_taken_by_from_dlpack(np.float32(1))


@pytest.mark.parametrize("target", LIBRARIES)
def test_convert_between_libraries_shares_or_copies_as_explained(library, target):
    try:
        to = foreign.library(target)
    except foreign.Unavailable as reason:
        pytest.skip(str(reason))
    values = numbers((16, 16), "float32")
    theirs = library.make(values)
    explanation = sw.explain(theirs, target)
    if explanation.shares:
        converted = sw.convert(theirs, target)
    else:
        with pytest.raises(sw.CopyNeededError):
            sw.convert(theirs, target)
        converted = sw.convert(theirs, target, copyif=True)
    np.testing.assert_array_equal(to.read(converted), values)
    if target == library.name:
        assert converted is theirs
        return
    if to.is_writable(converted) and (library.is_mutable or not explanation.shares):
        to.write(converted, 1)
        assert bool((library.read(theirs) == 1).all()) == explanation.shares
    del theirs
    gc.collect()
    assert to.read(converted).shape == (16, 16)


# --- nothing leaks

EXCHANGES = int(os.environ.get("SPANWISE_TEST_EXCHANGES", "3000"))
PARTS = 4


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def memory_levels(device):
    """Resident bytes of this process, and the negative free bytes of the device, after all work."""
    sw.synchronize()
    gc.collect()
    return resident_bytes(), -device.properties.free_memory


def min_growth(levels):
    """The smallest growth between two consecutive levels: a leak grows in each part of a run;
    allocators and other threads add memory in some parts only."""
    return min(after - before for before, after in itertools.pairwise(levels))


@skip_under_asan("freed memory stays in quarantine")
def test_repeated_exchanges_leak_no_memory(library):
    """SPANWISE_TEST_EXCHANGES=1000000 is the long form."""
    values = numbers((16, 16), "float32")
    array = sw.array(np.asfortranarray(values), device=library.device)
    if not library.holds(array):
        array = sw.array(values, device=library.device)
    theirs = library.make(values)
    export, import_ = getattr(sw, f"to_{library.name}"), getattr(sw, f"from_{library.name}")
    # Most libraries refuse it, so that failed exports are repeated too.
    reversed_doubles = sw.asarray(np.zeros((4, 4), "float64"), device=library.device)[::-1, ::-1]
    device = sw.device(library.device)

    def exchange(times):
        for _ in range(times):
            export(array)
            import_(theirs)
            with contextlib.suppress(sw.Error):
                export(reversed_doubles)

    exchange(max(EXCHANGES // 10, 500))
    levels = [memory_levels(device)]
    for _ in range(PARTS):
        exchange(EXCHANGES // PARTS)
        levels.append(memory_levels(device))
    resident, device_used = zip(*levels, strict=True)
    # 256 KiB; an array of 1 KiB leaked by each exchange of a part would be 750 KiB.
    assert min_growth(resident) < (1 << 18)
    # free_memory is that of the whole device, which tests of other processes change too. 2 MiB is
    # the driver's unit of allocation.
    if device.kind == "cuda" and "PYTEST_XDIST_WORKER" not in os.environ:
        assert min_growth(device_used) < (2 << 20)
