"""What writes, in a form that finds it again: files by name and size, and the machine."""

from __future__ import annotations

import platform
from pathlib import Path

from specchat.app.chats.records import Setup
from specchat.models.engine.messages import Loaded, Ready


def setup_of(loaded: Loaded, ready: Ready) -> Setup:
    """What is loaded, and where. Looks at the files: not for the screen's own loop."""
    draft = loaded.draft
    return Setup(
        target=file_name(loaded.target.path),
        target_size=file_size(loaded.target.path),
        draft=file_name(draft.path) if draft else "",
        draft_size=file_size(draft.path) if draft else 0,
        machine=machine_name(ready),
    )


def machine_name(ready: Ready) -> str:
    """The processor, and what llama.cpp computes on beside it: `AMD EPYC · CPU`."""
    cpu = next((device.description for device in ready.devices if device.kind == "cpu"), platform.processor())
    gpus = sorted({device.description for device in ready.devices if device.kind in ("gpu", "igpu")})
    return " · ".join([cpu.strip() or platform.machine(), ready.backend, *gpus])


def file_name(path: str | Path) -> str:
    """A file's name as the database takes it."""
    return Path(path).name.encode("utf-8", "replace").decode()


def file_size(path: str | Path) -> int:
    """Bytes of a file; of a model that is split over several, of the first. 0 where it isn't there."""
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):  # a path may hold what no path can
        return 0
