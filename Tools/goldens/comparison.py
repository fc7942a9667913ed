"""When two tensors agree."""

import numpy as np

TOLERANCE = 1e-4


def difference(expected, actual):
    """Says how `actual` is wrong, or None: integers must be equal, floats close.

    Floats may differ by `TOLERANCE` of the tensor's largest finite magnitude; NaN equals NaN.
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
    return None if error <= TOLERANCE else f"relative error {error:.3g}"


def relative_error(expected, actual):
    """The largest error relative to the tensor's largest finite magnitude."""
    finite = np.isfinite(expected)
    same_special = np.isnan(expected) & np.isnan(actual) | (expected == actual)
    if not np.all(same_special | finite & np.isfinite(actual)):
        return float("inf")
    if not finite.any():
        return 0.0
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    error = float(np.abs(expected[finite].astype(wide) - actual[finite].astype(wide)).max())
    magnitude = float(np.abs(expected[finite]).max())
    return error / magnitude if magnitude else (float("inf") if error else 0.0)
