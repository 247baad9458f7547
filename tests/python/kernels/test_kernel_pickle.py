# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel is pickled as the arguments of its constructor; a process constructs equal kernels once."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from python.graph.plugins.compile_plugin import SOURCES, compile_plugin

import spanwise as sw

SOURCE = """
extern "C" __global__ void twice(float *x, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
template <class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
"""
LAUNCHER = 'extern "C" void twice(float *x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }'


def launched(kernel, *arguments):
    x = sw.arange(4, dtype="float32")
    kernel(x, *arguments, block=4)
    return x.tolist()


#: name -> (a function that makes the object, one that uses the unpickled object, its expected result)
KINDS = {
    "module": (
        lambda folder: sw.SourceModule(SOURCE),
        lambda m: launched(m.get_function("twice"), 4),
        [0, 2, 4, 6],
    ),
    "module of a file": (
        lambda folder: sw.SourceModule(path=folder / "twice.cu", names=["scale<float>"]),
        lambda m: launched(m.get_function("scale<float>"), 3),
        [0, 3, 6, 9],
    ),
    "kernel": (
        lambda folder: sw.SourceModule(SOURCE).get_function("twice"),
        lambda kernel: launched(kernel, 4),
        [0, 2, 4, 6],
    ),
    "bound kernel": (
        lambda folder: (
            sw.SourceModule(SOURCE).get_function("twice").bind(args=["contiguous float32*", "int"])
        ),
        lambda kernel: (
            lambda x: (kernel(x[::-2], 2, block=4), x.tolist())[1]
        )(sw.arange(4, dtype="float32")),
        [0, 2, 2, 6],
    ),
    "elementwise of values": (
        lambda folder: sw.ElementwiseKernel("T x, float32 by", "T y", "y = x * by", "times"),
        lambda kernel: kernel(sw.arange(3, dtype="float32"), 2).tolist(),
        [0, 2, 4],
    ),
    "elementwise of pointers": (
        lambda folder: sw.ElementwiseKernel("float *x, float a", "x[i] *= a", options=["-DA=1"]),
        lambda kernel: (lambda x: (kernel(x, 3), x.tolist())[1])(sw.arange(3, dtype="float32")),
        [0, 3, 6],
    ),
    "reduction": (
        lambda folder: sw.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "squares"),
        lambda kernel: kernel(sw.arange(4, dtype="float32")).item(),
        14,
    ),
    "scan": (
        lambda folder: sw.ExclusiveScanKernel(np.int32, "a + b", neutral=0),
        lambda kernel: kernel(sw.arange(1, 4, dtype="int32")).tolist(),
        [0, 1, 3],
    ),
    "function of a kernel op": (
        lambda folder: doubled(),
        lambda f: f(np.arange(3, dtype="float32")).tolist(),
        [0, 2, 4],
    ),
}  # fmt: skip


def doubled():
    """A compiled function with a kernel op that doubles its input."""
    x = sw.tensor.fvector("x")
    op = sw.kernel_op(
        "twice",
        "__global__ void twice(const float *x, float *y, int n)"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }",
        inputs="x: contiguous float32[n]",
        outputs="y: contiguous float32[n]",
    )
    return sw.function([x], op(x))


def loaded_elsewhere(pickled, use, folder):
    """What a new process prints for `use`, an expression of `loaded`, the unpickled object."""
    file = folder / "pickled"
    file.write_bytes(pickled)
    program = f"import pickle; import spanwise as sw; loaded = pickle.load(open({str(file)!r}, 'rb')); print({use})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "twice.cu").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_unpickled_object_gives_the_same_result(kind, folder):
    make, use, expected = KINDS[kind]
    kernel = make(folder)
    again = pickle.loads(pickle.dumps(kernel))
    assert type(again) is type(kernel)
    assert use(again) == expected
    assert use(pickle.loads(pickle.dumps(again, protocol=2))) == expected


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "function" not in kind])
def test_process_makes_each_kernel_once(kind, folder):
    first, second = (pickle.dumps(KINDS[kind][0](folder)) for _ in range(2))
    loaded = []
    threads = [
        threading.Thread(target=lambda p=p: loaded.append(pickle.loads(p)))
        for p in (first, second, first)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loaded) == 3 and loaded[0] is loaded[1] is loaded[2]


def test_file_that_changed_is_compiled_again(folder):
    pickled = pickle.dumps(sw.SourceModule(path=folder / "twice.cu"))
    before = pickle.loads(pickled)
    (folder / "twice.cu").write_text(SOURCE.replace("*= 2", "*= 5"))
    after = pickle.loads(pickled)
    assert after is not before
    assert launched(after.get_function("twice"), 4) == [0, 5, 10, 15]


def test_kernels_run_in_another_process(folder):
    """One new process unpickles kernels of all kinds from their source."""
    module = sw.SourceModule(SOURCE)
    kernels = {
        "module": module,
        "bound": module.get_function("twice").bind(args=["contiguous float32*", "int32"]),
        "times": KINDS["elementwise of values"][0](folder),
        "squares": KINDS["reduction"][0](folder),
        "running": sw.InclusiveScanKernel(np.float32, "a + b"),
        "doubled": doubled(),
    }
    use = (
        "(lambda x: (loaded['bound'](x[::2], 2, block=2), loaded['module'].get_function('twice')(x, 4, block=4), "
        "x.tolist(), loaded['times'](x, 2).tolist(), loaded['squares'](x).item(), "
        "loaded['doubled'](x).tolist(), loaded['running'](x).tolist()))(sw.arange(4, dtype='float32'))[2:]"
    )
    assert loaded_elsewhere(pickle.dumps(kernels), use, folder) == (
        "([0.0, 2.0, 8.0, 6.0], [0.0, 4.0, 16.0, 12.0], 104.0, [0.0, 4.0, 16.0, 12.0], "
        "[0.0, 2.0, 10.0, 16.0])"
    )


def test_host_launcher_runs_in_another_process(folder):
    (folder / "twice.cpp").write_text(LAUNCHER)
    library = folder / "libtwice.so"
    subprocess.run(
        ["c++", "-shared", "-fPIC", "-o", library, folder / "twice.cpp"], check=True, timeout=60
    )
    launcher = sw.HostLibrary(library).launcher("twice", "float*, int")
    again = pickle.loads(pickle.dumps(launcher))
    assert again is pickle.loads(pickle.dumps(launcher))
    assert again.parameters[1].name == launcher.parameters[1].name
    use = "(lambda x: (loaded(x, 3), x.tolist())[1])(sw.arange(3, dtype='float32', device='cpu'))"
    assert loaded_elsewhere(pickle.dumps(launcher), use, folder) == "[0.0, 2.0, 4.0]"
    pickled = pickle.dumps(launcher).replace(b"libtwice", b"libthree")
    with pytest.raises(sw.DeviceError, match="libthree.so"):
        pickle.loads(pickled)


def test_plugin_is_loaded_in_another_process(folder):
    library = compile_plugin(
        "g++ -std=c++20 -DNAMESPACE=sent", SOURCES / "many_ops.cpp", folder / "a.so"
    )
    ops = sw.load_ops(library)
    x = sw.tensor.dvector("x")
    f = sw.function([x], ops.increment(x), device="cpu")
    use = "(loaded[0]([1.0]).tolist(), loaded[1].increment(sw.ones(1, device='cpu')).tolist())"
    assert loaded_elsewhere(pickle.dumps((f, ops)), use, folder) == "([2.0], [2.0])"


def test_launch_configuration_cannot_be_pickled():
    kernel = sw.SourceModule(SOURCE).get_function("twice")
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(kernel[(1,), (4,)])
