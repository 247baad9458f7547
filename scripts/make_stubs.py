# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the type stubs of the package to FOLDER: make_stubs.py MODULE PACKAGE FOLDER TYPES

`__init__.pyi` has the public names of `__init__.py` and `_names.py` in PACKAGE, `_core.pyi` those of
the extension module. Names, parameters and defaults come from the signatures in the compiled MODULE, types from pybind11's
signatures and from TYPES, a file in the syntax of stubs that has what signatures do not say:

- `class parameters` has the types of parameters by name, `a = b = _ArrayLike`, without None, which
  a default adds;
- a function or method has the types of single parameters and of its result, and its whole
  signature where the module has none;
- an annotation in a class is a property's type, or with `= ...` that of an attribute that can be set;
- `__add__ = __sub__ = Any` has the results of functions, or the types of properties.

Without an entry a parameter is of type Any, and a result of type Array, or of the class itself in
the classes Array and Variable and of __enter__; the results that Python requires are known. The
result `_Promoted` is a Variable where one of the first two operands is one, else an Array: the
function is overloaded. The result `_OfDType` is an Array of the type that `dtype` is or has, where the
type checker knows one.

`tensor.pyi` has the names of spanwise.tensor, most of which that module makes by loops.
"""

import ast
import builtins
import copy
import importlib.util
import inspect
import runpy
import sys
from pathlib import Path

from stub_signatures import Qualified, arguments_of, defaults_of, from_pybind, from_signature

# Operands are of any type, so overloads for variables overlap with those for arrays, and operators in
# place return an array where the operator itself is overloaded.
HEADER = """# Generated from {} by scripts/make_stubs.py.
# mypy: disable-error-code="overload-overlap, misc"
"""
# The scalar type of an array's elements, Any where a type checker cannot know it.
TYPE_VARIABLES = """\
_Scalar = TypeVar("_Scalar", bound=np.generic, default=Any)
_Other = TypeVar("_Other", bound=np.generic)
"""
# Members that every class has, or that type checkers have no use for.
SKIPPED = {
    *("__doc__", "__module__", "__new__", "__dict__", "__weakref__", "__repr__", "__str__"),
    *("__reduce__", "__reduce_ex__", "__getattribute__", "__setattr__", "__delattr__", "__dir__"),
    *("__delitem__", "__format__", "__text_signature__", "__array_struct__", "__array_interface__"),
    *(
        "__class_getitem__",
        "__dlpack_c_exchange_api__",
        "__pybind11_module_local_v11_gcc_libstdcpp_cxxabi1018__",
    ),
}
# Classes whose methods return the class unless TYPES says otherwise.
RETURN_OWN_CLASS = {"Array", "Variable"}
# Results that Python itself requires.
REQUIRED_RESULTS = {
    **dict.fromkeys(("__bool__", "__contains__", "__eq__", "__ne__"), "bool"),
    **dict.fromkeys(("__hash__", "__len__", "__index__", "__int__"), "int"),
    "__float__": "float",
    "__complex__": "complex",
}
# Every type that defines == has these as well; without an entry in TYPES they are not supported.
ORDERINGS = {"__lt__", "__le__", "__gt__", "__ge__"}


def load(path):
    """The extension module at `path`, without the package's Python modules."""
    spec = importlib.util.spec_from_file_location("spanwise._core", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Types:
    """The entries of TYPES."""

    def __init__(self, text):
        self.head, self.parameters, self.functions, self.classes = [], {}, {}, {}
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and node.name == "parameters":
                self.parameters = {t.id: a.value for a in node.body for t in a.targets}
            elif isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            elif isinstance(node, ast.FunctionDef | ast.Assign):
                self.functions.update(entries_of(node))
            elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                self.head.append(node)

    def members(self, name):
        """{name: entry} of a class."""
        entries = {}
        for node in self.classes[name].body if name in self.classes else []:
            entries.update(entries_of(node))
        return entries


def entries_of(node):
    """{name: entry} of a statement in TYPES."""
    if isinstance(node, ast.Assign):
        results = ast.parse(f"def f() -> {ast.unparse(node.value)}: ...").body[0]
        return {target.id: results for target in node.targets}
    if isinstance(node, ast.Expr):
        return {}
    return {node.target.id if isinstance(node, ast.AnnAssign) else node.name: node}


class Writer:
    def __init__(self, module, types):
        self.module, self.types = module, types

    def text(self):
        header = HEADER.format("the signatures of the extension module")
        lines = [header, *(ast.unparse(node) for node in self.types.head), TYPE_VARIABLES]
        for name, value in vars(self.module).items():
            if name.startswith("__") and name != "__version__":
                continue
            lines.append(self.entry(name, value))
        return "\n".join(lines) + "\n"

    def entry(self, name, value):
        if isinstance(value, type):
            return self.class_of(name, value)
        if isinstance(value, type(len)):
            return overloaded(self.function(name, value, self.types.functions.get(name)))
        type_name = type(value).__name__
        return f"{name}: {f'builtins.{type_name}' if hasattr(builtins, type_name) else type_name}"

    def function(self, name, value, entry, owner=None):
        """The definition of a function, or of a method of the class `owner`."""
        definition = from_pybind(self.module._typed_signature(value))
        definition = definition or from_signature(value, owner is not None)
        if definition is None and entry is None and name[0] == "_" != name[1]:
            entry = ast.parse("def f(*args: Any, **kwargs: Any) -> Any: ...").body[0]
        if definition is None and entry is None:
            raise SystemExit(f"make_stubs: {owner}.{name} has no signature; expected one in TYPES")
        return self.completed(definition or entry, name, entry, owner)

    def completed(self, definition, name, entry, owner=None):
        """`definition` with the types of `entry`, of the parameters' names, and of the result."""
        annotations = (
            {a.arg: a.annotation for a in arguments_of(entry)} if entry is not None else {}
        )
        defaults = defaults_of(definition)
        for argument in arguments_of(definition):
            if argument.arg in ("self", "cls"):
                continue
            annotation = annotations.get(argument.arg) or argument.annotation
            if annotation is None:
                annotation = self.types.parameters.get(argument.arg, ast.Name("Any"))
                default = defaults.get(argument.arg)
                if isinstance(default, ast.Constant) and default.value is None:
                    annotation = ast.parse(f"{ast.unparse(annotation)} | None").body[0].value
            argument.annotation = Qualified().visit(annotation)
        result = entry.returns if entry is not None and entry.returns else definition.returns
        if name in REQUIRED_RESULTS and (entry is None or entry.returns is None):
            result = ast.Name(REQUIRED_RESULTS[name])
        if result is None or (name == "__enter__" and entry is None):
            result = ast.Name(
                owner if owner in RETURN_OWN_CLASS or name == "__enter__" else "Array"
            )
        definition.returns = Qualified().visit(result)
        definition.name = name
        return definition

    def class_of(self, name, cls):
        entries = self.types.members(name)
        bases = [
            b.__name__ for b in cls.__bases__ if not b.__name__.startswith(("object", "pybind11_"))
        ]
        lines = []
        for member, value in vars(cls).items():
            if member in SKIPPED or type(value).__name__ in ("_ForeignName", "member_descriptor"):
                continue
            if member.startswith("_pybind11"):
                continue
            # A constructor in the slot tp_init has no signature.
            has_signature = member in entries or self.module._typed_signature(value)
            if member == "__init__" and not has_signature:
                continue
            if member in ORDERINGS and member not in entries and name not in RETURN_OWN_CLASS:
                continue
            if issubclass(cls, BaseException) and member not in entries:
                if not callable(value) and not inspect.isdatadescriptor(value):
                    lines.append(f"{member}: {type(value).__name__} = ...")
                continue
            lines += self.member(name, member, value, entries.get(member))
        if "__init__" not in {*entries, *vars(cls)} and cls.__text_signature__ is not None:
            lines.append(ast.unparse(self.constructor(name, cls)))
        for member, entry in entries.items():
            if member not in vars(cls) or type(vars(cls)[member]).__name__ == "member_descriptor":
                lines.append(overloaded(self.annotated(entry)))
        bases += map(ast.unparse, getattr(self.types.classes.get(name), "bases", []))
        head = [f"@{ast.unparse(decorator)}" for decorator in self.decorators(name)]
        head.append(f"class {name}({', '.join(bases)}):" if bases else f"class {name}:")
        body = [f"    {line}" for text in lines for line in text.split("\n")] or ["    ..."]
        return "\n".join([*head, *body])

    def constructor(self, name, cls):
        """__init__ of a class whose docstring opens with its signature."""
        parameters = str(inspect.signature(cls)).replace("(", "(self, ", 1)
        entry = ast.parse("def f() -> None: ...").body[0]
        definition = ast.parse(f"def f{parameters}: ...").body[0]
        return self.completed(definition, "__init__", entry, name)

    def decorators(self, name):
        return self.types.classes[name].decorator_list if name in self.types.classes else []

    def annotated(self, entry):
        """An entry as it is written, for a member that the module does not have or describe."""
        if isinstance(entry, ast.AnnAssign):
            return ast.AnnAssign(entry.target, Qualified().visit(entry.annotation), None, 1)
        return self.completed(entry, entry.name, entry)

    def member(self, owner, member, value, entry):
        if member == "__hash__" and value is None:
            return ["__hash__: None  # type: ignore[assignment]"]
        if isinstance(entry, ast.AnnAssign) and entry.value is not None:
            return [ast.unparse(self.annotated(entry))]
        if isinstance(value, property) or inspect.isgetsetdescriptor(value):
            return ["@property", f"def {member}(self) -> {self.property(value, entry)}: ..."]
        if isinstance(value, staticmethod):
            return ["@staticmethod", ast.unparse(self.function(member, value.__func__, entry))]
        if not callable(value):
            return [ast.unparse(self.annotated(entry))] if entry is not None else []
        text = overloaded(self.function(member, value, entry, owner))
        if member in ("__eq__", "__ne__") and " -> Array" in text:  # object's are bool
            text = text.replace(" -> Array:", " -> Array:  # type: ignore[override]")
        return [text]

    def property(self, value, entry):
        getter = from_pybind(self.module._typed_signature(getattr(value, "fget", None)))
        if isinstance(entry, ast.FunctionDef):
            annotation = entry.returns
        else:
            annotation = entry.annotation if entry else getter.returns if getter else None
        return ast.unparse(Qualified().visit(annotation or ast.Name("Any")))


#: Types of operands, of which each may be a variable of a graph.
OPERANDS = {"_ArrayLike", "Any", "object", "Sequence[_ArrayLike]"}
#: Parameters of these names are options, not operands.
OPTIONS = {"out", "where", "initial", "dtype", "device", "axis", "sorter"}


def overloaded(definition):
    """The text of a definition; several ones, for arrays and for variables, if its result is _Promoted, and
    for scalar types if it is _OfDType."""
    returns = getattr(definition, "returns", None)
    if isinstance(returns, ast.Name) and returns.id == "_OfDType":
        return of_dtype(definition)
    if not isinstance(returns, ast.Name) or returns.id != "_Promoted":
        return ast.unparse(definition)
    positional = [*definition.args.posonlyargs, *definition.args.args]
    texts, count = [], 0
    for place, argument in enumerate(positional):
        kind = ast.unparse(argument.annotation or ast.Name("Any"))
        if argument.arg in ("self", "cls") or argument.arg in OPTIONS or kind not in OPERANDS:
            continue
        variant = copy.deepcopy(definition)
        own = [*variant.args.posonlyargs, *variant.args.args][place]
        own.annotation = (
            ast.parse("Sequence[Variable]" if "Seq" in kind else "Variable").body[0].value
        )
        defaults = variant.args.defaults
        given = max(
            0, place + 1 - (len(positional) - len(defaults))
        )  # those before have none either
        variant.args.defaults = defaults[given:]
        variant.returns = ast.Name("Variable")
        texts.append(ast.unparse(variant))
        count += 1
        if count == 2:
            break
    definition.returns = ast.Name("Array")
    if not texts:
        return ast.unparse(definition)
    return "\n".join(f"@overload\n{text}" for text in [*texts, ast.unparse(definition)])


def of_dtype(definition):
    """The text of the overloads of a function whose parameter `dtype` decides the type of the result."""
    variants = []
    names = [argument.arg for argument in definition.args.args]
    if names[0] in ("x", "a") and "dtype" in names:  # of NumPy's arrays, as they are
        variants.append((names[0], "npt.NDArray[_Other]", {"dtype": "None"}))
    variants.append(("dtype", "builtins.type[_Other] | np.dtype[_Other]", {}))
    texts = []
    for name, annotation, others in variants:
        variant = copy.deepcopy(definition)
        arguments = variant.args
        place = names.index(name)
        required = len(arguments.args) - len(arguments.defaults)
        if place > required:  # behind parameters with defaults: by keyword
            arguments.kwonlyargs[:0] = arguments.args[place:]
            later = arguments.defaults[place - required + 1 :]
            arguments.kw_defaults[:0] = [None, *later]
            del arguments.args[place:], arguments.defaults[place - required :]
        else:
            del arguments.defaults[: place + 1 - required]
        for argument in arguments_of(variant):
            text = annotation if argument.arg == name else others.get(argument.arg)
            argument.annotation = ast.parse(text).body[0].value if text else argument.annotation
        variant.returns = ast.parse("Array[_Other]").body[0].value
        texts.append(ast.unparse(variant))
    definition.returns = ast.Name("Array")
    return "\n".join(f"@overload\n{text}" for text in [*texts, ast.unparse(definition)])


def parsed(package, module):
    return ast.parse((package / Path(*module.split("."))).with_suffix(".py").read_text())


def source_functions(package, module, names):
    """Definitions, for a stub, of the functions `names` of a module in Python; {} for those without."""
    found = {}
    nodes = parsed(package, module).body
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    for node in nodes:
        match node:  # another name of a function
            case ast.Assign([ast.Name(alias)], ast.Name(known)) if known in functions:
                node = copy.deepcopy(functions[known])
                node.name = alias
        if isinstance(node, ast.FunctionDef) and node.name in names:
            node.body = [ast.Expr(ast.Constant(...))]
            node.decorator_list = []
            for argument in arguments_of(node):
                argument.annotation = argument.annotation and Qualified().visit(argument.annotation)
            if node.returns is not None and ast.unparse(node.returns) == "Any":
                node.returns = ast.Name("_Promoted")
                found[node.name] = overloaded(node)
    return found


#: Results of functions that NumPy computes, where they are no arrays.
BORROWED_RESULTS = {
    **dict.fromkeys(("array_equiv", "isscalar", "issubdtype"), "builtins.bool"),
    **dict.fromkeys(("save", "savetxt", "savez", "savez_compressed"), "None"),
    **dict.fromkeys(("histogram", "polydiv"), "tuple[Array, Array]"),
    "histogram2d": "tuple[Array, Array, Array]",
    **dict.fromkeys(("histogramdd", "intersect1d", "load", "polyfit", "unique", "average"), "Any"),
    **dict.fromkeys(("array2string", "array_repr", "array_str"), "builtins.str"),
    **dict.fromkeys(("common_type", "min_scalar_type", "ndenumerate"), "Any"),
}
#: NumPy's own objects.
NUMPYS = """
    complexfloating errstate euler_gamma floating generic get_printoptions geterr inexact integer
    iterable ndindex number printoptions set_printoptions seterr signedinteger unsignedinteger
"""


def borrowed(name):
    if name in NUMPYS.split():
        return f"from numpy import {name} as {name}"
    result = BORROWED_RESULTS.get(name, "Array")
    return f"def {name}(*args: Any, device: Any = ..., **kwargs: Any) -> {result}: ..."


def imported(package, module, names):
    """Lines of a stub for `names` of a module: definitions where the module's own types say less."""
    definitions = source_functions(package, module, names) if module.startswith("_numpy") else {}
    own = set()
    if module == "_numpy.borrowed":
        own = {n.name for n in parsed(package, module).body if hasattr(n, "name")}
    for name in names:
        if name in definitions:
            yield definitions[name]
        elif module == "_numpy.borrowed" and name not in own:
            yield borrowed(name)
        else:
            yield f"from .{module} import {name} as {name}"


def tensor_stub(package, module):
    """The stub of spanwise.tensor: its imports, ufuncs, and a constructor for each dtype and shape."""
    lines = [HEADER.format("tensor.py"), TYPE_IMPORTS, "from ._core import Array, Variable"]
    lines.append("from ._core import ufunc as ufunc")
    ufuncs = sorted(
        n for n, v in vars(module).items() if isinstance(v, module.ufunc) and n[0] != "_"
    )
    tree = parsed(package, "tensor")
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            names = [a.name for a in node.names if a.asname in (None, a.name)]
            if names == ["*"]:
                lines.append(ast.unparse(node))
            elif node.module:
                lines += imported(package, node.module, [n for n in names if n[0] != "_"])
        elif isinstance(node, ast.Assign) and node.targets[0].id == "_NUMPY_NAMES":
            ufuncs += [n for n in ast.literal_eval(node.value) if n != "switch"]
    lines += [f"{name}: ufunc" for name in ufuncs]
    lines.append("def switch(condition: Any, x: Any, y: Any, /) -> Variable: ...")
    lines.append("as_tensor_variable = as_variable")
    tables = {}
    for node in parsed(package, "graph._tensor").body:
        target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
        if isinstance(target, ast.Name) and target.id in ("_DTYPES", "_SHAPES"):
            tables[target.id] = [key.value for key in node.value.keys]
    for shape in tables["_SHAPES"]:
        plural = shape[:-2] + "ices" if shape.endswith("ix") else shape + "s"
        for letter in tables["_DTYPES"]:
            lines.append(
                f"def {letter}{shape}(name: builtins.str | None = ..., dtype: Any = ...) -> Variable: ..."
            )
            lines.append(
                f"def {letter}{plural}(*names: Any, dtype: Any = ...) -> list[Variable]: ..."
            )
    return "\n".join(lines) + "\n"


TYPE_IMPORTS = """\
import builtins
from collections.abc import Sequence
from typing import Any, SupportsIndex, overload
from ._numpy.shape import Axes"""


def package_stub(package):
    """The stub of the package: the public imports and the annotated constants of `__init__.py`, and
    imports of the names that it imports on first use."""
    imports, constants = [], []
    for node in ast.parse((package / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            names = [a for a in node.names if a.asname in (None, a.name)]
            imports.append(ast.unparse(ast.ImportFrom(node.module, names, 1)) if names else "")
        elif isinstance(node, ast.AnnAssign):
            constants.append(f"{node.target.id}: {ast.unparse(node.annotation)}")
    table = runpy.run_path(str(package / "_names.py"))
    modules = dict.fromkeys(table["MODULES"].split(), "")
    imports += [f"from . import {name} as {name}" for name in modules]
    by_module = {}
    for name, module in table["MODULE_OF"].items():
        by_module.setdefault(module, []).append(name)
    for module, names in by_module.items():
        imports += imported(package, module, names)
    header = HEADER.format("__init__.py and _names.py") + TYPE_IMPORTS
    imports.append("from ._core import Array as Array, Variable as Variable")
    return "\n".join([header, *filter(None, imports), *constants]) + "\n"


def write(output, text):
    output.unlink(missing_ok=True)  # older builds made a symbolic link here
    output.write_text(text)


def main(module, package, folder, types):
    stub = Writer(load(module), Types(Path(types).read_text()))
    write(Path(folder, "_core.pyi"), stub.text())
    write(Path(folder, "__init__.pyi"), package_stub(Path(package)))
    write(Path(folder, "tensor.pyi"), tensor_stub(Path(package), stub.module))


if __name__ == "__main__":
    main(*sys.argv[1:])
