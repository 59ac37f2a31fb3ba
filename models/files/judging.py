"""Whether a draft can guess for a target, from what their files say, without loading either."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import msgspec

from specchat.models.errors import Params
from specchat.models.files.errors import ModelFileError
from specchat.models.files.facts import Facts
from specchat.models.files.pairing import Difference, Pairing, compare
from specchat.models.files.reading import read_vocabulary
from specchat.models.files.vocabulary import Vocabulary


class PairVerdict(msgspec.Struct, frozen=True):
    """What is known of a target and a draft before they are loaded.

    `code` is empty if the pair works. Else it is that of the decisive `pairing.Difference`; `no_rollback` or
    `draft_no_rollback` (path) of a model that can't take back tokens; or a `ModelFileError`'s if a file has changed.
    `differences` are codes with parameters of what differs and does no harm, for those who want to know.
    """

    code: str
    params: Params
    expected_c: float
    """Expected seconds of a one-token run of the draft ÷ those of a target pass: the weights that each must read."""
    differences: tuple[tuple[str, Params], ...] = ()

    @property
    def works(self) -> bool:
        """Whether the draft can guess for the target."""
        return not self.code


def judge_pair(target: Facts, draft: Facts) -> PairVerdict:
    """Judge a pair. Reads both files' vocabularies (a fifth of a second) if they aren't known to be equal or judged.

    Raises nothing: what keeps a file from being read is the verdict.
    """
    c = draft.active_size / max(target.active_size, 1)
    if not target.rolls_back:
        return PairVerdict("no_rollback", {"path": target.path}, c)
    if not draft.rolls_back:
        return PairVerdict("draft_no_rollback", {"path": draft.path}, c)
    try:
        pairing = _compare(target, draft)
    except ModelFileError as error:
        return PairVerdict(error.code, error.params, c)
    others = tuple((found.code, found.params) for found in pairing.differences if not found.decisive)
    reason = pairing.reason
    if reason is None:
        return PairVerdict("", {}, c, others)
    return PairVerdict(reason.code, reason.params, c, others)


_known: dict[tuple[str, str], Pairing] = {}
"""Comparisons made before, by the vocabularies' digests: dozens of files share a few vocabularies."""


def _compare(target: Facts, draft: Facts) -> Pairing:
    ours, theirs = target.vocabulary, draft.vocabulary
    if ours.digest == theirs.digest:
        return Pairing((), ours.size)
    if ours.kind != theirs.kind:  # decides alone, so that neither file needs to be read
        params: Params = {"target_kind": ours.kind, "draft_kind": theirs.kind}
        return Pairing((Difference("pair_kind_differs", params, decisive=True),), min(ours.size, theirs.size))
    pair = (ours.digest, theirs.digest)
    if pair not in _known:
        _known[pair] = compare(_vocabulary(target.path, ours.digest), _vocabulary(draft.path, theirs.digest))
    return _known[pair]


@lru_cache(maxsize=2)  # a target's stays while its drafts are judged; a large one takes 20 MB
def _vocabulary(path: str, _digest: str) -> Vocabulary:
    return read_vocabulary(Path(path))
