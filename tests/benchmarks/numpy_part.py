"""Time the numpy part of a round – penalties, sampling chain, α, verification – without any model; and, apart, what
keeping the positions of its tokens adds.

    uv run python tests/benchmarks/numpy_part.py

Prints the median of 200 rounds (γ = 4, vocabulary 151,936, one thread) beside the limit each case must keep.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
import time

import numpy as np

from specchat.models.decoding.distribution import join
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.positions import Positions
from specchat.models.decoding.sampling import SamplingChain
from specchat.models.decoding.verification import acceptance, block_rule, verify
from specchat.settings.values import Sampling

VOCABULARY, GAMMA, ROUNDS = 151_936, 4, 200
PENALTIES = {"repeat_penalty": 1.1, "presence_penalty": 0.1, "frequency_penalty": 0.1}
CASES = [
    ("T=0", Sampling(temperature=0, **PENALTIES), 0.5),
    ("T=0, no penalties", Sampling(temperature=0), 0.5),
    ("T=0.8, top-k 40, top-p 0.95", Sampling(top_k=40, top_p=0.95, min_p=0, **PENALTIES), 3.0),
    ("T=0.8, top-p 0.95 alone", Sampling(top_k=0, top_p=0.95, min_p=0, **PENALTIES), None),
    ("T=0.8, no truncation", Sampling(top_k=0, top_p=1, min_p=0, **PENALTIES), 10.0),
]


POSITIONS = Positions()


def one_round(
    chain: SamplingChain, target: np.ndarray, draft: np.ndarray, text: list[int], rng: np.random.Generator
) -> tuple[float, float]:
    """Milliseconds of everything a round does besides the models' passes, and of keeping its positions."""
    begun = time.perf_counter()
    recent = chain.recent(text)
    guesses: list[int] = []
    q = []
    for row in draft:
        q.append(chain.distribution(row, recent + guesses))
        guesses.append(q[-1].draw(rng.random()))
    p = [chain.distribution(row, recent + guesses[:i]) for i, row in enumerate(target)]
    joined = join(p, q, guesses)
    accepted, column = verify(block_rule, joined.p, joined.q, joined.draft, rng)
    overlaps, _ = acceptance(joined.p, joined.q, joined.draft)
    judged = time.perf_counter()
    written = [*guesses[:accepted], joined.token(column)]
    POSITIONS.add(target, p, Proposal("model", tuple(guesses), tuple(q)), overlaps, accepted, written)
    return (judged - begun) * 1000, (time.perf_counter() - judged) * 1000


def main() -> None:
    rng = np.random.default_rng(0)
    target = rng.normal(0, 3, (GAMMA + 1, VOCABULARY)).astype(np.float32)
    draft = (target[:GAMMA] + rng.normal(0, 0.5, (GAMMA, VOCABULARY))).astype(np.float32)
    text = [int(token) for token in rng.integers(0, VOCABULARY, 4000)]
    print(f"{'case':32}{'median ms':>12}{'limit ms':>12}{'positions ms':>14}")
    for name, sampling, limit in CASES:
        chain = SamplingChain(sampling)
        both = [one_round(chain, target, draft, text, rng) for _ in range(ROUNDS)]
        spent, keeping = (statistics.median(times) for times in zip(*both, strict=True))
        print(f"{name:32}{spent:12.2f}{limit or '–':>12}{keeping:14.2f}")


if __name__ == "__main__":
    main()
