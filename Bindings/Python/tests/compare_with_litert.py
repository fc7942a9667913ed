# SPDX-License-Identifier: Apache-2.0
"""Runs models in Apus and in LiteRT's reference kernels, and compares outputs and tensors' details: compare_with_litert.py MODEL…

Outputs of integers must be equal, floats within 1e-4 of the output's range. Needs ai_edge_litert.
"""

import sys
import warnings

import ai_edge_litert.interpreter as litert
import numpy as np

import apus_tflite.interpreter as apus


def inputs(details, seed):
    random = np.random.default_rng(seed)
    for detail in details:
        shape, dtype = detail["shape"], np.dtype(detail["dtype"])
        if dtype == np.bool_:
            yield random.integers(0, 2, shape).astype(dtype)
        elif dtype.kind in "iu":
            limits = np.iinfo(dtype) if dtype.itemsize < 4 else None
            low, high = (limits.min, limits.max + 1) if limits else (0, 2)
            yield random.integers(low, high, shape).astype(dtype)
        else:
            yield random.uniform(-1, 1, shape).astype(dtype)


def main(paths):
    failures = 0
    for path in paths:
        try:
            engine = apus.Interpreter(model_path=path)
            described = engine.get_tensor_details()
            engine.allocate_tensors()
        except (ValueError, RuntimeError) as error:
            print("refused", path, error)
            continue
        try:
            reference = litert.Interpreter(
                model_path=path, experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF
            )
            # Before it allocates: afterwards, it has tensors and names of its own.
            expected = reference.get_tensor_details()
            reference.allocate_tensors()
        except (ValueError, RuntimeError) as error:
            print("not in LiteRT", path, str(error).splitlines()[0])
            continue
        problems = []
        if len(described) != len(expected):
            problems.append("%d tensors, not %d" % (len(described), len(expected)))
        for mine, theirs in zip(described, expected):
            for key in ("name", "index", "dtype", "quantization"):
                if mine[key] != theirs[key]:
                    problems.append("%s: %r, not %r" % (key, mine[key], theirs[key]))
            for key in ("shape", "shape_signature"):
                if not np.array_equal(mine[key], theirs[key]):
                    problems.append("%s of %s: %s, not %s" % (key, mine["name"], mine[key], theirs[key]))
            for key, value in mine["quantization_parameters"].items():
                if not np.array_equal(value, theirs["quantization_parameters"][key]):
                    problems.append("%s of %s" % (key, mine["name"]))
            if repr(mine["sparsity_parameters"]) != repr(theirs["sparsity_parameters"]):
                problems.append("sparsity of %s" % mine["name"])
        for seed in range(2):
            for detail, value in zip(engine.get_input_details(), inputs(reference.get_input_details(), seed)):
                engine.set_tensor(detail["index"], value)
                reference.set_tensor(detail["index"], value)
            engine.invoke()
            reference.invoke()
            for detail in reference.get_output_details():
                mine, theirs = engine.get_tensor(detail["index"]), reference.get_tensor(detail["index"])
                if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
                    problems.append("%s: %s %s, not %s %s" % (
                        detail["name"], mine.dtype, mine.shape, theirs.dtype, theirs.shape))
                elif theirs.dtype.kind == "f":
                    extent = max(float(np.abs(theirs).max(initial=0)), 1e-6)
                    if not np.allclose(mine, theirs, rtol=0, atol=1e-4 * extent, equal_nan=True):
                        problems.append("%s differs by %g" % (detail["name"], np.abs(mine - theirs).max()))
                elif not np.array_equal(mine, theirs):
                    problems.append("%s differs in %d of %d" % (
                        detail["name"], (mine != theirs).sum(), theirs.size))
        failures += bool(problems)
        print("differs" if problems else "equal", path, "; ".join(problems))
    return 1 if failures else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main(sys.argv[1:]))
