"""The first row: which model writes, what guesses for it, where they run, and how full the context is."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from textual.content import Content
from textual.widget import Widget

from specchat.app.conversation import Conversation
from specchat.app.display import clean
from specchat.app.widgets.context_meter import context_meter, short_context_meter
from specchat.app.widgets.look import ACCEPTED, LABEL, VALUE
from specchat.app.widgets.words_help import explain
from specchat.app.words import _, visible
from specchat.models.engine.messages import Loaded
from specchat.models.files.names import called
from specchat.models.files.ollama import name_of

_GAP = 2
"""Cells at least between the left side and the right."""


class TitleRow(Widget):
    """One row. What is in its middle gives way where there is no room, and then the end of the models' names."""

    DEFAULT_CSS = """
    TitleRow { height: 1; padding: 0 2; background: $surface; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._left = Content("")
        self._beside = ""
        self._meters = context_meter(None), short_context_meter(None)
        self.tooltip = explain(_("context"))

    def show(self, pair: Content, beside: str, context: float | None) -> None:
        """Show the pair, something beside it, and which part of the context, 0 … 1, is full."""
        meters = context_meter(context), short_context_meter(context)
        if not self._left.is_same(pair) or self._beside != beside or not self._meters[0].is_same(meters[0]):
            self._left, self._beside, self._meters = pair, beside, meters
            self.refresh()

    def render(self) -> Content:
        """What is painted."""
        meter, short = self._meters
        width, left = self.size.width, self._left
        for right in (Content.assemble((self._beside, LABEL), "   ", meter), meter, short):
            room = width - left.cell_length - right.cell_length
            if room >= _GAP:
                return Content.assemble(left, Content.blank(room), right)
        left = left.truncate(max(width - short.cell_length - _GAP, 0), ellipsis=True)
        return Content.assemble(left, Content.blank(_GAP), short)


def pair_line(conversation: Conversation) -> Content:
    """`Qwen3-8B-Q4_K_M ◂ Qwen3-0.6B-Q8_0`: what is loaded, or the names of the files that are wanted."""
    loaded = conversation.loaded
    target = model_name(loaded.target.path if loaded else conversation.target)
    file = loaded.draft.path if loaded and loaded.draft else conversation.draft
    draft = model_name(file) if file else _("no draft")
    guessing = {
        "both": _("lookup + {draft}").format(draft=draft),
        "model": draft,
        "lookup": _("prompt lookup"),
        "none": _("no draft"),
    }[conversation.guessing]
    return Content.assemble((target, VALUE), (" ◂ ", ACCEPTED), guessing)


_BLOB = re.compile(r"sha256-[0-9a-f]{64}$")


@lru_cache(maxsize=64)  # asked for at every repaint
def model_name(path: str | Path) -> str:
    """The file's name without its ending: people know it better than the name inside the file.

    A model of Ollama's goes by its name there. To find that waits for the disk, so ask in a thread the first time.
    """
    file = Path(path)
    if _BLOB.match(file.name):
        return visible(name_of(file) or file.name[: len("sha256-") + 12])
    return visible(called(file))


def places(loaded: Loaded) -> str:
    """Where the models' layers are."""
    info = loaded.target
    devices = clean(", ".join(info.devices))
    if 0 < info.gpu_layers < info.layers:
        return _("{devices} · {on_gpu} of {layers} layers on the GPU").format(
            devices=devices, on_gpu=info.gpu_layers, layers=info.layers
        )
    return devices
