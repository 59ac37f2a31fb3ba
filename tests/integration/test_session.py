"""The engine's session in this process, on tiny models: what it keeps between replies, and what it tells."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from gguf import GGUFReader

from specchat.models.decoding.rounds import Round
from specchat.models.engine import session as session_module
from specchat.models.engine.control import Control
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import (
    Change,
    ChatMessage,
    Done,
    DrafterName,
    Event,
    Generate,
    Load,
    ModelFile,
    Notice,
    Prefilled,
    Progress,
    Written,
)
from specchat.models.engine.session import Session
from specchat.models.llama.context import Context
from specchat.models.llama.loading import Loaded
from specchat.settings.values import ModelOptions, Sampling, Speculation
from support.tiny_gguf import write_tiny_llama, write_tiny_recurrent
from support.tiny_vocabulary import byte_vocabulary

OPTIONS = ModelOptions(threads=1, cache_type_k="f32", cache_type_v="f32", flash_attention="off")
GREEDY = Sampling(temperature=0)
HOT = Sampling(temperature=1, top_k=0, top_p=1, min_p=0, seed=7)
TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"
LETTERS = "abcde"
VOCABULARY = byte_vocabulary(words=["".join(pair) for pair in itertools.product(LETTERS, repeat=2)])
"""The models write single letters, where the tokenizer takes two at a time: a reply read anew gets other ids."""
PROMPT, OTHER = "adxcxbxe", "exdxaxbxc"

Hear = Callable[[Event, Control], object]


@dataclass
class Answer:
    """What a session sent for one reply."""

    events: list[Event]

    @property
    def notices(self) -> list[Notice]:
        return [event for event in self.events if isinstance(event, Notice)]

    @property
    def rounds(self) -> list[Round]:
        return [event.round for event in self.events if isinstance(event, Written)]

    @property
    def prefilled(self) -> Prefilled:
        (event,) = (event for event in self.events if isinstance(event, Prefilled))
        return event

    @property
    def done(self) -> Done:
        assert isinstance(self.events[-1], Done)
        return self.events[-1]

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Written)) + self.done.text

    @property
    def ids(self) -> list[int]:
        """The tokens that were written."""
        written = [(*r.guesses[: r.accepted], *(() if r.token is None else (r.token,))) for r in self.rounds]
        return list(itertools.chain(*written))


@dataclass
class Talk:
    """A session, all that it sent, and all that it loaded."""

    events: list[Event] = field(default_factory=list)
    loaded: list[Loaded] = field(default_factory=list)
    hear: Callable[[Event], object] = lambda _event: None

    def __post_init__(self) -> None:
        self.session = Session(self._take)

    def _take(self, event: Event) -> None:
        self.events.append(event)
        self.hear(event)

    def load(self, target: Path, draft: Path | None = None) -> list[str]:
        """Have these models loaded; returns the names of those that were read from disk."""
        known = len(self.loaded)
        files = [ModelFile(str(path), OPTIONS) if path else None for path in (target, draft)]
        assert files[0] is not None
        self.session.load(Load(1, files[0], files[1]), lambda: False)
        return [loaded.model.path.name for loaded in self.loaded[known:]]

    def ask(
        self,
        prompt: str | Sequence[str] = PROMPT,
        drafter: DrafterName = "model",
        speculation: Speculation | None = None,
        *,
        sampling: Sampling = GREEDY,
        tokens: int = 12,
        stop: tuple[str, ...] = (),
        hear: Hear = lambda _event, _control: None,
    ) -> Answer:
        """One reply to a raw prompt, or to messages of a user and an assistant in turns."""
        speculation = speculation or Speculation()
        if not isinstance(prompt, str):
            roles = itertools.cycle(("user", "assistant"))
            prompt = tuple(ChatMessage(role, text) for role, text in zip(roles, prompt, strict=False))  # type: ignore[arg-type]
        control = Control(speculation, drafter)
        known, self.hear = len(self.events), lambda event: hear(event, control)
        self.session.generate(Generate(2, prompt, sampling, speculation, drafter, tokens, stop), control)
        return Answer(self.events[known:])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")

    def letters(name: str, seed: int) -> Path:
        return write_tiny_llama(folder / name, seed=seed, usable=len(LETTERS), vocabulary=VOCABULARY, template=TEMPLATE)

    broken = letters("broken.gguf", 3)
    reader = GGUFReader(broken, "r+")
    (norm,) = (tensor for tensor in reader.tensors if tensor.name == "output_norm.weight")
    norm.data[0] = float("nan")
    reader.data.flush()
    return {
        "target": letters("target.gguf", 1),
        "twin": letters("twin.gguf", 1),
        "draft": letters("draft.gguf", 2),
        "broken": broken,
        "mamba": write_tiny_recurrent(folder / "mamba.gguf"),
    }


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    talk, load = Talk(), session_module.load

    def recorded(path: Path, options: ModelOptions, progress: Callable[[float], bool]) -> Loaded:
        talk.loaded.append(load(path, options, progress))
        return talk.loaded[-1]

    monkeypatch.setattr(session_module, "load", recorded)
    yield talk
    talk.session.unload()


def after(written: int, act: Callable[[Control], object]) -> Hear:
    """Act once so many rounds were told of."""
    heard = itertools.count(1)

    def hear(event: Event, control: Control) -> None:
        if isinstance(event, Written) and next(heard) == written:
            act(control)

    return hear


# ------------------------------------------------------------------ switching


@pytest.mark.parametrize(
    ("drafter", "asleep", "change"),
    [
        ("model", Speculation(enabled=False), Change(enabled=True)),
        ("model", Speculation(gamma=0), Change(gamma=3)),
        ("none", Speculation(), Change(drafter="model")),
    ],
    ids=["switched off", "no guesses", "no drafter"],
)
@pytest.mark.parametrize(("prompt", "caught_up"), [(PROMPT, 0), (OTHER, len(OTHER) + 2)], ids=["same", "other"])
def test_a_draft_that_sat_out_the_beginning_joins_in(
    files: dict[str, Path],
    talk: Talk,
    drafter: DrafterName,
    asleep: Speculation,
    change: Change,
    prompt: str,
    caught_up: int,
) -> None:
    talk.load(files["target"], files["twin"])
    assert talk.ask(PROMPT).rounds[0].accepted == 3
    answer = talk.ask(prompt, drafter, asleep, tokens=19, hear=after(3, lambda control: control.change(change)))
    assert [len(round.guesses) for round in answer.rounds] == [0, 0, 0, 3, 3, 3, 3]
    assert [round.accepted for round in answer.rounds[3:]] == [3, 3, 3, 3]
    assert [round.caught_up for round in answer.rounds] == [0, 0, 0, caught_up, 1, 1, 1]
    assert answer.ids == talk.ask(prompt, "none", tokens=19).ids


def test_a_draft_reads_the_prompt_only_where_it_guesses_from_the_first_round_on(
    files: dict[str, Path], talk: Talk
) -> None:
    talk.load(files["target"], files["twin"])
    talk.ask(PROMPT, "model", Speculation(enabled=False))
    assert list(talk.loaded[1].context.tokens) == []
    assert talk.ask(PROMPT).rounds[0].caught_up == 0


# ------------------------------------------------------------------ what is kept between turns


def test_the_second_turn_goes_on_from_the_first_in_both_models(
    files: dict[str, Path], talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk.load(files["target"], files["draft"])
    target, draft = (loaded.context for loaded in talk.loaded)
    first = talk.ask(["cxa"], sampling=HOT)
    assert talk.loaded[0].tokenizer.encode(first.text, special=False) != first.ids
    known = [*target.tokens, first.ids[-1]]
    held = list(draft.tokens)
    assert held == known[: len(held)]
    read = {target: 0, draft: 0}
    evaluate = Context.evaluate

    def counted(context: Context, tokens: Sequence[int], *arguments: object) -> object:
        read[context] += len(tokens)
        return evaluate(context, tokens, *arguments)  # type: ignore[arg-type]

    def look(event: Event, _control: Control) -> None:
        if isinstance(event, Prefilled):
            seen.append((list(target.tokens), list(draft.tokens), dict(read)))

    seen: list[tuple[list[int], list[int], dict[Context, int]]] = []
    monkeypatch.setattr(Context, "evaluate", counted)
    second = talk.ask(["cxa", first.text, "xbxdx"], sampling=HOT, hear=look)
    assert second.prefilled.tokens == len(known) + 5
    assert second.prefilled.reused == first.prefilled.tokens + len(first.ids) - 1
    ((target_tokens, draft_tokens, lately),) = seen
    assert target_tokens == draft_tokens
    assert target_tokens[: len(known)] == known
    assert lately == {target: 1 + 4, draft: len(known) + 4 - len(held)}


def test_an_edited_reply_is_read_anew_from_where_it_was_edited(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"])
    first = talk.ask(["cxa"], "none")
    second = talk.ask(["cxa", f"x{first.text}", "xbxdx"], "none")
    assert second.prefilled.reused == first.prefilled.tokens


# ------------------------------------------------------------------ loading


def test_a_draft_comes_and_goes_without_the_target(files: dict[str, Path], talk: Talk) -> None:
    assert talk.load(files["target"], files["twin"]) == ["target.gguf", "twin.gguf"]
    whole = talk.ask().ids
    assert talk.load(files["target"]) == []
    alone = talk.ask()
    assert (alone.ids, alone.rounds[0].guesses) == (whole, ())
    assert alone.prefilled.reused == alone.prefilled.tokens - 1
    assert talk.load(files["target"], files["twin"]) == ["twin.gguf"]
    assert talk.load(files["target"], files["twin"]) == []
    assert talk.load(files["target"], files["draft"]) == ["draft.gguf"]
    assert talk.ask().ids == whole


@pytest.mark.parametrize(
    ("name", "read"), [("target", ["target.gguf", "twin.gguf"]), ("twin", ["twin.gguf"])], ids=["target", "draft"]
)
@pytest.mark.parametrize("changed", ["size", "time"])
def test_a_changed_file_is_loaded_again(
    files: dict[str, Path], talk: Talk, tmp_path: Path, name: str, read: list[str], changed: str
) -> None:
    pair = {role: tmp_path / files[role].name for role in ("target", "twin")}
    for role, path in pair.items():
        shutil.copyfile(files[role], path)
    talk.load(pair["target"], pair["twin"])
    before = pair[name].stat()
    if changed == "size":
        with pair[name].open("ab") as file:
            file.write(bytes(32))
    later = before.st_mtime_ns + (2_000_000_000 if changed == "time" else 0)
    os.utime(pair[name], ns=(later, later))
    assert talk.load(pair["target"], pair["twin"]) == read
    assert talk.ask().rounds[0].accepted == 3


def test_without_models_nothing_is_written(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["twin"])
    talk.session.unload()
    with pytest.raises(EngineFailure) as caught:
        talk.ask()
    assert caught.value.code == "not_loaded"
    assert talk.load(files["target"]) == ["target.gguf"]
    assert talk.ask().done.stop_reason == "length"


# ------------------------------------------------------------------ ends


def test_stopping_while_the_prompt_is_read(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["twin"])

    def stop(event: Event, control: Control) -> None:
        if isinstance(event, Progress):
            control.stop()

    answer = talk.ask(OTHER, hear=stop)
    assert [type(event) for event in answer.events] == [Progress, Done]
    assert answer.done.stop_reason == "cancelled"
    assert talk.ask(OTHER).ids == talk.ask(OTHER, "none").ids


def test_stopping_in_the_reply(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["twin"])
    answer = talk.ask(["cxa"], hear=after(2, lambda control: control.stop()))
    assert (answer.done.stop_reason, len(answer.rounds), len(answer.text)) == ("cancelled", 2, 8)
    second = talk.ask(["cxa", answer.text, "xbxdx"])
    assert second.prefilled.reused == answer.prefilled.tokens + 8 - 1
    assert second.done.stop_reason == "length"


@pytest.mark.parametrize("drafter", ["none", "model"])
def test_a_stop_string_ends_the_reply(files: dict[str, Path], talk: Talk, drafter: DrafterName) -> None:
    talk.load(files["target"], files["twin"])
    whole = talk.ask(["cxa"], "none").text
    stop = whole[5:8]
    answer = talk.ask(["cxa"], drafter, stop=("xyz", stop))
    assert answer.done.stop_reason == "stop"
    assert answer.text == whole[: whole.index(stop)]
    assert len(answer.ids) == len(answer.text)
    assert talk.ask(["cxa", answer.text, "xbxdx"], drafter).done.stop_reason == "length"


# ------------------------------------------------------------------ models that can't


def test_a_draft_whose_arithmetic_breaks_is_left_out_and_named(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["broken"])
    answer = talk.ask()
    path = {"path": str(files["broken"])}
    assert answer.notices == [Notice("bad_logits", path), Notice("draft_left_out", path)]
    assert answer.ids == talk.ask(drafter="none").ids
    assert [round.width for round in answer.rounds] == [1] * 12


def test_a_target_that_cannot_roll_back_writes_plainly(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["mamba"])
    answer = talk.ask("abababab", "lookup", sampling=HOT)
    assert answer.notices == [Notice("no_rollback", {"path": str(files["mamba"])})]
    assert [round.width for round in answer.rounds] == [1] * 12
    assert talk.ask("abababab", "none").notices == []


def test_a_target_that_cannot_roll_back_gets_no_draft(files: dict[str, Path], talk: Talk) -> None:
    assert talk.load(files["mamba"], files["twin"]) == ["mamba.gguf"]
    notices = [event for event in talk.events if isinstance(event, Notice)]
    left_out = Notice("draft_left_out", {"path": str(files["twin"])})
    assert notices == [Notice("no_rollback", {"path": str(files["mamba"])}), left_out]


# ------------------------------------------------------------------ dice


def test_a_seed_repeats_a_reply(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["draft"])
    first, again = talk.ask(sampling=HOT, tokens=40), talk.ask(sampling=HOT, tokens=40)
    assert [(r.guesses, r.accepted, r.token) for r in first.rounds] == [
        (r.guesses, r.accepted, r.token) for r in again.rounds
    ]
    assert first.prefilled.seed == again.prefilled.seed == 7


def test_guesses_are_drawn_with_other_dice_than_the_targets_tokens(files: dict[str, Path], talk: Talk) -> None:
    """With the same, the twin's first guess would be the target's first token, whatever the seed."""
    talk.load(files["target"], files["twin"])
    firsts = []
    for seed in range(8):
        sampling = Sampling(temperature=1, top_k=0, top_p=1, min_p=0, seed=seed)
        firsts.append([talk.ask(drafter=name, sampling=sampling, tokens=2).ids[0] for name in ("model", "none")])
    assert any(guessed != drawn for guessed, drawn in firsts)
