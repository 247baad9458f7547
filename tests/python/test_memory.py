# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.memory: what arrays have, what was the most, and what is kept."""

import subprocess
import sys

import pytest

import spanwise as sw

MANY = 64 << 20


def test_an_array_is_counted_and_its_memory_kept(device):
    sw.synchronize(device)
    before = sw.memory.stats(device)
    sw.memory.reset_peak(device)
    a = sw.zeros(MANY, "uint8", device=device)
    b = sw.empty(2 * MANY, "uint8", device=device)
    during = sw.memory.stats(device)
    assert during.device == str(device)
    assert during.in_use - before.in_use >= 3 * MANY and during.blocks == before.blocks + 2
    assert during.held >= during.in_use and during.peak >= during.in_use
    assert 0 < during.free < during.total
    del b
    sw.synchronize(device)
    after = sw.memory.stats(device)
    assert after.blocks == before.blocks + 1
    assert after.in_use - before.in_use < 2 * MANY <= after.peak - before.in_use
    assert a[-1].item() == 0
    sw.memory.reset_peak(device)
    assert sw.memory.stats(device).peak < during.in_use


def test_a_view_takes_no_memory(device):
    a = sw.zeros((1000, 1000), device=device)
    sw.synchronize(device)
    before = sw.memory.stats(device)
    views = [a.T, a[::2], a.reshape(-1)]
    after = sw.memory.stats(device)
    assert len(views) == 3 and (after.in_use, after.blocks) == (before.in_use, before.blocks)


def test_all_devices_that_are_in_use(device):
    sw.zeros(3, device=device)
    found = sw.memory.stats()
    assert str(device) in found and "cpu" in found
    assert all(name == record.device for name, record in found.items())
    text = str(found[str(device)])
    assert text.startswith(f"{device}: ") and "in use in" in text and "held" in text
    sw.memory.reset_peak()
    assert sw.memory.stats(device).peak <= found[str(device)].peak


def test_asking_for_all_takes_no_gpu_into_use():
    program = "import spanwise as sw; print(*sw.memory.stats())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["cpu"]


def test_a_device_that_is_not_there():
    with pytest.raises(sw.DeviceError, match="cuda:99"):
        sw.memory.stats("cuda:99")
