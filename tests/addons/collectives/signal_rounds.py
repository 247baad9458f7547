# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Rounds in which one of three ranks of mpiexec gets a signal at a random time, from its start to its exit.

    PYTHONPATH=build/release/python:tests python -m addons.collectives.signal_rounds --rounds 100

"kill": SIGKILL, "stop": SIGSTOP, "pause": SIGSTOP, and SIGCONT before the time limit, and "interrupt":
SIGINT. The other ranks must end within 1.5 times the time limit, by an error that names the reason or
because they were ready. A pause must not be an error. No rank may end by another signal.

On a machine with other work a rank may not run at all for as long as a time limit. A round with a problem
in which a rank waited for a processor most of the time is repeated with twice the limit, and says so."""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from addons.collectives.launch import environment, mpiexec, python_command

RANKS, TIMEOUT, LONGEST_TIMEOUT = 3, 5.0, 80.0
#: The part of a round for which a rank waits for a processor, from which on it is repeated; three ranks
#: that poll on two processors wait for a third of it.
STARVED = 0.5
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


class WaitTimes(threading.Thread):
    """Samples for how long the threads of each rank have waited for a processor, in seconds."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.by_rank, self.is_over = folder, {}, threading.Event()
        self.begin = time.monotonic()
        self.start()

    def run(self):
        while not self.is_over.wait(0.1):
            for rank in range(RANKS):
                number = read(self.folder / f"process{rank}", 0)
                # run time, time on a run queue, number of time slices (sched-stats.rst of Linux)
                with contextlib.suppress(OSError):
                    status = Path(f"/proc/{number}/schedstat").read_text()
                    self.by_rank[rank] = int(status.split()[1]) / 1e9

    def largest_part(self):
        """Ends the sampling. Of the time since the begin, that of the rank that waited longest."""
        self.is_over.set()
        return max(self.by_rank.values(), default=0.0) / (time.monotonic() - self.begin)


def problems_of_rank(rank, folder, sent_at, kind, is_victim, timeout):
    longest = 6 * timeout
    end = read(folder / f"end{rank}", longest)
    if end is None:
        return [f"rank {rank} has not ended after {longest:g} s"]
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
    if kind != "pause" and seconds > 1.5 * timeout:
        problems.append(f"rank {rank} has ended after {seconds:.1f} s: {outcome}")
    if status != (1 if outcome else 0):
        problems.append(f"rank {rank}: exit status {status}: {outcome}")
    return problems


def run_round(kind, victim, point, delay, check):
    """The problems of one round: the signal comes `delay` seconds after rank `victim` has written `point`."""
    timeout = TIMEOUT
    while True:
        problems, waited = run_once(kind, victim, point, delay, check, timeout)
        if not problems or waited < STARVED or timeout >= LONGEST_TIMEOUT:
            return problems
        timeout *= 2
        print(
            f"repeated, since a rank waited for a processor {waited:.0%} of the time: {problems[0]}"
        )


def run_once(kind, victim, point, delay, check, timeout):
    """The problems, and the part of the time for which a rank waited for a processor."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = python_command("signal_program.py", folder, [str(timeout), str(check)])
        command = [mpiexec(), "-n", str(RANKS), "sh", "-c", SHELL, *program]
        with open(folder / "output", "w+") as output:
            process = subprocess.Popen(
                command, stdout=output, stderr=output, start_new_session=True,
                env=environment() | {"FOLDER": name},
            )  # fmt: skip
            wait_times = WaitTimes(folder)
            try:
                number = int(read(folder / f"process{victim}", 120))
                read(folder / f"{point}{victim}", 6 * timeout)
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
                    for problem in problems_of_rank(
                        rank, folder, sent_at, kind, rank == victim, timeout
                    )
                ]
            finally:
                waited = wait_times.largest_part()
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
    return [f"{where}: {problem}\n{text[-3000:]}" for problem in problems], waited


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
