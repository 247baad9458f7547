# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The loops, and the processes that run them: `python -m faults.run KIND ...` is started with the
injector preloaded or with the fake driver."""

from __future__ import annotations

import argparse
import errno
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from support.tree import ROOT

KINDS = ("allocations", "system_calls", "driver_calls")
#: What a system call answers: an error of the device, no space, no descriptors, an interrupt.
SYSTEM_CODES = (errno.EIO, errno.ENOSPC, errno.EMFILE, errno.EINTR)
#: CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_UNKNOWN.
DRIVER_CODES = {2: "CUDA_ERROR_OUT_OF_MEMORY", 999: "CUDA_ERROR_UNKNOWN"}


def environment(kind: str) -> dict[str, str]:
    """The environment of a process in which calls of that kind can fail."""
    from faults import fake_driver, injector

    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if kind == "driver_calls":
        env["LD_LIBRARY_PATH"] = f"{fake_driver.FOLDER}:{env.get('LD_LIBRARY_PATH', '')}"
    else:
        env["LD_PRELOAD"] = f"{injector.LIBRARY}:{env.get('LD_PRELOAD', '')}".rstrip(":")
        env["CUDA_VISIBLE_DEVICES"] = ""  # a process that uses a GPU cannot fork
    return env


def run(kind: str, *options: str) -> tuple[list[dict[str, Any]], str]:
    """The findings of the loop, in a process of its own, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "findings.json"
        command = [sys.executable, "-m", "faults.run", kind, "--json", str(report), *options]
        process = subprocess.run(
            command, env=environment(kind), cwd=ROOT, capture_output=True, text=True, check=False
        )
        output = process.stdout + process.stderr
        if process.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}\n{output}")
        return json.loads(report.read_text()), output


# ---- In that process ----


def faults_of(kind: str) -> tuple[dict[str, Callable[[], Any]], list[Any]]:
    """The operations of a kind, and what fails in them."""
    import spanwise as sw
    from faults.loop import Fault

    if kind == "driver_calls":
        from faults.driver_operations import DRIVER_OPERATIONS
        from faults.fake_driver import FakeDriver

        driver = FakeDriver()
        # The driver starts once in a process: after a failure of that no next call can be right.
        started = {name: after_start(make) for name, make in DRIVER_OPERATIONS.items()}
        faults = [
            Fault(driver, code, (sw.DeviceError,), (name,)) for code, name in DRIVER_CODES.items()
        ]
        return started, faults
    from faults.injector import Injector, Kind

    if kind == "allocations":
        from faults.operations import OPERATIONS

        return OPERATIONS, [Fault(Injector(Kind.allocations), 0, (MemoryError,))]
    from faults.system_operations import SYSTEM_OPERATIONS

    injector = Injector(Kind.system_calls)
    errors = (sw.DeviceError, sw.CompileError, sw.ArgumentError, OSError, MemoryError)
    faults = [
        Fault(injector, code, errors, (os.strerror(code),), code == errno.EINTR)
        for code in SYSTEM_CODES
    ]
    return SYSTEM_OPERATIONS, faults


def after_start(make: Callable[[], Any]) -> Callable[[], Any]:
    def prepare() -> Any:
        import spanwise as sw

        sw.devices()
        return make()

    return prepare


def findings_of(kind: str, names: list[str], arguments: argparse.Namespace) -> Iterator[Any]:
    from faults.loop import run_cold, run_warm

    operations, faults = faults_of(kind)
    for name in names or operations:
        for fault in faults:
            begin = time.monotonic()
            warm, count = (
                ([], 0)
                if arguments.cold_only
                else run_warm(name, operations[name], fault, arguments.step)
            )
            cold, cold_count = run_cold(name, operations[name], fault, arguments.step)
            print(
                f"{name}, code {fault.code}: {count} calls and {cold_count} of a first run, "
                f"{len(warm) + len(cold)} findings, {time.monotonic() - begin:.1f} s",
                flush=True,
            )
            for finding in warm + cold:
                print(f"    {finding}", flush=True)
                if arguments.stacks:
                    print(finding.stack)
                yield finding


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m faults.run")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--only", default="", metavar="NAME,...", help="these operations")
    parser.add_argument("--step", type=int, default=1, help="every STEP-th call fails")
    parser.add_argument("--cold-only", action="store_true", help="first runs only")
    parser.add_argument("--stacks", action="store_true", help="print call stacks")
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes the findings")
    arguments = parser.parse_args()
    names = [name for name in arguments.only.split(",") if name]
    with tempfile.TemporaryDirectory() as folder:
        from faults.system_operations import use_quick_compiler

        use_quick_compiler(Path(folder))
        findings = list(findings_of(arguments.kind, names, arguments))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(finding) for finding in findings]))
    print(f"{arguments.kind}: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
