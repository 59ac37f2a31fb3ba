"""`specchat bench`: progress to standard error, the report to standard output and into files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import aclosing
from pathlib import Path

from specchat.app.bench import blocks, document, report, sheet
from specchat.app.bench.arguments import BenchArguments, Form
from specchat.app.bench.document import Document
from specchat.app.bench.hashing import hash_files
from specchat.app.bench.plot import save_plot
from specchat.app.bench.progress import ProgressLine
from specchat.app.bench.prompts import BUILTIN, Prompt, PromptsError, builtin_prompts, kind_name, read_prompts
from specchat.app.bench.recording import Recording
from specchat.app.bench.runner import BenchEvent, Job, LeftOut, Runner, Stalled
from specchat.app.bench.sides import LOOKUP, gammas, plan
from specchat.app.history.archive import keep_in, measurement
from specchat.app.live import on_terminal
from specchat.app.status import FAILED
from specchat.app.streams import complain, tell
from specchat.app.words import _, sentence
from specchat.models.engine import messages
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineFailure
from specchat.models.errors import CodedError
from specchat.models.files.bundled import bundled_model
from specchat.models.files.check import check_model_file
from specchat.models.files.errors import ModelFileError
from specchat.settings.paths import find_paths

_FIRST_SEED = 1


class BenchError(CodedError):
    """The benchmark can't begin."""

    def __init__(self, code: str, **params: str | int | float) -> None:
        super().__init__(code, params)


def run(arguments: BenchArguments) -> int:
    """Carry out `specchat bench`; returns the exit status. Raises `OSError` where standard output can't be written."""
    for notice in arguments.notices:
        complain(notice)
    try:
        for path in filter(None, (arguments.output, arguments.plot)):
            _check_writable(path)
        prompts = builtin_prompts() if arguments.prompts is None else read_prompts(arguments.prompts)
        job = _job(arguments, prompts)
    except (BenchError, ModelFileError, PromptsError) as error:
        complain(sentence(error.code, error.params))
        return FAILED
    source = BUILTIN if arguments.prompts is None else str(arguments.prompts.absolute())
    bench = Bench(job, prompts, source)
    try:
        asyncio.run(bench.measure())
    except KeyboardInterrupt:
        _publish(bench, arguments)
        raise
    except EngineFailure as failure:
        complain(sentence(failure.code, failure.params))
        _publish(bench, arguments)
        return FAILED
    return _publish(bench, arguments)


def _job(arguments: BenchArguments, prompts: tuple[Prompt, ...]) -> Job:
    """What is to be done. Raises `BenchError` and `ModelFileError`."""
    target = arguments.target or bundled_model()
    if target is None:
        raise BenchError("bundled_missing")
    for path in (target, *(Path(draft) for draft in arguments.drafts if draft != LOOKUP)):
        check_model_file(path)
    seed, choices = arguments.settings.sampling.seed, arguments.choices
    return Job(
        target=str(target.absolute()),
        steps=plan(arguments.drafts, gammas(choices.gamma), prompts, choices.repeat),
        settings=arguments.settings,
        max_tokens=choices.max_tokens,
        seed=_FIRST_SEED if seed < 0 else seed,
    )


def _check_writable(path: Path) -> None:
    """Raise `BenchError` if it can be seen beforehand that `path` can't be written."""
    if path.is_dir():
        raise BenchError("bench_output_folder", path=str(path))
    if not path.parent.is_dir():
        raise BenchError("bench_no_folder", path=str(path), folder=str(path.parent))
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise BenchError("bench_output_denied", path=str(path))


class Bench:
    """One benchmark on an engine of its own, and what it has brought so far."""

    def __init__(self, job: Job, prompts: tuple[Prompt, ...], source: str) -> None:
        self._job = job
        self._prompts = prompts
        self._source = source
        self._progress = ProgressLine(on_terminal(with_text=False))
        self._recording: Recording | None = None
        self._runner: Runner | None = None
        self._hashes: dict[str, str] = {}
        self._is_complete = False
        self._path = find_paths(os.environ).chats_file

    async def measure(self) -> None:
        """Write all replies, then compute the files' checksums. Raises `EngineFailure`."""
        try:
            async with EngineClient(find_paths(os.environ).log / "engine.log") as engine:
                self._recording = Recording(self._job, self._prompts, self._source, await engine.start())
                self._runner = Runner(engine, self._job)
                async with aclosing(self._runner.run()) as events:
                    async for event in events:
                        self._take(event, self._recording)
            self._is_complete = True
            self._hashes = await hash_files(self._recording.files, self._progress.hashing)
        finally:
            self._progress.clear()

    def document(self) -> Document | None:
        """What was measured; None if nothing was."""
        if self._recording is None or self._runner is None or not self._recording.runs:
            return None
        return self._recording.document(self._runner.costs, self._hashes, partial=not self._is_complete)

    def remember(self, result: Document) -> None:
        """Add what was measured to the history; says why where that can't be done."""
        assert self._recording is not None
        measured = measurement("bench", result, self._recording.runs, self._recording.ready)
        if problem := asyncio.run(keep_in(self._path, measured)):
            reason = sentence(problem.code, problem.params)
            complain(_("The history goes without this benchmark. {reason}").format(reason=reason))

    def _take(self, event: BenchEvent, recording: Recording) -> None:
        match event:
            case messages.Notice(code="draft_left_out"):
                pass  # said of a reply; here it is `LeftOut`
            case messages.Notice():
                self._progress.clear()
                complain(sentence(event.code, event.params))
            case LeftOut():
                self._progress.clear()
                complain(_("{draft} is left out.").format(draft=report.draft_name(event.draft)))
            case Stalled(step):
                recording.add(event)
                self._progress.clear()
                said = _("The machine stood still during a reply ({kind}), so that is written anew.")
                complain(said.format(kind=kind_name(step.prompt.kind)))
            case _:
                recording.add(event)
                self._progress.show(event)


def _publish(bench: Bench, arguments: BenchArguments) -> int:
    """Print the report and write the files; returns the exit status."""
    result = bench.document()
    if result is None:
        complain(_("Nothing was measured."))
        return FAILED
    bench.remember(result)
    status = 0
    written = _WRITERS[arguments.form](result)
    if arguments.output is not None:
        try:
            arguments.output.write_text(written, encoding="utf-8", newline="")
            tell(_("The report is in {path}.").format(path=arguments.output))
            written = _as_text(result)
        except OSError as error:  # then it goes to standard output, so that nothing is lost
            status = _complain_of(arguments.output, error)
    print(written, end="" if written.endswith("\n") else "\n")
    if arguments.plot is not None:
        try:
            save_plot(result, arguments.plot)
            tell(_("The picture is in {path}.").format(path=arguments.plot))
        except OSError as error:
            status = _complain_of(arguments.plot, error)
    return status


def _complain_of(path: Path, error: OSError) -> int:
    complain(sentence("file_unwritable", {"path": str(path), "reason": error.strerror or str(error)}))
    return FAILED


def _as_text(result: Document) -> str:
    return blocks.as_text(report.blocks(result))


_WRITERS: Mapping[Form, Callable[[Document], str]] = {
    "text": _as_text,
    "json": document.to_json,
    "csv": sheet.as_csv,
    "markdown": lambda result: blocks.as_markdown(report.blocks(result)),
}
