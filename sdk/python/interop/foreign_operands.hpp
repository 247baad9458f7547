// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

/// Which foreign objects handle operators and ufuncs themselves: NumPy's rules of precedence
/// (numpy.org/neps/nep-0013), and lazy arrays. Objects whose memory a bridge reads are ordinary
/// operands, unless their __array_ufunc__ is None. All functions need the GIL and leave no Python
/// error.
namespace spanwise::python {

/// Whether `a <op> other` returns NotImplemented, so that Python calls the reflected method of
/// `other`: for a variable of a graph, for a class whose __array_ufunc__ is None, and, if no bridge
/// reads its memory, for one with an __array_ufunc__ or with an __array_priority__ above an array's
/// 0.
bool takes_operators(PyObject* other) noexcept;
/// The same for `a <op>= other`; an __array_ufunc__ other than None does not count.
bool takes_in_place_operators(PyObject* other) noexcept;

/// Whether an operator returns NotImplemented for an operand that is no array: also for None, text,
/// bytes and dicts.
bool declines_operand(PyObject* other, bool in_place) noexcept;

/// Whether the object's class implements __array_ufunc__ and no bridge reads its memory.
bool overrides_ufuncs(PyObject* object) noexcept;

/// Whether converting the object to an array computes it: a Dask collection (its __dask_graph__()
/// is not None), or a class that implements __array_ufunc__ and has no to_numpy(). Only for objects
/// whose memory no bridge reads.
bool is_lazy(PyObject* object) noexcept;

}  // namespace spanwise::python
