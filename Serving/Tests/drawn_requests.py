# SPDX-License-Identifier: Apache-2.0
"""Draws requests for `random_requests.py`: each from a seed and a number, with what is known about its answer."""

import gzip
import io
import json
import math
import random
import struct
import urllib.parse
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

EXAMPLES = Path(__file__).resolve().parents[2] / "Examples"
TYPES = {"BOOL": "?", "UINT8": "u1", "UINT16": "<u2", "UINT32": "<u4", "UINT64": "<u8", "INT8": "i1", "INT16": "<i2", "INT32": "<i4",
         "INT64": "<i8", "FP16": "<f2", "BF16": "<u2", "FP32": "<f4", "FP64": "<f8"}
TASKS = {"detect": "squares-yolo", "classify": "color-classifier", "embed": "embedder", "segment": "colors", "keypoints": "marked-joints",
         "faces": "faces"}
ODD_NAMES = ["", "nobody", "simple%00", "%ff", "%e2%80%ae", "a%2fb", "..", "%2e%2e%2fetc", "x" * 2_000, "simple%20", "SIMPLE", "%", "simple:predict",
             "1", "é".encode().decode("latin1"), "%F0%9F%90%B8", "simple;x", "stats", "index"]
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]


class Drawn:
    """One request, and what must hold of its answer."""

    def __init__(self, kind, method, target, body=b""):
        self.kind, self.method, self.target, self.body = kind, method, target, body
        self.headers = []
        self.expected = None  # Statuses; None for all that the document has.
        self.check = None  # Called with the answer's headers and body if it is a 200.
        self.is_pure = False  # Whether it has the same answer at any time.
        self.is_chunked = False
        self.chunks = []
        self.template = None  # Of the document; None where it does not have the path.

    def wire(self):
        lines = [f"{self.method} {self.target} HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in self.headers)]
        if self.is_chunked:
            lines.append("Transfer-Encoding: chunked")
            body, start = b"", 0
            for size, extension in self.chunks:
                part = self.body[start:start + size]
                start += size
                if part:
                    body += b"%x%s\r\n%s\r\n" % (len(part), extension, part)
            part = self.body[start:]
            body += (b"%x\r\n%s\r\n" % (len(part), part) if part else b"") + b"0\r\n\r\n"
        else:
            body = self.body
            if body or self.method in ("POST", "PUT", "PATCH"):
                lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join(lines).encode("latin1") + b"\r\n\r\n" + body


class Drawer:
    """Draws requests for the models that a server has, whose metadata it is given by name."""

    def __init__(self, document, metadata):
        self.document, self.metadata = document, metadata
        self.files = pictures()
        self.operations = [(path, method) for path, item in document["paths"].items() for method in item if method != "parameters"]
        # One that is loaded and unloaded cannot be asked for its numbers.
        self.inferable = [name for name in metadata if name not in TASKS.values() and name != "versioned"]

    def draw(self, seed, number):
        choice = random.Random(f"{seed}/{number}")
        kind = choice.choices(
            [self.documented, self.inference, self.broken_inference, self.picture, self.broken_picture, self.elsewhere, self.repository],
            [20, 36, 20, 10, 7, 4, 3])[0]
        drawn = kind(choice)
        self.travel(drawn, choice)
        return drawn

    # ---- How a request travels

    def travel(self, drawn, choice):
        """Compresses and cuts a body, adds headers; what is refused for that has its status."""
        refused = None
        if drawn.body and choice.random() < 0.15:
            encoding = choice.choice(["gzip", "x-gzip", "deflate", "GZIP", "identity", "br", "gzip, gzip"])
            drawn.headers.append(("Content-Encoding", encoding))
            if "gzip" in encoding.lower():
                half = choice.randrange(len(drawn.body) + 1)
                drawn.body = gzip.compress(drawn.body[:half], 1) + gzip.compress(drawn.body[half:], 1)
            elif encoding == "deflate":
                drawn.body = zlib.compress(drawn.body, 1)
            if encoding in ("br", "gzip, gzip"):
                refused = 415
            elif encoding != "identity" and choice.random() < 0.2:
                drawn.body = drawn.body[:-choice.randrange(1, 9)]
                refused = 400
        if choice.random() < 0.25 and drawn.method != "HEAD":
            drawn.is_chunked = True
            for _ in range(choice.randrange(4)):
                drawn.chunks.append((choice.randrange(1, 2 * len(drawn.body) + 2), choice.choice([b"", b";a", b";a=b;c=\"d\""])))
        for name, values, share in (
                ("Accept-Encoding", ["gzip", "deflate", "br", "gzip;q=0", "*", "identity;q=0, gzip", "*;q=0", "gzip;q=0.5, deflate"], 0.3),
                ("Content-Type", ["application/json", "application/octet-stream", "text/plain", "image/jpeg", "multipart/form-data; boundary=b", "x"], 0.4),
                ("Accept", ["*/*", "application/json", "text/html;q=0.1", "x"], 0.2), ("Connection", ["keep-alive", "close", "TE"], 0.1),
                ("Authorization", ["Bearer x", "Basic eDp5", ""], 0.05), ("X-Request-Id", ["1", "\x80\xff", "y" * 1_000], 0.05),
                ("If-None-Match", ["*"], 0.02), ("Range", ["bytes=0-1"], 0.05), ("Cookie", ["a=b; c" * 50], 0.02),
                ("X-HTTP-Method-Override", ["DELETE"], 0.02), ("Cache-Control", ["no-cache"], 0.05)):
            if choice.random() < share:
                drawn.headers.append((name, choice.choice(values)))
        if choice.random() < 0.01:
            drawn.headers += [("X-Many", "y")] * choice.choice([500, 1_200])
            if len(drawn.headers) > 1_000:
                refused = 431
        choice.shuffle(drawn.headers)
        accepted = dict(drawn.headers).get("Accept-Encoding")
        if not drawn.target.isascii():
            drawn.expected = {400}
        elif refused == 431:
            drawn.expected = {431}
        elif accepted == "*;q=0":
            drawn.expected = {406}
        elif refused and drawn.expected and 200 in drawn.expected and drawn.kind != "repository":
            drawn.expected = {refused, 413}
        elif refused and drawn.expected is not None:
            drawn.expected = drawn.expected | {refused}

    # ---- What the document has

    def documented(self, choice):
        template, method = choice.choice(self.operations)
        item = self.document["paths"][template]
        operation = item[method]
        parameters = [self.resolved(parameter) for parameter in [*item.get("parameters", []), *operation.get("parameters", [])]]
        target, query, is_odd = template, [], False
        for parameter in parameters:
            name, schema = parameter["name"], parameter["schema"]
            if parameter["in"] == "path":
                if name == "model" and choice.random() < 0.8:
                    value = "versioned" if "load" in template else choice.choice(["simple", "types", "rectified", "nameless", "identity", "labelled"])
                elif name == "version":
                    value = choice.choice(["1", "1", "3", "0", "-1", "99999999999999999999", "x"])
                elif "enum" in schema and choice.random() < 0.8:
                    value = choice.choice(schema["enum"])
                elif name == "model" and "load" in template:
                    value = "nobody"
                else:
                    value, is_odd = choice.choice(ODD_NAMES), True
                target = target.replace("{%s}" % name, value)
            elif choice.random() < 0.3:
                query.append(f"{name}={urllib.parse.quote(str(self.value(schema, choice)), safe='')}")
        drawn = Drawn(f"{method} {template}", method.upper(), target + ("?" + "&".join(query) if query else ""))
        drawn.template = template
        if choice.random() < 0.12:
            drawn.method = choice.choice(METHODS)
        if "requestBody" in operation and drawn.method == "POST":
            content = self.resolved(operation["requestBody"])["content"]
            schema = next(iter(content.values()))["schema"]
            if "json" in next(iter(content)):
                drawn.body = json.dumps(self.value(schema, choice)).encode()
            if choice.random() < 0.2:
                drawn.body = choice.choice([b"", b"{", b"[]", b"null", b"{}x", bytes(choice.randrange(256) for _ in range(50)), b"[" * 5_000])
        elif choice.random() < 0.05:
            drawn.body = b"a body that nobody asked for"
        drawn.is_pure = drawn.method in ("GET", "HEAD") and not any(word in target for word in ("stats", "metrics", "ready", "index"))
        if is_odd:
            drawn.template = None
        return drawn

    def resolved(self, value):
        while "$ref" in value:
            found = self.document
            for part in value["$ref"].split("/")[1:]:
                found = found[part]
            value = found
        return value

    def value(self, schema, choice, depth=0):
        """A value that a schema allows, or seldom one that it does not."""
        schema = self.resolved(schema)
        if choice.random() < 0.05:
            return choice.choice([None, True, -1, 2**63, 1e300, "", "\u0000\u202e", [], {}, [[[]]], "x" * 3_000])
        if "enum" in schema:
            return choice.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "object":
            names = schema.get("properties", {"parameters": {}, "config": {}, "é": {}})
            return {name: self.value(inner, choice, depth + 1) for name, inner in names.items()
                    if name in schema.get("required", []) or choice.random() < 0.5}
        if kind == "array":
            return [self.value(schema.get("items", {}), choice, depth + 1) for _ in range(choice.choice([0, 1, 1, 2, 5]))] if depth < 5 else []
        if kind == "integer":
            return choice.choice([0, 1, 2, 16, choice.randrange(-5, 100), 2**31, 2**64])
        if kind == "number":
            return choice.choice([0, 0.5, 1, -1, 1e-300, 1e39])
        if kind == "boolean":
            return choice.random() < 0.5
        if kind == "string":
            return choice.choice(["simple", "INPUT0", "x", "", "1", "true", "ünï", "a\nb", "%"])
        return self.value({"type": choice.choice(["integer", "string", "boolean", "number"])}, choice, depth + 1)

    # ---- Inference

    def arrays(self, name, choice):
        """Inputs that fit a model, by name."""
        values = np.random.default_rng(choice.getrandbits(63))
        batch, length = choice.randrange(1, 9), choice.randrange(1, 40)
        arrays = {}
        for tensor in self.metadata[name]["inputs"]:
            shape = [(batch if axis == 0 else length) if size < 0 else size for axis, size in enumerate(tensor["shape"])]
            kind = TYPES[tensor["datatype"]]
            if name == "countdown":
                array = values.integers(0, 50, shape).astype(kind)
            elif "f" in kind:
                array = (values.standard_normal(shape) * 10.0 ** values.integers(-4, 5)).astype(kind)
                if choice.random() < 0.2:
                    array.flat[0] = choice.choice([0.0, -0.0, 1e-7])
            elif kind == "?":
                array = values.random(shape) < 0.5
            else:
                info = np.iinfo(kind)
                array = values.integers(info.min, info.max, shape, dtype=np.dtype(kind).newbyteorder("="), endpoint=True).astype(kind)
            arrays[tensor["name"]] = (tensor["datatype"], array)
        return arrays

    def inference(self, choice):
        name = choice.choice(self.inferable)
        arrays = self.arrays(name, choice)
        request, binary = {"inputs": []}, b""
        if choice.random() < 0.5:
            request["id"] = choice.choice(["1", "", "ünï \u2028", "x" * 100])
        entries = list(arrays.items())
        choice.shuffle(entries)
        for tensor, (datatype, array) in entries:
            entry = {"name": tensor, "datatype": datatype, "shape": list(array.shape)}
            if datatype in ("FP16", "BF16") or choice.random() < 0.4:
                entry["parameters"] = {"binary_data_size": array.nbytes}
                binary += array.tobytes()
            else:
                values = array.tolist() if choice.random() < 0.5 else array.ravel().tolist()
                entry["data"] = values
            request["inputs"].append(entry)
        outputs = {tensor["name"]: tensor["datatype"] for tensor in self.metadata[name]["outputs"]}
        parameters = {}
        if choice.random() < 0.3:
            parameters["binary_data_output"] = True
        if choice.random() < 0.2:
            parameters["priority"] = choice.choice([0, 1, 2, 3, 1 << 40])
        if choice.random() < 0.2:
            parameters["timeout"] = choice.choice([0, 30_000_000, 1 << 62])
        if choice.random() < 0.1:
            parameters["anything"] = choice.choice(["x", 1.5, False])
        wanted = {output: parameters.get("binary_data_output", False) for output in outputs}
        classes = {}
        needs_binary = any(datatype in ("FP16", "BF16") for datatype in outputs.values())
        if needs_binary or choice.random() < 0.5:
            asked = choice.sample(list(outputs), choice.randrange(1, len(outputs) + 1))
            request["outputs"], wanted = [], {}
            for output in asked:
                entry = {"name": output}
                if choice.random() < 0.15 and outputs[output] not in ("BOOL",):
                    classes[output] = choice.choice([1, 2, 3, 1000])
                    entry["parameters"] = {"classification": classes[output]}
                    wanted[output] = parameters.get("binary_data_output", False)
                elif outputs[output] in ("FP16", "BF16") or choice.random() < 0.4:
                    entry["parameters"] = {"binary_data": True}
                    wanted[output] = True
                else:
                    wanted[output] = parameters.get("binary_data_output", False)
                request["outputs"].append(entry)
        if parameters:
            request["parameters"] = parameters
        text = json.dumps(request, ensure_ascii=choice.random() < 0.5).encode()
        version = self.metadata[name]["versions"][-1]
        path = f"/v2/models/{name}" + (f"/versions/{version}" if choice.random() < 0.3 else "") + "/infer"
        drawn = Drawn("inference", "POST", path, text + binary)
        if binary or choice.random() < 0.2:
            drawn.headers.append(("Inference-Header-Content-Length", str(len(text))))
        drawn.expected, drawn.is_pure, drawn.template = {200}, True, "/v2/models/{model}/infer"
        expected = oracle(name, [array for _, array in (arrays[tensor["name"]] for tensor in self.metadata[name]["inputs"])])
        drawn.check = lambda headers, body: check_inference(
            self.metadata[name], request, wanted, classes, expected, headers, body)
        return drawn

    def broken_inference(self, choice):
        drawn = self.inference(choice)
        drawn.kind, drawn.check = "broken inference", None
        drawn.expected, drawn.is_pure = {400}, True
        lengths = [value for name, value in drawn.headers if name == "Inference-Header-Content-Length"]
        size = int(lengths[0]) if lengths else len(drawn.body)
        text, binary = drawn.body[:size], drawn.body[size:]
        request = json.loads(text)
        entry = choice.choice(request["inputs"])
        kind = choice.randrange(18)
        if kind == 0:
            entry["name"] = choice.choice(["nobody", "", "x" * 5_000, "\u0000"])
        elif kind == 1:
            request["inputs"].remove(entry)
            drawn.expected = {400}
        elif kind == 2:
            request["inputs"].append(entry)
        elif kind == 3:
            entry["datatype"] = choice.choice(["INT31", "", "fp32", "STRING", 5, None])
        elif kind == 4:
            entry["shape"] = choice.choice([[], [-1], entry["shape"] + [1], [2**63 - 1, 2**63 - 1], [2**64], [0.5], "1", None, [1] * 20, [0] * 17])
        elif kind == 5 and "data" in entry:
            entry["data"] = np.array(entry["data"]).ravel().tolist()[:-1]
        elif kind == 6 and "data" in entry:
            entry["data"] = [entry["data"], 1]
        elif kind == 7 and "data" in entry:
            entry["data"] = choice.choice([{}, None, "AAAA", 1, [None], [{}], [["x"]], [1e999], [[[[[]]]]]])
        elif kind == 8:
            request["outputs"] = [{"name": choice.choice(["nobody", "", "é"])}]
        elif kind == 9:
            output = {"name": next(iter(self.metadata_of(drawn)["outputs"]))["name"], "parameters": {"binary_data": True}}
            request["outputs"] = [output, output]
        elif kind == 10:
            request["parameters"] = choice.choice([[], 1, "x", {"timeout": -1}, {"priority": 1.5}, {"timeout": "1"}, {"binary_data_output": 1}, {"priority": None}])
        elif kind == 11:
            entry["parameters"] = {"binary_data_size": choice.choice([-1, 2**62, 1.5, "4", None, len(binary) + 1])}
        elif kind == 12:
            entry["parameters"] = {**entry.get("parameters", {}), "shared_memory_region": "x"}
        elif kind == 13:
            drawn.headers = [("Inference-Header-Content-Length", choice.choice(["-1", "x", "1.5", "99999999999999999999", str(len(drawn.body) + 1)]))]
        elif kind == 14:
            request = choice.choice([[], None, 1, "x", {}, {"inputs": {}}, {"inputs": [1]}, {"inputs": None}])
            drawn.expected = {400}
        else:
            # Bytes of the text by chance: valid or not, nobody knows.
            drawn.expected = None
            changed = bytearray(text)
            for _ in range(choice.choice([1, 1, 2, 5])):
                place = choice.randrange(len(changed))
                changed[place:place + choice.randrange(3)] = choice.choice(
                    [b"", bytes([choice.randrange(256)]), b"[[", b"}}", b'"', b"1e999", b"-", b"18446744073709551616", b"null", b"\\u", b"NaN"])
            drawn.body = bytes(changed) + binary
            return drawn
        if kind in (5, 6, 7) and "data" not in entry:
            drawn.expected = {200}
        changed = json.dumps(request).encode()
        drawn.body = changed + binary
        if kind != 13:
            drawn.headers = [(name, str(len(changed))) for name, _ in drawn.headers]
            if kind == 11 and not lengths:
                drawn.headers.append(("Inference-Header-Content-Length", str(len(changed))))
        return drawn

    def metadata_of(self, drawn):
        return self.metadata[drawn.target.split("/")[3]]

    # ---- Pictures

    def picture(self, choice):
        task, model = choice.choice(list(TASKS.items()))
        name, file, size = choice.choice(self.files)
        query, settings = {"model": model}, {}
        if choice.random() < 0.4 and task not in ("embed", "segment"):
            settings["score_threshold"] = choice.choice([0, 0.1, 0.5, 0.9, 1])
        if choice.random() < 0.4 and task not in ("embed", "segment"):
            settings["max_results"] = choice.choice([1, 2, 5, 1_000_000])
        if choice.random() < 0.3:
            settings["fit"] = choice.choice(["stretch", "center-crop", "letterbox"])
        if choice.random() < 0.2:
            settings["pixels"] = choice.choice(["unit", "signed", "raw", "127.5:127.5"])
        annotates = task not in ("classify", "embed") and choice.random() < 0.2
        text = urllib.parse.urlencode({**query, **settings, **({"annotate": "png"} if annotates else {})}, quote_via=urllib.parse.quote)
        drawn = Drawn(f"picture {task} {name}", "POST", f"/v1/{task}?{text}", file)
        drawn.expected, drawn.is_pure, drawn.template = {200}, True, "/v1/{task}"
        if task == "detect" and settings.get("score_threshold") == 0:
            # Where all candidates are asked for, a score that all have is told from a reading that is wrong.
            drawn.expected = {200, 400}
        drawn.check = lambda headers, body: check_picture(task, settings, annotates, size, headers, body)
        return drawn

    def broken_picture(self, choice):
        drawn = self.picture(choice)
        drawn.kind, drawn.check = "broken picture", None
        kind = choice.randrange(6)
        if kind == 0:
            drawn.body = choice.choice([b"", b"hello", b"GIF89a" + bytes(40), b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"<svg/>", drawn.body[:30]])
            drawn.expected = {400, 415}
        elif kind == 1:
            # What a form sends is no picture, however often it is in it.
            part = b"--b\r\nContent-Disposition: form-data; name=f\r\n\r\n"
            drawn.body = part * choice.choice([1, 3, 1_000]) + drawn.body + b"\r\n--b--\r\n"
            drawn.headers.append(("Content-Type", "multipart/form-data; boundary=b"))
            drawn.expected = {400, 415}
        elif kind == 2:
            drawn.target += "&" + choice.choice(["score_threshold=x", "score_threshold=nan", "max_results=0", "max_results=-1", "fit=x", "annotate=gif",
                                                 "unknown=1", "channels=x", "layout=x", "candidates=x", "anchors=1,x", "keypoints=17", "output=gif", "fit_output=1", "output_pixels=x", "scores=x", "box_units=", "pixels=1:0", "a=%ff", "max_results=99999999999999999999"])
            drawn.expected = {400}
        else:
            changed = bytearray(drawn.body)
            for _ in range(choice.choice([1, 3, 20])):
                changed[choice.randrange(len(changed))] = choice.randrange(256)
            if choice.random() < 0.3:
                del changed[choice.randrange(len(changed)):]
            drawn.body = bytes(changed)
            drawn.expected = None
        return drawn

    # ---- Others

    def elsewhere(self, choice):
        """Paths of TensorFlow Serving and of nobody: there is nothing."""
        target = choice.choice(["/v1/models/simple:predict", "/v1/models/simple", "/v1/models/simple/versions/1:classify", "/v1/models/simple/metadata",
                                "/nothing", "/v3", "/v2/models", "/v2/models/", "//", "/v2//models/simple", "/v1", "/v2/health", "/v2/health/x", "/metrics/x",
                                "/v2/models/simple/infer/x", "/v2/repository", "/v2/trace/setting/x", "/.git/config", "/v1/detect/x",
                                "/v2/models/simple/versions", "/v1/%64etect/..", "/" + "x/" * 200, "/v2/models/simple/generate"])
        drawn = Drawn("elsewhere", choice.choice(METHODS), target)
        if drawn.method != "HEAD" and choice.random() < 0.5:
            drawn.body = b'{"instances": [[1, 2]]}'
        drawn.expected, drawn.is_pure = {404}, True
        return drawn

    def repository(self, choice):
        """Loads and unloads a model that no other request asks for its numbers."""
        action = choice.choice(["load", "unload"])
        drawn = Drawn("repository", "POST", f"/v2/repository/models/versioned/{action}")
        drawn.template = f"/v2/repository/models/{{model}}/{action}"
        drawn.expected = {200, 503}
        if choice.random() < 0.5:
            drawn.body = choice.choice([b"{}", b'{"parameters":{}}', b'{"parameters":{"unload_dependents":true}}'])
        elif action == "load" and choice.random() < 0.3:
            drawn.body = json.dumps({"parameters": choice.choice([
                {"file:1/model.tflite": "AAAA"}, {"config": "{"}, {"config": '{"max_batch_size":4}'}, {"config": 5}])}).encode()
            drawn.expected = {400}
        return drawn


def pictures():
    """Files of many formats and sizes: a name, the bytes, and the size of the picture."""
    files = [(path.name, path.read_bytes(), Image.open(path).size) for path in sorted((EXAMPLES / "Pictures").glob("*.png"))]
    random = np.random.default_rng(7)
    for mode, kind, size, more in (("RGB", "JPEG", (37, 61), {}), ("L", "JPEG", (64, 48), {}), ("RGB", "JPEG", (120, 90), {"progressive": True}),
                                   ("RGBA", "PNG", (33, 20), {}), ("P", "PNG", (40, 40), {}), ("L", "PNG", (1, 1), {}), ("RGB", "BMP", (17, 9), {}),
                                   ("RGB", "PPM", (21, 34), {}), ("I;16", "PNG", (20, 20), {}), ("RGB", "PNG", (400, 3), {})):
        pixels = random.integers(0, 256, (size[1], size[0], 3), np.uint8)
        image = Image.fromarray(pixels)
        image = Image.fromarray(pixels[..., 0].astype(np.uint16) * 257) if mode == "I;16" else image.convert(mode)
        file = io.BytesIO()
        image.save(file, kind, **more)
        files.append((f"{mode} {kind}", file.getvalue(), size))
    return files


# ---- What is right


def oracle(name, arrays):
    """What NumPy says that a model's outputs are, with a tolerance; None for what only its shape is known of."""
    if name in ("simple", "simple_batch", "versioned"):
        return [(arrays[0] + arrays[1], 0), (arrays[0] - arrays[1], 0)]
    if name in ("types", "identity"):
        return [(array, 0) for array in arrays]
    if name == "nameless":
        return [(arrays[0] + arrays[1] + arrays[2], 0)]
    if name == "open_length":
        return [(-arrays[0], 0)]
    if name == "rectified":
        return [(np.where(arrays[0] < 0, 0, arrays[0]).astype(arrays[0].dtype), 0)]
    if name == "countdown":
        return [(np.minimum(arrays[0], 0), 0)]
    if name == "mixing":
        return [(arrays[0] + arrays[0].sum(0), 1e-4)]
    if name == "logarithm":
        with np.errstate(all="ignore"):
            return [(np.log(arrays[0]), 1e-5)]
    return None


def strict(text):
    """JSON as RFC 8259 has it: no NaN, no key twice."""
    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    def unique(pairs):
        assert len({key for key, _ in pairs}) == len(pairs), "a key is there twice"
        return dict(pairs)

    return json.loads(text.decode("utf-8"), parse_constant=refuse, object_pairs_hook=unique)


def check_inference(metadata, request, wanted, classes, expected, headers, body):
    length = headers.get("inference-header-content-length")
    answer = strict(body if length is None else body[:int(length)])
    tail = b"" if length is None else body[int(length):]
    assert answer["model_name"] == metadata["name"] and answer.get("id") == (request.get("id") or None) or not request.get("id"), answer
    assert [output["name"] for output in answer["outputs"]] == list(wanted), "other outputs than asked for"
    names = [tensor["name"] for tensor in metadata["outputs"]]
    for output in answer["outputs"]:
        position = names.index(output["name"])
        described = metadata["outputs"][position]
        count = math.prod(output["shape"])
        if output["name"] in classes:
            assert output["datatype"] == "BYTES"
            if wanted[output["name"]]:
                size = output["parameters"]["binary_data_size"]
                data, tail, texts = tail[:size], tail[size:], []
                while data:
                    size = struct.unpack("<I", data[:4])[0]
                    texts.append(data[4:4 + size].decode())
                    data = data[4 + size:]
            else:
                texts = output["data"]
            assert len(texts) == count, (len(texts), output["shape"])
            width = output["shape"][-1] if output["shape"] else 1
            assert width <= classes[output["name"]]
            for row in range(0, len(texts), max(1, width)):
                values = [float(text.split(":")[0]) for text in texts[row:row + width]]
                values = [value for value in values if not math.isnan(value)]
                assert values == sorted(values, reverse=True), "classes are not in order"
            continue
        assert output["datatype"] == described["datatype"]
        assert len(output["shape"]) == len(described["shape"])
        assert all(size in (-1, found) for size, found in zip(described["shape"], output["shape"])), output["shape"]
        kind = np.dtype(TYPES[output["datatype"]])
        if wanted[output["name"]]:
            size = output["parameters"]["binary_data_size"]
            assert size == count * kind.itemsize and "data" not in output
            array, tail = np.frombuffer(tail[:size], kind), tail[size:]
        else:
            assert len(output["data"]) == count
            array = np.array([math.nan if value is None else value for value in output["data"]], np.float64 if kind.kind == "f" else kind)
            array = array.astype(kind)
        if expected:
            right, tolerance = expected[position]
            assert list(right.shape) == output["shape"], (right.shape, output["shape"])
            right = right.ravel()
            if kind.kind == "f" and not wanted[output["name"]]:
                right = np.where(np.isfinite(right), right, np.nan)
            same = (np.allclose(array, right, tolerance, tolerance * max(1, np.abs(right[np.isfinite(right)]).max(initial=0)), equal_nan=True) if tolerance
                    else np.array_equal(array.view(f"u{kind.itemsize}"), right.astype(kind).view(f"u{kind.itemsize}")) if kind.kind == "f"
                    else np.array_equal(array, right))
            assert same, (output["name"], array, right)
        elif metadata["name"] in ("dense", "labelled"):
            assert np.allclose(array.reshape(-1, 32).sum(1), 1, atol=1e-4), "a softmax does not add up to 1"
    assert not tail, f"{len(tail)} bytes follow the outputs"


def check_picture(task, settings, annotates, size, headers, body):
    if annotates:
        image = Image.open(io.BytesIO(body))
        image.load()
        assert headers["content-type"] == "image/png" and image.size == size, image.size
        return
    answer = strict(body)
    assert set(answer["milliseconds"]) == {"preprocess", "inference", "postprocess"} and all(value >= 0 for value in answer["milliseconds"].values())
    least, most = settings.get("score_threshold", 0), settings.get("max_results", math.inf)
    if task == "embed":
        for vector in answer["embeddings"]:
            assert abs(math.hypot(*vector) - 1) < 1e-3 or not any(vector)
        return
    if task == "segment":
        assert abs(sum(found["share"] for found in answer["classes"]) - 1) < 1e-3
        return
    found = answer[{"detect": "detections", "classify": "classes", "keypoints": "poses", "faces": "faces"}[task]]
    assert len(found) <= most
    scores = [entry["score"] for entry in found if "score" in entry]
    assert task == "keypoints" or len(scores) == len(found)
    # A single pose is always reported.
    assert all(0 <= score <= 1 and (score >= least - 1e-6 or task == "keypoints") for score in scores), scores
    assert scores == sorted(scores, reverse=True), "scores are not in order"
    if task == "classify":
        assert sum(scores) < 1.01
    if task == "detect":
        assert (answer["width"], answer["height"]) == size
    for entry in found:
        for value in entry.get("box", {}).values():
            assert math.isfinite(value)
        if "box" in entry:
            assert entry["box"]["width"] >= 0 and entry["box"]["height"] >= 0
        for point in entry.get("keypoints", []):
            assert math.isfinite(point["x"]) and math.isfinite(point["y"])
