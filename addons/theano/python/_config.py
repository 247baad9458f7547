# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""``theano.config``, and the devices that the flags ``device`` and ``contexts`` choose. Importing it reads
the flags and makes the chosen GPU Spanwise's default device, for this process.

The dialect of names is "gpu" for ``device=gpu`` (the back end with CudaNdarray) and "cuda" for
``device=cuda`` (the one with GpuArray). In the place of a GPU that this machine does not have comes
another name of the CPU, ``cpu:1`` for GPU 0: graphs get the same transfers, and the CPU does the work.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import spanwise as sw

from ._flags import DEFAULTS, WITHOUT_EFFECT, convert, read, warn

#: Flags that are settings of Spanwise with the same values.
_FORWARDED = {"floatX", "compute_test_value", "on_opt_error"}
_AT_START = {"device", "contexts", "init_gpu_device", "gpuarray.preallocate", "lib.cnmem"}


class Config:
    """Flags as attributes; dots in names are nested attributes. ``floatX``, ``compute_test_value``
    and ``on_opt_error`` are those of ``spanwise.config``. AttributeError for an unknown flag."""

    def __init__(self, values: dict[str, object], prefix: str = "") -> None:
        vars(self).update(_values=values, _prefix=prefix)

    def __getattr__(self, name: str) -> Any:
        flag = self._prefix + name
        if flag in _FORWARDED:
            return getattr(sw.config, flag)
        if flag in DEFAULTS:
            return self._values.get(flag, DEFAULTS[flag])
        if any(known.startswith(flag + ".") for known in DEFAULTS):
            return Config(self._values, flag + ".")
        raise AttributeError(f"theano.config has no flag {flag!r}; known: {', '.join(dir(self))}")

    def __setattr__(self, name: str, value: object) -> None:
        flag = self._prefix + name
        if flag in _AT_START:
            raise AttributeError(f"theano.config.{flag} is set at start only: use THEANO_FLAGS")
        if flag not in DEFAULTS:
            raise AttributeError(f"theano.config has no flag {flag!r}: cannot set it")
        if flag in WITHOUT_EFFECT and value != DEFAULTS[flag]:
            warn(f"config.{flag} = {value!r} has no effect: {WITHOUT_EFFECT[flag][1]}")
        if flag in _FORWARDED:
            setattr(sw.config, flag, value)
        self._values[flag] = convert(flag, value)

    def __dir__(self) -> list[str]:
        flags = (flag for flag in DEFAULTS if flag.startswith(self._prefix))
        return sorted({flag.removeprefix(self._prefix).partition(".")[0] for flag in flags})


config = Config(read())
for _flag in _FORWARDED & set(config._values):
    setattr(sw.config, _flag, config._values[_flag])


# ---- Devices ----


_DEVICE = re.compile(r"(cpu|gpu|cuda|opencl)(\d*)(:\d+)?\Z")


class Devices:
    """``default`` is the device of functions, ``gpu`` that of CudaNdarray; both are names. ``names``
    maps names of contexts to devices of Theano's, ``gpus`` is the number of GPUs in use."""

    def __init__(self, flag: str, contexts: str) -> None:
        self.names = _parse_contexts(contexts)
        match = _DEVICE.match(flag)
        if flag in self.names:
            kind, number = "cuda", _gpu_number(self.names[flag])
        elif match is None or match[1] == "opencl":
            raise ValueError(
                f"theano flag device: expected cpu, gpu, gpu0, cuda, cuda0 or a name of contexts, got {flag!r}"
            )
        else:
            kind, number = match[1], int(match[2] or 0)
        self.is_gpu = kind != "cpu"
        self.dialect = kind if self.is_gpu else "cuda"
        # SPANWISE_DEVICE=cpu keeps a script off the GPU.
        uses_cpu = str(sw.config.device).startswith("cpu")
        self.gpus = 0 if uses_cpu else sum(device.kind == "cuda" for device in sw.devices())
        self.number = number
        self.gpu = self.device_of(number)
        self.default = self.gpu if self.is_gpu else "cpu"

    def choose_dialect(self, dialect: str) -> None:
        """Uses the names of a back end whose module is imported, if the flags choose none."""
        if not self.is_gpu:
            self.dialect = dialect

    def device_of(self, number: int) -> str:
        """The device for GPU `number`: another name of the CPU if that GPU is not there."""
        return f"cuda:{number}" if number < self.gpus else f"cpu:{1 + number}"

    @property
    def has_gpu(self) -> bool:
        """Whether the default GPU is a real one."""
        return self.gpu.startswith("cuda")

    def missing(self) -> list[str]:
        """The GPUs named by the flags that this machine does not have, such as "cuda1"."""
        numbers = {_gpu_number(target) for target in self.names.values()}
        if self.is_gpu:
            numbers.add(self.number)
        return [f"cuda{number}" for number in sorted(numbers) if number >= self.gpus]

    def target(self, context: Any) -> str:
        """The device of a context's name; None is the default GPU. ValueError for other values."""
        if context is None:
            return self.gpu
        if context == "cpu":
            return "cpu"
        if context in self.names:
            return self.device_of(_gpu_number(self.names[context]))
        match = _DEVICE.match(str(context))
        if match is not None and match[1] in ("gpu", "cuda"):
            return self.device_of(int(match[2] or 0))
        raise ValueError(
            f"Can't transfer to target {context!r}; expected None, 'cpu' or one of {sorted(self.names)}"
        )

    def context_of(self, device: Any) -> str | None:
        """The name of the context on `device`; None for the default one."""
        for name, target in self.names.items():
            if self.device_of(_gpu_number(target)) == str(device):
                return name
        return None


def _gpu_number(device: str) -> int:
    match = _DEVICE.match(device)
    if match is None or match[1] not in ("cuda", "gpu"):
        raise ValueError(f"theano flag contexts: expected a device cuda<number>, got {device!r}")
    return int(match[2] or 0)


def _parse_contexts(text: str) -> dict[str, str]:
    """{name: device} of "name->cuda0;name->cuda1"."""
    names = {}
    for part in filter(None, text.split(";")):
        name, arrow, device = part.partition("->")
        if not arrow or _DEVICE.match(name):
            raise ValueError(
                f"theano flag contexts: expected name->cuda<number> with a name of your own, got {part!r}"
            )
        names[name] = device
    return names


def is_host(device: Any) -> bool:
    """Whether `device` (a device or its name) is the host, not a GPU or the CPU in its place."""
    return str(device) == "cpu"


def _describe(number: int) -> str:
    """The name of GPU `number` and its PCI address."""
    if number >= devices.gpus:
        return "the CPU"
    gpu: Any = sw.driver.Device(number)  # type: ignore[no-untyped-call]
    address = f"{gpu.PCI_DOMAIN_ID:04x}:{gpu.PCI_BUS_ID:02x}:{gpu.PCI_DEVICE_ID:02x}.0"
    return f"{gpu.name()} ({address})"


def _print_choice() -> None:
    """Prints the chosen devices to stderr, as Theano does, and sets the sizes of pools."""
    sizes = (config.gpuarray.preallocate, config.lib.cnmem)
    size = next((size for size in sizes if size > 0), 0)
    if size and devices.has_gpu:  # below 1 it is a fraction of the memory
        sw.config.preallocate = size if size < 1 else f"{int(size)}MiB"
    if missing := devices.missing():
        flag = f"device={config.device}" if devices.is_gpu else f"contexts={config.contexts}"
        lacks = "has no GPU" if devices.gpus == 0 else f"has no {', '.join(missing)}"
        warn(
            f"{flag}: this machine {lacks}, so the program runs on the CPU back end"
            f"{' in its place' if devices.gpus else ''}; names of GPU ops stand for work of the CPU"
        )
    for name, target in devices.names.items():
        print(
            f"Mapped name {name} to device {target}: {_describe(_gpu_number(target))}",
            file=sys.stderr,
        )
    if not devices.names and devices.has_gpu and config.print_active_device:
        number = int(devices.gpu.partition(":")[2])
        word = "gpu device " if devices.dialect == "gpu" else "device cuda"
        print(f"Using {word}{number}: {_describe(number)}", file=sys.stderr)


devices = Devices(config.device, config.contexts)
# Kernels of scripts run where CudaNdarrays are.
sw.config.device = devices.gpu
if devices.is_gpu or devices.names:
    _print_choice()
