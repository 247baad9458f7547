# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The names of the package; `import spanwise` loads few modules, since each delays every program;
and config.change."""

import subprocess
import sys
import types
from pathlib import Path

import pytest

import spanwise as sw


def test_import_does_not_load_large_standard_modules():
    program = """
import sys
before = set(sys.modules)
import spanwise
large = {"typing", "contextlib", "re", "functools", "inspect", "dataclasses", "enum", "ctypes"}
imported = (set(sys.modules) - before) & large
assert not imported, imported
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_internal_imports_are_not_public():
    assert "TYPE_CHECKING" not in dir(sw)
    with pytest.raises(AttributeError):
        sw.TYPE_CHECKING  # noqa: B018


def test_every_name_of_the_stub_can_be_loaded():
    assert [name for name in dir(sw) if not hasattr(sw, name)] == []


def test_folders_without_python_modules_are_not_attributes_of_the_package():
    folders = {file.name for file in Path(sw.__file__).parent.iterdir() if file.is_dir()}
    assert "lib" in folders
    packages = {file.parent.name for file in Path(sw.__file__).parent.glob("*/__init__.py")}
    assert "compat" in packages
    for name in folders - packages:
        assert not isinstance(getattr(sw, name, None), types.ModuleType), name
    assert sw.compat.__name__ == "spanwise.compat"


def test_config_change_can_be_nested_reused_and_a_decorator_and_restores_settings():
    change = sw.config.change(floatX="float32")
    before = sw.config.floatX
    with change as config:
        assert config is sw.config and config.floatX == "float32"
        with change:
            assert sw.config.floatX == "float32"
        assert sw.config.floatX == "float32"
    assert sw.config.floatX == before

    @change
    def inside(x):
        return x, sw.config.floatX

    assert inside(3) == (3, "float32") and sw.config.floatX == before
    bad = sw.config.change(floatX="float32", device="abacus")
    with pytest.raises(sw.Error), bad:
        pass
    assert sw.config.floatX == before


def test_missing_name_of_another_library_says_what_there_is_instead():
    expected = {
        "grad": "use sw.tensor.grad",
        "jit": "use sw.function(inputs, outputs), or sw.jax_op and sw.torch_op inside those libraries",
        "Tensor": "use sw.Array",
        "scan": "use sw.graph.scan",
        "fmatrix": "use sw.tensor.fmatrix",
        "default_rng": "use sw.random.default_rng",
        "vector_norm": "use sw.linalg.vector_norm",
    }
    for name, remedy in expected.items():
        with pytest.raises(AttributeError) as error:
            getattr(sw, name)
        assert str(error.value) == f"module 'spanwise' has no attribute '{name}'; {remedy}"
        for module in remedy.removeprefix("use ").split(" or ")[:1]:
            eval(module.partition("(")[0], {"sw": sw})
    for name in ("no_such_name", "_private"):
        with pytest.raises(AttributeError) as error:
            getattr(sw, name)
        assert str(error.value) == f"module 'spanwise' has no attribute '{name}'"


@pytest.mark.parametrize(
    ("module", "remedy"),
    {
        "tensor": "sw.asarray",
        "random": "sw.random.default_rng",
        "profile": "profile=True",
    }.items(),
)
def test_call_of_a_module_says_what_to_call(module, remedy):
    with pytest.raises(TypeError, match=rf"^spanwise.{module} is a module; .*{remedy}"):
        getattr(sw, module)([1, 2])
