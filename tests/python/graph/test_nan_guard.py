# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Mode "nan_guard": numbers that are not finite, or too large, are errors that name their node."""

import pickle

import numpy as np
import pytest

import spanwise as sw
from spanwise.graph import NanGuardMode

T = sw.tensor


def logarithm(device, mode="nan_guard", **options):
    x = T.dvector("x")
    return sw.function([x], (T.log(x) * 2).sum(), mode=mode, device=device, **options)


def test_finite_numbers_pass(device):
    f = logarithm(device)
    assert f.mode == "nan_guard"
    np.testing.assert_allclose(f([1.0, 2.0]).numpy(), np.log(2) * 2)


def test_error_names_the_node_the_line_that_created_it_and_the_ranges_of_its_inputs(device):
    f = logarithm(device)
    with pytest.raises(sw.GraphError) as caught:
        f([-1.0, 0.0, 4.0])
    message = str(caught.value)
    assert message.startswith(
        "nan_guard: output 0 of Log(x): 1 NaN, 1 infinite, others from 1.38629 to 1.38629; expected"
    )
    assert "Inputs ranges: [x: from -1 to 4]" in message
    assert "Created at:" in message and "test_nan_guard.py" in message and "in logarithm" in message
    np.testing.assert_allclose(f([1.0]).numpy(), 0)  # the function can be called again


def test_node_in_the_middle_is_named_not_those_that_read_it(device):
    x, y = T.fvectors("xy")
    f = sw.function([x, y], sw.tanh(sw.sqrt(x - y) + 1), mode="nan_guard", device=device)
    with pytest.raises(sw.GraphError, match=r"output 0 of Sqrt\(Subtract.0\): 2 NaN"):
        f([1.0, 1.0], [2.0, 3.0])


@pytest.mark.parametrize(
    ("value", "kind"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "inf"), (-2e10, "big")]
)
def test_each_kind_of_number_is_an_error_unless_allowed(value, kind, device):
    x = T.dvector("x")
    for allowed in ("nan", "inf", "big"):
        mode = NanGuardMode(**{f"{allowed}_is_error": False})
        f = sw.function([x], x * 1.5, mode=mode, device=device)
        if allowed == kind:
            np.testing.assert_array_equal(f([value]).numpy(), [value * 1.5])
        else:
            with pytest.raises(sw.GraphError, match="nan_guard: the input x of the function: "):
                f([value])


def test_shared_variables_and_constants_are_checked(device):
    w = sw.shared(np.array([1.0, np.nan]), "w", target=str(device))
    x = T.dvector("x")
    f = sw.function([x], x + w, mode="nan_guard", device=device)
    with pytest.raises(sw.GraphError, match="input w of the function: 1 NaN, others from 1 to 1"):
        f([1.0, 2.0])
    g = sw.function([x], x + np.array([np.inf]), mode="nan_guard", device=device)
    with pytest.raises(sw.GraphError, match="1 infinite"):
        g([1.0])


def test_failed_call_updates_nothing(device):
    w = sw.shared(np.array([1.0]), "w", target=str(device))
    f = sw.function([], [], updates={w: w / 0}, mode="nan_guard", device=device)
    with pytest.raises(sw.GraphError, match="infinite"):
        f()
    assert w.get_value().tolist() == [1.0]


def test_complex_numbers_and_small_floats_are_checked(device):
    x = T.zvector("x")
    f = sw.function([x], x + x, mode="nan_guard", device=device)
    assert f([1 + 2j]).tolist() == [2 + 4j]
    with pytest.raises(
        sw.GraphError, match="input x of the function: 1 infinite, others from 1 to"
    ):
        f([complex(1, np.inf)])
    y = T.tensor("float16", (None,), "y")
    g = sw.function([y], y * y, mode="nan_guard", device=device)
    with pytest.raises(sw.GraphError, match="1 infinite"):
        g(np.array([1000.0], "float16"))


def test_integers_and_comparisons_are_not_checked(device):
    n = T.lvector("n")
    f = sw.function([n], [n * 2, n > 1], mode="nan_guard", device=device)
    assert [r.tolist() for r in f([10**12, 1])] == [[2 * 10**12, 2], [True, False]]


def test_output_of_a_lazy_op_is_checked(device):
    c, x = T.lscalar("c"), T.dvector("x")
    f = sw.function([c, x], T.ifelse(c, sw.log(x), x), mode="nan_guard", device=device)
    assert f(0, [0.0]).tolist() == [0.0]
    with pytest.raises(sw.GraphError, match=r"output 0 of Log\(x\)"):
        f(1, [0.0])


class OverwritesWithNan(sw.graph.Op):
    __props__ = ()
    destroy_map = {0: [0]}

    def make_node(self, x):
        return sw.graph.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        inputs[0][...] = np.nan
        outputs[0][0] = inputs[0]


def test_ranges_of_an_overwritten_input_are_those_before_the_node(device):
    x = T.dvector("x")
    f = sw.function([x], OverwritesWithNan()(x + 1), mode="nan_guard", device=device)
    with pytest.raises(sw.GraphError, match=r"Inputs ranges: \[Add.0: from 2 to 3\]"):
        f([1.0, 2.0])


def test_mode_keeps_its_errors_through_including_excluding_and_pickling():
    x = T.dvector("x")
    mode = NanGuardMode(inf_is_error=False).excluding("merge").including("fast_run")
    f = pickle.loads(pickle.dumps(sw.function([x], sw.log(x), mode=mode, device="cpu")))
    assert f([0.0]).tolist() == [-np.inf]
    with pytest.raises(sw.GraphError, match="expected no NaN and no magnitude above 1e10"):
        f([-1.0])
    assert repr(NanGuardMode(big_is_error=False)).endswith("inf_is_error=True, big_is_error=False)")


def test_name_of_the_mode_class_in_the_setting_selects_the_mode():
    with sw.config.change(mode="NanGuardMode"):
        assert logarithm("cpu", mode=None).mode == "nan_guard"
