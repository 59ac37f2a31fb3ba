"""Make GGUFs to measure with out of a small one (by default the bundled model).

uv run python tests/benchmarks/make_pair.py target.gguf --widen 24576      same text, a pass as dear as a 1.33 B model's
uv run python tests/benchmarks/make_pair.py noisy.gguf --noise 0.12        a worse draft
uv run python tests/benchmarks/make_pair.py hopeless.gguf --keep 0-8,10,12  a draft of those layers alone
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gguf import GGMLQuantizationType

from specchat.models.files.bundled import bundled_model
from specchat.models.files.errors import ModelFileError
from specchat.models.files.standin import Recipe, make_standin


def layers(text: str) -> tuple[int, ...]:
    """`0-2,5` is (0, 1, 2, 5)."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--source", type=Path, default=bundled_model(), help="the model to start from")
    parser.add_argument("--widen", type=int, metavar="UNITS", help="width of the feed-forward layers")
    parser.add_argument("--noise", type=float, default=0.0, metavar="SIGMA", help="noise, relative to the weights' own")
    parser.add_argument("--keep", type=layers, metavar="LAYERS", help="layers to keep, such as 0-8,10,12")
    parser.add_argument("--quant", default="Q4_0", choices=["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "F16", "F32"])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.source is None:
        parser.error("the bundled model isn't installed: name a --source")
    return given


def recipe(given: argparse.Namespace) -> Recipe:
    changes = {"widened": given.widen, f"noise {given.noise:g}": given.noise, "fewer layers": given.keep}
    label = ", ".join(("stand-in", *(name for name, change in changes.items() if change)))
    return Recipe(label, given.widen, given.noise, given.keep, GGMLQuantizationType[given.quant], given.seed)


def show(done: int, total: int) -> None:
    print(f"\r{done * 100 // total:3d} % of {total / 1e6:.0f} MB", end="", file=sys.stderr, flush=True)


def main() -> int:
    given = arguments()
    try:
        make_standin(given.source, given.out, recipe(given), progress=show, cancelled=lambda: False)
    except ModelFileError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    print(file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
