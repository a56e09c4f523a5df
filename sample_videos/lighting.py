"""Sample clip: a still life while the light changes from a warm lamp on the left to cool daylight on the right."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from drawing import (
    Array,
    Canvas,
    Point,
    X,
    Y,
    colour,
    ellipse,
    fractal,
    inside,
    limb,
    mix,
    noise,
    polygon,
    smoothstep,
)

FRAMES = 80
NAMES = ("wall", "table", "book", "vase", "leaves", "mug", "orange", "apple", "lemon")
WALL, TABLE, BOOK, VASE, LEAVES, MUG, ORANGE, APPLE, LEMON = range(len(NAMES))
OBJECTS = {"vase": [VASE, LEAVES], "mug": [MUG], "orange": [ORANGE], "apple": [APPLE], "lemon": [LEMON]}

TABLE_EDGE = 138.0
# Positions of the objects on the table: centres and radii of their shadows.
FEET = (
    (86, 178, 46, 6),
    (196, 176, 26, 7),
    (288, 180, 27, 7),
    (144, 192, 19, 6),
    (228, 195, 18, 5),
    (339, 190, 22, 5),
)


@dataclass(frozen=True)
class Light:
    """Direction of the light, and the colours of direct and ambient light."""

    x: float
    y: float
    z: float
    direct: Array
    ambient: Array

    def on(self, nx: Array, ny: Array, nz: Array) -> Array:
        """Light that a matt surface with this normal reflects to the viewer."""
        return self.flat(np.clip(nx * self.x + ny * self.y + nz * self.z, 0, None)[..., None])

    def flat(self, share: ArrayLike) -> Array:
        """Light that a surface reflects if it receives this share of the direct light."""
        return self.ambient + self.direct * np.asarray(share)

    def gloss(self, nx: Array, ny: Array, nz: Array, sharpness: float) -> Array:
        """Specular light that a smooth surface reflects to the viewer."""
        half = np.sqrt(2 + 2 * self.z)
        towards = np.clip((nx * self.x + ny * self.y + nz * (1 + self.z)) / half, 0, 1)
        return self.direct * (towards**sharpness)[..., None]


def light_at(t: float) -> Light:
    """The light at time `t`, 0 to 1 over the clip."""
    swing = smoothstep(0, 1, np.array(t)).item()
    direction = np.array([-0.85 + 1.55 * swing, -0.45 - 0.25 * swing, 0.62])
    direction /= np.linalg.norm(direction)
    tint = mix(np.array([1.22, 0.84, 0.48]), np.array([0.90, 1.02, 1.16]), swing)
    strength = 0.50 + 0.95 * swing
    grey = 0.4 * tint + 0.6 * tint.mean()
    return Light(*direction, direct=strength * tint, ambient=0.30 * strength * grey)


def draw(index: int) -> Canvas:
    """Draw one frame."""
    light = light_at(index / (FRAMES - 1))
    canvas = Canvas(len(NAMES))
    _room(canvas, light)
    for foot in FEET:
        _shadow(canvas, light, *foot)
    _book(canvas, light)
    _leaves(canvas, light)
    _vase(canvas, light)
    _mug(canvas, light)
    _fruit(canvas, light)
    return canvas


@lru_cache(maxsize=1)
def _plaster() -> Array:
    tone = 0.88 + 0.24 * fractal(X / 40, Y / 40, seed=3, octaves=5)
    return colour("#b4b7ae") * tone[..., None]


@lru_cache(maxsize=1)
def _wood() -> Array:
    depth = 26 * np.log(np.maximum(Y - TABLE_EDGE, 0) + 30)
    along = (X - 192) * 60 / (np.maximum(Y - TABLE_EDGE, 0) + 60) + 300
    wander = fractal(along / 60, depth / 5, seed=9, octaves=3)
    grain = 0.5 + 0.5 * np.sin(depth * 2.2 + 11 * wander)
    fibre = noise(along / 14, depth * 2.5, seed=13)
    board = np.floor(depth / 14)
    seam = smoothstep(0.25, 0.0, np.abs(depth - 14 * np.round(depth / 14)))
    tone = mix(colour("#7d4f2c"), colour("#a8743f"), 0.6 * grain + 0.4 * fibre)
    tone = tone * (0.9 + 0.12 * np.mod(board * 0.618, 1))[..., None]
    return mix(tone, colour("#3f2614"), 0.75 * seam)


def _room(canvas: Canvas, light: Light) -> None:
    pool = np.exp(-(((X - 192 - 230 * light.x) / 230) ** 2) - ((Y - 40) / 190) ** 2)
    canvas.paint(1, _plaster() * light.flat((0.16 + 0.55 * pool)[..., None]), WALL)
    pool = np.exp(-(((X - 192 - 210 * light.x) / 240) ** 2))
    shine = light.flat((0.28 + 0.5 * pool)[..., None])
    canvas.fill(TABLE_EDGE - Y, _wood() * shine, TABLE)
    canvas.paint(0.35 * inside(np.abs(Y - TABLE_EDGE) - 1.5, 5), colour("#120b06"), None)


def _shadow(canvas: Canvas, light: Light, cx: float, cy: float, rx: float, ry: float) -> None:
    """Draw a soft shadow on the table, away from the light, and a dark contact shadow."""
    cast = ellipse(cx - 36 * light.x, cy - 1, rx + 20 * abs(light.x), ry)
    on_table = inside(TABLE_EDGE - Y)
    canvas.paint(0.5 * inside(cast, 8) * on_table, colour("#150c07"), None)
    canvas.paint(0.6 * inside(ellipse(cx, cy, rx, 0.75 * ry), 5) * on_table, colour("#150c07"), None)


def _book(canvas: Canvas, light: Light) -> None:
    """Draw two books, one lying on the other."""
    zero = np.zeros_like(X)
    front = light.on(zero, zero, zero + 1)
    top = light.on(zero, zero - 0.9, zero + 0.35)
    for x0, x1, y0, y1, slant, code in ((40, 138, 163, 181, 9, "#7a3f86"), (48, 128, 147, 163, 8, "#94519c")):
        lid = polygon([(x0, y0), (x1, y0), (x1 - slant, y0 - 8), (x0 + slant, y0 - 8)])
        spine = polygon([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
        canvas.fill(lid - 0.3, colour(code) * top, BOOK)
        round_back = 0.75 + 0.25 * np.cos(np.pi * (Y - (y0 + y1) / 2) / (1.3 * (y1 - y0)))
        canvas.fill(spine - 0.6, colour(code) * front * round_back[..., None], BOOK)
        for band in (x0 + 10, x1 - 10):
            gilt = polygon([(band - 1.5, y0), (band + 1.5, y0), (band + 1.5, y1), (band - 1.5, y1)])
            canvas.fill(gilt, colour("#c9a24a") * front, BOOK)


def _turned(
    canvas: Canvas, light: Light, cx: float, ys: Sequence[float], radii: Sequence[float], code: str, id: int
) -> None:
    """Draw a glossy solid of revolution, given its radius at each height."""
    radius = np.interp(Y, ys, radii)
    nx = np.clip((X - cx) / radius, -1, 1)
    nz = np.sqrt(1 - nx**2)
    foot = ys[-1] + 3.5 * nz
    distance = np.maximum(np.abs(X - cx) - radius, np.maximum(ys[0] - Y, Y - foot))
    ny = -np.interp(Y, ys, np.gradient(np.asarray(radii, dtype=np.float64), ys)) * 0.8
    size = np.sqrt(1 + ny**2)
    normal = (nx / size, ny / size, nz / size)
    canvas.fill(distance, colour(code) * light.on(*normal) + 0.35 * light.gloss(*normal, 40), id)


def _vase(canvas: Canvas, light: Light) -> None:
    ys = np.linspace(84, 176, 24)
    u = np.linspace(0, 1, 24)
    belly = 17 * np.sin(np.pi * np.clip(u * 1.05 - 0.12, 0, 1)) ** 1.4
    radii = 9 + belly + 5 * np.exp(-((u / 0.07) ** 2)) + 4 * smoothstep(0.85, 1, u)
    _turned(canvas, light, 196, ys, radii, "#2a5db0", VASE)
    canvas.fill(ellipse(196, 84, 14, 3.2), colour("#0e1c36") * (light.ambient * 2), VASE)
    rim = np.abs(ellipse(196, 84, 14, 3.2)) - 0.8
    canvas.fill(rim, colour("#5b86cc") * light.flat(0.6), VASE)


def _leaves(canvas: Canvas, light: Light) -> None:
    """Draw three twigs in the vase, with leaves on both sides."""
    for lean, top in ((-46, 22), (6, 10), (52, 28)):
        steps = np.linspace(0, 1, 9)
        twig = [(196 + 0.15 * lean + lean * s**1.5, 86 + (top - 86) * s) for s in steps]
        stem = limb(twig, [1.5 - 0.1 * k for k in range(9)])
        canvas.fill(stem, colour("#4b5a2a") * light.flat(0.6), LEAVES)
        heading = np.arctan2(twig[-1][1] - twig[-3][1], twig[-1][0] - twig[-3][0])
        for k in range(2, 9):
            for sign in (-1, 1) if k < 8 else (0,):
                angle = heading + sign * 0.95
                long = 11.5 - 0.5 * k
                x, y = twig[k][0] + long * np.cos(angle), twig[k][1] + long * np.sin(angle)
                leaf = ellipse(x, y, long, 0.36 * long, angle)
                tilt = np.full_like(X, np.cos(angle + 1.1 * sign))
                shade = light.on(0.6 * tilt, np.full_like(X, -0.45), np.full_like(X, 0.66))
                green = mix(colour("#4e8a3c"), colour("#79ad52"), 0.5 + 0.5 * sign * np.sin(k))
                canvas.fill(leaf, green * shade, LEAVES)


def _mug(canvas: Canvas, light: Light) -> None:
    handle = np.abs(ellipse(316, 152, 13, 15)) - 3.6
    away = light.on((X - 316) / 40, (Y - 152) / 40, np.full_like(X, 0.8))
    canvas.fill(handle, colour("#2f9c95") * away, MUG)
    _turned(canvas, light, 288, [126, 140, 160, 178], [24, 24.5, 24, 21], "#35a89f", MUG)
    canvas.fill(ellipse(288, 126, 24, 5.2), colour("#35a89f") * light.flat(0.75), MUG)
    canvas.fill(ellipse(288, 126.6, 21.5, 4.1), colour("#2c150b") * light.flat(0.5), MUG)


def _ball(canvas: Canvas, light: Light, centre: Point, radii: Point, code: str, id: int, roughness: float) -> None:
    nx, ny = (X - centre[0]) / radii[0], (Y - centre[1]) / radii[1]
    nz = np.sqrt(np.clip(1 - nx**2 - ny**2, 0, 1))
    grain = fractal((X - centre[0]) / 3 + 50, (Y - centre[1]) / 3 + 50, seed=23, octaves=2)
    skin = colour(code) * (1 + roughness * (grain - 0.5))[..., None]
    shade = skin * light.on(nx, ny, nz) + 0.3 * light.gloss(nx, ny, nz, 30)
    canvas.fill(ellipse(*centre, *radii), shade, id)


def _fruit(canvas: Canvas, light: Light) -> None:
    _ball(canvas, light, (144, 174), (20, 19.5), "#f08a1d", ORANGE, 0.35)
    canvas.fill(ellipse(141, 158.5, 2.2, 1.5), colour("#5d6b2b") * light.flat(0.5), ORANGE)
    _ball(canvas, light, (228, 179), (18.5, 17), "#b9252c", APPLE, 0.2)
    stalk = limb([(228, 165), (229, 160), (232, 156)], [1.3, 1.1, 1.3])
    canvas.fill(stalk, colour("#4a2f1a") * light.flat(0.6), APPLE)
    _ball(canvas, light, (339, 178), (21, 13.5), "#f2d43a", LEMON, 0.25)
    canvas.fill(ellipse(359.5, 177.5, 3.6, 3.2), colour("#e5c331") * light.flat(0.5), LEMON)
