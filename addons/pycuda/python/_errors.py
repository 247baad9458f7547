# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's exceptions. All but CompileError are Spanwise's."""

import spanwise as sw

__all__ = ["CompileError", "Error", "LaunchError", "LogicError", "MemoryError", "RuntimeError"]

Error = sw.Error
LogicError = LaunchError = RuntimeError = sw.DeviceError
MemoryError = sw.OutOfMemoryError


class CompileError(sw.CompileError):
    """Source that does not compile: `msg`, and the compiler's output as `stderr` and `log`."""

    def __init__(self, msg, command_line=(), stdout=None, stderr=None):
        super().__init__(msg)
        self.msg, self.command_line, self.stdout, self.stderr = msg, command_line, stdout, stderr
        self.log = stderr or msg

    def __str__(self):
        return self.msg if not self.stderr else f"{self.msg}\n{self.stderr}"


def pycuda_compile_error(error, source):
    """The CompileError for a spanwise.CompileError; `source` is what did not compile."""
    return CompileError(f"compilation of {source} failed", stderr=str(error))
