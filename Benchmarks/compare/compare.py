#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Apus and its peers in turn on a folder of models, and writes tables and a plot."""

import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

from agreement import disagreement, largest_difference, read_outputs
from engine_process import EngineProcess, Failed
from model_facts import ModelFacts
from plot import write_plot
from report import markdown, update_page
from summary import write_summary

# The first two are ours. The default OpenVINO computes floats in bfloat16 where it can, so its counterpart is ours with bfloat16.
ENGINES = ("apus", "apus-bfloat16", "litert", "litert-builtin", "openvino-f32", "openvino-default")
REFERENCES = ("litert-builtin", "litert", "openvino-f32")


def progress(text):
    print(text, file=sys.stderr, flush=True)


def _loads(engine, settings):
    """How often an engine loads each model: those whose loading takes long, or is no matter here, do it once."""
    return settings.loads if engine in ("apus", "litert") else 1


class Contest:
    """One model with so many threads: each engine in a process of its own, bursts of runs in turn."""

    def __init__(self, path, facts, threads, settings, folder):
        self._path = path
        self._facts = facts
        self._threads = threads
        self._settings = settings
        self._folder = pathlib.Path(folder)
        self._inputs = facts.write_inputs(folder, settings.seed)
        self._processes = {}
        self.results = {}

    def run(self):
        try:
            self._start()
            self._check()
            self._measure()
        finally:
            for process in self._processes.values():
                process.close()
        return self.results

    def _start(self):
        """Loads the model with each engine in turn, several times; the last processes stay."""
        starts = {engine: [] for engine in self._settings.engines}
        for attempt in range(self._settings.loads):
            for engine, known in starts.items():
                last = _loads(engine, self._settings) - 1
                if attempt > last or engine in self.results:
                    continue
                # Other models are the same with bfloat16.
                if engine == "apus-bfloat16" and self._facts.scheme != "float":
                    continue
                try:
                    process = self._open(engine)
                    known.append(process.started)
                except (Failed, OSError) as reason:
                    self.results[engine] = {"problem": str(reason)}
                    continue
                if attempt < last:
                    process.close()
                else:
                    self._processes[engine] = process
        for engine in self._processes:
            sums = [start["load_ms"] + start["first_ms"] for start in starts[engine]]
            self.results[engine] = {
                "load_ms": statistics.median(start["load_ms"] for start in starts[engine]),
                "load_to_first_ms": statistics.median(sums),
            }

    def _open(self, engine):
        return EngineProcess(
            engine,
            str(self._path),
            self._threads,
            self._inputs,
            self._facts.outputs,
            self._settings.apus,
        )

    def _check(self):
        """Compares the answers with LiteRT's own kernels, or with the next peer that has one."""
        answers = {}
        for engine, process in list(self._processes.items()):
            folder = self._folder / engine
            folder.mkdir()
            try:
                answers[engine] = read_outputs(process.ask(f"outputs {folder}"), self._facts)
            except (Failed, ValueError, TypeError) as reason:
                self._drop(engine, f"no outputs: {reason}")
        reference = next((engine for engine in REFERENCES if engine in answers), None)
        for engine, outputs in answers.items():
            if reference in (None, engine):
                continue
            problem = disagreement(answers[reference], outputs, self._facts.has_detections())
            self.results[engine]["reference"] = reference
            self.results[engine]["difference"] = largest_difference(answers[reference], outputs)
            if problem:
                self.results[engine]["disagreement"] = problem

    def _measure(self):
        counts = {}
        for engine, process in list(self._processes.items()):
            try:
                time = statistics.median(process.ask("run 5"))
                counts[engine] = int(min(max(self._settings.burst / max(time, 1e-3), 3), 400))
            except Failed as reason:
                self._drop(engine, str(reason))
        times = {engine: [] for engine in self._processes}
        warmup = 2
        for turn in range(self._settings.rounds):
            engines = list(self._processes)
            # Another engine begins each round.
            shift = turn % max(1, len(engines))
            for engine in engines[shift:] + engines[:shift]:
                try:
                    answer = self._processes[engine].ask(f"run {counts[engine] + warmup}")
                    times[engine] += answer[warmup:]
                except Failed as reason:
                    self._drop(engine, str(reason))
        for engine, process in list(self._processes.items()):
            ordered = sorted(times[engine])
            memory = process.ask("memory")
            before = process.started["before_mb"]
            self.results[engine].update(
                median_ms=statistics.median(ordered),
                min_ms=ordered[0],
                p95_ms=ordered[max(0, -(-len(ordered) * 95 // 100) - 1)],
                runs=len(ordered),
                growth_mb=max(0, memory["resident_mb"] - before),
                peak_growth_mb=max(0, memory["peak_mb"] - before),
            )

    def _drop(self, engine, reason):
        self._processes.pop(engine).close()
        self.results[engine] = {"problem": reason}


def ask_apus(settings, *arguments):
    """What apus-benchmark prints on one processor; None if it fails."""
    processor = max(os.sched_getaffinity(0))
    run = subprocess.run(
        [settings.apus, *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, [processor]),
    )
    if run.returncode:
        progress(run.stderr.strip())
        return None
    return json.loads(run.stdout)


def kernels(settings):
    """The rates of every kernel set on the layers of real models, and those of the instructions: medians of three runs."""
    shapes = pathlib.Path(__file__).resolve().parents[1] / "Shapes" / "shapes.txt"
    reports = [ask_apus(settings, "kernels", "--shapes", str(shapes)) for _ in range(3)]
    if None in reports:
        return None

    def medians(kind):
        for same in zip(*(report[kind] for report in reports), strict=True):
            rates = [entry.get("gmacs_per_second") for entry in same]
            rate = None if None in rates else statistics.median(rates)
            yield {**same[0], "gmacs_per_second": rate}, same

    sums = []
    for entry, same in medians("sums"):
        if all(other.get("peak_share") for other in same):
            # A run's shares are of its own peak.
            peak = statistics.median(other["gmacs_per_second"] / other["peak_share"] for other in same)
            entry["peak_share"] = entry["gmacs_per_second"] / peak
        sums.append(entry)
    return {"peaks": [peak for peak, _ in medians("peaks")], "sums": sums}


def profile(settings, path):
    """Where a model's time goes, on one thread: shares by kind of operator, and the share of the peak."""
    reports = ask_apus(settings, str(path), "--profile", "--runs", "30")
    if not reports:
        return None
    report = reports[0]
    shares = {}
    for operator in report["operators"]:
        shares[operator["name"]] = shares.get(operator["name"], 0) + operator["time_share"]
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    keys = ("kernels", "macs", "gmacs_per_second", "peak_share", "arena_bytes", "packed_bytes")
    return {"operators": dict(ranked), **{key: report[key] for key in keys}}


def machine():
    name = platform.processor()
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
        family = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("cpu family"))
        name += f", family {family}"
    except (OSError, StopIteration):
        pass
    return {"processor": name, "processors": len(os.sched_getaffinity(0)), "system": platform.platform()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=pathlib.Path, help="a folder of models, or one model")
    parser.add_argument("--apus", type=pathlib.Path, required=True, help="the apus-benchmark executable")
    parser.add_argument("--only", default="", help="models whose names contain one of these, with commas")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--rounds", type=int, default=15, help="how often each engine has its turn")
    parser.add_argument("--burst", type=float, default=40, help="milliseconds of a turn")
    parser.add_argument("--loads", type=int, default=9, help="how often Apus and LiteRT load a model, in turn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--note", default="", help="a sentence that the report carries")
    parser.add_argument("--no-profile", action="store_true", help="leave out operators and kernels")
    default = pathlib.Path(__file__).resolve().parents[1] / "results"
    parser.add_argument("--output", type=pathlib.Path, default=default)
    parser.add_argument("--docs", type=pathlib.Path, help="a page that gets the ratios, between its two comments")
    settings = parser.parse_args()
    settings.engines = settings.engines.split(",")
    settings.apus = settings.apus.resolve()
    if not set(settings.engines) <= set(ENGINES):
        parser.error(f"engines are {', '.join(ENGINES)}")
    folder = settings.models
    paths = sorted(folder.glob("*.tflite")) if folder.is_dir() else [folder]
    paths = [path for path in paths if any(part in path.name for part in settings.only.split(","))]
    if not paths:
        parser.error(f"no models in {folder}")

    models = []
    for place, path in enumerate(paths):
        try:
            facts = ModelFacts(path)
            entry = {"model": path.stem, "scheme": facts.scheme, "threads": {}}
            for threads in map(int, settings.threads.split(",")):
                progress(f"{place + 1} of {len(paths)}: {path.name}, {threads} threads")
                with tempfile.TemporaryDirectory() as scratch:
                    contest = Contest(path, facts, threads, settings, scratch)
                    entry["threads"][str(threads)] = contest.run()
        except ValueError as reason:
            progress(f"{path.name} is left out: {reason}")
            continue
        if not settings.no_profile:
            entry["profile"] = profile(settings, path)
        models.append(entry)

    measured = None
    if not settings.no_profile:
        progress("kernels on the layers of real models")
        measured = kernels(settings)
    packages = ("ai-edge-litert", "openvino", "numpy")
    result = {
        "date": datetime.date.today().isoformat(),
        "note": settings.note,
        "machine": machine(),
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "settings": {key: getattr(settings, key) for key in ("threads", "rounds", "burst", "loads", "seed", "only")},
        "models": models,
        "kernels": measured,
    }
    settings.output.mkdir(parents=True, exist_ok=True)
    (settings.output / "comparison.json").write_text(json.dumps(result, indent=1) + "\n")
    text = markdown(result)
    (settings.output / "comparison.md").write_text(text)
    write_plot(result, settings.output / "comparison.png")
    write_summary(result, settings.output / "speed.svg")
    if settings.docs:
        update_page(settings.docs, result, settings.output / "comparison.png")
    print(text)


if __name__ == "__main__":
    main()
