# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The settings: ``sw.config.floatX``, ``with sw.config.change(floatX="float32"):``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import _core

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def _value_of(setting: _core._Setting, text: str) -> bool | int | str:
    """Text as the Python value that it stands for, where the default shows that it is no mere text."""
    default = setting.default_value.lower()
    if default not in _WORDS and not default.lstrip("-").isdecimal():
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return int(text) if text.lstrip("-").isdecimal() else text


def _text_of(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class Config:
    """Every setting is an attribute; each is also read from ``SPANWISE_<NAME>`` at the start.

    ``python -m spanwise config`` lists them with value, source and description.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        text = _core._config_get(name)
        return _value_of(_settings()[name], text)

    def __setattr__(self, name: str, value: object) -> None:
        _core._config_set(name, _text_of(value))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_settings()]

    def __repr__(self) -> str:
        lines = (f"    {name}={setting.value!r}," for name, setting in _settings().items())
        return "\n".join(("<spanwise.config", *lines, ">"))

    @contextmanager
    def change(self, **values: object) -> Iterator[Config]:
        """Sets the given settings, and sets them back at the end of the block."""
        before = {name: _core._config_get(name) for name in values}
        try:
            for name, value in values.items():
                _core._config_set(name, _text_of(value))
            yield self
        finally:
            for name, text in before.items():
                _core._config_set(name, text)


def _settings() -> dict[str, _core._Setting]:
    return {setting.name: setting for setting in _core._config_list()}


config = Config()
