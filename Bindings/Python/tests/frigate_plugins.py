# SPDX-License-Identifier: Apache-2.0
"""Runs three of Frigate's detectors, unedited, on Apus: their rows must be those of LiteRT's reference kernels.

    frigate_plugins.py FRIGATE

FRIGATE is a copy of github.com/blakeblackshear/frigate. Its `cpu` plugin imports apus_tflite in place of tflite_runtime; `zmq` and `deepstack`
ask a server, whose program APUS_SERVER names. Models and pictures are those of APUS_TEST_DATA. Needs ai_edge_litert, Pillow, pydantic, pyzmq
and requests. Where cv2 and ruamel.yaml are not installed, empty modules stand for them: the plugins call neither.
"""

import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
from PIL import Image

PROJECT = Path(__file__).resolve().parents[3]
MODEL = "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite"
SIDE = 300


def frames():
    """Pictures as Frigate hands them to a detector."""
    for path in sorted((Path(os.environ["APUS_TEST_DATA"]) / "images").iterdir()):
        if path.suffix in (".jpg", ".png", ".bmp"):
            yield np.asarray(Image.open(path).convert("RGB").resize((SIDE, SIDE), Image.BILINEAR))[None]


def load_frigate(folder, engine):
    """Frigate's package of detectors, where `tflite_runtime` is another package."""
    sys.path.insert(0, folder)
    for name in ("cv2", "ruamel.yaml"):
        if importlib.util.find_spec(name.split(".")[0]) is None:
            sys.modules[name.split(".")[0]] = sys.modules[name] = types.ModuleType(name)
            sys.modules[name].YAML = object
    runtime = types.ModuleType("tflite_runtime")
    runtime.interpreter = engine
    sys.modules |= {"tflite_runtime": runtime, "tflite_runtime.interpreter": engine}
    import frigate.detectors

    return frigate.detectors


def reference_engine():
    """LiteRT's package with interpreters of reference kernels."""
    import ai_edge_litert.interpreter as litert

    engine = types.ModuleType("reference")
    engine.load_delegate = litert.load_delegate
    engine.Interpreter = lambda **options: litert.Interpreter(
        **options, experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    return engine


def detect(folder, engine, settings, as_jpeg=False):
    """The rows that a detector of Frigate's finds in each picture, and Frigate's names of classes."""
    if engine == "apus":
        import apus_tflite.interpreter as module
    else:
        module = reference_engine()
    detectors = load_frigate(folder, module)
    from pydantic import TypeAdapter

    model = {"path": str(Path(os.environ["APUS_TEST_DATA"]) / "models" / MODEL), "width": SIDE, "height": SIDE,
             "labelmap_path": f"{folder}/labelmap.txt"}
    configuration = TypeAdapter(detectors.DetectorConfig).validate_python(settings | {"model": model})
    detector = detectors.create_detector(configuration)
    rows = []
    for frame in frames():
        if as_jpeg:  # what a detector that sends files of JPEG shows to the model
            file = io.BytesIO()
            Image.fromarray(frame[0]).save(file, "JPEG")
            frame = np.asarray(Image.open(file))[None]
        rows.append(np.array(detector.detect_raw(frame)).tolist())
    return rows, configuration.model.merged_labelmap


def in_process(folder, engine, settings, as_jpeg=False):
    """The rows of `detect`, in a process of its own, as Frigate imports its engine once."""
    ended = subprocess.run(
        [sys.executable, __file__, folder, engine, json.dumps(settings), json.dumps(as_jpeg)], capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"error: the detector {settings['type']}:\n{ended.stderr[-4000:]}")
    rows, labels = json.loads(ended.stdout.splitlines()[-1])
    return np.array(rows, np.float32), {int(index): name for index, name in labels.items()}


def check(name, rows, expected, tolerance):
    """Classes and scores must be equal, corners within a tolerance."""
    if rows.shape != expected.shape or not np.array_equal(rows[:, :, :2], expected[:, :, :2]):
        differing = [place for place in range(len(expected)) if not np.array_equal(rows[place, :, :2], expected[place, :, :2])]
        sys.exit(f"error: {name}: other classes or scores than LiteRT's in pictures {differing}")
    largest = float(np.abs(rows - expected).max())
    found = int((rows[:, :, 1] > 0).sum())
    if largest > tolerance or not found:
        sys.exit(f"error: {name}: {found} objects, whose corners differ by up to {largest:g}")
    print(f"{name}: {found} objects in {len(rows)} pictures as in LiteRT, corners within {largest:.1g}", flush=True)


def as_pixels(expected, labels):
    """Rows as DeepStack's paths can say them: classes by name, corners as whole pixels."""
    by_name = {name: index for index, name in reversed(labels.items())}
    rows = expected.copy()
    for picture in rows:
        for row in picture:
            if row[1] > 0:
                name = labels[int(row[0])]
                row[0] = by_name["car" if name == "truck" else name]
                row[2:] = np.floor(np.clip(row[2:].astype(np.float64) * SIDE, 0, SIDE) + 0.5) / SIDE
    return rows


def main(folder):
    cpu = {"type": "cpu", "num_threads": 3}
    expected, labels = in_process(folder, "litert", cpu)
    check("cpu", in_process(folder, "apus", cpu)[0], expected, 0)
    if not os.environ.get("APUS_SERVER"):
        print("skipped: zmq and deepstack: APUS_SERVER names no server")
        return
    sys.path.insert(0, str(PROJECT / "Serving/Tests"))
    from server import Server

    with tempfile.TemporaryDirectory() as work:
        endpoint = f"ipc://{work}/detector"
        with Server("--frigate", endpoint) as server:
            zmq = {"type": "zmq", "endpoint": endpoint, "request_timeout_ms": 30_000}
            rows = in_process(folder, "litert", zmq)[0]
            server.stop()
        # Corners go through pixels of the picture: an ulp of the number may be lost.
        check("zmq", rows, expected, 2e-7)

        model = Path(work) / "detect.tflite"
        model.write_bytes((Path(os.environ["APUS_TEST_DATA"]) / "models" / MODEL).read_bytes())
        model.with_suffix(".txt").write_text("".join(f"{labels[index]}\n" for index in range(max(labels) + 1)))
        with Server(model, "--deepstack") as server:
            deepstack = {"type": "deepstack", "api_url": f"http://{server.http}/v1/vision/detection", "api_timeout": 30}
            rows = in_process(folder, "litert", deepstack)[0]
            server.stop()
        check("deepstack", rows, as_pixels(in_process(folder, "litert", cpu, True)[0], labels), 1e-6)


if __name__ == "__main__":
    if len(sys.argv) == 5:
        print("\n" + json.dumps(detect(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4]))))
    elif len(sys.argv) == 2:
        main(str(Path(sys.argv[1]).resolve()))
    else:
        sys.exit(__doc__)
