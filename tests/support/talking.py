"""Talks with an engine's session in this process, on tiny models."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from gguf import GGUFReader

from specchat.models.decoding.rounds import Round
from specchat.models.engine import session as session_module
from specchat.models.engine.control import Control
from specchat.models.engine.messages import (
    ChatMessage,
    Done,
    DrafterName,
    Event,
    Generate,
    Load,
    Measured,
    ModelFile,
    Notice,
    Prefilled,
    Written,
)
from specchat.models.engine.session import Session
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
THREE = Speculation(gamma=3)
AUTO = Speculation(gamma="auto")

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
        done, measured = self.events[-2:]
        assert isinstance(done, Done)
        assert isinstance(measured, Measured)
        return done

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
        fresh: bool = False,
        hear: Hear = lambda _event, _control: None,
    ) -> Answer:
        """One reply to a raw prompt, or to messages of a user and an assistant in turns; of three guesses a round."""
        speculation = speculation or THREE
        if not isinstance(prompt, str):
            roles = itertools.cycle(("user", "assistant"))
            prompt = tuple(ChatMessage(role, text) for role, text in zip(roles, prompt, strict=False))  # type: ignore[arg-type]
        control = Control(speculation, drafter)
        known, self.hear = len(self.events), lambda event: hear(event, control)
        self.session.generate(Generate(2, prompt, sampling, speculation, drafter, tokens, stop, fresh), control)
        return Answer(self.events[known:])


def write_models(folder: Path) -> dict[str, Path]:
    """A target, its twin, another draft, one whose arithmetic is broken, and a model that can't roll back."""

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


def talking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    """A talk that notes what is loaded, and frees it in the end."""
    talk, load = Talk(), session_module.load

    def recorded(path: Path, options: ModelOptions, progress: Callable[[float], bool]) -> Loaded:
        talk.loaded.append(load(path, options, progress))
        return talk.loaded[-1]

    monkeypatch.setattr(session_module, "load", recorded)
    yield talk
    talk.session.unload()
