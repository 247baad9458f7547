// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

/// Foreign objects that know better than Spanwise what an operation on them means: NumPy's rules of
/// precedence (numpy.org/neps/nep-0013), and lazy arrays. Objects whose memory a bridge reads are
/// operands whatever they say, but for those that refuse. All need the GIL and leave no Python
/// error.
namespace spanwise::python {

/// Whether `a <op> other` is for the other's reflected method to answer: a variable of a graph, a
/// class whose __array_ufunc__ is None, and, where no bridge reads its memory, one with an
/// __array_ufunc__ of its own or an __array_priority__ above an array's 0.
bool takes_operators(PyObject* other) noexcept;
/// The same of `a <op>= other`, which an __array_ufunc__ does not take.
bool takes_in_place_operators(PyObject* other) noexcept;

/// Whether the object's class answers NumPy's ufuncs itself and no bridge reads its memory.
bool overrides_ufuncs(PyObject* object) noexcept;

/// Whether making an array of the object computes one that is not there yet: a collection of Dask
/// (its __dask_graph__() is not None), or a class that answers NumPy's ufuncs itself and has no
/// to_numpy(). Only for objects that no bridge reads the memory of.
bool is_lazy(PyObject* object) noexcept;

}  // namespace spanwise::python
