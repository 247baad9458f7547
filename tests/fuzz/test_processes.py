# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A short form of fuzz.processes."""

import pytest

from fuzz.processes import program_names, run_many


@pytest.mark.parametrize("name", program_names())
def test_program_ends_with_its_own_exit_status(name):
    problems = run_many(name, count=4, processes=2)
    assert not problems, problems
