# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of examples, for make_site.py: each program of examples/ runs on the CPU, and is shown with
the picture that it draws, else with what it prints."""

import ast
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import PIL.Image
from paths import BUILD, ROOT, VENV, staged_package
from tools import cmake

EXAMPLES = ROOT / "examples"
#: The options of examples that draw, and how many of the last lines are shown; others: no options.
OPTIONS = {
    "01_mixing_libraries": (["--out", "{picture}"], 6),
    "06_logistic_regression": (["--out", "{picture}"], 3),
    "07_symbolic_numpy": ([], 1),
}
LINES = 12
HEAD = """\
# Gallery of examples

The programs of `examples/`, run on the CPU of the machine that made this site, each with its picture or
with what it prints. On a machine with a GPU the same programs take `--device cuda:0`.

"""


def page(folder: Path) -> str:
    """The text of the page; pictures are written to `folder`/gallery."""
    pictures = folder / "gallery"
    pictures.mkdir(parents=True, exist_ok=True)
    parts = [HEAD]
    for source in sorted([*EXAMPLES.glob("[0-9]*.py"), *EXAMPLES.glob("[0-9]*.cpp")]):
        picture = pictures / f"{source.stem}.png"
        printed = output_of(source, picture)
        title, text = description(source)
        parts.append(f"## {title}\n\n{text}\n\n")
        if picture.exists():
            parts.append(f"![What {source.name} draws](gallery/{picture.name})\n\n")
        command = f"$ {'python examples/' if source.suffix == '.py' else 'build/release/examples/'}"
        parts.append(f"```text\n{command}{source.stem}{'.py' * (source.suffix == '.py')}\n")
        parts.append(f"{printed}\n```\n\n{listing(source)}")
    parts.append(plugin())
    return "".join(parts)


def description(source: Path) -> tuple[str, str]:
    """Title and first paragraph: of a docstring, or of the first comment behind the licence."""
    text = source.read_text()
    if source.suffix == ".py":
        doc = ast.get_docstring(ast.parse(text)) or ""
    else:
        block = re.search(r"\n\n((?://.*\n)+)", text)[1]
        doc = re.sub(r"^// ?", "", block, flags=re.MULTILINE)
    paragraphs = [p for p in doc.split("\n\n") if not p.startswith(" ")]
    title = source.stem.partition("_")[2].replace("_", " ").replace("cpp", "C++").capitalize()
    return title, paragraphs[0].replace("\n", " ")


def listing(source: Path) -> str:
    language = "python" if source.suffix == ".py" else "cpp"
    return (
        f"<details><summary>examples/{source.name}</summary>\n\n"
        f"```{language}\n{source.read_text()}```\n\n</details>\n\n"
    )


def run(command: list[str], folder: Path | str) -> str:
    """What a command prints; ends the program if it fails."""
    environment = os.environ | {
        "PYTHONPATH": str(staged_package("release")),
        "CUDA_VISIBLE_DEVICES": "",
        "MPLBACKEND": "agg",
        "JAX_PLATFORMS": "cpu",
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        print((done.stdout + done.stderr)[-3000:])
        raise SystemExit(f"spanwise: {' '.join(command)[:120]} failed (see above)")
    return done.stdout


def output_of(source: Path, picture: Path) -> str:
    """The last lines that the example prints, without names of this machine's folders."""
    options, lines = OPTIONS.get(source.stem, ([], LINES))
    with tempfile.TemporaryDirectory() as folder:
        if source.suffix == ".py":
            words = [option.format(picture=picture) for option in options]
            printed = run([sys.executable, str(source), *words], folder)
        else:
            printed = run([str(BUILD / "release" / "examples" / source.stem)], folder)
        for drawn in Path(folder).glob("*.p[gpn]m"):
            PIL.Image.open(drawn).save(picture)
    printed = printed.replace(str(picture), f"{source.stem}.png").replace(f"{ROOT}/", "")
    return "\n".join(line[:110] for line in printed.strip().splitlines()[-lines:])


def plugin() -> str:
    """examples/05_plugin, built against the installed package."""
    folder = BUILD / "gallery"
    prefix, built = folder / "installed", folder / "plugin"
    program = cmake() or str(VENV / "bin" / "cmake")
    run([program, "--install", str(BUILD / "release"), "--prefix", str(prefix)], ROOT)
    source = EXAMPLES / "05_plugin"
    configure = [program, "-S", str(source), "-B", str(built), f"-Dspanwise_ROOT={prefix}"]
    run(configure, ROOT)
    run([program, "--build", str(built)], ROOT)
    library = built / "libsignal_ops.so"
    printed = run([sys.executable, str(source / "use_signal.py"), str(library)], ROOT)
    shown = "\n".join(line[:110] for line in printed.strip().splitlines())
    text = re.search(r"\n\n(.*?)\n\n", (source / "README.md").read_text(), re.DOTALL)[1]
    return (
        f"## A library of ops in C++\n\n{text}\n\n"
        f"```text\n$ python use_signal.py build/libsignal_ops.so\n{shown}\n```\n\n"
        f"{listing(source / 'signal_ops.cpp')}"
    ).replace(
        "examples/signal_ops.cpp",
        "examples/05_plugin/signal_ops.cpp",
    )
