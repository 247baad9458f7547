# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Shared variables, ``w = sw.shared(values, "w")``, and ``sw.using``, which names devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import _core
from .._config import config
from .._core import GraphError, SharedVariable, Variable
from .traversal import variables_of


def shared(
    value: Any, name: str | None = None, *, borrow: bool = False, target: Any = None
) -> SharedVariable:
    """A variable with a value, which functions read at each call and change by `updates`.

    `value` is an array of any library, a number or nested lists; it is copied unless `borrow`
    allows sharing its memory. The variable is on `target` (a device or a name of ``using``), by
    default on the default device, for integers of rank 0 on the host.
    """
    return _core._shared(value, name, borrow, target)


_has_updates: list[bool] = []  # empty until a first variable has one: graphs are not searched then


def default_update_of(x: SharedVariable) -> Variable | None:
    """``x.default_update``."""
    return getattr(x.tag, "default_update", None)


def set_default_update(x: SharedVariable, update: Any) -> None:
    """``x.default_update = update``. Raises GraphError for a variable of another dtype or rank."""
    if update is None:
        vars(x.tag).pop("default_update", None)
        return
    new = as_update(x, update)
    if new.dtype != x.dtype or new.ndim != x.ndim:
        raise GraphError(
            f"default_update of {x}: expected a variable of {x.dtype} and rank {x.ndim}, got {new} of "
            f"{new.type}; cast it"
        )
    x.tag.default_update = new
    _has_updates.append(True)


def as_update(old: Variable, new: Any) -> Variable:
    """`new` as a variable; numbers and lists are cast to the dtype of the shared variable `old`."""
    if isinstance(new, (bool, int, float, complex, list)) and isinstance(old, SharedVariable):
        new = _core.array(new, dtype=old.dtype)
    return _core._as_variable(new)


def default_updates(
    outputs: Iterable[Variable], updates: list[tuple[Variable, Variable]], without: Any
) -> list[tuple[Variable, Variable]]:
    """The default updates of the shared variables that `outputs`, `updates` and these updates read,
    except of variables in `updates` and in `without`, a list, or True for all."""
    if without is True or not _has_updates:
        return []
    done = {*(old for old, _ in updates), *(without or ())}
    defaults: list[tuple[Variable, Variable]] = []
    roots = [*outputs, *(new for _, new in updates)]
    while roots:
        read, roots = variables_of(roots), []
        for x in read:
            update = default_update_of(x) if isinstance(x, SharedVariable) else None
            if update is not None and x not in done:
                done.add(x)
                defaults.append((x, update))
                roots.append(update)
    return defaults


@contextmanager
def using(contexts: str) -> Iterator[None]:
    """Context manager that names devices: ``with sw.using("dev0->cuda:0;dev1->cuda:1"):``.

    A name is accepted wherever a device is. Names of enclosing blocks stay valid; the environment
    variable ``SPANWISE_CONTEXTS`` (the setting ``contexts``) names devices for the whole process.
    """
    outside = config.contexts
    with config.change(contexts=f"{outside};{contexts}" if outside else contexts):
        yield
