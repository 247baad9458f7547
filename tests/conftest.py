# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures and settings of all Python tests: the devices of this machine, and the profiles of
hypothesis."""

import os
import random
import shutil
import signal

import pytest
from support import cuda_process

cuda_process.leave_gpu_memory_to_others()
# A shell starts background jobs with Ctrl-C ignored, which the programs of tests would inherit.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

try:
    from hypothesis import settings
except ImportError:  # without it only the tests run that do not import it
    pass
else:
    # A first call may compile or load a library, so no deadline. CI derives the examples from the
    # test alone, so that a new failure comes from the change.
    settings.register_profile("dev", deadline=None, max_examples=100)
    settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True)
    settings.register_profile("long", deadline=None, max_examples=5000)
    settings.load_profile(
        os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev")
    )


def _devices_present():
    """The CPU, and the first GPU where there is one."""
    try:
        import spanwise as sw
    except ImportError:  # tests of the tree itself run without the package
        return ["cpu"]
    present = [str(device) for device in sw.devices()]
    return [name for name in ("cpu", "cuda:0") if name in present]


@pytest.fixture(scope="session", params=_devices_present())
def device(request):
    """Each device of this machine in turn, as a spanwise.device."""
    import spanwise as sw

    return sw.device(request.param)


@pytest.fixture(scope="session")
def gpu():
    """The first GPU; the test is skipped where there is none."""
    import spanwise as sw

    if all(device.kind != "cuda" for device in sw.devices()):
        pytest.skip("needs a GPU")
    return sw.device("cuda:0")


@pytest.fixture(scope="session")
def two_gpus():
    """The first two GPUs; the tests are skipped where there are not two."""
    import spanwise as sw

    gpus = [device for device in sw.devices() if device.kind == "cuda"]
    if len(gpus) < 2:
        pytest.skip(f"needs two GPUs, and there {'is' if len(gpus) == 1 else 'are'} {len(gpus)}")
    return gpus[0], gpus[1]


@pytest.fixture(autouse=True)
def keeps_cuda_context():
    """Fails a test that leaves this thread another current CUDA context than it found.

    Other libraries' calls go to the current context, so the next test would run on another GPU. A
    thread that had none may get that of the first GPU (docs/adr/0002-cuda-at-run-time.md).
    """
    before = cuda_process.current_context()
    yield
    after, gpu = cuda_process.current_context(), cuda_process.current_gpu()
    if after != before and not (before is None and gpu == 0):
        cuda_process.restore_context(before)
        pytest.fail(f"the test leaves GPU {gpu} current: context {after} instead of {before}")


@pytest.fixture(params=["g++", "clang++"])
def compiler(request, device, monkeypatch):
    """Each installed C++ compiler in turn, where kernels run on the CPU; on a GPU the test runs once."""
    import spanwise as sw

    if device.kind != "cpu":
        if request.param != "g++":
            pytest.skip("a GPU's kernels are compiled by NVRTC")
    elif shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    monkeypatch.setenv("CXX", request.param)
    with sw.config.change(launch_blocking=sw.config.launch_blocking):
        # Kernels in memory are looked up anew, with CXX, after any change of the settings.
        yield request.param


@pytest.fixture(scope="session")
def poisoned(device):
    """poisoned(shape, dtype): an array on the device whose bytes are a known poison pattern.

    An output that an operation has not written completely then differs from the expected values.
    """
    from support.arrays import poisoned as make

    return lambda shape, dtype="float32": make(shape, dtype, device)


def pytest_addoption(parser):
    parser.addoption("--shuffle-files", metavar="SEED", help="run the test files in random order")


def pytest_collection_modifyitems(config, items):
    """With --shuffle-files, the order of files follows from the seed; within a file it stays."""
    if seed := config.getoption("--shuffle-files"):
        files = sorted({str(item.path) for item in items})
        random.Random(seed).shuffle(files)
        position = {file: i for i, file in enumerate(files)}
        items.sort(key=lambda item: position[str(item.path)])
