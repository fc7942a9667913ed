# SPDX-License-Identifier: Apache-2.0
"""When two tensors agree."""

import numpy as np

# Of the tensor's largest finite magnitude.
TOLERANCE = 1e-4
# How far inputs are moved, each float by this part of itself, up or down, and how often, to see how far the reference moves.
STEP, TRIALS = 1e-6, 8


def limits(run, inputs, outputs):
    """How far each output may be off: `TOLERANCE`, or twice what the reference moves by itself when its inputs do.

    Where floats are quantized at run time, or the place of a maximum counts, the last bit of one value may become a step of
    another: then nobody knows the answer to `TOLERANCE`. `run` runs the reference, whose answer to `inputs` is `outputs`.
    """
    found = [TOLERANCE] * len(outputs)
    if not any(values.dtype.kind == "f" for values in inputs):
        return found
    random = np.random.default_rng(0)
    for _ in range(TRIALS):
        for index, (first, second) in enumerate(zip(outputs, run([_moved(values, random) for values in inputs]))):
            if first.dtype.kind in "fc" and first.shape == second.shape:
                movement = relative_error(first, second)
                found[index] = max(found[index], 2 * movement if np.isfinite(movement) else 0)
    return found


def _moved(values, random):
    if values.dtype.kind != "f":
        return values
    return (values * (1 + STEP * random.choice([-1, 1], values.shape))).astype(values.dtype)


def difference(expected, actual, limit=TOLERANCE):
    """Says how `actual` is wrong, or None: integers must be equal, floats close.

    Floats may differ by `limit` of the tensor's largest finite magnitude; NaN equals NaN.
    """
    if expected.dtype.name == "bfloat16":
        # A .npy file has no name for it.
        expected = expected.astype(np.float32)
    if actual.dtype != expected.dtype:
        return f"type {actual.dtype} instead of {expected.dtype}"
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)} instead of {list(expected.shape)}"
    if expected.tobytes() == actual.tobytes():
        return None
    if expected.dtype.kind not in "fc":
        wrong = np.flatnonzero((expected != actual).reshape(-1))
        if wrong.size == 0:
            return None
        first = int(wrong[0])
        largest = int(np.abs(expected.astype(object) - actual.astype(object)).max())
        return (
            f"{wrong.size} of {expected.size} differ, by up to {largest}; "
            f"the first, [{first}], is {actual.flat[first]} instead of {expected.flat[first]}"
        )
    error = relative_error(expected, actual)
    return None if error <= limit else f"relative error {error:.3g}, beyond {limit:.3g}"


def relative_error(expected, actual):
    """The largest error relative to the tensor's largest finite magnitude.

    Errors below 1e-37 count as none: near the least normal number, functions of the reference may end in zero.
    """
    finite = np.isfinite(expected)
    same_special = np.isnan(expected) & np.isnan(actual) | (expected == actual)
    if not np.all(same_special | finite & np.isfinite(actual)):
        return float("inf")
    if not finite.any():
        return 0.0
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    error = float(np.abs(expected[finite].astype(wide) - actual[finite].astype(wide)).max())
    if error < 1e-37:
        return 0.0
    magnitude = float(np.abs(expected[finite]).max())
    return error / magnitude if magnitude else (float("inf") if error else 0.0)
