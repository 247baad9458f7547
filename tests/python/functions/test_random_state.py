# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""NumPy's former random functions: the numbers of numpy.random.RandomState, bit for bit, on every device."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import spanwise as sw
from spanwise._numpy.random_state import DRAWS

#: Arguments of each method.
ARGUMENTS = {
    "beta": [(2.0, 3.0, 5)],
    "binomial": [(10, 0.3, (2, 3)), (10, [0.1, 0.9])],
    "bytes": [(7,)],
    "chisquare": [(3, 4)],
    "choice": [(5, 3), ([1, 5, 9], (2, 2)), (5, 3, False, [0.1, 0.2, 0.3, 0.2, 0.2])],
    "dirichlet": [((1.0, 2.0), 3)],
    "f": [(3, 4, 2)],
    "gamma": [(2.0, 1.5, 3)],
    "geometric": [(0.3, 4)],
    "hypergeometric": [(5, 6, 3, 4)],
    "logseries": [(0.5, 3)],
    "multinomial": [(5, [0.2, 0.8], 3)],
    "multivariate_normal": [([0, 1], [[1, 0.2], [0.2, 2]], 3)],
    "negative_binomial": [(3, 0.4, 3)],
    "noncentral_chisquare": [(3, 1.5, 3)],
    "noncentral_f": [(3, 4, 1.5, 3)],
    "normal": [(), (1.0, 2.0, (2, 2)), ([0.0, 5.0], 1.0)],
    "pareto": [(3.0, 3)],
    "permutation": [(6,), ([3, 1, 2],)],
    "poisson": [(3.0, 4)],
    "power": [(2.0, 3)],
    "rand": [(), (3, 2)],
    "randint": [(5,), (2, 9, (3, 3)), (0, 2, 4, "int8")],
    "randn": [(), (3, 2)],
    "random_integers": [(1, 6, 4)],
    "standard_gamma": [(2.0, 3)],
    "standard_t": [(3, 4)],
    "tomaxint": [(3,)],
    "triangular": [(0, 1, 4, 3)],
    "uniform": [(), (-1, 1, 4)],
    "vonmises": [(0.0, 2.0, 3)],
    "wald": [(1.0, 2.0, 3)],
    "weibull": [(2.0, 3)],
    "zipf": [(2.0, 3)],
}


@pytest.mark.parametrize("name", DRAWS)
def test_methods_and_functions_draw_the_numbers_of_numpy(device, name):
    numpys, ours = np.random.RandomState(7), sw.random.RandomState(7, device)
    sw.random.seed(7)
    with warnings.catch_warnings(), sw.config.change(device=str(device)):
        warnings.simplefilter("ignore", DeprecationWarning)  # random_integers
        for arguments in ARGUMENTS.get(name, [(), (4,)]) * 2:
            expected = getattr(numpys, name)(*arguments)
            for got in (getattr(ours, name)(*arguments), getattr(sw.random, name)(*arguments)):
                if isinstance(expected, np.ndarray):
                    assert isinstance(got, sw.Array) and str(got.device) == str(sw.device(device))
                    assert str(got.dtype) == str(expected.dtype)
                    np.testing.assert_array_equal(got.numpy(), expected)
                else:
                    assert type(got) is type(expected) and got == expected


def test_arguments_may_be_arrays_and_shuffle_works_in_place(device):
    numpys, ours = np.random.RandomState([1, 2]), sw.random.RandomState([1, 2], device)
    mean = sw.asarray([0.0, 10.0, 20.0], device=device)
    np.testing.assert_array_equal(
        ours.normal(mean, size=(2, 3)).numpy(), numpys.normal([0, 10, 20], size=(2, 3))
    )
    host = np.arange(24).reshape(6, 4)
    x = sw.asarray(host.copy(), device=device)
    listed, expected = list(range(5)), list(range(5))
    for target, numpys_target in ((x, host), (x[:, ::2], host[:, ::2]), (listed, expected)):
        ours.shuffle(target)
        numpys.shuffle(numpys_target)
    np.testing.assert_array_equal(x.numpy(), host)
    assert listed == expected
    np.testing.assert_array_equal(ours.permutation(x).numpy(), numpys.permutation(host))
    np.testing.assert_array_equal(ours.choice(mean, 4).numpy(), numpys.choice([0, 10, 20], 4))


def test_states_are_those_of_numpy_and_repeat():
    ours = sw.random.RandomState(3)
    ours.randn()  # keeps a second number
    numpys = np.random.RandomState()
    numpys.set_state(ours.get_state())
    copied = pickle.loads(pickle.dumps(ours))
    expected = numpys.randn(5)
    np.testing.assert_array_equal(ours.randn(5).numpy(), expected)
    np.testing.assert_array_equal(copied.randn(5).numpy(), expected)
    sw.random.seed(11)
    state = sw.random.get_state()
    first = sw.random.ranf(3).tolist()
    sw.random.set_state(state)
    assert (
        sw.random.sample(3).tolist() == first == np.random.RandomState(11).random_sample(3).tolist()
    )
    sw.random.seed()
    assert sw.random.rand(3).tolist() != first
    with pytest.raises(ValueError, match="Seed must be"):
        sw.random.seed(-1)


def test_import_loads_no_numpy():
    program = (
        "import sys, spanwise.random; spanwise.random.RandomState(3); print('numpy' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"
