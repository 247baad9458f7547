# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""How ranks find each other, and the board that they find."""

import contextlib
import json
import re
import resource
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from addons.collectives.launch import run_env

import spanwise as sw
from spanwise.collectives import _monitor
from spanwise.collectives._communicator import Communicator
from spanwise.collectives._engines import SelfEngine
from spanwise.collectives._monitor import BoardClient, BoardServer
from spanwise.collectives._stores import connect

RANKS = 3


@pytest.fixture
def board():
    server = BoardServer("127.0.0.1", 0, RANKS, "secret")
    yield server
    server.close(0)


@pytest.fixture
def client(board):
    """A function that connects a rank."""
    with contextlib.ExitStack() as stack:

        def connected(rank, watch=False):
            address = ("127.0.0.1", board.port)
            board_client = BoardClient(address, "secret", rank, watch=watch, timeout=10)
            stack.callback(board_client.close)
            return board_client

        yield connected


def test_ranks_find_each_other_by_each_store(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    results, output = run_env("stores.py", tmp_path, str(port), ranks=RANKS)
    assert None not in results, output
    texts = [f"  rank {rank}: text {rank}" for rank in range(RANKS)]
    for result in results:
        assert result == dict.fromkeys(("env", "tcp", "file"), [[4, 9, 16, texts]] * 2) | {
            "tcp": [[4, 9, 16, texts]] * 4
        }


@pytest.mark.parametrize(
    ("store", "error", "message"),
    [
        ("redis://host:1", ValueError, "expected store= of"),
        ("tcp://host", ValueError, "expected store= of"),
        (7, TypeError, "got 7"),
        ("file:///tmp/x", ValueError, "pass rank= and size="),
    ],
)
def test_wrong_stores_are_refused(store, error, message, monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    numbers = (0, 1) if isinstance(store, str) and not store.startswith("file") else (None, None)
    with pytest.raises(error, match=message):
        connect(store, *numbers, timeout=1)


def test_board_closes_invalid_connections_and_continues(board, client):
    for data in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100, b"\0\0\0\2{}"):
        with socket.create_connection(("127.0.0.1", board.port), timeout=10) as stranger:
            stranger.sendall(data)
            with contextlib.suppress(ConnectionError):
                assert stranger.recv(1) == b""
    with pytest.raises(ConnectionError):
        BoardClient(("127.0.0.1", board.port), "guessed", 0, watch=False, timeout=10)
    assert client(0).request(10, do="beat", calls={})["number"] == 2


def sent(text):
    """The bytes of a message."""
    return _monitor._LENGTH.pack(len(text)) + text.encode()


HELLO = '{"do": "hello", "token": "secret", "rank": %s, "watch": true, "number": 1}'
HOSTILE = {
    "infinite rank": HELLO % "Infinity",
    "huge rank": HELLO % "1e400",
    "no rank": HELLO % "NaN",
    "long rank": HELLO % ("9" * 4000),
    "rank of another type": HELLO % '"0"',
    "deep": "[" * 4000,
    "deep object": '{"do":' * 600,
    "list": "[1, 2]",
    "surrogate": HELLO.replace("secret", "\\ud800") % 0,
    "long": HELLO % ("0" + " " * 5000),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_message_without_token_ends_only_its_connection(board, client, text):
    member = client(0)
    with socket.create_connection(("127.0.0.1", board.port), timeout=10) as stranger:
        stranger.sendall(sent(text))
        with contextlib.suppress(ConnectionError):
            assert stranger.recv(1) == b""
    assert member.request(10, do="beat", calls={})["ended"] == {}
    assert client(1).request(10, do="beat", calls={})["number"] == 2


@pytest.mark.parametrize(
    "message",
    [
        {"do": "agree", "communicator": "c", "items": [["k", [0, 1], "t"], ["k", 1, "t"]]},
        {"do": "agree", "communicator": "c", "items": [["k", [0, float("inf")], "t"]]},
        {"do": "agree", "items": [["k", [0, 1], "t"]]},
        {"do": "agree", "communicator": [], "items": 7},
        {"do": "beat", "calls": 1},
        {"do": "error", "communicator": "c"},
        {"do": "bye"},
    ],
)
def test_wrong_message_of_a_rank_does_not_lose_the_requests_of_others(client, message):
    first, second, third = client(0), client(1), client(2)
    request = {"do": "agree", "communicator": "c", "items": [["k", [0, 1], "sum"]]}
    with pytest.raises(TimeoutError):
        first.request(0.1, **request)
    with pytest.raises((ConnectionError, TimeoutError)):
        third.request(1, **message)
    assert second.request(10, **request)["texts"] == {"k": {"0": "sum", "1": "sum"}}


def test_board_bounds_connections_without_a_token(board, client):
    with contextlib.ExitStack() as stack:
        address = ("127.0.0.1", board.port)
        strangers = [
            stack.enter_context(socket.create_connection(address, timeout=10)) for _ in range(300)
        ]
        assert client(0).request(10, do="beat", calls={})["number"] == 2
        with contextlib.suppress(ConnectionError):
            assert strangers[0].recv(1) == b""  # the oldest was closed for a further one
        assert len(board._strangers) <= _monitor._MAX_STRANGERS


def test_board_closes_a_connection_that_sends_no_token_in_time(board, client, monkeypatch):
    monkeypatch.setattr(_monitor, "_HELLO_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", board.port), timeout=10) as stranger:
        stranger.sendall(b"\0\0")
        assert stranger.recv(1) == b""
    assert client(0).request(10, do="beat", calls={})["number"] == 2


def test_board_serves_ranks_after_the_process_had_no_file_descriptors(board, client):
    member = client(0)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.socket() as late:
        resource.setrlimit(resource.RLIMIT_NOFILE, (late.fileno() + 1, limits[1]))
        try:
            late.connect(("127.0.0.1", board.port))
            assert member.request(10, do="beat", calls={})["number"] == 2
            time.sleep(0.2)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert client(1).request(10, do="beat", calls={})["number"] == 2


def test_token_of_any_letters(board):
    server = BoardServer("127.0.0.1", 0, RANKS, "gehe\u00efm")
    BoardClient(("127.0.0.1", server.port), "gehe\u00efm", 0, watch=False, timeout=10).close()
    server.close(0)


def test_late_reply_is_not_taken_for_that_of_the_next_request(client):
    first, second = client(0), client(1)
    request = {"do": "agree", "communicator": "c", "items": [["call 0", [0, 1], "sum"]]}
    with pytest.raises(TimeoutError):
        first.request(0.1, **request)
    assert second.request(10, **request)["texts"] == {"call 0": {"0": "sum", "1": "sum"}}
    assert "calls" in first.request(10, do="beat", calls={})


def test_agreement_waits_for_all_ranks_and_ends_with_a_lost_one(client):
    watch, first = client(2, watch=True), client(0)
    items = [["call 0", [0, 1, 2], "sum"]]
    with pytest.raises(TimeoutError):
        first.request(0.1, do="agree", communicator="c", items=items)
    watch.close()
    reply = first.request(10, do="agree", communicator="c", items=items)
    assert reply["missing"] == [1, 2]
    assert "ended without closing" in reply["ended"]["2"]
    second = client(1)
    pair = [["call 1", [0, 1], "max"]]
    thread = threading.Thread(
        target=lambda: second.request(10, do="agree", communicator="c", items=pair)
    )
    thread.start()
    reply = first.request(10, do="agree", communicator="c", items=pair)
    thread.join(10)
    assert reply["texts"] == {"call 1": {"0": "max", "1": "max"}}


def test_texts_are_dropped_when_all_ranks_have_read_them(client):
    request = {"do": "agree", "communicator": "c", "items": [["call 0", [0, 1], "sum"]]}
    first, second = client(0), client(1)
    thread = threading.Thread(target=lambda: second.request(10, **request))
    thread.start()
    assert first.request(10, **request)["texts"] == {"call 0": {"0": "sum", "1": "sum"}}
    thread.join(10)
    with pytest.raises(TimeoutError):  # the board has no text of rank 1 for this key any more
        first.request(0.1, **request)


class SilentBoard(BoardServer):
    """Does not answer the requests `ignored`."""

    ignored = ()

    def _handle(self, client, message):
        if message["do"] not in self.ignored:
            super()._handle(client, message)


@pytest.fixture
def silent_board():
    server = SilentBoard("127.0.0.1", 0, 2, "secret")
    yield server
    server.close(0)


def monitor_of_rank_1(board, timeout):
    link = _monitor.Link(("127.0.0.1", board.port), "secret", 1, 2, timeout, None)
    return _monitor.Monitor(link, "c", [0, 1], timeout)


@pytest.mark.parametrize(
    ("is_closed", "reason"),
    [
        (True, r"rank 0.*has ended; its output may have the reason"),
        (False, r"rank 0.*does not reply; check that it runs .* larger timeout="),
    ],
)
def test_board_that_is_closed_or_silent_is_the_reason_of_errors(silent_board, is_closed, reason):
    monitor = monitor_of_rank_1(silent_board, timeout=0.2)
    if is_closed:
        silent_board.close(0)
    else:
        silent_board.ignored = ("beat", "agree", "error")
    with pytest.raises(sw.CollectiveError, match=reason):
        monitor.agree([("call 0", [], "sum")], 0, "sum")
    end = time.monotonic() + 10
    while monitor.link.failure_among("c", [0, 1]) is None and time.monotonic() < end:
        time.sleep(0.01)  # the heartbeat without a reply has the time limit too
    assert re.search(reason, monitor.link.failure_among("c", [0, 1]))
    monitor.disconnect()
    monitor.link.close("tested")


def test_report_without_a_reply_is_not_the_end_of_rank_0(silent_board, monkeypatch):
    monkeypatch.setattr(_monitor, "_CLOSE_SECONDS", 0.1)
    monitor = monitor_of_rank_1(silent_board, timeout=30)
    silent_board.ignored = ("error",)
    monitor.report("the disk is full")
    assert monitor.link.failure_among("c", [0, 1]) is None
    monitor.disconnect()
    monitor.link.close("tested")


def test_report_and_close_do_not_wait_for_a_heartbeat_without_a_reply(silent_board, monkeypatch):
    monkeypatch.setattr(_monitor, "_CLOSE_SECONDS", 0.1)
    silent_board.ignored = ("beat",)
    monitor = monitor_of_rank_1(silent_board, timeout=8)
    while not monitor.link._board._lock.locked():
        time.sleep(0.01)
    begin = time.monotonic()
    monitor.report("the disk is full")
    monitor.disconnect()
    monitor.link.close("tested")
    assert time.monotonic() - begin < 4
    monitor.link._thread.join(4)  # closing the connection ends the heartbeat
    assert not monitor.link._thread.is_alive()


@pytest.fixture
def monitor(board):
    """The monitor of rank 0, with a time limit that a test waits for."""
    link = _monitor.Link(("127.0.0.1", board.port), "secret", 0, RANKS, timeout=10, server=None)
    world = _monitor.Monitor(link, "world", list(range(RANKS)), 0.5)
    yield world
    world.disconnect()
    link.close(_monitor.CLOSED)


def pass_value(client, key, value):
    """Passes a value for exchange() without waiting for those of the other ranks."""
    items = [[key, list(range(RANKS)), json.dumps(value)]]
    with pytest.raises(TimeoutError):
        client.request(0.1, do="agree", communicator="world", items=items)


def test_exchange_names_the_rank_that_passes_no_value(monitor, client):
    pass_value(client(1), "world: gpu", 1)
    with pytest.raises(sw.CollectiveError) as error:
        monitor.exchange("init", "gpu", 0)
    assert str(error.value) == (
        "communicator world, rank 0 of 3, init: expected the value 'gpu' from all 3 ranks within "
        "0.5 s, got none from rank 2; call init() on every rank, with the same engine= of init(), or "
        "pass init() a larger timeout="
    )
    assert (error.value.number, error.value.op, error.value.calls) == (-1, "init", [])


def test_exchange_ends_when_the_missing_rank_has_ended(monitor, client):
    monitor.timeout = 20
    watch = client(2, watch=True)
    timer = threading.Timer(0.3, watch.close)
    timer.start()
    begin = time.monotonic()
    with pytest.raises(sw.CollectiveError, match="0 of 3, init: rank 2: its process has ended"):
        monitor.exchange("init", "gpu", 0)
    assert time.monotonic() - begin < 10
    timer.join()


def test_exchange_is_not_named_late_when_the_board_does_not_reply(silent_board, monkeypatch):
    monkeypatch.setattr(_monitor, "_CLOSE_SECONDS", 0.1)
    silent_board.ignored = ("set", "get", "agree")
    monitor = monitor_of_rank_1(silent_board, timeout=0.2)
    with pytest.raises(sw.CollectiveError, match=r"init: .*rank 0.* does not reply; check"):
        monitor.exchange("init", "gpu", 0)
    monitor.disconnect()
    monitor.link.close("tested")


def test_board_keeps_no_values_that_all_ranks_have_exchanged(board, monitor):
    monitor.timeout = 10
    links = [
        _monitor.Link(("127.0.0.1", board.port), "secret", rank, RANKS, 10, None)
        for rank in range(1, RANKS)
    ]
    monitors = [monitor, *(_monitor.Monitor(link, "world", [0, 1, 2], 10) for link in links)]
    with ThreadPoolExecutor(RANKS) as threads:
        for call in range(3):
            pass_rank = lambda each: each.exchange("split", f"call {call}", [each.rank, None])  # noqa: B023, E731
            assert list(threads.map(pass_rank, monitors)) == [[[0, None], [1, None], [2, None]]] * 3
    monitor.link.send_heartbeat(10)  # its reply comes after the board's work on the exchanges
    assert "world: call" not in repr(vars(board))
    for each in monitors[1:]:
        each.disconnect()
        each.link.close(_monitor.CLOSED)


def test_errors_of_split_name_it(monitor, client):
    engine, device = SelfEngine(), sw.device("cpu")
    ranks = list(range(RANKS))
    with Communicator("world", ranks, 0, device, 0.5, 64, engine, monitor) as communicator:
        with pytest.raises(sw.CollectiveError, match="world, rank 0 of 3, split: .* from rank 1"):
            communicator.split(7)
        for rank in (1, 2):
            pass_value(client(rank), "world: world/2", [7, 0])
        with pytest.raises(sw.CollectiveError, match="world/2.7, rank 0 of 3, split: not all"):
            communicator.split(7)
