# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules with the names and arguments of older ones: of Theano (theano.misc, theano.sandbox.cuda)
and of pygpu."""
