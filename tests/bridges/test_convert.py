# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""convert, explain, bridges and strict_copies: the same rules for every library."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from support.dlpack import IS_COPIED, Producer

import spanwise as sw


def big_endian():
    return np.arange(6, dtype=">f4")


def test_arrays_of_the_target_library_are_returned_unchanged():
    values = np.arange(3.0)
    assert sw.convert(values, "numpy") is values
    assert sw.to_numpy(values) is values


def test_any_source_converts_to_numpy():
    values = np.arange(6.0).reshape(2, 3)
    for source in (Producer(values), memoryview(values), sw.asarray(values)):
        converted = sw.convert(source, "numpy")
        assert isinstance(converted, np.ndarray)
        assert converted.ctypes.data == values.ctypes.data
        assert converted.strides == values.strides


def test_from_numpy_takes_numpys_arrays_only():
    values = np.arange(3.0)
    assert sw.from_numpy(values).ptr == values.ctypes.data
    with pytest.raises(sw.BridgeError, match="asarray"):
        sw.from_numpy(Producer(values))


def test_copyif_is_false_by_default():
    swapped = big_endian()
    with pytest.raises(sw.CopyNeededError, match="byte order"):
        sw.from_numpy(swapped)
    with pytest.raises(sw.CopyNeededError, match="byte order"):
        sw.from_numpy(swapped, copyif=False)
    for ours in (sw.from_numpy(swapped, copyif=True), sw.from_numpy(swapped, True)):
        assert ours.tolist() == [0, 1, 2, 3, 4, 5]


def test_gpu_array_converts_to_numpy_if_a_copy_is_allowed(device):
    ours = sw.asarray(np.arange(3.0), device=device)
    if device.kind == "cpu":
        assert sw.to_numpy(ours).tolist() == [0.0, 1.0, 2.0]
        return
    with pytest.raises(sw.CopyNeededError, match=r"x\.numpy\(\)"):
        sw.to_numpy(ours)
    assert sw.to_numpy(ours, copyif=True).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("cls", [np.ndarray, sw.Array, float], ids=lambda cls: cls.__name__)
def test_class_with_the_protocols_is_refused(cls):
    with pytest.raises(sw.BridgeError, match=f"{cls.__name__}.*is a class.*instances"):
        sw.asarray(cls)


def test_error_for_unknown_libraries_and_protocols_lists_supported_ones():
    with pytest.raises(sw.ArgumentError, match="supported: cudamat, cupy, "):
        sw.convert(np.zeros(3), "nunpy")
    with pytest.raises(sw.BridgeError, match="protocol"):
        sw.convert(np.zeros(3), "dlpack")


def test_error_for_libraries_that_are_not_installed():
    program = """
        import sys
        import pytest

        libraries = ["torch", "jax", "cupy", "numba", "warp", "tensorflow"]
        for library in libraries:
            sys.modules[library] = sys.modules[f"{library}.cuda"] = None
        import spanwise as sw

        for library in libraries:
            with pytest.raises(sw.BridgeError, match="pip install"):
                sw.convert(sw.zeros(3, device="cpu", dtype="float32"), library)
    """
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_arguments_are_checked():
    values = np.zeros(3)
    for call in (
        lambda: sw.convert(values),
        lambda: sw.convert(values, 3),
        lambda: sw.convert(values, "numpy", copy=True),
        lambda: sw.to_numpy(),
        lambda: sw.to_numpy(values, True, copyif=True),
        lambda: sw.from_numpy(values, nothing=1),
    ):
        with pytest.raises(TypeError):
            call()


# --- explain


def test_explain_reports_sharing():
    explanation = sw.explain(np.zeros((2, 3), np.float32), "numpy")
    assert explanation.shares
    assert explanation.bytes == 0
    assert explanation.remedy == ""
    assert "already" in str(explanation)
    explanation = sw.explain(memoryview(np.zeros((2, 3), np.float32)), "numpy")
    assert explanation.shares
    assert explanation.reason == "C-contiguous float32 on cpu"
    assert explanation.layout.startswith("float32 (2, 3) on cpu")
    assert str(explanation).startswith("shares memory")


def test_explain_reports_the_copy_and_its_reason():
    explanation = sw.explain(memoryview(np.zeros((4, 2), ">f8")), "numpy")
    assert not explanation.shares
    assert explanation.bytes == 64
    assert "byte order" in explanation.reason
    assert "float64 (4, 2)" in explanation.layout
    assert "copyif=True" in explanation.remedy
    assert "copies 64 bytes" in str(explanation)
    assert "copies 64 bytes" in repr(explanation)


def test_explain_makes_no_copy():
    producer = Producer(np.arange(3.0))
    assert sw.explain(producer, "numpy").shares
    assert producer.deleted == 1
    assert not sw.explain(Producer(np.arange(3.0), flags=IS_COPIED), "numpy").shares


def test_explain_of_a_list_reports_a_copy():
    explanation = sw.explain([1, 2, 3], "numpy")
    assert not explanation.shares
    assert explanation.bytes == 24


def test_explain_reports_imports_and_transfers(device):
    values = np.arange(6.0)
    assert sw.explain(values, "spanwise").shares
    swapped = sw.explain(values.astype(">f8"), "spanwise")
    assert (swapped.shares, swapped.bytes) == (False, 48)
    moved = sw.explain(values, str(device))
    assert moved.shares == (str(device) == "cpu")
    assert moved.bytes == (0 if moved.shares else 48)


# --- counters


def bridge_info(name):
    (info,) = [info for info in sw.bridges() if info.name == name]
    return info


def test_exchanges_are_counted():
    values, swapped = np.arange(6.0), big_endian()
    before = bridge_info("numpy")
    sw.asarray(values)
    sw.asarray(swapped)
    sw.asarray(values, dtype="float32")
    sw.to_numpy(sw.zeros(3, device="cpu"))
    after = bridge_info("numpy")
    assert after.shared - before.shared == 2
    assert after.copies - before.copies == 2
    assert after.bytes_copied - before.bytes_copied == 24 + 24


def test_the_table_lists_every_bridge():
    table = sw.bridges()
    names = [info.name for info in table]
    expected = ["cupy", "jax", "numba", "numpy", "torch", "dlpack", "cuda_array_interface"]
    assert [name for name in names if name in expected] == expected
    assert bridge_info("numpy").version == np.__version__
    assert bridge_info("numpy").directions == "in, out"
    assert bridge_info("dlpack").directions == "in"
    lines = str(table).splitlines()
    assert len(lines) == len(table) + 1
    assert "DLPack 1.3" in str(table)


def test_conversion_of_numbers_is_not_reported_as_copy():
    before = bridge_info("numpy")
    sw.asarray(np.float32(3))
    sw.asarray([1, 2, 3])
    assert bridge_info("numpy") == before


# --- strict copies


def test_hidden_copies_are_errors_while_strict():
    values, swapped = np.arange(6.0), big_endian()
    with sw.strict_copies():
        assert sw.asarray(values).ptr == values.ctypes.data
        for hidden in (
            lambda: sw.asarray(swapped),
            lambda: sw.asarray(values, dtype="float32"),
            lambda: sw.from_numpy(swapped, copyif=True),
        ):
            with pytest.raises(sw.CopyNeededError):
                hidden()
        assert sw.asarray(swapped, copy=True).size == 6  # an explicit request
        assert sw.asarray([1, 2]).size == 2
        assert sw.asarray(np.float32(1)).size == 1
    assert sw.asarray(swapped).size == 6


def test_strict_copies_nests_and_is_undone_by_an_error():
    swapped = big_endian()
    strict = sw.strict_copies()
    with strict, strict:
        pass
    assert sw.asarray(swapped).size == 6
    with pytest.raises(sw.CopyNeededError), sw.strict_copies(), sw.strict_copies():
        sw.asarray(swapped)
    assert sw.asarray(swapped).size == 6


def test_strict_copies_applies_to_its_thread_only():
    arrays = []
    with sw.strict_copies():
        thread = threading.Thread(target=lambda: arrays.append(sw.asarray(big_endian())))
        thread.start()
        thread.join()
    assert arrays[0].size == 6


# --- no library is imported without a request


def test_array_import_imports_no_library():
    program = (
        "import sys; before = set(sys.modules); import spanwise as sw; sw.asarray(b'abc'); "
        "sw.asarray([1, 2]); sw.from_dlpack(sw.zeros(3, device='cpu'));"
        "imported = {n.split('.')[0] for n in set(sys.modules) - before};"
        "print(sorted(imported & {'numpy', 'torch', 'jax', 'cupy', 'numba'}))"
    )
    out = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": ":".join(p for p in sys.path if p), "PATH": ""},
    )
    assert out.stdout.strip() == "[]"
