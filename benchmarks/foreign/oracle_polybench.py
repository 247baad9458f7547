# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels of cavazos-lab/PolyBench-ACC, CUDA/: linear algebra, data mining and stencils."""

import numpy as np
from oracle import Case, Inputs, f8

REPOSITORY = "cavazos-lab/PolyBench-ACC"
INCLUDE_DIRS = (
    "CUDA/utilities",
    "common",
)
NI, NJ, NK, NL, NM = SIZES = (37, 45, 29, 33, 41)
ALPHA, BETA = 1.5, -0.75
FLOAT_N = 3214212.01


def defines(**sizes):
    return tuple(f"-D{name}={value}" for name, value in sizes.items())


def products():
    """Matrix products: gemm, 2mm, 3mm, syrk, syr2k, doitgen."""
    make, folder = Inputs(1), "CUDA/linear-algebra/kernels"
    a, b, c, d = (make.normal(*s) for s in ((NI, NK), (NK, NJ), (NI, NJ), (NI, NL)))
    sizes = {"ni": NI, "nj": NJ, "nk": NK}
    numbers = {"alpha": ALPHA, "beta": BETA}
    options = defines(NI=NI, NJ=NJ, NK=NK)
    yield Case(f"{folder}/gemm/gemm.cu", "gemm_kernel", (NJ, NI), {**sizes, **numbers, "a": a, "b": b, "c": c},
               {"c": ALPHA * f8(a) @ f8(b) + BETA * f8(c)}, options=options)  # fmt: skip
    options = defines(NI=NI, NJ=NJ, NK=NK, NL=NL)
    sizes["nl"] = NL
    right = make.normal(NJ, NL)
    yield Case(f"{folder}/2mm/2mm.cu", "mm2_kernel1", (NJ, NI), {**sizes, **numbers, "tmp": c, "A": a, "B": b},
               {"tmp": ALPHA * f8(a) @ f8(b)}, options=options)  # fmt: skip
    yield Case(f"{folder}/2mm/2mm.cu", "mm2_kernel2", (NL, NI), {**sizes, **numbers, "tmp": c, "C": right, "D": d},
               {"D": f8(c) @ f8(right) + BETA * f8(d)}, options=options)  # fmt: skip
    options = defines(NI=NI, NJ=NJ, NK=NK, NL=NL, NM=NM)
    sizes["nm"] = NM
    e, f = make.normal(NJ, NM), make.normal(NM, NL)
    product = make.normal(NJ, NL)
    for kernel, threads, args in (
        ("mm3_kernel1", (NJ, NI), {"A": a, "B": b, "E": c}),
        ("mm3_kernel2", (NL, NJ), {"C": e, "D": f, "F": product}),
        ("mm3_kernel3", (NL, NI), {"E": c, "F": right, "G": d}),
    ):
        first, second, _ = args.values()
        yield Case(f"{folder}/3mm/3mm.cu", kernel, threads, {**sizes, **args},
                   {list(args)[2]: f8(first) @ f8(second)}, options=options)  # fmt: skip
    sizes = {"ni": NI, "nj": NJ}
    a, b, c = (make.normal(*s) for s in ((NI, NJ), (NI, NJ), (NI, NI)))
    wide_a, wide_b, wide_c = f8(a, b, c)
    options = defines(NI=NI, NJ=NJ)
    yield Case(f"{folder}/syrk/syrk.cu", "syrk_kernel", (NI, NI), {**sizes, **numbers, "a": a, "c": c},
               {"c": ALPHA * wide_a @ wide_a.T + BETA * wide_c}, options=options)  # fmt: skip
    both = wide_a @ wide_b.T
    yield Case(f"{folder}/syr2k/syr2k.cu", "syr2k_kernel", (NI, NI), {**sizes, **numbers, "a": a, "b": b, "c": c},
               {"c": ALPHA * (both + both.T) + BETA * wide_c}, options=options)  # fmt: skip
    yield from doitgen(folder, make)


def doitgen(folder, make):
    nr, nq, np_, r = 5, 21, 18, 3
    total, a, c4 = make.normal(nr, nq, np_), make.normal(nr, nq, np_), make.normal(np_, np_)
    args = {"nr": nr, "nq": nq, "np": np_, "sum": total, "A": a, "C4": c4, "r": r}
    summed, copied = f8(total, a)
    summed[r] = f8(a)[r] @ f8(c4)
    copied[r] = f8(total)[r]
    options = defines(NR=nr, NQ=nq, NP=np_)
    file = f"{folder}/doitgen/doitgen.cu"
    yield Case(file, "doitgen_kernel1", (np_, nq), args, {"sum": summed}, options=options)
    yield Case(file, "doitgen_kernel2", (np_, nq), args, {"A": copied}, options=options)


def vectors():
    """Products of a matrix and vectors: atax, bicg, mvt, gesummv, gemver."""
    make, folder = Inputs(2), "CUDA/linear-algebra/kernels"
    nx, ny = NI, NJ
    a, x, y = make.normal(nx, ny), make.normal(nx), make.normal(ny)
    sizes, options = {"nx": nx, "ny": ny}, defines(NX=nx, NY=ny)
    for file, kernel, threads, args, expected in (
        ("atax", "atax_kernel1", nx, {"A": a, "x": y, "tmp": x}, {"tmp": f8(a) @ f8(y)}),
        ("atax", "atax_kernel2", ny, {"A": a, "y": y, "tmp": x}, {"y": f8(x) @ f8(a)}),
        ("bicg", "bicg_kernel1", ny, {"A": a, "r": x, "s": y}, {"s": f8(x) @ f8(a)}),
        ("bicg", "bicg_kernel2", nx, {"A": a, "p": y, "q": x}, {"q": f8(a) @ f8(y)}),
    ):
        yield Case(
            f"{folder}/{file}/{file}.cu",
            kernel,
            (threads,),
            {**sizes, **args},
            expected,
            options=options,
        )
    n, options = NM, defines(N=NM)
    a, b = make.normal(n, n), make.normal(n, n)
    u, v, w, x, y, z = (make.normal(n) for _ in range(6))
    wide_a, wide_b = f8(a, b)
    u8, v8, w8, x8, y8, z8 = f8(u, v, w, x, y, z)
    numbers = {"n": n, "alpha": ALPHA, "beta": BETA}
    for file, kernel, threads, args, expected in (
        ("mvt", "mvt_kernel1", (n,), {"n": n, "a": a, "x1": x, "y_1": y}, {"x1": x8 + wide_a @ y8}),
        ("mvt", "mvt_kernel2", (n,), {"n": n, "a": a, "x2": x, "y_2": y}, {"x2": x8 + y8 @ wide_a}),
        ("gesummv", "gesummv_kernel", (n,), {**numbers, "A": a, "B": b, "tmp": z, "x": x, "y": y},
         {"tmp": z8 + wide_a @ x8, "y": ALPHA * (z8 + wide_a @ x8) + BETA * (y8 + wide_b @ x8)}),
        ("gemver", "gemver_kernel1", (n, n), {**numbers, "a": a, "v1": v, "v2": w, "u1": u, "u2": z},
         {"a": wide_a + np.outer(u8, v8) + np.outer(z8, w8)}),
        ("gemver", "gemver_kernel2", (n,), {**numbers, "a": a, "x": x, "y": y, "z": z},
         {"x": x8 + BETA * (y8 @ wide_a) + z8}),
        ("gemver", "gemver_kernel3", (n,), {**numbers, "a": a, "x": x, "w": w},
         {"w": w8 + ALPHA * (wide_a @ x8)}),
    ):  # fmt: skip
        yield Case(f"{folder}/{file}/{file}.cu", kernel, threads, args, expected, options=options)


def mining():
    """Correlation and covariance of columns."""
    make, folder = Inputs(3), "CUDA/datamining"
    m, n = NJ, NI
    data, mean, std, matrix = make.normal(n, m), make.normal(m), make.positive(m), make.normal(m, m)
    d8, m8, s8 = f8(data, mean, std)
    square = d8.T @ d8
    off = np.tril(np.ones((m, m)), -1) + np.triu(np.ones((m, m)), 1)
    correlated = np.where(off, square, 1.0)
    correlated[-1, -1] = matrix[-1, -1]  # the kernel leaves the last one to the host
    sizes, options = {"m": m, "n": n}, defines(M=m, N=n)
    spread = np.sqrt(((d8 - m8) ** 2).sum(0) / FLOAT_N)
    spread[spread <= 0.005] = 1
    for file, kernel, threads, args, expected in (
        ("correlation", "mean_kernel", (m,), {"mean": mean, "data": data}, {"mean": d8.sum(0) / FLOAT_N}),
        ("correlation", "std_kernel", (m,), {"mean": mean, "std": std, "data": data}, {"std": spread}),
        ("correlation", "reduce_kernel", (m, n), {"mean": mean, "std": std, "data": data},
         {"data": (d8 - m8) / (np.sqrt(FLOAT_N) * s8)}),
        ("correlation", "corr_kernel", (m,), {"symmat": matrix, "data": data}, {"symmat": correlated}),
        ("covariance", "mean_kernel", (m,), {"mean": mean, "data": data}, {"mean": d8.sum(0) / FLOAT_N}),
        ("covariance", "reduce_kernel", (m, n), {"mean": mean, "data": data}, {"data": d8 - m8}),
        ("covariance", "covar_kernel", (m,), {"symmat": matrix, "data": data}, {"symmat": square}),
    ):  # fmt: skip
        yield Case(f"{folder}/{file}/{file}.cu", kernel, threads, {**sizes, **args}, expected,
                   options=options, variant=file)  # fmt: skip


def solvers():
    """Steps of Gram-Schmidt, LU and the ADI method."""
    make, k = Inputs(4), 4
    a, r, q = make.normal(NI, NJ), make.normal(NJ, NJ), make.normal(NI, NJ)
    a8, r8, q8 = f8(a, r, q)
    args = {"ni": NI, "nj": NJ, "a": a, "r": r, "q": q, "k": k}
    options, file = defines(NI=NI, NJ=NJ), "CUDA/linear-algebra/solvers/gramschmidt/gramschmidt.cu"
    norm, scaled, projected, reduced = r8.copy(), q8.copy(), r8.copy(), a8.copy()
    norm[k, k] = np.sqrt((a8[:, k] ** 2).sum())
    scaled[:, k] = a8[:, k] / r8[k, k]
    projected[k, k + 1 :] = q8[:, k] @ a8[:, k + 1 :]
    reduced[:, k + 1 :] -= np.outer(q8[:, k], projected[k, k + 1 :])
    yield Case(file, "gramschmidt_kernel1", (NJ,), args, {"r": norm}, options=options)
    yield Case(file, "gramschmidt_kernel2", (NI,), args, {"q": scaled}, options=options)
    yield Case(
        file, "gramschmidt_kernel3", (NJ,), args, {"r": projected, "a": reduced}, options=options
    )
    n, options, file = NI, defines(N=NI), "CUDA/linear-algebra/solvers/lu/lu.cu"
    a = make.positive(n, n)
    row, schur = f8(a, a)
    row[k, k + 1 :] /= row[k, k]
    schur[k + 1 :, k + 1 :] -= np.outer(schur[k + 1 :, k], schur[k, k + 1 :])
    yield Case(file, "lu_kernel1", (n,), {"n": n, "A": a, "k": k}, {"A": row}, options=options)
    yield Case(file, "lu_kernel2", (n, n), {"n": n, "A": a, "k": k}, {"A": schur}, options=options)
    yield from alternating_directions(make)


def alternating_directions(make):
    n = 31
    a, b, x = 0.1 * make.positive(n, n), 2 + make.positive(n, n), make.normal(n, n)
    a = a.astype("f4")
    a8, b8, x8 = f8(a, b, x)

    def forward(x, a, b, i):
        x[:, i] -= x[:, i - 1] * a[:, i] / b[:, i - 1]
        b[:, i] -= a[:, i] ** 2 / b[:, i - 1]

    x1, b1, x2, x3, x4, b4, x5, x6 = (v.copy() for v in (x8, b8, x8, x8, x8, b8, x8, x8))
    for i in range(1, n):
        forward(x1, a8, b1, i)
    x2[:, -1] /= b8[:, -1]
    for i in range(n - 2):
        x3[:, n - i - 2] = (x3[:, n - 2 - i] - x3[:, n - 3 - i] * a8[:, n - i - 3]) / b8[
            :, n - 3 - i
        ]
    step = 6
    forward(x4.T, a8.T, b4.T, step)
    x5[-1] /= b8[-1]
    row = n - 2 - step
    x6[row] = (x6[row] - x6[row - 1] * a8[row - 1]) / b8[row]
    file, options = "CUDA/stencils/adi/adi.cu", defines(N=n, TSTEPS=1)
    args = {"n": n, "A": a, "B": b, "X": x}
    for number, expected in enumerate(
        ({"X": x1, "B": b1}, {"X": x2}, {"X": x3}, {"X": x4, "B": b4}, {"X": x5}, {"X": x6}), 1
    ):
        more = {"i1": step} if number in (4, 6) else {}
        yield Case(file, f"adi_kernel{number}", (n,), {**args, **more}, expected, options=options)


def stencils():
    """Jacobi, FDTD and convolutions."""
    make, folder = Inputs(5), "CUDA/stencils"
    n = NI
    a, b = make.normal(n), make.normal(n)
    a8, b8 = f8(a, b)
    smooth, copied = b8.copy(), a8.copy()
    smooth[2:-1] = 0.33333 * (a8[1:-2] + a8[2:-1] + a8[3:])
    copied[2:-1] = b8[2:-1]
    file, options = f"{folder}/jacobi-1d-imper/jacobi1D.cu", defines(N=n, TSTEPS=1)
    args = {"n": n, "A": a, "B": b}
    yield Case(
        file, "runJacobiCUDA_kernel1", (n,), args, {"B": smooth}, options=options, variant="1d"
    )
    yield Case(
        file, "runJacobiCUDA_kernel2", (n,), args, {"A": copied}, options=options, variant="1d"
    )
    a, b = make.normal(n, n), make.normal(n, n)
    a8, b8 = f8(a, b)
    inner = (slice(1, -1), slice(1, -1))
    smooth, copied = b8.copy(), a8.copy()
    smooth[inner] = 0.2 * (
        a8[1:-1, 1:-1] + a8[1:-1, :-2] + a8[1:-1, 2:] + a8[2:, 1:-1] + a8[:-2, 1:-1]
    )
    copied[inner] = b8[inner]
    file, args = f"{folder}/jacobi-2d-imper/jacobi2D.cu", {"n": n, "A": a, "B": b}
    yield Case(
        file, "runJacobiCUDA_kernel1", (n, n), args, {"B": smooth}, options=options, variant="2d"
    )
    yield Case(
        file, "runJacobiCUDA_kernel2", (n, n), args, {"A": copied}, options=options, variant="2d"
    )
    yield from fields(folder, make)
    yield from convolutions(folder, make)


def fields(folder, make):
    nx, ny, t = NI, NJ, 2
    source, ex, ey, hz = (
        make.normal(5),
        make.normal(nx, ny),
        make.normal(nx, ny),
        make.normal(nx, ny),
    )
    x8, y8, h8 = f8(ex, ey, hz)
    new_y, new_x, new_h = y8.copy(), x8.copy(), h8.copy()
    new_y[0] = source[t]
    new_y[1:] -= 0.5 * (h8[1:] - h8[:-1])
    new_x[:, 1:] -= 0.5 * (h8[:, 1:] - h8[:, :-1])
    new_h[:-1, :-1] -= 0.7 * (x8[:-1, 1:] - x8[:-1, :-1] + y8[1:, :-1] - y8[:-1, :-1])
    file, options = f"{folder}/fdtd-2d/fdtd2d.cu", defines(NX=nx, NY=ny, TMAX=5)
    sizes, fields = {"nx": nx, "ny": ny}, {"ex": ex, "ey": ey, "hz": hz, "t": t}
    yield Case(file, "fdtd_step1_kernel", (ny, nx), {**sizes, "_fict_": source, **fields}, {"ey": new_y},
               options=options)  # fmt: skip
    yield Case(
        file, "fdtd_step2_kernel", (ny, nx), {**sizes, **fields}, {"ex": new_x}, options=options
    )
    yield Case(
        file, "fdtd_step3_kernel", (ny, nx), {**sizes, **fields}, {"hz": new_h}, options=options
    )


def convolutions(folder, make):
    a, b = make.normal(NI, NJ), make.normal(NI, NJ)
    weights = np.array([[0.2, 0.5, -0.8], [-0.3, 0.6, -0.9], [0.4, 0.7, 0.1]])
    a8, out = f8(a, b)
    out[1:-1, 1:-1] = sum(
        weights[i, j] * a8[i : i + NI - 2, j : j + NJ - 2] for i in range(3) for j in range(3)
    )
    yield Case(f"{folder}/convolution-2d/2DConvolution.cu", "convolution2D_kernel", (NJ, NI),
               {"ni": NI, "nj": NJ, "A": a, "B": b}, {"B": out}, options=defines(NI=NI, NJ=NJ))  # fmt: skip
    ni, nj, nk, i = 9, 21, 26, 4
    a, b = make.normal(ni, nj, nk), make.normal(ni, nj, nk)
    a8, out = f8(a, b)
    # weight, then the offsets in each direction
    terms = ((2, -1, -1, -1), (4, 1, -1, -1), (5, -1, -1, -1), (7, 1, -1, -1), (-8, -1, -1, -1),
             (10, 1, -1, -1), (-3, 0, -1, 0), (6, 0, 0, 0), (-9, 0, 1, 0), (2, -1, -1, 1),
             (4, 1, -1, 1), (5, -1, 0, 1), (7, 1, 0, 1), (-8, -1, 1, 1), (10, 1, 1, 1))  # fmt: skip
    out[i, 1:-1, 1:-1] = sum(
        w * a8[i + p, 1 + q : nj - 1 + q, 1 + r : nk - 1 + r] for w, p, q, r in terms
    )
    yield Case(f"{folder}/convolution-3d/3DConvolution.cu", "convolution3D_kernel", (nk, nj),
               {"ni": ni, "nj": nj, "nk": nk, "A": a, "B": b, "i": i}, {"B": out},
               options=defines(NI=ni, NJ=nj, NK=nk))  # fmt: skip


def cases():
    for family in (products, vectors, mining, solvers, stencils):
        yield from family()
