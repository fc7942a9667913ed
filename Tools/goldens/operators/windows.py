# SPDX-License-Identifier: Apache-2.0
"""What convolutions and pools share: how a window moves over an image."""

from dataclasses import dataclass

PADDINGS = {"same": 0, "valid": 1}


@dataclass(frozen=True)
class Window:
    image: tuple
    filter: tuple
    strides: tuple
    dilations: tuple
    padding: int


def draw_window(draw, largest=5, dilates=True):
    """Draws a window, and an image in which it has at least one place."""
    padding = draw.pick("padding", PADDINGS)
    dilated = dilates and draw.pick("dilated", [False, True, False])
    filter = draw.pick("filter", [(1, 1), (3, 3), (draw.integer(1, largest), draw.integer(1, largest))])
    stride = draw.pick("stride", [1, 2, 1, 3, None])
    strides = (stride, stride) if stride else (draw.integer(1, 2), draw.integer(3, 4))
    dilations = draw.choice([(2, 2), (2, 1), (1, 3), (3, 2)]) if dilated else (1, 1)
    extent = [(size - 1) * dilation + 1 for size, dilation in zip(filter, dilations)]
    if padding == "valid":
        image = tuple(size + draw.integer(0, 6) for size in extent)
    else:
        image = (draw.choice([1, 2, 5, 7, 8, 9]), draw.choice([1, 3, 4, 6, 7, 11]))
    draw.tag(
        f"{filter[0]}x{filter[1]}",
        f"stride{strides[0]}" if stride and stride > 1 else "",
        "" if stride else f"strides{strides[0]}x{strides[1]}",
        f"dilation{dilations[0]}x{dilations[1]}" if dilated else "",
        padding,
    )
    return Window(image, filter, strides, dilations, PADDINGS[padding])
