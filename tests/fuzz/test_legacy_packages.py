# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A part of fuzz.legacy_packages: the same cases in each run."""

from fuzz.legacy_packages import problem_of


def test_packages_around_hostile_files_are_right():
    assert [p for number in range(200) if (p := problem_of(2026, number))] == []
