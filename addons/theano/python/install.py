# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Importing this module makes ``import theano`` and its submodules import spanwise.theano.

It has no effect where Theano itself is installed. After the first ``import theano``, variables of
the process behave as in Theano: ``eval`` and ``get_value`` return NumPy arrays, and
``transfer(None)`` copies to the GPU.
"""

from ._hook import install

install()
