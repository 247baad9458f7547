# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the site to build/site: make_site.py

The pages of docs/ as they are, the reference of Python from docstrings, signatures and stubs, that of
C++ from the comments of the public headers, and the list of settings. Sphinx makes HTML of them, with
search; a warning is an error. Run by the interpreter of .cache/venv-docs, which imports the staged
package.
"""

import ast
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import gallery
import reference
from paths import BUILD, ROOT, staged_package

sys.path.insert(0, str(staged_package("release")))
import spanwise as sw

SOURCE = BUILD / "site-source"
OUTPUT = BUILD / "site"
#: Pages outside of docs/, and the names that they have in the site.
MORE = {
    "README.md": "start.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    **{
        f"bridges/{p.parent.name}/README.md": f"bridges/{p.parent.name}.md"
        for p in ROOT.glob("bridges/*/README.md")
        if p.parent.name != "common"
    },
}
INDEX = """\
# Spanwise

Spanwise lets CUDA array libraries share one program: arrays of NumPy, PyTorch, CuPy, JAX and others
pass between these libraries without a copy, CUDA C kernels become ops of a compiled graph, and the
same program runs on a GPU and on the CPU of a machine without one.

```sh
pip install spanwise    # and 'spanwise[cuda13]' where there is no CUDA toolkit
spanwise doctor         # what this machine has, and the line to run for what it lacks
```

{first}

![A photograph through four libraries](gallery/01_mixing_libraries.png)

*[A program](gallery.md) passes a photograph through Pillow, NumPy and two kernels in CUDA C, and no step copies it.*

| | |
|---|---|
| [Start](start.md), [gallery](gallery.md) | the first programs, what a call costs, installing; examples with their pictures |
| [Arrays](concepts/arrays.md), [kernels](concepts/kernels.md), [graphs](concepts/graphs.md) | concepts, one page each |
| [Coming from CuPy](coming-from-cupy.md), [PyTorch ops](coming-from-pytorch-ops.md), [JAX](coming-from-jax.md), [PyCUDA](coming-from-pycuda.md), [Theano](coming-from-theano.md) | what you have, and what to write |
| [Python](reference/python/index.md), [C++](reference/cpp/index.md), [settings](reference/settings.md), [errors](errors.md) | reference |
| [Debugging a kernel](debugging.md), [which build runs where](which-build.md) | when it does not run |

"""
#: The parts of the navigation: title, pages.
PARTS = {
    "Start": ["start", "gallery", "which-build", "debugging", "errors"],
    "Concepts": [
        "concepts/arrays",
        "arrays",
        "concepts/elementwise",
        "concepts/reductions",
        "concepts/products",
        "concepts/random",
        "concepts/kernels",
        "concepts/kernel_expressions",
        "host-execution",
        "concepts/streams",
        "concepts/launches",
        "concepts/memory",
        "concepts/exchange",
        "mixing",
        "concepts/graphs",
        "concepts/repeated_calls",
        "graph-ops",
        "concepts/gradients",
        "concepts/symbolic",
        "concepts/collectives",
    ],
    "Guides": ["guides/*", "op-sdk"],
    "Coming from": ["coming-from-*", "pycuda-names"],
    "Reference": [
        "reference/python/index",
        "reference/cpp/index",
        "reference/settings",
        "bridges/*",
    ],
    "Project": ["release", "project/*", "adr/README", "benchmarks/README"],
}


def main() -> int:
    shutil.rmtree(SOURCE, ignore_errors=True)
    write_pages()
    write_settings()
    with tempfile.TemporaryDirectory() as folder:  # examples write files
        os.chdir(folder)
        write_python()
        os.chdir(ROOT)
    write_cpp()
    write("gallery.md", gallery.page(SOURCE))
    write_index()
    for file in (ROOT / "docs" / "site").iterdir():
        shutil.copy(file, SOURCE)
    environment = os.environ | {"SPANWISE_VERSION": sw.__version__}
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "1", "-b", "html"]
    done = subprocess.run([*command, SOURCE, OUTPUT], env=environment)
    if done.returncode != 0:
        return done.returncode
    print(f"spanwise: {len(list(OUTPUT.rglob('*.html')))} pages, {OUTPUT / 'index.html'}")
    return 0 if links_lead_somewhere() and searches_find() else 1


def write(name: str, text: str) -> None:
    page = SOURCE / name
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text)


# ---- pages that exist


def page_names() -> dict[Path, str]:
    """{file: name in the site}"""
    docs = ROOT / "docs"
    names = {page: str(page.relative_to(docs)) for page in docs.rglob("*.md")}
    del names[docs / "README.md"]
    return {**names, **{ROOT / file: name for file, name in MORE.items()}}


def write_pages() -> None:
    names = page_names()
    for page, name in names.items():
        text = re.sub(r"<!--.*?-->\n?", "", page.read_text(), flags=re.DOTALL)
        text = linked(text, page, name, names)
        write(
            name,
            text.replace("# Spanwise\n", "# First programs\n", 1) if name == "start.md" else text,
        )


def linked(text: str, page: Path, name: str, names: dict[Path, str]) -> str:
    """The text with links to other pages of the site; other files are named without a link."""

    def link(match: re.Match) -> str:
        label, target, anchor = match[1], match[2], match[3] or ""
        if re.match(r"[a-z]+:", target):
            return match[0]
        file = (page.parent / target).resolve() if target else page
        if file == ROOT / "docs" / "README.md" or file == ROOT / "docs":
            return f"[{label}]({os.path.relpath('index.md', Path(name).parent)})"
        file = file / "README.md" if file.is_dir() else file
        if file not in names:
            path = file.relative_to(ROOT)
            return label if "`" in label else f"{label} (`{path}`)"
        if not target:
            return match[0]
        return f"[{label}]({os.path.relpath(names[file], Path(name).parent)}{anchor})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    pattern = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)")
    return "".join(p if p.startswith("```") else pattern.sub(link, p) for p in parts)


def write_index() -> None:
    first = re.search(r"^```python\n.*?^```$", (ROOT / "README.md").read_text(), re.M | re.S)[0]
    text = INDEX.format(first=first)
    written = {str(p.relative_to(SOURCE).with_suffix("")) for p in SOURCE.rglob("*.md")}
    for title, patterns in PARTS.items():
        pages = []
        for pattern in patterns:
            matching = [
                p
                for p in sorted(written)
                if Path(p).match(pattern) and p.count("/") == pattern.count("/")
            ]
            pages += [page for page in matching if page not in pages]
        text += f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```\n\n"
    write("index.md", text)
    for folder in ("adr",):
        pages = sorted(p.stem for p in (SOURCE / folder).glob("[0-9]*.md"))
        tree = "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"
        page = SOURCE / folder / "README.md"
        page.write_text(page.read_text() + tree)


# ---- settings


def write_settings() -> None:
    lines = [
        "# Settings and environment variables",
        "",
        "Each setting is an attribute of `sw.config`, can be changed for a block by `with "
        "sw.config.change(name=value):`, and has its first value from the environment variable "
        "`SPANWISE_<NAME>`. `spanwise config` prints those of this machine.",
        "",
    ]
    for setting in sorted(sw._core._config_list(), key=lambda s: s.name.lower()):
        choices = (
            f" One of {', '.join(f'`{c}`' for c in setting.choices)}." if setting.choices else ""
        )
        default = f"`{setting.default_value}`" if setting.default_value else "empty"
        if setting.default_value.startswith(str(Path.home())):
            default = "`~" + setting.default_value[len(str(Path.home())) :] + "`"
        meaning = setting.description[:1].upper() + setting.description[1:].rstrip(".")
        lines += [
            f"## {setting.name}",
            "",
            f"{escaped(meaning)}.{choices} Default: {default}. "
            f"Variable: `SPANWISE_{setting.name.upper()}`.",
            "",
        ]
    lines += [
        "## Other variables",
        "",
        "| variable | meaning |",
        "|---|---|",
        "| `SPANWISE_LOG` | `kernels`: a line on standard error for each kernel that is compiled or "
        "found in the cache; Python's logger `spanwise` gets the same messages |",
        "| `SPANWISE_COLLECTIVES_TOKEN` | what ranks on several machines show to join a communicator |",
        "| `CXX` | the compiler of kernels on the CPU, instead of g++ or clang++ on `PATH` |",
        "| `CUDA_HOME`, `CUDA_PATH` | the CUDA toolkit |",
        "| `OMP_NUM_THREADS` | threads of a kernel on the CPU where `cpu_threads` is 0 |",
        "",
    ]
    write("reference/settings.md", "\n".join(lines))


# ---- Python


def escaped(text: str) -> str:
    """Plain text as Markdown; code between backquotes stays."""
    parts = re.split(r"(``[^`]+``|`[^`\n]+`)", text)
    special = re.compile(r"([*_<>\[\]#|~$\\])")
    return "".join(p if p.startswith("`") else special.sub(r"\\\1", p) for p in parts)


def markdown(doc: str) -> str:
    """A docstring as Markdown: indented lines and sessions are code."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(doc if isinstance(doc, str) else "")):
        lines = block.splitlines()
        is_code = all(line.startswith("    ") for line in lines) or block.startswith(">>>")
        if is_code and lines:
            code = "\n".join(line[4:] if line.startswith("    ") else line for line in lines)
            out.append(f"```{language(code)}\n{code}\n```")
        else:
            out.append(escaped("\n".join(line.strip() for line in lines)))
    return "\n\n".join(out)


def language(code: str) -> str:
    """The name that Pygments has for the code."""
    try:
        ast.parse(code)
    except SyntaxError:
        return "pycon" if code.startswith(">>>") else "text"
    return "python"


def doc_of(value: object) -> str:
    """The docstring; of a borrowed function without that of NumPy."""
    doc = getattr(value, "__doc__", "") or ""
    wrapped = getattr(value, "__wrapped__", None)
    is_borrowed = wrapped is not None and (getattr(wrapped, "__module__", "") or "").startswith(
        "numpy"
    )
    if is_borrowed and isinstance(wrapped.__doc__, str):
        doc = doc.removesuffix(wrapped.__doc__)
    return doc


def stub_signatures() -> dict[str, str]:
    """{"zeros": "(shape, dtype=...) -> Array", "Array.sum": ...} of the extension, with types."""
    found = {}

    def add(prefix: str, body: list) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                if any(isinstance(d, ast.Attribute) for d in node.decorator_list):
                    continue
                if prefix and node.args.args[:1] and node.args.args[0].arg == "self":
                    del node.args.args[0]
                elif (
                    prefix and node.args.posonlyargs[:1] and node.args.posonlyargs[0].arg == "self"
                ):
                    del node.args.posonlyargs[0]
                result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
                text = f"({ast.unparse(node.args)}){result}"
                found[prefix + node.name] = re.sub(r"\bbuiltins\.|\bcollections\.abc\.", "", text)
            elif isinstance(node, ast.ClassDef):
                add(f"{node.name}.", node.body)

    stub = staged_package("release") / "spanwise" / "_core.pyi"
    add("", ast.parse(stub.read_text()).body)
    return found


STUB = stub_signatures()


def readable(signature: str) -> str:
    """A signature with the names of types as readers know them: ArrayLike for _ArrayLike."""
    return re.sub(r"\b_(?=[A-Z])", "", signature)


def signature(name: str, value: object) -> str:
    if name in STUB:
        return readable(STUB[name])
    try:
        own = inspect.signature(value)
    except (ValueError, TypeError):
        return "()" if isinstance(value, type) else "(*args, **kwargs)"
    if "." in name:  # a method
        parameters = list(own.parameters.values())
        own = own.replace(
            parameters=parameters[1:]
            if parameters[:1] and parameters[0].name == "self"
            else parameters
        )
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(own))  # annotations that are text
    text = re.sub(r"<no value>|<[^<>]*>", "...", text)
    return readable(re.sub(r"\b(spanwise\._core|spanwise|collections\.abc|typing)\.", "", text))


EXAMPLES = reference.read_examples()


def example(module: str, name: str, value: object) -> str:
    """The example of a name and what a prompt shows below it, computed now."""
    found = EXAMPLES[module].of.get(name)
    if found is None:
        return ""
    result = found.run(name, value) if found.is_runnable() else ""
    return f"\n```pycon\n{found.shown()}\n{result}".rstrip("\n") + "\n```\n"


def beginning(module: str) -> str:
    """What the examples of a module begin with."""
    before = "\n".join(f">>> {line}" for line in EXAMPLES[module].before)
    return f"Examples begin with:\n\n```pycon\n{before}\n```\n"


def function_entry(path: str, name: str, value: object, kind: str = "function") -> str:
    text = markdown(doc_of(value))
    if kind == "function":
        text += "\n" + example(path.rpartition(".")[0], name, value)
    return f":::{{py:{kind}}} {path}{signature(name, value)}\n\n{text}\n:::\n"


def class_entry(path: str, name: str, cls: type) -> str:
    is_error = issubclass(cls, BaseException)
    constructor = (
        ""
        if is_error
        else signature(f"{name}.__init__" if f"{name}.__init__" in STUB else name, cls)
    )
    constructor = constructor.removesuffix(" -> None")
    if constructor == "()":
        constructor = ""
    bases = [b.__name__ for b in cls.__bases__ if b.__name__ not in ("object", "pybind11_object")]
    bases = [name for name in bases if name[0] != "_"]
    parts = [f"::::{{py:{'exception' if is_error else 'class'}}} {path}{constructor}\n"]
    if bases:
        parts.append(f"Bases: {', '.join(f'`{b}`' for b in bases)}.\n")
    parts.append(markdown(cls.__doc__ or "") + "\n")
    parts.append(example(path.rpartition(".")[0], name, cls))
    for member, value in sorted(vars(cls).items()):
        if member.startswith("_") or type(value).__name__ == "_ForeignName" or is_error:
            continue
        doc = getattr(value, "__doc__", None)
        if (
            isinstance(value, (property,))
            or inspect.isgetsetdescriptor(value)
            or inspect.ismemberdescriptor(value)
        ):
            parts.append(f":::{{py:attribute}} {member}\n\n{markdown(doc or '')}\n:::\n")
        elif callable(getattr(cls, member)):
            attribute = getattr(cls, member)
            if isinstance(attribute, type):
                continue
            parts.append(function_entry(member, f"{name}.{member}", attribute, "method"))
    return "\n".join([*parts, "::::\n"])


def entry(module: str, name: str, value: object) -> str:
    path = f"{module}.{name}"
    if isinstance(value, type):
        return class_entry(path, name, value)
    if callable(value) and not hasattr(value, "itemsize"):  # no dtype
        return function_entry(path, name, value)
    shown = repr(value)
    shown = (
        ""
        if len(shown) > 60 or "0x" in shown or "\n" in shown or "<" in shown
        else f"\n:value: {shown}"
    )
    doc = "" if isinstance(value, (int, float, str, type(None))) else type(value).__doc__ or ""
    return f":::{{py:data}} {path}{shown}\n\n{markdown(doc)}\n{example(module, name, value)}\n:::\n"


def group_of(name: str, value: object) -> str:
    """The page of a name of the package."""
    module = sw._names.MODULE_OF.get(name, "")
    if isinstance(value, type):
        if issubclass(value, BaseException):
            return "errors"
        return "kernels" if "Kernel" in name or "Module" in name else "classes"
    if type(value).__name__ == "ufunc":
        return "ufuncs"
    if module.startswith("_numpy.borrowed"):
        return "borrowed"
    if module.startswith("_numpy"):
        return "functions"
    if module.startswith(("kernels", "driver")) and name != "asnumpy":
        return "kernels"
    if module:
        return "graphs"
    if isinstance(value, sw.dtype):
        return "dtypes"
    return "functions" if callable(value) else "constants"


GROUPS = {
    "classes": ("Arrays, devices and streams", "The classes of the package."),
    "functions": (
        "Functions of arrays",
        "Creation, shape, indexing, reductions, products and exchange.",
    ),
    "ufuncs": (
        "Elementwise functions",
        "Ufuncs: operations on each element, with broadcasting, `out=`, "
        "`where=`, `dtype=` and `casting=`.",
    ),
    "borrowed": (
        "Functions that NumPy and CuPy compute",
        "Over the arrays' own memory: by NumPy on the CPU, by CuPy on a GPU.",
    ),
    "kernels": ("Kernels", "CUDA C on a GPU and on the CPU."),
    "graphs": (
        "Graphs and frameworks",
        "Compiled functions, ops, and operators of other frameworks.",
    ),
    "dtypes": ("Dtypes", "The types of elements."),
    "constants": ("Constants and objects", ""),
    "errors": ("Exceptions", "Causes and remedies: [errors](../../errors.md)."),
}


def write_python() -> None:
    pages = []
    for module_name, names in reference.reference().items():
        if module_name == "spanwise":
            pages += write_package(names)
            continue
        module = sys.modules[module_name]
        page = module_name.partition(".")[2]
        pages.append(page)
        own = {name: v for name, v in names.items() if reference.home(v) is None}
        body = "\n".join(entry(module_name, name, value) for name, value in own.items())
        links = [
            f"{{py:obj}}`{n} <spanwise.{reference.home(names[n])}>`" for n in names if n not in own
        ]
        also = f"Also here, as in the package: {', '.join(links)}.\n\n" if links else ""
        text = f"{markdown(module.__doc__ or '')}\n\n{also}{beginning(module_name)}"
        write(f"reference/python/{page}.md", f"# {module_name}\n\n{text}\n\n{body}")
    listed = "\n".join(pages)
    write(
        "reference/python/index.md",
        "# Python\n\n`import spanwise as sw`. Types are those of the "
        "stubs that the package contains, for mypy and editors.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n",
    )


def write_package(names: dict[str, object]) -> list[str]:
    """Writes the pages of the package's own names, and returns their names."""
    groups: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name, value in names.items():
        groups[group_of(name, value)].append(entry("spanwise", name, value))
    pages = []
    for group, (title, text) in GROUPS.items():
        page = "cuda-c" if group == "kernels" else group  # spanwise.kernels has that name
        pages.append(page)
        body = "\n".join(groups[group])
        text = f"{text}\n\n{beginning('spanwise')}"
        write(f"reference/python/{page}.md", f"# {title}\n\n{text}\n\n{body}")
    return pages


# ---- C++


def write_cpp() -> None:
    include = ROOT / "sdk" / "include"
    pages = []
    headers = [
        *include.rglob("*.hpp"),
        *include.rglob("*.h"),
        *(ROOT / "sdk" / "device").glob("*.cuh"),
        *(ROOT / "addons").glob("*/include/**/*.hpp"),
    ]
    for header in sorted(headers, key=lambda h: h.name):
        name = include_name(header)
        entries = documented(header.read_text())
        if not entries:
            continue
        page = name.removeprefix("spanwise/").replace("/", "-").replace(".", "-")
        pages.append(page)
        lines = [f"# {name}", "", f"`#include <{name}>`", ""]
        for comment, declaration in entries:
            lines += [f"```cpp\n{declaration}\n```", "", escaped(comment), ""]
        write(f"reference/cpp/{page}.md", "\n".join(lines))
    write(
        "reference/cpp/index.md",
        "# C++\n\nThe public headers, each with what its comments document. "
        "`spanwise/spanwise.hpp` includes arrays, kernels and graphs; `spanwise/plugin.hpp` is for "
        "libraries of ops, `spanwise/bridge.hpp` for bridges, and headers `.cuh` are for "
        "kernels.\n\n```{toctree}\n:maxdepth: 1\n\n" + "\n".join(pages) + "\n```\n",
    )


def include_name(header: Path) -> str:
    parts = header.parts
    if header.suffix == ".cuh":
        return f"spanwise/{header.name}"
    return "/".join(parts[parts.index("include") + 1 :])


def documented(text: str) -> list[tuple[str, str]]:
    """The comments `///` of a header, each with the declaration that follows it."""
    entries, comment, lines = [], [], text.splitlines()
    for at, line in enumerate(lines):
        stripped = line.strip()
        if stripped.startswith("///") and not stripped.startswith("///<"):
            comment.append(stripped.removeprefix("///").strip())
        elif comment:
            declaration = []
            for following in lines[at : at + 14]:
                code = following.strip()
                if not code or code.startswith(("///", "#", "}")):
                    break
                declaration.append(re.sub(r"\s*///<.*", "", code))
                if code.endswith((";", "{", "}")):
                    break
            code = re.sub(r"\s*\{[^{}]*\}?$", "", "\n".join(declaration))
            if code and not code.startswith(("private:", "//")):
                entries.append(("\n".join(comment), code))
            comment = []
    return entries


# ---- checks of the result


def links_lead_somewhere() -> bool:
    """Whether every link within the site leads to a page and a place that exist."""
    pages = {page: page.read_text() for page in OUTPUT.rglob("*.html")}
    places = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    broken = []
    for page, text in pages.items():
        for target in set(re.findall(r'<a [^>]*href="([^"]+)"', text)):
            path, _, place = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if re.match(r"[a-z]+:", target) or file.suffix != ".html":
                continue
            if file not in pages or (place and place not in places[file]):
                broken.append(f"{page.relative_to(OUTPUT)}: {target}")
    print("".join(f"spanwise: broken link in {link}\n" for link in sorted(broken)), end="")
    return not broken


CHECK = """<!DOCTYPE html><body><script>
const searches = {searches};
async function first(query) {
  const frame = document.createElement("iframe");
  frame.src = "search.html?q=" + encodeURIComponent(query);
  document.body.append(frame);
  for (let i = 0; i < 400; ++i) {
    await new Promise(done => setTimeout(done, 25));
    const inside = frame.contentDocument;
    const summary = inside && inside.querySelector(".search-summary");
    if (summary && /finished|did not match/.test(summary.textContent)) break;
  }
  const links = [...frame.contentDocument.querySelectorAll("ul.search li a")];
  frame.remove();
  return links.slice(0, 3).map(link => link.getAttribute("href"));
}
(async () => {
  for (const query of searches)
    await fetch("/found?" + new URLSearchParams({query, links: (await first(query)).join(" ")}));
  await fetch("/end");
})();
</script>"""


def searches_find() -> bool:
    """Whether each search of docs/site/searches.txt finds its page among the first three results, in
    headless Chromium; True, with a line, where there is none."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        print("spanwise: there is no chromium on this machine; the search was not tried")
        return True
    lines = (ROOT / "docs" / "site" / "searches.txt").read_text().splitlines()[1:]
    wanted = dict(line.split(" | ") for line in lines)
    (OUTPUT / "check.html").write_text(CHECK.replace("{searches}", json.dumps(list(wanted))))
    found: dict[str, str] = {}
    with Answers(found) as address, tempfile.TemporaryDirectory() as profile:
        command = [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={profile}",
        ]
        with subprocess.Popen(
            [*command, f"{address}/check.html"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            deadline = time.monotonic() + 120
            while "" not in found and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.1)
            process.terminate()
    (OUTPUT / "check.html").unlink()
    missed = [
        f"{query}: expected {page}, got {found.get(query)}"
        for query, page in wanted.items()
        if not any(link.startswith(f"{page}.html") for link in found.get(query, "").split())
    ]
    print("".join(f"spanwise: search for {line}\n" for line in missed), end="")
    print(f"spanwise: {len(wanted) - len(missed)} of {len(wanted)} searches find their page")
    return not missed


class Answers(ThreadingHTTPServer):
    """Serves the site on this machine and collects what the page check.html reports."""

    def __init__(self, found: dict[str, str]) -> None:
        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=str(OUTPUT))

            def do_GET(self):
                path, _, query = self.path.partition("?")
                if path in ("/found", "/end"):
                    values = parse_qs(query, keep_blank_values=True)
                    found[values.get("query", [""])[0]] = values.get("links", [""])[0]
                    self.send_response(204)
                    self.end_headers()
                else:
                    super().do_GET()

            def log_message(self, *arguments):
                pass

        super().__init__(("127.0.0.1", 0), Handler)

    def __enter__(self) -> str:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server_port}"

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address) -> None:
        """The browser closes connections to pages that it no longer shows."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


if __name__ == "__main__":
    raise SystemExit(main())
