"""Compares `specchat.models.files.known` with llama.cpp's source: to be run when the pin of llama-cpp-python moves.

    uv run python tests/support/known_names.py PATH/TO/llama.cpp

Prints what the source has and the module lacks (+), and the other way round (-). Models that don't chat may be lacking
in the last two lists.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from specchat.models.files import known

_EQUAL = r"GGML_ASSERT\((?:n_embd_head|n_embd_head_v) == (?:hparams\.n_embd_head_k\(\)|n_embd_head_k)\)"
_WHOLE = r"GGML_ASSERT\(n_embd_head\w* == (?:n_rot|hparams\.n_rot\(\))\)"


def main(root: Path) -> None:
    """Print the differences."""
    source = root / "src"
    architectures, vocabulary = ((source / f"llama-{name}.cpp").read_text() for name in ("arch", "vocab"))
    names = dict(re.findall(r'\{ *(LLM_ARCH_\w+), *"([^"(]+)"', architectures))
    pre = vocabulary[vocabulary.index("tokenizer_pre.empty()") : vocabulary.index("unknown pre-tokenizer type")]
    found = {
        "ARCHITECTURES": set(names.values()),
        "RECURRENT": _cases(architectures, "llm_arch_is_recurrent", names),
        "HYBRID": _cases(architectures, "llm_arch_is_hybrid", names),
        "PRE_TOKENIZERS": set(re.findall(r'tokenizer_pre == "([^"]+)"', pre)),
        **_asserted(source, names),
    }
    for name, theirs in found.items():
        ours = getattr(known, name)
        print(name, *(f"+{one}" for one in sorted(theirs - ours)), *(f"-{one}" for one in sorted(ours - theirs)))


def _cases(text: str, function: str, names: dict[str, str]) -> set[str]:
    body = text[text.index(f"bool {function}(") :]
    return {names[case] for case in re.findall(r"case (LLM_ARCH_\w+)", body[: body.index("default")])}


def _asserted(source: Path, names: dict[str, str]) -> dict[str, set[str]]:
    """The architectures whose graphs hold each of the two assertions."""
    code: dict[str, str] = {}
    for path in sorted((source / "models").glob("*.cpp")):
        text = re.sub(r"//[^\n]*", "", path.read_text())
        for part in re.split(r"(?=\bllama_model_\w+::)", text)[1:]:
            model = part[: part.index("::")]
            code[model] = code.get(model, "") + part
    classes, waiting = {}, []
    for line in (source / "llama-model.cpp").read_text().splitlines():
        waiting += re.findall(r"case (LLM_ARCH_\w+):", line)
        if made := re.search(r"return new (llama_model_\w+)\(", line):
            classes.update(dict.fromkeys((names[case] for case in waiting if case in names), made[1]))
            waiting = []
    patterns = {"EQUAL_HEADS": _EQUAL, "WHOLE_ROPE": _WHOLE}
    return {
        name: {one for one, model in classes.items() if re.search(pattern, code.get(model, ""))}
        for name, pattern in patterns.items()
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
