"""Writes a comparison into files that can be passed on: Markdown, JSON, and a picture as SVG and PNG."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec

from specchat.app.bench.blocks import as_markdown
from specchat.app.bench.document import File, to_json
from specchat.app.bench.hashing import hash_files
from specchat.app.compare.document import Compared
from specchat.app.compare.telling import blocks
from specchat.app.new_files import new_files
from specchat.models.engine.messages import ChatMessage

ENDINGS = (".md", ".json", ".svg", ".png")

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 40


async def export(compared: Compared, folder: Path, progress: Callable[[int, int], None]) -> tuple[Path, ...]:
    """Write all files into `folder`, under a name that nothing there has; returns them. Raises `OSError`.

    The models' checksums are computed first, which `progress` (bytes done, bytes in all, from another thread) tells of.
    """
    measured = compared.measured
    paths = [file.path for file in (measured.target, *measured.drafts)]
    hashes = await hash_files(paths, progress)

    def hashed(file: File) -> File:
        return msgspec.structs.replace(file, sha256=hashes.get(file.path))

    known = msgspec.structs.replace(
        measured, target=hashed(measured.target), drafts=tuple(map(hashed, measured.drafts))
    )
    return await asyncio.to_thread(_write, msgspec.structs.replace(compared, measured=known), folder)


def file_stem(compared: Compared) -> str:
    """What the files are called before their endings: when, what wrote, and what guessed."""
    measured = compared.measured
    moment = datetime.fromisoformat(measured.started).astimezone()
    drafts = [side.draft for side in measured.sides]
    names = [Path(measured.target.path).stem]
    if drafts:
        names.append(Path(drafts[0]).stem if len(drafts) == 1 else f"{len(drafts)}-drafts")
    models = "-".join(_UNSAFE.sub("-", name)[:_LONGEST].strip("-.") for name in names)
    return f"specchat-compare-{moment:%Y-%m-%d-%H%M%S}-{models}"


def _write(compared: Compared, folder: Path) -> tuple[Path, ...]:
    from specchat.app.bench.plot import save_plot

    paths = new_files(folder, file_stem(compared), ENDINGS)
    markdown, json, *pictures = paths
    markdown.write_text(as_markdown(blocks(compared)) + _appendix(compared), encoding="utf-8", newline="\n")
    json.write_text(to_json(compared), encoding="utf-8", newline="\n")
    for picture in pictures:
        save_plot(compared.measured, picture)
    return paths


def _appendix(compared: Compared) -> str:
    """The prompts in full, as text that no Markdown is made of."""
    system = compared.measured.conditions.system
    parts = [f"\n**system**\n\n{_fenced(system)}\n"] if system else []
    for asked in compared.prompts:
        said = [*asked.before, ChatMessage("user", asked.text)]
        parts += [f"\n**{message.role}**\n\n{_fenced(message.content)}\n" for message in said]
    return "".join(parts)


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
