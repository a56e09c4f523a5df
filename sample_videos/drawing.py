"""Anti-aliased shapes, noise textures and a canvas that holds a picture and its object ids.

A shape is a signed distance in pixels, negative inside, evaluated at every pixel centre. The canvas turns it
into coverage, blends the colour in linear light and adds the same coverage to the shape's id. So the id of a
pixel is that of the object that covers most of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Point = tuple[float, float]

WIDTH, HEIGHT = 384, 216
FAR = 1000.0  # a distance in pixels outside every shape
Y, X = (axis + 0.5 for axis in np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64))


def colour(code: str) -> Array:
    """Linear-light RGB of an sRGB code such as "#1f7a8c"."""
    srgb = np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def to_srgb8(linear: Array) -> NDArray[np.uint8]:
    """Encode linear-light RGB as 8-bit sRGB."""
    linear = np.clip(linear, 0, 1)
    srgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.rint(255 * srgb).astype(np.uint8)


def smoothstep(low: float, high: float, x: Array) -> Array:
    """Interpolate smoothly from 0 at `low` to 1 at `high`."""
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def mix(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Array:
    """Blend colours: `a` where t = 0, `b` where t = 1; `t` is a number or one value per pixel."""
    share = np.asarray(t, dtype=np.float64)[..., None]
    return np.asarray(a) * (1 - share) + np.asarray(b) * share


class Canvas:
    """A picture in linear light, and the share of every pixel that each object covers."""

    def __init__(self, ids: int) -> None:
        self.rgb = np.zeros((HEIGHT, WIDTH, 3))
        self.shares = np.zeros((ids, HEIGHT, WIDTH))

    def paint(self, coverage: ArrayLike, rgb: ArrayLike, id: int | None) -> None:
        """Blend a colour over the picture. Without id (shadows, thin lines) the objects do not change."""
        share = np.broadcast_to(np.asarray(coverage, dtype=np.float64), (HEIGHT, WIDTH))
        rows, columns = np.flatnonzero(share.any(axis=1)), np.flatnonzero(share.any(axis=0))
        if not rows.size:
            return
        box = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        share = share[box]
        self.rgb[box] = mix(self.rgb[box], np.broadcast_to(rgb, self.rgb.shape)[box], share)
        if id is not None:
            self.shares[:, *box] *= 1 - share
            self.shares[id][box] += share

    def fill(self, distance: Array, rgb: ArrayLike, id: int | None, opacity: float = 1.0) -> None:
        """Paint the inside of a shape."""
        self.paint(opacity * inside(distance), rgb, id)

    def pictures(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """The frame as 8-bit sRGB, and its id map."""
        return to_srgb8(self.rgb), self.shares.argmax(axis=0).astype(np.uint8)


def inside(distance: Array, blur: float = 1.0) -> Array:
    """Coverage of a shape: 1 inside, 0 outside, a ramp of `blur` pixels across the edge."""
    return np.clip(0.5 - distance / blur, 0, 1)


def _window(xs: Sequence[float], ys: Sequence[float], reach: float) -> tuple[slice, slice]:
    """Rows and columns around some points; outside of them a shape's exact distance does not matter."""
    margin = reach + 12
    rows = slice(max(0, int(min(ys) - margin)), max(0, int(max(ys) + margin) + 1))
    return rows, slice(max(0, int(min(xs) - margin)), max(0, int(max(xs) + margin) + 1))


def _on_canvas(window: tuple[slice, slice], distance: Array) -> Array:
    whole = np.full((HEIGHT, WIDTH), FAR)
    whole[window] = distance
    return whole


def ellipse(cx: float, cy: float, rx: float, ry: float, angle: float = 0.0) -> Array:
    """Distance to an ellipse rotated by `angle` radians."""
    window = _window([cx], [cy], max(rx, ry))
    x, y = X[window] - cx, Y[window] - cy
    c, s = np.cos(angle), np.sin(angle)
    u, v = x * c + y * s, y * c - x * s
    level = np.hypot(u / rx, v / ry)
    slope = np.hypot(u / rx**2, v / ry**2)
    return _on_canvas(window, level * (level - 1) / np.maximum(slope, 1e-9))


def limb(points: Sequence[Point], radii: Sequence[float]) -> Array:
    """Distance to a rounded stroke through `points`, with a radius at each point."""
    window = _window(*zip(*points, strict=True), max(radii))
    x, y = X[window], Y[window]
    nearest = np.full(x.shape, FAR)
    for (ax, ay), (bx, by), ra, rb in zip(points[:-1], points[1:], radii[:-1], radii[1:], strict=True):
        dx, dy = bx - ax, by - ay
        t = np.clip(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, 1e-9), 0, 1)
        np.minimum(nearest, np.hypot(x - ax - t * dx, y - ay - t * dy) - (ra + t * (rb - ra)), out=nearest)
    return _on_canvas(window, nearest)


def polygon(points: Sequence[Point]) -> Array:
    """Distance to a closed polygon, which may be concave."""
    window = _window(*zip(*points, strict=True), 0)
    x, y = X[window], Y[window]
    nearest = np.full(x.shape, FAR**2)
    sign = np.ones(x.shape)
    for (ax, ay), (bx, by) in zip(points, [*points[1:], points[0]], strict=True):
        dx, dy = bx - ax, by - ay
        t = np.clip(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, 1e-9), 0, 1)
        np.minimum(nearest, (x - ax - t * dx) ** 2 + (y - ay - t * dy) ** 2, out=nearest)
        crosses = ((ay <= y) != (by <= y)) & (((y - ay) * dx - (x - ax) * dy) * np.sign(dy) < 0)
        sign[crosses] *= -1
    return _on_canvas(window, sign * np.sqrt(nearest))


def rounded(distance: Array, depth: float, light: tuple[float, float, float]) -> Array:
    """Lambert shading in [0, 1] of a shape that bulges towards the viewer within `depth` pixels of its edge."""
    tilt = np.clip(1 + distance / depth, 0, 1)
    gy, gx = np.gradient(distance)
    direction = np.array(light) / np.linalg.norm(light)
    nz = np.sqrt(np.clip(1 - tilt**2, 0, 1))
    return np.clip(tilt * (gx * direction[0] + gy * direction[1]) + nz * direction[2], 0, 1)


@lru_cache(maxsize=32)
def _lattice(seed: int) -> Array:
    return np.random.default_rng(seed).random((256, 256))


def noise(x: Array, y: Array, seed: int) -> Array:
    """Smooth noise in [0, 1] with features of about one unit, periodic with 256 units."""
    table = _lattice(seed)
    x0, y0 = np.floor(x), np.floor(y)
    u, v = x - x0, y - y0
    u, v = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
    i0, j0 = x0.astype(np.int64) & 255, y0.astype(np.int64) & 255
    i1, j1 = (i0 + 1) & 255, (j0 + 1) & 255
    top = table[j0, i0] * (1 - u) + table[j0, i1] * u
    bottom = table[j1, i0] * (1 - u) + table[j1, i1] * u
    return top * (1 - v) + bottom * v


def fractal(x: Array, y: Array, seed: int, octaves: int = 4) -> Array:
    """Fractal noise in [0, 1]: a sum of `octaves` noises, each twice as fine and half as strong."""
    total = np.zeros(np.broadcast_shapes(x.shape, y.shape))
    for octave in range(octaves):
        scale = 2.0**octave
        total += noise(x * scale + 17.3 * octave, y * scale + 5.7 * octave, seed + octave) / scale
    return total / (2 - 2.0 ** (1 - octaves))


def cells(x: Array, y: Array, seed: int) -> tuple[Array, Array, Array]:
    """Cellular noise with cells of one unit: distances to the nearest two centres, and a random number per cell."""
    jitter_x, jitter_y, shade = _lattice(seed), _lattice(seed + 1), _lattice(seed + 2)
    x0, y0 = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    first, second, tone = np.full(x.shape, np.inf), np.full(x.shape, np.inf), np.zeros(x.shape)
    for oy in (-1, 0, 1):
        for ox in (-1, 0, 1):
            i, j = (x0 + ox) & 255, (y0 + oy) & 255
            away = np.hypot(x0 + ox + jitter_x[j, i] - x, y0 + oy + jitter_y[j, i] - y)
            closer = away < first
            second = np.where(closer, first, np.minimum(second, away))
            tone = np.where(closer, shade[j, i], tone)
            first = np.where(closer, away, first)
    return first, second, tone


@dataclass(frozen=True)
class Waves:
    """A water surface below the horizon, with its coordinates x and z, heights and slopes per pixel."""

    below: Array
    x: Array
    z: Array
    height: Array
    slope: Array


def waves(horizon: float, t: float, pan: float = 0.0) -> Waves:
    """Choppy water in perspective at time `t` (0 to 1 over a clip), with heights in [0, 1]."""
    below = np.maximum(Y - horizon, 0)
    # A logarithmic depth keeps the proportions of the waves constant from the horizon to the viewer.
    z = -13 * np.log(below + 20)
    x = (X - WIDTH / 2 + pan) * 5.2 / (below + 20)
    height = _swell(x, z, t)
    return Waves(below, x, z, height, _swell(x, z + 0.25, t) - height)


def _swell(x: Array, z: Array, t: float) -> Array:
    """Heights of a long swell towards the viewer with smaller crossing waves."""
    warp = fractal(x / 3, z / 4 + 0.6 * t, seed=41, octaves=3)
    swell = 0.5 + 0.5 * np.sin(1.7 * z + 0.25 * x + 8.0 * t + 5.0 * warp)
    chop = fractal(x * 0.8 + 1.6 * t, z * 0.9 + 4.2 * t, seed=43)
    cross = fractal(x * 0.7 - 1.9 * t, z * 0.7 + 1.8 * t, seed=53)
    return 0.3 * swell + 0.4 * chop + 0.3 * cross
