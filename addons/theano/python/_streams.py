# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random variables: ``theano.tensor.shared_randomstreams`` and ``theano.sandbox.rng_mrg``. The numbers for
a seed are Spanwise's."""

from __future__ import annotations

from typing import Any

from spanwise import tensor as _tensor

__all__ = ["MRG_RandomStreams", "RandomStreams"]


class RandomStreams(_tensor.RandomStreams):
    """As spanwise.tensor.RandomStreams, with Theano's arguments of permutation()."""

    def permutation(  # type: ignore[override]
        self, size: Any = None, n: Any = 1, ndim: Any = None, dtype: Any = "int64"
    ) -> Any:
        """A random permutation of range(n). Raises NotImplementedError for a `size` other than ()."""
        if size not in (None, ()):
            raise NotImplementedError(
                f"permutation: size={size!r}: only one permutation at a time is available"
            )
        return super().permutation(n).astype(dtype)


class MRG_RandomStreams(RandomStreams):  # noqa: N801  (Theano's name)
    """As RandomStreams. `use_cuda` is accepted for compatibility."""

    def __init__(self, seed: Any = 12345, use_cuda: Any = None) -> None:
        super().__init__(seed)
