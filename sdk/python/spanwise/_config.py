# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The settings: ``sw.config.floatX``, ``with sw.config.change(floatX="float32"):``."""

from contextlib import contextmanager

from . import _core

_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")


def _value_of(setting, text):
    """Text as the Python value that it stands for, going by the setting's default."""
    default = setting.default_value.lower()
    if default in ("true", "false", "yes", "no", "on", "off"):
        return text.lower() in _TRUE
    try:
        int(default)
        return int(text)
    except ValueError:
        return text


def _text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class Config:
    """Every setting is an attribute; each is also read from ``SPANWISE_<NAME>`` at the start.

    ``python -m spanwise config`` lists them with value, source and description.
    """

    __slots__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        text = _core._config_get(name)
        return _value_of(_settings()[name], text)

    def __setattr__(self, name, value):
        _core._config_set(name, _text_of(value))

    def __dir__(self):
        return [*super().__dir__(), *_settings()]

    def __repr__(self):
        lines = (f"    {name}={setting.value!r}," for name, setting in _settings().items())
        return "\n".join(("<spanwise.config", *lines, ">"))

    @contextmanager
    def change(self, **values):
        """Sets the given settings, and sets them back at the end of the block."""
        before = {name: _core._config_get(name) for name in values}
        try:
            for name, value in values.items():
                _core._config_set(name, _text_of(value))
            yield self
        finally:
            for name, text in before.items():
                _core._config_set(name, text)


def _settings():
    return {setting.name: setting for setting in _core._config_list()}


config = Config()
