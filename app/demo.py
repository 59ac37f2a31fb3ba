"""What `specchat demo` needs: a pair without any download, whose target is made once from the bundled model."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec

from specchat.app.live import on_terminal
from specchat.app.sentences import N_
from specchat.app.streams import tell
from specchat.app.words import _
from specchat.models.errors import CodedError, Params

STANDIN_SENTENCE = N_(
    "The target is a stand-in: the bundled model, widened to be as slow as one of 1.3 billion parameters, which shows "
    "what a draft does for speed, while the text stays the small model's."
)
"""What the stand-in is, for wherever it is shown."""

STOP_SECONDS = 1.0
"""How long the process that makes it may take to stop in order."""

EDITION = 1
"""Raised whenever the same source makes another stand-in, so that those made before are made anew."""

# Of its own group or session, so that the terminal's ctrl+C reaches this process alone, which then stops it in order.
_APART: dict[str, Any]
if sys.platform == "win32":
    _APART = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    _APART = {"start_new_session": True}


class DemoError(CodedError):
    """There is no stand-in.

    The codes are those of `ModelFileError`; `standin_busy` while another process makes it; `standin_failed` (reason).
    """


class Progress(msgspec.Struct, frozen=True, tag=True):
    """Bytes written, of bytes in all."""

    done: int
    total: int


class Failure(msgspec.Struct, frozen=True, tag=True):
    """Why the making came to nothing."""

    code: str
    params: Params = {}


class Record(msgspec.Struct, frozen=True):
    """What is known of a finished stand-in. A file that was changed, cut off or made otherwise has another one."""

    edition: int
    source: str
    source_size: int
    size: int
    modified: int


def standin_path(cache: Path) -> Path:
    """Where the stand-in lies below the cache folder, if it has been made."""
    return cache / "demo" / "stand-in.gguf"


def record_path(out: Path) -> Path:
    """Where the record of the stand-in `out` lies."""
    return out.with_suffix(".json")


def record_of(out: Path, source: Path) -> Record:
    """What a record made now of `out`, made from `source`, would say. Raises `OSError` where one of them is missing."""
    made, read = out.stat(), source.stat()
    return Record(EDITION, source.name, read.st_size, made.st_size, made.st_mtime_ns)


def is_current(out: Path, source: Path) -> bool:
    """Whether `out` is a whole stand-in that this specchat made from `source`."""
    try:
        return msgspec.json.decode(record_path(out).read_bytes(), type=Record) == record_of(out, source)
    except (OSError, msgspec.DecodeError):
        return False


def prepare_standin(cache: Path, source: Path, *, plain: bool = False) -> Path:
    """The stand-in for `source`, made if there is no current one. Says what it is and how far it is on stderr.

    `plain` leaves out the line that changes, which takes escape sequences. Raises `DemoError`. ctrl+C
    (`KeyboardInterrupt`) ends the making and leaves nothing half-made.
    """
    out = standin_path(cache)
    if not is_current(out, source):
        tell(_(STANDIN_SENTENCE))
        if plain:
            tell(_("It is being made, once; ctrl+C stops that."))
        _make(out, source, plain)
    return out


def _make(out: Path, source: Path, plain: bool) -> None:
    """Have a process of its own make it: numpy and the weights stay out of the one that shows the chat."""
    command = (sys.executable, "-P", "-m", "specchat.app.demo_child", str(source), str(out))
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **_APART
    )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        failure = _follow(child.stdout, plain)
    finally:
        child.stdin.close()  # for the child, the sign to stop
        child.stdout.close()
        ended = _end_of(child, out)
    if failure is None and ended:
        failure = Failure("standin_failed", {"reason": _("its process ended with {code}").format(code=ended)})
    if failure:
        raise DemoError(failure.code, failure.params)


def _end_of(child: subprocess.Popen[bytes], out: Path) -> int:
    """The status of a process that was told to stop. One that is busy, as with its imports, is ended, or the person
    who stopped it would wait; whatever happens, none is left that would be in the next one's way."""
    try:
        return child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
            out.with_name(f"{out.name}.part").unlink(missing_ok=True)
    return child.returncode


def _follow(events: IO[bytes], plain: bool) -> Failure | None:
    """Show how far the making is, to its end; returns what went wrong."""
    line = on_terminal(with_text=False, shown=not plain)
    try:
        for raw in events:
            event = msgspec.json.decode(raw, type=Progress | Failure)
            if isinstance(event, Failure):
                return event
            line.paint(partial(_described, event))
    finally:
        line.clear()
    return None


def _described(progress: Progress) -> str:
    share, size = progress.done / progress.total, f"{progress.total / 1e6:.0f}"
    return _("making the stand-in: {share:.0%} of {size} MB (ctrl+C stops it)").format(share=share, size=size)
