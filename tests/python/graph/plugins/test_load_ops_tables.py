# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""sw.load_ops: libraries in plain C, inconsistent tables, and files that are not plug-ins."""

import shutil
import subprocess
import sys
import textwrap

import pytest
from python.graph.plugins.compile_plugin import SOURCES, compile_plugin

import spanwise as sw


@pytest.fixture(scope="module", params=["gcc -std=c99 -pedantic", "clang -std=c11"])
def plain(request, tmp_path_factory):
    return compile_plugin(
        request.param, SOURCES / "plain_ops.c", tmp_path_factory.mktemp("c") / "libplain.so"
    )


def test_library_in_c_computes_and_compares_ops_by_properties(plain):
    # In another process: libraries by the two C compilers register the same names.
    program = """
        import sys, numpy as np, spanwise as sw
        plain = sw.load_ops(sys.argv[1])
        x = sw.tensor.dmatrix()
        f = sw.function([x], plain.scale(x, factor=3), device="cpu")
        values = np.arange(24.0).reshape(4, 6)
        for view in (values, values.T, values[::-2, 1::3], values[:, :0]):
            assert np.array_equal(f(view), view * 3), view
        slope = sw.tensor.grad(plain.scale(x, factor=3).sum(), x)
        assert np.array_equal(sw.function([x], slope, device="cpu")(values), np.full((4, 6), 3.0))
        assert plain.scale(x, factor=3).owner.op == sw.ops.plain.scale(x, factor=3.0).owner.op
        assert plain.scale(x, factor=3).owner.op != plain.scale(x, factor=4).owner.op
        try:
            plain.scale(sw.tensor.fmatrix(), factor=1)
        except sw.DTypeError as error:
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(plain)]
    completed = subprocess.run(command, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout == "plain.scale{factor=1}: x: expected float64\n"


#: By the value of SW_TEST_FAULT, which plain_ops.c reads: the error text.
FAULTS = {
    "newer major": r"version 2\.\d of the interface; expected version 1",
    "short plugin": "its table has 16 bytes",
    "no namespace": "its namespace is none",
    "bad namespace": "its namespace is not a name; expected a name in Python",
    "namespace of an op": "its namespace add is the name of an op",
    "no ops": "has 0 ops",
    "null op": "op 0 has no table",
    "twice": "has two ops named plain.scale",
    "short op": r"op plain\.\?: its table has 40 bytes",
    "nameless op": r"op plain\.none: is no name",
    "bad op name": r"op plain\.2scale: is no name",
    "no infer": "plain.scale: has no infer",
    "no run": "plain.scale: has no run",
    "create alone": "has one of create and destroy",
    "runs nowhere": "runs nowhere",
    "no outputs": "has 1 inputs and 0 outputs",
    "properties nowhere": "properties are 1 at no address",
    "two properties": "has two properties factor",
    "property kind": "property factor is of kind 9",
    "alias": "views names output 0 and input 7",
    "reusable": "reusable_inputs names input 3",
    "gradient of another library": "its gradient_op add is no op of the library",
    "gradient input count": "gives its gradient_op plain.scale 2 inputs; expected 1",
    "all gradient inputs": "gives its gradient_op plain.scale 3 inputs; expected 1",
    "gradient inputs nowhere": "gradient_inputs are 1 at no address",
    "gradient output": "gradient_inputs has output 1 of 1",
    "gradient kind": "gradient_inputs has kind 9",
    "gradient wrt count": "gradient_wrt names 2 inputs, and its gradient_op plain.scale has 1 outputs",
    "gradient wrt": "is the derivative with respect to input 1; expected distinct inputs of 1",
    "element names": "element_names are 2 at no address",
    "needed_if": "needed_if names input 0 and condition 0; expected two of its inputs, and SW_LAZY",
    "fails silently": "gives status 42 and no reason",
    "no table": "gives no table",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_inconsistent_table_raises_and_registers_no_op(faulty, monkeypatch, fault):
    monkeypatch.setenv("SW_TEST_FAULT", fault)
    before = sw._core._op_names()
    with pytest.raises(sw.GraphError, match=f"libfaulty.so: .*{FAULTS[fault]}"):
        sw.load_ops(faulty)
    assert sw._core._op_names() == before


def test_library_that_rejects_loading_gives_a_reason(faulty, monkeypatch):
    monkeypatch.setenv("SW_TEST_FAULT", "fails")
    with pytest.raises(sw.DeviceError, match="libfaulty.so: needs a licence"):
        sw.load_ops(faulty)


@pytest.fixture(scope="module")
def faulty_library(tmp_path_factory):
    library = tmp_path_factory.mktemp("faulty") / "libfaulty.so"
    return compile_plugin("gcc -std=c99", SOURCES / "plain_ops.c", library)


@pytest.fixture
def faulty(faulty_library, tmp_path):
    """A copy for each test: a rejected library stays loaded, with the tables that its code changed."""
    return shutil.copy(faulty_library, tmp_path)


def test_file_that_is_not_a_plug_in_raises(tmp_path):
    with pytest.raises(
        sw.ArgumentError, match=r"expected a shared library, got \".*/missing\.so\""
    ):
        sw.load_ops(tmp_path / "missing.so")
    text = tmp_path / "text.so"
    text.write_text("no library")
    with pytest.raises(sw.ArgumentError, match="expected a shared library"):
        sw.load_ops(text)
    source = tmp_path / "empty.c"
    source.write_text("int nothing;\n")
    library = compile_plugin("gcc", source, tmp_path / "libempty.so")
    with pytest.raises(sw.GraphError, match="exports no function spanwise_plugin"):
        sw.load_ops(library)


def test_cpp_exception_from_a_c_table_is_caught(tmp_path):
    source = tmp_path / "throws.cpp"
    source.write_text(
        "#include <spanwise/plugin.h>\n"
        "sw_status spanwise_plugin(const sw_host*, sw_call*, const sw_plugin**) { throw 1; }\n"
    )
    library = compile_plugin("g++ -std=c++20", source, tmp_path / "libthrows.so")
    with pytest.raises(sw.GraphError, match=r"libthrows.so: the plug-in let a C\+\+ exception out"):
        sw.load_ops(library)


def test_rejected_library_that_started_a_thread_stays_loaded(tmp_path):
    """The thread executes code of the library, so the library must stay loaded."""
    source = tmp_path / "threads.c"
    source.write_text("""
        #include <pthread.h>
        #include <stdio.h>
        #include <unistd.h>
        static int rounds;
        static void* run(void* unused) {
            for (;; usleep(100)) __atomic_add_fetch(&rounds, 1, __ATOMIC_SEQ_CST);
            return unused;
        }
        __attribute__((constructor)) static void start(void) {
            pthread_t thread;
            pthread_create(&thread, NULL, run, NULL);
        }
        __attribute__((destructor)) static void stop(void) { puts("unloaded"); }
    """)
    library = compile_plugin("gcc -pthread", source, tmp_path / "libthreads.so")
    program = """
        import os, sys, time, spanwise as sw
        for _ in range(3):
            try:
                sw.load_ops(sys.argv[1])
            except sw.GraphError as error:
                assert "exports no function spanwise_plugin" in str(error)
            time.sleep(0.1)
        print("alive", flush=True)
        os._exit(0)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(library)]
    completed = subprocess.run(command, capture_output=True, text=True)
    assert (completed.returncode, completed.stdout) == (0, "alive\n"), completed.stderr


def test_rejected_library_can_be_rebuilt_and_loaded(tmp_path):
    source = tmp_path / "ops.c"
    library = tmp_path / "librebuilt.so"
    for _ in range(3):
        source.write_text("int nothing;\n")
        library.unlink(missing_ok=True)
        compile_plugin("gcc", source, library)
        for _ in range(2):
            with pytest.raises(sw.GraphError, match="exports no function spanwise_plugin"):
                sw.load_ops(library)
    library.unlink()
    source.write_text((SOURCES / "plain_ops.c").read_text().replace('"plain"', '"rebuilt"'))
    compile_plugin("gcc -std=c99", source, library)
    for _ in range(2):
        assert sw.load_ops(library) == sw.ops.rebuilt
