"""Whether a draft can guess for a target: every difference between their vocabularies, and which of them matter.

Text is tokenised once, with the target's tokenizer, and both models are given the same ids. So the reply follows the
target's distribution whatever the draft's vocabulary is; but a draft for which an id is another word reads nonsense
and guesses nonsense.

A pair works if both vocabularies are of one kind and if no id that stands for text in both stands for different
texts. These differences do no harm, and are reported all the same:

- Ids that only the larger vocabulary has, be they padding (Qwen's 151,936 and 152,064) or real tokens: they can't
  be guessed (or their guesses can't be checked), so whoever joins the two by id leaves out all from `shared` on.
- Ids that are control, unused or unknown tokens in at least one of the two: the other's text stands for nothing there.
- The kind of a token of equal text, the ids of BOS and EOS, and what a tokenizer adds by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from specchat.models.errors import Params
from specchat.models.files.vocabulary import WITHOUT_TEXT, TokenKind, Vocabulary


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which two vocabularies differ. `decisive`: the pair can't work because of it.

    Codes, each with the target's and the draft's side in `params`: `pair_kind_differs` (target_kind, draft_kind);
    `pair_differs` (id, target_text, draft_text: the first of `count` ids that are different texts);
    `pair_control_differs` (the same, for ids that are no text in at least one of the two);
    `pair_attribute_differs` (id, text, target_kind, draft_kind, count: same text, another `TokenKind`);
    `pair_special_differs` (name: bos or eos, target_id, draft_id; -1 is none);
    `pair_adds_differs` (name: bos or eos, target, draft: 1 if the tokenizer adds it, else 0);
    `pair_size_differs` (target_size, draft_size).
    """

    code: str
    params: Params
    decisive: bool = False


@dataclass(frozen=True, slots=True)
class Pairing:
    """What `compare` found. Ids below `shared` are in both vocabularies."""

    differences: tuple[Difference, ...]
    shared: int

    @property
    def reason(self) -> Difference | None:
        """The first difference because of which the pair can't work; None if it can."""
        return next((difference for difference in self.differences if difference.decisive), None)

    @property
    def works(self) -> bool:
        """Whether the draft can guess for the target."""
        return self.reason is None


def compare(target: Vocabulary, draft: Vocabulary) -> Pairing:
    """Every difference between two vocabularies; the module's docstring has the rule for which pairs work."""
    shared = min(len(target.tokens), len(draft.tokens))
    differences = (
        *_kinds(target, draft),
        *_texts(target, draft, shared),
        *_attributes(target, draft, shared),
        *_specials(target, draft),
        *_sizes(target, draft),
    )
    return Pairing(differences, shared)


def _kinds(target: Vocabulary, draft: Vocabulary) -> list[Difference]:
    if target.kind == draft.kind:
        return []
    return [Difference("pair_kind_differs", {"target_kind": target.kind, "draft_kind": draft.kind}, decisive=True)]


def _texts(target: Vocabulary, draft: Vocabulary, shared: int) -> list[Difference]:
    differing = _differing(target.tokens, draft.tokens, shared)
    is_text = [_is_text(target, token) and _is_text(draft, token) for token in differing]
    found = []
    for code, decisive in (("pair_differs", True), ("pair_control_differs", False)):
        ids = [token for token, text in zip(differing, is_text, strict=True) if text is decisive]
        if ids:
            texts = {"target_text": _shown(target, ids[0]), "draft_text": _shown(draft, ids[0])}
            found.append(Difference(code, {"id": ids[0], **texts, "count": len(ids)}, decisive))
    return found


def _attributes(target: Vocabulary, draft: Vocabulary, shared: int) -> list[Difference]:
    ids = [
        token
        for token in _differing(target.attributes, draft.attributes, shared)
        if target.tokens[token] == draft.tokens[token]
    ]
    if not ids:
        return []
    kinds = {"target_kind": _kind_name(target, ids[0]), "draft_kind": _kind_name(draft, ids[0])}
    params: Params = {"id": ids[0], "text": _shown(target, ids[0]), **kinds, "count": len(ids)}
    return [Difference("pair_attribute_differs", params)]


def _specials(target: Vocabulary, draft: Vocabulary) -> list[Difference]:
    found = []
    for name, ours, theirs in (("bos", target.bos, draft.bos), ("eos", target.eos, draft.eos)):
        if ours != theirs:
            ids = {"target_id": -1 if ours is None else ours, "draft_id": -1 if theirs is None else theirs}
            found.append(Difference("pair_special_differs", {"name": name, **ids}))
    for name, adds, others in (("bos", target.add_bos, draft.add_bos), ("eos", target.add_eos, draft.add_eos)):
        if adds != others:
            params: Params = {"name": name, "target": int(adds), "draft": int(others)}
            found.append(Difference("pair_adds_differs", params))
    return found


def _sizes(target: Vocabulary, draft: Vocabulary) -> list[Difference]:
    sizes: Params = {"target_size": len(target.tokens), "draft_size": len(draft.tokens)}
    return [Difference("pair_size_differs", sizes)] if len(target.tokens) != len(draft.tokens) else []


def _differing(ours: tuple[object, ...], theirs: tuple[object, ...], shared: int) -> list[int]:
    """The ids below `shared` at which two columns differ."""
    if ours[:shared] == theirs[:shared]:  # compared in C: equal vocabularies are the common case
        return []
    return [token for token in range(shared) if ours[token] != theirs[token]]


def _is_text(vocabulary: Vocabulary, token: int) -> bool:
    return vocabulary.attributes[token] not in WITHOUT_TEXT


def _shown(vocabulary: Vocabulary, token: int) -> str:
    return vocabulary.tokens[token].decode(errors="replace")


def _kind_name(vocabulary: Vocabulary, token: int) -> str:
    return TokenKind(vocabulary.attributes[token]).name.lower()
