# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls all functions of the extension module, also private ones and methods of objects without
__init__, with arguments of wrong types. They must raise exceptions and not crash, and no message may
come from the C++ library or pybind11's conversions. Run as a program; prints such messages."""

import contextlib
import random
import re
import sys

import numpy as np

import spanwise as sw

CORE = sw._core
NOT_OURS = {"__class__", "__subclasshook__", "__reduce__", "__reduce_ex__"}
LEAKED = re.compile(r"Unable to cast|std::|bad_\w+|vector::|basic_string|map::at|C\+\+ type")


class Raising:
    """Raises an error for every operation."""

    def _raise(self, *_):
        raise RuntimeError("raised on purpose")

    __index__ = __bool__ = __len__ = __iter__ = __getattr__ = __hash__ = __eq__ = __str__ = _raise
    __repr__ = __float__ = __int__ = __call__ = __array__ = _raise


def arguments():
    x = sw.tensor.fvector("x")
    array = sw.arange(6, device="cpu")
    return [
        *(None, True, 0, 1, -1, 2**70, -(2**70), 1.5, float("nan"), 1j, "x", "cpu", "float32"),
        *(b"abc", (), (1, 2), [], [1], ["a"], {}, {"a": 1}, {1: [0]}, slice(None), ..., len, int),
        *(array, array.reshape(2, 3), array.astype("float32"), array.astype("uint64")),
        *(np.arange(3.0), np.array(["a"], object), object(), Raising(), Raising, range(3)),
        *(x, x + 1, (x + 1).owner, [x], [(x, x)], sw.function([x], x + 1, device="cpu"), CORE),
        *(sw.device("cpu"), sw.dtype("float32"), sw.current_stream("cpu"), memoryview(b"abc")),
        CORE._random_counter(1, 2, 3),
    ]


class Attack:
    def __init__(self, tries):
        self.tries = tries
        self.values = arguments()
        self.random = random.Random(11)
        self.leaked = set()

    def call(self, name, function, *given):
        try:
            function(*given)
        except Exception as error:
            try:
                message = str(error)
            except Exception:
                return
            if isinstance(error, SystemError) or LEAKED.search(message.split("\n")[0]):
                self.leaked.add(f"{name}: {type(error).__name__}: {message[:200]}")

    def some(self, most):
        return [self.random.choice(self.values) for _ in range(self.random.randrange(most + 1))]

    def function(self, name, function):
        for count in range(6):
            for value in self.values:
                self.call(name, function, *[value] * count)
        for _ in range(self.tries):
            self.call(name, function, *self.some(8))

    def members(self, name, cls):
        """Calls the members of the class and of an uninitialised object."""
        raw = None
        with contextlib.suppress(Exception):
            raw = cls.__new__(cls)
        for member in sorted(set(dir(cls)) - NOT_OURS):
            of_class = getattr(cls, member, None)
            if callable(of_class):
                for _ in range(self.tries // 4):
                    self.call(f"{name}.{member}", of_class, *self.some(4))
            if raw is None:
                continue
            self.call(f"{name}().{member}", getattr, raw, member)
            self.call(f"{name}().{member}", setattr, raw, member, None)
            bound = getattr_or_none(raw, member)
            if callable(bound):
                for _ in range(self.tries // 8):
                    self.call(f"{name}().{member}", bound, *self.some(3))

    def run(self, only=""):
        for name in sorted(dir(CORE)):
            target = getattr(CORE, name)
            if only not in name or not callable(target):
                continue
            if isinstance(target, type) and issubclass(target, BaseException):
                continue
            self.function(name, target)
            if isinstance(target, type):
                self.members(name, target)


def getattr_or_none(value, name):
    try:
        return getattr(value, name)
    except Exception:
        return None


def main(tries="16", only=""):
    attack = Attack(int(tries))
    attack.run(only)
    print("\n".join(sorted(attack.leaked)))
    return 1 if attack.leaked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
