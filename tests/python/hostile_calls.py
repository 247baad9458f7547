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
# Members that every class inherits from object.
SKIPPED_MEMBERS = {"__class__", "__subclasshook__", "__reduce__", "__reduce_ex__"}
# Words of messages by the C++ library and by pybind11.
CPP_MESSAGE = re.compile(
    r"Unable to cast|std::|bad_\w+|vector::|basic_string|map::at|C\+\+ type|incompatible \w+ arguments"
)


class Raising:
    """Raises an error for every operation."""

    def _raise(self, *_):
        raise RuntimeError("raised on purpose")

    __index__ = __bool__ = __len__ = __iter__ = __getattr__ = __hash__ = __eq__ = __str__ = _raise
    __repr__ = __float__ = __int__ = __call__ = __array__ = _raise


def argument_values():
    """One value of each type that functions of the module may or may not expect."""
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


class HostileCaller:
    """Calls functions with wrong arguments. `reports` names the calls whose error is a SystemError or
    has a message of C++."""

    def __init__(self, random_calls):
        self.random_calls = random_calls
        self.values = argument_values()
        self.random = random.Random(11)
        self.reports = set()

    def call(self, name, function, *arguments):
        try:
            function(*arguments)
        except Exception as error:
            try:
                message = str(error)
            except Exception:
                return
            if isinstance(error, SystemError) or CPP_MESSAGE.search(message.split("\n")[0]):
                self.reports.add(f"{name}: {type(error).__name__}: {message[:200]}")

    def random_arguments(self, max_count):
        return [
            self.random.choice(self.values) for _ in range(self.random.randrange(max_count + 1))
        ]

    def call_function(self, name, function):
        for count in range(6):
            for value in self.values:
                self.call(name, function, *[value] * count)
        for _ in range(self.random_calls):
            self.call(name, function, *self.random_arguments(8))

    def call_members(self, name, cls):
        """Calls the members of the class and of an uninitialised object."""
        uninitialised = None
        with contextlib.suppress(Exception):
            uninitialised = cls.__new__(cls)
        for member in sorted(set(dir(cls)) - SKIPPED_MEMBERS):
            class_member = getattr(cls, member, None)
            if callable(class_member):
                for _ in range(self.random_calls // 4):
                    self.call(f"{name}.{member}", class_member, *self.random_arguments(4))
            if uninitialised is None:
                continue
            self.call(f"{name}().{member}", getattr, uninitialised, member)
            self.call(f"{name}().{member}", setattr, uninitialised, member, None)
            bound = getattr_or_none(uninitialised, member)
            if callable(bound):
                for _ in range(self.random_calls // 8):
                    self.call(f"{name}().{member}", bound, *self.random_arguments(3))

    def run(self, only=""):
        """Calls everything in the module whose name contains `only`."""
        for name in sorted(dir(CORE)):
            target = getattr(CORE, name)
            if only not in name or not callable(target):
                continue
            if isinstance(target, type) and issubclass(target, BaseException):
                continue
            self.call_function(name, target)
            if isinstance(target, type):
                self.call_members(name, target)


def getattr_or_none(value, name):
    try:
        return getattr(value, name)
    except Exception:
        return None


def main(random_calls="16", only=""):
    """Prints the reports and returns the exit status."""
    caller = HostileCaller(int(random_calls))
    caller.run(only)
    print("\n".join(sorted(caller.reports)))
    return 1 if caller.reports else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
