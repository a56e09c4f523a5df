"""EXR images: linear colours, ids, and Cryptomatte layers decoded as compositing programs do it."""

import json
import struct
import sys

import numpy as np
import pytest
from scipy import ndimage

from helpers.export_scenes import result, story
from helpers.exports import KITE, export, made_of
from scstream_app.export import ExportError, cryptomatte

OpenEXR = pytest.importorskip("OpenEXR")


def read(path):
    """Header and channels (by their single names) of an image."""
    with OpenEXR.File(str(path), separate_channels=True) as file:
        return dict(file.header()), {name: channel.pixels.copy() for name, channel in file.channels().items()}


def murmur3(data):
    """MurmurHash3 of 32 bits with seed 0, from its definition."""
    mask, value, whole = 0xFFFFFFFF, 0, len(data) - len(data) % 4

    def mix(block):
        block = block * 0xCC9E2D51 & mask
        return (block << 15 | block >> 17) * 0x1B873593 & mask

    for (block,) in struct.iter_unpack("<I", data[:whole]):
        value ^= mix(block)
        value = ((value << 13 | value >> 19) & mask) * 5 + 0xE6546B64 & mask
    if data[whole:]:
        value ^= mix(int.from_bytes(data[whole:], "little"))
    value ^= len(data)
    value = (value ^ value >> 16) * 0x85EBCA6B & mask
    value = (value ^ value >> 13) * 0xC2B2AE35 & mask
    return value ^ value >> 16


def layers(header):
    """Names of the Cryptomatte layers, each with its manifest."""
    found = {}
    for name in header:
        if name.startswith("cryptomatte/") and name.endswith("/name"):
            key = name.removesuffix("/name")
            layer = header[name]
            assert key == f"cryptomatte/{murmur3(layer.encode()):08x}"[:19]
            assert (header[f"{key}/hash"], header[f"{key}/conversion"]) == ("MurmurHash3_32", "uint32_to_float32")
            found[layer] = json.loads(header[f"{key}/manifest"])
    return found


def matte(channels, layer, name):
    """Coverage of a name, found by its hash alone as in a compositing program."""
    bits = murmur3(name.encode())
    if bits >> 23 & 255 in (0, 255):
        bits ^= 1 << 23
    (wanted,) = struct.unpack("<f", struct.pack("<I", bits))
    pairs = (("R", "G"), ("B", "A"))
    return sum(channels[f"{layer}00.{g}"] * (channels[f"{layer}00.{r}"] == np.float32(wanted)) for r, g in pairs)


@pytest.mark.parametrize(
    ("name", "expected"), [("", 0), ("hello", 0x248BFA47), ("hello, world", 0x149BBB7F), ("Hello, world!", 0xC0363E43)]
)
def test_hash_is_the_published_one(name, expected):
    assert murmur3(name.encode()) == cryptomatte._murmur(name) == expected


@pytest.mark.parametrize("length", range(9))
def test_hash_of_any_length_and_language(length):
    name = "Drächen✓x"[:length]
    assert cryptomatte._murmur(name) == murmur3(name.encode())


def test_no_id_is_zero_infinite_or_not_a_number():
    assert cryptomatte.name_hash("") == 1 << 23
    ids = np.array([cryptomatte.name_hash(f"segment {id}") for id in range(2000)], np.uint32).view(np.float32)
    assert np.isfinite(ids).all()
    assert (np.abs(ids) >= np.finfo(np.float32).tiny).all()
    # An exponent of 0 or 255 occurs once in 128 names.
    raw = np.array([cryptomatte._murmur(f"segment {id}") for id in range(2000)])
    assert np.isin(raw >> 23 & 255, [0, 255]).sum() > 5


def test_every_segment_can_be_picked_by_name(tmp_path):
    results = story()
    results[2].ids[0, 0], results[2].ids[0, 1] = 100_000, -1
    path = export(tmp_path, "exr", results, names={1: 'Drächen "x"'})
    assert sorted(file.name for file in path.iterdir()) == [f"{n:05d}.exr" for n in range(5)]
    header, channels = read(path / "00002.exr")
    ids = results[2].ids
    names = {id: 'Drächen "x" (1)' if id == 1 else f"segment {id}" for id in np.unique(ids) if id >= 0}
    manifests = layers(header)
    assert list(manifests) == ["segments"]
    assert set(manifests["segments"]) == set(names.values())
    for id, name in names.items():
        np.testing.assert_array_equal(matte(channels, "segments", name), ids == id)
        assert int(manifests["segments"][name], 16) == channels["segments00.R"].view(np.uint32)[ids == id][0]
    assert channels["segments00.G"][0, 1] == 0.0
    assert channels["id"].dtype == np.uint32
    np.testing.assert_array_equal(channels["id"], ids + 1)


def test_objects_have_a_layer_of_their_own(tmp_path):
    results = story()
    header, channels = read(export(tmp_path, "exr", results, objects=(KITE, made_of("strip", 2))) / "00003.exr")
    assert set(layers(header)["objects"]) == {"kite", "strip"}
    kite, strip = np.isin(results[3].ids, [1, 3]), results[3].ids == 2
    np.testing.assert_array_equal(matte(channels, "objects", "kite"), kite)
    np.testing.assert_array_equal(matte(channels, "objects", "strip"), strip)
    np.testing.assert_array_equal(channels["A"], kite | strip)


def to_srgb(linear):
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055)


def test_colours_are_linear_and_premultiplied(tmp_path):
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    one = result(0, np.where(levels < 128, 1, 0), rgb=np.dstack([levels, levels.T, 255 - levels]))
    header, opaque = read(export(tmp_path / "all", "exr", [one]) / "00000.exr")
    assert all(opaque[name].dtype == np.float16 for name in "RGBA")
    assert (opaque["A"] == 1).all()
    for place, name in enumerate("RGB"):
        back = 255 * to_srgb(opaque[name].astype(float))
        np.testing.assert_allclose(back, one.picture[..., place], atol=0.1)
    assert header["chromaticities"][:2] == pytest.approx((0.64, 0.33))
    assert (header["framesPerSecond"], header["scstream/frame"], header["scstream/time"]) == (25, 0, "0.0")
    # 18 % grey is level 118 of sRGB.
    assert opaque["R"][118 // 16, 118 % 16] == pytest.approx(0.181, abs=1e-3)
    _, cut = read(export(tmp_path / "object", "exr", [one], objects=(KITE,)) / "00000.exr")
    for name in "RGB":
        np.testing.assert_array_equal(cut[name], np.where(levels < 128, opaque[name], 0))


def test_soft_edges_are_in_alpha_and_colour(tmp_path):
    ids = np.zeros((24, 32), np.int32)
    ids[6:18, 8:24] = 1
    blurred = ndimage.gaussian_filter(np.where(ids == 1, 230.0, 40.0), 1.5)
    one = result(0, ids, rgb=blurred.astype(np.uint8)[..., None].repeat(3, 2))
    _, channels = read(export(tmp_path, "exr", [one], objects=(KITE,), soft_edges=True) / "00000.exr")
    alpha = channels["A"].astype(float)
    soft = (alpha > 0) & (alpha < 1)
    assert soft.any()
    straight = 255 * to_srgb(channels["R"].astype(float)[soft] / alpha[soft])
    np.testing.assert_allclose(straight, one.picture[..., 0][soft], atol=1.0)


def test_without_its_library_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    message = r"Cannot write '.*exr': OpenEXR is not installed\. Install it with: pip install 'scstream-studio\[exr\]'"
    with pytest.raises(ExportError, match=message):
        export(tmp_path, "exr", story())
    assert not list(tmp_path.iterdir())
