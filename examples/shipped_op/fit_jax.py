# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fits the weights of the op by jax.grad under jax.jit: python fit_jax.py"""

import jax
import jax.numpy as jnp
from rms_norm import rms_norm

import spanwise as sw

norm = sw.jax_op(rms_norm)


def loss(weight, x, y):
    return jnp.mean((norm(x, weight) - y) ** 2)


@jax.jit
def step(weight, x, y):
    value, gradient = jax.value_and_grad(loss)(weight, x, y)
    return weight - 4 * gradient, value


def main():
    x = jax.random.normal(jax.random.key(0), (256, 16))
    target = jnp.linspace(-1.0, 1.0, 16)
    y = x / jnp.sqrt(jnp.mean(x * x, axis=1, keepdims=True) + 1e-6) * target
    weight, losses = jnp.ones(16), []
    for _ in range(100):
        weight, value = step(weight, x, y)
        losses.append(float(value))
    error = float(jnp.max(jnp.abs(weight - target)))
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, largest error {error:.1e}, on {x.device}")


if __name__ == "__main__":
    main()
