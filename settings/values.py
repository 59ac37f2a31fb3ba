"""The plain values a person may choose, and where each is declared. Knows nothing of the other rooms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from specchat.settings.schema import Setting, setting, settings_of

MAX_GAMMA = 32
"""The most guesses a round may hold."""

Gamma = int | Literal["auto"]
"""Guesses in a round; `auto` chooses them anew for each round, from what they cost and bring."""

RuleName = Literal["block", "token"]
CacheType = Literal["f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"]
FlashAttention = Literal["auto", "on", "off"]
ThemeName = Literal["dark", "light", "terminal"]
LanguageName = Literal["auto", "en", "tr"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a token is drawn. The same chain shapes the target's and the draft's distributions."""

    temperature: float = setting(
        0.8, "Higher is more surprising; 0 always takes the likeliest token.", minimum=0, maximum=10
    )
    top_k: int = setting(40, "Keep only the k likeliest tokens; 0 keeps all.", minimum=0)
    top_p: float = setting(
        0.95, "Keep the likeliest tokens that together reach this probability; 1 keeps all.", minimum=0, maximum=1
    )
    min_p: float = setting(
        0.05, "Drop tokens less likely than this share of the likeliest; 0 keeps all.", minimum=0, maximum=1
    )
    repeat_penalty: float = setting(1.0, "Above 1 makes tokens seen lately less likely.", minimum=0.01, maximum=10)
    presence_penalty: float = setting(
        0.0, "Subtracted once from the logit of every token seen lately.", minimum=-10, maximum=10
    )
    frequency_penalty: float = setting(
        0.0, "Subtracted from a token's logit for each time it was seen lately.", minimum=-10, maximum=10
    )
    penalty_window: int = setting(
        64, "How many tokens back the penalties look; 0 turns them off, -1 is the whole text.", minimum=-1
    )
    seed: int = setting(-1, "Repeats a reply's dice; -1 takes a new one each time.", minimum=-1, maximum=2**63 - 1)


@dataclass(frozen=True, slots=True)
class Speculation:
    """Whether and how the draft's guesses are used."""

    enabled: bool = setting(True, "Let the draft guess ahead.")
    gamma: Gamma = setting(
        "auto",
        "How many tokens are guessed in a round: auto is as many as pay, 0 is plain decoding.",
        minimum=0,
        maximum=MAX_GAMMA,
    )
    rule: RuleName = setting("block", "How guesses are kept or replaced; both rules keep the target's text.")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How llama.cpp loads and runs one model; the target and the draft have a set each."""

    gpu_layers: int = setting(-1, "Layers put on the GPU; -1 is all of them.", minimum=-1)
    main_gpu: int = setting(-1, "The one GPU to use, by number; -1 spreads over all of them.", minimum=-1)
    ctx: int = setting(0, "Context size in tokens; 0 lets specchat choose.", minimum=0)
    batch: int = setting(512, "Most tokens evaluated in one pass.", minimum=64, maximum=16384)
    threads: int = setting(0, "CPU threads; 0 takes one per physical core.", minimum=0, maximum=1024)
    cache_type_k: CacheType = setting("f16", "Number format of the cached keys.")
    cache_type_v: CacheType = setting(
        "f16", "Number format of the cached values; a quantised one needs flash attention."
    )
    flash_attention: FlashAttention = setting("auto", "Whether llama.cpp uses flash attention.")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a reply starts from and where it ends."""

    system: str = setting("", "Instructions put before the conversation.")
    max_tokens: int = setting(1024, "Most tokens in one reply; 0 goes on until the context is full.", minimum=0)


@dataclass(frozen=True, slots=True)
class Look:
    """How the screen looks."""

    theme: ThemeName = setting("dark", "The screen's colours; `terminal` takes those the terminal has.")
    reduced_motion: bool = setting(False, "Nothing slides, fades or blinks.")
    language: LanguageName = setting("auto", "The language, from the next start on; `auto` is the system's.")


@dataclass(frozen=True, slots=True)
class Models:
    """Where models are looked for."""

    folders: str = setting("", "Folders to look for models in, beside those of other programs; one in each line.")

    def listed(self) -> tuple[str, ...]:
        """The folders, as they were written."""
        return tuple(line.strip() for line in self.folders.splitlines() if line.strip())


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, one section an attribute."""

    sampling: Sampling = field(default_factory=Sampling)
    speculation: Speculation = field(default_factory=Speculation)
    reply: Reply = field(default_factory=Reply)
    target: ModelOptions = field(default_factory=ModelOptions)
    draft: ModelOptions = field(default_factory=ModelOptions)
    models: Models = field(default_factory=Models)
    look: Look = field(default_factory=Look)


SECTIONS: dict[str, type] = {
    "sampling": Sampling,
    "speculation": Speculation,
    "reply": Reply,
    "target": ModelOptions,
    "draft": ModelOptions,
    "models": Models,
    "look": Look,
}

SCHEMA: tuple[Setting, ...] = tuple(item for name, values in SECTIONS.items() for item in settings_of(name, values))
