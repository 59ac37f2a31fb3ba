"""The llama.cpp library itself: its log and its versions.

Whatever imports llama_cpp imports this module too, so that no line of the log is lost or printed.
"""

from __future__ import annotations

import atexit
import ctypes
import os

import llama_cpp

from specchat.models.llama.log import Level, LogTail

log = LogTail()


def _write(level: int, text: bytes, _data: object) -> None:
    log.write(level, text)
    if level != Level.DEBUG:
        os.write(2, text)  # the engine's log file: what is in memory is gone if native code ends the process


# The package's own callback misreads the levels and prints. This one must be in place before the backends start.
_log_callback = llama_cpp.llama_log_callback(_write)
llama_cpp.llama_log_set(_log_callback, ctypes.c_void_p())
# Some backends still log while the process ends, when Python can't be called any more.
atexit.register(llama_cpp.llama_log_set, llama_cpp.llama_log_callback(), ctypes.c_void_p())
llama_cpp.llama_backend_init()


def last_lines() -> tuple[str, ...]:
    """llama.cpp's latest warnings and errors, oldest first."""
    return log.lines()


def versions() -> dict[str, str]:
    """The binding's version and the library's."""
    return {"llama-cpp-python": llama_cpp.__version__, "llama.cpp": llama_cpp.llama_version().decode()}


def system_info() -> str:
    """llama.cpp's line of CPU and build features."""
    line: bytes = llama_cpp.llama_print_system_info()
    return line.decode(errors="replace").strip(" |")
