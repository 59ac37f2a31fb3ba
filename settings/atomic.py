"""Writes small files so that a crash leaves the old content or the new one, never a part of either."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from pathlib import Path


def write_atomically(file: Path, content: bytes) -> None:
    """Put `content` in the place of what `file` holds; its folder is made if it isn't there.

    A link stays a link: what it points to is written. Permissions are kept, and a new file is its owner's alone. A
    file that its owner made read-only is left as it is. Raises `OSError`.
    """
    file = Path(os.path.realpath(file))
    if file.exists() and not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        if file.exists():
            new.chmod(stat.S_IMODE(file.stat().st_mode))
        new.replace(file)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    _keep_name(file.parent)


def _keep_name(folder: Path) -> None:
    """Have the disk hold the folder's new entry too. Windows knows no such thing."""
    if sys.platform != "win32":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
