# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.config``: one attribute for each flag, ``config.floatX``, ``config.nvcc.flags``."""

from __future__ import annotations

from typing import Any

import spanwise as sw

from ._flags import DEFAULTS, WITHOUT_EFFECT, convert, read, warn

#: Flags that are settings of Spanwise with the same values.
_FORWARDED = {"floatX", "compute_test_value", "on_opt_error"}
_AT_START = {"device", "contexts", "init_gpu_device", "gpuarray.preallocate", "lib.cnmem"}


class Config:
    """Flags as attributes; dots in names are nested attributes. ``floatX``, ``compute_test_value``
    and ``on_opt_error`` are those of ``spanwise.config``. AttributeError for an unknown flag."""

    def __init__(self, values: dict[str, object], prefix: str = "") -> None:
        vars(self).update(_values=values, _prefix=prefix)

    def __getattr__(self, name: str) -> Any:
        flag = self._prefix + name
        if flag in _FORWARDED:
            return getattr(sw.config, flag)
        if flag in DEFAULTS:
            return self._values.get(flag, DEFAULTS[flag])
        if any(known.startswith(flag + ".") for known in DEFAULTS):
            return Config(self._values, flag + ".")
        raise AttributeError(f"theano.config has no flag {flag!r}; known: {', '.join(dir(self))}")

    def __setattr__(self, name: str, value: object) -> None:
        flag = self._prefix + name
        if flag in _AT_START:
            raise AttributeError(f"theano.config.{flag} is set at start only: use THEANO_FLAGS")
        if flag not in DEFAULTS:
            raise AttributeError(f"theano.config has no flag {flag!r}: cannot set it")
        if flag in WITHOUT_EFFECT and value != DEFAULTS[flag]:
            warn(f"config.{flag} = {value!r} has no effect: {WITHOUT_EFFECT[flag][1]}")
        if flag in _FORWARDED:
            setattr(sw.config, flag, value)
        self._values[flag] = convert(flag, value)

    def __dir__(self) -> list[str]:
        flags = (flag for flag in DEFAULTS if flag.startswith(self._prefix))
        return sorted({flag.removeprefix(self._prefix).partition(".")[0] for flag in flags})


config = Config(read())
for _flag in _FORWARDED & set(config._values):
    setattr(sw.config, _flag, config._values[_flag])
