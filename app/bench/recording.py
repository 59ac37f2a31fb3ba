"""Gathers what a benchmark yields, and makes the document of it: also of a part, when it ended early."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil

from specchat.app.bench.document import Conditions, Document, File, Machine, Prompts
from specchat.app.bench.prompts import Prompt, fingerprint
from specchat.app.bench.results import compare, run_result, sorted_kinds
from specchat.app.bench.runner import BenchEvent, Job, Run, Stalled
from specchat.models.decoding.cost import CostTable
from specchat.models.engine import messages


class Recording:
    """What is known so far of the benchmark that does `job` with `prompts` from `source`."""

    def __init__(self, job: Job, prompts: Sequence[Prompt], source: str, ready: messages.Ready) -> None:
        self.runs: list[Run] = []
        self.ready = ready
        self._job = job
        self._prompts = prompts
        self._source = source
        self._started = datetime.now(UTC)
        self._models: dict[str, messages.ModelInfo] = {}
        self._stalls = 0

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the models that were loaded, the target's first."""
        return tuple(self._models)

    def add(self, event: BenchEvent) -> None:
        """Take in an event of the runner's."""
        match event:
            case messages.Loaded():
                for model in (event.target, event.draft):
                    if model is not None:
                        self._models[model.path] = model
            case Stalled():
                self._stalls += 1
            case Run():
                self.runs.append(event)

    def document(self, costs: Mapping[str, CostTable], hashes: Mapping[str, str], *, partial: bool) -> Document:
        """The document of all runs so far. `costs` and `hashes` (SHA-256) are by path, where they are known."""
        files = [_file(model, costs.get(path), hashes.get(path)) for path, model in self._models.items()]
        return Document(
            started=self._started.isoformat(timespec="seconds"),
            seconds=round((datetime.now(UTC) - self._started).total_seconds(), 1),
            partial=partial,
            stalls=self._stalls,
            versions={
                "specchat": version("specchat"),
                "python": platform.python_version(),
                **self.ready.versions,
            },
            machine=describe_machine(self.ready),
            target=files[0],
            drafts=tuple(files[1:]),
            conditions=self._conditions(),
            prompts=Prompts(source=self._source, sha256=fingerprint(self._prompts), tokens=self._tokens()),
            sides=compare(self.runs),
            runs=tuple(map(run_result, self.runs)),
        )

    def _conditions(self) -> Conditions:
        job, settings = self._job, self._job.settings
        return Conditions(
            sampling=replace(settings.sampling, seed=job.seed),
            rule=settings.speculation.rule,
            system=settings.reply.system,
            max_tokens=job.max_tokens,
            repeats=1 + max(step.repeat for step in job.steps),
            target=settings.target,
            draft=settings.draft,
        )

    def _tokens(self) -> dict[str, int]:
        tokens = {run.step.prompt.kind: run.prompt_tokens for run in self.runs}
        return {kind: tokens[kind] for kind in sorted_kinds(self.runs)}


def describe_machine(ready: messages.Ready) -> Machine:
    """This machine, as the system and the engine see it."""
    return Machine(
        platform=platform.platform(),
        cpu=next((device.description for device in ready.devices if device.kind == "cpu"), platform.processor()),
        cores=psutil.cpu_count(logical=False),
        threads=psutil.cpu_count(),
        memory=psutil.virtual_memory().total,
        backend=ready.backend,
        devices=tuple(f"{device.name}: {device.description}" for device in ready.devices),
        features=ready.system,
    )


def _file(model: messages.ModelInfo, costs: CostTable | None, sha256: str | None) -> File:
    return File(
        path=model.path,
        name=model.name,
        description=model.description,
        size=_size(model),
        sha256=sha256,
        parameters=model.parameters,
        layers=model.layers,
        gpu_layers=model.gpu_layers,
        devices=model.devices,
        ctx=model.ctx,
        memory=model.memory,
        costs=costs,
    )


def _size(model: messages.ModelInfo) -> int:
    try:
        return Path(model.path).stat().st_size
    except OSError:  # moved away meanwhile, which is no reason to lose the figures
        return model.size
