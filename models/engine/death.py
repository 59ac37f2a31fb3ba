"""Why the engine's process ended: its exit code decoded, and the lines of its log that may explain it."""

from __future__ import annotations

import re
import signal
import sys

from specchat.models.engine.errors import EngineDied

MOST_CHARACTERS = 300
"""Longer log lines are cut."""

_SIGNALS = {
    "SIGABRT": "engine_aborted",
    "SIGBUS": "engine_crashed",
    "SIGFPE": "engine_crashed",
    "SIGILL": "engine_illegal_instruction",
    "SIGSEGV": "engine_crashed",
    "SIGSYS": "engine_crashed",
    "SIGTRAP": "engine_crashed",
}

# NTSTATUS values, which Windows gives as exit codes. Abort() there ends with a fast fail, or with 3 in older runtimes.
_WINDOWS = {
    3: "engine_aborted",
    0xC0000005: "engine_crashed",  # access violation
    0xC0000017: "engine_out_of_memory",
    0xC000001D: "engine_illegal_instruction",
    0xC00000FD: "engine_crashed",  # stack overflow
    0xC0000374: "engine_crashed",  # heap corruption
    0xC0000409: "engine_aborted",
}

_REASON = re.compile(
    r"error|fail|assert|abort|exception|terminate called|what\(\)|out of memory|unable|cannot|can't|could not"
    r"|invalid|unsupported|unknown|missing|corrupt",
    re.IGNORECASE,
)
_OUT_OF_MEMORY = re.compile(
    r"out.?of.?(\w+.?)?memory|bad_alloc|(failed|unable) to allocate|cannot allocate|MemoryError", re.I
)
# What Python adds when a fatal signal ends it: it says where, never why.
_WHERE = re.compile(
    r"Fatal Python error|Traceback \(|Current thread|Thread 0x|Extension modules:|<no Python frame>|\s+File |\s{4}"
)

# llama.cpp's listing of what a model's file says: a template that raises an exception, an unknown token …
_LISTING = re.compile(r"llama_model_loader: - |print_info: ")


def died(exit_code: int | None, log: str, platform: str = sys.platform) -> EngineDied:
    """The failure that tells how a process ended.

    `exit_code` is as `subprocess` gives it: on POSIX −n for signal n; None if the process would not end even when
    killed. `log` is what the process wrote to its log. Every failure has the parameters `exit` (the signal's name,
    or the exit code) and `log` (lines joined by newlines): of one that ended by itself the last line if no other looks
    like a reason; of one that was taken by surprise it would only tell what was being done.
    """
    lines = useful_lines(log)
    code, exit_name = _decode(exit_code, platform)
    if code == "engine_ended":
        lines = lines or _telling_lines(log)[-1:]
    if code in ("engine_aborted", "engine_crashed") and any(_OUT_OF_MEMORY.search(line) for line in lines):
        code = "engine_out_of_memory"
    return EngineDied(code, {"exit": exit_name, "log": "\n".join(lines)})


def _decode(exit_code: int | None, platform: str) -> tuple[str, str]:
    """The failure's code, and the name of the exit."""
    if exit_code is None:
        return "engine_stuck", ""
    if platform == "win32":
        status = exit_code & 0xFFFFFFFF
        return _WINDOWS.get(status, "engine_ended"), str(status) if status < 0x80000000 else f"0x{status:08X}"
    if exit_code >= 0:
        return "engine_ended", str(exit_code)
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    return _SIGNALS.get(name, "engine_killed"), name


def useful_lines(text: str, most: int = 5) -> list[str]:
    """The last `most` different lines of a log that look like a reason."""
    reasons = [line for line in _telling_lines(text) if _REASON.search(line)]
    latest_first = dict.fromkeys(reversed(reasons))
    return list(latest_first)[:most][::-1]


def _telling_lines(text: str) -> list[str]:
    """The lines that could be a reason."""
    telling = [line for line in text.splitlines() if not (_WHERE.match(line) or _LISTING.match(line))]
    return [line.strip()[:MOST_CHARACTERS] for line in telling if line.strip()]
