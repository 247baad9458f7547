# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes what the committed benchmark reports say: reports.py [--check].

Formats docs/benchmarks/*.json with one measurement a line, lists the reports in
docs/benchmarks/README.md, and writes the cost table of README.md from the newest report of
COST_DEVICE. With --check nothing is written, and the exit status is 1 if a file would change.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

from paths import ROOT

REPORTS = ROOT / "docs" / "benchmarks"
#: Values whose text is at most this long are on one line; so is each measurement.
LINE = 100
COST_DEVICE = "NVIDIA H200"
#: Rows of README's table: a text, the name of a benchmark line, our contender of that line (None:
#: the one that the line names), and the others with the text for each.
COSTS = [
    (
        "a kernel call with three arrays",
        "kernel call, three arrays, on cuda:0",
        None,
        {"C cuLaunchKernel": "`cuLaunchKernel` in C", "cupy.RawKernel": "CuPy"},
    ),
    (
        "`a + b`, 16 elements",
        "host time of a + b on a GPU, 16 float32",
        None,
        {"torch": "PyTorch", "cupy": "CuPy"},
    ),
    (
        "an `ElementwiseKernel` with three arrays",
        "host time of an ElementwiseKernel with three arrays on a GPU, 16 float32",
        None,
        {"cupy": "CuPy", "pycuda": "PyCUDA"},
    ),
    (
        "a compiled function of 10 kernels; of one",
        "host time of a function of kernel ops on cuda:0, 256 float32",
        "function of 10 kernel ops",
        {"function of 1 kernel op": "one:"},
    ),
    (
        "`exp` of 230400 values, a thousand times, including synchronization",
        "1000 x exp of 230400 float32 on cuda:0, results left there",
        None,
        {"torch": "PyTorch", "cupy": "CuPy", "jax.jit": "JAX"},
    ),
    (
        "a training step of logistic regression, 400 x 784",
        "training step of logistic regression, 400 x 784 float32, cuda:0",
        None,
        {"PyTorch, CUDA graph": "PyTorch in a CUDA graph", "JAX, compiled": "JAX"},
    ),
    (
        "import of a PyTorch tensor on a GPU",
        "exchange with PyTorch, cuda",
        None,
        {"torch.from_dlpack(tensor)": "`torch.from_dlpack` of a PyTorch tensor"},
    ),
    (
        "import of a CuPy array",
        "exchange with CuPy",
        None,
        {"cupy.from_dlpack(cupy array)": "`cupy.from_dlpack` of a CuPy array"},
    ),
    (
        "conversion of a PyTorch tensor to a CuPy array",
        "a PyTorch tensor as CuPy's",
        None,
        {"cupy.from_dlpack": "`cupy.from_dlpack`"},
    ),
    (
        "from process start to the result of a kernel",
        "start to first kernel result on cuda:0, warm cache",
        None,
        {"cupy": "CuPy", "pycuda": "PyCUDA"},
    ),
]
COST_MARKS = ("<!-- costs: written by scripts/reports.py -->", "<!-- end of costs -->")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    reports = {file: json.loads(file.read_text()) for file in sorted(REPORTS.glob("*.json"))}
    texts = {file: report_text(report) for file, report in reports.items()}
    texts[REPORTS / "README.md"] = index_text(reports)
    readme = ROOT / "README.md"
    texts[readme] = with_costs(readme.read_text(), reports)
    changed = [
        file for file, text in texts.items() if not file.exists() or file.read_text() != text
    ]
    for file in changed:
        print(f"{'would change' if check else 'written'}: {file.relative_to(ROOT)}")
        if not check:
            file.write_text(texts[file])
    if check and changed:
        print("Remedy: python3 scripts/reports.py")
    return 1 if check and changed else 0


def report_text(report: dict) -> str:
    """JSON in which every measurement, an object with "contenders", is one line."""
    return _indented(report, 0) + "\n"


def _indented(value, depth: int) -> str:
    compact = json.dumps(value)
    is_measurement = isinstance(value, dict) and "contenders" in value
    if is_measurement or not isinstance(value, dict | list) or len(compact) + depth <= LINE:
        return compact
    inner = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_indented(part, depth + 1)}" for key, part in value.items()]
    else:
        parts = [_indented(part, depth + 1) for part in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n{inner}" + f",\n{inner}".join(parts) + f"\n{' ' * depth}{last}"


def measurements(value) -> Iterator[dict]:
    """The measurements anywhere in a report."""
    if isinstance(value, dict) and "contenders" in value:
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from measurements(part)


def index_text(reports: dict[Path, dict]) -> str:
    rows = [
        f"| [{file.name}]({file.name}) | {device_of(report)} | `{report.get('commit', '')[:8]}` "
        f"| {sum(1 for _ in measurements(report))} | {tests_of(report)} |"
        for file, report in reports.items()
    ]
    return "\n".join(
        [
            "# Reports of tests and benchmarks",
            "",
            "The newest report of each kind of machine, and those that a page cites. Times are in",
            "microseconds: the median, the middle half and the least of the rounds; `ours_over_this` is the",
            "ratio of the medians. `make gpu-report` writes a report on a GPU machine, `make bench` measures",
            "on any; `scripts/reports.py` formats reports and writes this page and the table of costs in",
            "[README.md](../../README.md).",
            "",
            "| report | machine | commit | measurements | Python tests |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def device_of(report: dict) -> str:
    device = report.get("device")
    if isinstance(device, dict):
        count = device.get("count", 1)
        return device["name"] if count == 1 else f"{count} x {device['name']}"
    return str(device or f"CPU, {report.get('processors', '?')} processors")


def tests_of(report: dict) -> str:
    tests = report.get("python_tests")
    if not isinstance(tests, dict) or not {"skipped", "failed"} <= set(tests):
        return ""  # of selected files only
    skipped, failed = tests["skipped"], tests["failed"]
    failed = len(failed) if isinstance(failed, list) else failed
    passed = tests["count"] - skipped - failed if "count" in tests else tests["passed"]
    return f"{passed} passed, {failed} failed, {skipped} skipped"


def with_costs(readme: str, reports: dict[Path, dict]) -> str:
    """README with the cost table of the newest report that has all its lines."""
    names = {name for _, name, _, _ in COSTS}
    tables = {
        file: {m["name"]: m for m in measurements(report)} for file, report in reports.items()
    }
    fitting = [
        file
        for file, report in reports.items()
        if device_of(report) == COST_DEVICE and names <= set(tables[file])
    ]
    if not fitting:
        raise SystemExit(f"spanwise: no report of an {COST_DEVICE} has all lines of COSTS")
    file = fitting[-1]
    lines = tables[file]
    rows = [cost_row(text, lines[name], ours, others) for text, name, ours, others in COSTS]
    link = f"docs/benchmarks/{file.name}"
    table = [
        COST_MARKS[0],
        f"Host time in microseconds on a machine with an H200, medians of one run ([report]({link})):",
        "",
        "| | Spanwise | others |",
        "|---|---|---|",
        *rows,
        COST_MARKS[1],
    ]
    pattern = re.escape(COST_MARKS[0]) + ".*" + re.escape(COST_MARKS[1])
    found = re.search(pattern, readme, re.DOTALL)
    if not found:
        raise SystemExit(f"spanwise: README.md lacks the lines {' and '.join(COST_MARKS)}")
    return readme[: found.start()] + "\n".join(table) + readme[found.end() :]


def cost_row(text: str, line: dict, ours: str | None, others: dict[str, str]) -> str:
    contenders = line["contenders"]
    peers = [f"{label} {number(contenders[name])}" for name, label in others.items()]
    return f"| {text} | {number(contenders[ours or line['ours']])} | {', '.join(peers)} |"


def number(contender: dict) -> str:
    """Three significant digits of the median."""
    value = contender["median_us"]
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.3g}"


if __name__ == "__main__":
    raise SystemExit(main())
