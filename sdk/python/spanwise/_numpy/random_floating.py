# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The floating-point distributions of random.Generator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, SupportsIndex

from .. import _core
from .._core import Array, _asarray as asarray
from .random_arguments import (
    broadcast_with,
    check_scale,
    check_span,
    device_of,
    floating_dtype,
    is_number,
    out_or_result,
    result_for,
)
from .random_state import Philox

Size = SupportsIndex | Sequence[SupportsIndex] | None


class FloatingGenerator(Philox):
    """Generator's methods for uniform, normal and exponential numbers."""

    __slots__ = ()

    def _draw(
        self,
        caller: str,
        kind: str,
        size: Any,
        dtype: Any,
        out: Any,
        device: Any,
        shift: float = 0.0,
        scale: float = 1.0,
    ) -> Array:
        """Draws x of the distribution `kind` and returns x * scale + shift, new or in `out`."""
        if out is None:
            target = self._device if device is None else device
            return _core._random_new(self._counter, kind, size, dtype, target, shift, scale, caller)
        result = result_for(caller, size, floating_dtype(caller, dtype, out), out, None)
        _core._random_draw(self._counter, kind, result, shift, scale)
        return out_or_result(result, out)

    def random(
        self, size: Size = None, dtype: Any = None, out: Any = None, *, device: Any = None
    ) -> Array:
        """Uniform numbers in [0, 1): multiples of 2**-53 (float64), 2**-24 (float32), 2**-11
        (float16) or 2**-8 (bfloat16)."""
        return self._draw("random", "uniform", size, dtype, out, device)

    def standard_normal(
        self, size: Size = None, dtype: Any = None, out: Any = None, *, device: Any = None
    ) -> Array:
        """Normal numbers of mean 0 and standard deviation 1."""
        return self._draw("standard_normal", "normal", size, dtype, out, device)

    def standard_exponential(
        self,
        size: Size = None,
        dtype: Any = None,
        method: str = "zig",
        out: Any = None,
        *,
        device: Any = None,
    ) -> Array:
        """Exponential numbers of mean 1. Always by inversion, also for `method="zig"`: NumPy's
        ziggurat uses a varying number of random words per element."""
        caller = "standard_exponential"
        if method not in ("zig", "inv"):
            raise _core.ArgumentError(f"{caller}: method must be 'zig' or 'inv', got {method!r}")
        return self._draw(caller, "exponential", size, dtype, out, device)

    def _draw_by_arrays(
        self, kind: str, shift: Array, scale: Array, size: Size, dtype: Any, out: Any, device: Any
    ) -> Array:
        """_draw() with arrays `shift` and `scale`, rounded as the kernels of _draw() round."""
        dtype = floating_dtype(kind, dtype, out)
        shape = broadcast_with(kind, size, out, shift.shape, scale.shape)
        result = result_for(kind, shape, dtype, out, device)
        # 16-bit floats are computed in float32; uniform numbers are first drawn in the 16-bit
        # dtype.
        computed_in = dtype if dtype.itemsize > 2 else _core.dtype("float32")
        drawn_in = dtype if kind == "uniform" else computed_in
        device = result.device
        drawn = self._draw(kind, kind, shape, drawn_in, None, device)
        values = drawn.astype(computed_in, copy=False)
        _core.multiply(values, scale.to(device).astype(computed_in), out=values)
        _core.add(values, shift.to(device).astype(computed_in), out=values)
        if out is None and computed_in == dtype:
            return values
        result[...] = values
        return out_or_result(result, out)

    def _draw_scaled(
        self, kind: str, shift: Any, scale: Any, size: Size, dtype: Any, out: Any, device: Any
    ) -> Array:
        """_draw() with numbers or arrays `shift` and `scale`; raises ArgumentError for scale < 0."""
        if is_number(shift) and is_number(scale):
            check_scale(kind, scale)
            return self._draw(kind, kind, size, dtype, out, device, float(shift), float(scale))
        center = asarray(shift, device=device_of(shift, scale))
        width = asarray(scale, device=center.device)
        check_scale(kind, width)
        target = self._device_for(device, shift, scale)
        return self._draw_by_arrays(kind, center, width, size, dtype, out, target)

    def uniform(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        size: Size = None,
        dtype: Any = None,
        out: Any = None,
        *,
        device: Any = None,
    ) -> Array:
        """low + (high - low) * random(); `low` and `high` may be arrays. Rounding may give `high`
        itself. Raises OverflowError where high - low is not finite, ArgumentError for low > high;
        to check arrays it waits for them."""
        if is_number(low) and is_number(high):
            first, span = float(low), float(high) - float(low)
            check_span(math.isfinite(span), span < 0, low, high)
            return self._draw("uniform", "uniform", size, dtype, out, device, first, span)
        start = asarray(low, device=device_of(low, high)).astype("float64")
        spans = asarray(high, device=start.device).astype("float64") - start
        finite = bool(_core.all(_core.isfinite(spans)))
        check_span(finite, finite and bool(_core.any(spans < 0)), low, high)
        target = self._device_for(device, low, high)
        return self._draw_by_arrays("uniform", start, spans, size, dtype, out, target)

    def normal(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: Size = None,
        dtype: Any = None,
        out: Any = None,
        *,
        device: Any = None,
    ) -> Array:
        """loc + scale * standard_normal(); `loc` and `scale` may be arrays. Raises ArgumentError
        for scale < 0; to check an array it waits for it."""
        return self._draw_scaled("normal", loc, scale, size, dtype, out, device)

    def exponential(
        self,
        scale: Any = 1.0,
        size: Size = None,
        dtype: Any = None,
        out: Any = None,
        *,
        device: Any = None,
    ) -> Array:
        """scale * standard_exponential(); `scale` may be an array. Raises ArgumentError for
        scale < 0; to check an array it waits for it."""
        return self._draw_scaled("exponential", 0.0, scale, size, dtype, out, device)
