# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.random: the generator's words, seeds, states and errors."""

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from support.random_reference import philox, words_for

import spanwise as sw
from spanwise import _core
from spanwise.random import Generator, default_rng


def test_words_equal_random123s_known_answer(device):
    """Random123's known answer for the counter and key 0; C++ tests have the others."""
    words = sw.empty((4,), "uint32", device=device)
    _core._random_draw(_core._random_counter(0, 0, 0), "words", words, 0.0, 1.0)
    assert words.tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("position", [0, 1, 2**32 - 3, 2**64 - 2])
def test_words_match_reference(device, position):
    g = default_rng([7, 2**70], device).advance(position)
    expected = philox(g, 9).reshape(-1)
    words = sw.empty((36,), "uint32", device=device)
    _core._random_draw(g._counter, "words", words, 0.0, 1.0)
    np.testing.assert_array_equal(words.numpy(), expected)
    assert g.state["position"] == (position + 9) % 2**64


def test_bytes_match_words():
    g, twin = default_rng(3), default_rng(3)
    words = words_for(g, 5, 32)
    assert g.bytes(18) == words.astype("<u4").tobytes()[:18]
    assert twin.bytes(0) == b""
    assert twin.bytes(17) == words.astype("<u4").tobytes()[:17]


def test_different_seeds_give_different_streams():
    assert default_rng(5).random(4).tolist() == default_rng([5]).random(4).tolist()
    assert default_rng(5).random(4).tolist() == default_rng(np.array([5])).random(4).tolist()
    seeds = [0, 1, 2**32, 2**64 - 1, 2**200, (), (0, 0), (1, 2), (2, 1), (258,), (2, 1, 0)]
    firsts = {tuple(default_rng(seed).integers(2**60, size=2).tolist()) for seed in seeds}
    assert len(firsts) == len(seeds)
    sequence = np.random.SeedSequence(5)
    assert default_rng(sequence).state == default_rng(np.random.SeedSequence(5)).state
    assert default_rng().random(2).tolist() != default_rng().random(2).tolist()
    g = default_rng(3)
    assert default_rng(g) is g
    assert repr(g) == "Generator(Philox4x32-10, seed=3, position=0)"
    assert isinstance(g, Generator)


@pytest.mark.parametrize("seed", [-1, [1, -2], 1.5, "five", [1.5], {}])
def test_invalid_seed_raises_as_in_numpy(seed):
    try:
        np.random.default_rng(seed)
    except Exception as error:
        expected = type(error)
    with pytest.raises(expected if expected in (ValueError, TypeError) else TypeError):
        default_rng(seed)


def test_assigned_state_repeats_the_numbers():
    g = default_rng([1, 2**80])
    g.random(13)
    g.spawn(2)
    state = g.state
    assert state["position"] == 7 and state["children"] == 2
    ahead = g.random(5).tolist()
    g.state = state
    assert g.random(5).tolist() == ahead
    for duplicate in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        g.state = state
        copied = duplicate(g)
        assert copied is not g and copied.random(5).tolist() == ahead
        assert copied.spawn(1)[0].state == g.spawn(1)[0].state
        assert g.random(5).tolist() == ahead
    for bad in ({}, {**state, "position": 2**64}, {**state, "bit_generator": "PCG64"}, 5):
        with pytest.raises(sw.ArgumentError, match="state"):
            g.state = bad
    assert pickle.loads(pickle.dumps(default_rng(1, "cpu"))).device == sw.device("cpu")


def test_advance_and_jumped_move_the_position():
    g = default_rng(1)
    values = g.random(20).tolist()
    assert default_rng(1).advance(5).random(10).tolist() == values[10:]
    assert g.advance(-10).random(20).tolist() == values
    jumped = g.jumped(2)
    assert jumped.state["position"] == (g.state["position"] + 2**49) % 2**64
    assert default_rng(1).jumped().random(4).tolist() != values[:4]


def test_spawned_generators_differ():
    g = default_rng(1)
    family = [g, *g.spawn(3), *g.spawn(2), *g.spawn(1)[0].spawn(2)]
    assert len({tuple(x.random(2).tolist()) for x in family}) == len(family)
    for count in (-1, 2**40):
        with pytest.raises(sw.ArgumentError, match=f"spawn: n_children: expected .*got {count}"):
            g.spawn(count)
    again = default_rng(1)
    again.spawn(3)
    assert again.spawn(1)[0].random(3).tolist() == default_rng(1).spawn(4)[3].random(3).tolist()


def test_threads_share_a_generator():
    g, drawn = default_rng(51, "cpu"), []

    def work():
        for _ in range(200):
            drawn.append(g.integers(2**62, size=8).tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = default_rng(51, "cpu").integers(2**62, size=8 * 1600).numpy().reshape(-1, 8)
    assert sorted(drawn) == sorted(whole.tolist())


def test_random_module_is_imported_at_first_use():
    program = (
        "import sys, spanwise; print('spanwise.random' in sys.modules, 'hashlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]


WRONG = {
    "uniform backwards": lambda g: g.uniform(2, 1),
    "uniform to infinity": lambda g: g.uniform(0, np.inf),
    "uniform arrays backwards": lambda g: g.uniform([2.0], [1.0]),
    "uniform arrays to infinity": lambda g: g.uniform([0.0], [np.inf]),
    "negative scale": lambda g: g.normal(0, -1),
    "negative scales": lambda g: g.normal(0, [1, -1]),
    "negative mean": lambda g: g.exponential(-1),
    "negative means": lambda g: g.exponential([-1.0]),
    "no integers": lambda g: g.integers(5, 5),
    "no integers with endpoint": lambda g: g.integers(5, 4, endpoint=True),
    "no integers in one interval": lambda g: g.integers([1, 2], [3, 2]),
    "high out of bounds": lambda g: g.integers(0, 300, dtype="int8"),
    "low out of bounds": lambda g: g.integers(-1, 3, dtype="uint8"),
    "highs out of bounds": lambda g: g.integers([0], [300], dtype="int8"),
    "lows out of bounds": lambda g: g.integers([-1], [3], dtype="uint8"),
    "integers of floats": lambda g: g.integers(0, 3, dtype="float32"),
    "random integers": lambda g: g.random(3, dtype="int32"),
    "normal integers": lambda g: g.standard_normal(3, dtype="int32"),
    "size and out": lambda g: g.random(3, out=np.empty(4)),
    "dtype and out": lambda g: g.random(dtype="float64", out=np.empty(4, "float32")),
    "negative size": lambda g: g.random(-3),
    "size by parameters": lambda g: g.normal([0, 1, 2], 1, size=2),
    "choice of more than there are": lambda g: g.choice(5, 7, replace=False),
    "choice among 0 items": lambda g: g.choice(0, 1),
    "choice among an empty list": lambda g: g.choice([]),
    "choice among -1 items": lambda g: g.choice(-1, 2),
    "probabilities of another size": lambda g: g.choice(3, p=[0.5, 0.5]),
    "probabilities of rank 2": lambda g: g.choice(1, p=[[1.0]]),
    "probabilities of another sum": lambda g: g.choice(2, p=[0.1, 0.2]),
    "negative probabilities": lambda g: g.choice(2, p=[2, -1]),
    "probabilities that are NaN": lambda g: g.choice(2, p=[np.nan, 1]),
    "too few probabilities": lambda g: g.choice(2, 2, p=[1, 0], replace=False),
    "permutation of a float": lambda g: g.permutation(2.5),
    "permutation along no axis": lambda g: g.permutation([[1, 2]], axis=2),
    "shuffle of a tuple": lambda g: g.shuffle((1, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_of_numpys_types(device, name):
    try:
        WRONG[name](np.random.default_rng(1))
    except Exception as error:
        expected = type(error)
    if expected is np.exceptions.AxisError:
        expected = sw.AxisError
    g = default_rng(1, device)
    before = g.state
    with pytest.raises(expected) as ours:
        WRONG[name](g)
    assert len(str(ours.value)) > 20  # a sentence, not only a name or number
    assert g.state == before


def test_read_only_targets_raise(device):
    target = np.zeros(4)
    target.flags.writeable = False
    for call in (lambda g: g.random(out=target), lambda g: g.shuffle(target)):
        with pytest.raises(ValueError, match="read-only"):
            call(default_rng(1, device))


def test_negative_counts_raise():
    for call in (lambda g: g.bytes(-1), lambda g: g.spawn(-1)):
        with pytest.raises(sw.ArgumentError, match="got -1"):
            call(default_rng(1))
