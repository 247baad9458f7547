# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The state of a random generator: its key, its position and the number of spawned generators."""

from __future__ import annotations

import operator
import os
from hashlib import blake2b
from threading import Lock
from typing import Any

from .. import _core
from .random_arguments import device_of, words_of_seed

# One lock for all generators, held for a few assignments; fork() acquires it so that the child
# finds it free.
_lock = Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )

# In blocks of four 32-bit words, the results of one evaluation of Philox4x32.
_POSITIONS = 1 << 64
_JUMP = 1 << 48


class Philox:
    """The state of a Philox4x32-10 generator, and its default device. Thread-safe."""

    __slots__ = ("_children", "_counter", "_device", "_entropy", "_spawn_key")

    def __init__(self, seed: Any = None, device: Any = None) -> None:
        self._set_state(words_of_seed(seed), (), 0, 0)
        self._device = None if device is None else _core.device(device)

    def _set_state(
        self, entropy: tuple[int, ...], spawn_key: tuple[int, ...], position: int, children: int
    ) -> None:
        self._entropy, self._spawn_key, self._children = entropy, spawn_key, children
        self._counter = _core._random_counter(*hashed_key(entropy, spawn_key), position)

    @property
    def device(self) -> Any:
        """The device of results for which the call gives none."""
        return _core.device(None) if self._device is None else self._device

    @property
    def state(self) -> dict[str, Any]:
        """The complete state, as a dict of plain numbers; assignable. Raises ArgumentError for a
        dict that is no such state."""
        with _lock:
            return {
                "bit_generator": "Philox4x32-10",
                "seed": list(self._entropy),
                "spawn_key": list(self._spawn_key),
                "position": _core._random_position(self._counter, 0),
                "children": self._children,
            }

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        try:
            kind = state["bit_generator"]
            entropy, spawn_key = words_of_seed(state["seed"]), words_of_seed(state["spawn_key"])
            position, children = (operator.index(state[k]) for k in ("position", "children"))
        except (KeyError, TypeError) as error:
            raise _core.ArgumentError(
                f"Generator.state: expected a dict such as `state` returns, got {state!r}"
            ) from error
        if kind != "Philox4x32-10" or not 0 <= position < _POSITIONS or children < 0:
            raise _core.ArgumentError(
                "Generator.state: expected the state of a Philox4x32-10 generator with a position "
                f"of 64 bits, got {state!r}"
            )
        with _lock:
            self._set_state(entropy, spawn_key, position, children)

    def spawn(self, n_children: int) -> list[Any]:
        """A list of `n_children` generators, independent of this one and of each other, on the same
        default device. Raises ArgumentError for a negative number."""
        count = operator.index(n_children)
        if count < 0:
            raise _core.ArgumentError(f"spawn: n_children must be non-negative, got {count}")
        with _lock:
            first, self._children = self._children, self._children + count
        return [self._derived((*self._spawn_key, i), 0) for i in range(first, first + count)]

    def advance(self, delta: int) -> Any:
        """Advances the position by `delta` blocks of four 32-bit words, backwards if negative;
        returns the generator itself."""
        _core._random_position(self._counter, operator.index(delta))
        return self

    def jumped(self, jumps: int = 1) -> Any:
        """A new generator whose position is `jumps` * 2**48 blocks ahead."""
        position = _core._random_position(self._counter, 0) + operator.index(jumps) * _JUMP
        return self._derived(self._spawn_key, position % _POSITIONS)

    def _derived(self, spawn_key: tuple[int, ...], position: int) -> Any:
        generator = type(self).__new__(type(self))
        generator._device = self._device
        generator._set_state(self._entropy, spawn_key, position, 0)
        return generator

    def __reduce__(self) -> tuple[Any, ...]:
        device = None if self._device is None else str(self._device)
        return _restored, (type(self), self.state, device)

    def __repr__(self) -> str:
        seed = self._entropy[0] if len(self._entropy) == 1 else list(self._entropy)
        spawned = f", spawn_key={self._spawn_key}" if self._spawn_key else ""
        position = _core._random_position(self._counter, 0)
        return f"Generator(Philox4x32-10, seed={seed}{spawned}, position={position})"

    def _device_for(self, device: Any, *parameters: Any) -> Any:
        """The device of a result: `device`, else the generator's, else that of the first Array
        among `parameters`, else the default device."""
        if device is not None:
            return _core.device(device)
        return device_of(*parameters, default=self.device) if self._device is None else self.device


def hashed_key(entropy: tuple[int, ...], spawn_key: tuple[int, ...]) -> tuple[int, int]:
    """A 64-bit key and a 32-bit stream: the BLAKE2b hash of the numbers, each preceded by its
    length."""
    digest = blake2b(digest_size=12, person=b"spanwise.random")
    for numbers in (entropy, spawn_key):
        digest.update(len(numbers).to_bytes(8, "little"))
        for number in numbers:
            size = (number.bit_length() + 7) // 8
            digest.update(size.to_bytes(8, "little") + number.to_bytes(size, "little"))
    key = digest.digest()
    return int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")


# Pickles refer to this function: its name and parameters must not change.
def _restored(kind: type[Philox], state: dict[str, Any], device: str | None) -> Philox:
    generator = kind(0, device)
    generator.state = state
    return generator
