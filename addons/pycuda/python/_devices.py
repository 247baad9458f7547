# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's devices and contexts. Without a GPU the CPU is device 0."""

import spanwise as sw

__all__ = ["Context", "Device", "get_driver_version", "get_version"]

#: The CPU reports the compute capability that its kernels see as __CUDA_ARCH__, and CUDA 13.0, so
#: that programs which ask for the version use no texture references.
_CPU_CAPABILITY = (7, 0)
_CPU_CUDA_VERSION = 13000
_CPU_ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": _CPU_CAPABILITY[0], "COMPUTE_CAPABILITY_MINOR": _CPU_CAPABILITY[1],
    "CONCURRENT_KERNELS": 1, "INTEGRATED": 1, "CAN_MAP_HOST_MEMORY": 1, "UNIFIED_ADDRESSING": 1,
    "COMPUTE_MODE": 0, "KERNEL_EXEC_TIMEOUT": 0, "ECC_ENABLED": 0, "TOTAL_CONSTANT_MEMORY": 65536,
    "MAX_REGISTERS_PER_BLOCK": 65536, "PCI_DOMAIN_ID": 0, "PCI_BUS_ID": 0, "PCI_DEVICE_ID": 0,
    "ASYNC_ENGINE_COUNT": 0, "GPU_OVERLAP": 0, "CLOCK_RATE": 0, "MEMORY_CLOCK_RATE": 0,
    "GLOBAL_MEMORY_BUS_WIDTH": 0, "TEXTURE_ALIGNMENT": 512, "MAX_PITCH": 2**31 - 1,
}  # fmt: skip
_CPU_PCI_BUS_ID = "0000:00:00.0"


def _gpus():
    """The GPUs in use: none if the configuration chooses the CPU."""
    if sw.config.device == "cpu":
        return []
    return [device for device in sw.devices() if device.kind == "cuda"]


def get_driver_version():
    """The CUDA version of the driver, 13000 for 13.0. 13000 on the CPU."""
    return sw.driver.get_driver_version() or _CPU_CUDA_VERSION


def get_version():
    """The CUDA version of the driver, (13, 0, 0) for 13.0."""
    version = get_driver_version()
    return version // 1000, version % 1000 // 10, 0


class Device(sw.driver.Device):
    """The GPU with an ordinal or a PCI id ("0000:65:00.0"). Device(0) is the CPU if there is no GPU,
    or if the configuration chooses the CPU."""

    def __init__(self, which=0):
        super().__init__(which if isinstance(which, sw.device) else _device_at(which))

    @staticmethod
    def count():
        """The number of GPUs; 1, the CPU, without any."""
        return len(_gpus()) or 1

    @staticmethod
    def from_pci_bus_id(pci_bus_id):
        return Device(pci_bus_id)

    def compute_capability(self):
        """(9, 0) for "sm_90"; on the CPU that of the __CUDA_ARCH__ of its kernels."""
        if self.spanwise_device.kind == "cpu":
            return _CPU_CAPABILITY
        return super().compute_capability()

    def get_attribute(self, which):
        """The value of a device_attribute, also as ``device.WARP_SIZE``. The CPU has values for most
        attributes, 0 where it does not report one. Raises DeviceError for the others."""
        which = sw.driver.device_attribute(which)
        if self.spanwise_device.kind == "cpu" and which.name in _CPU_ATTRIBUTES:
            return _CPU_ATTRIBUTES[which.name]
        return super().get_attribute(which)

    def get_attributes(self):
        """A dict from device_attribute to value, for the attributes that the device has."""
        attributes = super().get_attributes()
        if self.spanwise_device.kind == "cpu":
            for name, value in _CPU_ATTRIBUTES.items():
                attributes[sw.driver.device_attribute[name]] = value
        return attributes

    def pci_bus_id(self):
        """The PCI id as "domain:bus:device.0", zeros for the CPU."""
        if self.spanwise_device.kind == "cpu":
            return _CPU_PCI_BUS_ID
        return f"{self.PCI_DOMAIN_ID:04x}:{self.PCI_BUS_ID:02x}:{self.PCI_DEVICE_ID:02x}.0"

    def retain_primary_context(self):
        """The device's primary context, not pushed."""
        return Context(self.spanwise_device)

    def can_access_peer(self, other):
        """Whether copies between the two GPUs pass through no host memory: between any two
        different GPUs, as the driver chooses the path."""
        return self != other and self.spanwise_device.kind == other.spanwise_device.kind == "cuda"


def _device_at(which):
    """The spanwise.device for an ordinal, a PCI id or a device's name."""
    devices = _gpus() or [sw.device("cpu")]
    if isinstance(which, str) and ":" in which and not which.startswith("cuda"):
        for candidate in map(Device, devices):
            if candidate.pci_bus_id() == which.lower():
                return candidate.spanwise_device
        raise sw.DeviceError(
            f"Device: no device has the PCI id {which!r}; list Device(i).pci_bus_id()"
        )
    if isinstance(which, str):
        return sw.device(which)
    ordinal = int(which)
    if not 0 <= ordinal < len(devices):
        raise sw.DeviceError(
            f"Device: expected an ordinal from 0 to {len(devices) - 1}, got {ordinal}; see Device.count()"
        )
    return devices[ordinal]


class Context(sw.driver.Context):
    """A device's primary context, which other libraries share. Between push() and pop() it is the
    current context of the thread."""

    @staticmethod
    def get_current():
        """The innermost pushed context, else that of the default device."""
        current = sw.driver.Context.get_current()
        return current if isinstance(current, Context) else Context(sw.device())

    @staticmethod
    def get_device():
        """The current context's device."""
        return Device(sw.device())

    @staticmethod
    def attach(flags=0):
        """The current context."""
        return Context.get_current()

    def detach(self):
        """Pops the context if it is current. The primary context lives as long as the process."""
        if sw.driver.Context.get_current() is self:
            Context.pop()

    def enable_peer_access(self, flags=0):
        """No effect: copies between GPUs need no permission."""

    disable_peer_access = enable_peer_access

    @staticmethod
    def get_api_version():
        """The driver's version, as get_driver_version()."""
        return get_driver_version()

    @staticmethod
    def get_cache_config():
        return sw.driver.func_cache.PREFER_NONE

    @staticmethod
    def set_cache_config(config):
        """No effect: L1 cache and shared memory are one since compute capability 7.0."""
