# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A part of fuzz.board: the same cases in each run."""

from fuzz.board import problems


def test_ranks_exchange_texts_while_others_send_anything():
    assert problems(0, 0, 400) == []
