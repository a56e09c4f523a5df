"""Sample clip: two shots with a hard cut, a balloon over green hills and a lighthouse at sunset."""

import numpy as np

from drawing import (
    WIDTH,
    Array,
    Canvas,
    X,
    Y,
    cells,
    colour,
    ellipse,
    fractal,
    inside,
    limb,
    mix,
    polygon,
    smoothstep,
    waves,
)

FRAMES = 80
CUT = 40  # the first frame of the second shot
NAMES = (
    "morning sky",
    "far hills",
    "near hills",
    "meadow",
    "balloon",
    "basket",
    "evening sky",
    "sun",
    "sea",
    "cliff",
    "lighthouse",
    "sailing boat",
)
SKY, FAR, NEAR, MEADOW, BALLOON, BASKET, DUSK, SUN, SEA, CLIFF, LIGHTHOUSE, BOAT = range(len(NAMES))
OBJECTS = {"balloon": [BALLOON, BASKET], "lighthouse": [LIGHTHOUSE], "sailing boat": [BOAT]}

HORIZON = 132.0


def draw(index: int) -> Canvas:
    """Draw one frame."""
    canvas = Canvas(len(NAMES))
    if index < CUT:
        _morning(canvas, index / (CUT - 1))
    else:
        _evening(canvas, (index - CUT) / (FRAMES - CUT - 1))
    return canvas


def _morning(canvas: Canvas, t: float) -> None:
    canvas.paint(1, mix(colour("#5aa2dc"), colour("#d8ecf2"), smoothstep(0, 130, Y)), SKY)
    billow = fractal(X / 80 + 0.25 * t, Y / 24 + 2, seed=71, octaves=5)
    canvas.paint(0.75 * smoothstep(0.54, 0.72, billow), colour("#ffffff"), SKY)
    _hills(canvas, X + 3 * t, 118, 26, 70, ("#6f93a3", "#8fb0b4"), FAR, seed=80)
    _hills(canvas, X + 7 * t, 146, 24, 52, ("#3f7a4e", "#6a9a58"), NEAR, seed=90)
    _meadow(canvas, X + 14 * t)
    _balloon(canvas, 118 + 96 * t, 82 - 16 * t + 2 * np.sin(6 * t))


def _hills(
    canvas: Canvas,
    pan: Array,
    base: float,
    rise: float,
    width: float,
    codes: tuple[str, str],
    id: int,
    seed: int,
) -> None:
    crest = base - rise * (2 * fractal(pan / width, np.full_like(pan, 3.5), seed=seed) - 1)
    tone = fractal(pan / 11, (Y - crest) / 7 + 30, seed=seed + 5)
    wood = mix(colour(codes[0]), colour(codes[1]), smoothstep(0.35, 0.65, tone))
    canvas.fill(crest - Y, mix(wood, colour("#c3d9dc"), 0.45 * smoothstep(0, 46, Y - crest)), id)


def _meadow(canvas: Canvas, pan: Array) -> None:
    crest = 172 + 7 * np.sin(pan / 62)
    depth = np.maximum(Y - crest, 0)
    along = (pan - WIDTH / 2) * 40 / (depth + 40) + 90
    rows = 0.5 + 0.5 * np.sin(along * 0.9 + 0.4 * np.sin(depth / 9))
    grass = fractal(pan / 5, Y / 3, seed=101)
    tone = mix(colour("#6c9a2f"), colour("#b3bf4a"), 0.45 * rows + 0.55 * grass)
    bloom, _, kind = cells(pan / 8, Y / 5, seed=107)
    poppies = smoothstep(0.26, 0.12, bloom) * (kind > 0.45) * smoothstep(5, 14, depth)
    canvas.fill(crest - Y, mix(tone, colour("#d8402f"), 0.85 * poppies), MEADOW)


def _balloon(canvas: Canvas, cx: float, cy: float) -> None:
    mouth, basket = cy + 55, cy + 74
    for side in (-1, 1):
        rope = limb([(cx + 7 * side, mouth), (cx + 6 * side, basket)], [0.4, 0.4])
        canvas.fill(rope, colour("#4c3a2a"), None, opacity=0.8)
    crate = polygon([(cx - 7, basket - 5), (cx + 7, basket - 5), (cx + 6, basket + 6), (cx - 6, basket + 6)])
    weave = 0.85 + 0.25 * np.sin(2.2 * (X - cx)) * np.sin(2.2 * (Y - basket))
    canvas.fill(crate - 0.8, colour("#8a5a2f") * weave[..., None], BASKET)
    heights = cy + np.concatenate([-41 * np.cos(np.linspace(0, np.pi / 2, 14)), np.linspace(5, 55, 11)])
    radii = _envelope(heights - cy)
    right = [(cx + r, y) for r, y in zip(radii, heights, strict=True)]
    skin = polygon([*right, *((2 * cx - x, y) for x, y in reversed(right))])
    radius = np.maximum(_envelope(Y - cy), 1)
    u = np.clip((X - cx) / radius, -1, 1)
    gore = np.cos(np.arcsin(u) * 7)
    cloth = mix(colour("#d6303a"), colour("#f6c445"), inside(-gore * 6))
    band = inside(np.abs(Y - cy - 9) - 5)
    cloth = mix(cloth, colour("#7c2340"), band * 0.9)
    shade = 0.55 + 0.55 * np.clip(0.55 * u - 0.35 * (Y - cy) / 41 + 0.75 * np.sqrt(1 - u**2), 0, 1)
    canvas.fill(skin, cloth * shade[..., None], BALLOON)


def _envelope(below: Array) -> Array:
    """Half the width of the balloon at `below` pixels under its centre: a dome that narrows to the mouth."""
    dome = np.sqrt(np.clip(41**2 - below**2, 0, None))
    return np.where(below < 0, dome, 7.5 + 33.5 * np.cos(np.pi / 2 * np.clip(below / 55, 0, 1)))


def _evening(canvas: Canvas, t: float) -> None:
    high = np.clip(Y / HORIZON, 0, 1)
    glow = mix(colour("#3b2a63"), colour("#c4566b"), smoothstep(0, 0.65, high))
    glow = mix(glow, colour("#ffb45c"), smoothstep(0.5, 1, high))
    streaks = fractal(X / 90 + 0.3 * t, Y / 9, seed=111)
    glow = mix(glow, colour("#ffd2a0"), 0.6 * smoothstep(0.52, 0.72, streaks) * smoothstep(0.1, 0.8, high))
    canvas.paint(1, glow, DUSK)
    sun_x, sun_y = 150.0, 112 + 7 * t
    halo = np.exp(-np.hypot(X - sun_x, Y - sun_y) / 42)
    canvas.paint(0.6 * halo, colour("#ffdf94"), DUSK)
    canvas.fill(ellipse(sun_x, sun_y, 17, 17), colour("#fff2c4"), SUN)
    _water(canvas, t, sun_x)
    _boat(canvas, 236 - 112 * t, 158 + 1.5 * np.sin(9 * t), 0.05 * np.sin(7 * t))
    _cliff(canvas)
    _lighthouse(canvas)


def _water(canvas: Canvas, t: float, sun_x: float) -> None:
    water = waves(HORIZON, 0.5 * t)
    near = smoothstep(0, 70, water.below)
    body = mix(colour("#2b2350"), colour("#8c4a6d"), smoothstep(0.35, 0.75, water.height))
    body = mix(mix(colour("#d57a63"), body, 0.35 + 0.65 * near), body, near)
    body = body * (1 + 1.8 * water.slope)[..., None]
    path = np.exp(-(((X - sun_x) / (16 + 0.45 * water.below)) ** 2))
    glitter = smoothstep(0.50, 0.66, water.height + 0.35 * water.slope) * path
    canvas.fill(HORIZON - Y, mix(body, colour("#ffd58a"), 0.85 * glitter), SEA)


def _boat(canvas: Canvas, cx: float, cy: float, roll: float) -> None:
    c, s = np.cos(roll), np.sin(roll)

    def at(dx: float, dy: float) -> tuple[float, float]:
        return cx + c * dx - s * dy, cy + s * dx + c * dy

    canvas.paint(0.4 * inside(ellipse(cx, cy + 9, 26, 3), 6), colour("#1d1838"), None)
    hull = polygon([at(-25, -1), at(23, -1), at(16, 8), at(-17, 8)])
    main = polygon([at(2, -62), at(2, -5), at(26, -6), at(16, -32)])
    jib = polygon([at(-1, -57), at(-1, -6), at(-24, -5)])
    light = (0.8 + 0.3 * smoothstep(30, -30, X - cx))[..., None]
    canvas.fill(limb([at(0.5, -64), at(0.5, 0)], [0.7, 1.0]), colour("#4d3140"), BOAT)
    canvas.fill(main, colour("#f3ddc8") * light, BOAT)
    canvas.fill(jib, colour("#fbe9d2") * light, BOAT)
    canvas.fill(hull - 0.8, colour("#f2e6da") * light * 0.85, BOAT)
    canvas.fill(limb([at(-23, 2.4), at(20, 2.4)], [1.1, 1.1]), colour("#2e4a86"), BOAT)


def _cliff(canvas: Canvas) -> None:
    ragged = 9 * (fractal(X / 15, np.full_like(X, 7.5), seed=121) - 0.5)
    crest = np.interp(X, [236, 258, 288, 330, 384], [232, 186, 158, 146, 141]) + ragged
    rock = fractal(X / 16, Y / 8, seed=127, octaves=5)
    layers = 0.5 + 0.5 * np.sin(Y / 3.1 + 9 * rock)
    stone = mix(colour("#2c2036"), colour("#6d4652"), 0.55 * smoothstep(0.3, 0.7, rock) + 0.35 * layers)
    turf = smoothstep(7, 2, Y - crest)
    canvas.fill(crest - Y, mix(stone, colour("#4d5a3a"), 0.8 * turf), CLIFF)


def _lighthouse(canvas: Canvas) -> None:
    cx, foot, top = 330.0, 152.0, 54.0
    u = np.clip((X - cx) / np.interp(Y, [top, foot], [9.0, 15.0]), -1, 1)
    round_light = (0.42 + 0.68 * np.clip(-0.75 * u + 0.5 * np.sqrt(1 - u**2), 0, 1))[..., None]
    tower = polygon([(cx - 9, top), (cx + 9, top), (cx + 15, foot), (cx - 15, foot)])
    bands = inside(6 * np.sin((Y - top) * 2 * np.pi / 39 + 0.25 * (1 - u**2)))
    canvas.fill(tower, mix(colour("#f5ebe0"), colour("#cf3a35"), bands) * round_light, LIGHTHOUSE)
    gallery = polygon([(cx - 13, top - 3), (cx + 13, top - 3), (cx + 11, top + 2), (cx - 11, top + 2)])
    lamp = polygon([(cx - 6.5, top - 17), (cx + 6.5, top - 17), (cx + 6.5, top - 3), (cx - 6.5, top - 3)])
    roof = polygon([(cx, top - 29), (cx + 9, top - 17), (cx - 9, top - 17)])
    canvas.fill(lamp, mix(colour("#ffe9a8"), colour("#f2b24a"), u**2), LIGHTHOUSE)
    for bar in (-6.5, 0, 6.5):
        post = limb([(cx + bar, top - 17), (cx + bar, top - 3)], [0.7, 0.7])
        canvas.fill(post, colour("#3a2634"), LIGHTHOUSE)
    canvas.fill(gallery - 0.5, colour("#4a2f3c") * (0.6 + round_light), LIGHTHOUSE)
    canvas.fill(roof - 0.8, colour("#a82c30") * round_light * 1.1, LIGHTHOUSE)
