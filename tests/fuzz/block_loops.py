# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Random kernels with barriers, shuffles, votes, divergence, loops and local variables: on the CPU
split into loops and on fibers, and on a GPU if there is one. All results have to be the same bytes.

``PYTHONPATH=build/release/python:tests python -m fuzz.block_loops --count 20000``; a case is
determined by the seed and its number, and ``--case N`` prints its source and runs it alone.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

import numpy as np

import spanwise as sw

PER_MODULE = 50
OUTPUTS = 4
SHAPES = (
    (32, 1, 1),
    (64, 1, 1),
    (16, 4, 1),
    (48, 1, 1),
    (7, 5, 1),
    (128, 1, 1),
    (1, 1, 1),
    (96, 2, 1),
    (8, 3, 4),
)
# Declared type -> an expression of it that is exact, made of an int.
TYPES = {
    "float": "(float)({} & 1023) + 0.5f",
    "double": "(double)({} & 4095) * 0.25",
    "long long": "((long long){} << 20) - 7",
    "unsigned": "(unsigned){} * 3u",
    "unsigned short": "(unsigned short){}",
    "signed char": "(signed char){}",
    "__half": "__int2half_rn({} & 63)",
    "bool": "({} & 4) != 0",
    "Pair": "pair_of({}, 3)",
    "Box<int>": "Box<int>({})",
    "int2": "make_int2({}, 5)",
}
# Values of these types as ints.
TO_INT = {
    "__half": "__half2int_rz({})",
    "Pair": "{}.total()",
    "Box<int>": "{}.get()",
    "int2": "({0}.x ^ {0}.y)",
    "long long": "(int)({} >> 13)",
    "float": "(int)({} * 2.0f)",
    "double": "(int)({} * 4.0)",
}
SHUFFLED = ("float", "double", "long long", "unsigned", "int")
PREAMBLE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
#define FULL 0xffffffffu
#define PICK(a, b, c) ((c) & 1 ? (a) : (b))
#define ROUNDS 3
__device__ int mix(int a, int b) { return (int)((unsigned)a * 2654435761u) ^ (b + (b >> 3)); }
__device__ void bump(int &a, int b) { a = (int)((unsigned)a + (unsigned)b * 7u); }
__device__ int warp_free(int a, int b) { return a ^ (b * 5); }
__device__ int place() { return (int)(threadIdx.x + 3 * threadIdx.y); }
struct Pair {
  int a;
  float b;
  __device__ int total() const { return a ^ (int)b; }
  __device__ void add(int v) { a = (int)((unsigned)a + (unsigned)v); }
};
__device__ Pair pair_of(int a, int b) {
  Pair p;
  p.a = a;
  p.b = (float)(b & 255);
  return p;
}
template <class T> struct Box {
  T value;
  int more[2];
  Box() = default;
  __device__ explicit Box(T v) : value(v) { more[0] = 1; more[1] = 2; }
  __device__ T get() const { return value ^ more[1]; }
  __device__ Box &set(T v) { value = v; more[v & 1] ^= v; return *this; }
};
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int early(int v, int d) {
  if (v < d) return d;
  for (int i = 0; i < 3; ++i)
    if ((v >> i) & 1) return i;
  return v - d;
}
// Functions that wait, with more than one return.
__device__ int early_total(int v, int d) {
  if (d & 1) return v;
  for (int k = 16; k > 0; k /= 2) v = (int)((unsigned)v + (unsigned)__shfl_xor_sync(FULL, v, k));
  return v ^ d;
}
__device__ int warp_total(int v) {
  for (int d = 16; d > 0; d /= 2) v = (int)((unsigned)v + (unsigned)__shfl_xor_sync(FULL, v, d));
  return v;
}
template <class T> __device__ T turned(T v, int d, int width = 32) {
  T other = __shfl_sync(FULL, v, d & 31, width);
  return other ^ d;
}
template <int N> __device__ int block_total(int v, int t) {
  static __shared__ int s[N];
  for (int i = 0; i < N; ++i) s[i] = 0;
  __syncthreads();
  s[t] = v;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < N; ++i) sum = (int)((unsigned)sum * 3u + (unsigned)s[i]);
  __syncthreads();
  return sum;
}
__device__ void exchange(int *s, int &v, int t, int count, int d) {
  int mine = warp_free(v, d);
  s[t] = v;
  __syncthreads();
  if (d & 1) v = s[(t + d) % count];
  __syncthreads();
  v ^= mine;
}
__device__ int group_total(cg::thread_block g, int *s, int v, int count) {
  const int rank = g.thread_rank();
  s[rank] = v;
  g.sync();
  for (int i = 1; i < count; i *= 2) {
    const int other = rank >= i ? s[rank - i] : 0;
    cg::sync(g);
    s[rank] = (int)((unsigned)s[rank] + (unsigned)other);
    g.sync();
  }
  return s[(rank + 1) % count];
}
"""


class Writer:
    """One kernel. Expressions are of int, and wrap around as unsigned ones. On a GPU a shuffle from a
    lane that has returned, or that a warp of the block does not have, gives any value: kernels that
    are `for_gpu` have either returns or shuffles, and these only from lanes that exist."""

    def __init__(self, rng: random.Random, name: str, for_gpu: bool = False):
        self.rng = rng
        self.name = name
        self.returns = not for_gpu or rng.random() < 0.3
        self.shuffles = not for_gpu or not self.returns
        width, height, depth = self.shape = SHAPES[int(name[1:]) % len(SHAPES)]
        self.whole_warps = width * height * depth % 32 == 0
        self.modes = ["_up"] if for_gpu and not self.whole_warps else ["_down", "_up", "_xor", ""]
        self.typed: list[tuple[str, str]] = []  # name and type of variables of other types
        self.pointers: list[str] = []  # to ints of the thread
        self.fresh = 0
        self.ints: list[str] = []  # differ between threads
        self.writable: list[str] = []
        self.uniform = ["n", "m"]
        self.uniform_writable = ["n"]
        self.derived: list[str] = []
        self.arrays: list[str] = []
        self.loops = 0  # divided loops around, which may end early

    def new(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def uniform_expression(self, depth=0) -> str:
        r = self.rng
        kind = r.randrange(5 if depth < 2 else 2)
        if kind == 0:
            return str(r.randrange(-4, 9))
        if kind == 1:
            return r.choice([*self.uniform, "(int)blockIdx.x", "(int)blockDim.x", "ROUNDS"])
        a, b = self.uniform_expression(depth + 1), self.uniform_expression(depth + 1)
        return f"({a} {r.choice('+-*&|^')} {b})"

    def expression(self, depth=0) -> str:
        r = self.rng
        kind = r.randrange(14 if depth < 3 else 4)
        if kind == 0:
            return str(r.randrange(-9, 30))
        if kind >= 10:
            return self.other_term(depth)
        if kind == 1:
            return r.choice([*self.uniform, "(int)threadIdx.x", "(int)threadIdx.y", "t"])
        if kind in (2, 3):
            return r.choice([*self.ints, *self.derived])
        if kind == 4 and self.arrays:
            return f"{r.choice(self.arrays)}[{self.expression(depth + 1)} & 3]"
        if kind == 5:
            return f"mix({self.expression(depth + 1)}, {self.expression(depth + 1)})"
        if kind == 6:
            a, b, c = (self.expression(depth + 1) for _ in range(3))
            return r.choice([f"PICK({a}, {b}, {c})", f"({a} > {b} && {c} < {a} ? {b} : {c})"])
        if kind == 7:
            return f"min({self.expression(depth + 1)}, {self.expression(depth + 1)})"
        if kind == 8 and depth < 2:
            return f"(x[{self.expression(depth + 1)} & 63] + place())"
        a, b = self.expression(depth + 1), self.expression(depth + 1)
        return f"(int)((unsigned){a} {r.choice(['+', '-', '*', '&', '|', '^'])} (unsigned){b})"

    def other_term(self, depth: int) -> str:
        r = self.rng
        kind = r.randrange(5)
        if kind <= 1 and self.typed:
            name, of = r.choice(self.typed)
            return f"(int){TO_INT.get(of, '{}').format(name)}"
        if kind == 2 and self.pointers:
            return r.choice(["*{}", "{}[0]"]).format(r.choice(self.pointers))
        if kind == 3:
            return f"table[{self.expression(depth + 1)} & 7]"
        return f"early({self.expression(depth + 1)}, {self.expression(depth + 1)})"

    def condition(self) -> str:
        a = self.expression(1)
        limit = self.rng.randrange(1, 90)
        return self.rng.choice([f"{a} & 1", f"{a} % 3 == 0", f"t < {limit}", f"{a} >= {limit}"])

    def uniform_condition(self) -> str:
        a = self.uniform_expression(1)
        return self.rng.choice([f"{a} & 1", f"{a} < {self.uniform_expression(1)}", f"{a} != 3"])

    def assignment(self) -> str:
        r = self.rng
        kind = r.randrange(8)
        if kind == 0 and self.arrays:
            return f"{r.choice(self.arrays)}[{self.expression(2)} & 3] = {self.expression()};"
        if kind == 4 and r.random() < 0.7:
            return self.other_assignment()
        name = r.choice(self.writable)
        if kind == 1:
            return f"bump({name}, {self.expression(1)});"
        if kind == 2:
            return r.choice([f"++{name};", f"{name}--;"])
        if kind == 3:
            return f"{name} {r.choice(['^=', '|=', '&='])} {self.expression(1)};"
        if kind == 5 and r.random() < 0.3:
            return f"{name} {r.choice(['%=', '/='])} {r.randrange(2, 9)};"
        if kind == 5 and r.random() < 0.3:
            other = r.choice(self.writable)
            return f"{name} ^= 3, {other} = {self.expression(1)};"
        return f"{name} = {self.expression()};"

    def other_assignment(self) -> str:
        r = self.rng
        if self.pointers and r.random() < 0.3:
            name = r.choice(self.pointers)
            return f"{r.choice(['*{}', '{}[0]']).format(name)} {r.choice(['=', '^='])} {self.expression(1)};"
        if not self.typed:
            return f"bump({r.choice(self.writable)}, 5);"
        name, of = r.choice(self.typed)
        value = self.expression(1)
        if of == "Pair":
            return r.choice(
                [
                    f"{name}.add({value});",
                    f"{name}.a ^= {value};",
                    f"{name}.b = (float)({value} & 31);",
                ]
            )
        if of == "Box<int>":
            return r.choice([f"{name}.set({value}).set(3);", f"{name}.more[{value} & 1] ^= 5;"])
        if of == "int2":
            return f"{name}.{r.choice('xy')} = {value};"
        if of in ("unsigned", "long long", "unsigned short") and r.random() < 0.5:
            return f"{name} {r.choice(['^=', '&=', '|='])} {value};"
        if of in ("float", "double") and r.random() < 0.3:
            return f"{name} += ({of})({value} & 15);"
        return f"{name} = {TYPES[of].format(value)};"

    def other_declaration(self) -> str:
        r = self.rng
        kind = r.randrange(8)
        name = self.new("o")
        if kind == 0:
            text = f"int *{name} = &{r.choice(self.writable)};"
            self.pointers.append(name)
            return text
        if kind == 1:
            text = f"int &{name} = {r.choice(self.writable)};"
            self.ints.append(name)
            self.writable.append(name)
            return text
        if kind == 2 and self.arrays:
            text = f"int *{name} = {r.choice(self.arrays)} + {r.randrange(3)};"
            self.pointers.append(name)
            return text
        of = r.choice(list(TYPES))
        value = TYPES[of].format(self.expression(1))
        text = f"{of} {name} = {value};"
        if r.random() < 0.2:
            text = f"{of} {name}; if ({self.condition()}) {name} = {value}; else {name} = {TYPES[of].format('t')};"
        elif of != "bool" and r.random() < 0.2:
            text = f"auto {name} = {value};" if of not in ("unsigned short",) else text
        elif r.random() < 0.1:
            other = self.new("o")
            text = f"{of} {other} = {TYPES[of].format('t')}, {name} = {other};"
            self.typed.append((other, of))
        self.typed.append((name, of))
        return text

    def declaration(self) -> str:
        r = self.rng
        kind = r.randrange(9)
        if kind >= 6:
            return self.other_declaration()
        if kind == 0:
            name = self.new("u")
            text = f"{r.choice(['int', 'const int'])} {name} = {self.uniform_expression()};"
            self.uniform.append(name)
            if text.startswith("int") and r.random() < 0.5:
                self.uniform_writable.append(name)
            return text
        if kind == 1:
            name = self.new("d")
            text = f"{r.choice(['int', 'const int', 'auto'])} {name} = {self.uniform_expression(1)} + (int)threadIdx.x * 2 + t;"
            self.derived.append(name)
            return text
        if kind == 2 and len(self.arrays) < 2:
            name = self.new("a")
            self.arrays.append(name)
            return f"int {name}[4] = {{0}};"
        name, other = self.new("v"), self.new("w")
        text = f"int {name} = {self.expression()}, {other} = {self.expression()};"
        self.ints += [name, other]
        self.writable += [name, other]
        return text

    def local_loop(self) -> str:
        i, r = self.new("i"), self.rng
        stop = r.choice(
            [f"if ({i} == {self.expression(2)}) break;", f"if ({self.condition()}) continue;", ""]
        )
        bound = r.choice([str(r.randrange(5)), "(t & 3)", f"({self.expression(2)} & 3)"])
        if r.random() < 0.2:
            return f"{{ int {i} = {self.expression(1)} & 7; while ({i}-- > 0) {{ {stop} {self.assignment()} }} }}"
        count = r.choice(["int", "int", "unsigned", "long long"])
        return (
            f"for ({count} {i}l = 0; {i}l < {bound}; ++{i}l) {{ const int {i} = (int){i}l; {stop} "
            f"{self.assignment()} {self.assignment()} }}"
        )

    def strided_loop(self) -> str:
        """A loop whose iterations the threads do together, unless its body changes what it needs."""
        i, r = self.new("i"), self.rng
        start = r.choice(
            ["t", "(int)threadIdx.x", "t % 32", "t / 8", "(int)threadIdx.y + 1", "m + t"]
        )
        step, bound = (
            r.choice(["8", "count", "(int)blockDim.x", "11"]),
            r.choice(["40", "n + 20", "count"]),
        )
        saved = [list(names) for names in self.names()]
        body = " ".join(self.rng.choice([self.assignment, self.divergent])() for _ in range(2))
        if r.random() < 0.3:
            body += f" for (int {i}b = t % 8; {i}b < 9; {i}b += 8) {{ {self.assignment()} }}"
        name = self.new("v")
        body = (
            f"int {name} = {i} + {self.expression(2)}; {body} {r.choice(self.writable)} ^= {name};"
        )
        for names, before in zip(self.names(), saved, strict=True):
            names[:] = before
        of = r.choice(["int", "int", "unsigned", "size_t", "long long"])
        return f"for ({of} {i} = {start}; {i} {r.choice(['<', '<='])} {bound}; {i} += {step}) {{ {body} }}"

    def row_loop(self) -> str:
        """A loop that the threads of a row do together: they read consecutive elements."""
        r, i = self.rng, self.new("i")
        name, other = r.choice(self.writable), r.choice(self.writable)
        index = r.choice(["t", "threadIdx.x", "t + 1", "(int)threadIdx.x"])
        term = f"(int)((unsigned)x[{index}] * {i}u + (unsigned)x[{i} & 63])"
        value = self.new("v")
        body = r.choice(
            [
                f"{name} ^= {term};",
                f"int {value} = {term}; {name} ^= {value}; {other} = {value} + {i};",
                f"{name} = (int)((unsigned){name} + (unsigned){term} - (unsigned){other});",
            ]
        ).replace(f"{i}u", f"(unsigned){i}")
        loop = (
            f"for (int {i} = 0; {i} < {r.choice(['m', 'n + 2', 'm * 2 - n'])}; ++{i}) {{ {body} }}"
        )
        if r.random() < 0.4:
            limit = r.choice(["t < m * 3", "t - 1 < n", "t < m * 5 && (int)threadIdx.y < n"])
            return f"if ({limit}) {{ {loop} {self.assignment()} }}"
        return loop

    def limited(self) -> str:
        """A condition that the threads of a part of each row meet, around a loop."""
        r, i = self.rng, self.new("i")
        value = r.choice(
            ["t", "(int)threadIdx.x", "t - 2", "(int)(blockIdx.x * 3 + threadIdx.x)", "threadIdx.x"]
        )
        limit = f"{value} {r.choice(['<', '<='])} {r.choice(['n + 9', '20', 'm * 2', '13u', '-1'])}"
        if r.random() < 0.3:
            limit += " && (int)threadIdx.y < m"
        bound = r.choice(["m", "3", "n - 2"])
        return f"if ({limit}) {{ {self.assignment()} for (int {i} = 0; {i} < {bound}; ++{i}) {{ {self.assignment()} }} }}"

    def choice_of(self) -> str:
        return (
            f"switch ({self.expression(1)} & 3) {{ case 0: {self.assignment()} break; case 1: {self.assignment()}"
            f" default: {self.assignment()} }}"
        )

    def divergent(self) -> str:
        kind = self.rng.randrange(6)
        if kind == 0:
            return f"if ({self.condition()}) {self.assignment()} else {{ {self.assignment()} {self.assignment()} }}"
        if kind == 1:
            return f"if ({self.condition()}) {{ {self.divergent()} {self.assignment()} }}"
        if kind == 2:
            return self.local_loop()
        return self.choice_of() if kind == 3 else self.assignment()

    def exchange(self) -> str:
        name, shift = self.rng.choice(self.writable), self.rng.randrange(1, 200)
        op = self.rng.choice(["+", "^", "-"])
        return (
            f"s[t] = {self.expression(1)}; __syncthreads(); {name} = (int)((unsigned){self.expression(2)} {op} "
            f"(unsigned)s[(t + {shift}) % count]); __syncthreads();"
        )

    def shared_kinds(self) -> str:
        """Other exchanges between threads: atomic operations, warps, tiles, global memory."""
        r, name = self.rng, self.rng.choice(self.writable)
        kind = r.randrange(7)
        if kind == 0:
            op = r.choice(["Add", "Xor", "Max", "Min", "Or", "And"])
            guard = r.choice(["", f"if ({self.condition()}) ", f"if ({self.condition()}) "])
            return (
                f"s[t] = {self.expression(1)}; __syncthreads(); {guard}atomic{op}(&s[{self.expression(1)} & 3 & (count - 1)], "
                f"{self.expression(2)}); __syncthreads(); {name} ^= s[t % 4 < count ? t % 4 : 0]; __syncthreads();"
            )
        if kind == 1:
            shift = r.randrange(1, 31)
            return (
                f"s[t] = {self.expression(1)}; __syncwarp(); {{ int w = (t & ~31) + ((t + {shift}) & 31); "
                f"{name} ^= s[w < count ? w : t]; }} __syncwarp();"
            )
        if kind == 2 and self.whole_warps and self.shuffles:
            size = r.choice([8, 16, 32])
            tile = self.new("g")
            use = r.choice(
                [
                    f"{tile}.shfl_xor({self.expression(1)}, 3)",
                    f"{tile}.shfl({self.expression(1)}, 2)",
                    f"{tile}.shfl_down({self.expression(1)}, 1) + (int){tile}.thread_rank()",
                    f"cg::reduce({tile}, {self.expression(1)}, cg::{r.choice(['bit_xor', 'less', 'greater', 'bit_and'])}<int>())",
                ]
            )
            return f"auto {tile} = cg::tiled_partition<{size}>(cg::this_thread_block()); {name} ^= {use}; {tile}.sync();"
        if kind == 3:
            shift = r.randrange(1, 60)
            return (
                f"__syncthreads(); out[at * {OUTPUTS}] = {self.expression(1)}; __syncthreads(); "
                f"{name} ^= out[(blockIdx.x * count + (t + {shift}) % count) * {OUTPUTS}]; __syncthreads();"
            )
        if kind == 4:
            one = self.new("h")
            return (
                f"__shared__ int {one}[2]; if (t == 0) {{ {one}[0] = 0; {one}[1] = 7; }} __syncthreads(); "
                f"atomicAdd(&{one}[{self.expression(2)} & 1], {self.expression(2)}); __syncthreads(); {name} ^= {one}[1];"
            )
        if kind == 5 and self.shuffles:
            of = r.choice(SHUFFLED)
            value = TYPES.get(of, "{}").format(self.expression(1))
            other = self.new("o")
            text = f"{of} {other} = __shfl{r.choice(self.modes)}_sync(FULL, {value}, {r.randrange(32)});"
            if of == "int":
                self.ints.append(other)
            else:
                self.typed.append((other, of))
            return text
        if kind == 6 and self.shuffles and len(self.modes) > 1:
            return f"{name} ^= early_total({self.expression(1)}, {r.randrange(4)});"
        return self.assignment()

    def changed_uniform(self) -> str:
        """A variable that was the same for all threads, and is not from here on."""
        names = [name for name in self.uniform_writable if name in self.uniform and name != "n"]
        if self.loops or not names:
            return self.assignment()
        name = self.rng.choice(names)
        text = f"if ({self.condition()}) {name} = {self.expression(1)};"
        for each in (self.uniform, self.uniform_writable):
            each[:] = [other for other in each if other != name]
        self.ints.append(name)
        self.writable.append(name)
        return text

    def hidden(self, depth: int) -> str:
        """A block whose variable hides one of the same name."""
        name = self.rng.choice(self.writable)
        if name.startswith("o") or self.rng.random() < 0.7:
            return self.assignment()
        pointers, self.pointers = self.pointers, []
        text = f"{{\nint {name} = {self.expression(1).replace(name, 't')};\n{self.statements(2, depth + 1)}\n}}"
        self.pointers = pointers
        return text

    def shuffle(self) -> str:
        r = self.rng
        if not self.shuffles:
            return self.assignment()
        mode = r.choice(self.modes)
        lane = r.choice([str(r.randrange(32)), "(t & 31)", self.uniform_expression(1) + " & 31"])
        width = r.choice(["", "", ", 8", ", 16", ", 32"])
        mask = r.choice(["FULL", "0xffffffff", "~0u", "-1"])
        call = f"__shfl{mode}_sync({mask}, {self.expression(1)}, {lane}{width})"
        if r.random() < 0.2:
            other, term = self.new("v"), self.expression(2)
            self.ints.append(other)
            self.writable.append(other)
            return f"int {other} = {call} ^ {term};"
        return f"{r.choice(self.writable)} {r.choice(['=', '^=', '|='])} {call};"

    def call(self) -> str:
        """A call of a function whose threads wait for one another."""
        r, name, value = self.rng, self.rng.choice(self.writable), self.expression(1)
        kind = r.randrange(5)
        if kind == 0 and self.shuffles and len(self.modes) > 1:
            return f"{name} ^= warp_total({value}) + {self.expression(2)};"
        if kind == 1 and self.shuffles and len(self.modes) > 1:
            width = r.choice(["", "", ", 8"])
            return f"{name} = turned{r.choice(['', '<int>'])}({name}, {self.uniform_expression(1)}{width});"
        if kind == 2:
            return f"{name} = block_total<256>({value}, t);"
        if kind == 3:
            return f"exchange(s, {name}, t, count, {self.uniform_expression(1)} & 7);"
        other = self.new("v")
        self.ints.append(other)
        self.writable.append(other)
        return f"cg::thread_block {other}g = cg::this_thread_block(); int {other} = group_total({other}g, s, {value}, count); __syncthreads();"

    def vote(self) -> str:
        r, name = self.rng, self.rng.choice(self.writable)
        if r.random() < 0.5:
            vote = r.choice(["count", "and", "or"])
            return f"{name} ^= __syncthreads_{vote}({self.condition()});"
        return (
            f"{name} ^= (int)__{r.choice(['ballot', 'any', 'all'])}_sync(FULL, {self.condition()});"
        )

    def statements(self, count: int, depth: int) -> str:
        """Statements that all threads of the block reach; names end with the block."""
        saved = [list(names) for names in self.names()]
        text = "\n".join(self.statement(depth) for _ in range(count))
        for names, before in zip(self.names(), saved, strict=True):
            names[:] = before
        return text

    def names(self):
        return (
            self.ints,
            self.writable,
            self.uniform,
            self.uniform_writable,
            self.derived,
            self.arrays,
            self.typed,
            self.pointers,
        )

    def statement(self, depth: int) -> str:
        r = self.rng
        kind = r.randrange(20 if depth < 3 else 11)
        if kind <= 1:
            return self.declaration()
        if kind == 2:
            return self.exchange()
        if kind == 3:
            return r.choice([self.shuffle, self.shuffle, self.call])()
        if kind == 4:
            return r.choice([self.vote, self.vote, self.call])()
        if kind == 5:
            return f"{r.choice(self.uniform_writable)} = {self.uniform_expression()};"
        if kind == 6 and self.loops and r.random() < 0.5:
            return f"if ({self.uniform_condition()}) {r.choice(['break', 'continue'])};"
        if kind == 7 and self.returns and r.random() < 0.15:
            return f"if ({self.condition()}) return;"
        if kind == 7 and self.returns and r.random() < 0.1:
            return f"if ({self.uniform_condition()}) return;"
        if kind == 8:
            return r.choice([self.strided_loop, self.limited, self.row_loop])()
        if kind <= 10:
            return self.divergent()
        if kind >= 18:
            return self.shared_kinds()
        if kind == 17:
            return self.hidden(depth)
        if kind == 16:
            return r.choice([self.changed_uniform, self.other_declaration])()
        if kind == 11:
            return self.uniform_if(depth)
        if kind == 12:
            return self.warp_if(depth)
        return self.loop(depth)

    def uniform_if(self, depth: int) -> str:
        text = f"if ({self.uniform_condition()}) {{\n{self.statements(self.rng.randrange(1, 4), depth + 1)}\n}}"
        if self.rng.random() < 0.5:
            text += f" else {{\n{self.statements(2, depth + 1)}\n}}"
        return text

    def warp_if(self, depth: int) -> str:
        """A condition that is the same for the lanes of a warp, with shuffles in it."""
        saved = [list(names) for names in self.names()]
        body = " ".join(
            self.rng.choice([self.shuffle, self.assignment, self.divergent])() for _ in range(3)
        )
        for names, before in zip(self.names(), saved, strict=True):
            names[:] = before
        return f"if ({self.rng.choice(['t / 32 == 0', '(t >> 5) & 1', 't < 32'])}) {{ {body} }}"

    def loop(self, depth: int) -> str:
        r, k = self.rng, self.new("r")
        self.loops += 1
        bound = r.choice([str(r.randrange(1, 4)), "(m & 3)", "ROUNDS"])
        saved = [list(names) for names in self.names()]
        self.uniform.append(k)
        body = self.statements(r.randrange(1, 4), depth + 1)
        for names, before in zip(self.names(), saved, strict=True):
            names[:] = before
        self.loops -= 1
        kind = r.randrange(4)
        if kind == 0:
            return f"for (int {k} = 8; {k} > 0; {k} >>= 1) {{\n{body}\n}}"
        if r.random() < 0.15:
            other = self.new("r")
            return (
                f"for (int {k} = 0, {other} = 5; {k} < {other}; {k} += 2, --{other}) {{\n{body}\n}}"
            )
        if r.random() < 0.15:
            return f"#pragma unroll\nfor (unsigned {k}u = 0; {k}u < {r.randrange(1, 4)}; {k}u++) {{\nconst int {k} = (int){k}u;\n{body}\n}}"
        if kind == 1:
            return f"{{ int {k} = 0; while ({k}++ < {bound}) {{\n{body}\n}} }}"
        if kind == 2:
            return f"{{ int {k} = 0; do {{\n{body}\n}} while (++{k} < {bound}); }}"
        return f"for (int {k} = 0; {k} < {bound}; ++{k}) {{\n{body}\n}}"

    def kernel(self) -> str:
        r = self.rng
        first = self.declaration_of_start()
        body = self.statements_at_top(r.randrange(3, 10))
        stores = "\n".join(
            f"out[at * {OUTPUTS} + {k}] = {self.expression()};" for k in range(OUTPUTS)
        )
        modified = r.choice(["", "", "x += 3;", "m += (int)threadIdx.x;", "out += 0;"])
        shared = r.choice(["__shared__ int s[256];", "extern __shared__ int s[];"])
        return (
            f"__global__ void {self.name}(int *out, const int *x, int n, int m) {{\n{shared}\n{first}\n{modified}\n"
            f"s[t] = t; __syncthreads();\n{body}\n{stores}\n}}\n"
        )

    def declaration_of_start(self) -> str:
        self.ints.append("v0")
        self.writable.append("v0")
        if self.shape[1] == 1:
            return "int count = blockDim.x, t = threadIdx.x;\nint at = blockIdx.x * count + t, v0 = x[at & 63];"
        return (
            "int count = blockDim.x * blockDim.y * blockDim.z;\n"
            "int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
            "int at = blockIdx.x * count + t;\nint v0 = x[at & 63];"
        )

    def statements_at_top(self, count: int) -> str:
        return "\n".join(self.statement(0) for _ in range(count))


def kernel_of(seed: int, case: int, for_gpu: bool = False) -> str:
    return Writer(random.Random(f"{seed} {case}"), f"k{case}", for_gpu).kernel()


def run(module, case: int, device: str) -> np.ndarray:
    rng = np.random.default_rng(case)
    block = SHAPES[case % len(SHAPES)]
    x = sw.array(rng.integers(-1000, 1000, 256).astype("int32"), device=device)
    out = sw.full(block[0] * block[1] * block[2] * 3 * OUTPUTS, -77, dtype="int32", device=device)
    kernel = module.get_function(f"k{case}")
    kernel(out, x, np.int32(case % 7), np.int32(case % 11), block=block, grid=3, shared=1024)
    return out.numpy()


def compare(seed: int, cases: range, devices: list[str], options=("-O0",)) -> list[int]:
    """The cases whose results differ."""
    source = PREAMBLE + "".join(kernel_of(seed, case, bool(devices)) for case in cases)
    compiled = [
        (sw.SourceModule(source, options=list(options), device="cpu", cpu_barriers=barriers), "cpu")
        for barriers in ("auto", "fibers")
    ]
    compiled += [(sw.SourceModule(source, device=device), device) for device in devices]
    different = []
    for case in cases:
        results = []
        for module, device in compiled:
            try:
                results.append(run(module, case, device).tobytes())
            except sw.KernelFaultError as error:
                results.append(str(error).encode())
        if len(set(results)) > 1:
            different.append(case)
    return different


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.block_loops", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--batch", type=int, default=PER_MODULE, help="kernels in a module")
    parser.add_argument("--progress", action="store_true", help="print each batch")
    options = parser.parse_args(arguments)
    devices = ["cuda:0"] if sw.default_device().kind == "cuda" else []
    if options.case is not None:
        print(PREAMBLE + kernel_of(options.seed, options.case, bool(devices)))
        found = compare(options.seed, range(options.case, options.case + 1), devices)
        print("different" if found else "the same")
        return len(found)
    start, different = time.monotonic(), 0
    done = 0
    for first in range(options.first, options.first + options.count, options.batch):
        if time.monotonic() - start > options.seconds:
            break
        cases = range(first, min(first + options.batch, options.first + options.count))
        # The compiler's optimisations take most of the time, and are its own affair.
        optimized = first // options.batch % 10 == 0
        for case in compare(options.seed, cases, devices, () if optimized else ("-O0",)):
            different += 1
            print(f"different: --seed {options.seed} --case {case}", flush=True)
        done += len(cases)
        if options.progress:
            print(f"{done} kernels after {time.monotonic() - start:.0f} s", flush=True)
    seconds = time.monotonic() - start
    print(f"{done} kernels, {different} different, {seconds:.0f} s")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
