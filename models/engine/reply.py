"""One reply: from a conversation to the prompt's tokens, and from rounds to text."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from specchat.models.decoding.cost import PlainCosts
from specchat.models.decoding.drafters import Drafter, LookupDrafter, ModelDrafter
from specchat.models.decoding.loop import Ending, Plan, SpeculativeDecoder
from specchat.models.decoding.model import Cancelled, ContextFull, Progress
from specchat.models.decoding.prefill import read_prompt
from specchat.models.decoding.rounds import Round
from specchat.models.decoding.sampling import BadLogits, SamplingChain
from specchat.models.decoding.verification import Rule, block_rule, token_rule
from specchat.models.engine import messages
from specchat.models.engine.control import Control
from specchat.models.engine.drafting import ForgivenDraft
from specchat.models.engine.errors import EngineFailure
from specchat.models.llama.detokenize import Detokenizer
from specchat.models.llama.errors import DecodeError
from specchat.models.llama.loading import Loaded
from specchat.models.llama.prompt import Guard, Turn, continue_prompt, encode_raw, hide_messages
from specchat.models.llama.template import TemplateError, render
from specchat.settings.values import RuleName

Send = Callable[[messages.Event], None]

PROGRESS_SECONDS = 0.1
_RULES: dict[RuleName, Rule] = {"block": block_rule, "token": token_rule}


class Pair:
    """A loaded target, the draft that fits it if there is one, and what was measured of them."""

    def __init__(self, target: Loaded) -> None:
        self.target = target
        self.draft: Loaded | None = None
        self.costs = PlainCosts()
        self.guard = Guard(target.tokenizer.control_texts())


def write_reply(pair: Pair, request: messages.Generate, control: Control, send: Send, last: Turn | None) -> Turn | None:
    """Write the reply to `request`, sending `Prefilled`, each round and `Done`.

    Returns the turn for the next reply to go on from, None where there is nothing to go on from. Raises
    `EngineFailure`.
    """
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
        target = self.pair.target.context
        drafters = self._drafters(chain, drafting)
        guessing = self._guessing(drafters)
        if guessing and not target.can_roll_back:
            self.send(messages.Notice("no_rollback", {"path": str(self.pair.target.model.path)}))
        costs, progress = self.pair.costs, self._progress()
        reused = read_prompt(target, prompt, chain, costs, measure=guessing is not None, progress=progress)
        if isinstance(guessing, ForgivenDraft) and target.can_roll_back:
            guessing.catch_up(prompt)
        cost, seconds = costs.at(len(prompt)), time.perf_counter() - begun
        pass_seconds = cost.pass_seconds if cost else None
        self.send(messages.Prefilled(self.request.id, len(prompt), reused, seconds, seed, pass_seconds))
        decoder = SpeculativeDecoder(
            target,
            prompt,
            chain,
            verifying,
            lambda: self._plan(drafters),
            self.pair.target.tokenizer.piece,
            self._ending(),
            costs,
        )
        self._write_rounds(decoder)
        return Turn(text, prompt, "".join(self._shown), decoder.text[len(prompt) :])

    def _drafters(self, chain: SamplingChain, rng: np.random.Generator) -> dict[messages.DrafterName, Drafter]:
        """Who can guess for this reply."""
        drafters: dict[messages.DrafterName, Drafter] = {"lookup": LookupDrafter()}
        draft = self.pair.draft
        if draft is not None:
            vocabulary = self.pair.target.context.n_vocab
            drafter = ModelDrafter(draft.context, chain, rng, vocabulary, self._progress())
            drafters["model"] = ForgivenDraft(drafter, lambda error: self._tell_of_draft(draft, error))
        return drafters

    def _tell_of_draft(self, draft: Loaded, error: Exception) -> None:
        path = str(draft.model.path)
        self.send(messages.Notice("bad_logits" if isinstance(error, BadLogits) else "draft_failed", {"path": path}))
        self.send(messages.Notice("draft_left_out", {"path": path}))

    def _guessing(self, drafters: dict[messages.DrafterName, Drafter]) -> Drafter | None:
        """Who is to guess from the first round on."""
        return self._plan(drafters).drafter if self.control.speculation.gamma else None

    def _plan(self, drafters: dict[messages.DrafterName, Drafter]) -> Plan:
        speculation = self.control.speculation
        drafter = drafters.get(self.control.drafter) if speculation.enabled else None
        return Plan(speculation.gamma, drafter, _RULES[speculation.rule])

    def _ending(self) -> Ending:
        return Ending(
            most_tokens=self.request.max_tokens,
            is_end=self.pair.target.tokenizer.is_end,
            stops=[stop.encode() for stop in self.request.stop],
            cancelled=lambda: self.control.cancelled,
        )

    def _write_rounds(self, decoder: SpeculativeDecoder) -> None:
        detokenizer = Detokenizer()
        for step in decoder.steps():
            grown = detokenizer.feed(step.data)
            self._shown.append(grown)
            self.send(messages.Written(self.request.id, step.round, self._pieces(step.round), grown))
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
