# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds in which one of three ranks of mpiexec gets a signal at a random time, from its start to its exit.

    PYTHONPATH=build/release/python:tests python -m addons.collectives.signal_rounds --rounds 100

"kill": SIGKILL, "stop": SIGSTOP, "pause": SIGSTOP, and SIGCONT before the time limit, and "interrupt":
SIGINT. The other ranks must end within 1.5 times the time limit, by an error that names the reason or
because they were ready. A pause must not be an error. No rank may end by another signal."""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from addons.collectives.launch import environment, mpiexec, python_command

RANKS, TIMEOUT = 3, 5.0
#: Seconds of a pause, and the longest time from the start of a rank to its signal.
PAUSE, LATEST = 1.5, 4.0
#: Writes the exit status and the time, then keeps the launcher from ending the other ranks.
SHELL = (
    '"$0" "$@"; echo "$? $(date +%s.%N)" > "$FOLDER/end${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"; '
    'while [ ! -e "$FOLDER/over" ]; do sleep 0.1; done'
)
ERRORS = ("CollectiveError: ", "TimeoutError: init: ")
SIGNALS = {"kill": signal.SIGKILL, "interrupt": signal.SIGINT}  # the others begin with SIGSTOP
INTERRUPTED = 128 + signal.SIGINT  # the exit status that the shell writes


def read(path, seconds):
    """The text of a file that a rank writes; None where it is not there after `seconds`."""
    end = time.time() + seconds
    while not path.exists() or not (text := path.read_text()):
        if time.time() > end:
            return None
        time.sleep(0.01)
    return text


def problems_of_rank(rank, folder, sent_at, kind, is_victim):
    end = read(folder / f"end{rank}", 30)
    if end is None:
        return [f"rank {rank} has not ended after 30 s"]
    status, ended_at = int(end.split()[0]), float(end.split()[1])
    if is_victim and kind == "interrupt" and status == INTERRUPTED:
        return []
    if not (folder / f"outcome{rank}").exists():
        return [f"rank {rank}: exit status {status}"]
    outcome = (folder / f"outcome{rank}").read_text()
    problems = []
    if outcome and (kind == "pause" or not outcome.startswith(ERRORS)):
        problems.append(f"rank {rank}: {outcome}")
    seconds = ended_at - max(sent_at, float(read(folder / f"begin{rank}", 0) or "0"))
    if kind != "pause" and seconds > 1.5 * TIMEOUT:
        problems.append(f"rank {rank} has ended after {seconds:.1f} s: {outcome}")
    if status != (1 if outcome else 0):
        problems.append(f"rank {rank}: exit status {status}: {outcome}")
    return problems


def run_round(kind, victim, point, delay, check):
    """The problems of one round: the signal comes `delay` seconds after rank `victim` has written `point`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = python_command("signal_program.py", folder, [str(TIMEOUT), str(check)])
        command = [mpiexec(), "-n", str(RANKS), "sh", "-c", SHELL, *program]
        with open(folder / "output", "w+") as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=output, start_new_session=True,
                env=environment() | {"FOLDER": name},
            )  # fmt: skip
            try:
                number = int(read(folder / f"process{victim}", 30))
                read(folder / f"{point}{victim}", 30)
                time.sleep(delay)
                if not (
                    folder / f"end{victim}"
                ).exists():  # else another process may have the number
                    send(kind, number)
                sent_at = time.time()
                ranks = set(range(RANKS)) - ({victim} if kind in ("kill", "stop") else set())
                problems = [
                    problem
                    for rank in ranks
                    for problem in problems_of_rank(rank, folder, sent_at, kind, rank == victim)
                ]
            finally:
                (folder / "over").touch()
                os.killpg(process.pid, signal.SIGCONT)
                for rank in range(RANKS):
                    number = read(folder / f"process{rank}", 0)
                    if number is not None and not (folder / f"end{rank}").exists():
                        end_process(int(number))
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        text = (folder / "output").read_text()
    where = f"{kind} of rank {victim} {delay:.2f} s after {point!r} with check={check}"
    return [f"{where}: {problem}\n{text[-3000:]}" for problem in problems]


def send(kind, process):
    with contextlib.suppress(ProcessLookupError):  # it has ended
        os.kill(process, SIGNALS.get(kind, signal.SIGSTOP))
        if kind == "pause":
            time.sleep(PAUSE)
            os.kill(process, signal.SIGCONT)


def end_process(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser(prog="python -m addons.collectives.signal_rounds")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="kill,stop,pause")
    arguments = parser.parse_args()
    total = 0
    for kind in arguments.only.split(","):
        problems = []
        for seed in range(arguments.seed, arguments.seed + arguments.rounds):
            draw = random.Random(f"{kind} {seed}")
            victim, delay = draw.randrange(RANKS), draw.uniform(0, LATEST)
            for problem in run_round(kind, victim, "process", delay, draw.choice((0, 20, -1))):
                problems.append(problem)
                print(f"--seed {seed}: {problem}", flush=True)
        print(f"{kind}: {arguments.rounds} rounds, {len(problems)} problems", flush=True)
        total += len(problems)
    return 1 if total else 0


if __name__ == "__main__":
    raise SystemExit(main())
