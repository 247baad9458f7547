# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's loaders of data on Spanwise's arrays."""

import numpy as np
import pytest

import spanwise as sw

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("spanwise.compat.torch_collate")
data = torch.utils.data


def test_batches_of_arrays_are_tensors(device):
    host = np.arange(24, dtype="f4").reshape(4, 3, 2)[:, ::-1]
    items = [(sw.asarray(x, device="cpu").to(device), i) for i, x in enumerate(host)]
    arrays, numbers = data.default_collate(items)
    assert type(arrays) is torch.Tensor and arrays.device.type == sw.device(device).kind
    np.testing.assert_array_equal(arrays.cpu().numpy(), host)
    assert numbers.tolist() == [0, 1, 2, 3]
    loader = data.DataLoader(items, batch_size=2)
    np.testing.assert_array_equal(np.concatenate([b[0].cpu() for b in loader]), host)


def test_items_of_different_shapes_are_refused(device):
    items = [sw.zeros(2, device=device), sw.zeros(3, device=device)]
    with pytest.raises(ValueError, match="shape"):
        data.default_collate(items)
