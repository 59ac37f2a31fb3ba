"""Ollama's models: files named by their hashes, and manifests that say what people call them.

`manifests/HOST/NAMESPACE/MODEL/TAG` is JSON with a list of layers; the layer that holds the weights names the file
`blobs/sha256-…` (Ollama's `types/model/name.go` and `server/download.go`). A download is `blobs/sha256-…-partial`; its
manifest is written when all has come.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from specchat.models.files.found import Found, Seen, begins_as_gguf, identity, unreadable
from specchat.models.files.places import Place

_WEIGHTS = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256[:-][0-9a-f]{64}$")
_PARTIAL = re.compile(r"sha256-(?P<short>[0-9a-f]{12})[0-9a-f]{52}-partial$")
_MAX_MANIFEST = 1 << 20


def is_ollamas(folder: Path) -> bool:
    """Whether Ollama keeps models in `folder`. Raises `OSError`."""
    return (folder / "manifests").is_dir() and (folder / "blobs").is_dir()


def look(place: Place) -> Iterator[Seen]:
    """Ollama's models, by name; then what it is downloading, by the digits it shows meanwhile."""
    seen = Seen(place.folder)
    refused: list[OSError] = []
    for name, blob in _named(place.folder, refused):
        _add(seen, place, name, place.folder / "blobs" / blob, is_whole=True)
    try:
        for entry in sorted(os.scandir(place.folder / "blobs"), key=lambda entry: entry.name):
            partial = _PARTIAL.match(entry.name)
            if partial and begins_as_gguf(entry.path):
                _add(seen, place, partial["short"], Path(entry.path), is_whole=False)
    except OSError as error:
        refused.append(error)
    seen.trouble = unreadable(place.folder, refused[0]) if refused else None
    yield seen


def name_of(blob: Path) -> str:
    """What Ollama calls the model whose weights are the file `blob`; empty if that isn't one of its files."""
    kept = blob.parent.parent
    try:
        if not _DIGEST.match(blob.name) or not is_ollamas(kept):
            return ""
    except OSError:
        return ""
    return next((name for name, path in _named(kept, []) if path == blob.name), "")


def _named(kept: Path, refused: list[OSError]) -> Iterator[tuple[str, str]]:
    """The name of each model and of its blob, in order. What can't be read is added to `refused`."""
    manifests = kept / "manifests"
    for folder, _folders, tags in sorted(os.walk(manifests, onerror=refused.append)):
        for tag in sorted(tags):
            manifest = Path(folder, tag)
            if blob := _weights(manifest):
                yield _name(manifest.relative_to(manifests).parts), blob


def _add(seen: Seen, place: Place, name: str, path: Path, *, is_whole: bool) -> None:
    try:
        status = path.stat()
    except OSError:  # a manifest whose blob is gone
        return
    found = Found(path, name, place.source, status.st_size, status.st_mtime_ns, is_whole=is_whole)
    seen.models.append((found, [identity(str(path), status)]))


def _weights(manifest: Path) -> str:
    """The name of the blob with the weights; empty where the manifest names none or isn't one."""
    try:
        if manifest.stat().st_size > _MAX_MANIFEST:
            return ""
        said = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    layers = said.get("layers") if isinstance(said, dict) else None
    for layer in layers if isinstance(layers, list) else ():
        if isinstance(layer, dict) and layer.get("mediaType") == _WEIGHTS:
            digest = layer.get("digest")
            return digest.replace(":", "-") if isinstance(digest, str) and _DIGEST.match(digest) else ""
    return ""


def _name(parts: tuple[str, ...]) -> str:
    """The name as `ollama list` shows it: `llama3.2:1b`, `somebody/model:latest`, `hf.co/org/repo:Q4_K_M`."""
    *path, tag = parts
    for usual in ("registry.ollama.ai", "library"):
        if path[:1] == [usual] and len(path) > 1:
            path = path[1:]
        else:
            break
    return f"{'/'.join(path)}:{tag}"
