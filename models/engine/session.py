"""What the engine's process does: holds a target and perhaps a draft, and writes replies with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from specchat.models.decoding.model import Cancelled
from specchat.models.engine.control import Control
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.first_look import first_look
from specchat.models.engine.looking import look
from specchat.models.engine.messages import (
    PROTOCOL,
    Device,
    Event,
    Generate,
    Load,
    Look,
    ModelFile,
    ModelInfo,
    Notice,
    Progress,
    Ready,
    Stage,
)
from specchat.models.engine.messages import Loaded as LoadedEvent
from specchat.models.engine.pair import Pair
from specchat.models.engine.reply import write_reply
from specchat.models.errors import Params
from specchat.models.files.check import check_model_file
from specchat.models.files.errors import ModelFileError
from specchat.models.files.pairing import compare
from specchat.models.llama import devices, library
from specchat.models.llama.errors import LlamaError
from specchat.models.llama.loading import Loaded, load
from specchat.models.llama.prompt import Turn

Send = Callable[[Event], None]

_END = object()

_Stamp = tuple[ModelFile, int, int]
"""What a loaded model came from: the request, and its file's size and time of change."""


class Session:
    """The models of one engine process. Its requests are served one after the other, by one thread."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._pair: Pair | None = None
        self._target_stamp: _Stamp | None = None
        self._draft_stamp: _Stamp | None = None
        self._last_turn: Turn | None = None
        self._look: Iterator[None] | None = None
        self._is_idle: Callable[[], bool] = lambda: False

    def ready(self) -> Ready:
        """What this engine is."""
        return Ready(
            protocol=PROTOCOL,
            versions={**library.versions(), "numpy": version("numpy")},
            backend=devices.backend_name(),
            devices=tuple(
                Device(d.name, d.description, d.kind, d.memory_free, d.memory_total) for d in devices.devices()
            ),
            system=library.system_info(),
        )

    def load(self, request: Load, cancelled: Callable[[], bool]) -> None:
        """Load what is not loaded yet. Without its target a request fails; without its draft it goes on alone."""
        self._look = None
        stamp = _stamp(request.target)
        if self._pair is None or stamp != self._target_stamp:
            self.unload()
            self._pair = Pair(self._load(request.id, "target", request.target, cancelled), request.target_costs)
            self._target_stamp = stamp
        self._load_draft(request, self._pair, cancelled)
        draft = self._pair.draft
        self._send(
            LoadedEvent(
                id=request.id,
                target=_info(request.target, self._pair.target),
                draft=_info(request.draft, draft) if request.draft and draft else None,
            )
        )
        self._look = first_look(self._pair, lambda: self._is_idle())

    def wait(self, is_idle: Callable[[], bool]) -> bool:
        """Do a little of what can wait, as long as `is_idle`; whether there is more of it."""
        if self._look is None or self._pair is None:
            return False
        self._is_idle = is_idle
        if next(self._look, _END) is not _END:
            return True
        self._look = None
        self._send(self._pair.measured())
        return False

    def generate(self, request: Generate, control: Control) -> None:
        """Write a reply and send `Done`."""
        if self._pair is None:
            raise EngineFailure("not_loaded")
        self._look = None
        last, self._last_turn = self._last_turn, None
        try:
            self._last_turn = write_reply(self._pair, request, control, self._send, last)
        finally:
            self._send(self._pair.measured())

    def look(self, request: Look) -> None:
        """Send what was known at a token of the last reply."""
        if self._pair is None:
            raise EngineFailure("not_loaded")
        self._send(look(self._pair, request))

    def unload(self) -> None:
        """Free both models."""
        if self._pair is not None:
            self._drop_draft(self._pair)
            self._pair.target.free()
        self._pair = self._target_stamp = self._last_turn = self._look = None

    def _drop_draft(self, pair: Pair) -> None:
        if pair.draft is not None:
            pair.draft.free()
        pair.draft = self._draft_stamp = None

    def _load_draft(self, request: Load, pair: Pair, cancelled: Callable[[], bool]) -> None:
        stamp = _stamp(request.draft) if request.draft else None
        if pair.draft is not None and stamp == self._draft_stamp:
            return
        self._drop_draft(pair)
        if request.draft is None:
            return
        try:
            draft = self._fitting_draft(request.id, request.draft, pair.target, cancelled)
            pair.take_draft(draft, request.draft_costs)
            self._draft_stamp = stamp
        except EngineFailure as failure:
            if failure.code == "cancelled":
                raise
            self._notice(failure.code, failure.params)
            self._notice("draft_left_out", {"path": request.draft.path})

    def _fitting_draft(self, id: int, file: ModelFile, target: Loaded, cancelled: Callable[[], bool]) -> Loaded:
        """Load a draft that can guess for `target`. Raises `EngineFailure` with the reason why it can't."""
        if not target.context.can_roll_back:
            raise EngineFailure("no_rollback", {"path": str(target.model.path)})
        options = file.options if file.options.ctx else replace(file.options, ctx=target.context.n_ctx)
        draft = self._load(id, "draft", ModelFile(file.path, options), cancelled)
        try:
            reason = compare(target.tokenizer.vocabulary(), draft.tokenizer.vocabulary()).reason
            if reason is not None:
                raise EngineFailure(reason.code, reason.params)
            if not draft.context.can_roll_back:
                raise EngineFailure("draft_no_rollback", {"path": file.path})
        except EngineFailure:
            draft.free()
            raise
        if draft.context.n_ctx < target.context.n_ctx:
            self._notice("draft_ctx_smaller", {"path": file.path, "used": draft.context.n_ctx})
        return draft

    def _load(self, id: int, stage: Stage, file: ModelFile, cancelled: Callable[[], bool]) -> Loaded:
        """Load one model, with progress and a notice for everything that was not as asked."""
        last = -1

        def progress(share: float) -> bool:
            nonlocal last
            thousandths = int(share * 1000)
            if thousandths != last:
                last = thousandths
                self._send(Progress(id, stage, thousandths, 1000))
            return not cancelled()

        try:
            check_model_file(Path(file.path))
            loaded = load(Path(file.path), file.options, progress)
        except Cancelled:
            raise EngineFailure("cancelled") from None
        except (ModelFileError, LlamaError) as error:
            raise EngineFailure(error.code, {"path": file.path, **error.params}) from error
        self._tell(file, loaded, stage)
        return loaded

    def _tell(self, file: ModelFile, loaded: Loaded, stage: Stage) -> None:
        path, options = file.path, file.options
        if options.gpu_layers > 0 and not devices.gpus():
            self._notice("no_gpu", {})
        elif loaded.gpu_layers < loaded.gpu_layers_asked:
            layers = {"asked": loaded.gpu_layers_asked, "used": loaded.gpu_layers}
            self._notice("fewer_layers", {"path": path, **layers})
        if stage == "target" and options.ctx > loaded.context.n_ctx:
            sizes = {"asked": options.ctx, "trained": loaded.model.ctx_trained, "used": loaded.context.n_ctx}
            self._notice("ctx_capped", {"path": path, **sizes})

    def _notice(self, code: str, params: Params) -> None:
        self._send(Notice(code, params))


def _stamp(file: ModelFile) -> _Stamp | None:
    try:
        now = Path(file.path).stat()
    except OSError:
        return None  # loading it will say what is wrong
    return file, now.st_size, now.st_mtime_ns


def _info(file: ModelFile, loaded: Loaded) -> ModelInfo:
    model = loaded.model
    return ModelInfo(
        path=file.path,
        name=model.name,
        description=model.description,
        size=model.size,
        parameters=model.parameters,
        layers=model.layers,
        gpu_layers=loaded.gpu_layers,
        devices=loaded.devices,
        ctx=loaded.context.n_ctx,
        ctx_trained=model.ctx_trained,
        has_template=model.template is not None,
        can_roll_back=loaded.context.can_roll_back,
        memory=loaded.memory,
    )
