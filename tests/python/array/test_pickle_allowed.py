# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that restrict what unpickling may call, and types that cannot be pickled."""

import io
import pickle
import subprocess
import sys

import pytest
from support.arrays import assert_same, numbers

import spanwise as sw

# ---- Programs that restrict unpickling ----


class Restricted(pickle.Unpickler):
    # Before protocol 3, pickle writes bytes as a call of _codecs.encode.
    allowed = {("spanwise", "rebuild_array"), ("_codecs", "encode")}

    def find_class(self, module, name):
        if (module, name) not in self.allowed:
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed")
        return super().find_class(module, name)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_unpickler_that_allows_one_name_reads_arrays(device, protocol):
    array = sw.array(numbers((3, 4), "float32", 1), device=device).T
    stream = pickle.dumps(array, protocol)
    assert_same(Restricted(io.BytesIO(stream)).load(), array.numpy())


def test_joblib_hashes_and_caches_arrays(device, tmp_path):
    joblib = pytest.importorskip("joblib")
    array = sw.array(numbers((3, 4), "float32", 1), device=device)
    assert joblib.hash(array) == joblib.hash(array.copy())
    assert joblib.hash(array) == joblib.hash(pickle.loads(pickle.dumps(array)))
    assert joblib.hash(array) != joblib.hash(array + 1)
    calls = []

    def doubled(x):
        calls.append(x.shape)
        return x * 2

    cached = joblib.Memory(tmp_path, verbose=0).cache(doubled)
    for _ in range(2):
        assert_same(cached(array), array.numpy() * 2)
    assert calls == [(3, 4)]


def test_torch_loads_arrays_with_weights_only(device, tmp_path):
    torch = pytest.importorskip("torch")
    array = sw.array(numbers((3, 4), "float32", 1), device=device).T
    torch.save({"x": array}, tmp_path / "array.pt")
    with torch.serialization.safe_globals([sw.rebuild_array]):
        back = torch.load(tmp_path / "array.pt", weights_only=True)["x"]
    assert_same(back, array.numpy())


KERNEL = 'sw.SourceModule("__global__ void f(float* x) { x[0] = 1; }", device="cpu")'
HANDLES = {
    "Stream": "sw.Stream('cpu')",
    "Event": "sw.Event()",
    "DeviceProperties": "sw.device('cpu').properties",
    "Exchange": "sw.explain(sw.zeros(2), 'numpy')",
    "KernelCacheInfo": "sw.kernel_cache.info()",
    "_KernelCache": "sw.kernel_cache",
    "KernelLaunch": f"{KERNEL}.get_function('f')[1, 1]",
    "KernelAttributes": f"{KERNEL}.get_function('f').attributes",
    "KernelParameter": f"{KERNEL}.get_function('f').parameters[0]",
    "strict_copies": "sw.strict_copies()",
    "_Flags": "sw.zeros(2).flags",
    "_OpHandle": "sw._core._make_op('exp', {})",
    "In": "sw.driver.In(sw.zeros(2))",
    "DeviceAllocation": "sw.driver.mem_alloc(16)",
}
REFUSING = """
import copy, pickle, sys
import spanwise as sw, spanwise.driver
with sw.device("cpu"):
    handle = {expression}
assert type(handle).__name__ == {name!r}, type(handle)
attempts = [lambda p=p: pickle.dumps(handle, p) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
for attempt in [*attempts, lambda: copy.copy(handle), lambda: copy.deepcopy(handle)]:
    try:
        attempt()
    except (TypeError, pickle.PicklingError) as error:
        print(error)
    else:
        sys.exit("no error")
"""


@pytest.mark.parametrize("name", HANDLES)
def test_process_handles_cannot_be_pickled(name):
    program = REFUSING.format(expression=HANDLES[name], name=name)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == pickle.HIGHEST_PROTOCOL + 3


def test_every_type_defines_how_it_is_pickled():
    undefined = [
        name
        for name, kind in vars(sw._core).items()
        if isinstance(kind, type)
        and not issubclass(kind, BaseException)
        and kind.__module__.partition(".")[0] == "spanwise"
        and kind.__reduce__ is object.__reduce__
        and kind.__reduce_ex__ is object.__reduce_ex__
    ]
    assert not undefined
