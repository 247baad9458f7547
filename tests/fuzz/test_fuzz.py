# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fuzzing in the test suite: the same cases in each run, and tests of the fuzzer."""

import pytest

pytest.importorskip("ml_dtypes")

import numpy as np

import spanwise as sw
from fuzz.arena import Arena
from fuzz.compare import Tolerance, problem_of
from fuzz.context import Context
from fuzz.families import FAMILIES
from fuzz.memory import Wrong
from fuzz.run import Runner

SEED = 2026
CASES = {"cpu": 300_000, "cuda": 400}


@pytest.mark.parametrize("family", FAMILIES)
def test_random_cases_match_numpy(device, family):
    runner = Runner(device, SEED, [family])
    share = FAMILIES[family][1] / sum(share for _, share in FAMILIES.values())
    wrong = []
    for number in range(int(CASES[device.kind] * share)):
        problem = runner.run(number)
        if problem:
            wrong.append(
                f"--device {device} --seed {SEED} --only {family} --case {number}: {problem}"
            )
        if len(wrong) == 5:
            break
    assert not wrong, "python tests/fuzz " + "\n".join(wrong)


# ---- The fuzzer itself finds wrong results.


def test_arrays_copied_to_a_device_are_checked_too():
    runner = Runner("cpu", SEED)
    runner.context = Context("cpu", SEED, is_shared=False)
    assert [runner.run(number) for number in range(2000)] == [None] * 2000


def test_cases_follow_from_seed_and_number():
    first, second = Runner("cpu", 3), Runner("cpu", 3)
    second.run(70)
    for number in range(60, 80):
        first.run(number)
        second.run(number)
        assert first.context.description() == second.context.description()


def test_variations_share_an_operation_and_differ_in_its_arrays():
    runner, groups = Runner("cpu", 3, variations=4), 25
    cases = []
    for number in range(4 * groups):
        assert runner.run(number) is None
        cases.append((runner.context.name, runner.context.description()))
    grouped = [cases[first : first + 4] for first in range(0, len(cases), 4)]
    # A draw for which NumPy defines no result is repeated, with another operation.
    assert sum(len({name for name, _ in group}) == 1 for group in grouped) >= groups - 3
    assert (
        sum(len({description for _, description in group}) > 1 for group in grouped) >= groups - 3
    )


def test_a_write_outside_of_the_array_is_found():
    for number in range(50):
        context = Context("cpu", 5)
        context.begin(number)
        target = context.target(np.dtype("int32"), (3, 4))
        host = target.memory.host
        outside = next(i for i in range(host.size + 1) if i == host.size or _is_outside(target, i))
        if outside == host.size:
            continue

        def write(target=target, outside=outside, host=host):
            target.ours[...] = 1
            host[outside] += 1

        def reference(target=target):
            target.theirs[...] = 1

        with pytest.raises(Wrong, match="written outside"):
            context.check("write", write, reference)
        return
    pytest.fail("in all cases the array has all elements of its memory")


def _is_outside(target, index):
    """Whether the element of the memory is none of the array."""
    memory = target.memory.theirs
    value = memory[index]
    memory[index] = 12345
    is_inside = (target.theirs == 12345).any()
    memory[index] = value
    return not is_inside


def test_wrong_values_dtypes_shapes_and_errors_are_found():
    context = Context("cpu", 0)
    a = context.array(np.dtype("float32"), (5,), "mild")
    wrong = {
        "wrong; at": lambda: a.ours + 1e-3,
        "dtype": lambda: a.ours.astype("float64"),
        "shape": lambda: a.ours[:4],
        "raised ValueError": lambda: a.ours.reshape(7),
    }
    for problem, ours in wrong.items():
        with pytest.raises(Wrong, match=problem if "Value" not in problem else "raised"):
            context.check("copy", ours, lambda: a.theirs.copy())
    with pytest.raises(Wrong, match="did not raise"):
        context.check("copy", lambda: a.ours, lambda: a.theirs.reshape(7))
    with pytest.raises(Wrong, match="NumPy: ValueError"):
        context.check("copy", lambda: sw.zeros(3)[5], lambda: a.theirs.reshape(7))


def test_an_input_that_changes_is_found():
    context = Context("cpu", 1)
    a = context.array(np.dtype("int16"), (4, 4), repeats=False)

    def ours():
        a.ours[1, 1] += 1

    with pytest.raises(Wrong, match="an input was written"):
        context.check("nothing", ours, lambda: None)


def test_tolerance_is_in_units_in_the_last_place():
    one = np.array([1.0, 1e-40, np.inf, np.nan, -0.0], "float32")
    near = np.nextafter(one, np.float32(2))
    near[2:] = one[2:]
    assert problem_of(one, one, Tolerance()) is None
    assert problem_of(near, one, Tolerance()) is not None
    assert problem_of(near, one, Tolerance(1)) is None
    assert problem_of(near, one, Tolerance(0.5)) is not None
    zero = np.abs(one)
    assert problem_of(zero, one, Tolerance()) is not None
    assert problem_of(zero, one, Tolerance(signed_zeros=False)) is None


def test_the_pages_beside_an_arena_cannot_be_touched():
    import subprocess
    import sys

    program = (
        "import sys, ctypes; sys.path.insert(0, sys.argv[1])\n"
        "import numpy as np\n"
        "from fuzz.arena import Arena\n"
        "x = Arena(4096).allocate(8, np.dtype('f4'), sys.argv[2] == 'end')\n"
        "x[:] = 1; print('placed', flush=True)\n"
        "ctypes.c_float.from_address(x.ctypes.data + (32 if sys.argv[2] == 'end' else -4)).value\n"
    )
    tests = __file__.rsplit("/", 2)[0]
    for side in ("end", "start"):
        result = subprocess.run(
            [sys.executable, "-c", program, tests, side],
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.stdout == "placed\n"
        assert result.returncode < 0
    assert Arena(100).allocate(3, np.dtype("f8"), True).size == 3
    with pytest.raises(ValueError, match="do not fit"):
        Arena(100).allocate(1000, np.dtype("f8"), True)
