# SPDX-License-Identifier: Apache-2.0
"""The comparison as Markdown.

    python Benchmarks/compare/report.py Benchmarks/results/comparison.json Docs/Benchmarks.md    # writes the page's table anew
"""

import json
import os
import pathlib
import sys

from standing import DEFAULT_GOAL, GOALS, best_peer, default_ratios, geometric_mean, ratio, ratios, time

NAMES = {
    "apus": "Apus",
    "apus-bfloat16": "Apus bfloat16 (asked for)",
    "litert": "LiteRT",
    "litert-builtin": "LiteRT builtin",
    "openvino-f32": "OpenVINO f32",
    "openvino-default": "OpenVINO default",
}


def number(value, places=2):
    if value is None:
        return "–"
    if 0 < value < 0.1 and places == 2:
        return f"{value:.2g}"
    return f"{value:.{places}f}"


def rows(heading, lines):
    divider = ["---" if place < 2 else "---:" for place in range(len(heading))]
    return "\n".join("| " + " | ".join(line) + " |" for line in [heading, divider, *lines])


def _latencies(models, threads):
    lines = []
    for entry in models:
        engines = entry["threads"].get(threads, {})
        best = best_peer(engines)
        cells = [entry["model"], entry["scheme"]]
        for name in NAMES:
            result = engines.get(name, {})
            cell = number(result.get("median_ms"))
            if "disagreement" in result:
                cell += " ≠"
            cells.append(f"**{cell}**" if best and name == best[1] else cell)
        lines.append([*cells, number(ratio(engines))])
    return rows(["model", "scheme", *NAMES.values(), "best peer ÷ Apus"], lines)


def _summary(models, counts):
    lines = []
    for threads in counts:
        standings = [(scheme, goal, ratios(models, scheme, threads)) for scheme, goal in GOALS.items()]
        standings.append(("OpenVINO's default ÷ ours, bfloat16", DEFAULT_GOAL, default_ratios(models, threads)))
        for scheme, (mean, least), values in standings:
            if not values:
                continue
            worst = min(values, key=values.get)
            average = geometric_mean(values.values())
            reached = round(average, 2) >= mean and round(values[worst], 2) >= least
            lines.append(
                [
                    scheme,
                    threads,
                    str(len(values)),
                    number(average),
                    number(mean),
                    f"{number(values[worst])} ({worst})",
                    number(least, 1),
                    "yes" if reached else "no",
                ]
            )
    heading = ["scheme", "threads", "models", "geometric mean", "goal", "minimum", "goal", "reached"]
    return rows(heading, lines)


def _rounded(models, counts):
    """Floats in bfloat16, ours as asked for and OpenVINO's by default, with what that costs."""
    lines = []
    for threads in counts:
        for entry in models:
            engines = entry["threads"].get(threads, {})
            ours, default = (engines.get(name, {}) for name in ("apus-bfloat16", "openvino-default"))
            if "median_ms" not in ours:
                continue
            both = "median_ms" in default
            times = [engines.get("apus", {}).get("median_ms"), ours["median_ms"], default.get("median_ms")]
            cells = [entry["model"], threads, *map(number, times)]
            cells.append(number(default["median_ms"] / ours["median_ms"] if both else None))
            shares = [result.get("difference") for result in (ours, default)]
            cells += ["–" if share is None else f"{share:.2%}" for share in shares]
            lines.append(cells)
    heading = ["model", "threads", "Apus f32, ms", "Apus bfloat16, ms", "OpenVINO default, ms", "default ÷ ours"]
    heading += ["largest difference of ours", "of OpenVINO"]
    return rows(heading, lines) if lines else "Not measured."


def _costs(models, threads):
    lines = []
    peers = ("litert", "openvino-f32")
    for entry in models:
        engines = entry["threads"].get(threads, {})
        cells = [entry["model"], entry["scheme"]]
        for key in ("load_to_first_ms", "peak_growth_mb"):
            cells += [number(engines.get(name, {}).get(key), 1) for name in ("apus", *peers)]
        lines.append(cells)
    heading = ["model", "scheme"]
    for what in ("first result, ms:", "memory, MB:"):
        heading += [f"{what} Apus", "LiteRT", "OpenVINO f32"]
    return rows(heading, lines)


def _scaling(models, counts):
    one, many = counts[0], counts[-1]
    lines = []
    for entry in models:
        found = [entry["threads"].get(count, {}).get("apus") for count in (one, many)]
        times = [time(engine) for engine in found]
        if None in times or times[0] <= 5:
            continue
        least = found[0]["min_ms"] / found[1]["min_ms"]
        lines.append(
            [entry["model"], entry["scheme"], *map(number, times), number(times[0] / times[1]), number(least)]
        )
    heading = ["model", "scheme", f"{one} thread, ms", f"{many} threads, ms", "faster by", "by the minimum times"]
    return rows(heading, lines) if lines else "None takes so long."


def _profiles(models):
    lines = []
    for entry in models:
        found = entry.get("profile")
        if not found:
            continue
        shares = [f"{name} {share:.0%}" for name, share in list(found["operators"].items())[:5] if share >= 0.01]
        lines.append(
            [
                entry["model"],
                ", ".join(shares),
                number(found["macs"] / 1e6, 1),
                number(found["gmacs_per_second"], 1),
                f"{found['peak_share']:.1%}",
            ]
        )
    return rows(["model", "time by operator", "MMAC", "GMAC/s", "of the peak"], lines)


def _kernels(measured):
    peaks = ", ".join(f"{peak['instruction']} {peak['gmacs_per_second']:.0f}" for peak in measured["peaks"])
    lines = []
    for entry in measured["sums"]:
        rate, share = entry.get("gmacs_per_second"), entry.get("peak_share")
        lines.append(
            [
                entry["kernels"],
                f"{entry['type']}, {entry['group']}",
                f"{entry['covered']:.0%}",
                number(rate, 1),
                "–" if share is None else f"{share:.1%}",
            ]
        )
    heading = ["kernels", "layers", "covered", "GMAC/s", "of its instruction's peak"]
    return f"Peaks in GMAC/s: {peaks}.\n\n{rows(heading, lines)}"


def _command(settings):
    given = {key: settings[key] for key in ("only", "threads", "rounds", "burst", "loads") if settings.get(key)}
    options = [f"--{key} {value:g}" if isinstance(value, float) else f"--{key} {value}" for key, value in given.items()]
    return " ".join(["Benchmarks/compare/run.sh MODELS_DIR", *options])


def _problems(models):
    lines = []
    for entry in models:
        for threads, engines in entry["threads"].items():
            for name, result in engines.items():
                reason = result.get("problem") or result.get("disagreement")
                if reason and threads == next(iter(entry["threads"])):
                    text = " ".join(reason.split()).replace("|", "/")[:160]
                    lines.append(f"- {entry['model']}, {NAMES[name]}: {text}")
    return "\n".join(lines) or "None."


def _counts(models):
    return list(dict.fromkeys(threads for entry in models for threads in entry["threads"]))


def _facts(result):
    """Where, with what and how it was measured."""
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    settings = result["settings"]
    return (
        f"{result['machine']['processor']}, {result['machine']['processors']} processors; {versions}; "
        f"{result['date']}. {settings['rounds']} rounds of {settings['burst']:g} ms for each engine. "
        f"Repeat it with `{_command(settings)}`."
    )


def _head(result):
    note = [f"**{result['note']}**"] if result["note"] else []
    marks = (
        "Milliseconds are medians; bold is the best peer; – is a model that the engine cannot run; ≠ a result that "
        "differs from that of LiteRT's own kernels and does not count."
    )
    models = result["models"]
    return [*note, f"{_facts(result)} {marks}", "## Best peer's median ÷ ours", _summary(models, _counts(models))]


def markdown(result):
    models = result["models"]
    counts = _counts(models)
    parts = ["# Apus, LiteRT and OpenVINO in turn", *_head(result)]
    for threads in counts:
        parts += [f"## Medians in ms, {threads} thread{'s' if threads != '1' else ''}", _latencies(models, threads)]
    parts += ["## Floats in bfloat16; differences are shares of an output's range", _rounded(models, counts)]
    parts += [
        f"## Load to first result, and growth of resident memory to its peak, {counts[0]} thread(s)",
        _costs(models, counts[0]),
    ]
    if len(counts) > 1:
        parts += ["## More threads, models over 5 ms", _scaling(models, counts)]
    parts += ["## Where our time goes, one thread", _profiles(models)]
    if result.get("kernels"):
        parts += ["## Kernels on the layers of real models, one thread", _kernels(result["kernels"])]
    parts += ["## What did not run or agree", _problems(models)]
    return "\n\n".join(parts) + "\n"


def update_page(page, result, plot):
    """Puts the picture, the facts and the ratios between the two comments of a page."""
    start, end = "<!-- comparison -->\n", "<!-- end of comparison -->"
    before, found, rest = page.read_text().partition(start)
    after = rest.partition(end)[2]
    if not found or not after:
        raise SystemExit(f"error: {page} lacks the comments '{start.strip()}' and '{end}'")
    picture = f"![Medians, and how much faster than the best peer]({os.path.relpath(plot, page.parent)})"
    note = [f"**{result['note']}**"] if result["note"] else []
    models = result["models"]
    parts = [picture, *note, _facts(result), _summary(models, _counts(models))]
    page.write_text(before + start + "\n\n".join(parts) + "\n" + end + after)


if __name__ == "__main__":
    results, page = map(pathlib.Path, sys.argv[1:])
    update_page(page, json.loads(results.read_text()), results.with_name("comparison.png"))
