# SPDX-License-Identifier: Apache-2.0
"""Whether two engines give the same answer, as far as their arithmetic allows."""

import numpy as np


def read_outputs(files, facts):
    """The real outputs that a worker wrote."""
    outputs = []
    for place, entry in enumerate(files):
        values = np.fromfile(entry["file"], entry["type"]).reshape(entry["shape"])
        quantized = values.dtype.kind in "iu" and values.dtype.itemsize < 4
        outputs.append(facts.real_output(place, values) if quantized else values.astype(np.float64))
    return outputs


def disagreement(expected, found, has_detections):
    """None where two lists of outputs agree, otherwise what is different.

    Quantized engines round differently: an output agrees if its values correlate by 0.95, if they differ by at most a
    twentieth of their range, or if the greatest value of each row is at the same place in 95 of 100 rows. Classes
    as integers must be equal in 95 of 100 places. Detections are compared by their scores.
    """
    if len(expected) != len(found):
        return f"{len(found)} outputs instead of {len(expected)}"
    if has_detections:
        # Boxes, classes, scores and their count; equal scores may come in any order.
        scores = [output.reshape(-1) for output in (expected[2], found[2])] if len(expected) > 2 else []
        count = min((len(score) for score in scores), default=0)
        if count and np.abs(scores[0][:count] - scores[1][:count]).max() > 0.15:
            return "the scores of detections differ"
        return None
    for place, (wanted, actual) in enumerate(zip(expected, found)):
        if wanted.size != actual.size:
            return f"output {place} has {actual.size} values instead of {wanted.size}"
        problem = _difference(wanted.reshape(-1), actual.reshape(-1), wanted.shape[-1] if wanted.ndim else 1)
        if problem:
            return f"output {place}: {problem}"
    return None


def largest_difference(expected, found):
    """The largest difference of an output, as a share of its range, or of its magnitude if it is a single value; None where outputs
    cannot be compared.
    """
    shares = [0.0]
    for wanted, actual in zip(expected, found):
        if wanted.size != actual.size:
            return None
        known = np.isfinite(wanted) & np.isfinite(actual.reshape(wanted.shape))
        if known.any():
            spread = wanted[known].max() - wanted[known].min() or np.abs(wanted[known]).max()
            error = np.abs(wanted - actual.reshape(wanted.shape))[known].max()
            shares.append(float(error / spread) if spread > 0 else float(error > 0))
    return max(shares)


def _difference(wanted, actual, row):
    if not wanted.size:
        return None
    if not np.isfinite(actual).all() or not np.isfinite(wanted).all():
        return None if np.array_equal(np.isfinite(wanted), np.isfinite(actual)) else "values are not finite"
    spread = wanted.max() - wanted.min()
    error = np.abs(wanted - actual).max()
    if error <= max(0.05 * spread, 1e-6) or error <= 0.01 * np.abs(wanted).max():
        return None
    # A few scores have no range of their own: that of probabilities is 1.
    if wanted.size <= 4 and error <= 0.05:
        return None
    if (np.round(wanted) == wanted).all() and (wanted == actual).mean() >= 0.95:
        return None
    if spread > 0 and actual.std() > 0 and np.corrcoef(wanted, actual)[0, 1] >= 0.95:
        return None
    if 2 <= row <= 100_000:
        places = [values.reshape(-1, row).argmax(1) for values in (wanted, actual)]
        if (places[0] == places[1]).mean() >= 0.95:
            return None
    return f"the largest difference is {error:.3g} in a range of {spread:.3g}"
