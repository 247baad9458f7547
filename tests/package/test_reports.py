# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The committed reports are formatted and listed, and README's cost table has their figures."""

import json
import sys

from support import package
from support.tree import ROOT


def test_readme_and_the_list_of_reports_say_what_the_reports_do():
    package.run(sys.executable, ROOT / "scripts" / "reports.py", "--check")


def test_a_measurement_is_one_line_of_a_report():
    line = {"name": "a" * 200, "contenders": {"ours": {"median_us": 1.0}}}
    report = {"lines": [line, line], "note": "short"}
    text = package.run_in_scripts(
        f"import json, reports; print(reports.report_text(json.loads({json.dumps(report)!r})))"
    )
    assert json.loads(text) == report
    assert text.count(json.dumps(line)) == 2
