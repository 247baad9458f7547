# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox.rng_mrg``: random variables. The generator is Spanwise's, not MRG31k3p."""

from __future__ import annotations

from typing import Any

from ..tensor.shared_randomstreams import RandomStreams

__all__ = ["MRG_RandomStreams"]


class MRG_RandomStreams(RandomStreams):  # noqa: N801  (Theano's name)
    """As RandomStreams. `use_cuda` is accepted for compatibility."""

    def __init__(self, seed: Any = 12345, use_cuda: Any = None) -> None:
        super().__init__(seed)
