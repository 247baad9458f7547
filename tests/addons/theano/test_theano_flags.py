# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""THEANO_FLAGS, .theanorc and theano.config."""

import os
import subprocess
import sys

import pytest
from addons.theano.runner import WARNING, run_script

import spanwise as sw
from spanwise.theano import _flags

HAS_GPU = any(device.kind == "cuda" for device in sw.devices())


def test_flags_have_priority_over_files_and_later_ones_over_earlier(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(
        "[global]\nfloatX = float32\ndevice = gpu\nallow_gc = False\n[lib]\ncnmem = 0.5\n"
    )
    second.write_text("[global]\ndevice = gpu1\n[gpuarray]\npreallocate = 100\n")
    environment = {
        "THEANORC": f"{first}:{second}",
        "THEANO_FLAGS": "mode=FAST_COMPILE, floatX=float64,mode=FAST_RUN",
    }
    assert _flags.read(environment) == {
        "floatX": "float64",
        "device": "gpu1",
        "allow_gc": False,
        "lib.cnmem": 0.5,
        "gpuarray.preallocate": 100.0,
        "mode": "FAST_RUN",
    }


def test_theanorc_in_the_home_folder_is_read(tmp_path, capsys):
    (tmp_path / ".theanorc").write_text("[nvcc]\nflags = -ftz=true --prec-div=false\n")
    assert _flags.read({"HOME": str(tmp_path)}) == {"nvcc.flags": "-ftz=true --prec-div=false"}
    assert "flag nvcc.flags=-ftz=true --prec-div=false has no effect" in capsys.readouterr().err


def test_unknown_flag_is_ignored_with_a_warning(tmp_path, capsys):
    assert _flags.read({"HOME": str(tmp_path), "THEANO_FLAGS": "colour=red,floatX=float32"}) == {
        "floatX": "float32"
    }
    assert "unknown flag 'colour'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("profile", "expected flag=value, got 'profile'"),
        ("profile=maybe", "expected True or False, got 'maybe'"),
        ("lib.cnmem=much", "expected a number, got 'much'"),
    ],
)
def test_invalid_flag_raises(tmp_path, flags, expected):
    with pytest.raises(ValueError, match=expected):
        _flags.read({"HOME": str(tmp_path), "THEANO_FLAGS": flags})


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("device=opencl0", "expected cpu, gpu, gpu0, cuda, cuda0 or a name of contexts"),
        ("device=GPU", "expected cpu, gpu, gpu0"),
        ("contexts=cuda0->cuda1", "with a name of your own, got 'cuda0->cuda1'"),
        ("contexts=dev0->abacus", "expected a device cuda<number>, got 'abacus'"),
        ("mode=FASTER", "expected a mode of Mode, FAST_RUN"),
    ],
)
def test_invalid_device_or_mode_ends_the_script(tmp_path, flags, expected):
    source = "import theano\nf = theano.function([], theano.tensor.constant(1))\n"
    _, errors = run_script(tmp_path / "script.py", source, flags, status=1)
    assert expected in errors


CONFIG = """
    import theano, spanwise
    from theano import config
    print config.floatX, config.device, config.allow_gc, config.gpuarray.preallocate, repr(config.nvcc.flags)
    config.floatX = "float32"
    print theano.tensor.matrix().dtype, spanwise.config.floatX
    for statement in ("config.device = 'cpu'", "config.colour = 1", "config.colour"):
        try:
            exec statement
        except AttributeError, error:
            print error
    config.compute_test_value = "raise"
    print config.compute_test_value, spanwise.config.compute_test_value
    config.warn_float64 = "raise"
"""


def test_config_reads_sets_and_rejects_flags(tmp_path):
    printed, errors = run_script(
        tmp_path / "script.py", CONFIG, "device=gpu,allow_gc=False,lib.cnmem=1"
    )
    lines = printed.splitlines()
    assert lines[0] == "float64 gpu False 0.0 ''"
    assert lines[1] == "float32 float32"
    assert lines[2] == "theano.config.device is set at start only: use THEANO_FLAGS"
    assert lines[3].startswith("theano.config has no flag 'colour'")
    assert lines[4].startswith("theano.config has no flag 'colour'; known: ")
    assert lines[5] == "raise raise"
    assert (f"device=gpu: {WARNING}" in errors) == (not HAS_GPU)
    assert "config.warn_float64 = 'raise' has no effect" in errors


MODES = """
    import theano, theano.tensor as T
    x = T.dvector('x')
    for mode in (None, 'FAST_RUN', 'FAST_COMPILE', 'DebugMode', 'NanGuardMode', 'ProfileMode', theano.Mode(optimizer=None)):
        f = theano.function([x], T.exp(x), mode=mode)
        print f.compiled.mode, f([0.0]), f.profile is not None
"""


def test_mode_names_choose_the_rewrites(tmp_path):
    printed, errors = run_script(tmp_path / "script.py", MODES)
    assert [line.split() for line in printed.splitlines()] == [
        [mode, "[", "1.]", profiled]
        for mode, profiled in [
            ("fast_run", "False"),
            ("fast_run", "False"),
            ("fast_compile", "False"),
            ("debug", "False"),
            ("nan_guard", "False"),
            ("fast_run", "True"),
            ("fast_compile", "False"),
        ]
    ]
    assert errors.count("Function profiling") == 1
    # A function without a name is named by the line that makes it.
    assert "Message: " in errors and "script.py:5" in errors


def test_mode_and_profile_flags_apply_to_functions(tmp_path):
    source = "import theano\nf = theano.function([], theano.tensor.exp(theano.shared(1.0)))\nf()\nprint f.compiled.mode\n"
    printed, errors = run_script(tmp_path / "script.py", source, "mode=FAST_COMPILE,profile=True")
    assert printed == "fast_compile\n" and errors.count("Function profiling") == 1


#: Prints the devices that spanwise.theano chooses on a machine with two GPUs, which fakes stand for.
FAKE_GPUS = """
import types
import spanwise as sw

class Device:
    PCI_DOMAIN_ID, PCI_BUS_ID, PCI_DEVICE_ID = 0, 0x83, 0
    def __init__(self, number):
        self.number = number
    def name(self):
        return f"GPU number {self.number}"

class Config:
    device, floatX = "auto", "float64"

sw.driver.Device = Device
sw.devices = lambda: 2 * [types.SimpleNamespace(kind="cuda")]
sw.config = Config()
from spanwise.theano._config import devices
print(devices.default, devices.gpu, devices.target(None), devices.target("cpu"), sw.config.device)
print(getattr(sw.config, "preallocate", None), devices.dialect, devices.context_of("cuda:1"))
"""


def run_with_two_gpus(folder, flags):
    return subprocess.run(
        [sys.executable, "-c", FAKE_GPUS],
        env={**os.environ, "HOME": str(folder), "THEANO_FLAGS": flags},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.parametrize(
    ("flags", "values", "messages"),
    [
        (
            "device=gpu1,lib.cnmem=500",
            ["cuda:1 cuda:1 cuda:1 cpu cuda:1", "500MiB gpu None"],
            ["Using gpu device 1: GPU number 1 (0000:83:00.0)"],
        ),
        (
            "device=cuda,gpuarray.preallocate=0.8",
            ["cuda:0 cuda:0 cuda:0 cpu cuda:0", "0.8 cuda None"],
            ["Using device cuda0: GPU number 0 (0000:83:00.0)"],
        ),
        (
            "contexts=dev0->cuda0;dev1->cuda1",
            ["cpu cuda:0 cuda:0 cpu cuda:0", "None cuda dev1"],
            [
                "Mapped name dev0 to device cuda0: GPU number 0 (0000:83:00.0)",
                "Mapped name dev1 to device cuda1: GPU number 1 (0000:83:00.0)",
            ],
        ),
        ("device=cpu", ["cpu cuda:0 cuda:0 cpu cuda:0", "None cuda None"], []),
    ],
)
def test_flags_choose_among_two_gpus(tmp_path, flags, values, messages):
    done = run_with_two_gpus(tmp_path, flags)
    assert done.stdout.splitlines() == values
    assert done.stderr.splitlines() == messages


def test_gpu_that_does_not_exist_is_replaced_by_the_cpu(tmp_path):
    done = run_with_two_gpus(tmp_path, "contexts=dev0->cuda0;dev2->cuda2")
    assert done.stdout.splitlines() == ["cpu cuda:0 cuda:0 cpu cuda:0", "None cuda None"]
    assert "this machine has no cuda2, so the program runs on the CPU back end in its place" in (
        done.stderr
    )
    assert "Mapped name dev2 to device cuda2: the CPU" in done.stderr.splitlines()
