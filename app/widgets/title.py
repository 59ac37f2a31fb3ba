"""The first row: which model writes, what guesses for it, and where they run; or what is being waited for."""

from __future__ import annotations

import re
from pathlib import Path

from textual.content import Content
from textual.widget import Widget

from specchat.app.conversation import Conversation
from specchat.app.display import clean
from specchat.app.widgets.look import ACCEPTED, LABEL, VALUE
from specchat.app.words import _, visible
from specchat.models.engine.messages import Loaded


class TitleRow(Widget):
    """One row; its right side gives way where there is no room."""

    DEFAULT_CSS = """
    TitleRow { height: 1; padding: 0 2; background: $surface; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._left = Content("")
        self._right = ""

    def show(self, pair: Content, beside: str) -> None:
        """Show the pair, and something on the right."""
        if not self._left.is_same(pair) or self._right != beside:
            self._left, self._right = pair, beside
            self.refresh()

    def render(self) -> Content:
        """What is painted."""
        right = Content.styled(self._right, LABEL)
        room = self.size.width - self._left.cell_length - right.cell_length
        return Content.assemble(self._left, Content.blank(room), right) if room >= 2 else self._left


def pair_line(conversation: Conversation) -> Content:
    """`Qwen3-8B-Q4_K_M ◂ Qwen3-0.6B-Q8_0`: what is loaded, or the names of the files that are wanted."""
    loaded, draft_file = conversation.loaded, conversation.draft
    target = model_name(loaded.target.path if loaded else conversation.target)
    if loaded:
        draft = model_name(loaded.draft.path) if loaded.draft else _("no draft model")
    else:
        draft = model_name(draft_file) if draft_file else _("no draft model")
    guessing = {"model": draft, "lookup": _("prompt lookup"), "none": _("no draft")}[conversation.drafter]
    return Content.assemble((target, VALUE), (" ◂ ", ACCEPTED), guessing)


_PART = re.compile(r"-\d{5}-of-\d{5}$")


def model_name(path: str | Path) -> str:
    """The file's name without its ending: people know it better than the name inside the file."""
    return visible(_PART.sub("", Path(path).stem))


def places(loaded: Loaded) -> str:
    """Where the models' layers are."""
    info = loaded.target
    devices = clean(", ".join(info.devices))
    if 0 < info.gpu_layers < info.layers:
        return _("{devices} · {on_gpu} of {layers} layers on the GPU").format(
            devices=devices, on_gpu=info.gpu_layers, layers=info.layers
        )
    return devices
