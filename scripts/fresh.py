#!/usr/bin/env python3
# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `make demo` and `make test` in a Debian that has only git, make, a compiler and python3.

fresh.py [SUITE] [--cxx g++|clang++]. The system is made by debootstrap in build/fresh-SUITE, which
is replaced, and contains a clone of HEAD that an unprivileged user owns. Needs root, for chroot, and
a network. Packages come from this machine's Debian mirror, or from $DEBIAN_MIRROR; pip gets this
machine's configuration by environment variables.
"""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

from paths import BUILD, ROOT

#: Debian packages of each compiler.
COMPILERS = {"g++": "g++", "clang++": "clang"}
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
#: The unprivileged user inside.
USER = 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suite", nargs="?", default="bookworm", help="of Debian: bookworm, trixie")
    parser.add_argument("--cxx", choices=COMPILERS, default="g++")
    options = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("spanwise: make fresh needs root for chroot. Remedy: sudo make fresh")
    if not shutil.which("debootstrap"):
        raise SystemExit(
            "spanwise: debootstrap is missing on this machine. Remedy: apt-get install debootstrap"
        )
    system = BUILD / f"fresh-{options.suite}"
    shutil.rmtree(system, ignore_errors=True)
    make_system(system, options.suite, COMPILERS[options.cxx])
    copy_checkout(system)
    environment = inner_environment(system, options.cxx)
    for target in ("demo", "test"):
        print(f"\n== make {target}, {options.suite}, {options.cxx}", flush=True)
        if run_inside(system, ["make", target], environment) != 0:
            print(f"spanwise: make {target} failed in {system}, which is kept")
            return 1
    shutil.rmtree(system)
    print(f"\nspanwise: make demo and make test passed in a fresh {options.suite}, {options.cxx}")
    return 0


def make_system(system: Path, suite: str, compiler: str) -> None:
    system.parent.mkdir(parents=True, exist_ok=True)
    include = f"--include=git,make,python3,{compiler}"
    command = ["debootstrap", "--variant=minbase", include, suite, str(system), *mirror()]
    log = system.with_suffix(".log")
    with log.open("w") as output:
        status = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT).returncode
    if status != 0:
        raise SystemExit(f"spanwise: debootstrap could not make {suite}; see {log}")


def mirror() -> list[str]:
    """$DEBIAN_MIRROR, else the mirror of this machine's package lists, else debootstrap's own."""
    if chosen := os.environ.get("DEBIAN_MIRROR"):
        return [chosen]
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)"]
    listing = subprocess.run(command, capture_output=True, text=True).stdout
    words = (line.split() for line in listing.splitlines())
    return [line[2] for line in words if line[:2] == ["Debian", "Debian"]][:1]


def copy_checkout(system: Path) -> None:
    """Clones HEAD into /src of the system."""
    if status := subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True
    ).stdout:
        print(f"spanwise: make fresh tests HEAD, without these changes:\n{status}")
    checkout = system / "src"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, checkout], check=True)
    subprocess.run(["chown", "-R", f"{USER}:{USER}", checkout], check=True)


def inner_environment(system: Path, compiler: str) -> dict[str, str]:
    """The variables inside: none of this machine's, but for pip and proxies."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name in PROXIES or (name.startswith("PIP_") and name != "PIP_FIND_LINKS")
    }
    if certificates := environment.get("PIP_CERT"):
        environment["PIP_CERT"] = "/certificates.crt"
        shutil.copy(certificates, system / "certificates.crt")
    environment |= {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/src", "LANG": "C.UTF-8"}
    if compiler != "g++":
        environment["CXX"] = compiler
    return environment


def run_inside(system: Path, command: list[str], environment: dict[str, str]) -> int:
    """The exit status of the command in /src, run by the unprivileged user."""
    # What an installed or booted system has and debootstrap leaves out.
    shutil.copy("/etc/resolv.conf", system / "etc/resolv.conf")
    (system / "etc/hosts").write_text("127.0.0.1 localhost\n")
    # The mounts belong to a namespace of their own, so they end with the command.
    mounts = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && '
    script = mounts + 'mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"'
    identity = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    namespace = ["unshare", "--mount", "sh", "-c", script, system]
    user = ["setpriv", *identity, "env", "--chdir=/src"]
    return subprocess.run([*namespace, *user, *command], env=environment).returncode


if __name__ == "__main__":
    raise SystemExit(main())
