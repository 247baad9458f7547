# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A part of fuzz.faces: the same cases in each run, on the default device."""

import spanwise as sw
from fuzz.faces import problem_of

#: On a GPU each case compiles kernels.
CASES = {"cpu": 200, "cuda": 8}


def test_programs_in_both_faces_match_numpy():
    count = CASES[sw.default_device().kind]
    assert [p for number in range(count) if (p := problem_of(2026, number))] == []
