# SPDX-License-Identifier: Apache-2.0
"""Draws cluttered pictures of triangles, rectangles, pentagons and circles, with their boxes.

Everything is drawn by numpy and Pillow from a seed; the same seed gives the same picture.

    python pictures.py --seed 7 --count 30000 --out work/train     # two .npy files and an .npz file
    python pictures.py --seed 7 --count 24 --sheet work/sheet.png         # a contact sheet with the boxes
"""

import argparse
import io
import math
import pathlib

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

LABELS = ["triangle", "rectangle", "pentagon", "circle"]
INPUT_SIZE = 160
MAX_SHAPES = 12


# ---------------------------------------------------------------------------------------------------------------------
# Outlines, as unit-sized points around the origin


def _rotated(points, angle):
    c, s = math.cos(angle), math.sin(angle)
    return points @ np.array([[c, s], [-s, c]])


def _triangle(rng):
    if rng.random() < 0.35:
        angles = np.array([0.0, 2.0, 4.0]) * math.pi / 3
    else:
        while True:
            angles = np.sort(rng.uniform(0, 2 * math.pi, 3))
            # The angle of an inscribed triangle is half the arc that it looks at.
            arcs = np.diff(np.append(angles, angles[0] + 2 * math.pi))
            if arcs.min() / 2 > math.radians(32):
                break
    return np.stack([np.cos(angles), np.sin(angles)], 1)


def _rectangle(rng):
    ratio = 1.0 if rng.random() < 0.3 else rng.uniform(1.0, 2.6)
    points = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float64)
    points[:, 0] *= math.sqrt(ratio)
    points[:, 1] /= math.sqrt(ratio)
    return points * 0.8 + rng.uniform(-0.04, 0.04, (4, 2))


def _pentagon(rng):
    angles = np.arange(5) * 2 * math.pi / 5 + rng.uniform(-0.1, 0.1, 5)
    radii = rng.uniform(0.93, 1.05, 5)[:, None]
    return radii * np.stack([np.cos(angles), np.sin(angles)], 1)


def _circle(rng):
    angles = np.arange(72) * 2 * math.pi / 72
    points = np.stack([np.cos(angles), np.sin(angles)], 1)
    if rng.random() < 0.35:
        points[:, 1] *= rng.uniform(0.75, 1.0)
    return points * 0.95


_OUTLINES = [_triangle, _rectangle, _pentagon, _circle]


def _outline(rng, kind, size):
    """An outline whose larger side is about `size`, turned by a random angle."""
    points = _OUTLINES[kind](rng)
    # A third of the rectangles stand nearly upright, as in pictures of real things.
    upright = kind == 1 and rng.random() < 0.35
    points = _rotated(points, rng.uniform(-0.08, 0.08) if upright else rng.uniform(0, 2 * math.pi))
    if rng.random() < 0.3:
        points = points * np.array([rng.uniform(0.8, 1.0), 1.0])
    extent = (points.max(0) - points.min(0)).max()
    return points * (size / extent)


# ---------------------------------------------------------------------------------------------------------------------
# Paint


def _smooth_field(rng, width, height, cells):
    """A field in 0…1 that varies slowly: random values on a coarse grid, enlarged."""
    grid = Image.fromarray(rng.integers(0, 256, (cells, cells), dtype=np.uint8))
    return np.asarray(grid.resize((width, height), Image.BICUBIC), np.float32) / 255


def _ramp(rng, width, height):
    angle = rng.uniform(0, 2 * math.pi)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    field = x / width * math.cos(angle) + y / height * math.sin(angle)
    return (field - field.min()) / max(float(np.ptp(field)), 1e-6)


def _background(rng, width, height):
    first, second = rng.uniform(0, 255, 3), rng.uniform(0, 255, 3)
    second = first + (second - first) * rng.uniform(0.05, 0.8)
    style = rng.integers(0, 6)
    if style == 0:
        field = np.full((height, width), 0.0, np.float32)
    elif style == 1:
        field = _ramp(rng, width, height)
    elif style == 2:
        field = _smooth_field(rng, width, height, int(rng.integers(2, 7)))
    elif style == 3:
        field = _smooth_field(rng, width, height, int(rng.integers(8, 40)))
        second = first + (second - first) * 0.6
    elif style == 4:
        period = rng.uniform(8, 50)
        field = 0.5 + 0.5 * np.sin(_ramp(rng, width, height) * max(width, height) / period * 2 * math.pi)
        if rng.random() < 0.5:
            field = (field > 0.5).astype(np.float32)
        second = first + (second - first) * 0.4
    else:
        y, x = np.mgrid[0:height, 0:width].astype(np.float32)
        cx, cy = rng.uniform(0, width), rng.uniform(0, height)
        field = np.clip(np.hypot(x - cx, y - cy) / max(width, height), 0, 1)
    picture = first + (second - first) * field[..., None]
    if rng.random() < 0.5:
        amount = rng.uniform(3, 25)
        picture = picture + amount * (_smooth_field(rng, width, height, int(rng.integers(4, 60)))[..., None] - 0.5)
    return np.clip(picture, 0, 255).astype(np.float32)


def _blend(picture, mask, box, paint, alpha):
    """Paints `paint` (a color, or an array of the box's size) through an 8-bit mask of the box's size."""
    x0, y0, x1, y1 = box
    weight = (np.asarray(mask, np.float32) * (alpha / 255))[..., None]
    area = picture[y0:y1, x0:x1]
    area += (paint - area) * weight


def _mask(points, box, filled, stroke, round_joints):
    """The mask of an outline inside `box`, filled or stroked inwards by `stroke` pixels."""
    x0, y0, x1, y1 = box
    image = Image.new("L", (x1 - x0, y1 - y0), 0)
    draw = ImageDraw.Draw(image)
    local = [(float(x - x0), float(y - y0)) for x, y in points]
    if filled:
        draw.polygon(local, fill=255)
    elif round_joints:
        draw.line(local + local[:2], fill=255, width=max(1, round(stroke)), joint="curve")
    else:
        center = points.mean(0)
        reach = np.linalg.norm(points - center, axis=1).min()
        inner = center + (points - center) * max(0.1, 1 - 1.4 * stroke / reach)
        draw.polygon(local, fill=255)
        draw.polygon([(float(x - x0), float(y - y0)) for x, y in inner], fill=0)
    return image


def _clipped_box(points, width, height, margin):
    x0, y0 = np.floor(points.min(0) - margin).astype(int)
    x1, y1 = np.ceil(points.max(0) + margin).astype(int)
    return max(0, int(x0)), max(0, int(y0)), min(width, int(x1) + 1), min(height, int(y1) + 1)


def _contrasting_color(rng, under, least):
    """A color at least `least` away from the color under it, in its largest channel and on average."""
    while True:
        if rng.random() < 0.3:
            # Low contrast: a small step away from what is there.
            color = under + rng.choice([-1, 1]) * rng.uniform(least, 2.2 * least) + rng.uniform(-8, 8, 3)
        else:
            color = rng.uniform(0, 255, 3)
        color = np.clip(color, 0, 255)
        if abs(float((color - under).mean())) >= 0.8 * least or np.abs(color - under).max() >= 2 * least:
            return color


# ---------------------------------------------------------------------------------------------------------------------
# Things that are not shapes


def _distractors(rng, picture, count):
    height, width = picture.shape[:2]
    reach = min(width, height)
    for _ in range(count):
        style = rng.integers(0, 6)
        at = rng.uniform(0, 1, 2) * (width, height)
        color = rng.uniform(0, 255, 3)
        stroke = rng.uniform(1.0, 6.0) * reach / 320
        if style == 0:  # a straight or broken line
            points = rng.uniform(-0.05, 1.05, (int(rng.integers(2, 4)), 2)) * (width, height)
        elif style == 1:  # an open arc
            start, sweep = rng.uniform(0, 2 * math.pi), rng.uniform(0.6, 3.4)
            angles = start + np.linspace(0, sweep, 20)
            points = at + reach * rng.uniform(0.04, 0.25) * np.stack([np.cos(angles), np.sin(angles)], 1)
        elif style == 2:  # a wavy blob
            angles = np.arange(48) * 2 * math.pi / 48
            radii = 1 + sum(rng.uniform(0.12, 0.4) / k * np.sin(k * angles + rng.uniform(0, 7)) for k in (2, 3, 5))
            points = at + reach * rng.uniform(0.02, 0.13) * radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], 1)
        elif style == 3:  # a star or a cross
            arms = int(rng.integers(4, 8))
            angles = np.arange(2 * arms) * math.pi / arms + rng.uniform(0, 7)
            radii = np.where(np.arange(2 * arms) % 2, rng.uniform(0.25, 0.45), 1.0)
            points = at + reach * rng.uniform(0.03, 0.12) * radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], 1)
        elif style == 4:  # short marks
            points = at + np.cumsum(rng.normal(0, 0.05 * reach, (int(rng.integers(3, 7)), 2)), 0)
        else:  # a word
            size = max(8, int(reach * rng.uniform(0.04, 0.12)))
            image = Image.new("L", (size * 4, size * 2), 0)
            text = "".join(rng.choice(list("abcdefghkmnrstuvwxyzEFHKLMNRSTXYZ23457")) for _ in range(rng.integers(1, 6)))
            ImageDraw.Draw(image).text((0, 0), text, fill=255, font=ImageFont.load_default(size))
            image = image.rotate(float(rng.uniform(-60, 60)), expand=True)
            x, y = int(at[0]), int(at[1])
            box = (x, y, min(width, x + image.width), min(height, y + image.height))
            if box[2] > box[0] and box[3] > box[1]:
                mask = np.asarray(image)[: box[3] - y, : box[2] - x]
                _blend(picture, mask, box, color, rng.uniform(0.3, 1))
            continue
        box = _clipped_box(points, width, height, stroke + 1)
        if box[2] - box[0] < 2 or box[3] - box[1] < 2:
            continue
        if style in (2, 3):
            mask = _mask(points, box, rng.random() < 0.6, stroke, True)
        else:
            mask = Image.new("L", (box[2] - box[0], box[3] - box[1]), 0)
            ImageDraw.Draw(mask).line(
                [(float(x - box[0]), float(y - box[1])) for x, y in points], fill=255,
                width=max(1, round(stroke)), joint="curve")
        _blend(picture, mask, box, color, rng.uniform(0.3, 1))


# ---------------------------------------------------------------------------------------------------------------------
# Scenes


def _overlap(a, b):
    """Intersection over union of two (x0, y0, x1, y1) boxes."""
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    both = w * h
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def scene(rng, width, height, shapes, kinds=None, background=None, palette=None, least_contrast=None, distractors=None,
          least_visible=0.68, most_overlap=0.3, sizes=(0.14, 0.6)):
    """Draws one scene; returns the float picture and its shapes as (kind, x0, y0, x1, y1) in pixels.

    A shape stays `least_visible` visible under the shapes over it, and 90 % of it is inside the picture.
    """
    picture = _background(rng, width, height) if background is None else background.copy()
    distractor_count = int(rng.integers(0, 9)) if distractors is None else distractors
    _distractors(rng, picture, distractor_count // 2)
    placed = []  # (kind, box, area, mask box, bool coverage left)
    for index in range(shapes):
        for _ in range(12):
            kind = int(rng.integers(0, 4)) if kinds is None else kinds[index]
            low, high = sizes
            size = low * (high / low) ** (rng.random() ** 1.3)
            points = _outline(rng, kind, size * max(width, height) * 0.92)
            extent = points.max(0) - points.min(0)
            if extent[0] < 0.09 * width or extent[1] < 0.09 * height or extent[0] * extent[1] < 0.016 * width * height:
                continue
            if extent[0] > 0.95 * width or extent[1] > 0.95 * height:
                continue
            stretch = extent[0] * height / (extent[1] * width)
            if max(stretch, 1 / stretch) > 2.4:
                continue
            slack = 0.06 * extent
            low_corner = -slack
            high_corner = np.array([width, height]) - extent + slack
            corner = rng.uniform(low_corner, high_corner)
            points = points - points.min(0) + corner
            filled = rng.random() < 0.6
            stroke = float(np.clip(rng.uniform(0.03, 0.12) * extent.min(), 2.2 * max(width, height) / INPUT_SIZE, None))
            round_joints = rng.random() < 0.5
            margin = stroke / 2 if (not filled and round_joints) else 0.0
            box = (max(0.0, points[:, 0].min() - margin), max(0.0, points[:, 1].min() - margin),
                   min(float(width), points[:, 0].max() + margin), min(float(height), points[:, 1].max() + margin))
            if any(_overlap(box, other[1]) > most_overlap for other in placed):
                continue
            mask_box = _clipped_box(points, width, height, stroke + 1)
            mask = np.asarray(_mask(points, mask_box, filled, stroke, round_joints))
            # How much of each earlier shape would stay visible: what counts is its paint, not its inside.
            covers = mask > 127
            remaining, fits = [], True
            for other in placed:
                x0, y0 = max(mask_box[0], other[3][0]), max(mask_box[1], other[3][1])
                x1, y1 = min(mask_box[2], other[3][2]), min(mask_box[3], other[3][3])
                if x1 <= x0 or y1 <= y0:
                    remaining.append(other[4])
                    continue
                left = other[4].copy()
                left[y0 - other[3][1]:y1 - other[3][1], x0 - other[3][0]:x1 - other[3][0]] &= \
                    ~covers[y0 - mask_box[1]:y1 - mask_box[1], x0 - mask_box[0]:x1 - mask_box[0]]
                if left.sum() < least_visible * other[2]:
                    fits = False
                    break
                remaining.append(left)
            if not fits:
                continue
            x0, y0, x1, y1 = mask_box
            weight = (covers[..., None]).astype(np.float32)
            area = picture[y0:y1, x0:x1]
            under = (area * weight).sum((0, 1)) / max(1.0, float(covers.sum()))
            spread = float((np.abs(area - under) * weight).sum() / max(1.0, 3.0 * covers.sum()))
            least = (rng.uniform(22, 45) if least_contrast is None else least_contrast) + 0.6 * min(spread, 30)
            color = _contrasting_color(rng, under, least)
            if palette is not None:
                far = [c for c in palette if np.abs(c - under).mean() >= least]
                if not far:
                    continue
                color = far[int(rng.integers(0, len(far)))]
            paint = np.broadcast_to(color, area.shape).astype(np.float32)
            if filled and rng.random() < 0.4:
                field = _ramp(rng, x1 - x0, y1 - y0)[..., None]
                away = color + np.sign(color - under) * rng.uniform(10, 60)
                paint = color + (away - color) * field
            elif filled and rng.random() < 0.3:
                paint = color + rng.uniform(6, 30) * (
                    _smooth_field(rng, x1 - x0, y1 - y0, int(rng.integers(3, 16)))[..., None] - 0.5)
            _blend(picture, mask, mask_box, paint, 1.0 if rng.random() < 0.7 else rng.uniform(0.85, 1.0))
            if filled and rng.random() < 0.25:
                rim = np.asarray(_mask(points, mask_box, False, stroke * 0.6, False))
                _blend(picture, rim, mask_box, np.clip(255 - under, 0, 255) * rng.uniform(0.3, 1), 1.0)
            placed = [(o[0], o[1], o[2], o[3], left) for o, left in zip(placed, remaining)]
            placed.append((kind, box, float(covers.sum()), mask_box, covers))
            break
    # Thin marks over the shapes too.
    if distractors is None and rng.random() < 0.5:
        over = picture.copy()
        _distractors(rng, over, 1)
        picture += (over - picture) * 0.8
    return picture, [(p[0], *p[1]) for p in placed]


def _sampled(picture, size, rng):
    """Resizes to `size` × `size` by one of the ways in which programs do it."""
    height, width = picture.shape[:2]
    way = rng.random()
    if way < 0.5:
        image = Image.fromarray(np.clip(picture + 0.5, 0, 255).astype(np.uint8))
        return np.asarray(image.resize((size, size), Image.BILINEAR), np.float32)
    if way < 0.65:
        y = ((np.arange(size) + 0.5) * height / size).astype(int)
        x = ((np.arange(size) + 0.5) * width / size).astype(int)
        return picture[y][:, x]
    # Bilinear between four neighbors, without a low-pass filter: what TensorFlow's resizing does.
    y = np.clip((np.arange(size) + 0.5) * height / size - 0.5, 0, height - 1)
    x = np.clip((np.arange(size) + 0.5) * width / size - 0.5, 0, width - 1)
    y0, x0 = y.astype(int), x.astype(int)
    y1, x1 = np.minimum(y0 + 1, height - 1), np.minimum(x0 + 1, width - 1)
    fy, fx = (y - y0)[:, None, None].astype(np.float32), (x - x0)[None, :, None].astype(np.float32)
    top = picture[y0][:, x0] * (1 - fx) + picture[y0][:, x1] * fx
    bottom = picture[y1][:, x0] * (1 - fx) + picture[y1][:, x1] * fx
    return top * (1 - fy) + bottom * fy


def _worn(rng, picture):
    """Light, blur, noise and compression."""
    height, width = picture.shape[:2]
    if rng.random() < 0.3:
        picture = picture * (1 - rng.uniform(0.1, 0.5) * _ramp(rng, width, height)[..., None])
    if rng.random() < 0.25:
        image = Image.fromarray(np.clip(picture + 0.5, 0, 255).astype(np.uint8))
        picture = np.asarray(image.filter(ImageFilter.GaussianBlur(float(rng.uniform(0.3, 0.9)))), np.float32)
    if rng.random() < 0.7:
        sigma = rng.uniform(1, 13)
        shape = picture.shape if rng.random() < 0.6 else picture.shape[:2] + (1,)
        picture = picture + rng.normal(0, sigma, shape)
    if rng.random() < 0.08:
        spots = rng.random(picture.shape[:2])
        picture = np.where((spots < 0.01)[..., None], 0, np.where((spots > 0.99)[..., None], 255, picture))
    if rng.random() < 0.08:
        picture = np.broadcast_to(picture.mean(2, keepdims=True), picture.shape)
    image = Image.fromarray(np.clip(picture + 0.5, 0, 255).astype(np.uint8))
    if rng.random() < 0.35:
        file = io.BytesIO()
        image.save(file, "JPEG", quality=int(rng.integers(35, 95)))
        image = Image.open(file)
    return np.asarray(image.convert("RGB"))


def example(seed, index):
    """Picture `index` of data set `seed`: uint8 RGB of the network's size, boxes (y0, x0, y1, x1) in 0…1, kinds."""
    rng = np.random.default_rng([seed, index])
    aspect = math.exp(rng.uniform(math.log(0.7), math.log(1.6)))
    long_side = int(rng.integers(300, 420))
    width, height = (long_side, round(long_side / aspect)) if aspect > 1 else (round(long_side * aspect), long_side)
    count = 0 if rng.random() < 0.02 else int(rng.integers(1, 11))
    picture, shapes = scene(rng, width, height, count)
    picture = _worn(rng, _sampled(picture, INPUT_SIZE, rng))
    boxes = np.array([[y0 / height, x0 / width, y1 / height, x1 / width] for _, x0, y0, x1, y1 in shapes], np.float32)
    return picture, boxes.reshape(-1, 4), np.array([s[0] for s in shapes], np.int32)


def sample_picture(seed):
    """A 640 × 480 picture to show: the same shapes, chosen colors. Returns it with its boxes and kinds."""
    rng = np.random.default_rng([seed, 0])
    width, height = 1280, 960
    palette = [np.array(c, np.float32) for c in (
        (239, 99, 81), (247, 178, 103), (244, 226, 133), (94, 180, 170), (38, 70, 103), (131, 91, 140), (240, 240, 232),
        (24, 32, 52), (112, 193, 120), (84, 150, 214))]
    dark, light = np.array([70, 92, 120], np.float32), np.array([196, 200, 190], np.float32)
    background = light + (dark - light) * (0.75 * _ramp(rng, width, height) + 0.25 * _smooth_field(
        rng, width, height, 6))[..., None]
    background += 16 * (_smooth_field(rng, width, height, 90)[..., None] - 0.5)
    count = int(rng.integers(9, 13))
    kinds = list(rng.permutation([i % 4 for i in range(count)]))
    picture, shapes = scene(
        rng, width, height, count, kinds=kinds, background=background, palette=palette, least_contrast=34,
        distractors=16, least_visible=0.8, most_overlap=0.15, sizes=(0.17, 0.36))
    image = Image.fromarray(np.clip(picture + 0.5, 0, 255).astype(np.uint8)).resize((640, 480), Image.LANCZOS)
    picture = np.asarray(image, np.float32) + rng.normal(0, 5, (480, 640, 1))
    boxes = np.array([[y0 / height, x0 / width, y1 / height, x1 / width] for _, x0, y0, x1, y1 in shapes], np.float32)
    return np.clip(picture + 0.5, 0, 255).astype(np.uint8), boxes.reshape(-1, 4), np.array([s[0] for s in shapes])


def annotated(picture, boxes, kinds, zoom=2):
    """A Pillow picture with the boxes drawn over it."""
    colors = [(255, 70, 70), (70, 255, 70), (90, 150, 255), (255, 220, 40)]
    image = Image.fromarray(picture)
    image = image.resize((image.width * zoom, image.height * zoom), Image.NEAREST)
    draw = ImageDraw.Draw(image)
    for (y0, x0, y1, x1), kind in zip(boxes, kinds):
        draw.rectangle((x0 * image.width, y0 * image.height, x1 * image.width, y1 * image.height), outline=colors[kind])
        draw.text((x0 * image.width + 2, y0 * image.height), LABELS[kind][0].upper(), fill=colors[kind])
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--start", type=int, default=0, help="index of the first picture")
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, help="folder for pictures.npy, boxes.npy and kinds.npy")
    parser.add_argument("--sheet", type=pathlib.Path, help="write a contact sheet instead")
    arguments = parser.parse_args()
    if arguments.sheet:
        tiles = [annotated(*example(arguments.seed, arguments.start + i)) for i in range(arguments.count)]
        columns = 6
        side = tiles[0].width
        sheet = Image.new("RGB", (columns * side, -(-len(tiles) // columns) * side))
        for i, tile in enumerate(tiles):
            sheet.paste(tile, (i % columns * side, i // columns * side))
        sheet.save(arguments.sheet)
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    pictures = np.lib.format.open_memmap(
        arguments.out / "pictures.npy", "w+", np.uint8, (arguments.count, INPUT_SIZE, INPUT_SIZE, 3))
    boxes = np.zeros((arguments.count, MAX_SHAPES, 4), np.float32)
    kinds = np.full((arguments.count, MAX_SHAPES), -1, np.int32)
    for i in range(arguments.count):
        pictures[i], found, kind = example(arguments.seed, arguments.start + i)
        boxes[i, :len(found)], kinds[i, :len(kind)] = found, kind
    pictures.flush()
    np.save(arguments.out / "boxes.npy", boxes)
    np.save(arguments.out / "kinds.npy", kinds)


if __name__ == "__main__":
    main()
