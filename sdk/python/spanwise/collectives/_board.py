# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The board: a thread of rank 0 that all ranks have connections to. It keeps values, compares what
the ranks are about to call, and records which ranks have ended. Data of collectives never passes through it.

A message is 4 bytes of length, then JSON. A reply has the number of its request, so that one that
comes after the time limit of its request is recognised.
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
_LONGEST = 1 << 20


def send_message(connection: socket.socket, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode()
    connection.sendall(_LENGTH.pack(len(data)) + data)


class Messages:
    """The messages in a stream of bytes."""

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        self._data += data
        found = []
        while len(self._data) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._data)
            if length > _LONGEST:
                raise ValueError("a message that is too long")
            end = _LENGTH.size + length
            if len(self._data) < end:
                break
            found.append(json.loads(self._data[_LENGTH.size : end]))
            self._data = self._data[end:]
        return found


class _Client:
    """One connection to the board."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.messages = Messages()
        self.rank: int | None = None  # until hello
        self.is_watch = False  # its end is the end of the rank


class BoardServer:
    """Serves `size` ranks that send `token`, on a thread of its own."""

    def __init__(self, host: str, port: int, size: int, token: str) -> None:
        self._listener = socket.create_server((host, port), backlog=max(128, 2 * size))
        self.port: int = self._listener.getsockname()[1]
        self._size, self._token = size, token
        self._values: dict[str, Any] = {}
        self._getters: list[tuple[_Client, dict[str, Any]]] = []
        self._texts: dict[str, dict[int, str]] = {}  # of an item, by rank
        self._agreeing: list[tuple[_Client, dict[str, Any]]] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._ended: dict[int, str] = {}  # why a rank takes part no more
        self._errors: dict[str, dict[int, str]] = {}  # of a communicator, by rank
        self._stops = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="spanwise-board", daemon=True)
        self._thread.start()

    def close(self, pause_timeout: float) -> None:
        """Ends when all ranks have left, or after `pause_timeout` seconds."""
        end = time.monotonic() + pause_timeout
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
        connection.settimeout(5)
        self._selector.register(connection, selectors.EVENT_READ, _Client(connection))

    def _read(self, client: _Client) -> None:
        try:
            data = client.connection.recv(1 << 16)
            if not data:
                raise ConnectionError
            for message in client.messages.feed(data):
                self._handle(client, message)
        except (OSError, ValueError, KeyError, TypeError):
            self._drop(client)

    def _drop(self, client: _Client) -> None:
        self._selector.unregister(client.connection)
        client.connection.close()
        self._getters = [each for each in self._getters if each[0] is not client]
        self._agreeing = [each for each in self._agreeing if each[0] is not client]
        if client.is_watch and client.rank is not None and client.rank not in self._ended:
            self._ended[client.rank] = "its process has ended without closing the communicator"
            self._reply_to_agreeing()

    def _handle(self, client: _Client, message: dict[str, Any]) -> None:
        do = message["do"]
        if client.rank is None:
            right = do == "hello" and hmac.compare_digest(str(message["token"]), self._token)
            if not right or not 0 <= int(message["rank"]) < self._size:
                raise ValueError("a stranger")
            client.rank, client.is_watch = int(message["rank"]), bool(message["watch"])
            self._reply(client, message, {})
        elif do == "set":
            self._values[message["key"]] = message["value"]
            self._reply(client, message, {})
            self._reply_to_getters()
        elif do == "get":
            self._getters.append((client, message))
            self._reply_to_getters()
        elif do == "agree":
            for key, _, text in message["items"]:
                self._texts.setdefault(key, {})[client.rank] = text
            self._agreeing.append((client, message))
            self._reply_to_agreeing()
        elif do == "beat":
            self._calls[client.rank] = message["calls"]
            self._reply(client, message, self._status())
        elif do == "error":
            self._errors.setdefault(message["communicator"], {})[client.rank] = message["text"]
            self._reply(client, message, {})
            self._reply_to_agreeing()
        elif do == "bye":
            self._ended.setdefault(client.rank, message["why"])
            self._reply(client, message, {})
            self._reply_to_agreeing()

    def _status(self) -> dict[str, Any]:
        return {"ended": self._ended, "errors": self._errors, "calls": self._calls}

    def _reply(self, client: _Client, message: dict[str, Any], reply: dict[str, Any]) -> None:
        with suppress(OSError):  # the next read of the connection drops it
            send_message(client.connection, {**reply, "number": message["number"]})

    def _reply_to_getters(self) -> None:
        waiting, self._getters = self._getters, []
        for client, message in waiting:
            if message["key"] in self._values:
                self._reply(client, message, {"value": self._values[message["key"]]})
            else:
                self._getters.append((client, message))

    def _reply_to_agreeing(self) -> None:
        waiting, self._agreeing = self._agreeing, []
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
            elif self._has_failed(message["communicator"], missing):
                self._reply(client, message, {"missing": sorted(missing), **self._status()})
            else:
                self._agreeing.append((client, message))

    def _has_failed(self, communicator: str, missing: set[int]) -> bool:
        """Whether one of the ranks `missing` has ended or failed."""
        failed = {*self._errors.get(communicator, {}), *self._errors.get("*", {})}
        return any(rank in self._ended or rank in failed for rank in missing)


class BoardClient:
    """A connection to the board. One thread at a time."""

    def __init__(
        self, address: tuple[str, int], token: str, rank: int, *, watch: bool, timeout: float
    ) -> None:
        self._connection = socket.create_connection(address, timeout=timeout)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._messages, self._number = Messages(), 0
        try:
            self.request(timeout, do="hello", token=token, rank=rank, watch=watch)
        except BaseException:
            self.close()
            raise

    def request(self, timeout: float, **message: Any) -> dict[str, Any]:
        """The reply. Raises TimeoutError, and ConnectionError where the board has ended."""
        self._number += 1
        self._connection.settimeout(max(timeout, 0.001))
        send_message(self._connection, {**message, "number": self._number})
        end = time.monotonic() + timeout
        while True:
            self._connection.settimeout(max(end - time.monotonic(), 0.001))
            data = self._connection.recv(1 << 16)
            if not data:
                raise ConnectionError("the board has ended")
            for reply in self._messages.feed(data):
                if reply["number"] == self._number:
                    return reply

    def close(self) -> None:
        self._connection.close()
