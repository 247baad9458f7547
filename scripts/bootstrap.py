#!/usr/bin/env python3
# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Installs the dependencies of building, testing, the demo or linting: bootstrap.py build test ...

A group is a file of requirements/; "peers" are other libraries that the demo, the tests and the
benchmarks use; "wheel", "docs", "newest" and "oldest" have environments of their own. Without a CUDA toolkit
"build" includes requirements/cuda.txt, and "test" requirements/cccl.txt. Everything is installed into .venv and .cache inside the checkout, without root. Python packages are installed by
pip, with the user's index and proxy configuration. If the system's Python lacks pip or its headers,
they are unpacked from Debian packages. A group that is installed already is skipped: a stamp file
has the hash of its requirements.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - before imports that older versions cannot run
    raise SystemExit(
        f"spanwise: expected Python 3.10 or newer, got {sys.version.split()[0]}; choose another: make "
        "PYTHON=python3.11 ..."
    )

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import debian
from paths import (
    CACHE,
    GOOGLETEST,
    PYTHON_HEADERS,
    ROOT,
    VENV,
    cuda_headers,
    python_headers,
)

GROUPS = ("build", "demo", "test", "peers", "lint", "coverage")
#: Groups with an environment of their own, .cache/venv-<group>: their packages are large, or other
#: versions than those of .venv.
APART = ("wheel", "docs", "newest", "oldest")
#: Groups that may fail to install, on platforms for which they have no wheels.
OPTIONAL = {"peers"}
#: The certificate authorities of a Debian machine.
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")


def main(groups: list[str]) -> None:
    unknown = [group for group in groups if group not in GROUPS + APART]
    if unknown or not groups:
        raise SystemExit(
            f"usage: bootstrap.py {{{','.join(GROUPS + APART)}}}...\n"
            f"got {' '.join(unknown) or 'no group'}"
        )
    check_compiler()
    if any(group in GROUPS for group in groups):
        make_venv(VENV)
    for group in groups:
        if group in APART:
            make_venv(apart(group))
        install(group)
    if "build" in groups:
        if not cuda_headers():
            install("cuda")
        provide_python_headers()
    if "test" in groups:
        if not cuda_headers():
            install("cccl")
        provide_googletest()


def check_compiler() -> None:
    """Raises debian.MissingDependency with the package to install if there is no C++ compiler."""
    names = [os.environ.get("CXX", "").split(" ")[0], "c++", "g++", "clang++"]
    if not any(shutil.which(name) for name in names if name):
        raise debian.MissingDependency("a C++ compiler", "g++")


def make_venv(folder: Path) -> None:
    """Creates an environment, .venv or another, with pip; recreates it if its base interpreter has
    changed.

    Run by the interpreter of the environment itself, it keeps it, which it could not create again.
    """
    if Path(sys.prefix).resolve() == folder.resolve():
        return
    identity = f"{sys.version}\n{sys.executable}\n"
    stamp = folder / "spanwise-python"
    if stamp.is_file() and stamp.read_text() == identity and (folder / "bin" / "python").exists():
        return
    say(f"making {folder.relative_to(ROOT)} from Python {sys.version.split()[0]}")
    shutil.rmtree(folder, ignore_errors=True)
    # Debian packages ensurepip separately; without it pip is taken from python3-pip-whl.
    command = [sys.executable, "-c", "import ensurepip, venv"]
    has_ensurepip = subprocess.run(command, capture_output=True).returncode == 0
    if has_ensurepip:
        run([sys.executable, "-m", "venv", folder])
    else:
        run([sys.executable, "-m", "venv", "--without-pip", folder])
        wheels = debian.unpack("python3-pip-whl", needed_for="pip")
        wheel = next(wheels.glob("usr/share/python-wheels/pip-*.whl"))
        site = next(folder.glob("lib/python*/site-packages"))
        shutil.unpack_archive(wheel, site, "zip")
        use_own_authorities(site / "pip" / "_vendor" / "certifi")
    stamp.write_text(identity)


def use_own_authorities(certifi: Path) -> None:
    """Lets Debian's pip read the certificate authorities that it contains where the machine has
    none: pip 25 reads them whenever it starts, whatever PIP_CERT says."""
    bundle = certifi / "cacert.pem"
    if bundle.exists() and not AUTHORITIES.exists():
        core = certifi / "core.py"
        core.write_text(core.read_text().replace(repr(str(AUTHORITIES)), repr(str(bundle))))


def apart(group: str) -> Path:
    """The environment of a group that has one of its own."""
    return CACHE / f"venv-{group}"


def install(group: str) -> None:
    """Installs requirements/<group>.txt, with LOCKED=1 the versions and files of
    requirements/locked/<group>.txt, unless its stamp file has the hash of that file."""
    is_locked = os.environ.get("LOCKED", "0") not in ("", "0")
    requirements = ROOT / "requirements" / ("locked" if is_locked else "") / f"{group}.txt"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    venv = apart(group) if group in APART else VENV
    stamp = venv / f"spanwise-{group}"
    if stamp.is_file() and stamp.read_text() == digest:
        return
    say(f"installing the packages in requirements/{group}.txt")
    command = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--prefer-binary"]
    if is_locked:
        command.append("--require-hashes")
    if group in OPTIONAL:
        command += ["--only-binary", ":all:"]
    pip = subprocess.run([*map(str, command), "-r", str(requirements)], env=pip_environment())
    if pip.returncode != 0 and group not in OPTIONAL:
        raise SystemExit(
            f"spanwise: pip could not install requirements/{group}.txt (see above). Without a package "
            "index, install those packages for python3 and run make with OFFLINE=1."
        )
    if pip.returncode != 0:
        say(f"continuing without requirements/{group}.txt, which is optional")
    # Also after a failure of an optional group, which is tried again only when its file changes.
    stamp.write_text(digest)


def pip_environment() -> dict[str, str]:
    """The environment for pip; sets PIP_CERT if the machine has no certificate authorities."""
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    is_configured = any(
        os.environ.get(name) for name in ("PIP_CERT", "SSL_CERT_FILE", "PIP_CONFIG_FILE")
    )
    if is_configured or AUTHORITIES.exists() or not debian.can_unpack():
        return environment
    bundle = CACHE / "certificates.crt"
    if not bundle.exists():
        certificates = debian.unpack("ca-certificates", needed_for="certificate authorities")
        files = sorted(certificates.glob("usr/share/ca-certificates/mozilla/*.crt"))
        bundle.write_text("".join(file.read_text() for file in files))
    return {**environment, "PIP_CERT": str(bundle)}


def provide_python_headers() -> None:
    """Unpacks Python.h from a Debian package if the interpreter has none."""
    if python_headers():
        return
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    say(f"fetching the headers of {name}")
    unpacked = debian.unpack(f"lib{name}-dev", needed_for="Python.h") / "usr" / "include"
    partial = PYTHON_HEADERS.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(unpacked / name, partial)
    # The packaged pyconfig.h includes that of the architecture by its system path; replace it.
    for pyconfig in unpacked.glob(f"*-linux-*/{name}/pyconfig.h"):
        shutil.copy(pyconfig, partial / "pyconfig.h")
    partial.rename(PYTHON_HEADERS)  # last, so that an interrupted copy is not taken for complete


def provide_googletest() -> None:
    """Unpacks GoogleTest's sources from a Debian package unless GoogleTest is installed or
    $SPANWISE_GTEST_SOURCE is set."""
    installed = [
        Path("/usr/src/googletest"),
        Path("/usr/include/gtest"),
        Path("/usr/local/include/gtest"),
    ]
    if "SPANWISE_GTEST_SOURCE" in os.environ or any(path.exists() for path in installed):
        return
    if not GOOGLETEST.exists():
        say("fetching GoogleTest")
        debian.unpack("googletest", needed_for="GoogleTest's sources")


def run(command: list, **options) -> None:
    subprocess.run([str(part) for part in command], check=True, **options)


def say(text: str) -> None:
    print(f"spanwise: {text}", flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except debian.MissingDependency as missing:
        raise SystemExit(f"spanwise: {missing}") from None
