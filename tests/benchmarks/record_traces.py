"""Record traces for the pace's simulation: how each draft would have guessed the target's own text.

    uv run python tests/benchmarks/make_pair.py /tmp/target.gguf --widen 24576
    uv run python tests/benchmarks/make_pair.py /tmp/noisy.gguf --noise 0.12
    uv run python tests/benchmarks/make_pair.py /tmp/hopeless.gguf --keep 0-8,10,12
    uv run python tests/benchmarks/record_traces.py --target /tmp/target.gguf --draft good=BUNDLED \
        --draft noisy=/tmp/noisy.gguf --draft hopeless=/tmp/hopeless.gguf --output tests/data/traces.json

For each built-in prompt at temperature 0 and 0.8 (no other truncation) the target writes a reply, plainly; then each
draft reads it. Of each token of the reply the trace holds the draft's confidence before it (`certainty`), whether its
likeliest token was the right one (at temperature 0), and Σₓ min(p, q).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from specchat.app.bench.prompts import builtin_prompts
from specchat.models.decoding.sampling import SamplingChain, certainty
from specchat.models.files.bundled import bundled_model
from specchat.models.llama.loading import Loaded, load
from specchat.models.llama.prompt import encode_raw
from specchat.models.llama.template import render
from specchat.settings.values import ModelOptions, Sampling

TEMPERATURES = (0.0, 0.8)
ROWS = 64


def laws(model: Loaded, text: list[int], start: int, chain: SamplingChain) -> tuple[list[Any], list[float]]:
    """The model's laws and confidences before each token of `text` from `start` on; both models share a vocabulary."""
    context = model.context
    context.roll_back(0)
    if start > 1:
        context.evaluate(text[: start - 1], 0)
    found, sure = [], []
    for first in range(start - 1, len(text) - 1, ROWS):
        part = text[first : min(first + ROWS, len(text) - 1)]
        for row in context.evaluate(part, len(part)):
            sure.append(certainty(row))
            found.append(dense(chain, row))
    return found, sure


def dense(chain: SamplingChain, row: Any) -> Any:
    law = chain.distribution(row, [])
    whole = np.zeros(row.size, np.float32)
    whole[slice(None) if law.ids is None else law.ids] = law.probabilities
    return whole


def write(target: Loaded, prompt: list[int], chain: SamplingChain, tokens: int, seed: int) -> list[int]:
    """The target's own reply."""
    rng, context, text = np.random.default_rng(seed), target.context, list(prompt)
    context.roll_back(0)
    context.evaluate(prompt[:-1], 0)
    while len(text) < len(prompt) + tokens:
        token = chain.distribution(context.evaluate(text[-1:], 1)[0], []).draw(rng.random())
        if target.tokenizer.is_end(token):
            break
        text.append(token)
    return text[len(prompt) :]


def trace(draft: Loaded, prompt: list[int], tokens: list[int], p: list[Any], chain: SamplingChain) -> dict[str, Any]:
    q, sure = laws(draft, prompt + tokens, len(prompt), chain)
    greedy = len(p) > 0 and float(p[0].max()) == 1.0
    return {
        "conf": [round(value, 3) for value in sure],
        "accepted": [int(b.argmax() == a.argmax()) if greedy else None for a, b in zip(p, q, strict=True)],
        "alpha": [round(float(np.minimum(a, b).sum()), 3) for a, b in zip(p, q, strict=True)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--draft", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--tokens", type=int, default=160)
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    options = replace(ModelOptions(), ctx=2048)
    target = load(given.target, options)
    drafts = {}
    for draft in given.draft:
        name, _, file = draft.partition("=")
        drafts[name] = load(bundled_model() if file == "BUNDLED" else Path(file), options)
    traces = []
    for prompt in builtin_prompts():
        tokenizer = target.tokenizer
        rendered = render(target.model.template, [("user", prompt.text)], bos="", eos=tokenizer.text(tokenizer.eos))
        ids = encode_raw(tokenizer, rendered.text)
        for temperature in TEMPERATURES:
            chain = SamplingChain(Sampling(temperature=temperature, top_k=0, top_p=1, min_p=0))
            tokens = write(target, ids, chain, given.tokens, seed=1)
            p, _ = laws(target, ids + tokens, len(ids), chain)
            for name, draft in drafts.items():
                found = trace(draft, ids, tokens, p, chain)
                traces.append(
                    {
                        "kind": prompt.kind,
                        "temperature": temperature,
                        "draft": name,
                        "prompt": ids,
                        "tokens": tokens,
                        **found,
                    }
                )
            print(
                prompt.kind,
                temperature,
                len(tokens),
                [round(float(np.mean(t["alpha"])), 2) for t in traces[-len(drafts) :]],
                flush=True,
            )
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text("[\n" + ",\n".join(json.dumps(t, separators=(",", ":")) for t in traces) + "\n]\n")


if __name__ == "__main__":
    main()
