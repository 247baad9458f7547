# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The kernel of PyCUDA's linear combinations, whose factors may be elements of bound arrays."""

from ._types import ScalarArg, VectorArg


class BoundScalar:
    """Takes the place of a texture reference: GPUArray.bind_to_texref_ext binds an array, of which
    the kernel reads element 0."""

    bound = None

    def set_address(self, devptr, bytes):
        self.bound = devptr
        return 0


class LinearCombination:
    """A kernel whose first arguments are the bound arrays."""

    def __init__(self, kernel, scalars):
        self._kernel, self._scalars = kernel, scalars

    def _all(self, args):
        missing = [place for place, scalar in enumerate(self._scalars) if scalar.bound is None]
        if missing:
            raise ValueError(
                f"linear_combination: the factors {missing} are not bound; call x.bind_to_texref_ext(references[i])"
            )
        return [*(scalar.bound for scalar in self._scalars), *args]

    def prepared_call(self, grid, block, *args, shared_size=0):
        self._kernel.prepared_call(grid, block, *self._all(args), shared_size=shared_size)

    def prepared_async_call(self, grid, block, stream, *args, shared_size=0):
        self._kernel.prepared_async_call(
            grid, block, stream, *self._all(args), shared_size=shared_size
        )


def linear_combination(get_kernel, summands, dtype_z):
    """(kernel, [BoundScalar, ...]) for z = a0 * x0 + a1 * x1 ...; each summand is (whether the
    factor is an element of an array, dtype of the factor, dtype of x)."""
    pointers, arguments, terms = [], [], []
    for number, (in_array, factor, vector) in enumerate(summands):
        name = f"a{number}"
        if in_array:
            pointers.append(VectorArg(factor, name))
        else:
            arguments.append(ScalarArg(factor, name))
        arguments.append(VectorArg(vector, f"x{number}"))
        terms.append(f"{name}{'[0]' if in_array else ''} * x{number}[i]")
    arguments.append(VectorArg(dtype_z, "z"))
    kernel = get_kernel(pointers + arguments, f"z[i] = {' + '.join(terms)}", "linear_combination")
    scalars = [BoundScalar() for _ in pointers]
    return LinearCombination(kernel, scalars), scalars
