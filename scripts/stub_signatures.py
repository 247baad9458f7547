# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Signatures of functions in the extension module, as definitions without bodies, for make_stubs.py."""

import ast
import builtins
import inspect
import re


class Qualified(ast.NodeTransformer):
    """Replaces names in annotations that a member of the module or of a class would hide: builtins
    become `builtins.x`, and the classes dtype and device, which properties hide, their aliases."""

    HIDDEN = {"dtype": "_DType", "device": "_Device"}

    def visit_Name(self, node):
        if node.id in self.HIDDEN:
            return ast.Name(self.HIDDEN[node.id])
        return ast.Name(f"builtins.{node.id}") if hasattr(builtins, node.id) else node

    def visit_Attribute(self, node):
        text = ast.unparse(node)
        if text.startswith("spanwise."):
            return self.visit_Name(ast.Name(text.rpartition(".")[2]))
        return node


# A type in pybind11's signatures -> the type of the arguments that the function accepts.
ACCEPTED = {"dtype": "_DTypeLike", "device": "_DeviceLike", "Array": "_ArrayLike"}
# A generic type without parameters in pybind11's signatures -> the type with them.
PARAMETERIZED = {"dict": "dict[Any, Any]", "list": "list[Any]", "tuple": "tuple[Any, ...]"}


def from_pybind(signature):
    """The function definition of pybind11's signature, or None."""
    line = signature.replace("typing.SupportsInt | typing.SupportsIndex", "int")
    line = line.replace("typing_extensions.CapsuleType", "Any")
    line = line.replace("typing.SupportsFloat | typing.SupportsIndex", "float")
    line = re.sub(r"= <[^>]*>", "= ...", line)  # a default that is not a literal
    line = re.sub(r"\((self|arg0): [\w.]+(, )?", r"(self\2", line) if "(self" in line else line
    if not re.match(r"\w*\(.*\)( -> .*)?$", line) or "*args, **kwargs)" in line:
        return None
    try:
        # The signature of a property's getter has no name.
        definition = ast.parse(f"def {line if line[0] != '(' else 'get' + line}: ...").body[0]
    except SyntaxError:
        return None
    arguments = definition.args
    names = [a.arg for a in arguments.args]
    if any(name.startswith("arg") for name in names):
        arguments.posonlyargs, arguments.args = arguments.args, []
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        if argument.annotation is not None:
            text = ast.unparse(argument.annotation).rpartition("spanwise.")[2]
            if text in ACCEPTED:
                argument.annotation = ast.Name(ACCEPTED[text])
            elif text in ("object", "collections.abc.Iterable") or definition.name == "__eq__":
                argument.annotation = None  # == takes any object, whatever the C++ type
            else:
                argument.annotation = parameterized(argument.annotation)
    if definition.returns is not None:
        definition.returns = parameterized(definition.returns)
        if ast.unparse(definition.returns) == "object":
            definition.returns = ast.Name("Any")
    return definition


def parameterized(annotation):
    """`annotation` with the parameters that type checkers require of a bare `dict`, `list` or `tuple`."""
    return Parameterized().visit(annotation)


class Parameterized(ast.NodeTransformer):
    def visit_Subscript(self, node):
        node.slice = self.visit(node.slice)  # `node.value` has parameters
        return node

    def visit_Name(self, node):
        text = PARAMETERIZED.get(node.id)
        return ast.parse(text).body[0].value if text else node


def from_signature(function, is_method):
    """The function definition of a text signature, or None."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return None
    # Every type that has ** gets a third parameter of pow(), which no array supports.
    parameters = [p for p in signature.parameters.values() if p.name != "mod"]
    kinds = [p.kind for p in parameters[is_method:]]
    if kinds == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]:
        return None  # what inspect returns for a callable that states no signature
    parameters = [
        p.replace(default="..." if p.default is Ellipsis else p.default) for p in parameters
    ]
    if is_method:  # the kind of self follows that of the others
        parameters[0] = parameters[0].replace(
            name="self",
            kind=parameters[1].kind
            if len(parameters) > 1 and parameters[1].kind == inspect.Parameter.POSITIONAL_ONLY
            else inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
    return ast.parse(f"def f{inspect.Signature(parameters)}: ...").body[0]


def arguments_of(definition):
    arguments = definition.args
    several = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *several]


def defaults_of(definition):
    arguments = definition.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {argument.arg: default for argument, default in pairs if default is not None}
