// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

/// Which foreign objects handle operators and ufuncs themselves: NumPy's rules of precedence
/// (numpy.org/neps/nep-0013), and lazy arrays. Arrays of the libraries that bridges list by name
/// are ordinary operands, unless their __array_ufunc__ is None; a subclass of them that defines one
/// of the attributes below itself is none. All functions need the GIL and leave no Python error.
namespace spanwise::python {

/// Whether `a <op> other` and `a <op>= other` return NotImplemented, so that Python calls the
/// reflected method of `other`: for a variable of a graph, and for a class with an __array_ufunc__
/// or with an __array_priority__ above an array's 0.
bool takes_operators(PyObject* other);

/// Whether an operator returns NotImplemented for an operand that is no array: also for None, text,
/// bytes and dicts.
bool declines_operand(PyObject* other);

/// Whether the object's class implements __array_ufunc__ itself.
bool overrides_ufuncs(PyObject* object);

/// Whether only an explicit conversion makes the object an array, since that computes it or drops
/// what its elements mean, such as units: a Dask collection (its __dask_graph__() is not None), or
/// a class that implements __array_ufunc__ and has no to_numpy(). Not for arrays of the libraries
/// that bridges list by name.
bool is_lazy(PyObject* object) noexcept;

}  // namespace spanwise::python
