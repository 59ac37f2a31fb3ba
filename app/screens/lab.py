"""The Lab's screen: six figures that explain, by a toy or by what was measured here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from specchat.app.actions import BY_NAME
from specchat.app.lab.lab import PAGES, Lab
from specchat.app.lab.mine import MeasuredPoint, Mine
from specchat.app.lab.position import LawMine
from specchat.app.lab.svg import WIDTH, as_svg
from specchat.app.new_files import new_files
from specchat.app.widgets.lab_view import Controls, Figure
from specchat.app.widgets.look import LABEL, VALUE
from specchat.app.words import _, sentence, visible
from specchat.models.engine.errors import EngineFailure


class LabScreen(ModalScreen[None]):
    """Six pages; any of the keys that opened it closes it. `mine` is what was measured; its points come by `points`."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (124, "-wide")]  # noqa: RUF012  (Textual's own declaration allows no other)
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", _("page"), key_display="← →"),
        Binding("right", "turn(1)", show=False),
        Binding("up", "select(-1)", _("choose"), key_display="↑ ↓"),
        Binding("down", "select(1)", show=False),
        Binding("minus", "change(-1)", _("change"), key_display="− +"),
        Binding("plus,equals_sign,enter", "change(1)", show=False),
        Binding("m", "switch", _("toy/mine")),
        Binding("e", "export", _("as SVG")),
        Binding("pageup", "scroll_by(-1)", show=False),
        Binding("pagedown", "scroll_by(1)", show=False),
        Binding(",".join(("escape", *BY_NAME["lab"].keys)), "dismiss", _("close"), key_display="Esc"),
    ]

    DEFAULT_CSS = """
    LabScreen {
        #all { background: $background; padding: 0 1; }
        #title { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #body { height: 1fr; scrollbar-size-vertical: 1; }
        #words { height: auto; margin: 1 0 0 0; }
        &.-high Figure, &.-high Controls { margin: 1 0 0 0; }
        &.-high #body { height: 20; }  /* so that the controls are near, and stand still */
        &.-wide #body { layout: horizontal; }
        &.-wide Figure { width: 1fr; }
        &.-wide #words { width: 46; margin: 1 0 0 3; }
    }
    """

    def __init__(self, mine: Mine, points: Callable[[], Awaitable[Iterable[MeasuredPoint]]] | None = None) -> None:
        super().__init__()
        self.lab = Lab(mine)
        self._mine = mine
        self._points = points
        self._title = Static(id="title", markup=False)
        self._figure = Figure(self.lab)
        self._words = Static(id="words", markup=False)
        self._controls = Controls(self.lab)

    def compose(self) -> ComposeResult:
        """Title, figure with its words, controls."""
        with Vertical(id="all"):  # else the chat would show between the widgets where a ground covers nothing
            yield self._title
            with VerticalScroll(id="body", can_focus=False):
                yield self._figure
                yield self._words
            yield self._controls
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show the first page."""
        self._show()
        if self._points:
            self._fetch(self._points)

    @work
    async def _fetch(self, points: Callable[[], Awaitable[Iterable[MeasuredPoint]]]) -> None:
        self._mine.points.extend(await points())
        self._show()

    def action_turn(self, by: int) -> None:
        """Open the page after or before."""
        self._turn(self.lab.at + by)

    def action_select(self, by: int) -> None:
        """Let the keys act on another control."""
        self.lab.select(self.lab.selected + by)
        self._show()

    def action_change(self, by: int) -> None:
        """Move the selected control."""
        self.lab.change(by)
        self._show()

    def action_switch(self) -> None:
        """Show the toy, or what was measured."""
        self.lab.switch()
        self._show()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's own
        """Pages with nothing to measure offer no switch."""
        return action != "switch" or self.lab.page.mine is not None

    def action_scroll_by(self, pages: int) -> None:
        """Scroll, where the window is too small for all of it."""
        body = self.query_one("#body")
        body.scroll_relative(y=pages * max(body.size.height - 1, 1), animate=False)

    @work(exclusive=True, group="export")
    async def action_export(self) -> None:
        """Write the figure to a file in the current folder, under a name that isn't taken."""
        picture = as_svg(self.lab.page.title, self.lab.figure(WIDTH), self.lab.words())
        try:
            path = await asyncio.to_thread(_write_anew, Path.cwd(), f"specchat-lab-{self.lab.at + 1}", picture)
        except OSError as error:
            said = sentence("file_unwritable", {"path": error.filename or ".", "reason": error.strerror or str(error)})
        else:
            said = _("The figure is in {path}.").format(path=visible(str(path)))
        self.notify(said, markup=False)

    @on(events.Key)
    def _act(self, event: events.Key) -> None:
        """Keys that only this page has, and the pages' numbers."""
        if event.character in tuple("123456"):
            self._turn(int(event.character) - 1)
        elif self.lab.do(event.key):
            self._show()
        else:
            return
        event.stop()

    @on(Controls.Used)
    def _show(self) -> None:
        """Show all anew."""
        self._title.update(self._head())
        self._words.update(self.lab.words())
        for widget in (self._figure, self._controls):
            widget.refresh(layout=True)
        view = self.lab.view
        if isinstance(view, LawMine) and self._mine.look and self._mine.last_tokens and view.is_stale:
            self._look(view, view.wanted)

    @work(exclusive=True, group="look")
    async def _look(self, view: LawMine, token: int) -> None:
        """Ask the engine what was known at a token."""
        assert self._mine.look is not None
        try:
            view.take(token, await self._mine.look(token))
        except EngineFailure as failure:
            view.fail(token, sentence(failure.code, failure.params))
        self._show()

    def _turn(self, to: int) -> None:
        self.lab.turn(to)
        self.query_one("#body").scroll_home(animate=False)
        self.refresh_bindings()
        self._show()

    def _head(self) -> Content:
        lab = self.lab
        numbers = " ".join(f"[{page}]" if page == lab.at + 1 else str(page) for page in range(1, PAGES + 1))
        form = ""
        if lab.page.mine is not None:
            form = _("my numbers (m: toy)") if lab.is_mine else _("toy (m: my numbers)")
        return Content.assemble(
            (_("The Lab"), VALUE), (f"  {numbers}  ", LABEL), (lab.page.title, VALUE), (f"  {form}", LABEL)
        )


def _write_anew(folder: Path, stem: str, picture: str) -> Path:
    [path] = new_files(folder, stem, (".svg",))
    path.write_text(picture, encoding="utf-8")
    return path
