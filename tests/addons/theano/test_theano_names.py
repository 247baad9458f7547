# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of spanwise.theano, which docs/coming-from-theano.md lists, and what imports it.

With SPANWISE_WRITE_DOCS=1 in the environment, the list is written instead of compared.
"""

import json
import os
import re
import subprocess
import sys
import textwrap

import pytest
from addons.theano.runner import run_script
from support.tree import ROOT

PAGE = ROOT / "docs" / "coming-from-theano.md"
BLOCK = re.compile(r"(<!-- names: [^\n]*-->\n)(.*?)(<!-- end of names -->)", re.DOTALL)
EXAMPLE = re.compile(r"^```py\n(.*?)^```\n\n^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSTRUCTOR = re.compile(r"[bwilfdcz]?(scalar|vector|row|col|matrix|tensor[345]|matrices)s?\Z")

MODULES = [
    "theano",
    "theano.tensor",
    "theano.tensor.extra_ops",
    "theano.tensor.nlinalg",
    "theano.tensor.nnet",
    "theano.tensor.opt",
    "theano.tensor.shared_randomstreams",
    "theano.tensor.signal.conv",
    "theano.tensor.signal.downsample",
    "theano.tensor.signal.pool",
    "theano.tensor.slinalg",
    "theano.compile",
    "theano.gof",
    "theano.gradient",
    "theano.ifelse",
    "theano.printing",
    "theano.sandbox.cuda",
    "theano.sandbox.cuda.basic_ops",
    "theano.sandbox.cuda.var",
    "theano.sandbox.rng_mrg",
    "theano.gpuarray",
    "theano.gpuarray.basic_ops",
    "theano.misc.pycuda_init",
    "theano.misc.pycuda_utils",
    "theano.misc.cudamat_utils",
    "theano.misc.gnumpy_utils",
]
#: Prints {module: names of its __all__} for the JSON list of modules that replaces %s.
LIST = """
import importlib, json
import theano
modules = json.loads('''%s''')
listed = {}
for name in modules:
    module = importlib.import_module(name)
    names = module.__all__
    assert all(hasattr(module, key) for key in names), name
    listed[name] = sorted(set(names))
print(json.dumps(listed))
"""


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    path = tmp_path_factory.mktemp("names") / "script.py"
    printed, _ = run_script(path, LIST % json.dumps(MODULES))
    return json.loads(printed)


def table(names):
    lines = ["| module | names |", "|---|---|"]
    for module, module_names in names.items():
        shown = [f"`{name}`" for name in module_names if not CONSTRUCTOR.match(name)]
        if module == "theano.tensor":
            shown.insert(0, "`scalar` to `tensor5`, with a prefix of `bwilfdcz` and in the plural,")
        lines.append(f"| `{module}` | {' '.join(shown)} |")
    return "\n".join(lines) + "\n"


def test_page_lists_the_names(names):
    text = PAGE.read_text()
    expected = BLOCK.sub(lambda match: match[1] + table(names) + match[3], text)
    if os.environ.get("SPANWISE_WRITE_DOCS"):
        PAGE.write_text(expected)
    assert PAGE.read_text() == expected, "run this test with SPANWISE_WRITE_DOCS=1"


def test_names_that_old_scripts_use_most_exist(names):
    assert {"function", "shared", "config", "Op", "Apply", "Out", "grad"} <= set(names["theano"])
    common = (
        "dot exp log tanh sqr neq eq switch cast grad alloc zeros_like TensorType Elemwise nnet"
    )
    assert set(common.split()) <= set(names["theano.tensor"])
    # 8 constructors in the singular and the plural, with one of 8 prefixes or without.
    assert len([name for name in names["theano.tensor"] if CONSTRUCTOR.match(name)]) == 8 * 2 * 9


@pytest.mark.parametrize("number", range(2))
def test_examples_of_the_page_print_what_it_shows(tmp_path, number):
    script, expected = EXAMPLE.findall(PAGE.read_text())[number]
    printed, _ = run_script(tmp_path / "script.py", script, "device=gpu,floatX=float32")
    assert printed == expected


def test_import_of_spanwise_does_not_load_the_facade():
    program = textwrap.dedent("""
        import sys, spanwise, spanwise.tensor
        assert not [name for name in sys.modules if "theano" in name]
        before = spanwise.Variable.eval
        import spanwise.theano
        assert spanwise.Variable.eval is before  # only install changes variables
    """)
    subprocess.run([sys.executable, "-c", program], check=True)


def test_old_paths_are_modules_by_every_way_of_importing():
    program = textwrap.dedent("""
        import importlib, importlib.util, pickle, sys
        import spanwise.theano.install
        import theano.tensor.nnet.conv, theano.gof.graph as graph
        from theano.compile import ops
        from theano.sandbox.cuda.cuda_ndarray import cuda_ndarray
        from spanwise.theano import _old_paths
        assert theano.tensor.nnet.abstract_conv.conv2d is theano.tensor.nnet.conv2d  # not imported yet
        assert theano.compile.nanguardmode.NanGuardMode and theano.tensor.signal.pool.pool_2d
        assert theano.tensor.opt.Assert and theano.scalar.basic.upcast and ops.as_op
        for path in _old_paths._MODULES:
            for package in ("theano", "spanwise.theano"):
                name = f"{package}.{path}"
                assert importlib.util.find_spec(name) is not None, name
                module = importlib.import_module(name)
                assert all(hasattr(module, each) for each in module.__all__), name
                assert set(module.__all__) <= set(dir(module)), name
            assert sys.modules[f"theano.{path}"] is sys.modules[f"spanwise.theano.{path}"], path
        x = theano.tensor.dvector()  # functions with the names of modules
        assert theano.tensor.var(x).ndim == 0 and theano.scan_module.scan(lambda e: e, x)[0].ndim == 1
        assert importlib.util.find_spec("theano.compile.absent") is None
        assert pickle.loads(b"ctheano.compile.io\\nIn\\n.") is theano.In
        try:
            theano.compile.absent
        except AttributeError as error:
            assert "absent" in str(error)
        else:
            raise AssertionError
    """)
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_folder_with_the_name_of_a_library_does_not_replace_it(tmp_path):
    for name in ("theano", "pycuda", "cudamat"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data.txt").write_text("x")
    script = """
        import theano, theano.tensor as T, pycuda.driver
        import theano.misc.cudamat_utils as utils
        print(theano.version, pycuda.driver.Device.count() >= 0, utils.cudamat_available)
    """
    printed, _ = run_script(tmp_path / "script.py", script)
    assert printed.startswith("1.0.5 True")
    program = "import spanwise.theano.install, theano.tensor, pycuda.driver; print(theano.version)"
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, cwd=tmp_path, capture_output=True, text=True
    )
    assert run.stdout == "1.0.5\n"
