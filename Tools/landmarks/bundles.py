# SPDX-License-Identifier: Apache-2.0
"""Makes the bundles that MediaPipe's landmarkers open, from the models inside the wheel of 0.10.21.

The models of bodies state no normalization, and `PoseLandmarker` and `HolisticLandmarker` refuse them: here they get the metadata that says
what the wheel's own graphs do with their pictures.
"""

import pathlib
import zipfile

import flatbuffers
from mediapipe.tasks.metadata import metadata_schema_py_generated as schema
from mediapipe.tasks.metadata import schema_py_generated as tflite
from mediapipe.tasks.python.metadata import metadata

SIGNED, UNIT = (127.5, 127.5), (0.0, 255.0)
HANDS = {
    "hand_detector.tflite": ("palm_detection/palm_detection_full.tflite", None),
    "hand_landmarks_detector.tflite": ("hand_landmark/hand_landmark_full.tflite", None),
}
POSES = {
    "pose_detector.tflite": ("pose_detection/pose_detection.tflite", SIGNED),
    "pose_landmarks_detector.tflite": ("pose_landmark/pose_landmark_full.tflite", UNIT),
}
HOLISTIC = POSES | {
    "hand_landmarks_detector.tflite": HANDS["hand_landmarks_detector.tflite"],
    "hand_roi_refinement.tflite": ("holistic_landmark/hand_recrop.tflite", UNIT),
}


def stated(model, mean, deviation):
    """A model with metadata that state how pixels become numbers."""
    unit = schema.ProcessUnitT()
    unit.optionsType, unit.options = schema.ProcessUnitOptions.NormalizationOptions, schema.NormalizationOptionsT()
    unit.options.mean, unit.options.std = [mean], [deviation]
    picture = schema.TensorMetadataT()
    picture.name, picture.processUnits, picture.content = "picture", [unit], schema.ContentT()
    picture.content.contentPropertiesType = schema.ContentProperties.ImageProperties
    picture.content.contentProperties = schema.ImagePropertiesT()
    picture.content.contentProperties.colorSpace = schema.ColorSpaceType.RGB
    graph, whole = schema.SubGraphMetadataT(), schema.ModelMetadataT()
    graph.inputTensorMetadata, graph.outputTensorMetadata = [picture], []
    for number in range(tflite.Model.GetRootAsModel(model, 0).Subgraphs(0).OutputsLength()):
        output = schema.TensorMetadataT()
        output.name = f"output {number}"
        graph.outputTensorMetadata.append(output)
    whole.subgraphMetadata = [graph]
    builder = flatbuffers.Builder(0)
    builder.Finish(whole.Pack(builder), b"M001")
    populator = metadata.MetadataPopulator.with_model_buffer(model)
    populator.load_metadata_buffer(bytes(builder.Output()))
    populator.populate()
    return populator.get_model_buffer()


def make(modules, folder, faces=None):
    """Writes `hands.task`, `poses.task` and, if `faces` is a bundle of faces, `faces.task` and `holistic.task`."""
    modules, folder = pathlib.Path(modules), pathlib.Path(folder)
    contents = {"hands.task": HANDS, "poses.task": POSES} | ({"holistic.task": HOLISTIC} if faces else {})
    for name, entries in contents.items():
        with zipfile.ZipFile(folder / name, "w") as bundle:
            for entry, (path, normalization) in entries.items():
                model = (modules / path).read_bytes()
                bundle.writestr(entry, stated(model, *normalization) if normalization else model)
    if not faces:
        return
    (folder / "faces.task").write_bytes(pathlib.Path(faces).read_bytes())
    with zipfile.ZipFile(faces) as source, zipfile.ZipFile(folder / "holistic.task", "a") as bundle:
        for entry in source.namelist():
            bundle.writestr(entry, source.read(entry))
