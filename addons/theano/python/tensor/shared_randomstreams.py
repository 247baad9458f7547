# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.tensor.shared_randomstreams``: random variables. The numbers for a seed are Spanwise's."""

from __future__ import annotations

from typing import Any

from spanwise import tensor as _tensor

__all__ = ["RandomStreams"]


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
