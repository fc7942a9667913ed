# SPDX-License-Identifier: Apache-2.0
"""The comparison as a picture: medians, and how much faster than the best peer."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from standing import GOALS, ratio, time  # noqa: E402

SERIES = {
    "apus": ("Apus", "#0b5fa5", "D"),
    "litert": ("LiteRT", "#e07b00", "o"),
    "litert-builtin": ("LiteRT builtin", "#f3c27a", "o"),
    "openvino-f32": ("OpenVINO f32", "#6a3d9a", "s"),
}
COLORS = {"uint8": "#0b5fa5", "int8": "#2a9d8f", "float": "#8a6d3b"}


def write_plot(result, path):
    """Draws the models by scheme, slowest first, with a column of panels for each count of threads."""
    models = sorted(
        result["models"],
        key=lambda entry: (
            [*GOALS, "hybrid", "other"].index(entry["scheme"]),
            -(time(next(iter(entry["threads"].values())).get("litert")) or 0),
        ),
    )
    counts = list(dict.fromkeys(threads for entry in models for threads in entry["threads"]))
    height = 1.6 + 0.27 * len(models)
    figure, axes = plt.subplots(
        1, 2 * len(counts), figsize=(4 + 4.6 * len(counts), height), sharey=True, squeeze=False
    )
    places = list(range(len(models)))
    for column, threads in enumerate(counts):
        medians, faster = axes[0][2 * column : 2 * column + 2]
        plural = "s" if threads != "1" else ""
        for name, (label, color, marker) in SERIES.items():
            points = [(time(entry["threads"].get(threads, {}).get(name)), place) for place, entry in enumerate(models)]
            points = [point for point in points if point[0]]
            medians.scatter(
                *(zip(*points) if points else ([], [])), label=label, color=color, marker=marker, s=22, zorder=3
            )
        medians.set_xscale("log")
        medians.set_title(f"median, ms, {threads} thread{plural}", fontsize=10)
        values = [ratio(entry["threads"].get(threads, {})) for entry in models]
        shown = [value or 0 for value in values]
        faster.barh(places, shown, color=[COLORS.get(entry["scheme"], "#999999") for entry in models], zorder=3)
        for place, value in zip(places, values):
            text = f" {value:.2f}" if value else " –"
            faster.text(value or 0, place, text, va="center", fontsize=7)
        faster.axvline(1, color="black", linewidth=0.8, zorder=4)
        faster.set_xlim(0, max([1.5, *shown]) * 1.15)
        faster.set_title(f"best peer ÷ Apus, {threads} thread{plural}", fontsize=10)
        for panel in (medians, faster):
            panel.grid(axis="x", color="#dddddd", linewidth=0.6, zorder=0)
            panel.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_yticks(places, [f"{entry['model'][:44]} ({entry['scheme']})" for entry in models], fontsize=7)
    axes[0][0].invert_yaxis()
    # Room at the bottom for the engines' names, and one line on top for the note.
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower left", ncols=len(labels), fontsize=8, frameon=False)
    if result["note"]:
        figure.suptitle(result["note"], fontsize=9)
    figure.tight_layout(rect=(0, 0.35 / height, 1, 1))
    figure.savefig(path, dpi=110)
    plt.close(figure)
