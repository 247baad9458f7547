# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the array API standard 2025.12 (data-apis.org/array-api/2025.12) without its extensions
linalg and fft: functions with their signatures, elementwise functions except real and imag, dtypes,
and special methods without underscores."""

import inspect

FUNCTIONS = """
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(obj, /, *, dtype=None, device=None, copy=None)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing='xy')
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
astype(x, dtype, /, *, copy=True, device=None)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
clip(x, /, min=None, max=None)
round(x, /)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
matmul(x1, x2, /)
matrix_transpose(x, /)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
broadcast_arrays(*arrays)
broadcast_to(x, /, shape)
concat(arrays, /, *, axis=0)
expand_dims(x, /, axis)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, *, axis=None)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
searchsorted(x1, x2, /, *, side='left', sorter=None)
where(condition, x1, x2, /)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
argsort(x, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
"""

UNARY = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor isfinite
isinf isnan log log1p log2 log10 logical_not negative positive reciprocal sign signbit sin sinh
square sqrt tan tanh trunc
"""
BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide
equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or
logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract
"""
DTYPES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
"""
OPERATORS = """
abs add and bool complex eq float floordiv ge getitem gt index int invert le lshift lt mod mul ne neg
or pos pow rshift setitem sub truediv xor iadd radd isub rsub imul rmul itruediv rtruediv ifloordiv
rfloordiv ipow rpow imod rmod iand rand ior ror ixor rxor ilshift rlshift irshift rrshift matmul
imatmul rmatmul dlpack dlpack_device array_namespace
"""


def words(text):
    return text.split()


def functions():
    """Yields (name, inspect.Signature) of each line of FUNCTIONS."""
    for line in FUNCTIONS.strip().splitlines():
        name = line.partition("(")[0]
        scope: dict = {}
        exec(f"def {line}: ...", scope)
        yield name, inspect.signature(scope[name])
