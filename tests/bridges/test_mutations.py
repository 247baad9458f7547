# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A thousand malformed interface dictionaries and a thousand malformed capsules: those that are
certainly invalid raise, nothing crashes, and every tensor is released once."""

import ctypes
import random

import numpy as np
import pytest
from support import dlpack

import spanwise as sw

CASES = 1000

# Values of entries. WRONG ones must raise; STRANGE ones are unusual and may be accepted or refused.
JUNK = (object(), 1.5, "text", b"bytes", [1, 2, "3"], {"a": 1}, {1}, lambda: None, float("nan"))
WRONG = {
    "shape": (None, 3, "23", (2, "3"), (2, -1), (2**70,), (1,) * 65, (2**40, 2**40), (2.0, 3), *JUNK),
    "typestr": (None, 4, "f", "<fx", "<f3", "<f0", "|V8", "<q4", "", "<f-4", "<f" + "9" * 30, (), *JUNK[:2]),
    "data": ((1,), (1, 2, 3), ("a", False), (2**65, False), (-(2**70), False), ({}, 0), ((), ())),
    "strides": ("no", (4,), (4, 4, 4), (2**70, 4), (2**62, 2**62), (None, 4), 12, *JUNK[:2]),
    "version": ("3", 3.5, 2**70, [], object()),
    "mask": (np.ones((2, 3), bool), True, "mask"),
}  # fmt: skip
STRANGE = {
    "shape": ((0, 3), (2, 0), [2, 3], (np.int64(2), True)),
    "typestr": ("|i1", "|u1", "<f2", "|b1", "<i4"),
    "strides": (None, (0, 0), (12, 4), (-12, 4), (4, 8), [12, 4]),
    "version": (0, 2, 3, -1),
    "descr": (None, [("", "<f4")], "junk", 7),
    "offset": (0, None),
    "extra": (object(), 1),
}


def dictionary(rng, address):
    """A dictionary with one to three mutated entries, and whether it must be refused."""
    entries = {
        "shape": (2, 3),
        "typestr": "<f4",
        "data": (address, False),
        "version": 3,
        "strides": None,
    }
    wrong = False
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if kind < 0.1:
            key = rng.choice(("shape", "typestr"))
            del entries[key]
        elif kind < 0.7:
            key = rng.choice(sorted(WRONG))
            entries[key] = rng.choice(WRONG[key])
        else:
            key = rng.choice(sorted(STRANGE))
            # Keep a wrong value of an earlier round.
            if key in entries and any(entries[key] is value for value in WRONG.get(key, ())):
                continue
            entries[key] = rng.choice(STRANGE[key])
            continue
        wrong = True
        if "shape" not in entries or "typestr" not in entries:
            break
    return entries, wrong


def test_malformed_array_interfaces_raise():
    # The address is inside the memory, so that strides may be negative.
    values = np.zeros(64, np.float32)
    rng = random.Random(20261121)
    raised = 0
    for _ in range(CASES):
        entries, wrong = dictionary(rng, values.ctypes.data + 96)
        exporter = type("Exporter", (), {"__array_interface__": entries})()
        try:
            array = sw.asarray(exporter)
        except sw.Error as error:
            assert len(str(error)) > 20
            raised += 1
        else:
            assert not wrong, (entries, array)
    assert raised > CASES // 2


def test_malformed_cuda_array_interfaces_raise():
    address = 0x7F0000000000
    if any(device.kind == "cuda" for device in sw.devices()):
        memory = sw.zeros(64, dtype="float32", device="cuda")
        address = memory.ptr + 96
    rng = random.Random(20261122)
    for _ in range(CASES):
        entries, wrong = dictionary(rng, address)
        entries["stream"] = rng.choice((None, 1, 2, 0, -1, "s", 2**70)) if wrong else None
        exporter = type("Exporter", (), {"__cuda_array_interface__": entries})()
        try:
            array = sw.asarray(exporter)
        except sw.Error as error:
            assert len(str(error)) > 20
        else:
            assert not wrong, (entries, array)


@pytest.mark.parametrize(
    "entries", [None, 3, "dict", [], (), b"bytes", {}, {"shape": ()}], ids=repr
)
@pytest.mark.parametrize("name", ["__array_interface__", "__cuda_array_interface__"])
def test_malformed_interface_dictionaries_are_refused(name, entries):
    with pytest.raises(sw.Error):
        sw.asarray(type("Exporter", (), {name: entries})())


@pytest.mark.parametrize("name", ["__array_interface__", "__cuda_array_interface__", "__dlpack__"])
def test_exporter_that_raises_is_an_error(name):
    def fail(self, *_, **__):
        raise RuntimeError("the exporter fails")

    members = {name: property(fail) if name != "__dlpack__" else fail}
    if name == "__dlpack__":
        members["__dlpack_device__"] = lambda self: (1, 0)
    with pytest.raises((sw.Error, RuntimeError)):
        sw.asarray(type("Exporter", (), members)())


# --- capsules


def _set(path, value):
    def spoil(producer):
        target = producer.managed if path[0] in ("version", "flags") else producer.tensor
        for name in path[:-1]:
            target = getattr(target, name)
        setattr(target, path[-1], value)

    return spoil


WRONG_TENSORS = [
    *(_set(("ndim",), value) for value in (-1, 65, 2**31 - 1, -(2**31))),
    *(_set(("dtype", "bits"), value) for value in (0, 7, 13, 255)),
    _set(("dtype", "lanes"), 0),
    *(_set(("device", "type"), value) for value in (0, 4, 7, 8, 99, -3)),
    _set(("data",), None),
    _set(("shape",), None),
    lambda producer: producer._shape.__setitem__(0, -1),
    lambda producer: producer._shape.__setitem__(0, 2**62),
    lambda producer: producer._shape.__setitem__(slice(0, 2), [2**40, 2**40]),
    lambda producer: producer._strides.__setitem__(0, 2**62),
    lambda producer: producer._strides.__setitem__(0, -(2**63)),
    _set(("byte_offset",), 2**63 + 5),
]
STRANGE_TENSORS = [
    lambda producer: None,
    lambda producer: producer._strides.__setitem__(0, 0),
    lambda producer: producer._shape.__setitem__(0, 0),
    lambda producer: producer._shape.__setitem__(1, 1),
    *(_set(("dtype", "code"), value) for value in (0, 3, 30, 255)),  # carried as they are
    _set(("device", "id"), 7),
]


def test_malformed_capsules_raise_and_are_released_once():
    values = np.zeros((4, 6), np.float32)
    rng = random.Random(20261123)
    for case in range(CASES):
        producer = dlpack.Producer(values, versioned=rng.random() < 0.6)
        wrong = [rng.choice(WRONG_TENSORS) for _ in range(rng.randint(0, 2))]
        spoils = wrong + [rng.choice(STRANGE_TENSORS) for _ in range(rng.randint(0, 2))]
        for spoil in wrong + spoils[len(wrong) :]:
            spoil(producer)
        for spoil in wrong:  # again, since a strange value may have replaced the wrong one
            spoil(producer)
        is_empty = producer.tensor.ndim > 0 and 0 in list(producer._shape)[:2]
        try:
            array = sw.from_dlpack(producer)
        except (sw.Error, BufferError) as error:
            assert len(str(error)) > 10
        else:
            assert not wrong or is_empty, (case, array)
            del array
        # For an unknown device no tensor was requested.
        assert producer.deleted == len(producer.calls) <= 1, case


@pytest.mark.parametrize("name", [b"", b"dltensor2", b"used_dltensor", b"array", None], ids=repr)
def test_capsule_of_another_name_raises_and_is_not_released(name):
    producer = dlpack.Producer(np.zeros(3, np.float32))
    capsule = dlpack.pythonapi.PyCapsule_New(ctypes.addressof(producer.managed), name, None)
    with pytest.raises((sw.Error, TypeError, ValueError)):
        sw.from_dlpack(capsule)
    assert producer.deleted == 0


def test_a_capsule_is_taken_once():
    producer = dlpack.Producer(np.arange(3.0))
    capsule = producer.capsule()
    first = sw.from_dlpack(capsule)
    for _ in range(10):
        with pytest.raises((sw.Error, ValueError)):
            sw.from_dlpack(capsule)
    assert first.tolist() == [0, 1, 2]
    del first
    assert producer.deleted == 1
