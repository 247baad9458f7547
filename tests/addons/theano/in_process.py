# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules of spanwise.theano in the process of the tests, whose default device stays as it was: the import
of the package sets that of THEANO_FLAGS."""

import spanwise as sw

_device = sw.config.device

import spanwise.theano.tensor as T  # noqa: E402, F401, N812
from spanwise.theano import (  # noqa: E402
    _namespace as theano,  # noqa: F401
    _old_names as old_names,  # noqa: F401
    _ops as ops,  # noqa: F401
    _streams as streams,  # noqa: F401
    scalar,  # noqa: F401
)
from spanwise.theano.gradient import grad_clip, grad_scale  # noqa: E402, F401
from spanwise.theano.tensor import extra_ops, nlinalg, nnet, signal, slinalg  # noqa: E402, F401
from spanwise.theano.tensor.opt import Assert  # noqa: E402, F401

sw.config.device = _device
