"""Tampered sessions: opening raises a one-line SessionError, and no foreign layout or code is used."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pickle
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numcodecs.zstd import Zstd

from helpers.fake_source import FakeSource
from helpers.session_clips import clip, recorded, volume
from scstream_app.errors import SessionError
from scstream_app.objects import mask_to_png
from scstream_app.pipeline.edits import Edit
from scstream_app.pipeline.frame_result import FrameResult
from scstream_app.session import Names, Session, resume

pytestmark = pytest.mark.slow

MISSING = object()
MASK = np.ones((48, 64), bool)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "made.scstream"
    recorded(path, clip(5, cut=None), snapshot_every=2)
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    """Copy that a test may change."""
    return Path(shutil.copytree(made, tmp_path / "a.scstream"))


def refused(path: Path, why: str = "") -> None:
    """Assert that neither a reader nor a writer opens the session, and that neither changes a file."""
    before = snapshot_of(path)
    for writable in (False, True):
        with pytest.raises(SessionError, match=rf"^Cannot open '.*a\.scstream': .*{why}.*\.$"):
            Session.open(path, writable)
    assert snapshot_of(path) == before


def snapshot_of(path: Path) -> dict[str, tuple[int, bytes]]:
    """Size and first bytes of all files."""
    found = {}
    for file in path.rglob("*"):
        if file.is_file() and not file.is_symlink() and file.name != "lock":
            with file.open("rb") as opened:
                found[str(file)] = (file.stat().st_size, opened.read(1 << 16))
    return found


def change(file: Path, keys: str, value: Any) -> None:
    """Set the entry at a dotted path of a JSON file."""
    document = json.loads(file.read_text())
    *parents, last = keys.split(".")
    place = document
    for key in parents:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if value is MISSING:
        del place[last]
    elif isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    file.write_text(json.dumps(document))


def test_the_untouched_copy_opens(path: Path) -> None:
    assert len(Session.open(path)) == 5


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("schema", "napari"),
        ("schema", MISSING),
        ("version", 2),
        ("version", "1"),
        ("version", True),
        ("complete", "yes"),
        ("source", None),
        ("source", [1]),
        ("source.width", 0),
        ("source.width", -64),
        ("source.width", 64.0),
        ("source.width", 10**9),
        ("source.width", "64"),
        ("source.rate", 0),
        ("source.rate", "NaN"),
        ("source.rate", 1e999),
        ("source.length", -1),
        ("source.address", 7),
        ("source.address", "x" * 600_000),
        ("source.live", None),
        ("settings", []),
        ("settings.alpha", -1),
        ("settings.alpha", "1000"),
        ("settings.kernel", "os.system"),
        ("settings.extra", 1),
        ("start", -1),
        ("start", 10**18),
        ("start", 4),
        ("stop", 0),
        ("formats", "mp4"),
        ("formats", ["../../etc"]),
        ("formats", [["mp4"]]),
        ("snapshot_every", 0),
        ("first_frame", {"index": 0}),
        ("first_frame", {"index": 0, "crc32": 2**32}),
        ("statistics", {"record": [["id", "|O", []]]}),
        ("statistics", MISSING),
        ("created", {}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_manifest_with_invalid_values(keys: str, value: Any, path: Path) -> None:
    change(path / "manifest.json", keys, value)
    refused(path)


def test_versions_are_named(path: Path) -> None:
    change(path / "manifest.json", "version", 99)
    refused(path, "version 99, but this program reads version 1")


TORN = [b"", b"{", bytes(300), b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 50_000, b"9" * 5000]
FOREIGN = [b"null", b"[]", b"3", b'"x"']


def starts(content: bytes) -> str:
    return repr(content[:8])


@pytest.mark.parametrize("content", TORN + FOREIGN, ids=starts)
def test_a_malformed_manifest(content: bytes, path: Path) -> None:
    (path / "manifest.json").write_bytes(content)
    refused(path)


@pytest.mark.parametrize("content", FOREIGN, ids=starts)
def test_a_malformed_volume(content: bytes, path: Path) -> None:
    (path / "ids.zarr" / "zarr.json").write_bytes(content)
    refused(path)


@pytest.mark.parametrize("content", TORN, ids=starts)
def test_a_truncated_zarr_json_is_rewritten(content: bytes, path: Path) -> None:
    metadata = path / "ids.zarr" / "zarr.json"
    whole = metadata.read_bytes()
    metadata.write_bytes(content)
    ids = Session.open(path).ids(4)
    assert metadata.read_bytes() == content
    with Session.open(path, writable=True) as session:
        np.testing.assert_array_equal(session.ids(4), ids)
    assert metadata.read_bytes() == whole


def part_refused(path: Path, name: str) -> None:
    """Assert that accessing these marks raises for a reader, and that a writer renames the file and reports it."""
    part, other = ("objects", "names") if name == "objects.json" else ("names", "objects")
    size = (path / name).stat().st_size
    reader = Session.open(path)
    assert len(list(reader.results())) == 5
    getattr(reader, other)
    with pytest.raises(SessionError, match=r"^Cannot read '.*a\.scstream': .*\.$"):
        getattr(reader, part)
    assert reader.damage == ()
    with Session.open(path, writable=True) as session:
        assert len(session.damage) == 1
        assert name in session.damage[0]
        assert f"renamed to {name}.damaged" in session.damage[0]
        assert not session.objects
        assert session.names == Names()
    assert (path / f"{name}.damaged").stat().st_size == size
    with Session.open(path, writable=True) as session:
        assert session.damage == ()


@pytest.mark.parametrize("name", ["objects.json", "names.json"])
@pytest.mark.parametrize("content", TORN + FOREIGN, ids=starts)
def test_damaged_mark_files_are_renamed(name: str, content: bytes, path: Path) -> None:
    (path / name).write_bytes(content)
    part_refused(path, name)


def test_mark_files_renamed_earlier_are_kept(path: Path) -> None:
    for content in (b"first", b"second"):
        (path / "names.json").write_bytes(content)
        Session.open(path, writable=True).close()
    assert (path / "names.json.damaged").read_bytes() == b"first"
    assert (path / "names.json.damaged2").read_bytes() == b"second"


def test_missing_mark_files_are_reported_and_created(path: Path) -> None:
    (path / "objects.json").unlink()
    with pytest.raises(SessionError, match=r"objects\.json is missing"):
        getattr(Session.open(path), "objects")  # noqa: B009
    with Session.open(path, writable=True) as session:
        assert session.damage == ("Cannot read objects.json: objects.json is missing.",)
        assert session.objects == ()


@pytest.mark.parametrize("name", ["objects.json", "names.json"])
def test_marks_too_large_to_be_read(name: str, path: Path) -> None:
    os.truncate(path / name, 1 << 32)
    part_refused(path, name)


@pytest.mark.parametrize("name", ["manifest.json", "ids.zarr/zarr.json"])
def test_json_too_large_to_be_read(name: str, path: Path) -> None:
    # A sparse file: cheap to create, gigabytes to read.
    os.truncate(path / name, 1 << 32)
    refused(path, "bytes, which exceeds the limit")


@pytest.mark.parametrize("name", ["manifest.json", "ids.zarr/zarr.json", "frames.jsonl", "statistics.bin", "models"])
def test_a_missing_file(name: str, path: Path) -> None:
    shutil.rmtree(path / name) if (path / name).is_dir() else (path / name).unlink()
    refused(path, "missing")


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("shape", [10**9, 48, 64]),
        ("shape", [10**30, 48, 64]),
        ("shape", [5, 48, 10**9]),
        ("shape", [5, 48]),
        ("shape", [-1, 48, 64]),
        ("shape", []),
        ("shape", "5"),
        ("data_type", "object"),
        ("data_type", {"name": "fixed_length_utf32", "configuration": {"length_bytes": 10**9}}),
        ("data_type", "int64"),
        ("chunk_grid.configuration.chunk_shape", [5, 48, 64]),
        ("chunk_key_encoding", {"name": "default", "configuration": {"separator": "/"}}),
        ("fill_value", 0),
        ("codecs", []),
        ("codecs", [{"name": "numcodecs.pickle", "configuration": {}}]),
        ("codecs.1.name", "numcodecs.pickle"),
        ("codecs.0.configuration.endian", "big"),
        ("storage_transformers", [{"name": "elsewhere"}]),
        ("extension", {"must_understand": True}),
        ("zarr_format", 2),
        ("node_type", "group"),
    ],
    ids=str,
)
def test_a_volume_with_another_layout(keys: str, value: Any, path: Path) -> None:
    change(path / "ids.zarr" / "zarr.json", keys, value)
    refused(path)


def test_attributes_of_other_programs_are_accepted(path: Path) -> None:
    change(path / "ids.zarr" / "zarr.json", "attributes", {"ome": {"version": "0.5"}})
    assert len(Session.open(path)) == 5


# --- frames


def line_changed(path: Path, keys: str, value: Any, place: int = 2) -> None:
    log = path / "frames.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    single = path / "line.json"
    single.write_bytes(lines[place])
    change(single, keys, value)
    lines[place] = single.read_bytes() + b"\n"
    single.unlink()
    log.write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("index", 1),
        ("index", -1),
        ("index", 10**12),
        ("index", "2"),
        ("statistics", None),
        ("statistics.first", 0),
        ("statistics.count", 10**15),
        ("statistics.count", -3),
    ],
    ids=str,
)
def test_a_line_that_does_not_continue_the_one_before(keys: str, value: Any, path: Path) -> None:
    line_changed(path, keys, value)
    refused(path)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("time", "soon"),
        ("time", 1e999),
        ("cut", 0),
        ("log_posterior", "high"),
        ("milliseconds", [1]),
        ("milliseconds", {"engine": "fast"}),
        ("ids", 3),
        ("ids.bytes", -1),
        ("ids.crc32", 2**40),
        ("events", {}),
        ("events", [{}]),
        ("events", [7]),
        ("events", [{"kind": "birth", "time": 0, "batch": 0, "ids": [2**40], "log_hastings": None, "counts": [1]}]),
        ("events", [{"kind": "rumour", "time": 0, "batch": 0, "ids": [1], "log_hastings": None, "counts": [1]}]),
        ("events", [{"kind": "split", "time": 0, "batch": 0, "ids": [1, 1], "log_hastings": 0, "counts": [1, 1]}]),
    ],
    ids=str,
)
def test_a_line_with_invalid_values(keys: str, value: Any, path: Path) -> None:
    line_changed(path, keys, value)
    session = Session.open(path)
    with pytest.raises(SessionError, match=r"^Cannot read"):
        session.record(2)
    with pytest.raises(SessionError, match=r"^Cannot read"):
        list(session.results())
    assert session.record(1).index == 1


EVENT = {"kind": "birth", "time": 0, "batch": 0, "ids": [1], "log_hastings": None, "counts": [1.0]}
EDITS = [{"kind": "lock", "ids": [1], "values": {}}, {"kind": "change", "ids": [], "values": {"decay": 0.5}}]


def leaves(value: Any, place: str = "") -> Iterator[str]:
    """Dotted paths of all entries of a JSON value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield f"{place}{key}"
        yield from leaves(entry, f"{place}{key}.")


@pytest.mark.parametrize(
    "value", [None, [], [[]], {}, {"a": None}, "", "x", True, -1, 1.5, 10**400, 1e308], ids=lambda value: str(value)[:9]
)
def test_any_line_is_either_read_or_rejected(value: Any, path: Path) -> None:
    change(path / "manifest.json", "complete", False)
    line_changed(path, "events", [EVENT])
    line_changed(path, "edits", EDITS)
    log = path / "frames.jsonl"
    whole = log.read_bytes()
    for keys in leaves(json.loads(whole.splitlines()[2])):
        log.write_bytes(whole)
        line_changed(path, keys, value)
        for use in (read_all, prepare):
            with contextlib.suppress(SessionError):
                use(path)
    log.write_bytes(whole)
    assert read_all(path)[2].edits == tuple(Edit.from_dict(edit) for edit in EDITS)


def read_all(path: Path) -> list[FrameResult]:
    session = Session.open(path)
    for index in session.frames.tolist():
        with contextlib.suppress(SessionError):
            session.record(index)
    return list(session.results())


def prepare(path: Path) -> None:
    copy = Path(shutil.copytree(path, path.with_name("copy.scstream"), dirs_exist_ok=True))
    try:
        with Session.open(copy, writable=True) as session:
            resume(session, FakeSource(clip(5, cut=None)))
    finally:
        shutil.rmtree(copy)


def chunk_changed(path: Path, data: bytes, position: int = 2) -> None:
    """Replace the chunk, and its size and checksum in frames.jsonl."""
    (path / "ids.zarr" / f"{position}.0.0").write_bytes(data)
    line_changed(path, "ids.bytes", len(data), position)
    line_changed(path, "ids.crc32", zlib.crc32(data), position)


def packed(*shape: int, kind: str = "<i4", value: int = 3) -> bytes:
    return bytes(Zstd(level=1).encode(np.full(shape, value, kind)))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no chunk at all",
        packed(47, 64),
        packed(49, 64),
        packed(48, 64, kind="<i8"),
        packed(48, 64, value=-1),
        packed(48, 64)[:-3],
        packed(48, 64) + packed(48, 64),
        pickle.dumps(np.zeros((48, 64), np.int32)),
    ],
    ids=["empty", "text", "short", "long", "wide", "negative", "torn", "twice", "pickle"],
)
def test_a_chunk_with_invalid_content(data: bytes, path: Path) -> None:
    chunk_changed(path, data)
    session = Session.open(path)
    with pytest.raises(SessionError, match=r"Cannot read frame 2 of .*ids\.zarr/2\.0\.0"):
        session.ids(2)
    assert session.ids(1).shape == (48, 64)


def test_a_chunk_that_unpacks_to_gigabytes(path: Path) -> None:
    # A zstd frame without a content size, made of run-length blocks: 4 bytes for every 128 KiB.
    runs = [((131072 << 3) | 2 | (n == 65535)).to_bytes(3, "little") + b"\0" for n in range(65536)]
    header = b"\x28\xb5\x2f\xfd\x00\x50"
    chunk_changed(path, (header + b"".join(runs))[: 8 * 48 * 64])
    with pytest.raises(SessionError, match="Cannot read frame 2"):
        Session.open(path).ids(2)


@pytest.mark.parametrize("swap", [True, False])
def test_a_chunk_that_does_not_match_its_checksum(swap: bool, path: Path) -> None:
    chunk = path / "ids.zarr" / "2.0.0"
    other = (path / "ids.zarr" / "3.0.0").read_bytes()
    chunk.write_bytes(other if swap else chunk.read_bytes()[:-1] + b"x")
    session = Session.open(path)
    with pytest.raises(SessionError, match="checksum"):
        session.ids(2)


def test_a_chunk_too_large_to_be_read(path: Path) -> None:
    os.truncate(path / "ids.zarr" / "2.0.0", 1 << 32)
    with pytest.raises(SessionError, match="bytes, which exceeds the limit"):
        Session.open(path).ids(2)


def test_statistics_that_do_not_match_their_checksum(path: Path) -> None:
    data = bytearray((path / "statistics.bin").read_bytes())
    data[0] ^= 1
    (path / "statistics.bin").write_bytes(data)
    with pytest.raises(SessionError, match=r"statistics\.bin is damaged"):
        Session.open(path).statistics(0)


# --- links and pipes


@pytest.mark.parametrize(
    "name",
    ["manifest.json", "ids.zarr", "ids.zarr/zarr.json", "frames.jsonl", "statistics.bin", "models", "objects.json"],
)
def test_links_are_not_followed(name: str, path: Path, tmp_path: Path) -> None:
    shutil.move(path / name, tmp_path / "elsewhere")
    (path / name).symlink_to(tmp_path / "elsewhere")
    refused(path, "is a link")


def test_a_linked_lock_is_not_written(path: Path, tmp_path: Path) -> None:
    (path / "lock").unlink()
    (path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SessionError, match="Cannot open"):
        Session.open(path, writable=True)
    assert not (tmp_path / "elsewhere").exists()


def test_a_linked_chunk_is_neither_read_nor_written(path: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes((path / "ids.zarr" / "2.0.0").read_bytes())
    for position in (2, 5):
        (path / "ids.zarr" / f"{position}.0.0").unlink(missing_ok=True)
        (path / "ids.zarr" / f"{position}.0.0").symlink_to(secret)
    with pytest.raises(SessionError, match="is a link"):
        Session.open(path).ids(2)
    before = secret.read_bytes()
    change(path / "manifest.json", "complete", False)
    with Session.open(path, writable=True) as session:
        result = next(session.results(4))
        session.append(type(result)(5, 0.2, None, result.ids, (), result.statistics))
        assert session.ids(5).shape == (48, 64)
    assert secret.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes among the files of this system")
@pytest.mark.parametrize("name", ["manifest.json", "frames.jsonl", "names.json"])
def test_a_pipe_does_not_block(name: str, path: Path) -> None:
    (path / name).unlink()
    os.mkfifo(path / name)
    refused(path, "not a regular file")


# --- the user's marks


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("objects.json", {"objects": {}}),
        ("objects.json", {"objects": [7]}),
        ("objects.json", {"objects": [{"name": "../x", "colour": [0, 0, 0], "frame": 0, "ids": []}]}),
        ("objects.json", {"objects": [{"name": "x", "colour": [0, 0, 256], "frame": 0, "ids": []}]}),
        ("objects.json", {"objects": [{"name": "x", "colour": "red", "frame": 0, "ids": []}]}),
        ("objects.json", {"objects": [{"name": "x", "colour": [0, 0, 0], "frame": -1, "ids": []}]}),
        ("objects.json", {"objects": [{"name": "x", "colour": [0, 0, 0], "frame": 0, "ids": [1.5]}]}),
        ("objects.json", {"objects": [{"name": "x", "colour": [0, 0, 0], "frame": 0, "ids": [2**40]}]}),
        ("objects.json", {"objects": [{"name": "x", "colour": [0, 0, 0], "frame": 0, "ids": []}] * 2}),
        ("names.json", {"names": {"1": 2}, "colours": {}, "hidden": []}),
        ("names.json", {"names": {"one": "x"}, "colours": {}, "hidden": []}),
        ("names.json", {"names": {"-1": "x"}, "colours": {}, "hidden": []}),
        ("names.json", {"names": {"9" * 99: "x"}, "colours": {}, "hidden": []}),
        ("names.json", {"names": {}, "colours": {"1": [0, 0]}, "hidden": []}),
        ("names.json", {"names": {}, "colours": {}, "hidden": [True]}),
        ("names.json", {"names": {}, "colours": {}}),
    ],
    ids=str,
)
def test_marks_with_invalid_values(name: str, content: Any, path: Path) -> None:
    (path / name).write_text(json.dumps(content))
    part_refused(path, name)


def text(mask: bytes) -> str:
    return base64.b64encode(mask).decode()


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({}, "'edits' must be a list"),
        ([], "1 to 10000 edits"),
        ([7], "an edit of an object is invalid"),
        ([{"kind": "made", "frame": 0, "ids": []}] * 10_001, "at most 10000 entries"),
        ([{"kind": "drawn", "frame": 0, "ids": []}], "got 'drawn'"),
        ([{"kind": ["made"], "frame": 0, "ids": []}], "'kind' must be a text"),
        ([{"kind": "made", "frame": -1, "ids": []}], "'frame' must be a whole number"),
        ([{"kind": "made", "frame": 2**31, "ids": []}], "'frame' must be a whole number"),
        ([{"kind": "made", "frame": 0, "ids": [-1]}], "invalid id"),
        ([{"kind": "made", "frame": 0}], "'ids' must be a list"),
        ([{"kind": "made", "frame": 3, "ids": [], "stop": 3}], "cannot end at frame 3"),
        ([{"kind": "made", "frame": 3, "ids": [], "stop": "4"}], "'stop' must be a whole number"),
        ([{"kind": "made", "frame": 0, "ids": [], "mask": text(mask_to_png(MASK))}], "no other edit can have one"),
        ([{"kind": "painted", "frame": 0, "ids": []}], "must have a mask"),
        ([{"kind": "painted", "frame": 0, "ids": [], "mask": 7}], "'mask' must be a text"),
        ([{"kind": "painted", "frame": 0, "ids": [], "mask": "no base64!"}], "the mask of an edit is damaged"),
        ([{"kind": "painted", "frame": 0, "ids": [], "mask": "A" * (1 << 22 | 4)}], "at most 4194304 characters"),
        ([{"kind": "painted", "frame": 0, "ids": [], "mask": "AAAA"}], "a mask is not a PNG image"),
        ([{"kind": "painted", "frame": 0, "ids": [], "mask": text(mask_to_png(MASK[1:]))}], "a mask is 64 x 47"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_objects_with_invalid_edits(edits: Any, message: str, path: Path) -> None:
    content = {"objects": [{"name": "x", "colour": [0, 0, 0], "edits": edits}]}
    (path / "objects.json").write_text(json.dumps(content))
    with pytest.raises(SessionError, match=message):
        print(Session.open(path).objects)
    part_refused(path, "objects.json")


def png(*shape: int) -> bytes:
    done, encoded = cv2.imencode(".png", np.zeros(shape, np.uint8))
    assert done
    return encoded.tobytes()


@pytest.mark.parametrize(
    "content",
    [b"", b"x" * 100, png(47, 64), png(48, 64, 3), png(48, 64)[:-30], b"\x89PNG\r\n\x1a\n" + b"\xff" * 100],
    ids=["empty", "text", "size", "colour", "torn", "header"],
)
def test_malformed_masks(content: bytes, path: Path) -> None:
    (path / "masks.png").write_bytes(content)
    with pytest.raises(SessionError, match=r"masks\.png"):
        print(Session.open(path).masks)


@pytest.mark.parametrize("values", [np.zeros((48, 64, 4), np.uint16), np.zeros((48, 64, 3), np.uint8)])
def test_masks_with_other_pixels_are_rejected_before_they_are_decoded(
    values: np.ndarray, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cv2.imwrite(str(path / "masks.png"), values)
    monkeypatch.setattr(cv2, "imdecode", lambda *_: pytest.fail("the image was decoded"))
    with pytest.raises(SessionError, match=r"masks\.png is damaged"):
        print(Session.open(path).masks)


# --- snapshots


def broken_archive(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04 nothing")


def pickled_archive(path: Path) -> None:
    np.savez(path, meta=np.array([Trap()], dtype=object))


def exploding_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("meta.npy", "w") as entry:
        for _ in range(300):
            entry.write(bytes(1 << 20))


def foreign_archive(path: Path) -> None:
    np.savez(path, a=np.arange(3))


class Trap:
    """Creates the folder "sprung" if it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, ("sprung",)


@pytest.mark.parametrize("breaking", [broken_archive, pickled_archive, exploding_archive, foreign_archive])
def test_a_malformed_snapshot_is_not_used(
    breaking: Callable[[Path], None], path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    breaking(path / "models" / "000004.npz")
    change(path / "manifest.json", "complete", False)
    ids = volume(Session.open(path))
    with Session.open(path, writable=True) as session:
        resumption = resume(session, FakeSource(clip(5, cut=None)))
        assert resumption.start == 3
        assert list(resumption.run()) == []
        session.load_snapshot(4)
    np.testing.assert_array_equal(volume(Session.open(path)), ids)
    assert not (tmp_path / "sprung").exists()


def test_a_snapshot_of_a_missing_frame(path: Path) -> None:
    shutil.copy(path / "models" / "000004.npz", path / "models" / "000099.npz")
    refused(path, "frame 99 is missing")


def test_a_snapshot_of_other_settings(path: Path) -> None:
    change(path / "manifest.json", "settings.alpha", 5.0)
    change(path / "manifest.json", "complete", False)
    with (
        Session.open(path, writable=True) as session,
        pytest.raises(SessionError, match="does not match the session's settings"),
    ):
        resume(session, FakeSource(clip(5, cut=None)))
