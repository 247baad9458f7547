# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.sandbox``: ``cuda``, ``gpuarray`` and ``rng_mrg``, imported on first use."""

from importlib import import_module


def __getattr__(name: str) -> object:
    if name in ("cuda", "gpuarray", "rng_mrg"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(
        f"module 'theano.sandbox' has no attribute {name!r}; expected cuda, gpuarray or rng_mrg"
    )
