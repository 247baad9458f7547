# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of Theano's and PyCUDA's old tutorials run with their own imports.

The files ``*.txt`` beside this one are the texts as published, with line ends and indentation repaired; the
number in front distinguishes versions of one program, such as 002_pycuda and 004_pycuda. Long loops are
shortened when the programs run. Sessions are compared line by line.
"""

import importlib.util
import re
from pathlib import Path

import pytest
from addons.theano.runner import WARNING, run_script

import spanwise as sw

PROGRAMS = Path(__file__).parent
HAS_GPU = any(device.kind == "cuda" for device in sw.devices())
NUMBER = re.compile(r"\d\.\d+")
# The first and last three elements of the result that the tutorial prints.
FIRST = [1.23178029, 1.61879337, 1.52278066]
LAST = [2.20771813, 2.29967761, 1.62323284]

needs_pycuda = pytest.mark.skipif(
    importlib.util.find_spec("spanwise.pycuda") is None, reason="needs spanwise.pycuda"
)


def text_of(name):
    text = (PROGRAMS / f"{name}.txt").read_text()
    text = text.replace("iters = 1000\n", "iters = 3\n")
    return text.replace("training_steps = 10000\n", "training_steps = 20\n")


@pytest.fixture
def run(tmp_path):
    def run(name, flags="", after=""):
        printed, errors = run_script(tmp_path / f"{name}.py", text_of(name) + after, flags)
        on_gpu = "device=gpu" in flags or "device=cuda" in flags or "contexts=" in flags
        assert (WARNING in errors) == (on_gpu and not HAS_GPU)
        return printed.splitlines()

    return run


CHECKS = [
    (
        "002_check1",
        "mode=FAST_RUN,device=cpu,floatX=float32",
        "[Elemwise{exp,no_inplace}(<TensorType(float32, vector)>)]",
        "Used the cpu",
    ),
    (
        "002_check1",
        "mode=FAST_RUN,device=gpu,floatX=float32",
        "[GpuElemwise{exp,no_inplace}(<CudaNdarrayType(float32, vector)>), "
        "HostFromGpu(GpuElemwise{exp,no_inplace}.0)]",
        "Used the gpu",
    ),
    (
        "002_check2",
        "mode=FAST_RUN,device=gpu,floatX=float32",
        "[GpuElemwise{exp,no_inplace}(<CudaNdarrayType(float32, vector)>)]",
        "Used the gpu",
    ),
    (
        "002_gpuarray_check1",
        "device=cpu",
        "[Elemwise{exp,no_inplace}(<TensorType(float64, vector)>)]",
        "Used the cpu",
    ),
    (
        "002_gpuarray_check1",
        "device=cuda0",
        "[GpuElemwise{exp,no_inplace}(<GpuArray<float64>>), "
        "HostFromGpu(gpuarray)(GpuElemwise{exp,no_inplace}.0)]",
        "Used the gpu",
    ),
    (
        "002_gpuarray_check2",
        "device=cuda0",
        "[GpuElemwise{exp,no_inplace}(<GpuArray<float64>>)]",
        "Used the gpu",
    ),
]


@pytest.mark.parametrize(("name", "flags", "nodes", "used"), CHECKS)
def test_exp_loop_prints_the_published_values(run, name, flags, nodes, used):
    lines = run(name, flags)
    assert lines[0] == nodes
    assert re.fullmatch(r"Looping 3 times took [\d.e-]+ seconds", lines[1])
    assert lines[-1] == used
    prints_handle = name == "002_check2"
    if prints_handle:
        assert re.fullmatch(r"Result is <CudaNdarray object at 0x[0-9a-f]+>", lines[2])
    printed = " ".join(lines[2 + prints_handle : -1])
    assert printed.startswith("Numpy result is [" if prints_handle else "Result is [")
    values = [float(number) for number in NUMBER.findall(printed)]
    assert values == pytest.approx(FIRST + LAST, rel=5e-7)


@pytest.mark.parametrize("name", ["002_logistic", "002_solution"])
@pytest.mark.parametrize("device", ["cpu", "gpu", "cuda"])
def test_logistic_regression_predicts_a_class_for_each_row(run, name, device):
    lines = run(name, f"device={device},floatX=float32")
    assert lines[0] == ("Used the cpu" if device == "cpu" else "Used the gpu")
    assert lines[1] == "target values for D"
    middle = lines.index("prediction on D")
    targets, predictions = (
        re.findall(r"[01]|True|False", " ".join(part))
        for part in (lines[2:middle], lines[middle + 1 :])
    )
    assert len(targets) == len(predictions) == 400
    # Comparisons are bool, as in Theano 1.0; a transferred result was cast to float32.
    assert set(targets) == {"0", "1"} and set(predictions) in ({"0", "1"}, {"True", "False"})


def test_profile_of_the_solution_has_theanos_tables(tmp_path):
    flags = "profile=True,device=gpu"
    text = text_of("002_solution")
    _, errors = run_script(
        tmp_path / "solution.py", text, flags, environment={"CUDA_LAUNCH_BLOCKING": "1"}
    )
    reports = errors.split("Function profiling\n==================\n")[1:]
    messages = [report.splitlines()[0].strip() for report in reports]
    assert messages[:2] == ["Message: train", "Message: predict"]
    last = reports[-1].splitlines()
    assert last[0] == "  Message: Sum of all(2) printed profiles at exit excluding Scan op profile."
    assert last[1].startswith("  Time in 21 calls to Function.__call__: ")
    for head in (
        "<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <Class name>",
        "<% time> <sum %> <apply time> <time per call> <type> <#call> <#apply> <Op name>",
        "<% time> <sum %> <apply time> <time per call> <#call> <id> <Apply name>",
    ):
        assert head in last
    assert any(line.endswith("theano.sandbox.cuda.blas.GpuGemv") for line in last)
    row = next(line.split() for line in last if line.endswith("   GpuGemv{no_inplace}"))
    # One node computes both products of a training step and runs 20 times; that of predict runs once.
    assert row[4:7] == ["C", "21", "2"]


def test_borrowed_outputs_stay_on_the_device(run):
    after = """
train = theano.function(
    inputs=[],
    outputs=[Out(theano.sandbox.cuda.basic_ops.gpu_from_host(tt.cast(prediction, 'float32')), borrow=True),
             Out(theano.sandbox.cuda.basic_ops.gpu_from_host(tt.cast(xent, 'float32')), borrow=True)],
    updates={w: w - 0.01 * gw, b: b - 0.01 * gb},
    name="train")
print([type(result).__name__ for result in train()])
"""
    lines = run("002_solution", "device=gpu", after)
    assert lines[-1] == "['CudaNdarray', 'CudaNdarray']"


SESSION = """
import doctest, sys, numpy, theano, theano.tensor as T
from theano import shared
names = dict(numpy=numpy, theano=theano, T=T, shared=shared)
result = doctest.testfile(sys.argv[1], module_relative=False, globs=names)
print("%d examples, %d failures" % (result.attempted, result.failed))
"""


@pytest.mark.parametrize(
    ("name", "flags", "examples"),
    [
        ("001_session", "device=cuda", 19),
        (
            "001_contexts_session",
            "contexts=dev0->cuda0;dev1->cuda1,floatX=float32,gpuarray.preallocate=0.8",
            4,
        ),
    ],
)
def test_published_session_prints_the_same(tmp_path, name, flags, examples):
    # The published output shows an unnamed matrix, although the session has named it "a" before.
    text = text_of(name).replace(">>> b = a.transfer('cpu')", ">>> b = T.matrix().transfer('cpu')")
    file = tmp_path / "session.txt"
    file.write_text(text)
    printed, errors = run_script(tmp_path / "session.py", SESSION, flags, [str(file)])
    assert printed == f"{examples} examples, 0 failures\n"
    if "contexts" in flags:
        assert "Mapped name dev0 to device cuda0: " in errors
        assert "Mapped name dev1 to device cuda1: " in errors


@needs_pycuda
def test_pycuda_kernel_multiplies_cudandarrays(run):
    assert run("000_multiply", after="test_pycuda_theano()\nprint 'done'\n") == ["done"]


@needs_pycuda
@pytest.mark.parametrize("name", ["002_pycuda", "004_pycuda"])
def test_pycuda_example_multiplies(run, name):
    after = "assert (dest == a * b).all() and dest.size == 400\nprint 'done'\n"
    assert run(name, after=after)[-1] == "done"


@needs_pycuda
@pytest.mark.parametrize("name", ["000_double_op", "002_double_op", "004_double_op"])
@pytest.mark.parametrize("flags", ["", "device=gpu,floatX=float32"])
def test_double_op_doubles_and_stays_in_the_graph(run, name, flags):
    session = text_of("002_double_op_session").replace(">>> ", "")
    lines = run(name, flags, session + "print f.maker.fgraph.toposort()[-1].op\n")
    assert lines[:4] == [
        "[[ 2.  2.  2.  2.  2.]",
        *[" [ 2.  2.  2.  2.  2.]"] * 2,
        " [ 2.  2.  2.  2.  2.]]",
    ]
    assert lines[4] == "PyCUDADoubleOp"
