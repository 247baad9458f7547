# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.gradient``: the names of spanwise.gradient."""

from spanwise.gradient import *  # noqa: F403
from spanwise.gradient import __all__ as __all__
