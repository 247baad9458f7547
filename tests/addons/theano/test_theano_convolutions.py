# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution and pooling of theano.tensor, compared with loops over windows of NumPy arrays."""

import numpy as np
import pytest
from addons.theano.in_process import T, nnet, signal
from hypothesis import given, settings, strategies as st

import spanwise as sw

R = np.random.default_rng(8)
IMAGES, FILTERS = R.standard_normal((2, 4, 7, 8)), R.standard_normal((6, 4, 3, 2))


def value(build, *arrays, device="cpu"):
    inputs = [T.tensor(x.dtype, (None,) * x.ndim) for x in arrays]
    return sw.function(inputs, build(*inputs), device=device)(*arrays).numpy()


def convolved(x, w, pads, steps, flip, dilations, groups):
    """The definition, in float64."""
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    count = x.ndim - 2
    if flip:
        w = w[(slice(None), slice(None), *[slice(None, None, -1)] * count)]
    reach = [(w.shape[2 + i] - 1) * dilations[i] + 1 for i in range(count)]
    extents = [max((x.shape[2 + i] - reach[i]) // steps[i] + 1, 0) for i in range(count)]
    out = np.full((x.shape[0], w.shape[0], *extents), np.nan)
    per_group, channels = w.shape[0] // groups, x.shape[1] // groups
    for index in np.ndindex(*extents):
        window = tuple(
            slice(i * s, i * s + r, d)
            for i, s, r, d in zip(index, steps, reach, dilations, strict=True)
        )
        part = x[(slice(None), slice(None), *window)]
        for o in range(w.shape[0]):
            first = o // per_group * channels
            product = part[:, first : first + channels] * w[o]
            out[(slice(None), o, *index)] = product.reshape(len(x), -1).sum(1)
    return out


@settings(max_examples=40)
@given(
    mode=st.sampled_from(["valid", "full", "half", 2, (1, 3), ((0, 2), (1, 0))]),
    steps=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    flip=st.booleans(),
    dilations=st.tuples(st.integers(1, 2), st.integers(1, 3)),
    groups=st.sampled_from([1, 2]),
)
def test_convolution_follows_its_definition(mode, steps, flip, dilations, groups):
    filters = FILTERS[:, : 4 // groups]
    reach = [(filters.shape[2 + i] - 1) * dilations[i] + 1 for i in range(2)]
    names = {
        "valid": [0, 0],
        "full": [r - 1 for r in reach],
        "half": [r // 2 for r in reach],
        2: [2, 2],
    }
    pads = [p if isinstance(p, tuple) else (p, p) for p in names.get(mode, mode)]
    result = value(
        lambda x, w: nnet.conv2d(x, w, None, None, mode, steps, flip, None, dilations, groups),
        IMAGES,
        filters,
    )
    expected = convolved(IMAGES, filters, pads, steps, flip, dilations, groups)
    np.testing.assert_allclose(result, expected, 1e-12, 1e-12)


def test_convolution_on_each_device(device):
    x, w = IMAGES.astype("f4")[:, :, ::-1, ::2], FILTERS.astype("f4")[::2]
    result = value(lambda x, w: nnet.conv2d(x, w, border_mode="full"), x, w, device=device)
    assert result.dtype == "float32"
    expected = convolved(x.astype("f8"), w.astype("f8"), [(2, 2), (1, 1)], (1, 1), True, (1, 1), 1)
    np.testing.assert_allclose(result, expected, 1e-5, 1e-5)


def test_convolution_in_three_dimensions():
    x, w = R.standard_normal((2, 3, 4, 5, 6)), R.standard_normal((2, 3, 2, 3, 2))
    result = value(lambda x, w: nnet.conv3d(x, w, border_mode="half", subsample=(1, 2, 1)), x, w)
    expected = convolved(x, w, [(1, 1)] * 3, (1, 2, 1), True, (1, 1, 1), 1)
    np.testing.assert_allclose(result, expected, 1e-12, 1e-12)


def test_convolution_of_images_without_channels():
    images, filters = IMAGES[0], FILTERS[0]
    expected = convolved(images[:, None], filters[:, None], [(0, 0)] * 2, (1, 1), True, (1, 1), 1)
    for x, w, part in (
        (images, filters, ()),
        (images[0], filters, (0,)),
        (images[0], filters[0], (0, 0)),
    ):
        result = value(signal.conv.conv2d, x, w)
        np.testing.assert_allclose(result, expected[part], 1e-12, 1e-12)


def pooled(x, sizes, ignore_border, steps, pads, mode):
    """The definition: windows that begin in the padded image, cut off at its end."""
    height, width = x.shape[-2:]
    mask = np.pad(np.ones((height, width)), [(p, p) for p in pads])
    image = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in pads)], constant_values=np.nan)
    counts = []
    for extent, size, step in zip(image.shape[-2:], sizes, steps, strict=True):
        if ignore_border:
            counts.append(max((extent - size) // step + 1, 0))
        elif step >= size:
            counts.append((extent - 1) // step + 1)
        else:
            counts.append(max((extent - 1 - size + step) // step, 0) + 1)
    out = np.full((*x.shape[:2], *counts), -7.0)
    for i, j in np.ndindex(*counts):
        rows = slice(i * steps[0], i * steps[0] + sizes[0])
        columns = slice(j * steps[1], j * steps[1] + sizes[1])
        part, inside = image[:, :, rows, columns], mask[rows, columns]
        total = np.nansum(part, (2, 3))
        with np.errstate(all="ignore"):
            out[:, :, i, j] = {
                "max": np.nanmax(np.where(inside > 0, part, -np.inf), (2, 3)),
                "sum": total,
                "average_inc_pad": total / inside.size,
                "average_exc_pad": total / inside.sum(),
            }[mode]
    return out


@settings(max_examples=40)
@given(
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 3)),
    ignore_border=st.booleans(),
    steps=st.none() | st.tuples(st.integers(1, 4), st.integers(1, 4)),
    pads=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    mode=st.sampled_from(["max", "sum", "average_inc_pad", "average_exc_pad"]),
)
def test_pooling_follows_its_definition(sizes, ignore_border, steps, pads, mode):
    pads = (
        tuple(min(p, s - 1) for p, s in zip(pads, sizes, strict=True)) if ignore_border else (0, 0)
    )
    result = value(
        lambda x: signal.pool.pool_2d(x, sizes, ignore_border, steps, pads, mode), IMAGES
    )
    expected = pooled(IMAGES, sizes, ignore_border, steps or sizes, pads, mode)
    np.testing.assert_allclose(result, expected, 1e-12, 1e-12)


def test_pooling_by_former_names_and_in_three_dimensions():
    x = IMAGES[:, :, :6]
    expected = x.reshape(2, 4, 3, 2, 4, 2).max((3, 5))
    for build in (
        lambda x: signal.downsample.max_pool_2d(x, (2, 2), ignore_border=True),
        lambda x: signal.pool.pool_2d(x, ds=(2, 2), st=(2, 2), ignore_border=True),
    ):
        np.testing.assert_array_equal(value(build, x), expected)
    result = value(lambda x: signal.pool.pool_3d(x, (2, 2, 2), True), x)
    np.testing.assert_array_equal(result, x.reshape(2, 2, 2, 3, 2, 4, 2).max((2, 4, 6)))


def test_windows_of_images_are_rows():
    result = value(lambda x: nnet.images2neibs(x, (2, 3), (1, 2)), IMAGES)
    expected = [
        IMAGES[n, c, i : i + 2, j : j + 3].ravel()
        for n in range(2) for c in range(4) for i in range(6) for j in range(0, 6, 2)
    ]  # fmt: skip
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "build",
    [
        lambda x, w: nnet.conv2d(x, w, border_mode="half", subsample=(2, 1)),
        lambda x, w: nnet.conv2d(x, w[:, :2], num_groups=2, filter_dilation=(2, 1)),
        lambda x, w: signal.pool.pool_2d(nnet.conv2d(x, w), (2, 2), False),
        lambda x, w: signal.pool.pool_2d(x, (3, 2), True, (2, 1), (1, 0), "average_exc_pad")
        * w.sum(),
    ],
)
def test_derivatives_agree_with_differences(build):
    sw.tensor.verify_grad(build, [IMAGES[:1], FILTERS[:2]], rng=np.random.RandomState(2))


def test_misuse_raises():
    x, w = T.dtensor4("x"), T.dtensor4("w")
    with pytest.raises(ValueError, match="border_mode"):
        nnet.conv2d(x, w, border_mode="same")
    with pytest.raises(ValueError, match="2 numbers"):
        nnet.conv2d(x, w, subsample=(1, 1, 1))
    with pytest.raises(TypeError, match="of rank 4"):
        nnet.conv2d(x, T.dmatrix("m"))
    with pytest.raises(ValueError, match="mode max"):
        signal.pool.pool_2d(x, (2, 2), True, mode="median")
    with pytest.raises(ValueError, match="ignore_border"):
        signal.pool.pool_2d(x, (2, 2), False, pad=(1, 1))


MODES = st.sampled_from(["valid", "full", "half", 2, (1, 3), ((0, 2), (1, 0))])


@settings(max_examples=40)
@given(
    mode=MODES,
    steps=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    flip=st.booleans(),
    dilations=st.tuples(st.integers(1, 2), st.integers(1, 3)),
    groups=st.sampled_from([1, 2]),
)
def test_derivatives_of_convolutions_are_their_adjoints(mode, steps, flip, dilations, groups):
    filters = FILTERS[:, : 4 // groups]
    options = (mode, steps, flip, dilations, groups)
    result = value(lambda x, w: nnet.AbstractConv2d(None, None, *options)(x, w), IMAGES, filters)
    top = R.standard_normal(result.shape)
    of_images = value(
        lambda w, g: nnet.AbstractConv2d_gradInputs(None, None, *options)(w, g, IMAGES.shape[2:]),
        filters,
        top,
    )
    of_filters = value(
        lambda x, g: nnet.AbstractConv2d_gradWeights(None, None, *options)(x, g, filters.shape[2:]),
        IMAGES,
        top,
    )
    assert of_images.shape == IMAGES.shape
    assert of_filters.shape == filters.shape
    # The convolution is linear in both: its product with `top` is that of each with its derivative.
    expected = (result * top).sum()
    np.testing.assert_allclose((of_images * IMAGES).sum(), expected, 1e-9, 1e-9)
    np.testing.assert_allclose((of_filters * filters).sum(), expected, 1e-9, 1e-9)


def test_derivatives_of_any_order_on_each_device(device):
    x, w = IMAGES[:1, :2, :4, :4], FILTERS[:2, :2, :2, :2]
    T.verify_grad(lambda x, w: nnet.conv2d(x, w, border_mode=1, subsample=(2, 1)), [x, w])
    images, kernels = T.dtensor4("x"), T.dtensor4("w")
    slopes = T.grad((nnet.conv2d(images, kernels) ** 2).sum(), [images, kernels])
    second = T.grad(sum((s**2).sum() for s in slopes), [images, kernels])
    got = sw.function([images, kernels], second, device=device)(x, w)

    def loss(x, w):
        f = sw.function([images, kernels], sum((s**2).sum() for s in slopes))
        return float(f(x, w).numpy())

    for i, derivative in enumerate(got):
        step = np.zeros_like((x, w)[i])
        step[0, 1, 1, 0] = 1e-5
        ends = [[x, w], [x, w]]
        ends[0][i], ends[1][i] = (x, w)[i] + step, (x, w)[i] - step
        slope = (loss(*ends[0]) - loss(*ends[1])) / 2e-5
        np.testing.assert_allclose(derivative.numpy()[0, 1, 1, 0], slope, 1e-6)


def test_what_is_made_of_convolutions():
    x = IMAGES
    depth, point = R.standard_normal((8, 1, 2, 2)), R.standard_normal((3, 8, 1, 1))
    each = convolved(x, depth, [(0, 0), (0, 0)], (1, 1), True, (1, 1), 4)
    expected = convolved(each, point, [(0, 0), (0, 0)], (1, 1), True, (1, 1), 1)
    got = value(lambda x, d, p: nnet.separable_conv2d(x, d, p, 4), x, depth, point)
    np.testing.assert_allclose(got, expected, 1e-12, 1e-12)

    steps, kernel = R.standard_normal((2, 3, 9)), R.standard_normal((4, 3, 2))
    got = value(lambda x, w: nnet.causal_conv1d(x, w, (4, 3, 2), filter_dilation=2), steps, kernel)
    expected = convolved(steps, kernel, [(2, 0)], (1,), True, (2,), 1)
    np.testing.assert_allclose(got, expected, 1e-12, 1e-12)

    back = value(
        lambda g, w: nnet.conv2d_transpose(g, w, (2, 4, 15, 16), input_dilation=(2, 2)),
        R.standard_normal((2, 6, 7, 8)),
        FILTERS,
    )
    assert back.shape == (2, 4, 15, 16)
    for ratio in (2, 3, 4):
        got = value(lambda x, r=ratio: nnet.bilinear_upsampling(x, r), x)
        expected = x
        for axis in (2, 3):
            count = x.shape[axis]
            places = (np.arange(count * ratio) - (ratio - 1) // 2) / ratio
            expected = np.apply_along_axis(
                lambda line, p=places, n=count: np.interp(p, np.arange(n), line), axis, expected
            )
        np.testing.assert_allclose(got, expected, 1e-12, 1e-12)


def test_shapes_of_convolutions():
    assert nnet.get_conv_output_shape((2, 3, 7, 8), (4, 3, 2, 3), "half", (2, 1), (1, 2)) == (
        2,
        4,
        4,
        8,
    )
    assert nnet.get_conv_output_shape((None, 3, 7, None), (4, 3, 2, 3), 1, (1, 1)) == (
        None,
        4,
        8,
        None,
    )
    assert nnet.get_conv_gradinputs_shape((4, 3, 2, 3), (2, 4, 6, 6), (1, 2), (1, 1)) == (
        2,
        3,
        5,
        4,
    )
    assert nnet.get_conv_gradinputs_shape((4, 3, 2, 3), (2, 4, 6, 6), "full", (1, 2)) == (
        2,
        3,
        5,
        None,
    )
    assert nnet.get_conv_gradweights_shape(
        (2, 3, 9, 9), (2, 4, 10, 11), "full", (1, 1), (1, 2)
    ) == (4, 3, 2, 2)


def test_windows_as_rows_and_back():
    x = R.standard_normal((2, 1, 6, 6))
    rows = value(lambda x: nnet.images2neibs(x, (3, 3), (2, 2), "wrap_centered"), x)
    expected = [
        np.roll(image, (1 - i, 1 - j), (0, 1))[:3, :3].ravel()
        for image in x[:, 0]
        for i in (0, 2, 4)
        for j in (0, 2, 4)
    ]
    np.testing.assert_array_equal(rows, expected)
    for mode, edges in (("half", (1, 1)), ("full", (2, 1))):
        rows = value(lambda x, m=mode: nnet.images2neibs(x, (3, 2), (1, 1), m), x)
        framed = np.pad(x, [(0, 0), (0, 0), (edges[0],) * 2, (edges[1],) * 2])
        parts = np.lib.stride_tricks.sliding_window_view(framed, (3, 2), (2, 3))
        np.testing.assert_array_equal(rows, parts.reshape(-1, 6))
    wide = R.standard_normal((2, 2, 5, 7))
    back = value(
        lambda x: nnet.neibs2images(
            nnet.images2neibs(x, (2, 3), mode="ignore_borders"),
            (2, 3),
            wide.shape,
            "ignore_borders",
        ),
        wide,
    )
    expected = wide.copy()
    expected[:, :, 4:], expected[..., 6:] = 0, 0
    np.testing.assert_array_equal(back, expected)
