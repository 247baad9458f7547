# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Importing it registers spanwise.Array with torch.utils.data.default_collate, which DataLoader calls:
arrays, of any device, are joined to a tensor, as NumPy's arrays are. Needs PyTorch."""

from typing import Any

from torch.utils.data._utils.collate import default_collate_fn_map as _map

import spanwise as _sw


def collate(batch: list[_sw.Array], *, collate_fn_map: Any = None) -> Any:
    """A tensor with the arrays along a new first axis."""
    return _sw.to_torch(_sw.stack(batch))


_map[_sw.Array] = collate
