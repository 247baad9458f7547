# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine "mpi": three ranks of mpiexec. One start for all operations and one for all failures,
since each takes seconds."""

import pytest
from addons.collectives.launch import program_of_guide, run_mpi, why_no_mpi
from addons.collectives.signal_rounds import run_round

from addons.collectives import signal_rounds

pytestmark = pytest.mark.skipif(bool(why_no_mpi()), reason=why_no_mpi())


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    results, output = run_mpi("failures.py", tmp_path_factory.mktemp("failures"), "mpi")
    assert None not in results, output
    return results


def texts(failures, key, ranks=(0, 1, 2)):
    """Yields the error texts of the ranks, whose outcomes must be CollectiveErrors."""
    for rank in ranks:
        kind, text, _ = failures[rank][key]
        assert kind == "CollectiveError", (rank, failures[rank][key])
        yield text


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_all_operations_dtypes_and_layouts_equal_numpy(tmp_path, kind, request):
    if kind == "gpu":
        request.getfixturevalue("gpu")
    results, output = run_mpi("all_operations.py", tmp_path, "mpi", kind)
    assert None not in results, output
    assert [result["problems"] for result in results] == [[], [], []]
    assert {result["engine"] for result in results} == {"mpi"}
    assert min(result["count"] for result in results) > 500


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_graphs_with_collectives_match_numpy(tmp_path, kind, request):
    if kind == "gpu":
        request.getfixturevalue("gpu")
    results, output = run_mpi("graphs.py", tmp_path, "mpi", kind)
    assert None not in results, output
    assert [result["problems"] for result in results] == [[], [], []]


def test_program_of_the_guide_prints_true(tmp_path):
    _, output = run_mpi(program_of_guide(tmp_path), tmp_path)
    assert output.split() == ["True"]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("shapes", ("float64 (3,)", "float64 (4,)")),
        ("dtypes", ("float64 (3,)", "float32 (3,)")),
        ("ops", ("all_reduce(max)", "all_reduce(sum)")),
        ("order", ("all_gather of float64 (3, 4)", "broadcast from rank 0 of float64 (3, 4)")),
        ("roots", ("from rank 0", "from rank 1", "from rank 2")),
    ],
)
def test_different_calls_are_an_error_on_every_rank(failures, key, words):
    for text in texts(failures, key):
        assert "the ranks disagree" in text
        assert all(word in text for word in words)
        assert "rank 2: " in text


def test_a_message_of_another_shape_is_an_error_on_both_ranks(failures):
    assert failures[2]["messages"][0] == ""
    for text in texts(failures, "messages", (0, 1)):
        assert "float64 (3, 4)" in text and "float64 (2,)" in text


def test_the_communicator_is_usable_after_ranks_disagreed(failures):
    assert [failures[rank]["afterwards"][0] for rank in range(3)] == ["", "", ""]


@pytest.mark.parametrize("key", ["late", "late unchecked"])
def test_a_late_rank_is_an_error_after_the_time_limit(failures, key):
    for rank, text in zip((0, 2), texts(failures, key, (0, 2)), strict=True):
        # The limit is 3 s.
        assert 2.5 < failures[rank][key][2] < 20
        assert "rank 1: no call yet" in text
    # Unchecked, rank 1 may get its sum: the others had sent their part.
    assert failures[1][key][0] in (
        ("CollectiveError",) if key == "late" else ("CollectiveError", "")
    )
    for text in texts(failures, key + " again"):
        assert "communicator world" in text
    assert all(failures[rank][key + " failure"] for rank in range(3))


def test_a_rank_that_raises_ends_the_calls_of_the_others(failures):
    assert failures[2]["raises"][:2] == ["ValueError", "the data of rank 2 are wrong"]
    for rank, text in zip((0, 1), texts(failures, "raises", (0, 1)), strict=True):
        assert "ValueError: the data of rank 2 are wrong" in text
        assert failures[rank]["raises"][2] < 15


def test_a_killed_rank_ends_the_calls_of_the_others(failures):
    for rank, text in zip((0, 1), texts(failures, "killed", (0, 1)), strict=True):
        assert "rank 2" in text and "ended" in text
        assert failures[rank]["killed"][2] < 15


def test_an_uncaught_exception_is_named_by_the_other_rank(failures):
    (text,) = texts(failures, "uncaught", (0,))
    assert "rank 1 raised KeyError: 'an uncaught error'" in text


#: Calls that are not compared before they start, of equal sizes in bytes: the first is wrong on rank 1.
UNCHECKED = """
import sys, time
import numpy as np
from addons.collectives.failures import outcome
from addons.collectives.launch import write_result
import spanwise as sw
from spanwise import collectives as C

folder, engine = sys.argv[1:]
result = {}
with C.init(engine, timeout=20, check=3) as comm:
    other, x = comm.rank == 1, sw.ones(4, dtype="float32")
    y = sw.ones(4, dtype="int32") if other else x
    for step in range(200):
        C.all_reduce(x, comm)  # they agree
        C.all_gather(x, comm)
    time.sleep(0.5)
    C.barrier(comm)
    result["before"] = comm.failure
    result["wrong"] = outcome(lambda: C.all_gather(y, comm))
    end = time.monotonic() + 15
    while not comm.failure and time.monotonic() < end:
        time.sleep(0.01)
    result["after"] = outcome(lambda: C.all_reduce(x, comm))
comm = C.init(engine, timeout=20, check=0)
result["close"] = outcome(lambda: (C.all_gather(y, comm), comm.close()))
write_result(folder, comm.rank, result)
"""


def test_different_unchecked_calls_are_an_error_of_later_calls_and_of_close(tmp_path):
    program = tmp_path / "unchecked.py"
    program.write_text(UNCHECKED)
    results, output = run_mpi(program, tmp_path, "mpi", timeout=60)
    assert None not in results, output
    assert [result["before"] for result in results] == ["", "", ""]
    for text in texts(results, "after"):
        assert "has made other calls than rank" in text and "check=-1" in text
    assert "CollectiveError" in {result["close"][0] for result in results}


#: Messages that are not compared, of equal sizes in bytes, but other dtypes or shapes.
UNCHECKED_MESSAGES = """
import sys, time
from pathlib import Path
from addons.collectives.failures import outcome
from addons.collectives.launch import write_result
import spanwise as sw
from spanwise import collectives as C

folder, engine = sys.argv[1:]
result = {}
C.init(engine, timeout=30).close()  # MPI_Init_thread may take longer than the time limit below
for key, sent, like in (
    ("same", sw.ones(4, dtype="float32"), sw.zeros(4, dtype="float32")),
    ("dtype", sw.ones(4, dtype="float32"), sw.zeros(4, dtype="int32")),
    ("shape", sw.ones((2, 3)), sw.zeros((3, 2))),
    ("smaller", sw.ones(3), sw.zeros(4)),
):
    comm = C.init(engine, timeout=2, check=0)
    result[key] = outcome(lambda: C.recv(like, 0, comm) if comm.rank else C.send(sent, 1, comm))
    if comm.rank == 1:
        Path(folder, key).touch()
    while not Path(folder, key).exists():  # rank 1 has received the message or has given up
        time.sleep(0.01)
    comm.close()
write_result(folder, comm.rank, result)
"""


def test_unchecked_message_of_another_dtype_or_shape_is_not_received(tmp_path):
    program = tmp_path / "messages.py"
    program.write_text(UNCHECKED_MESSAGES)
    results, output = run_mpi(program, tmp_path, "mpi", ranks=2, timeout=60)
    assert None not in results, output
    assert results[1]["same"][0] == ""
    for key in ("dtype", "shape", "smaller"):
        (text,) = texts(results, key, (1,))
        assert "recv from rank 0" in text and "send to rank 1" in text


#: Three threads call the same operation of one communicator.
THREADS = """
import sys, threading
from addons.collectives.launch import write_result
import spanwise as sw
from spanwise import collectives as C

folder, engine, check = sys.argv[1:]
comm, wrong = C.init(engine, timeout=20, check=int(check)), []

def work():
    try:
        for _ in range(40):
            wrong.extend(each for each in C.all_reduce(sw.ones(5), comm).tolist() if each != 3)
    except Exception as error:
        wrong.append(str(error))

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
comm.close()
write_result(folder, comm.rank, wrong)
"""


@pytest.mark.parametrize("check", [0, 64, -1])
def test_threads_can_call_one_communicator(tmp_path, check):
    program = tmp_path / "threads.py"
    program.write_text(THREADS)
    results, output = run_mpi(program, tmp_path, "mpi", str(check), timeout=60)
    assert results == [[], [], []], output


#: Rank 1 does not initialize MPI.
UNSTARTED = """
import os, sys, time
from pathlib import Path
from addons.collectives.failures import outcome
from addons.collectives.launch import write_result
from spanwise import collectives as C

if os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK")) == "1":
    while not Path(sys.argv[1], "ended").exists():
        time.sleep(0.01)
    os._exit(0)
write_result(sys.argv[1], 0, outcome(lambda: C.init("mpi", timeout=1)))
import atexit
atexit._run_exitfuncs()
Path(sys.argv[1], "ended").touch()
os._exit(0)
"""


def test_init_does_not_wait_longer_than_the_time_limit_for_mpi_init(tmp_path):
    program = tmp_path / "unstarted.py"
    program.write_text(UNSTARTED)
    results, output = run_mpi(program, tmp_path, ranks=2, timeout=30)
    assert results[0] is not None, output
    kind, text, seconds = results[0]
    assert kind == "TimeoutError" and "MPI_Init_thread did not end within 1 s" in text
    assert seconds < 10 and "did not end in time" not in output


@pytest.mark.parametrize(
    ("kind", "victim", "point", "check"),
    [
        ("kill", 0, "step", 20),
        ("stop", 0, "step", -1),  # the board does not reply
        ("stop", 0, "step", 0),
        ("stop", 2, "process", 0),  # before MPI_Init_thread
        ("stop", 1, "closed", 0),  # before MPI_Finalize
        ("pause", 1, "step", 20),
        ("interrupt", 1, "step", -1),
    ],
)
def test_a_signal_to_a_rank_ends_or_does_not_disturb_the_others(kind, victim, point, check):
    assert run_round(kind, victim, point, 0, check) == []


def test_a_round_without_a_processor_is_repeated_with_a_longer_limit(monkeypatch):
    limits, results = [], []

    def run_once(*arguments):
        limits.append(arguments[-1])
        return results.pop(0)

    monkeypatch.setattr(signal_rounds, "run_once", run_once)
    results += [(["late"], 0.9), (["late"], 0.6), ([], 0.9)]
    assert run_round("kill", 0, "step", 0, 0) == [] and limits == [5, 10, 20]
    results += [(["late"], 0.34)]  # it had a processor
    assert run_round("kill", 0, "step", 0, 0) == ["late"]
    results += [(["late"], 0.9)] * 5  # a fault stays one
    assert run_round("kill", 0, "step", 0, 0) == ["late"] and limits[-1] == 80


#: Records the datatypes in which MPI reduces arrays of each dtype.
SMALL_INTEGERS = """
import sys
import numpy as np
from addons.collectives.launch import write_result
import spanwise as sw
from spanwise import collectives as C

class Recording:
    def __init__(self, comm):
        self.comm, self.sizes = comm, set()

    def __getattr__(self, name):
        start = getattr(self.comm, name)

        def record(sent, received, *arguments, **named):
            buffer = received if received is not None else sent
            self.sizes.add(buffer[1].Get_size())
            return start(sent, received, *arguments, **named)

        return record

comm, problems = C.init("mpi", timeout=20), []
for dtype in ("int8", "uint8", "int16", "uint16"):
    values = np.random.default_rng(3).integers(100, 127, 300).astype(dtype)
    for op, oracle in (("sum", values + values), ("prod", values * values), ("max", values)):
        for name in ("all_reduce", "reduce", "reduce_scatter"):
            comm._engine._comm = recording = Recording(comm._engine._comm)
            x = sw.array(values)
            result = getattr(C, name)(x, comm, op, out=x if name == "all_reduce" else None)
            comm._engine._comm = recording.comm
            rows = slice(150 * comm.rank, 150 * comm.rank + 150)
            expected = oracle[rows] if name == "reduce_scatter" else oracle
            if result is not None and not np.array_equal(result.numpy(), expected):
                problems.append(f"{name} {op} {dtype}: {result}")
            if min(recording.sizes) < (values.itemsize if op == "max" else 4):
                problems.append(f"{name} {op} {dtype}: in {recording.sizes} bytes")
comm.close()
write_result(sys.argv[1], comm.rank, problems)
"""


def test_sums_and_products_of_small_integers_are_computed_in_wider_ones(tmp_path):
    program = tmp_path / "integers.py"
    program.write_text(SMALL_INTEGERS)
    results, output = run_mpi(program, tmp_path, ranks=2)
    assert results == [[], []], output


#: Rank 1 takes no part in MPI's calls, which block: of split(), then of init().
ABSENT = """
import os, sys, time
from pathlib import Path
from addons.collectives.failures import outcome
from addons.collectives.launch import write_result
from spanwise import collectives as C

comm = C.init("mpi", timeout=3)
if comm.rank == 1:
    comm._monitor.exchange("split", comm.name + "/1", [0, 0])
    while not Path(sys.argv[1], "rank0.json").exists():
        time.sleep(0.01)
    os._exit(0)
result = {"split": outcome(lambda: comm.split(0)), "init": outcome(lambda: C.init("mpi", timeout=1))}
write_result(sys.argv[1], 0, result | {"failure": comm.failure})
"""


def test_split_and_init_do_not_wait_longer_than_the_time_limit_for_mpi(tmp_path):
    program = tmp_path / "absent.py"
    program.write_text(ABSENT)
    results, output = run_mpi(program, tmp_path, ranks=2, timeout=30)
    assert results[0] is not None, output
    for key, seconds in (("split", 3), ("init", 1)):
        (text,) = texts(results, key, (0,))
        assert f"{key}: MPI_Comm_split" in text and f"did not end within {seconds} s" in text
        assert f"call {key}() on every rank" in text
        assert results[0][key][2] < 10
    assert "split: MPI_Comm_split" in results[0]["failure"]
    assert "did not end in time" not in output
