# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Other libraries, real or standing in, for the tests of bridges."""

import pytest
from support import foreign


def obtained(name):
    try:
        return foreign.library(name)
    except foreign.Missing as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def pycuda():
    return obtained("pycuda")


@pytest.fixture(scope="session")
def cudamat():
    return obtained("cudamat")


@pytest.fixture(scope="session")
def gnumpy():
    return obtained("gnumpy")
