# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The convolutions of ``theano.tensor.nnet`` in two and three dimensions, their derivatives as functions and
as ops, what is made of them, and the shapes of their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import spanwise.tensor as T  # noqa: N812
from spanwise.graph import Variable

from .._config import config
from ._windows import as_extents, pads_of, settings_of
from .basic import as_tensor_variable

__all__ = [
    "AbstractConv2d", "AbstractConv2d_gradInputs", "AbstractConv2d_gradWeights", "AbstractConv3d",
    "AbstractConv3d_gradInputs", "AbstractConv3d_gradWeights", "bilinear_kernel_1D", "bilinear_kernel_2D",
    "bilinear_upsampling", "causal_conv1d", "conv2d", "conv2d_grad_wrt_inputs", "conv2d_grad_wrt_weights",
    "conv2d_transpose", "conv3d", "conv3d_grad_wrt_inputs", "conv3d_grad_wrt_weights",
    "get_conv_gradinputs_shape", "get_conv_gradweights_shape", "get_conv_output_shape",
    "separable_conv2d", "separable_conv3d",
]  # fmt: skip


def _settings(count: int, name: str, unshared: bool, *options: Any) -> Any:
    if unshared:
        raise ValueError(
            f"{name}: filters that differ between places (unshared=True) are not available; multiply the "
            "windows of theano.tensor.nnet.images2neibs by them"
        )
    return settings_of(count, *options)


class _Conv:
    """The base class: `imshp` and `kshp`, the shapes of images and filters, have no effect."""

    convdim = 2

    def __init__(
        self,
        imshp: Any = None,
        kshp: Any = None,
        border_mode: Any = "valid",
        subsample: Any = None,
        filter_flip: bool = True,
        filter_dilation: Any = None,
        num_groups: int = 1,
        unshared: bool = False,
    ) -> None:
        self.imshp, self.kshp, self.border_mode, self.num_groups = (
            imshp,
            kshp,
            border_mode,
            num_groups,
        )
        self.settings = _settings(
            self.convdim, type(self).__name__, unshared, border_mode, subsample, filter_flip, filter_dilation,
            num_groups,
        )  # fmt: skip

    def _variables(self, *inputs: Any) -> list[Variable]:
        variables = [as_tensor_variable(x) for x in inputs]
        for x in variables:
            if x.ndim != self.convdim + 2:
                raise TypeError(
                    f"{type(self).__name__}: expected images and filters of rank {self.convdim + 2}, got "
                    f"{x.type}"
                )
        return variables


class AbstractConv2d(_Conv):
    """The convolution of images (batch, channels, rows, columns) with filters (outputs, channels /
    num_groups, rows, columns)."""

    def __call__(self, img: Any, kern: Any) -> Variable:
        return self.settings.of(*self._variables(img, kern))


class AbstractConv2d_gradWeights(_Conv):  # noqa: N801
    """Its derivative with respect to filters, whose rows and columns are `shape`."""

    def __call__(self, img: Any, topgrad: Any, shape: Any) -> Variable:
        x, top = self._variables(img, topgrad)
        outer = (top.shape[1], x.shape[1] // self.num_groups)
        return self.settings.of_filters(x, top, _joined(outer, shape, self.convdim))


class AbstractConv2d_gradInputs(_Conv):  # noqa: N801
    """Its derivative with respect to images, whose rows and columns are `shape`."""

    def __call__(self, kern: Any, topgrad: Any, shape: Any) -> Variable:
        w, top = self._variables(kern, topgrad)
        outer = (top.shape[0], w.shape[1] * self.num_groups)
        return self.settings.of_inputs(w, top, _joined(outer, shape, self.convdim))


class AbstractConv3d(AbstractConv2d):
    convdim = 3


class AbstractConv3d_gradWeights(AbstractConv2d_gradWeights):  # noqa: N801
    convdim = 3


class AbstractConv3d_gradInputs(AbstractConv2d_gradInputs):  # noqa: N801
    convdim = 3


def _joined(outer: Sequence[Any], space: Any, count: int) -> Variable:
    inner = [space[i] for i in range(count)]
    return T.stack([T.cast(as_tensor_variable(n), "int64") for n in (*outer, *inner)])


def _function(kind: type[Any], name: str, doc: str) -> Any:
    """``conv2d`` or ``conv3d``."""

    def conv(
        input: Any,
        filters: Any,
        input_shape: Any = None,
        filter_shape: Any = None,
        border_mode: Any = "valid",
        subsample: Any = None,
        filter_flip: bool = True,
        image_shape: Any = None,
        filter_dilation: Any = None,
        num_groups: int = 1,
        unshared: bool = False,
        **options: Any,
    ) -> Variable:
        op = kind(
            input_shape, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups,
            unshared,
        )  # fmt: skip
        return op(input, filters)

    conv.__name__ = conv.__qualname__ = name
    conv.__doc__ = doc
    return conv


conv2d = _function(
    AbstractConv2d,
    "conv2d",
    """The convolution of images (batch, channels, rows, columns) with filters (outputs, channels /
    num_groups, rows, columns).

    `border_mode`: "valid", "full", "half", a number of zeros around the images, or one for rows and
    one for columns, each also as a pair of (before, after). With filter_flip=False the correlation.
    The shapes have no effect. Raises ValueError for another mode and for unshared filters.
    """,
)
conv3d = _function(
    AbstractConv3d,
    "conv3d",
    "conv2d() in three spatial dimensions: (batch, channels, depth, rows, columns).",
)


def conv3d_of_signals(
    signals: Any,
    filters: Any,
    signals_shape: Any = None,
    filters_shape: Any = None,
    border_mode: Any = "valid",
) -> Variable:
    """conv3d() in the order of axes of ``theano.tensor.nnet.conv3d2d``: signals (batch, steps, channels,
    rows, columns), filters (outputs, steps, channels, rows, columns)."""
    order = (0, 2, 1, 3, 4)
    x, w = (as_tensor_variable(each).dimshuffle(*order) for each in (signals, filters))
    return conv3d(x, w, border_mode=border_mode).dimshuffle(*order)


def _inputs_slope(kind: type[Any], name: str) -> Any:
    def slope(
        output_grad: Any,
        filters: Any,
        input_shape: Any,
        filter_shape: Any = None,
        border_mode: Any = "valid",
        subsample: Any = None,
        filter_flip: bool = True,
        filter_dilation: Any = None,
        num_groups: int = 1,
        unshared: bool = False,
    ) -> Variable:
        """The derivative with respect to inputs of `input_shape`, of which the extents of space are used."""
        op = kind(
            input_shape, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups,
            unshared,
        )  # fmt: skip
        return op(filters, output_grad, [input_shape[2 + i] for i in range(kind.convdim)])

    slope.__name__ = slope.__qualname__ = name
    return slope


def _weights_slope(kind: type[Any], name: str) -> Any:
    def slope(
        input: Any,
        output_grad: Any,
        filter_shape: Any,
        input_shape: Any = None,
        border_mode: Any = "valid",
        subsample: Any = None,
        filter_flip: bool = True,
        filter_dilation: Any = None,
        num_groups: int = 1,
        unshared: bool = False,
    ) -> Variable:
        """The derivative with respect to filters of `filter_shape`, of which the extents of space are used."""
        op = kind(
            input_shape, filter_shape, border_mode, subsample, filter_flip, filter_dilation, num_groups,
            unshared,
        )  # fmt: skip
        return op(input, output_grad, [filter_shape[2 + i] for i in range(kind.convdim)])

    slope.__name__ = slope.__qualname__ = name
    return slope


conv2d_grad_wrt_inputs = _inputs_slope(AbstractConv2d_gradInputs, "conv2d_grad_wrt_inputs")
conv3d_grad_wrt_inputs = _inputs_slope(AbstractConv3d_gradInputs, "conv3d_grad_wrt_inputs")
conv2d_grad_wrt_weights = _weights_slope(AbstractConv2d_gradWeights, "conv2d_grad_wrt_weights")
conv3d_grad_wrt_weights = _weights_slope(AbstractConv3d_gradWeights, "conv3d_grad_wrt_weights")


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    filter_shape: Any = None,
    border_mode: Any = "valid",
    input_dilation: Any = (1, 1),
    filter_flip: bool = True,
    filter_dilation: Any = (1, 1),
    num_groups: int = 1,
    unshared: bool = False,
) -> Variable:
    """The transposed convolution: conv2d_grad_wrt_inputs() with `input` in the place of the derivative."""
    return conv2d_grad_wrt_inputs(
        input, filters, output_shape, filter_shape, border_mode, input_dilation, filter_flip,
        filter_dilation, num_groups, unshared,
    )  # fmt: skip


def _separable(conv: Any, name: str) -> Any:
    def separable(
        input: Any,
        depthwise_filters: Any,
        pointwise_filters: Any,
        num_channels: int,
        input_shape: Any = None,
        depthwise_filter_shape: Any = None,
        pointwise_filter_shape: Any = None,
        border_mode: Any = "valid",
        subsample: Any = None,
        filter_flip: bool = True,
        filter_dilation: Any = None,
    ) -> Variable:
        """Each channel with filters of its own, then all of them at each place with `pointwise_filters`,
        whose extents of space are 1."""
        each = conv(
            input, depthwise_filters, None, None, border_mode, subsample, filter_flip, None, filter_dilation,
            num_channels,
        )  # fmt: skip
        return conv(each, pointwise_filters, filter_flip=filter_flip)

    separable.__name__ = separable.__qualname__ = name
    return separable


separable_conv2d = _separable(conv2d, "separable_conv2d")
separable_conv3d = _separable(conv3d, "separable_conv3d")


def causal_conv1d(
    input: Any,
    filters: Any,
    filter_shape: Any,
    input_shape: Any = None,
    subsample: int = 1,
    filter_flip: bool = True,
    filter_dilation: int = 1,
    num_groups: int = 1,
    unshared: bool = False,
) -> Variable:
    """The convolution along the last axis of inputs (batch, channels, steps) in which a result reads no
    later steps: zeros precede the first one. `filter_shape` holds the length of the filters."""
    input, filters = as_tensor_variable(input), as_tensor_variable(filters)
    for x in (input, filters):
        if x.ndim != 3:
            raise ValueError(f"causal_conv1d: expected inputs and filters of rank 3, got {x.type}")
    before = filter_dilation * (filter_shape[2] - 1)
    settings = _settings(
        1,
        "causal_conv1d",
        unshared,
        ((before, 0),),
        subsample,
        filter_flip,
        filter_dilation,
        num_groups,
    )
    return settings.of(input, filters)


# ---- Bilinear interpolation ----


def bilinear_kernel_1D(ratio: Any, normalize: bool = True) -> Variable:  # noqa: N802
    """The weights of the neighbours of a place between samples `ratio` places apart."""
    up = T.arange(1, ratio + 1).astype(config.floatX)
    kernel = T.concatenate([up, up[-2::-1]])
    return kernel / T.cast(ratio, config.floatX) if normalize else kernel


def bilinear_kernel_2D(ratio: Any, normalize: bool = True) -> Variable:  # noqa: N802
    """The product of bilinear_kernel_1D() for rows and columns; `ratio` may be a pair."""
    rows, columns = ratio if isinstance(ratio, tuple) else (ratio, ratio)
    row = bilinear_kernel_1D(columns, normalize).dimshuffle("x", 0)
    return row * bilinear_kernel_1D(rows, normalize).dimshuffle(0, "x")


def bilinear_upsampling(
    input: Any,
    ratio: Any = None,
    frac_ratio: Any = None,
    batch_size: Any = None,
    num_input_channels: Any = None,
    use_1D_kernel: bool = True,  # noqa: N803
) -> Variable:
    """Images with `ratio` times the rows and columns; edges are repeated. Raises ValueError for
    `frac_ratio`."""
    if frac_ratio is not None or ratio is None:
        raise ValueError(
            "bilinear_upsampling: frac_ratio is not available; expected an integer ratio"
        )
    x = as_tensor_variable(input)
    for axis in (2, 3):
        count = x.shape[axis]
        # Edges are repeated for half a step on either side.
        place = T.arange(count * ratio) - (ratio - 1) // 2
        first = T.clip(place // ratio, 0, count - 1)
        share = T.cast(T.where(place < 0, 0, place % ratio), x.dtype) / T.cast(ratio, x.dtype)
        share = share.dimshuffle(0, "x") if axis == 2 else share
        after = T.take(x, T.minimum(first + 1, count - 1), axis=axis)
        x = T.take(x, first, axis=axis) * (1 - share) + after * share
    return x


# ---- Shapes ----


def get_conv_output_shape(
    image_shape: Any,
    kernel_shape: Any,
    border_mode: Any,
    subsample: Any,
    filter_dilation: Any = None,
) -> tuple[Any, ...]:
    """(batch, outputs, *space) of a convolution; None where an extent that it depends on is None."""
    count = len(subsample)
    space, sizes = image_shape[-count:], kernel_shape[-count:]
    dilations = (1,) * count if filter_dilation is None else filter_dilation
    pads = [
        None if size is None else pads_of(_axis(border_mode, i, count), [size], [dilation])[0]
        for i, (size, dilation) in enumerate(zip(sizes, dilations, strict=True))
    ]
    results: list[Any] = []
    for n, size, step, dilation, pad in zip(space, sizes, subsample, dilations, pads, strict=True):
        if pad is None or None in (n, step, dilation):
            results.append(None)
        else:
            results.append((n + sum(pad) - (size - 1) * dilation - 1) // step + 1)
    return (image_shape[0], kernel_shape[0], *results)


def _axis(border_mode: Any, i: int, count: int) -> Any:
    return border_mode if isinstance(border_mode, str) else (as_extents(border_mode, count, "")[i],)


def get_conv_gradinputs_shape(
    kernel_shape: Any,
    top_shape: Any,
    border_mode: Any,
    subsample: Any,
    filter_dilation: Any = None,
    num_groups: int = 1,
) -> tuple[Any, ...]:
    """The shape of the images; None for extents that a step of more than 1 leaves open."""
    count = len(subsample)
    dilations = (1,) * count if filter_dilation is None else filter_dilation
    space: list[Any] = []
    for i in range(count):
        size, top, step = kernel_shape[2 + i], top_shape[2 + i], subsample[i]
        if None in (size, top) or step != 1:
            space.append(None)
            continue
        pad = sum(pads_of(_axis(border_mode, i, count), [size], [dilations[i]])[0])
        space.append(top - 1 + (size - 1) * dilations[i] + 1 - pad)
    channels = None if kernel_shape[1] is None else kernel_shape[1] * num_groups
    return (top_shape[0], channels, *space)


def get_conv_gradweights_shape(
    image_shape: Any,
    top_shape: Any,
    border_mode: Any,
    subsample: Any,
    filter_dilation: Any = None,
    num_groups: int = 1,
    unshared: bool = False,
) -> tuple[Any, ...]:
    """The shape of the filters; None for extents that the others leave open."""
    count = len(subsample)
    dilations = (1,) * count if filter_dilation is None else filter_dilation
    sizes: list[Any] = []
    for i in range(count):
        n, top, mode = image_shape[2 + i], top_shape[2 + i], _axis(border_mode, i, count)
        if mode == "half" or None in (n, top) or subsample[i] != 1:
            sizes.append(None)
            continue
        reach = top - n if mode == "full" else n + sum(pads_of(mode, [1], [1])[0]) - top
        sizes.append(reach // dilations[i] + 1)
    channels = None if image_shape[1] is None else image_shape[1] // num_groups
    return (top_shape[1], channels, *sizes)
