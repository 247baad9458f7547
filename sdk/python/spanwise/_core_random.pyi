# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The types of ops/random; part of _core.pyi, not a module. The public interface is random.py."""

from typing import Any

from ._core import Array

_Counter = Any  # a capsule

def _random_counter(key: int, stream: int, position: int) -> _Counter: ...
def _random_position(counter: _Counter, move: int) -> int: ...
def _random_new(
    counter: _Counter,
    kind: str,
    size: Any,
    dtype: Any,
    device: Any,
    shift: float,
    scale: float,
    who: str,
) -> Array: ...
def _random_draw(counter: _Counter, kind: str, out: Array, shift: float, scale: float) -> Array: ...
def _random_integers(counter: _Counter, out: Array, low: int, span: int) -> Array: ...
def _random_integers_within(counter: _Counter, out: Array, lows: Array, spans: Array) -> Array: ...
def _random_picks(counter: _Counter, out: Array, table: Array) -> Array: ...
def _random_permutation(counter: _Counter, out: Array, size: int) -> Array: ...
