# SPDX-License-Identifier: Apache-2.0
"""How our times compare with those of the peers that count."""

import math

PEERS = ("litert", "litert-builtin", "openvino-f32")

# By scheme: the least geometric mean of ratios, and the least ratio of any model.
GOALS = {"uint8": (3.5, 1.0), "int8": (1.7, 1.0), "float": (1.35, 1.0)}
# The same of OpenVINO's default ÷ ours with bfloat16.
DEFAULT_GOAL = (1.15, 1.0)


def time(engine):
    """The median of an engine's result that counts, or None."""
    if not engine or "median_ms" not in engine or "disagreement" in engine:
        return None
    return engine["median_ms"]


def best_peer(engines):
    """The fastest peer that has the right answer, and its median; None if no peer has."""
    times = [(time(engines.get(name)), name) for name in PEERS]
    times = [entry for entry in times if entry[0] is not None]
    return min(times) if times else None


def ratio(engines):
    """The best peer's median divided by ours; None where either is missing."""
    ours, best = time(engines.get("apus")), best_peer(engines)
    return best[0] / ours if ours and best else None


def ratios(models, scheme, threads):
    """Each model's ratio, of one scheme."""
    pairs = ((entry, ratio(entry["threads"].get(threads, {}))) for entry in models if entry["scheme"] == scheme)
    return {entry["model"]: value for entry, value in pairs if value is not None}


def default_ratios(models, threads):
    """OpenVINO's default ÷ ours with bfloat16, for float models that take us 0.1 ms or more in single precision."""
    found = {}
    for entry in models:
        engines = entry["threads"].get(threads, {})
        exact, ours, default = (
            engines.get(name, {}).get("median_ms") for name in ("apus", "apus-bfloat16", "openvino-default")
        )
        if entry["scheme"] == "float" and ours and default and exact and exact >= 0.1:
            found[entry["model"]] = default / ours
    return found


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))
