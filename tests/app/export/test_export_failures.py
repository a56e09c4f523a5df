"""Full disks, conflicting files and read-only folders: one clear message, and no partial files."""

import os
import resource
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.export_scenes import leftovers, result
from helpers.exports import KITE, full_disk, make_job, needs, with_masks
from scstream_app.export import FORMATS, Exporter, ExportError
from scstream_app.export.atomic_files import discard
from scstream_app.export.exporter import open_writer
from scstream_app.export.writer import FileWriter

SHAPE = (90, 120)


@pytest.fixture(params=sorted(FORMATS))
def name(request):
    if FORMATS[request.param].library:
        pytest.importorskip(FORMATS[request.param].library)
    return request.param


def noisy(count=3):
    """Frames that no codec makes small."""
    rng = np.random.default_rng(0)
    ids = np.kron(rng.permutation(300).reshape(15, 20), np.ones((6, 6), int))[: SHAPE[0], : SHAPE[1]]
    rgb = rng.integers(0, 256, (*SHAPE, 3)).astype(np.uint8)
    one = result(0, np.where(rng.random(SHAPE) < 0.1, 7, ids), rgb=rgb)
    return [replace(one, index=n, time=n / 25.0, rgb=np.roll(rgb, n)) for n in range(count)]


def export(folder, name, results):
    with open_writer(folder, name, make_job(SHAPE[1], SHAPE[0], 25.0, **needs(name))) as writer:
        for one in with_masks(results, (KITE,)):
            writer.write(one)


@contextmanager
def files_limited_to(size):
    """What the system does to a program that may not write more: the same as a full disk, at any call."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 90])
def test_file_that_cannot_grow_is_named_and_removed(tmp_path, name, size):
    results = noisy()
    with files_limited_to(size), pytest.raises(ExportError) as caught:
        export(tmp_path, name, results)
    message = str(caught.value)
    assert message.startswith(f"Cannot write '{tmp_path}")
    assert "\n" not in message
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_folder_that_is_still_written_to_is_removed(tmp_path, monkeypatch):
    folder = tmp_path / "clip.zarr"
    folder.mkdir()
    remove, late = shutil.rmtree, [folder / "late.json"]

    def remove_and_write(path, **options):
        remove(path, **options)
        if late:
            path.mkdir()
            late.pop().write_text("{}")

    monkeypatch.setattr(shutil, "rmtree", remove_and_write)
    discard(folder)
    assert not folder.exists()


def test_full_disk_at_the_very_end(tmp_path, name, monkeypatch):
    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(ExportError, match=r"Cannot write '.*': No space left on device\."):
        export(tmp_path, name, noisy(1))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.fixture
def small_disk(tmp_path):
    """A real disk of 64 kilobytes, where the tests may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_disk_that_is_really_full(small_disk, name):
    with pytest.raises(ExportError, match=r"Cannot write '.*': .*(No space left on device|full)"):
        export(small_disk, name, noisy(150 if name in ("davis", "object", "csv", "matte") else 40))
    assert not leftovers(small_disk)
    if issubclass(FORMATS[name], FileWriter):
        assert not list(small_disk.iterdir())


def test_one_writer_fills_the_disk(small_disk):
    def work():
        with Exporter(small_disk, make_job(SHAPE[1], SHAPE[0], formats=["overlay"])) as exporter:
            for one in noisy(20):
                exporter.write(one)

    with pytest.raises(ExportError, match="No space left on device"):
        work()
    whole = list((small_disk / "overlay").iterdir())
    assert whole
    assert all(path.read_bytes().endswith(b"IEND\xaeB`\x82") for path in whole)


def test_file_in_the_way_of_the_folder(tmp_path, name):
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(ExportError, match=r"Cannot write '.*': '.*out' is a file, and a folder is needed there\."):
        export(tmp_path / "out", name, noisy(1))
    assert (tmp_path / "out").read_text() == "in the way"


def test_what_is_in_the_way_of_the_file(tmp_path, name):
    with open_writer(tmp_path / "probe", name, make_job(SHAPE[1], SHAPE[0], 25.0, **needs(name))) as writer:
        target = tmp_path / "out" / writer.path.name
    folder_expected = writer.path.suffix in (".zarr", "")
    target.parent.mkdir()
    target.write_text("in the way") if folder_expected else target.mkdir()
    with pytest.raises(ExportError, match=r"Cannot write '.*': .* is needed"):
        export(tmp_path / "out", name, noisy(1))
    assert [path.name for path in (tmp_path / "out").iterdir()] == [target.name]


@pytest.fixture
def locked(tmp_path):
    """A folder that may be read but not written to, also where the tests are run by the superuser."""
    if os.geteuid():
        tmp_path.chmod(0o555)
        yield tmp_path
        tmp_path.chmod(0o755)
        return
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    os.seteuid(65_534)
    yield folder
    os.seteuid(0)
    shutil.rmtree(folder)


@pytest.mark.parametrize("deep", [False, True])
def test_locked_folder(locked, name, deep):
    with pytest.raises(ExportError, match=r"Cannot write '.*': Permission denied\."):
        export(locked / "out" if deep else locked, name, noisy(1))
    assert not list(locked.iterdir())


def test_folder_that_may_not_even_be_looked_into(locked, name, tmp_path):
    if os.access(tmp_path, os.X_OK, effective_ids=True):
        pytest.skip("this user may look into the tests' folder")
    with pytest.raises(ExportError, match=r"Cannot write '.*': Permission denied\."):
        export(tmp_path, name, noisy(1))
