# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The board of spanwise.collectives under connections that send anything.

    PYTHONPATH=build/release/python:tests python -m fuzz.board --cases 20000 --seed 7

In each case a stranger, who lacks the token, or a member sends a damaged, hostile or incomplete message in
pieces, and ends its connection or keeps it open. Two ranks then exchange texts over the board, which must
give each the texts of both within SECONDS. The board's thread must live on, without connections and memory
of the strangers. A case is determined by the seed and its number; `--case N` repeats one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import socket
import struct
import sys
import threading
import time

from spanwise.collectives import _monitor
from spanwise.collectives._monitor import BoardClient, BoardServer

SIZE, SECONDS = 3, 5.0
MAX_OPEN = 300  # connections of strangers that a case may find open

VALUES = (
    "null", "true", "-1", "3", "1e400", "NaN", "Infinity", "-Infinity", "9" * 400, "0.5", '""', '"*"', "[]", "{}",
    "[[]]", '"\\ud800"', '{"a": 1}', "[1, 2]", "[NaN]", '"' + "x" * 3000 + '"', "[" * 100000, '{"a":' * 50000,
    "[" * 900 + "]" * 900,
)  # fmt: skip
FIELDS = (
    "do",
    "token",
    "rank",
    "watch",
    "number",
    "items",
    "communicator",
    "now",
    "calls",
    "text",
    "why",
)
VALID = {
    "hello": {"do": "hello", "token": "?", "rank": 2, "watch": False, "number": 1},
    "agree": {
        "do": "agree",
        "communicator": "c",
        "items": [["k", [0, 1], "t"]],
        "now": True,
        "number": 2,
    },
    "beat": {"do": "beat", "calls": {"c": "f"}, "number": 3},
    "error": {"do": "error", "communicator": "other", "text": "t", "number": 4},
    "bye": {"do": "bye", "why": "w", "number": 5},
}


class Board:
    """The board, two ranks that use it, and connections of strangers."""

    def __init__(self) -> None:
        self.token = "token of the board"
        self.server = BoardServer("127.0.0.1", 0, SIZE, self.token)
        self.address = ("127.0.0.1", self.server.port)
        self.ranks = [self._client(rank, watch=True) for rank in (0, 1)]
        self.strangers: list[socket.socket] = []

    def _client(self, rank: int, watch: bool) -> BoardClient:
        return BoardClient(self.address, self.token, rank, watch=watch, timeout=SECONDS)

    def exchange(self, key: str) -> None:
        """The ranks agree on a text for `key`. Raises what a rank raises."""
        replies: dict[int, object] = {}

        def agree(rank: int) -> None:
            try:
                items = [[key, [0, 1], f"text {rank}"]]
                replies[rank] = self.ranks[rank].request(
                    SECONDS, do="agree", communicator="c", items=items
                )["texts"]
            except Exception as error:
                replies[rank] = error

        threads = [threading.Thread(target=agree, args=(rank,)) for rank in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = {key: {"0": "text 0", "1": "text 1"}}
        assert replies == {0: expected, 1: expected}, replies
        assert self.server._thread.is_alive(), "the thread of the board has ended"

    def close(self) -> None:
        for connection in self.strangers:
            connection.close()
        for rank in self.ranks:
            rank.request(SECONDS, do="bye", why="the end")
            rank.close()
        self.server.close(1)


def message(chance: random.Random, token: str) -> bytes:
    """A message that is valid, damaged or random; JSON or not."""
    kind = chance.randrange(10)
    if kind == 0:
        return chance.randbytes(chance.randrange(64))
    if kind == 1:
        return struct.pack("!I", chance.choice((0, 1, 2**31, 2**32 - 1, 1 << 20, 70000)))
    if kind == 2:
        body = chance.choice(VALUES).encode()
        return struct.pack("!I", len(body)) + body
    fields = {
        name: json.dumps(value) for name, value in chance.choice(list(VALID.values())).items()
    }
    if "token" in fields and chance.randrange(3) == 0:
        fields["token"] = json.dumps(token)
    for _ in range(chance.randrange(3)):
        name = chance.choice(FIELDS)
        if chance.randrange(3) == 0:
            fields.pop(name, None)
        else:
            fields[name] = chance.choice(VALUES)
    if fields.get("rank") in ("0", "1", "true"):
        fields["rank"] = "2"  # a rank that is not the stranger's could end with it
    body = ("{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}").encode()
    length = len(body) if chance.randrange(8) else chance.randrange(2 * len(body))
    return struct.pack("!I", length) + body


def attack(board: Board, chance: random.Random) -> None:
    """Sends messages on one connection."""
    connection = socket.create_connection(board.address, timeout=SECONDS)
    with contextlib.suppress(OSError):  # the board may end the connection at any time
        # A member; without `watch`, so that its end is not that of the rank.
        if chance.randrange(3) == 0:
            _monitor.send_message(connection, {**VALID["hello"], "token": board.token})
        for _ in range(chance.randrange(1, 4)):
            data = message(chance, board.token)
            while data:
                count = chance.choice((1, 3, 4, 5, 100, len(data)))
                connection.sendall(data[:count])
                data = data[count:]
                if chance.randrange(20) == 0:
                    break
    if chance.randrange(3):
        if chance.randrange(2):  # ends with a reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    else:
        board.strangers.append(connection)
        for old in board.strangers[:-MAX_OPEN]:
            old.close()
        del board.strangers[:-MAX_OPEN]


def run_case(board: Board, seed: int, number: int) -> None:
    """Raises if the ranks do not get their texts."""
    chance = random.Random(f"{seed} {number}")
    attack(board, chance)
    board.exchange(f"key {number}")


def problems(seed: int, first: int, count: int, seconds: float = float("inf")) -> list[str]:
    """What is wrong; each with the arguments that repeat it."""
    found, board, end = [], Board(), time.monotonic() + seconds
    try:
        for number in range(first, first + count):
            if time.monotonic() > end:
                break
            try:
                run_case(board, seed, number)
            except Exception as error:
                found.append(
                    f"--seed {seed} --case {number}: {type(error).__name__}: {str(error)[:300]}"
                )
                board = Board()
                if len(found) == 10:
                    break
        if not found and len(board.server._texts) > 10:
            found.append(f"{len(board.server._texts)} texts of strangers are kept")
        if not found and (opened := len(os.listdir("/proc/self/fd"))) > 3 * MAX_OPEN:
            found.append(f"{opened} open files")
    finally:
        with contextlib.suppress(Exception):
            board.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz.board", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="number of one case to repeat")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after")
    options = parser.parse_args()
    if options.case is not None:
        run_case(Board(), options.seed, options.case)
        return 0
    found = problems(options.seed, options.first, options.cases, options.seconds)
    print("\n".join(found))
    print(f"{options.cases} cases, {len(found)} wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
