"""Compare on real llama.cpp, with tiny models: no warm cache flatters a repeated prompt, and the chat is as it was."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from specchat.app.bench.prompts import Prompt
from specchat.app.chats.store import Store
from specchat.app.compare.difference import NEAR_TIE
from specchat.app.compare.order import order_for
from specchat.app.compare.session import Session
from specchat.app.conversation import Conversation
from specchat.models.engine.client import EngineClient
from specchat.models.engine.messages import ChatMessage, Event, Prefilled
from specchat.settings.values import ModelOptions, Reply, Sampling, Settings, Speculation
from support.tiny_gguf import write_tiny_llama

TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"
PROMPT = Prompt("chat", "abcabcabcabcabc")


class Watched(EngineClient):
    """Keeps how every prompt was read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "engine.log")
        self.prefilled: list[Prefilled] = []

    def generate(self, prompt: tuple[ChatMessage, ...] | str, **how: Any) -> AsyncGenerator[Event, None]:
        return self._watch(super().generate(prompt, **how))

    async def _watch(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Prefilled):
                    self.prefilled.append(event)
                yield event


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A target that writes letters for ever, and a draft that agrees with it."""
    folder = tmp_path_factory.mktemp("models")
    target, draft = folder / "target.gguf", folder / "draft.gguf"
    write_tiny_llama(target, usable=20, template=TEMPLATE)
    write_tiny_llama(draft, usable=20, layers=1)
    return target, draft


async def test_no_cache_is_warm_and_the_chat_is_as_it_was(tmp_path: Path, models: tuple[Path, Path]) -> None:
    settings = Settings(
        sampling=Sampling(temperature=0.0),
        speculation=Speculation(gamma=3),
        reply=Reply(max_tokens=12),
        target=ModelOptions(ctx=128),
    )
    store = Store(tmp_path / "chats.db")
    assert await store.open() is None
    async with Watched(tmp_path) as engine:
        conversation = Conversation(engine, store, settings, *models)
        _events = [event async for event in conversation.send("xyzzy xyzzy")]
        engine.prefilled.clear()

        session = Session(conversation, store, order_for(conversation, PROMPT, 3))
        await session.run(lambda: None)
        assert session.result is not None and not session.told
        assert len(engine.prefilled) == 1 + 6
        assert {read.reused for read in engine.prefilled} == {0}
        [side] = session.result.sides
        assert side.reason is not None
        assert side.same_text is not None
        if side.difference:  # at a near-tie alone: the two passes round differently
            assert side.difference.gap is not None and side.difference.gap < NEAR_TIE
        texts = {text.text for text in session.result.texts}
        assert len(texts) <= 2  # the same at each repeat

        _events = [event async for event in conversation.load()]
        _events = [event async for event in conversation.read_again()]
        engine.prefilled.clear()
        _events = [event async for event in conversation.send("next")]
        [read] = engine.prefilled
        assert read.reused > 0.5 * read.tokens
    await store.close()
