# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the source distribution and a wheel for each CPython >= 3.10 of this machine into dist/, and
tries each wheel in a new environment: wheel.py [--twice] [--without-trial]

The interpreters are $PYTHONS ("python3.10 python3.13"), else those on PATH and of pyenv. All share one
build folder: libspanwise is compiled once, for each interpreter only the extension. Both are linked
against the symbols of glibc 2.28, which the ziglang wheel has, with a static C++ library; where that
cannot be done, auditwheel finds the oldest tag that the binaries allow. --twice builds again in another
folder and compares the files byte by byte.
"""

import argparse
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from paths import BUILD, CACHE, ROOT
from tools import environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = BUILD / "wheel"
DIST = ROOT / "dist"
GLIBC = "2.28"
LARGEST = 6_000_000
VERSIONS = range(10, 15)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--twice", action="store_true", help="compare with a second build")
    parser.add_argument("--without-trial", action="store_true", help="install no wheel")
    options = parser.parse_args()
    interpreters = find_interpreters()
    if not interpreters:
        raise SystemExit(
            "spanwise: there is no CPython 3.10 or newer with headers; name some: PYTHONS=..."
        )
    say(f"building for {', '.join(interpreters)}")
    shutil.rmtree(DIST, ignore_errors=True)
    built = build_all(interpreters, FOLDER / "shared", DIST)
    if options.twice:
        again = build_all(interpreters, FOLDER / "again", FOLDER / "dist-again")
        compare(built, again)
    if not options.without_trial:
        for version, python in interpreters.items():
            try_wheel(python, next(f for f in built if f"-cp3{version[2:]}-" in f.name))
    for file in built:
        say(f"dist/{file.name}, {file.stat().st_size / 1e6:.2f} MB, sha256 {digest(file)}")
    return 0


def find_interpreters() -> dict[str, str]:
    """{"3.10": path} of the CPythons to build for: those with a GIL and with headers."""
    names = os.environ.get("PYTHONS", "").split()
    if not names:
        pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
        for minor in VERSIONS:
            newest = sorted(pyenv.glob(f"3.{minor}.*/bin/python3.{minor}"), key=patch_of)
            names += [str(path) for path in newest[-1:]] or [f"python3.{minor}"]
    program = (
        "import sys, sysconfig, os; "
        "ok = sys.version_info >= (3, 10) and sys.implementation.name == 'cpython'"
        " and not sysconfig.get_config_var('Py_GIL_DISABLED')"
        " and os.path.isfile(sysconfig.get_path('include') + '/Python.h'); "
        "print('%d.%d' % sys.version_info[:2] if ok else '')"
    )
    found = {}
    for name in names:
        if path := shutil.which(name):
            done = subprocess.run([path, "-c", program], capture_output=True, text=True)
            if version := done.stdout.strip():
                found.setdefault(version, path)
    return found


def patch_of(path: Path) -> int:
    """The last number of the version of pyenv's interpreter."""
    return int(re.search(r"\d+$", path.parent.parent.name.split("rc")[0])[0])


def build_all(interpreters: dict[str, str], folder: Path, output: Path) -> list[Path]:
    """The source distribution and the wheels, built in `folder` and written to `output`."""
    output.mkdir(parents=True, exist_ok=True)
    glibc = link_stubs()
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", output, ROOT)
    for version, python in interpreters.items():
        raw = FOLDER / "unrepaired" / version
        shutil.rmtree(raw, ignore_errors=True)
        options = [f"--config-setting=build-dir={folder}"]
        if glibc:
            options.append(f"--config-setting=cmake.define.SPANWISE_GLIBC={glibc}")
        command = [builder(version, python), "-m", "build", "--wheel", "--no-isolation"]
        run(*command, "--outdir", raw, *options, ROOT)
        (wheel,) = raw.glob("*.whl")
        repair = [sys.executable, "-m", "auditwheel", "repair", "--zip-compression-level", "9"]
        run(*repair, *platform(glibc), "-w", output, wheel)
    files = sorted(output.iterdir())
    for file in files:
        if file.suffix == ".whl":
            check_binaries(file)
        if file.suffix == ".whl" and file.stat().st_size > LARGEST:
            raise SystemExit(
                f"spanwise: {file.name} has {file.stat().st_size} bytes; at most {LARGEST}"
            )
    return files


def platform(glibc: Path | None) -> list[str]:
    """Options of auditwheel: the tag that the link was made for, or the oldest that it finds."""
    machine = os.uname().machine
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
    return ["--plat", tag, "--only-plat"] if glibc else ["--plat", "auto"]


def builder(version: str, python: str) -> Path:
    """An interpreter with the requirements of builds, which pyproject.toml lists."""
    folder = CACHE / f"venv-build-{version}"
    requirements = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    stamp = folder / "requirements.json"
    if not stamp.exists() or json.loads(stamp.read_text()) != [python, requirements]:
        run(python, "-m", "venv", "--clear", folder)
        run(folder / "bin/python", "-m", "pip", "install", "--quiet", "build", *requirements)
        stamp.write_text(json.dumps([python, requirements]))
    return folder / "bin/python"


def link_stubs() -> Path | None:
    """A folder of libraries that have glibc's symbols as of version GLIBC and no code, in place of the
    machine's, for g++ -L; None, and the reason, where there is no ziglang."""
    folder = FOLDER / f"glibc-{GLIBC}"
    if (folder / "libc.so").exists():
        return folder
    cache = FOLDER / "zig"
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "empty.c").write_text("int main(void) { return 0; }\n")
    target = f"{os.uname().machine}-linux-gnu.{GLIBC}"
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "empty.c", "-o", "empty"]
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache)}
    done = subprocess.run(
        command, cwd=cache, env=os.environ | caches, capture_output=True, text=True
    )
    libc = next(cache.glob("o/*/libc.so.6"), None)
    static = next(cache.glob("o/*/libc_nonshared.a"), None)
    if done.returncode != 0 or libc is None or static is None:
        say(f"no symbols of glibc {GLIBC}, so this machine's are used: {done.stderr[-300:]}")
        return None
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    shutil.copy(static, partial)
    for library in libc.parent.glob("lib*.so.*"):
        shutil.copy(library, partial)
        (partial / library.name.partition(".so")[0]).with_suffix(".so").symlink_to(library.name)
    (partial / "libc.so").unlink()
    # Until glibc 2.34 these were libraries of their own.
    parts = "libld.so.2 libpthread.so.0 libdl.so.2 librt.so.1"
    script = f"GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( {parts} ) )\n"
    (partial / "libc.so").write_text(script)
    partial.rename(folder)
    return folder


def check_binaries(wheel: Path) -> None:
    """Ends the program unless the binaries in the wheel have the protections that SECURITY.md names."""
    from elftools.elf.elffile import ELFFile

    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".so")]
        for name in names:
            elf = ELFFile(io.BytesIO(archive.read(name)))
            segments = {segment["p_type"]: segment for segment in elf.iter_segments()}
            writable_code = [s for s in elf.iter_segments() if s["p_flags"] & 3 == 3]
            dynamic = elf.get_section_by_name(".dynamic")
            flags = sum(tag["d_val"] for tag in dynamic.iter_tags("DT_FLAGS"))
            symbols = elf.get_section_by_name(".dynsym").iter_symbols()
            imports = {symbol.name for symbol in symbols if symbol["st_shndx"] == "SHN_UNDEF"}
            lacks = [
                text
                for text, is_there in {
                    "immediate binding": flags & 8,  # DF_BIND_NOW
                    "RELRO": "PT_GNU_RELRO" in segments,
                    "a stack that is not executable": not segments["PT_GNU_STACK"]["p_flags"] & 1,
                    "separate code and data": not writable_code,
                    "stack protectors": "__stack_chk_fail" in imports,
                    "checked functions (_FORTIFY_SOURCE)": any(i.endswith("_chk") for i in imports),
                }.items()
                if not is_there
            ]
            if lacks:
                raise SystemExit(f"spanwise: {wheel.name}: {name} lacks {', '.join(lacks)}")


def compare(first: list[Path], second: list[Path]) -> None:
    different = [a.name for a, b in zip(first, second, strict=True) if digest(a) != digest(b)]
    if different:
        raise SystemExit(f"spanwise: two builds differ: {', '.join(different)}")
    say(f"two builds of {len(first)} files are equal, byte by byte")


def try_wheel(python: str, wheel: Path) -> None:
    """Installs the wheel in a new environment, and runs there, away from the sources, the command and
    the first program of README.md; then without a compiler, which has to be named, and from a bundle."""
    folder = FOLDER / "trial"
    shutil.rmtree(folder, ignore_errors=True)
    start = time.monotonic()
    run(python, "-m", "venv", folder)
    run(folder / "bin/python", "-m", "pip", "install", "--quiet", wheel)
    program = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)[1]
    (folder / "first.py").write_text(program)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SPANWISE_", "PYTHON"))}
    clean |= {"SPANWISE_CACHE_DIR": str(folder / "cache")}
    first = [folder / "bin/python", "first.py"]
    expected = re.search(r"print\(.*\)\s+# (.*)", program)[1]
    got = run(*first, cwd=folder, env=clean).strip()
    if got != expected:
        raise SystemExit(
            f"spanwise: {wheel.name}: README's program printed {got!r}, not {expected!r}"
        )
    seconds = time.monotonic() - start
    version = run(folder / "bin/spanwise", "--version", cwd=folder, env=clean)
    imports = "import spanwise as sw\n"
    makes = program.partition("twice = ")[0] + 'sw.compile(source, archs=[]).save("first.swb")\n'
    run(first[0], "-c", makes, cwd=folder, env=clean)
    attaches = program.replace(imports, f'{imports}\nsw.Bundle.load("first.swb").attach()\n')
    shutil.rmtree(folder / "cache", ignore_errors=True)
    bare = clean | {"PATH": str(folder / "bin"), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(first, cwd=folder, env=bare, capture_output=True, text=True)
    if done.returncode == 0 or "g++" not in done.stderr.splitlines()[-1]:
        raise SystemExit(f"spanwise: {wheel.name}: without a compiler: {done.stdout}{done.stderr}")
    got = run(first[0], "-c", attaches, cwd=folder, env=bare).strip()
    if got != expected:
        raise SystemExit(f"spanwise: {wheel.name}: from a bundle, it printed {got!r}")
    say(
        f"{wheel.name}: {version.strip()}; README's first program printed {got} after {seconds:.0f} s"
    )


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def run(*command: object, **options) -> str:
    """The output of a command; ends the program with its last lines if it fails."""
    words = [str(word) for word in command]
    options.setdefault("env", environment() | {"SOURCE_DATE_EPOCH": epoch()})
    done = subprocess.run(words, text=True, capture_output=True, **options)
    if done.returncode != 0:
        print((done.stdout + done.stderr)[-6000:])
        raise SystemExit(f"spanwise: {' '.join(words)[:200]} failed (see above)")
    return done.stdout


def epoch() -> str:
    """$SOURCE_DATE_EPOCH, else the time of the last commit, else that of LICENSE's year."""
    if chosen := os.environ.get("SOURCE_DATE_EPOCH"):
        return chosen
    command = ["git", "log", "-1", "--format=%ct"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "1767225600"


def say(text: str) -> None:
    print(f"spanwise: {text}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
