# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes results as text and as JSON."""

import json
import os
import platform
import sys

from harness import Result


def as_text(result: Result) -> str:
    ours = result.contenders[result.ours].median
    rows = []
    for name, figures in result.contenders.items():
        low, high = figures.spread
        ratio = "" if name == result.ours else f"   ours / this = {ours / figures.median:.3g}"
        rows.append(
            f"  {name:<32} {_with_unit(figures.median):>10}  [{_with_unit(low)} .. {_with_unit(high)}]{ratio}"
        )
    head = result.name + (f"  ({result.note})" if result.note else "")
    goal = ""
    if result.goal is not None:
        verdict = {True: "reached", False: "NOT reached", None: "peer absent"}[result.reached]
        goal = f"\n  goal: {_goal_text(result.goal)}: {verdict}"
    return head + "\n" + "\n".join(rows) + goal + "\n"


def verdicts(results: list[Result]) -> dict[str, dict]:
    """For each table: the number of its lines whose ratio to a peer was measured, the number of those that
    reached their goal, and the ratios in descending order."""
    summaries = {}
    for table in dict.fromkeys(r.table for r in results if r.table is not None):
        lines = [r for r in results if r.table == table and r.ratio is not None]
        lines.sort(key=lambda r: r.ratio, reverse=True)
        summaries[table] = {
            "lines": len(lines),
            "reached": sum(bool(r.reached) for r in lines),
            "ours_over_peer": {r.name: r.ratio for r in lines},
            "not_reached": [r.name for r in lines if not r.reached],
        }
    return summaries


def verdicts_as_text(results: list[Result]) -> str:
    """A sentence for each table, which ends with the table's name, and the lines that missed their goal."""
    text = ""
    for table, verdict in verdicts(results).items():
        text += f"{verdict['reached']} of {verdict['lines']} lines {table}\n"
        for name in verdict["not_reached"]:
            text += f"  behind: {verdict['ours_over_peer'][name]:.2f}  {name}\n"
    return text


def as_json(results: list[Result]) -> str:
    """With a high "load_average", other processes may have used the processors of worker threads."""
    return json.dumps(
        {
            "python": platform.python_version(),
            "platform": platform.platform(),
            "versions": _versions(),
            "processors": os.cpu_count(),
            "load_average": os.getloadavg(),
            "lines": [_record(r) for r in results],
            "verdicts": verdicts(results),
        },
        indent=1,
    )


def _record(result: Result) -> dict:
    return {
        "name": result.name,
        "note": result.note,
        "table": result.table,
        "ours": result.ours,
        "goal": None if result.goal is None else _goal_text(result.goal),
        "reached": result.reached,
        "contenders": {
            name: {
                "median_us": figures.median * 1e6,
                "middle_half_us": [s * 1e6 for s in figures.spread],
                "least_us": figures.fastest * 1e6,
                "rounds": len(figures.seconds),
                "ours_over_this": result.contenders[result.ours].median / figures.median,
            }
            for name, figures in result.contenders.items()
        },
    }


def _versions() -> dict[str, str]:
    from importlib import metadata

    names = (
        "spanwise",
        "numpy",
        "torch",
        "cupy-cuda13x",
        "jax",
        "numba-cuda",
        "cuda-core",
        "pycuda",
    )
    versions = {}
    for name in names:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    if "spanwise" not in versions and "spanwise" in sys.modules:
        versions["spanwise"] = sys.modules["spanwise"].__version__
    return versions


def _goal_text(goal: tuple[str, str | None, float]) -> str:
    kind, peer, bound = goal
    return {
        "ratio": f"<= {bound:g} x {peer}",
        "over": f"<= {peer} + {_with_unit(bound)}",
        "at most": f"<= {_with_unit(bound)}",
    }[kind]


def _with_unit(seconds: float) -> str:
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
