"""The history: what was measured, and what the chats sum up to, by pair, machine and kind of prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from specchat.app.actions import BY_NAME
from specchat.app.bench.prompts import kind_name
from specchat.app.bench.report import verdict_name
from specchat.app.chats.records import StoreError
from specchat.app.chats.store import Store
from specchat.app.figures import number, summary
from specchat.app.history.reading import read_history
from specchat.app.history.records import ChatSums, Entry
from specchat.app.history.report import day, guesser_name, indicative, interval, place_name, source_name
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE
from specchat.app.words import _, plural, sentence, visible
from specchat.models.decoding.counters import Counters

Row = Entry | ChatSums


class HistoryScreen(ModalScreen[None]):
    """A list of what is known, and below it all about the line under the cursor. The keys that opened it close it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(("escape", *BY_NAME["history"].keys)), "dismiss", _("close"), key_display="Esc"),
    ]

    DEFAULT_CSS = """
    HistoryScreen {
        #all { background: $background; padding: 0 1; height: 1fr; }
        #title { height: 1; text-style: bold; }
        OptionList { height: 1fr; margin-top: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        #detail { height: auto; max-height: 12; margin-top: 1; }
    }
    """

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._rows: Sequence[Row] = ()

    def compose(self) -> ComposeResult:
        """The list, and what belongs to one line of it."""
        with Container(id="all"):
            yield Static(_("History"), id="title")
            yield OptionList(markup=False, compact=True)
            yield Static(_("reading the history …"), id="detail", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Read it, and show it then."""
        self._read()

    @work(exclusive=True)
    async def _read(self) -> None:
        try:
            history = await read_history(self._store)
        except StoreError as problem:
            self.query_one("#detail", Static).update(sentence(problem.code, problem.params))
            return
        self._rows = (*history.entries, *history.chats)
        options = self.query_one(OptionList)
        options.set_options(Option(_line(row)) for row in self._rows)
        if not self._rows:
            nothing = _("Nothing is known yet. F4 compares a prompt; every chat adds to the sums.")
            self.query_one("#detail", Static).update(nothing)
            return
        options.focus()
        options.action_first()

    @on(OptionList.OptionHighlighted)
    def tell(self, event: OptionList.OptionHighlighted) -> None:
        """Show all about a line."""
        detail = Content("\n").join(_detail(self._rows[event.option_index]))
        self.query_one("#detail", Static).update(detail)


def _line(row: Row) -> Content:
    """`2026-11-29  1.43× 1.36–1.50  code   draft ▸ target`, or a chat's tokens with and without."""
    kind = kind_name(row.kind) if row.kind else _("all kinds")
    names = f"{guesser_name(row.setup, row.guesser)} ▸ {visible(row.setup.target)}"
    if isinstance(row, Entry):
        style = {"helps": ACCEPTED, "hurts": "$text-error"}.get(row.verdict, VALUE)
        figures = f"{number(row.speed_up, 2)}× {interval(row.low, row.high)}".ljust(18)
        middle: tuple[tuple[str, str], ...] = ((figures, style),)
    else:
        on, off = number(row.on.tokens_per_second), number(row.off.tokens_per_second)
        middle = ((f"{_('chats')} {on}", ACCEPTED), (f" / {off}".ljust(18 - len(f"{_('chats')} {on}")), PLAIN))
    return Content.assemble((f"{day(row.when)}  ", LABEL), *middle, (f" {kind:<12.12} ", LABEL), names)


def _detail(row: Row) -> list[Content]:
    """Verdict or label, models, machine, and the figures of both sides."""
    lines = [Content.styled(place_name(row.setup.target, row.setup.machine), VALUE)]
    if isinstance(row, Entry):
        lines.append(Content(_measured(row)))
    else:
        replies = plural("{count} reply", "{count} replies", row.replies).format(count=row.replies)
        lines.append(Content(f"{replies} · {indicative()}"))
    estimates = not isinstance(row, Entry)
    lines += _figures(_("with"), row.on, estimates=estimates)
    lines += _figures(_("without"), row.off, estimates=estimates)
    return lines


def _measured(entry: Entry) -> str:
    pairs = plural("{count} pair of replies", "{count} pairs of replies", entry.pairs).format(count=entry.pairs)
    gamma = _("γ {gamma}").format(gamma=entry.gamma)
    parts = [verdict_name(entry.verdict), gamma, pairs, f"{source_name(entry.source)} {day(entry.when)}"]
    return " · ".join([*parts, *([_("partial")] if entry.partial else [])])


def _figures(label: str, counters: Counters, *, estimates: bool) -> list[Content]:
    if not counters.tokens:
        return []
    first, *rest = summary(counters, estimates=estimates)
    return [Content.assemble((f"{label}  ", VALUE), first), *(Content.styled(f"  {line}", LABEL) for line in rest[:2])]
