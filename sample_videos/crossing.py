"""Sample clip: three fish cross in a pond, occlude each other, and one passes under a lily pad."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from drawing import (
    Array,
    Canvas,
    Point,
    X,
    Y,
    cells,
    colour,
    ellipse,
    fractal,
    inside,
    limb,
    mix,
    noise,
    polygon,
    rounded,
    smoothstep,
)

FRAMES = 80
NAMES = ("pond bed", "blue fish", "white fish", "orange fish", "lily pads", "flower")
BED, BLUE, WHITE, ORANGE, PADS, FLOWER = range(len(NAMES))
OBJECTS = {"blue fish": [BLUE], "white fish": [WHITE], "orange fish": [ORANGE]}

LIGHT = (-0.4, -0.6, 0.7)


@dataclass(frozen=True)
class Fish:
    """A fish: its colours, its length, the start, bend and end of its path, and the phase of its tail beat."""

    id: int
    body: str
    fin: str
    back: str
    length: float
    path: tuple[Point, Point, Point]
    beat: float


# Sorted from the deepest fish to the one nearest to the surface.
SHOAL = (
    Fish(BLUE, "#4560ad", "#6f86c9", "#26366f", 100, ((168, 166), (196, 110), (238, 46)), 0.3),
    Fish(WHITE, "#eee7da", "#f6f1e6", "#c9bfae", 104, ((326, 50), (220, 84), (62, 150)), 0.0),
    Fish(ORANGE, "#ee6a1f", "#f59b55", "#b63c10", 108, ((62, 50), (150, 128), (304, 162)), 0.6),
)


def draw(index: int) -> Canvas:
    """Draw one frame."""
    t = index / (FRAMES - 1)
    canvas = Canvas(len(NAMES))
    canvas.paint(1, _bed() * _caustics(t)[..., None], BED)
    spines = [_spine(fish, t) for fish in SHOAL]
    for spine, fish in zip(spines, SHOAL, strict=True):
        shade = limb([(x + 9, y + 12) for x, y in spine], _girth(fish))
        canvas.paint(0.5 * inside(shade, 9), colour("#0b1f22"), None)
    for spine, fish in zip(spines, SHOAL, strict=True):
        _fish(canvas, fish, spine, t)
    _plants(canvas, t)
    return canvas


@lru_cache(maxsize=1)
def _bed() -> Array:
    bend_x, bend_y = noise(X / 30, Y / 30, seed=5) * 14, noise(X / 30, Y / 30, seed=6) * 14
    first, second, tone = cells((X + bend_x) / 17, (Y + bend_y) / 15, seed=7)
    stone = mix(colour("#5d716a"), colour("#8e967f"), tone)
    stone = mix(stone, colour("#a08c70"), smoothstep(0.78, 0.84, tone))
    dome = smoothstep(0.0, 0.42, second - first)
    grain = 0.8 + 0.4 * fractal(X / 6, Y / 6, seed=12)
    return mix(colour("#3a4f4b"), stone * (1.05 - 0.3 * first)[..., None], dome) * grain[..., None]


def _caustics(t: float) -> Array:
    """Brightness of the bed: moving caustics of the water surface."""
    a = fractal(X / 38 + 1.1 * t, Y / 34 - 0.8 * t, seed=21, octaves=3)
    b = fractal(X / 41 - 0.9 * t, Y / 37 + 1.0 * t, seed=25, octaves=3)
    web = np.exp(-26 * np.abs(a - b))
    return 0.62 + 0.6 * web


def _spine(fish: Fish, t: float) -> list[Point]:
    """Points from the nose to the root of the tail; the swing grows towards the tail."""
    start, bend, end = (np.array(p, dtype=np.float64) for p in fish.path)
    nose = (1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end
    ahead = 2 * (1 - t) * (bend - start) + 2 * t * (end - bend)
    ahead /= np.hypot(*ahead)
    side = np.array([-ahead[1], ahead[0]])
    along = np.linspace(0, 1, 15)
    swing = fish.length * 0.085 * (0.12 + along**1.6) * np.sin(2 * np.pi * (0.75 * along - 3.2 * t - fish.beat))
    centre = nose + 0.4 * fish.length * ahead
    return [tuple(centre - 0.8 * fish.length * s * ahead + w * side) for s, w in zip(along, swing, strict=True)]


def _girth(fish: Fish) -> list[float]:
    along = np.linspace(0, 1, 15)
    profile = 0.118 * np.sin(np.pi * np.clip(0.13 + 0.80 * along**0.8, 0, 1)) ** 0.9 * (1 - 0.35 * along) + 0.012
    return list(fish.length * profile)


def _fish(canvas: Canvas, fish: Fish, spine: list[Point], t: float) -> None:
    size = fish.length
    root, before = np.array(spine[-1]), np.array(spine[-3])
    back = (root - before) / np.hypot(*(root - before))
    side = np.array([-back[1], back[0]])
    curl = 0.10 * np.sin(2 * np.pi * (0.85 - 3.2 * t - fish.beat))

    def tail(along: float, across: float) -> Point:
        return tuple(root + size * (along * back + (across + 2 * curl * along) * side))

    upper = [(-0.03, -0.015), (0.12, -0.09), (0.23, -0.115)]
    lower = [(along, -across) for along, across in reversed(upper)]
    fan = polygon([tail(*corner) for corner in [*upper, (0.16, 0), *lower]])
    _fins(canvas, fish, spine, t)
    canvas.fill(fan - 0.8, colour(fish.fin) * _rays(fan), fish.id, opacity=0.9)
    body = limb(spine, _girth(fish))
    shine = rounded(body, 0.13 * size, LIGHT)
    canvas.fill(body, colour(fish.body) * (0.5 + 0.62 * shine)[..., None], fish.id)
    ridge = limb(spine[4:11], [share * size for share in (0.004, 0.012, 0.018, 0.02, 0.016, 0.01, 0.004)])
    canvas.fill(ridge, colour(fish.back), fish.id, opacity=0.8)
    for sign in (-1, 1):
        x, y = _beside(spine, 1, sign * 0.068 * size)
        canvas.fill(ellipse(x, y, 1.7, 1.7), colour("#14161c"), fish.id)


def _rays(distance: Array) -> Array:
    return (0.85 + 0.25 * smoothstep(-6, 0, distance))[..., None]


def _beside(spine: list[Point], joint: int, away: float) -> Point:
    """A point `away` pixels to the side of the spine."""
    (ax, ay), (bx, by) = spine[joint], spine[joint + 1]
    length = np.hypot(bx - ax, by - ay)
    return ax - away * (by - ay) / length, ay + away * (bx - ax) / length


def _fins(canvas: Canvas, fish: Fish, spine: list[Point], t: float) -> None:
    size = fish.length
    (ax, ay), (bx, by) = spine[3], spine[5]
    heading = np.arctan2(by - ay, bx - ax)
    flap = 0.18 * np.sin(2 * np.pi * (2.1 * t + fish.beat))
    for joint, reach, long in ((4, 0.15, 0.105), (8, 0.10, 0.06)):
        for sign in (-1, 1):
            x, y = _beside(spine, joint, sign * reach * size)
            fin = ellipse(x, y, long * size, 0.042 * size, heading + sign * (0.75 + flap))
            canvas.fill(fin, colour(fish.fin) * _rays(fin), fish.id, opacity=0.85)


def _plants(canvas: Canvas, t: float) -> None:
    sway = 2.2 * np.sin(2 * np.pi * 0.8 * t)
    pads = [
        (330 + sway, 168 + 0.6 * sway, 37, 2.6),
        (40 - 0.7 * sway, 186 + 0.5 * sway, 31, -0.9),
        (94 - 0.8 * sway, 204, 23, 0.4),
        (352 + 0.6 * sway, 22, 27, 2.0),
    ]
    for cx, cy, radius, _ in pads:
        shadow = ellipse(cx + 7, cy + 9, radius, radius * 0.94)
        canvas.paint(0.5 * inside(shadow, 9), colour("#0b1f22"), None)
    for cx, cy, radius, notch in pads:
        _pad(canvas, cx, cy, radius, notch)
    _flower(canvas, 49 - 0.7 * sway, 179 + 0.5 * sway)


def _pad(canvas: Canvas, cx: float, cy: float, radius: float, notch: float) -> None:
    disc = ellipse(cx, cy, radius, 0.94 * radius)
    sides = (1.3 * radius * np.exp(1j * (notch + turn)) for turn in (-0.2, 0.2))
    wedge = polygon([(cx, cy), *((cx + side.real, cy + side.imag) for side in sides)])
    leaf = np.maximum(disc, -wedge)
    angle = np.arctan2(Y - cy, X - cx) - notch
    vein = smoothstep(0.86, 1.0, np.cos(11 * angle)) * smoothstep(-radius, -0.6 * radius, disc) * 0.35
    tone = mix(colour("#3f7d3a"), colour("#6fa84b"), fractal((X - cx) / 12 + 40, (Y - cy) / 12 + 40, seed=33))
    tone = mix(tone, colour("#9cc46a"), vein)
    tone = mix(tone, colour("#2c5a31"), smoothstep(-2.5, 0, leaf) * 0.35)
    canvas.fill(leaf, tone * (0.8 + 0.3 * rounded(disc, 2.2 * radius, LIGHT))[..., None], PADS)


def _flower(canvas: Canvas, cx: float, cy: float) -> None:
    rings = ((8, 12.5, "#e889ad"), (7, 8.5, "#f3a9c4"), (5, 5.0, "#fbd3e0"))
    for ring, (count, reach, code) in enumerate(rings):
        for k in range(count):
            angle = 2 * np.pi * (k + 0.5 * ring) / count
            x, y = cx + 0.62 * reach * np.cos(angle), cy + 0.62 * reach * np.sin(angle)
            petal = ellipse(x, y, 0.6 * reach, 0.28 * reach, angle)
            canvas.fill(petal, mix(colour(code), colour("#d9608f"), smoothstep(-2, 0.5, petal) * 0.35), FLOWER)
    canvas.fill(ellipse(cx, cy, 3.0, 3.0), colour("#f4c430"), FLOWER)
