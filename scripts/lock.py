# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Renews requirements/locked/: the newest version of each package of requirements/*.txt and of those
that they need, on every platform and Python that the project supports, with hashes of the files.
lock.py [GROUP...]"""

import subprocess
import sys

from paths import ROOT

FOLDER = ROOT / "requirements"
HEAD = """\
# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
# Written by scripts/lock.py from requirements/{}.txt; renewed by `make lock`.
"""
#: The oldest Python of groups whose packages have left older ones.
PYTHONS = {"docs": "3.11", "peers": "3.11"}
#: Groups whose purpose is what others release from now on, or that are exact themselves.
UNLOCKED = {"newest", "oldest"}


def main(groups: list[str]) -> int:
    (FOLDER / "locked").mkdir(exist_ok=True)
    for file in sorted(FOLDER.glob("*.txt")):
        if file.stem in UNLOCKED or (groups and file.stem not in groups):
            continue
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"]
        command += ["--generate-hashes", "--no-header", "--no-annotate", "--upgrade"]
        command += ["--python-version", PYTHONS.get(file.stem, "3.10"), str(file)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stderr)
            raise SystemExit(f"spanwise: {file.name} could not be locked (see above)")
        (FOLDER / "locked" / file.name).write_text(HEAD.format(file.stem) + done.stdout)
        print(f"requirements/locked/{file.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
