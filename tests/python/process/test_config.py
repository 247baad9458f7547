# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Settings: attributes, temporary changes, environment variables, and the listing of the command
line."""

import os
import subprocess
import sys

import pytest

import spanwise as sw


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_settings_are_attributes():
    assert sw.config.floatX in ("float16", "float32", "float64")
    assert "floatX" in dir(sw.config)
    assert "floatX=" in repr(sw.config)


def test_change_is_undone_at_the_end_of_the_block():
    before = sw.config.floatX
    with sw.config.change(floatX="float32") as inside:
        assert inside is sw.config
        assert sw.config.floatX == "float32"
        with sw.config.change(floatX="float16", cpu_thread_order="reverse"):
            assert (sw.config.floatX, sw.config.cpu_thread_order) == ("float16", "reverse")
        assert sw.config.floatX == "float32"
    assert sw.config.floatX == before
    with pytest.raises(KeyError), sw.config.change(floatX="float32"):
        raise KeyError
    assert sw.config.floatX == before


def test_failed_change_is_rolled_back():
    before = (sw.config.floatX, sw.config.cpu_thread_order)
    for values in (
        {"floatX": "float32", "cpu_thread_order": "sideways"},
        {"floatX": "float32", "no_such_setting": 1},
    ):
        with pytest.raises(sw.ArgumentError), sw.config.change(**values):
            pytest.fail("entered")
        assert (sw.config.floatX, sw.config.cpu_thread_order) == before


def test_numbers_and_bools_are_parsed():
    with sw.config.change(cpu_threads=2):
        assert sw.config.cpu_threads == 2
    with sw.config.change(launch_blocking=True):
        assert sw.config.launch_blocking is True
    with sw.config.change(launch_blocking=False):
        assert sw.config.launch_blocking is False


def test_error_for_an_unknown_setting_names_the_nearest():
    for use in (
        lambda: sw.config.floatx,
        lambda: setattr(sw.config, "floatx", "float32"),
        lambda: sw.config.change(floatx="float32").__enter__(),
    ):
        with pytest.raises(sw.ArgumentError, match="floatX"):
            use()


def test_invalid_value_raises_naming_the_choices():
    with pytest.raises(sw.ArgumentError, match=r"float16.*float32.*float64"):
        sw.config.floatX = "float31"
    with pytest.raises(sw.ArgumentError):
        sw.config.device = "abacus"


def test_the_default_device_is_a_setting():
    with sw.config.change(device="cpu"):
        assert sw.default_device() == "cpu"
        assert sw.zeros(2).device == "cpu"


def test_environment_variables_set_the_initial_values():
    program = "import spanwise as sw; print(sw.config.floatX, sw.default_device())"
    done = run("-c", program, SPANWISE_FLOATX="float16", SPANWISE_DEVICE="cpu")
    assert (done.returncode, done.stdout) == (0, "float16 cpu\n")


def test_invalid_environment_variable_raises_at_first_use():
    done = run("-c", "import spanwise as sw; sw.config.floatX", SPANWISE_FLOATX="float31")
    assert done.returncode == 1
    assert "float31" in done.stderr
    assert "ArgumentError" in done.stderr


def test_the_command_lists_value_source_and_meaning():
    done = run("-m", "spanwise", "config", SPANWISE_FLOATX="float16")
    assert done.returncode == 0, done.stderr
    assert "floatX = float16  (environment, SPANWISE_FLOATX)" in done.stdout
    for name in dir(sw.config):
        if not name.startswith("_") and name != "change":
            assert f"\n{name} = " in done.stdout


def test_the_command_lists_only_named_settings():
    done = run("-m", "spanwise", "config", "floatX")
    assert "floatX = " in done.stdout
    assert "cpu_threads" not in done.stdout
    done = run("-m", "spanwise", "config", "floatx")
    assert done.returncode == 2
    assert "floatX" in done.stdout


@pytest.mark.parametrize("arguments", [(), ("dance",)])
def test_missing_command_raises(arguments):
    done = run("-m", "spanwise", *arguments)
    assert done.returncode == 2
    assert "doctor" in done.stderr
    assert run("-m", "spanwise", "--help").stdout.startswith("usage")


def test_an_unknown_setting_is_an_attribute_error_too():
    assert not hasattr(sw.config, "no_such_setting")
    assert getattr(sw.config, "no_such_setting", 3) == 3
    with pytest.raises(sw.ArgumentError, match="no setting is called") as caught:
        sw.config.no_such_setting  # noqa: B018
    assert isinstance(caught.value, AttributeError)
