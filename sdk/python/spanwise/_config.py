# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The settings, ``sw.config.floatX``, ``with sw.config.change(floatX="float32"):``, and the defaults
of those that name shared libraries: what the nvidia-* and OpenBLAS wheels on ``sys.path`` have."""

from __future__ import annotations

import os
import sys

from . import _core

TYPE_CHECKING = False  # stands in for typing.TYPE_CHECKING: importing typing takes too long
if TYPE_CHECKING:
    from typing import Any

_BOOL_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def _value_of(setting: _core._Setting, text: str) -> bool | int | str:
    """`text` as bool or int if the setting has no choices, its default is a bool or int, and `text`
    can be parsed as one; else `text`."""
    default = setting.default_value.lower()
    is_text = default not in _BOOL_WORDS and not default.lstrip("-").isdecimal()
    if setting.choices or is_text:
        return text
    if text.lower() in _BOOL_WORDS:
        return _BOOL_WORDS[text.lower()]
    return int(text) if text.lstrip("-").isdecimal() else text


def _text_of(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class UnknownSettingError(_core.ArgumentError, AttributeError):
    """A name that no setting has: an AttributeError, too, so that hasattr() is False."""


class Config:
    """One attribute for each setting. The initial value is read from ``SPANWISE_<NAME>`` in the
    environment.

    ``python -m spanwise config`` lists them with value, source and description. An unknown name or
    a value that the setting does not take raises ArgumentError.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            text = _core._config_get(name)
        except _core.ArgumentError as error:
            if name in _settings():  # its variable of the environment has a wrong value
                raise
            raise UnknownSettingError(str(error)) from None
        return _value_of(_settings()[name], text)

    def __setattr__(self, name: str, value: object) -> None:
        _core._config_set(name, _text_of(value))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_settings()]

    def __repr__(self) -> str:
        lines = (f"    {name}={setting.value!r}," for name, setting in _settings().items())
        return "\n".join(("<spanwise.config", *lines, ">"))

    def change(self, **values: object) -> _SettingsChange:
        """Context manager and decorator: sets `values` on entry, and the previous values on
        exit."""
        return _SettingsChange(self, values)


class _SettingsChange:
    """The context manager that change() returns. Reentrant: each exit restores the values that its
    own entry replaced."""

    def __init__(self, owner: Config, values: dict[str, object]) -> None:
        self._owner, self._values = owner, values
        self._before: list[dict[str, str]] = []

    def __enter__(self) -> Config:
        self._before.append({name: _core._config_get(name) for name in self._values})
        try:
            for name, value in self._values.items():
                _core._config_set(name, _text_of(value))
        except BaseException:
            self._restore()
            raise
        return self._owner

    def __exit__(self, *error: object) -> None:
        self._restore()

    def __call__(self, function: Any) -> Any:
        """As a decorator: the settings apply during each call."""
        import functools

        @functools.wraps(function)
        def with_settings(*arguments: Any, **keywords: Any) -> Any:
            with _SettingsChange(self._owner, self._values):
                return function(*arguments, **keywords)

        return with_settings

    def _restore(self) -> None:
        for name, text in self._before.pop().items():
            _core._config_set(name, text)


def _settings() -> dict[str, _core._Setting]:
    return {setting.name: setting for setting in _core._config_list()}


config = Config()


# ---- Libraries of wheels ----


def _nvidia_library_folders() -> list[str]:
    """The ``nvidia/*/lib`` folders on ``sys.path``: nvidia/cu13/lib, nvidia/cuda_nvrtc/lib, ..."""
    folders = []
    for entry in sys.path:
        root = os.path.join(entry, "nvidia")
        try:
            packages = sorted(os.scandir(root), key=lambda package: package.name)
        except OSError:
            continue  # missing or unreadable
        candidates = (os.path.join(package.path, "lib") for package in packages)
        folders += filter(os.path.isdir, candidates)
    return folders


def _blas_folder() -> str | None:
    """The folder of an OpenBLAS library on ``sys.path``: NumPy's wheel, else the scipy-openblas32 wheel.

    NumPy's comes first: a program that uses both libraries then runs one OpenBLAS thread pool
    instead of two that compete for the same cores.
    """
    for parts in (("numpy.libs",), ("scipy_openblas32", "lib")):
        for entry in sys.path:
            folder = os.path.join(entry, *parts)
            if os.path.isdir(folder) and any("openblas" in name for name in os.listdir(folder)):
                return folder
    return None


_FINDERS = {
    "cuda_library_path": lambda: os.pathsep.join(_nvidia_library_folders()),
    "blas": _blas_folder,
}


def set_library_paths() -> None:
    """Sets config.cuda_library_path and config.blas where they still have their defaults. Lists
    folders; loads no library."""
    for setting in _core._config_list():
        find = _FINDERS.get(setting.name)
        if find is not None and setting.source == "default" and (path := find()):
            _core._config_set(setting.name, path)
