"""Sample clip: a kite surfer crosses a choppy sea, with spray behind the board and the kite ahead."""

from functools import lru_cache

import numpy as np

from drawing import (
    HEIGHT,
    WIDTH,
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
    rounded,
    smoothstep,
    waves,
)

FRAMES = 80
NAMES = ("sky", "headland", "sea", "spray", "board", "legs", "torso", "head", "kite")
SKY, HEADLAND, SEA, SPRAY, BOARD, LEGS, TORSO, HEAD, KITE = range(len(NAMES))
OBJECTS = {"surfer": [BOARD, LEGS, TORSO, HEAD], "kite": [KITE]}

HORIZON = 88.0
LIGHT = (0.55, -0.6, 0.6)


def draw(index: int) -> Canvas:
    """Draw one frame."""
    t = index / (FRAMES - 1)
    canvas = Canvas(len(NAMES))
    feet = (92 + 178 * t, 172 + 3.0 * np.sin(2 * np.pi * 1.6 * t) + 5 * t)
    _sky(canvas, t)
    _headland(canvas, t)
    _sea(canvas, t, feet)
    hands = _surfer(canvas, t, feet)
    _spray(canvas, index, feet)
    _kite(canvas, t, hands)
    return canvas


def _sky(canvas: Canvas, t: float) -> None:
    height = np.clip(Y / HORIZON, 0, 1)
    blue = mix(colour("#3f86c9"), colour("#a9d3ea"), height**0.9)
    canvas.paint(1, mix(blue, colour("#f3e3cf"), smoothstep(0.72, 1.0, height) * 0.55), SKY)
    billow = fractal(X / 70 + 0.7 * t + 3, Y / 26 + 9, seed=11, octaves=5)
    cover = smoothstep(0.52, 0.74, billow) * (0.35 + 0.5 * height)
    canvas.paint(cover, mix(colour("#dfe9f2"), colour("#ffffff"), smoothstep(0.55, 0.8, billow)), SKY)


def _headland(canvas: Canvas, t: float) -> None:
    pan = X + 9 * t
    crest = HORIZON - 23 * np.exp(-(((pan - 40) / 62) ** 2)) - 13 * np.exp(-(((pan - 128) / 44) ** 2)) + 1.5
    crest = crest - 3.2 * (fractal(pan / 16, np.zeros_like(pan) + 4.5, seed=31) - 0.5)
    tone = fractal(pan / 9, Y / 5, seed=37)
    rock = mix(colour("#4d6a5c"), colour("#7d8f76"), smoothstep(0.35, 0.7, tone))
    haze = smoothstep(-26, 0, Y - HORIZON)
    canvas.fill(crest - Y, mix(rock, colour("#a5bcc4"), 0.2 + 0.35 * haze), HEADLAND)


def _sea(canvas: Canvas, t: float, feet: Point) -> None:
    water = waves(HORIZON, t, pan=9 * t)
    height, below = water.height, water.below
    near = smoothstep(0, 60, below)
    body = mix(colour("#0c4a63"), colour("#2b8a98"), smoothstep(0.3, 0.72, height))
    body = mix(body, colour("#7cc7bd"), smoothstep(0.58, 0.85, height) * 0.5)
    body = mix(colour("#4b8ca8"), body, 0.3 + 0.7 * near)
    body = body * (1 + (0.6 + 1.4 * near) * water.slope)[..., None]
    fleck = noise(water.x * 2.6 + 1.6 * t, water.z * 2.6 + 4.2 * t, seed=61)
    foam = smoothstep(0.66, 0.76, height + 0.14 * (fleck - 0.5)) * (0.25 + 0.45 * near)
    body = mix(body, colour("#eef6f4"), foam)
    wake = _wake(feet, t)
    body = mix(body, mix(colour("#3fa3a8"), colour("#f0f7f5"), wake**1.5), np.sqrt(wake))
    canvas.fill(HORIZON - Y, body, SEA)


def _wake(feet: Point, t: float) -> Array:
    """The wake behind the board, which widens and fades with distance."""
    fx, fy = feet
    behind = fx + 22 - X
    spread = 3 + 0.07 * np.maximum(behind, 0)
    lane = np.exp(-(((Y - fy - 5 + 0.03 * behind) / spread) ** 2))
    churn = fractal((X - 178 * t) / 11 + 14 * t, Y / 4, seed=71)
    fade = smoothstep(0, 16, behind) * np.exp(-np.maximum(behind, 0) / 55)
    return lane * fade * smoothstep(0.3, 0.6, churn)


def _lit(base: str, distance: Array, depth: float, low: float = 0.5) -> Array:
    return colour(base) * (low + (1.12 - low) * rounded(distance, depth, LIGHT))[..., None]


def _surfer(canvas: Canvas, t: float, feet: Point) -> Point:
    """Draw the surfer from the board upwards; return the position of the hands."""
    fx, fy = feet
    sway = 3.0 * np.sin(2 * np.pi * 1.1 * t + 0.6)
    crouch = 2.5 * np.sin(2 * np.pi * 1.6 * t + 1.2)

    def at(dx: float, dy: float) -> Point:
        lift = -dy / 80
        return fx + dx - sway * lift, fy + dy + crouch * lift

    shadow = ellipse(fx - 4, fy + 11, 46, 5)
    canvas.paint(0.45 * inside(shadow, 8), colour("#083345"), None)

    board = limb([at(-40, 7), at(-20, 5.5), at(18, 1), at(43, -7)], [2.6, 4.6, 4.8, 2.0])
    canvas.fill(board, _lit("#f4e04d", board, 5, 0.55), BOARD)
    stripe = limb([at(-30, 6.2), at(36, -4.0)], [1.0, 1.0])
    canvas.fill(stripe, colour("#e4572e"), BOARD)

    hip, shoulder, head, hands = at(-23, -35), at(-35, -62), at(-36, -78), at(-3, -67)
    back_leg = limb([at(-15, 1), at(-27, -17), hip], [3.6, 5.0, 6.6])
    front_leg = limb([at(16, -3), at(1, -23), hip], [3.6, 5.2, 6.8])
    for leg in (back_leg, front_leg):
        canvas.fill(leg, _lit("#27345c", leg, 6, 0.45), LEGS)

    far_arm = limb([at(-33, -62), at(-18, -61), at(1, -70)], [3.6, 3.2, 2.4])
    torso = limb([hip, at(-28, -46), shoulder], [7.0, 7.8, 8.6])
    near_arm = limb([at(-36, -60), at(-21, -56), hands], [4.2, 3.6, 2.6])
    for part, code in ((far_arm, "#b3202a"), (torso, "#d92f35"), (near_arm, "#e23b3f")):
        canvas.fill(part, _lit(code, part, 8, 0.5), TORSO)
    harness = limb([at(-30.5, -33), at(-17, -38.5)], [2.2, 2.2])
    canvas.paint(inside(harness) * inside(torso), colour("#53171c"), TORSO)

    face = ellipse(*at(-33.5, -76), 6.4, 7.2, 0.2)
    brim = polygon([at(-60, -71), at(-38, -73), at(-15, -80), at(-15, -100), at(-60, -100)])
    helmet = np.maximum(ellipse(*head, 8.4, 8.6, 0.2), brim)
    canvas.fill(face, _lit("#d59a72", face, 6, 0.6), HEAD)
    canvas.fill(helmet, _lit("#f7b32b", helmet, 8, 0.55), HEAD)

    bar = limb([at(-7, -74), at(2, -61)], [1.3, 1.3])
    canvas.fill(bar, colour("#20232b"), TORSO)
    return hands


@lru_cache(maxsize=1)
def _drops() -> tuple[Array, ...]:
    """Birth frame, offset, velocity, radius and lifetime of every drop of spray."""
    rng = np.random.default_rng(97)
    count = 9 * FRAMES
    born = np.sort(rng.uniform(-14, FRAMES, count))
    along = rng.uniform(-42, -16, count)
    out = rng.gamma(2.0, 0.5, count)
    up = rng.gamma(3.0, 0.8, count)
    return born, along, out, up, rng.uniform(0.5, 1.25, count), rng.uniform(7, 17, count)


def _spray(canvas: Canvas, index: int, feet: Point) -> None:
    """Draw a plume behind the tail of the board, and single drops."""
    fx, fy = feet
    u, v = (fx - 24 - X) / 66, (fy + 9 - Y) / 46
    fan = np.clip(u, 0, 1) ** 0.7 * 0.85 + 0.08
    shape = smoothstep(1.05, 0.2, v / fan) * smoothstep(-0.1, 0.05, v)
    shape = shape * smoothstep(-0.15, 0.15, u) * smoothstep(1.0, 0.35, u)
    mist = fractal((X - fx) / 10 + 0.55 * index, Y / 7 + 0.3 * index, seed=83)
    plume = np.clip(shape * smoothstep(0.26, 0.60, mist) * 1.1, 0, 0.95)
    canvas.paint(plume, mix(colour("#74bcc0"), colour("#f4fafa"), smoothstep(0.1, 0.6, plume)), SPRAY)
    speed = 178 / (FRAMES - 1)
    cover = np.zeros((HEIGHT, WIDTH))
    for born, along, out, up, radius, life in zip(*_drops(), strict=True):
        age = index - born
        if not 0 <= age < life:
            continue
        cx = fx + along - age * (out + 0.55 * speed)
        cy = fy + 5 - age * up + 0.1 * age * age
        x0, y0 = int(cx) - 3, int(cy) - 3
        if not (0 <= x0 < WIDTH - 7 and 0 <= y0 < HEIGHT - 7):
            continue
        window = np.s_[y0 : y0 + 7, x0 : x0 + 7]
        drop = np.clip(radius + 0.5 - np.hypot(X[window] - cx, Y[window] - cy), 0, 1)
        cover[window] = np.maximum(cover[window], drop * min(1.0, 2 * (1 - age / life)))
    canvas.paint(cover, colour("#fafdfd"), SPRAY)


def _kite(canvas: Canvas, t: float, hands: Point) -> None:
    """Draw the kite, an arched wing of five panels, and its lines to the hands."""
    cx, cy = 196 + 120 * t + 6 * np.sin(2 * np.pi * 0.9 * t), 40 + 7 * np.sin(2 * np.pi * 0.7 * t + 0.8)
    turn = 0.36 + 0.14 * np.sin(2 * np.pi * 0.7 * t)
    c, s = np.cos(turn), np.sin(turn)

    def at(angle: float, radius: float) -> Point:
        dx, dy = 1.25 * radius * np.sin(angle), 30 - radius * np.cos(angle)
        return cx + c * dx - s * dy, cy + s * dx + c * dy

    lines = [(at(-1.2, 35), 0.34), (at(1.2, 35), 0.34), (at(-0.4, 30), 0.2), (at(0.4, 30), 0.2)]
    for tip, width in lines:
        canvas.fill(limb([hands, tip], [width, width]), colour("#39424e"), None, opacity=0.75)
    edges = np.linspace(-1.25, 1.25, 6)
    red, orange = "#e8432e", "#f58a1f"
    for left, right, code in zip(edges[:-1], edges[1:], (red, orange, red, orange, red), strict=True):
        steps = np.linspace(left, right, 5)
        depth = [16 * np.cos(0.9 * a) for a in steps]
        outer = [at(a, 40) for a in steps]
        inner = [at(a, 40 - d) for a, d in zip(steps, depth, strict=True)]
        panel = polygon(outer + inner[::-1])
        fold = 0.72 + 0.33 * np.cos((left + right) / 2 - 0.5)
        canvas.fill(panel - 0.4, colour(code) * fold, KITE)
    strut = limb([at(a, 40) for a in np.linspace(-1.25, 1.25, 15)], [1.5] * 15)
    canvas.fill(strut, colour("#fff3df"), KITE)
