# SPDX-License-Identifier: Apache-2.0
"""The comparison in one small picture for the README: how many times as long the best peer takes, model by model.

    python Benchmarks/compare/summary.py Benchmarks/results/comparison.json Benchmarks/results/speed.svg
"""

import html
import json
import math
import sys

from standing import GOALS, geometric_mean, ratio

COLORS = {"uint8": "#0b5fa5", "int8": "#2a9d8f", "float": "#b8860b"}
WIDTH, LEFT, RIGHT, TOP, ROW = 860, 330, 60, 62, 17


def bars(models, threads="1"):
    """Schemes in order, each with its models and ratios, the largest first."""
    for scheme in GOALS:
        found = [(entry["model"], ratio(entry["threads"].get(threads, {}))) for entry in models if entry["scheme"] == scheme]
        found = sorted(((name, value) for name, value in found if value), key=lambda pair: -pair[1])
        if found:
            yield scheme, found


def svg(result):
    groups = list(bars(result["models"]))
    rows = sum(len(found) + 1.6 for _, found in groups)
    height = int(TOP + rows * ROW + 30)
    # Single operators belong to no scheme.
    top = max((value for _, found in groups for _, value in found), default=2)
    # Ratios are compared by their logarithms: 2 is as far from 1 as ½.
    low, high = math.log2(0.9), math.log2(top * 1.05)

    def x(value):
        return LEFT + (math.log2(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    versions = result["versions"]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="14" y="24" font-size="16" font-weight="bold" fill="#222">'
        "The best peer’s time ÷ Apus’s time (LiteRT with XNNPACK, OpenVINO at f32)</text>",
        f'<text x="14" y="44" fill="#555">One thread, medians. {html.escape(result["machine"]["processor"])}; '
        f'LiteRT {versions["ai-edge-litert"]}, OpenVINO {versions["openvino"]}; {result["date"]}</text>',
    ]
    for tick in (1, 1.5, 2, 3, 4, 5, 6, 8):
        if tick <= top * 1.05:
            parts.append(
                f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP}" y2="{height - 26}" '
                f'stroke="{"#444" if tick == 1 else "#ddd"}"/>'
                f'<text x="{x(tick):.1f}" y="{height - 10}" text-anchor="middle" fill="#555">{tick}×</text>')
    y = TOP
    for scheme, found in groups:
        y += ROW * 1.3
        mean = geometric_mean([value for _, value in found])
        parts.append(f'<text x="14" y="{y:.0f}" font-weight="bold" fill="{COLORS[scheme]}">{scheme}: '
                     f"{mean:.2f}× as geometric mean of {len(found)}</text>")
        y += ROW * 0.3
        for name, value in found:
            y += ROW
            start, end = sorted((x(1), x(value)))
            parts.append(
                f'<text x="{LEFT - 8}" y="{y - 4:.0f}" text-anchor="end" fill="#333" font-size="11">'
                f"{html.escape(name if len(name) < 50 else name[:48] + '…')}</text>"
                f'<rect x="{start:.1f}" y="{y - 14:.0f}" width="{max(end - start, 1):.1f}" height="12" '
                f'fill="{COLORS[scheme]}"/>'
                f'<text x="{end + 5:.1f}" y="{y - 4:.0f}" fill="#333" font-size="11">{value:.2f}</text>')
    return "\n".join(parts + ["</svg>", ""])


def write_summary(result, path):
    path.write_text(svg(result))


if __name__ == "__main__":
    from pathlib import Path

    write_summary(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
