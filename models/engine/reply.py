"""One reply: from a conversation to the prompt's tokens, and from rounds to text."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from specchat.models.decoding.loop import Ending, SpeculativeDecoder
from specchat.models.decoding.model import Cancelled, ContextFull, Progress
from specchat.models.decoding.positions import Positions
from specchat.models.decoding.prefill import read_prompt
from specchat.models.decoding.rounds import Round
from specchat.models.decoding.sampling import BadLogits, SamplingChain
from specchat.models.engine import messages
from specchat.models.engine.control import Control
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.pacing import Pacing
from specchat.models.engine.pair import Pair
from specchat.models.llama.detokenize import Detokenizer
from specchat.models.llama.errors import DecodeError
from specchat.models.llama.loading import Loaded
from specchat.models.llama.prompt import Turn, continue_prompt, encode_raw, hide_messages
from specchat.models.llama.template import TemplateError, render

Send = Callable[[messages.Event], None]

PROGRESS_SECONDS = 0.1


def write_reply(pair: Pair, request: messages.Generate, control: Control, send: Send, last: Turn | None) -> Turn | None:
    """Write the reply to `request`, sending `Prefilled`, each round and `Done`.

    Returns the turn for the next reply to go on from, None where there is nothing to go on from. Raises
    `EngineFailure`.
    """
    if request.fresh:
        pair.forget()
        last = None
    pair.positions = Positions()
    text, ids = _prompt(pair, request, send, last)
    _check_room(pair.target, len(ids))
    try:
        return _Reply(pair, request, control, send).write(text, ids)
    except Cancelled:
        send(messages.Done(request.id, "cancelled"))
    except BadLogits:
        raise EngineFailure("bad_logits", {"path": str(pair.target.model.path)}) from None
    except ContextFull:
        raise EngineFailure("context_full") from None
    except DecodeError as error:
        raise EngineFailure(error.code, error.params) from error
    return None


def _check_room(target: Loaded, tokens: int) -> None:
    """Raise `EngineFailure` if a prompt of so many tokens can't be answered."""
    if not tokens:
        raise EngineFailure("prompt_empty")
    room = target.context.n_ctx
    if tokens <= room:
        return
    if room < target.model.ctx_trained:
        raise EngineFailure("prompt_too_long", {"tokens": tokens, "room": room})
    raise EngineFailure("prompt_beyond_model", {"tokens": tokens, "room": room, "path": str(target.model.path)})


def _prompt(pair: Pair, request: messages.Generate, send: Send, last: Turn | None) -> tuple[str, list[int]]:
    """The prompt's text and ids, after the chat template unless it is raw."""
    model, tokenizer = pair.target.model, pair.target.tokenizer
    if isinstance(request.prompt, str):
        return request.prompt, encode_raw(tokenizer, request.prompt)
    conversation = hide_messages(pair.guard, [(message.role, message.content) for message in request.prompt])
    try:
        rendered = render(
            model.template, conversation, bos=tokenizer.text(tokenizer.bos), eos=tokenizer.text(tokenizer.eos)
        )
    except TemplateError as error:
        raise EngineFailure(error.code, {"path": str(model.path), **error.params}) from error
    for bend in rendered.bent:
        send(messages.Notice(f"template_bent_{bend}"))
    return rendered.text, continue_prompt(tokenizer, pair.guard, rendered.text, last)


@dataclass
class _Reply:
    pair: Pair
    request: messages.Generate
    control: Control
    send: Send
    _shown: list[str] = field(default_factory=list)

    def write(self, text: str, prompt: list[int]) -> Turn:
        """Read the prompt and write the reply."""
        begun = time.perf_counter()
        seed = self.request.sampling.seed if self.request.sampling.seed >= 0 else secrets.randbits(53)
        drafting, verifying = np.random.default_rng(seed).spawn(2)
        chain = SamplingChain(self.request.sampling)
        target, costs, progress = self.pair.target.context, self.pair.costs, self._progress()
        costs.forget_sampling()
        pacing = Pacing(self.pair, self.control, chain, drafting, self.send, progress)
        if pacing.is_guessing and not target.can_roll_back:
            self.send(messages.Notice("no_rollback", {"path": str(self.pair.target.model.path)}))
        reused = read_prompt(target, prompt, chain, costs, measure=pacing.is_guessing, progress=progress)
        if target.can_roll_back:
            pacing.catch_up(prompt)
        cost, seconds = costs.plain(len(prompt)), time.perf_counter() - begun
        pass_seconds = cost.pass_seconds if cost else None
        self.send(messages.Prefilled(self.request.id, len(prompt), reused, seconds, seed, pass_seconds))
        piece = self.pair.target.tokenizer.piece
        decoder = SpeculativeDecoder(target, prompt, chain, verifying, pacing.plan, piece, self._ending(), costs)
        self.pair.positions = decoder.positions
        self._write_rounds(decoder)
        return Turn(text, prompt, "".join(self._shown), decoder.text[len(prompt) :])

    def _ending(self) -> Ending:
        return Ending(
            most_tokens=self.request.max_tokens,
            is_end=self.pair.target.tokenizer.is_end,
            stops=[stop.encode() for stop in self.request.stop],
            cancelled=lambda: self.control.cancelled,
        )

    def _write_rounds(self, decoder: SpeculativeDecoder) -> None:
        detokenizer, told = Detokenizer(), 0
        for step in decoder.steps():
            told += step.round.tokens
            grown = detokenizer.feed(step.data)
            self._shown.append(grown)
            self.send(messages.Written(self.request.id, step.round, self._pieces(step.round), grown))
        decoder.positions.cut(told)
        rest = detokenizer.flush()
        self._shown.append(rest)
        self.send(messages.Done(self.request.id, decoder.stop_reason or "end", rest))

    def _pieces(self, round: Round) -> tuple[bytes, ...]:
        tokens = round.guesses if round.token is None else (*round.guesses, round.token)
        return tuple(map(self.pair.target.tokenizer.piece, tokens))

    def _progress(self) -> Progress:
        """Tells how far the prompt is read, now and then, and stops when the reply is to stop."""
        told = 0.0

        def progress(done: int, total: int) -> bool:
            nonlocal told
            now = time.monotonic()
            if now - told >= PROGRESS_SECONDS:
                told = now
                self.send(messages.Progress(self.request.id, "prefill", done, total))
            return not self.control.cancelled

        return progress
