"""The process that makes the stand-in for `specchat demo`: `python -m specchat.app.demo_child SOURCE OUT`.

It writes `Progress` and perhaps one `Failure` to standard output, as JSON lines, and stops once standard input ends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import msgspec

from specchat.app.demo import Failure, Progress, is_current, record_of, record_path
from specchat.models.files.errors import ModelFileError
from specchat.models.files.standin import Cancelled, make_standin
from specchat.settings.atomic import write_atomically


class Busy(Exception):
    """Another process is making it."""


def main() -> int:
    """Make the stand-in that the command line names; the status is 1 if there is none in the end."""
    source, out = map(Path, sys.argv[1:])
    cancelled = Event()
    Thread(target=_wait_for_end, args=(cancelled,), daemon=True).start()
    try:
        make(source, out, cancelled.is_set)
    except ModelFileError as error:
        _send(Failure(error.code, error.params))
    except OSError as error:
        _send(Failure("file_unwritable", {"path": str(out), "reason": error.strerror or str(error)}))
    except Busy:
        _send(Failure("standin_busy"))
    except Cancelled:
        pass
    else:
        return 0
    return 1


def make(source: Path, out: Path, cancelled: Callable[[], bool]) -> None:
    """Make `out` unless it is current, and its record once it is safely on disk."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with alone(out.with_suffix(".lock")):
        if is_current(out, source):  # another process has just finished it
            return
        record_path(out).unlink(missing_ok=True)
        out.unlink(missing_ok=True)  # makes room for the new one
        make_standin(source, out, progress=lambda done, total: _send(Progress(done, total)), cancelled=cancelled)
        with out.open("r+b") as made:
            os.fsync(made.fileno())
        write_atomically(record_path(out), msgspec.json.encode(record_of(out, source)))


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold the lock file, which the system takes back however this process ends. Raises `Busy`."""
    with lock.open("a+b") as file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Busy from None
        yield


def _wait_for_end(cancelled: Event) -> None:
    # Not through sys.stdin: Python can't exit while a thread waits in it.
    while os.read(0, 1024):
        pass
    cancelled.set()


def _send(event: Progress | Failure) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(event) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
