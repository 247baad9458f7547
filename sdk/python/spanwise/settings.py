# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``spanwise config``: prints the settings and their current values; ``spanwise version``."""

from __future__ import annotations

import difflib
import os
import textwrap
from collections.abc import Iterator

from . import _core


def describe(setting: _core._Setting) -> str:
    """``name = value (source)``, and below it the description, the choices and the default."""
    shown = setting.value if setting.value else '""'
    source = setting.source
    if source == "environment":
        source = f"environment, SPANWISE_{setting.name.upper()}"
    meaning = setting.description.rstrip(".")
    meaning = meaning[:1].upper() + meaning[1:]
    if setting.choices:
        meaning += f"; one of {', '.join(setting.choices)}"
    if setting.value != setting.default_value:
        meaning += f"; default {setting.default_value or 'empty'}"
    body = textwrap.fill(meaning + ".", 90, initial_indent="    ", subsequent_indent="    ")
    text = f"{setting.name} = {shown}  ({source})\n{body}"
    # A path need not be UTF-8, and standard output takes no other text.
    return text.encode(errors="backslashreplace").decode()


#: Variables of the environment that are no settings: of collectives, and of builds and tests.
_OTHER_VARIABLES = ("COLLECTIVES_", "LOG", "TEST_", "BUILD_DIR", "GTEST_SOURCE", "PYTHON_INCLUDE")


def unknown_variables() -> Iterator[str]:
    """A line for each variable SPANWISE_* of the environment that Spanwise does not read."""
    known = {f"SPANWISE_{setting.name.upper()}" for setting in _core._config_list()}
    for name in sorted(os.environ):
        if not name.startswith("SPANWISE_") or name in known:
            continue
        if name.removeprefix("SPANWISE_").startswith(_OTHER_VARIABLES):
            continue
        similar = difflib.get_close_matches(name, known, 1)
        remedy = (
            f"; did you mean {similar[0]}?" if similar else "; spanwise config lists those that are"
        )
        yield f"the variable {name} of the environment is not read{remedy}"


def version(arguments: list[str]) -> int:
    """Prints the version."""
    print(f"spanwise {_core.__version__}")
    return 0


def main(arguments: list[str]) -> int:
    """Prints all settings, or those in `arguments`; returns 2 for an unknown name."""
    settings = {setting.name: setting for setting in _core._config_list()}
    for name in arguments:
        if name not in settings:
            # _config_get raises an error that suggests the most similar name.
            try:
                _core._config_get(name)
            except _core.ArgumentError as error:
                print(error)
            return 2
    chosen = arguments or sorted(settings)
    print("Each setting is also read from SPANWISE_<NAME> in the environment.\n")
    print("\n".join(describe(settings[name]) for name in chosen))
    return 0
