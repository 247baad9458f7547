# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The board: a thread of rank 0 to which all ranks are connected. It collects texts by key, which the
ranks compare (descriptions of the calls that they are about to make) or exchange (values), and records
which ranks have ended. No data of collectives pass through it. Ranks are numbered here as in init(),
also those of a split communicator.

A message is 4 bytes of length, then JSON. A reply has the number of its request, so that a reply
after the time limit of its request is not taken for that of the next one. The requests, by their "do":

- hello (token, rank, watch): the first one of each connection.
- agree (communicator, items, now): an item is [key, ranks, text]. Waits until all of `ranks` have sent
  a text for the key, and returns "texts" by key and rank; or "missing" and the status, where a rank
  that has sent none has ended or failed, or, with an optional "now" of true, without waiting.
- beat (calls by communicator): a heartbeat; returns the status: "ended", "errors" and "calls".
- error (communicator, text): this rank has failed in that communicator, "*" for all.
- bye (why): this rank has ended.
"""

from __future__ import annotations

import hmac
import json
import selectors
import socket
import struct
import threading
import time
from contextlib import suppress
from typing import Any

_LENGTH = struct.Struct("!I")
_MAX_MESSAGE_BYTES = 1 << 20
_READ_BYTES = 1 << 16

#: Errors of a board whose connection is closed, and of one that does not reply in time.
BOARD_CLOSED = (
    "the process of rank 0, which connects the ranks, has ended; its output may have the reason"
)
BOARD_SILENT = (
    "the process of rank 0, which connects the ranks, does not reply; check that it runs and that its "
    "machine is reachable, or pass a larger timeout= to init()"
)


def send_message(connection: socket.socket, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode()
    connection.sendall(_LENGTH.pack(len(data)) + data)


class MessageReader:
    """Divides a stream of bytes into messages."""

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The messages that `data` completes. Raises ValueError for one that is too long or no JSON."""
        self._data += data
        messages = []
        while len(self._data) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._data)
            if length > _MAX_MESSAGE_BYTES:
                raise ValueError(
                    f"a message of {length} bytes; expected at most {_MAX_MESSAGE_BYTES}"
                )
            end = _LENGTH.size + length
            if len(self._data) < end:
                break
            messages.append(json.loads(self._data[_LENGTH.size : end]))
            self._data = self._data[end:]
        return messages


class _Client:
    """One connection to the board."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.messages = MessageReader()
        self.rank: int | None = None  # until its message "hello"
        self.is_watch = False  # whether the end of this connection is taken for the end of the rank


class BoardServer:
    """Serves `size` ranks that send `token`, on a thread of its own."""

    def __init__(self, host: str, port: int, size: int, token: str) -> None:
        # A rank connects once for itself and once for each communicator, all ranks at the same time.
        self._listener = socket.create_server((host, port), backlog=max(128, 2 * size))
        self.port: int = self._listener.getsockname()[1]
        self._size, self._token = size, token
        # By key and rank; only of the keys of waiting requests.
        self._texts: dict[str, dict[int, str]] = {}
        self._waiting_agrees: list[tuple[_Client, dict[str, Any]]] = []
        self._calls: dict[int, dict[str, str]] = {}  # a rank's last calls, by communicator
        self._ended: dict[int, str] = {}  # why a rank has ended
        self._errors: dict[str, dict[int, str]] = {}  # by communicator ("*": all) and rank
        self._stops = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="spanwise-board", daemon=True)
        self._thread.start()

    def close(self, timeout: float) -> None:
        """Ends the thread when all ranks have ended, or after `timeout` seconds."""
        end = time.monotonic() + timeout
        while len(self._ended) < self._size and time.monotonic() < end:
            time.sleep(0.01)
        self._stops.set()
        self._thread.join(1)

    def _serve(self) -> None:
        while not self._stops.is_set():
            for key, _ in self._selector.select(0.1):
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._read(key.data)
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(5)  # seconds that a reply may block the board
        self._selector.register(connection, selectors.EVENT_READ, _Client(connection))

    def _read(self, client: _Client) -> None:
        try:
            data = client.connection.recv(_READ_BYTES)
            if not data:
                raise ConnectionError
            for message in client.messages.feed(data):
                self._handle(client, message)
        except (OSError, ValueError, KeyError, TypeError):
            self._drop(client)

    def _drop(self, client: _Client) -> None:
        self._selector.unregister(client.connection)
        client.connection.close()
        self._waiting_agrees = [each for each in self._waiting_agrees if each[0] is not client]
        if client.is_watch and client.rank is not None and client.rank not in self._ended:
            self._ended[client.rank] = "its process has ended without closing the communicator"
            self._answer_agrees()

    def _handle(self, client: _Client, message: dict[str, Any]) -> None:
        do = message["do"]
        if client.rank is None:
            is_member = do == "hello" and hmac.compare_digest(str(message["token"]), self._token)
            if not is_member or not 0 <= int(message["rank"]) < self._size:
                raise ValueError("expected a hello with the token and a rank")
            client.rank, client.is_watch = int(message["rank"]), bool(message["watch"])
            self._reply(client, message, {})
        elif do == "agree":
            for key, _, text in message["items"]:
                self._texts.setdefault(key, {})[client.rank] = text
            self._waiting_agrees.append((client, message))
            self._answer_agrees()
        elif do == "beat":
            self._calls[client.rank] = message["calls"]
            self._reply(client, message, self._status())
        elif do == "error":
            self._errors.setdefault(message["communicator"], {})[client.rank] = message["text"]
            self._reply(client, message, {})
            self._answer_agrees()
        elif do == "bye":
            self._ended.setdefault(client.rank, message["why"])
            self._reply(client, message, {})
            self._answer_agrees()

    def _status(self) -> dict[str, Any]:
        return {"ended": self._ended, "errors": self._errors, "calls": self._calls}

    def _reply(self, client: _Client, message: dict[str, Any], reply: dict[str, Any]) -> None:
        with suppress(OSError):  # the next read of the connection drops it
            send_message(client.connection, {**reply, "number": message["number"]})

    def _answer_agrees(self) -> None:
        waiting, self._waiting_agrees = self._waiting_agrees, []
        for client, message in waiting:
            missing = {
                rank
                for key, ranks, _ in message["items"]
                for rank in ranks
                if rank not in self._texts[key]
            }
            if not missing:
                texts = {key: self._texts[key] for key, _, _ in message["items"]}
                self._reply(client, message, {"texts": texts})
            elif message.get("now") or self._has_failed(message["communicator"], missing):
                self._reply(client, message, {"missing": sorted(missing), **self._status()})
            else:
                self._waiting_agrees.append((client, message))
        # A rank gets the texts of a key after all of them have sent theirs: the ranks that have not
        # got them yet wait.
        keys = {key for _, message in self._waiting_agrees for key, _, _ in message["items"]}
        self._texts = {key: self._texts[key] for key in keys}

    def _has_failed(self, communicator: str, missing: set[int]) -> bool:
        """Whether one of the ranks `missing` has ended or failed."""
        failed = {*self._errors.get(communicator, {}), *self._errors.get("*", {})}
        return any(rank in self._ended or rank in failed for rank in missing)


class BoardClient:
    """A connection of `rank` to the board. The board takes the end of a connection with `watch` for the
    end of the rank."""

    def __init__(
        self, address: tuple[str, int], token: str, rank: int, *, watch: bool, timeout: float
    ) -> None:
        self._connection = socket.create_connection(address, timeout=timeout)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._messages, self._number = MessageReader(), 0
        self._lock = threading.Lock()  # held from a request until its reply
        try:
            self.request(timeout, do="hello", token=token, rank=rank, watch=watch)
        except BaseException:
            self.close()
            raise

    def request(self, timeout: float, **message: Any) -> dict[str, Any]:
        """Sends a message and returns the reply. Raises TimeoutError after `timeout` seconds, in which it
        also waits for requests of other threads, and OSError where the board has ended."""
        end = time.monotonic() + timeout
        if not self._lock.acquire(timeout=timeout):
            raise TimeoutError
        try:
            return self._request(end, message)
        finally:
            self._lock.release()

    def _request(self, end: float, message: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        # A time limit of 0 would make the socket nonblocking.
        self._connection.settimeout(max(end - time.monotonic(), 0.001))
        send_message(self._connection, {**message, "number": self._number})
        while True:
            self._connection.settimeout(max(end - time.monotonic(), 0.001))
            data = self._connection.recv(_READ_BYTES)
            if not data:
                raise ConnectionError(BOARD_CLOSED)
            for reply in self._messages.feed(data):
                if reply["number"] == self._number:
                    return reply

    def close(self) -> None:
        """Ends the connection, and a request of another thread with OSError."""
        with suppress(OSError):  # the board has ended the connection
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
