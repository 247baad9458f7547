# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""SIMD, integer and bit intrinsics, computed by Python's integers lane by lane."""

from __future__ import annotations

import numpy as np

from .table import Function, function

WORD = 2**32


def lanes(x, bits, signed):
    parts = [x >> shift & (2**bits - 1) for shift in range(0, 32, bits)]
    return [p - 2**bits if signed and p >> (bits - 1) else p for p in parts]


def clamp(x, bits, signed):
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return min(max(x, low), high)


def by_lanes(f, bits, signed):
    """f of each lane, packed; f gets lanes and a function that clamps."""

    def value(*words):
        rows = zip(*(lanes(int(w), bits, signed) for w in words), strict=True)
        return sum(f(*row) % 2**bits << (bits * i) for i, row in enumerate(rows))

    return value


def sum_of_lanes(f, bits, signed):
    return lambda a, b: sum(
        f(*row)
        for row in zip(lanes(int(a), bits, signed), lanes(int(b), bits, signed), strict=True)
    )


def video_functions():
    result = []

    def add(name, count, f, signed=True, combine=by_lanes):
        for digit, bits in (("4", 8), ("2", 16)):

            def lane(*row, bits=bits):
                return f(*row, lambda x: clamp(x, bits, signed))

            reference = combine(lane, bits, signed)
            result.append(
                function(
                    name + digit, count, lambda x, y, z, r=reference: r(*(x, y)[:count]), "uint32"
                )
            )

    for name, count, f in (
        ("__vabs", 1, lambda a, s: abs(a)),
        ("__vabsss", 1, lambda a, s: s(abs(a))),
        ("__vneg", 1, lambda a, s: -a),
        ("__vnegss", 1, lambda a, s: s(-a)),
        ("__vadd", 2, lambda a, b, s: a + b),
        ("__vsub", 2, lambda a, b, s: a - b),
    ):
        add(name, count, f)
    for letter, signed in (("s", True), ("u", False)):
        add(f"__vadd{letter}s".replace("ss", "ss"), 2, lambda a, b, s: s(a + b), signed)
        add(f"__vsub{letter}s", 2, lambda a, b, s: s(a - b), signed)
        add(f"__vabsdiff{letter}", 2, lambda a, b, s: abs(a - b), signed)
        add(f"__vmin{letter}", 2, lambda a, b, s: min(a, b), signed)
        add(f"__vmax{letter}", 2, lambda a, b, s: max(a, b), signed)
        add(f"__vsad{letter}", 2, lambda a, b, s: abs(a - b), signed, sum_of_lanes)
        for name, holds in ORDERS.items():
            add(f"__vcmp{name}{letter}", 2, lambda a, b, s, h=holds: -int(h(a, b)), signed)
            add(f"__vset{name}{letter}", 2, lambda a, b, s, h=holds: int(h(a, b)), signed)
    add("__vavgs", 2, lambda a, b, s: (a + b + (a + b >= 0)) >> 1)
    add("__vavgu", 2, lambda a, b, s: (a + b + 1) >> 1, False)
    add("__vhaddu", 2, lambda a, b, s: (a + b) >> 1, False)
    for name, holds in (("eq", lambda a, b: a == b), ("ne", lambda a, b: a != b)):
        add(f"__vcmp{name}", 2, lambda a, b, s, h=holds: -int(h(a, b)))
        add(f"__vset{name}", 2, lambda a, b, s, h=holds: int(h(a, b)))
    return result


ORDERS = {
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "lt": lambda a, b: a < b,
}


def extreme_functions():
    """__vimax3_s32, __viaddmin_u16x2, __vibmax_s16x2 and so on."""
    result = []
    for kind, bits, signed in (
        ("s32", 32, True),
        ("u32", 32, False),
        ("s16x2", 16, True),
        ("u16x2", 16, False),
    ):

        def wrapped(x, bits=bits, signed=signed):
            return lanes(x % 2**bits, bits, signed)[0]

        for name, pick in (("max", max), ("min", min)):
            plain = {
                f"__vi{name}3_{kind}": lambda a, b, c, p=pick: p(a, b, c),
                f"__viadd{name}_{kind}": lambda a, b, c, p=pick, w=wrapped: p(w(a + b), c),
            }
            if signed:
                plain |= {n + "_relu": lambda *v, f=f: max(f(*v), 0) for n, f in plain.items()}
            for function_name, f in plain.items():
                result.append(function(function_name, 3, by_lanes(f, bits, signed), "uint32"))
            if signed:
                relu = by_lanes(lambda a, b, p=pick: max(p(a, b), 0), bits, signed)
                result.append(
                    function(
                        f"__vi{name}_{kind}_relu", 2, lambda x, y, z, r=relu: r(x, y), "uint32"
                    )
                )
            pair = bits == 16
            chosen = by_lanes(lambda a, b, p=pick: p(a, b), bits, signed)
            code = f"[&] {{ bool p, q = false; const unsigned r = __vib{name}_{kind}(x, y, {'&p, &q' if pair else '&p'}); return p * 2 + q == FLAGS ? r : ~r; }}()"
            flags = (
                "(((x ^ r) >> 16 == 0) * 2 + ((unsigned short)(x ^ r) == 0))"
                if pair
                else "(r == x) * 2"
            )
            result.append(
                Function(
                    (f"__vib{name}_{kind}",),
                    code.replace("FLAGS", flags),
                    lambda x, y, z, r=chosen: r(x, y),
                    "uint32",
                )
            )
    return result


def signed(x, bits=32):
    x = int(x) % 2**bits
    return x - 2**bits if x >> (bits - 1) else x


def fns(mask, base, offset):
    mask, position, count = int(mask), int(base) % 40, int(offset) % 7 - 3
    if count == 0:
        return position if position < 32 and mask >> position & 1 else WORD - 1
    step = 1 if count > 0 else -1
    found = 0
    while 0 <= position < 32:
        found += mask >> position & 1
        if mask >> position & 1 and found == abs(count):
            return position
        position += step
    return WORD - 1


def dot(a, b, c, bits_a, bits_b, count, first, is_signed):
    x, y = lanes(int(a), bits_a, is_signed), lanes(int(b), bits_b, is_signed)
    return (int(c) + sum(x[i] * y[i + first] for i in range(count))) % WORD


def byte_perm(a, b, selectors):
    """__byte_perm, which ignores the high bit of a selector."""
    return prmt(a, b, int(selectors) & 0x7777)


def prmt(a, b, selectors):
    """The instruction, whose high bit of a selector replicates the sign of the byte."""
    both = [int(v) >> s & 0xFF for v in (a, b) for s in (0, 8, 16, 24)]
    out = 0
    for i in range(4):
        selector = int(selectors) >> 4 * i & 0xF
        byte = both[selector & 7]
        out |= (0xFF * (byte >> 7) if selector & 8 else byte) << 8 * i
    return out


def reverse(x, bits):
    return int(f"{int(x):0{bits}b}"[::-1], 2)


def wide(x, y):
    return int(x) | int(y) << 32


INTEGER_FUNCTIONS = [
    function("__brev", 1, lambda x, y, z: reverse(x, 32), "uint32"),
    Function(
        ("__brevll",),
        "__brevll(x | (unsigned long long)y << 32)",
        lambda x, y, z: reverse(wide(x, y), 64),
        "uint64",
    ),
    function("__byte_perm", 3, byte_perm, "uint32"),
    function("__clz", 1, lambda x, y, z: 32 - int(x).bit_length(), "int32"),
    Function(
        ("__clzll",),
        "__clzll((long long)(x | (unsigned long long)y << 32))",
        lambda x, y, z: 64 - wide(x, y).bit_length(),
        "int32",
    ),
    function("__ffs", 1, lambda x, y, z: (int(x) & -int(x)).bit_length(), "int32"),
    Function(
        ("__ffsll",),
        "__ffsll((long long)(x | (unsigned long long)y << 32))",
        lambda x, y, z: (wide(x, y) & -wide(x, y)).bit_length(),
        "int32",
    ),
    function("__popc", 1, lambda x, y, z: int(x).bit_count(), "int32"),
    Function(
        ("__popcll",),
        "__popcll(x | (unsigned long long)y << 32)",
        lambda x, y, z: wide(x, y).bit_count(),
        "int32",
    ),
    Function(
        ("__fns",),
        "__fns(x, y % 40, (int)((z + 4) % 7) - 3)",
        lambda x, y, z: fns(x, y, (int(z) + 4) % WORD),
        "uint32",
    ),
    Function(
        ("__funnelshift_l",),
        "__funnelshift_l(x, y, z)",
        lambda x, y, z: wide(x, y) << (int(z) & 31) >> 32 & WORD - 1,
        "uint32",
    ),
    Function(
        ("__funnelshift_lc",),
        "__funnelshift_lc(x, y, z % 40)",
        lambda x, y, z: wide(x, y) << min(int(z) % 40, 32) >> 32 & WORD - 1,
        "uint32",
    ),
    Function(
        ("__funnelshift_r",),
        "__funnelshift_r(x, y, z)",
        lambda x, y, z: wide(x, y) >> (int(z) & 31) & WORD - 1,
        "uint32",
    ),
    Function(
        ("__funnelshift_rc",),
        "__funnelshift_rc(x, y, z % 40)",
        lambda x, y, z: wide(x, y) >> min(int(z) % 40, 32) & WORD - 1,
        "uint32",
    ),
    Function(
        ("__hadd",), "__hadd((int)x, (int)y)", lambda x, y, z: (signed(x) + signed(y)) >> 1, "int32"
    ),
    Function(
        ("__rhadd",),
        "__rhadd((int)x, (int)y)",
        lambda x, y, z: (signed(x) + signed(y) + 1) >> 1,
        "int32",
    ),
    function("__uhadd", 2, lambda x, y, z: (int(x) + int(y)) >> 1, "uint32"),
    function("__urhadd", 2, lambda x, y, z: (int(x) + int(y) + 1) >> 1, "uint32"),
    Function(
        ("__mul24",),
        "__mul24((int)x, (int)y)",
        lambda x, y, z: signed(signed(x, 24) * signed(y, 24)),
        "int32",
    ),
    function(
        "__umul24", 2, lambda x, y, z: (int(x) & 0xFFFFFF) * (int(y) & 0xFFFFFF) % WORD, "uint32"
    ),
    Function(
        ("__mulhi",),
        "__mulhi((int)x, (int)y)",
        lambda x, y, z: signed(x) * signed(y) >> 32,
        "int32",
    ),
    function("__umulhi", 2, lambda x, y, z: int(x) * int(y) >> 32, "uint32"),
    Function(
        ("__mul64hi",),
        "__mul64hi((long long)(x | (unsigned long long)y << 32), (long long)(z | (unsigned long long)x << 32))",
        lambda x, y, z: signed(wide(x, y), 64) * signed(wide(z, x), 64) >> 64,
        "int64",
    ),
    Function(
        ("__umul64hi",),
        "__umul64hi(x | (unsigned long long)y << 32, z | (unsigned long long)x << 32)",
        lambda x, y, z: wide(x, y) * wide(z, x) >> 64,
        "uint64",
    ),
    Function(
        ("__sad",),
        "__sad((int)x, (int)y, z)",
        lambda x, y, z: (abs(signed(x) - signed(y)) + int(z)) % WORD,
        "uint32",
    ),
    function("__usad", 3, lambda x, y, z: (abs(int(x) - int(y)) + int(z)) % WORD, "uint32"),
    Function(
        ("__dp4a",),
        "__dp4a((int)x, (int)y, (int)z)",
        lambda x, y, z: dot(x, y, z, 8, 8, 4, 0, True),
        "uint32",
    ),
    Function(
        ("__dp4a",), "__dp4a(x, y, z)", lambda x, y, z: dot(x, y, z, 8, 8, 4, 0, False), "uint32"
    ),
    Function(
        ("__dp2a_lo",),
        "__dp2a_lo((int)x, (int)y, (int)z)",
        lambda x, y, z: dot(x, y, z, 16, 8, 2, 0, True),
        "uint32",
    ),
    Function(
        ("__dp2a_hi",),
        "__dp2a_hi((int)x, (int)y, (int)z)",
        lambda x, y, z: dot(x, y, z, 16, 8, 2, 2, True),
        "uint32",
    ),
    Function(
        ("__dp2a_lo",),
        "__dp2a_lo(x, y, z)",
        lambda x, y, z: dot(x, y, z, 16, 8, 2, 0, False),
        "uint32",
    ),
    Function(
        ("__dp2a_hi",),
        "__dp2a_hi(x, y, z)",
        lambda x, y, z: dot(x, y, z, 16, 8, 2, 2, False),
        "uint32",
    ),
    Function(
        ("__nv_bswap16",),
        "__nv_bswap16((unsigned short)x)",
        lambda x, y, z: int.from_bytes(int(x % 65536).to_bytes(2, "big"), "little"),
        "uint16",
    ),
    function(
        "__nv_bswap32",
        1,
        lambda x, y, z: int.from_bytes(int(x).to_bytes(4, "big"), "little"),
        "uint32",
    ),
    Function(
        ("__nv_bswap64",),
        "__nv_bswap64(x | (unsigned long long)y << 32)",
        lambda x, y, z: int.from_bytes(wide(x, y).to_bytes(8, "big"), "little"),
        "uint64",
    ),
    Function(("abs",), "abs((int)x)", lambda x, y, z: abs(signed(x)), "uint32"),
    Function(("labs",), "labs((long)(int)x)", lambda x, y, z: abs(signed(x)), "uint32"),
    Function(("llabs",), "llabs((long long)(int)x)", lambda x, y, z: abs(signed(x)), "uint32"),
    Function(
        ("max", "umax", "ullmax"),
        "max(x, y) == umax(x, y) ? (unsigned)ullmax(x, y) : 0",
        lambda x, y, z: max(int(x), int(y)),
        "uint32",
    ),
    Function(
        ("min", "umin", "ullmin"),
        "min(x, y) == umin(x, y) ? (unsigned)ullmin(x, y) : 0",
        lambda x, y, z: min(int(x), int(y)),
        "uint32",
    ),
    Function(
        ("llmax",),
        "llmax((long long)(int)x, (long long)(int)y)",
        lambda x, y, z: max(signed(x), signed(y)),
        "int64",
    ),
    Function(
        ("llmin",),
        "llmin((long long)(int)x, (long long)(int)y)",
        lambda x, y, z: min(signed(x), signed(y)),
        "int64",
    ),
    Function(
        ("__float_as_uint", "__uint_as_float", "__float_as_int", "__int_as_float"),
        "__float_as_uint(__uint_as_float(x & 0x7f7fffffu)) ^ (unsigned)__float_as_int(__int_as_float((int)(y & 0x7f7fffffu)))",
        lambda x, y, z: (int(x) & 0x7F7FFFFF) ^ (int(y) & 0x7F7FFFFF),
        "uint32",
    ),
    Function(
        (
            "__double2hiint",
            "__double2loint",
            "__hiloint2double",
            "__double_as_longlong",
            "__longlong_as_double",
        ),
        "__double_as_longlong(__hiloint2double((int)(x & 0x7fefffffu), (int)y)) == (long long)(((unsigned long long)(x & 0x7fefffffu) << 32) | y) && __double2hiint(__longlong_as_double((long long)y)) == 0 && __double2loint(__longlong_as_double((long long)y)) == (int)y",
        lambda x, y, z: 1,
        "int32",
    ),
]


def words():
    """Random words, and words of extreme lanes, in all pairs."""
    random = np.random.default_rng(5)
    special = [
        0,
        1,
        0x7F,
        0x80,
        0xFF,
        0x7FFF8000,
        0x80007FFF,
        0xFFFFFFFF,
        0x80808080,
        0x7F7F7F7F,
        0x00FF80FF,
    ]
    pairs = [(a, b) for a in special for b in special]
    x, y = (np.array(v, "uint32") for v in zip(*pairs, strict=True))
    extra = random.integers(0, WORD, (2, 200), dtype=np.uint64).astype("uint32")
    x, y = np.concatenate([x, extra[0]]), np.concatenate([y, extra[1]])
    return [x, y, random.permutation(y)]
