# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A short form of fuzz.processes."""

import pytest

from fuzz.processes import attack, names


@pytest.mark.parametrize("name", names())
def test_program_ends_with_its_own_exit_status(name):
    problems = attack(name, count=4, processes=2)
    assert not problems, problems
