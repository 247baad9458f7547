# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""CUDAMat: the real library on a GPU, elsewhere a fake with the same struct over host memory."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import spanwise as sw


def matrix(library, values):
    return sw.array(np.asarray(values, np.float32), device=library.device)


def numbered(rows, columns):
    return np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)


# name -> (window of a base, whether CUDAMat can hold it (packed columns), whether Theano's conversion
# could (C order)).
WINDOWS = {
    "C order": (lambda x: x, False, True),
    "Fortran order": (lambda x: x.T, True, False),
    "one row": (lambda x: x[1:2], True, True),
    "one row, its stride 0": (lambda x: x[1][None], True, True),
    "columns of Fortran order": (lambda x: x.T[:, 1:3], True, False),
    "one column of Fortran order": (lambda x: x.T[:, 2:3], True, True),
    "rows of C order": (lambda x: x[1:3], False, True),
    "one column of C order": (lambda x: x[:, 1:2], False, False),
    "one row of Fortran order": (lambda x: x.T[1:2], False, False),
    "columns of C order": (lambda x: x[:, 1:3], False, False),
    "rows of Fortran order": (lambda x: x.T[1:3], False, False),
    "every second column of Fortran order": (lambda x: x.T[:, ::2], False, False),
    "columns backwards": (lambda x: x.T[:, ::-1], False, False),
    "one element": (lambda x: x[2:3, 1:2], True, True),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_only_cudamat_layouts_are_shared(cudamat, name):
    window, fits, _ = WINDOWS[name]
    values = numbered(4, 5)
    ours = window(matrix(cudamat, values))
    assert sw.explain(ours, "cudamat").shares == fits
    if not fits:
        with pytest.raises(sw.CopyNeededError, match="packed columns.*copyif=True"):
            sw.to_cudamat(ours)
    theirs = sw.to_cudamat(ours, copyif=not fits)
    assert theirs.shape == ours.shape
    np.testing.assert_array_equal(theirs.asarray(), window(values))
    cudamat.write(theirs, 7)
    assert (ours.numpy() == (7 if fits else window(values))).all()


@pytest.mark.parametrize("name", WINDOWS)
def test_theano_order_is_used_on_request(cudamat, name):
    window, _, fits = WINDOWS[name]
    values = numbered(4, 5)
    ours = window(matrix(cudamat, values))
    if not fits:
        with pytest.raises(sw.CopyNeededError, match=r"C order.*copyif=True"):
            sw.to_cudamat(ours, theano_layout=True)
    theirs = sw.to_cudamat(ours, copyif=not fits, theano_layout=True)
    expected = window(values).ravel().reshape(ours.shape, order="F")
    np.testing.assert_array_equal(theirs.asarray(), expected)
    np.testing.assert_array_equal(theirs.asarray().T.reshape(ours.shape), window(values))
    # theano_layout=True in both directions is the identity.
    back = sw.from_cudamat(theirs, theano_layout=True)
    np.testing.assert_array_equal(back.numpy(), window(values))
    if fits:
        assert back.ptr == ours.ptr


def test_a_broadcast_matrix_is_copied(cudamat):
    ours = sw.broadcast_to(matrix(cudamat, numbered(1, 3)), (4, 3))
    with pytest.raises(sw.CopyNeededError):
        sw.to_cudamat(ours)
    np.testing.assert_array_equal(
        sw.to_cudamat(ours, copyif=True).asarray(), np.tile(numbered(1, 3), (4, 1))
    )


def test_matrix_is_imported_with_its_shape_and_order(cudamat):
    values = numbered(3, 4)
    theirs = cudamat.make(values)
    ours = sw.from_cudamat(theirs)
    assert (ours.shape, ours.strides, ours.dtype) == ((3, 4), (4, 12), "float32")
    assert str(ours.device) == cudamat.device
    np.testing.assert_array_equal(ours.numpy(), values)
    ours[...] = 5
    ours.sync()
    assert (theirs.asarray() == 5).all()
    cudamat.write(theirs, 6)
    assert (sw.asarray(theirs).numpy() == 6).all()


def test_column_slice_is_shared_and_holds_its_matrix(cudamat):
    theirs = cudamat.make(numbered(3, 4))
    part = sw.asarray(theirs.get_col_slice(1, 3))
    assert part.ptr == sw.asarray(theirs).ptr + 4 * 3
    del theirs
    gc.collect()
    np.testing.assert_array_equal(part.numpy(), numbered(3, 4)[:, 1:3])


def test_struct_matches_the_header(cudamat):
    ours = matrix(cudamat, numbered(2, 3)).T
    theirs = sw.to_cudamat(ours)
    fields = theirs.mat
    assert ctypes.sizeof(fields) == 40
    assert ctypes.cast(fields.data_device, ctypes.c_void_p).value == ours.ptr
    assert (list(fields.size), fields.on_device, fields.on_host) == ([3, 2], 1, 0)
    assert (fields.is_trans, fields.owns_data) == (0, 0)
    # T copies the struct, so its fields must be set before T is made.
    assert ctypes.cast(theirs.T.mat.data_device, ctypes.c_void_p).value == ours.ptr
    assert theirs.T.mat.is_trans == 1


def test_each_export_has_its_own_struct(cudamat):
    ours = matrix(cudamat, numbered(2, 3)).T
    first, second = sw.to_cudamat(ours), sw.to_cudamat(ours)
    first.reshape((6, 1))
    assert (first.shape, second.shape) == ((6, 1), (3, 2))


def test_product_of_an_export_with_its_transpose_matches_numpy(cudamat):
    values = numbered(3, 4)
    theirs = sw.to_cudamat(matrix(cudamat, values.T.copy()).T)
    np.testing.assert_array_equal(theirs.dot(theirs.T).asarray(), values @ values.T)


def test_owner_lives_as_long_as_either_side(cudamat):
    values = np.array(numbered(4, 2))
    if cudamat.device == "cpu":
        owner = weakref.ref(values)
        theirs = sw.to_cudamat(values.T)
        del values
        gc.collect()
        assert owner() is not None
        transposed = theirs.T
        del theirs
        gc.collect()
        assert owner() is not None  # T holds the owner of the memory, not its matrix
        del transposed
        gc.collect()
        assert owner() is None
    theirs = cudamat.make(numbered(2, 2))
    matrix_object = weakref.ref(theirs)
    ours = sw.asarray(theirs)[1:]
    del theirs
    gc.collect()
    assert matrix_object() is not None
    del ours
    sw.synchronize()
    gc.collect()
    assert matrix_object() is None


def test_matrix_round_trips(cudamat):
    theirs = cudamat.make(numbered(3, 4))
    assert sw.to_cudamat(theirs) is theirs
    again = sw.to_cudamat(sw.from_cudamat(theirs))
    cudamat.write(again, 2)
    assert (theirs.asarray() == 2).all()


@pytest.mark.parametrize("dtype", ["float64", "int32", "float16", "complex64"])
def test_other_dtypes_are_never_cast(cudamat, dtype):
    ours = sw.ones((2, 3), dtype=dtype, device=cudamat.device)
    with pytest.raises(sw.DTypeError, match=r"float32.*astype"):
        sw.to_cudamat(ours, copyif=True)


@pytest.mark.parametrize("shape", [(), (3,), (2, 2, 2)])
def test_array_that_is_no_matrix_raises(cudamat, shape):
    with pytest.raises(TypeError, match=r"expected a matrix.*x\[None, :\]"):
        sw.to_cudamat(sw.ones(shape, dtype="float32", device=cudamat.device), copyif=True)


def test_vector_is_exported_as_a_row_or_a_column(cudamat):
    ours = matrix(cudamat, numbered(1, 5))[0]
    assert sw.to_cudamat(ours[None, :]).shape == (1, 5)
    column = sw.to_cudamat(ours[:, None])
    assert column.shape == (5, 1)
    cudamat.write(column, 4)
    assert (ours.numpy() == 4).all()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_matrices_without_elements_are_refused_with_the_reason(cudamat, shape):
    with pytest.raises(ValueError, match="does not support empty matrices"):
        sw.to_cudamat(sw.ones(shape, dtype="float32", device=cudamat.device), copyif=True)


def test_empty_matrix_is_imported(cudamat):
    mat = cudamat.module.cudamat()
    mat.size[:] = 0, 3
    mat.on_device = 1
    ours = sw.asarray(cudamat.module.CUDAMatrix(mat))
    assert (ours.shape, ours.size) == ((0, 3), 0)


def test_a_marked_transposition_is_refused(cudamat):
    theirs = cudamat.make(numbered(2, 3))
    theirs.set_trans(True)
    with pytest.raises(ValueError, match="set_trans"):
        sw.asarray(theirs)
    theirs.set_trans(False)
    assert sw.asarray(theirs).shape == (2, 3)


def test_a_transposed_matrix_is_refused_since_it_holds_nothing(cudamat):
    with pytest.raises(ValueError, match=r"take \.T of the array"):
        sw.asarray(cudamat.make(numbered(2, 3)).T)


def test_a_matrix_on_the_host_is_refused(cudamat):
    theirs = cudamat.module.CUDAMatrix(numbered(2, 3), copy_to_device=False)
    with pytest.raises(ValueError, match="copy_to_device"):
        sw.asarray(theirs)


def test_read_only_memory_is_not_exported_to_writers(cudamat):
    if cudamat.device != "cpu":
        pytest.skip("the read-only array is one of NumPy")
    values = numbered(2, 3).T
    values.flags.writeable = False
    with pytest.raises(sw.CopyNeededError, match="read-only"):
        sw.to_cudamat(values)
    theirs = sw.to_cudamat(values, copyif=True)
    cudamat.write(theirs, 1)
    assert values[2, 1] == 5


def test_a_struct_of_another_size_is_refused(cudamat):
    theirs = cudamat.make(numbered(2, 3))
    broken = object.__new__(type(theirs))
    with pytest.raises(TypeError, match="without its struct"):
        sw.from_cudamat(broken)
    broken.mat = (ctypes.c_int * 3)()
    with pytest.raises(TypeError, match="struct of 12 bytes; expected 40"):
        sw.from_cudamat(broken)
    del broken.mat


def test_matrices_that_32_bits_cannot_count_are_refused(cudamat):
    one = sw.zeros((1, 1), dtype="float32", device=cudamat.device)
    with pytest.raises(ValueError, match="2147483647"):
        sw.to_cudamat(sw.broadcast_to(one, (1 << 16, 1 << 16)), copyif=True)


def test_strict_copies_apply_to_theano_layout(cudamat):
    ours = matrix(cudamat, numbered(2, 3)).T
    with sw.strict_copies(), pytest.raises(sw.CopyNeededError):
        sw.to_cudamat(ours, copyif=True, theano_layout=True)


def test_theanos_conversion_functions_share_memory_or_need_copyif(cudamat):
    from spanwise.compat import cudamat_utils

    values = numbered(3, 4)
    ours = matrix(cudamat, values)
    theirs = cudamat_utils.cudandarray_to_cudamat(ours)
    theirs.add(1)
    sw.synchronize()
    np.testing.assert_array_equal(ours.numpy(), values + 1)
    np.testing.assert_array_equal(theirs.asarray().T.reshape(3, 4), values + 1)
    back = cudamat_utils.cudamat_to_cudandarray(theirs)
    np.testing.assert_array_equal(back.numpy(), values + 1)
    with pytest.raises(ValueError, match="copyif"):
        cudamat_utils.cudandarray_to_cudamat(ours.T)
    copied = cudamat_utils.cudandarray_to_cudamat(ours.T, copyif=True)
    copied.add(1)
    sw.synchronize()
    np.testing.assert_array_equal(ours.numpy(), values + 1)
    with pytest.raises(TypeError):
        cudamat_utils.cudandarray_to_cudamat(ours[0])
    with pytest.raises(TypeError):
        cudamat_utils.cudandarray_to_cudamat(3)
