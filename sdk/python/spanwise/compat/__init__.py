# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules with the names and arguments of older ones, of Theano (theano.misc, theano.sandbox.cuda)
and of pygpu; and ``alias_package``, by which the name of another library imports a package."""

from .. import _core
from ._import_alias import alias_package as alias_package


def _our_array(x: object, caller: str, error: type[Exception]) -> _core.Array:
    """``x`` if it is a spanwise.Array, else raises `error`, as Theano's functions did for other
    arrays than their own."""
    if isinstance(x, _core.Array):
        return x
    raise error(
        f"{caller}: expected a spanwise.Array, got {type(x).__name__}; pass spanwise.asarray(x)"
    )
