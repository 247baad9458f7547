# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""What the ranks exchange besides data: the board, a thread of rank 0 to which all ranks are connected;
the watchdog, a thread of each rank that asks the board a few times a second; and a monitor for each
communicator.

The board collects texts by key, which the ranks compare (descriptions of the calls that they are about
to make) or exchange (values), and records which ranks have ended. No data of collectives pass through
it. Ranks are numbered here as in init(), also those of a split communicator.

A message is 4 bytes of length, then JSON. A reply has the number of its request, so that a reply
after the time limit of its request is not taken for that of the next one. The requests, by their "do":

- hello (token, rank, watch): the first one of each connection, which is closed without it.
- agree (communicator, items, now): an item is [key, ranks, text]. Waits until all of `ranks` have sent
  a text for the key, and returns "texts" by key and rank; or "missing" and the status, where a rank
  that has sent none has ended or failed, or, with an optional "now" of true, without waiting.
- beat (calls by communicator): a heartbeat; returns the status: "ended", "errors", "calls", and "silent":
  the seconds since the last heartbeat of ranks that have sent none for a while. A call is a text, then
  Communicator::Digest of spanwise/collectives/communicator.hpp.
- error (communicator, text): this rank has failed in that communicator, "*" for all.
- bye (why): this rank has ended.
"""

from __future__ import annotations

import atexit
import hmac
import json
import os
import selectors
import socket
import struct
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from spanwise import CollectiveError

# ---- The board ----


_LENGTH = struct.Struct("!I")
_MAX_MESSAGE_BYTES = 1 << 20
_READ_BYTES = 1 << 16
#: Bounds of connections without a hello: bytes of that message, seconds until it, and how many there are.
_MAX_HELLO_BYTES = 1 << 12
_HELLO_SECONDS = 5.0
_MAX_STRANGERS = 64  # or twice the number of ranks
_SILENT_SECONDS = 1.0  # since the last heartbeat of a rank, from when on the status has them

#: Errors of a board whose connection is closed, and of one that does not reply in time.
BOARD_CLOSED = (
    "the process of rank 0, which connects the ranks, has ended; its output may have the reason"
)
BOARD_SILENT = (
    "the process of rank 0, which connects the ranks, does not reply; check that it runs and that its "
    "machine is reachable, or pass a larger timeout= to init()"
)


def own_address() -> str:
    """The address of the interface of the default route; 127.0.0.1 without a route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing (RFC 5737: an address of no machine)
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def send_message(connection: socket.socket, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode()
    connection.sendall(_LENGTH.pack(len(data)) + data)


class MessageReader:
    """Divides a stream of bytes into messages of at most `limit` bytes."""

    def __init__(self, limit: int = _MAX_MESSAGE_BYTES) -> None:
        self._data, self.limit = b"", limit

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The messages that `data` completes. Raises ValueError for one that is too long or no object of
        JSON, or RecursionError."""
        self._data += data
        messages = []
        while len(self._data) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._data)
            if length > self.limit:
                raise ValueError(f"a message of {length} bytes; expected at most {self.limit}")
            end = _LENGTH.size + length
            if len(self._data) < end:
                break
            messages.append(json.loads(self._data[_LENGTH.size : end]))
            if not isinstance(messages[-1], dict):
                raise ValueError("expected a message that is an object of JSON")
            self._data = self._data[end:]
        return messages


class _Client:
    """One connection to the board."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.messages = MessageReader(_MAX_HELLO_BYTES)
        self.rank: int | None = None  # until its message "hello"
        self.since = time.monotonic()
        self.is_watch = False  # whether the end of this connection is taken for the end of the rank


class _Agree(NamedTuple):
    """A request that waits for texts of other ranks."""

    client: _Client
    number: int
    communicator: str
    now: bool
    items: list[tuple[str, list[int], str]]


class BoardServer:
    """Serves `size` ranks that send `token`, on a thread of its own."""

    def __init__(self, host: str, port: int, size: int, token: str) -> None:
        # A rank connects once for itself and once for each communicator, all ranks at the same time.
        self._listener = socket.create_server((host, port), backlog=max(128, 2 * size))
        self.port: int = self._listener.getsockname()[1]
        self._size, self._token = size, token.encode()
        self._strangers: list[_Client] = []  # connections without a hello, the oldest first
        # By key and rank; only of the keys of waiting requests.
        self._texts: dict[str, dict[int, str]] = {}
        self._waiting_agrees: list[_Agree] = []
        self._calls: dict[int, dict[str, str]] = {}  # a rank's last calls, by communicator
        self._ended: dict[int, str] = {}  # why a rank has ended
        self._errors: dict[str, dict[int, str]] = {}  # by communicator ("*": all) and rank
        self._beats: dict[int, float] = {}  # the time of a rank's last heartbeat
        self._left: set[int] = set()  # ranks whose connection with `watch` is closed
        self._stops = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="spanwise-board", daemon=True)
        self._thread.start()

    def close(self, timeout: float) -> None:
        """Ends the thread when all ranks have left, or after `timeout` seconds."""
        end = time.monotonic() + timeout
        while len(self._left) < self._size and time.monotonic() < end:
            time.sleep(0.01)
        self._stops.set()
        self._thread.join(1)

    def _serve(self) -> None:
        while not self._stops.is_set():
            for key, _ in self._selector.select(0.1):
                if key.fileobj is self._listener:
                    self._accept()
                elif key.data.connection.fileno() >= 0:  # _drop() may have closed it in this loop
                    self._read(key.data)
            oldest = time.monotonic() - _HELLO_SECONDS
            while self._strangers and self._strangers[0].since < oldest:
                self._drop(self._strangers[0])
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def _accept(self) -> None:
        if len(self._strangers) >= max(_MAX_STRANGERS, 2 * self._size):
            self._drop(self._strangers[0])
        try:
            connection, _ = self._listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # it has ended already, or this process has no file descriptor left
            time.sleep(0.01)
            return
        connection.settimeout(5)  # seconds that a reply may block the board
        self._strangers.append(_Client(connection))
        self._selector.register(connection, selectors.EVENT_READ, self._strangers[-1])

    def _read(self, client: _Client) -> None:
        try:
            data = client.connection.recv(_READ_BYTES)
            if not data:
                raise ConnectionError
            for message in client.messages.feed(data):
                self._handle(client, message)
        except Exception:  # whatever a connection sends ends that connection only
            self._drop(client)

    def _drop(self, client: _Client) -> None:
        self._selector.unregister(client.connection)
        client.connection.close()
        if client.rank is None:
            self._strangers.remove(client)
        self._waiting_agrees = [each for each in self._waiting_agrees if each.client is not client]
        if client.is_watch and client.rank is not None:
            self._left.add(client.rank)
            if client.rank not in self._ended:
                self._ended[client.rank] = "its process has ended without closing the communicator"
                self._answer_agrees()

    def _handle(self, client: _Client, message: dict[str, Any]) -> None:
        # Reads all of the message first: an error must not leave a part of its work done.
        do, number = message["do"], int(message["number"])
        if client.rank is None:
            token, rank = str(message["token"]).encode(), message["rank"]
            is_member = do == "hello" and hmac.compare_digest(token, self._token)
            if not is_member or type(rank) is not int or not 0 <= rank < self._size:
                raise ValueError("expected a hello with the token and a rank")
            client.rank, client.is_watch = rank, bool(message["watch"])
            self._strangers.remove(client)
            client.messages.limit = _MAX_MESSAGE_BYTES
            if client.is_watch:
                self._beats[rank] = time.monotonic()
                self._left.discard(rank)
            self._reply(client, number, {})
        elif do == "agree":
            request = _Agree(client, number, str(message["communicator"]), bool(message.get("now")), [
                (str(key), [int(rank) for rank in ranks], str(text))
                for key, ranks, text in message["items"]
            ])  # fmt: skip
            for key, _, text in request.items:
                self._texts.setdefault(key, {})[client.rank] = text
            self._waiting_agrees.append(request)
            self._answer_agrees()
        elif do == "beat":
            self._calls[client.rank] = dict(message["calls"])
            self._beats[client.rank] = time.monotonic()
            self._reply(client, number, self._status())
        elif do == "error":
            name, error = str(message["communicator"]), str(message["text"])
            self._errors.setdefault(name, {})[client.rank] = error
            self._reply(client, number, {})
            self._answer_agrees()
        elif do == "bye":
            self._ended[client.rank] = str(message["why"])
            self._reply(client, number, {})
            self._answer_agrees()

    def _status(self) -> dict[str, Any]:
        now = time.monotonic()
        ages = {rank: now - then for rank, then in self._beats.items() if rank not in self._left}
        silent = {rank: age for rank, age in ages.items() if age > _SILENT_SECONDS}
        status = {"ended": self._ended, "errors": self._errors, "calls": self._calls}
        return {**status, "silent": silent}

    def _reply(self, client: _Client, number: int, reply: dict[str, Any]) -> None:
        with suppress(OSError):  # the next read of the connection drops it
            send_message(client.connection, {**reply, "number": number})

    def _answer_agrees(self) -> None:
        waiting, self._waiting_agrees = self._waiting_agrees, []
        for request in waiting:
            missing = {
                rank
                for key, ranks, _ in request.items
                for rank in ranks
                if rank not in self._texts[key]
            }
            if not missing:
                texts = {key: self._texts[key] for key, _, _ in request.items}
                self._reply(request.client, request.number, {"texts": texts})
            elif request.now or self._has_failed(request.communicator, missing):
                reply = {"missing": sorted(missing), **self._status()}
                self._reply(request.client, request.number, reply)
            else:
                self._waiting_agrees.append(request)
        # A rank gets the texts of a key after all of them have sent theirs: the ranks that have not
        # got them yet wait.
        keys = {key for request in self._waiting_agrees for key, _, _ in request.items}
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


# ---- The watchdog, and the monitors of communicators ----


#: Seconds between two heartbeats of a rank; longer for many ranks.
_HEARTBEAT_SECONDS = 0.1
_MAX_HEARTBEATS_PER_SECOND = 5000  # of all ranks together, which the board answers
#: Seconds that a call goes on after another rank has ended: that rank may have done its part.
_GRACE_SECONDS = 0.5
#: Time limit of reports of errors and ends to the board, and of rank 0's wait in Link.close(); shorter
#: with a short time limit of the user, see Link.patience.
_CLOSE_SECONDS = 2.0
_MAX_ERROR_LENGTH = 10000  # characters

#: The reason of the end of a rank that has made all its calls.
CLOSED = "it has closed its communicators"

_links: weakref.WeakSet[Link] = weakref.WeakSet()
#: Functions that _close_links() calls at exit with the open links before it closes them. They return why
#: this rank ends, if not by CLOSED.
exit_hooks: list[Callable[[list[Link]], str | None]] = []


class Link:
    """The connection of this process, `rank` of `size`, to the board of one init()."""

    def __init__(
        self,
        address: tuple[str, int],
        token: str,
        rank: int,
        size: int,
        timeout: float,
        server: BoardServer | None,
    ) -> None:
        self.rank, self.size, self.timeout = rank, size, timeout
        self.patience = min(_CLOSE_SECONDS, max(timeout / 8, 0.1))
        #: Whether it stays open until the exit of the process, for exit_hooks.
        self.stays = False
        self.is_idle = False  # whether its communicators are closed
        self._process = os.getpid()
        self._address, self._token, self._server = address, token, server
        self._board = BoardClient(address, token, rank, watch=True, timeout=timeout)
        self._replied_at = time.monotonic()  # when the board did for the last time
        self._is_cut = False  # whether the connection to the board has ended
        self._ended: dict[int, str] = {}  # these four: the status in the board's last reply
        self._errors: dict[str, dict[int, str]] = {}
        self._silent: dict[int, float] = {}
        self.calls: dict[int, dict[str, Any]] = {}  # last calls, by rank and communicator
        self.monitors: list[Monitor] = []  # of the open communicators
        self._stops = threading.Event()
        self._pause = max(_HEARTBEAT_SECONDS, size / _MAX_HEARTBEATS_PER_SECOND)
        self._thread = threading.Thread(target=self._watch, name="spanwise-watchdog", daemon=True)
        self._thread.start()
        _links.add(self)
        _report_uncaught()

    def client(self) -> BoardClient:
        """A further connection to the board."""
        return BoardClient(self._address, self._token, self.rank, watch=False, timeout=self.timeout)

    def remove(self, monitor: Monitor) -> None:
        """Removes `monitor`, and closes the link when that was the last one, unless it stays."""
        if monitor in self.monitors:
            self.monitors.remove(monitor)
        self.is_idle = not self.monitors
        if self.is_idle and self.stays:
            self._request(self.patience, do="bye", why=CLOSED)
        elif self.is_idle:
            self.close(CLOSED)

    def close(self, why: str) -> None:
        """Reports to the board that this rank has ended. Rank 0 then waits for the others to end."""
        if self._stops.is_set() or self._process != os.getpid():
            return
        self._stops.set()
        self._request(self.patience, do="bye", why=why)
        self._board.close()
        if self._server is not None:
            self._server.close(self.patience)

    def report(self, communicator: str, text: str) -> None:
        """Sends an error of this rank to the board; `communicator` is "*" for all."""
        if self.is_silent():
            return
        text = text[:_MAX_ERROR_LENGTH]
        self._request(self.patience, do="error", communicator=communicator, text=text)

    def _request(self, timeout: float, **message: Any) -> None:
        """Sends a message to the board, and takes over the status in its reply."""
        if self._is_cut or self._process != os.getpid():
            return
        try:
            reply = self._board.request(timeout, **message)
            self._replied_at = time.monotonic()
            if "ended" in reply:
                self.take_over(reply)
        except TimeoutError:
            # Heartbeats have the time limit that the user chose, other messages a shorter one.
            if not self._stops.is_set() and time.monotonic() - self._replied_at >= self.timeout:
                self._ended = {**self._ended, 0: BOARD_SILENT}
        except OSError:
            if not self._stops.is_set():
                self._is_cut = True
                self._ended = {0: BOARD_CLOSED, **self._ended}

    def is_silent(self) -> bool:
        """Whether the board has not replied for longer than `patience`: errors do not wait for it again."""
        pause = time.monotonic() - self._replied_at
        return pause > self.patience + self._pause and not self._is_cut

    def refresh(self) -> None:
        """Updates the status, for the text of an error."""
        if not self.is_silent():
            self.send_heartbeat(self.patience)

    def is_abandoned(self) -> bool:
        """Whether a rank has ended without closing its communicators, or is stopped."""
        is_stopped = any(age > self.timeout for age in self._silent.values())
        is_cut = self._is_cut and time.monotonic() - self._replied_at > self.timeout
        return is_stopped or is_cut or self.lost_among(list(range(self.size)))

    def error_among(self, communicator: str, ranks: list[int]) -> str | None:
        """The error that another of these ranks has reported, or None."""
        for name in (communicator, "*"):
            for rank, text in self._errors.get(name, {}).items():
                if rank in ranks and rank != self.rank:
                    return text
        return None

    def failure_among(self, communicator: str, ranks: list[int]) -> str | None:
        """Why a call of these ranks will not end, or None."""
        if (reported := self.error_among(communicator, ranks)) is not None:
            return reported
        for rank, why in self._ended.items():
            if rank in ranks and rank != self.rank:
                return f"rank {ranks.index(rank)}: {why}"
        return None

    def lost_among(self, ranks: list[int]) -> bool:
        """Whether one of these ranks has ended without closing its communicators."""
        return any(rank in ranks and why != CLOSED for rank, why in self._ended.items())

    def take_over(self, status: dict[str, Any]) -> None:
        """Takes over the status of the ranks from a reply of the board; the keys of JSON are text."""
        by_rank = lambda values: {int(rank): value for rank, value in values.items()}  # noqa: E731
        self._errors = {name: by_rank(errors) for name, errors in status["errors"].items()}
        self.calls, self._ended = by_rank(status["calls"]), by_rank(status["ended"])
        self._silent = by_rank(status["silent"])

    def send_heartbeat(self, timeout: float) -> None:
        """Sends this rank's last calls to the board, which replies with those of the others."""
        calls = {monitor.name: monitor.last_call() for monitor in list(self.monitors)}
        self._request(timeout, do="beat", calls=calls)

    def _watch(self) -> None:
        while not self._stops.wait(self._pause):
            self.send_heartbeat(self.timeout)
            for monitor in list(self.monitors):
                monitor.watch()


class Monitor:
    """The monitor of one communicator, which consists of `ranks` of the link. agree, report and
    last_calls implement CommunicatorMonitor in spanwise/collectives/communicator.hpp."""

    def __init__(self, link: Link, name: str, ranks: list[int], timeout: float) -> None:
        self.link, self.name, self.ranks, self.timeout = link, name, ranks, timeout
        self.rank = ranks.index(link.rank)
        self._client = link.client()
        #: Returns the communicator, None before attach() and after the communicator is destroyed.
        self.communicator: Callable[[], Any] = lambda: None
        self._failed_at: float | None = None
        self._closed = False

    def attach(self, communicator: Any) -> None:
        """From now on the watchdog calls watch(). Keeps only a weak reference to `communicator`."""
        self.communicator = weakref.ref(communicator)
        self.link.monitors.append(self)

    def last_call(self) -> tuple[str, int, int]:
        communicator = self.communicator()
        return communicator._last_call() if communicator is not None else ("closed", 0, 0)

    def difference(self) -> str | None:
        """How the calls of another rank differ from those of this one, as far as known."""
        communicator = self.communicator()
        for rank in self.ranks:
            call = self.link.calls.get(rank, {}).get(self.name)
            if call and communicator is not None and not communicator._agrees_with(*call[1:]):
                return (
                    f"rank {self.ranks.index(rank)} has made other calls than rank {self.rank}, its last: "
                    f"{call[0]}; results may be wrong; pass check=-1 to init(), which compares each "
                    "call before it starts"
                )
        return None

    def failure(self) -> str | None:
        """Why a call that waits now will not end; None where it may, or for _GRACE_SECONDS at first."""
        reason = self.link.failure_among(self.name, self.ranks)
        if reason is None:
            self._failed_at = None
            return None
        now = time.monotonic()
        self._failed_at = self._failed_at or now
        return reason if now - self._failed_at >= _GRACE_SECONDS else None

    def watch(self) -> None:
        """Called by the watchdog. Aborts the communicator where a rank has reported an error or has made
        other calls, and with NCCL where a rank has ended without closing its communicators: work queued
        on GPUs would wait for it without end."""
        communicator = self.communicator()
        if communicator is None or communicator.failure:
            return
        communicator._poll()
        reason = self.link.error_among(self.name, self.ranks)
        if reason is None and communicator.engine == "nccl" and self.link.lost_among(self.ranks):
            reason = self.failure()
        if reason is None and (reason := self.difference()) is not None:
            self.report(reason)
        if reason is not None:
            communicator._abort(reason)

    def abort(self, reason: str) -> None:
        if (communicator := self.communicator()) is not None:
            communicator._abort(reason)

    def agree(self, items: list[tuple[str, list[int], str]], number: int, op: str) -> None:
        """Checks for each item (key, ranks, text) that all of `ranks` pass the same text. Empty `ranks`
        means all ranks. `number` (-1: a call without a number) and `op` describe the call in errors."""
        sent = [
            (f"{self.name}: {key}", [self.ranks[rank] for rank in ranks] or self.ranks, text)
            for key, ranks, text in items
        ]
        try:
            reply = self._client.request(
                self.timeout, do="agree", communicator=self.name, items=sent
            )
        except TimeoutError:
            self.link.refresh()
            late = f"not all ranks made this call within {self.timeout:g} s"
            if self.link.is_silent():
                late = BOARD_SILENT
            self._give_up(number, op, self.link.failure_among(self.name, [0]) or late)
        except OSError:
            self._give_up(number, op, BOARD_CLOSED)
        if "texts" not in reply:
            self.link.take_over(reply)
            why = self.link.failure_among(self.name, self.ranks) or "a rank has ended"
            self._give_up(number, op, why)
        for key, _, text in sent:
            texts = {int(rank): value for rank, value in reply["texts"][key].items()}
            if any(other != text for other in texts.values()):
                calls = [texts.get(rank, "not part of this call") for rank in self.ranks]
                raise self._error(number, op, "the ranks disagree", calls)

    def exchange(self, op: str, key: str, value: Any) -> list[Any]:
        """The values that all ranks pass, by rank. `op` is the public function, for errors."""
        sent = (f"{self.name}: {key}", self.ranks, json.dumps(value))
        request = {"do": "agree", "communicator": self.name, "items": [sent]}
        try:
            try:
                reply = self._client.request(self.timeout, **request)
            except TimeoutError:  # the board says which rank is missing
                if self.link.is_silent():
                    raise
                reply = self._client.request(self.link.patience, **request, now=True)
        except OSError as error:
            why = BOARD_SILENT if isinstance(error, TimeoutError) else BOARD_CLOSED
            raise self._error(-1, op, why, []) from error
        if "texts" in reply:
            return [json.loads(reply["texts"][sent[0]][str(rank)]) for rank in self.ranks]
        self.link.take_over(reply)
        why = self.link.failure_among(self.name, self.ranks) or (
            f"expected the value {key!r} from all {len(self.ranks)} ranks within {self.timeout:g} s, got "
            f"none from rank {self.ranks.index(reply['missing'][0])}; call {op}() on every rank, with the "
            "same engine= of init(), or pass init() a larger timeout="
        )
        raise self._error(-1, op, why, self.last_calls())

    def _give_up(self, number: int, op: str, why: str) -> NoReturn:
        """Reports the error, aborts the communicator and raises the error."""
        error = self._error(number, op, why, self.last_calls())
        self.report(str(error).partition("\n")[0])
        self.abort(str(error).partition("\n")[0])
        raise error

    def _error(self, number: int, op: str, why: str, calls: list[str]) -> CollectiveError:
        call = f"call {number}, {op}" if number >= 0 else op
        lines = [f"communicator {self.name}, rank {self.rank} of {len(self.ranks)}, {call}: {why}"]
        lines += [f"  rank {rank}: {last}" for rank, last in enumerate(calls)]
        error = CollectiveError("\n".join(lines))
        error.number, error.op, error.calls = number, op, calls
        return error

    def report(self, error: str) -> None:
        self.link.report(self.name, error)

    def last_calls(self) -> list[str]:
        if self.communicator() is None:
            return []  # before attach()
        calls = [self.link.calls.get(rank, {}).get(self.name, ["not known"]) for rank in self.ranks]
        calls[self.rank] = list(self.last_call())
        return [call[0] for call in calls]

    def disconnect(self) -> None:
        """Closes the monitor's connection to the board. One that was never attached needs no close()."""
        self._client.close()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self.disconnect()
            self.link.remove(self)


@atexit.register  # after the communicators are closed: their module is imported later
def _close_links() -> None:
    links, why = [link for link in _links if not link._stops.is_set()], CLOSED
    for hook in exit_hooks:
        why = hook(links) or why
    for link in links:
        link.close(why)


def close_idle_links() -> None:
    """Closes links whose communicators are closed and that stay for the exit: a later link does too."""
    for link in list(_links):
        if link.is_idle:
            link.close(CLOSED)


def _report_uncaught() -> None:
    """Once: makes sys.excepthook report to the other ranks."""
    if getattr(sys.excepthook, "_spanwise", False):
        return
    previous_hook: Callable[..., Any] = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        previous_hook(kind, error, trace)
        if not isinstance(error, CollectiveError):  # the other ranks raise that themselves
            for link in list(_links):
                reason = f"rank {link.rank} raised {kind.__name__}: {error}"
                link.report("*", reason)
                for monitor in list(link.monitors):  # work that waits for the others will not end
                    monitor.abort(reason)

    hook._spanwise = True  # type: ignore[attr-defined]
    sys.excepthook = hook
