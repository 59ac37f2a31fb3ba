"""Random toy laws whose every outcome can be enumerated."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Tree = dict[tuple[int, ...], NDArray[np.float64]]
"""The law of the next token after each path of tokens."""


def random_law(rng: np.random.Generator, vocabulary: int, kind: str) -> NDArray[np.float64]:
    """A law (vocabulary,): `dense`, with `zeros`, or `one-hot`."""
    law = rng.dirichlet(np.full(vocabulary, 0.7))
    if kind == "zeros":
        law[rng.random(vocabulary) < 0.5] = 0
    if kind == "one-hot" or law.sum() == 0:
        law = np.eye(vocabulary)[rng.integers(vocabulary)]
    return law / law.sum()


def random_tree(rng: np.random.Generator, vocabulary: int, depth: int, kind: str) -> Tree:
    """A law for each path of fewer than `depth` tokens."""
    return {path: random_law(rng, vocabulary, kind) for n in range(depth) for path in paths(vocabulary, n)}


def paths(vocabulary: int, length: int) -> Iterator[tuple[int, ...]]:
    """All sequences of `length` tokens."""
    return itertools.product(range(vocabulary), repeat=length)


def probability(tree: Tree, path: tuple[int, ...], start: int = 0) -> float:
    """Of `path`'s tokens from position `start` on, each after those before it."""
    return float(np.prod([tree[path[:i]][path[i]] for i in range(start, len(path))]))
