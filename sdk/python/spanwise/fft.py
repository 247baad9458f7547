# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""numpy.fft, with the array API's options: NumPy transforms arrays on the CPU, CuPy those on a GPU,
both over the arrays' own memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core
from ._numpy.borrowed import borrowed

_NAMES = """
    fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2
    rfftfreq rfftn
"""
__all__ = _NAMES.split()


def __getattr__(name: str) -> Callable[..., _core.Array]:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = borrowed(f"fft.{name}")  # found without this function from now on
    return globals()[name]  # type: ignore[no-any-return]


def __dir__() -> list[str]:
    return __all__


def _frequencies(name: str) -> Callable[..., _core.Array]:
    def frequencies(
        n: int, /, d: float = 1.0, *, dtype: Any = None, device: Any = None
    ) -> _core.Array:
        result = borrowed(f"fft.{name}")(n, d, device=device)
        return result.astype(dtype or result.dtype, copy=False)

    frequencies.__name__ = frequencies.__qualname__ = name
    frequencies.__doc__ = f"""numpy.fft.{name} of `n` samples, `d` apart, cast to `dtype`."""
    return frequencies


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")
