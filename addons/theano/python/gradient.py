# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.gradient``: the names of spanwise.gradient, and jacobian and hessian."""

import spanwise.gradient as _gradient
from spanwise.gradient import *  # noqa: F403

from ._namespace import hessian as hessian, jacobian as jacobian

__all__ = [*_gradient.__all__, "hessian", "jacobian"]
