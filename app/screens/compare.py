"""The comparison of a prompt without and with speculation: two texts side by side, and the verdict above them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Protocol

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from specchat.app.actions import BY_NAME
from specchat.app.bench.prompts import Prompt, builtin_prompts, kind_name
from specchat.app.bench.sides import PLAIN, Side
from specchat.app.chats.store import Store
from specchat.app.compare.order import Order, order_for
from specchat.app.compare.session import PLAIN_KEY, Session
from specchat.app.compare.telling import one_line
from specchat.app.conversation import Conversation
from specchat.app.screens.turns import Work
from specchat.app.widgets.compare_side import CompareSide
from specchat.app.widgets.compare_words import notice, progress, told
from specchat.app.widgets.look import LABEL, VALUE
from specchat.app.widgets.repaints import Repaints
from specchat.app.words import _, plural, sentence, visible

TOURNAMENT_REPEATS = 3


class Desk(Protocol):
    """What lends the engine and can stop what it is lent to."""

    def lend(self, work: Work, refused: Callable[[], None]) -> None:
        """Let `work` have the engine for itself when its turn comes; call `refused` where it can't come."""

    def withdraw(self) -> bool:
        """Take it back, if its turn hasn't come; whether it was so."""

    def stop(self) -> bool:
        """Stop it; whether anything was being done."""


class CompareScreen(ModalScreen[None]):
    """Compares `prompt`; any of the keys that opened it closes it. While it compares, Esc stops that and stays."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(("escape", *BY_NAME["compare"].keys)), "leave", _("stop, close"), key_display="Esc"),
        Binding("1", "begin(1)", _("once")),
        Binding("3,enter", "begin(3)", _("3 times"), key_display="3"),
        Binding("5", "begin(5)", _("5 times")),
        Binding("t", "tournament", _("drafts")),
        Binding("h", "history", _("history")),
        Binding("e", "export", _("export")),
    ]

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012  (Textual's own declaration)

    DEFAULT_CSS = """
    CompareScreen {
        #all { background: $background; padding: 0 1; height: 1fr; }
        #title, #prompt { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #said { height: auto; max-height: 6; margin-top: 1; }
        #told { height: auto; max-height: 6; color: $text-warning; display: none; }
        #told.-some { display: block; }
        #page { height: 1fr; margin-top: 1; scrollbar-size-vertical: 1; }
        #verdict { height: auto; }
        #sides { height: auto; margin-top: 1; }
        &.-wide #sides { layout: horizontal; }
        &.-wide CompareSide { width: 1fr; }
    }
    """

    def __init__(self, conversation: Conversation, store: Store, desk: Desk, prompt: Prompt) -> None:
        super().__init__()
        self._conversation = conversation
        self._store = store
        self._desk = desk
        self._prompt = prompt
        self._session: Session | None = None
        self._shown_result: object = None
        self._repaints = Repaints(self._paint, time.monotonic, self.set_timer)
        self._without, self._with = CompareSide(), CompareSide()

    def compose(self) -> ComposeResult:
        """What is asked, how far it is, what came of it, and the texts."""
        with Container(id="all"):
            yield Static(Content.assemble((_("Compare"), VALUE), "  ", (_subtitle(self._prompt), LABEL)), id="title")
            yield Static(one_line(self._prompt.text, 400), id="prompt", markup=False)
            yield Static(_how_to_begin(), id="said", markup=False)
            yield Static(id="told", markup=False)
            with VerticalScroll(id="page"):
                yield Static(id="verdict", markup=False)
                yield Container(self._without, self._with, id="sides")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Let the arrow keys scroll."""
        self.query_one("#page").focus()

    def on_resize(self) -> None:
        """Lay the verdict out for another width."""
        self._shown_result = None
        self._repaints.ask()

    # ------------------------------------------------------------------ actions

    def action_begin(self, repeats: int) -> None:
        """Compare the prompt so many times."""
        self._begin(order_for(self._conversation, self._prompt, repeats))

    @work(exclusive=True, group="drafts")
    async def action_tournament(self) -> None:
        """Let a person choose drafts, and compare them all."""
        from specchat.app.screens.drafts import choose_drafts

        if self._is_running:
            return
        chosen = await choose_drafts(self.app, self._conversation, self._store)
        if chosen is not None:
            prompts = builtin_prompts() if chosen.builtin else (self._prompt,)
            gamma = self._conversation.speculation.gamma or "auto"
            self._begin(Order("tournament", prompts, chosen.drafts, gamma, TOURNAMENT_REPEATS))

    def action_history(self) -> None:
        """Open the history."""
        from specchat.app.screens.history import HistoryScreen

        self.app.push_screen(HistoryScreen(self._store))

    @work(exclusive=True, group="export")
    async def action_export(self) -> None:
        """Write the comparison into files."""
        result = self._session.result if self._session and self._session.is_over else None
        if result is None:
            self._say(_("There is nothing to export before a comparison has ended."))
            return
        from specchat.app.compare.export import export

        loop = asyncio.get_running_loop()

        def tell(done: int, total: int) -> None:
            said = _("computing checksums: {share:.0%}").format(share=done / max(total, 1))
            loop.call_soon_threadsafe(self._say, said)

        try:
            paths = await export(result, Path.cwd(), tell)
        except OSError as error:
            path, reason = error.filename or str(Path.cwd()), error.strerror or str(error)
            self._say(sentence("file_unwritable", {"path": str(path), "reason": reason}))
            return
        self._say(_exported(paths))

    def action_leave(self) -> None:
        """Stop the comparison; close the screen where there is none."""
        if not self._is_running:
            self.dismiss()
        elif self._desk.withdraw():
            self._forget()
        else:
            self._desk.stop()

    # ------------------------------------------------------------------ inside

    @property
    def _is_running(self) -> bool:
        return self._session is not None and not self._session.is_over

    def _begin(self, order: Order) -> None:
        if self._is_running:
            return
        session = self._session = Session(self._conversation, self._store, order)
        self._desk.lend(lambda: session.run(self._repaints.ask), self._forget)
        self.query_one("#verdict", Static).update()  # the one before would hide what is being written
        self._say(_("waiting for the models"))
        self._repaints.ask()

    def _forget(self) -> None:
        """Be ready for another comparison, as this one was never begun."""
        self._session = None
        self._say(_how_to_begin())

    def _say(self, text: str) -> None:
        if self.is_attached:
            self.query_one("#said", Static).update(text)

    def _paint(self) -> None:
        """Show how far the comparison is."""
        session = self._session
        if session is None or not self.is_attached:
            return
        said = "\n".join(notice(event) for event in session.told)
        self.query_one("#told", Static).update(said)
        self.query_one("#told").set_class(bool(said), "-some")
        is_single = session.order.source == "compare"
        self.query_one("#sides").display = is_single
        if is_single:
            order = session.order
            self._without.show(PLAIN, session.live.get(PLAIN_KEY))
            self._with.show(Side(order.drafts[0], order.gamma), session.live.get(order.drafts[0]))
        if session.is_over:
            self._show_result(session)
        elif line := progress(session):
            self._say(line)

    def _show_result(self, session: Session) -> None:
        """Show the verdict once for each result and width."""
        if self._shown_result is session:
            return
        self._shown_result = session
        width = max(self.query_one("#page").size.width - 2, 20)
        if session.result is None:
            self._say(_("Nothing was measured."))
            return
        self._say(_("Done. 1, 3 or 5 compares again, t tries several drafts, e exports, h shows what is known."))
        self.query_one("#verdict", Static).update(told(session.result, width))
        self.query_one("#page").scroll_home(animate=False)


def _how_to_begin() -> str:
    return _(
        "Enter or 3 compares it three times without and with the draft, in turns; 1 does it once, without an "
        "interval; 5 is surer. t tries several drafts. Your chat stays as it is."
    )


def _subtitle(prompt: Prompt) -> str:
    before = len(prompt.before)
    if not before:
        return kind_name(prompt.kind)
    said = plural("after {count} message of the chat", "after {count} messages of the chat", before)
    return f"{kind_name(prompt.kind)} · {said.format(count=before)}"


def _exported(paths: tuple[Path, ...]) -> str:
    names = ", ".join(path.suffix for path in paths[1:])
    return _("Written: {path} (and {names}).").format(path=visible(str(paths[0])), names=names)
