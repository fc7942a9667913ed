# SPDX-License-Identifier: Apache-2.0
"""Checks what the machine of Scripts/video-test.sh wrote: statuses, messages, and the colors of vivid's bars."""

import base64
import io
import json
import sys

from PIL import Image

# The test pattern of the driver is "75% Colorbar": eight bars. The authority is v4l2-tpg's table, by name.
BARS = [(191, 191, 191), (191, 191, 0), (0, 191, 191), (0, 191, 0), (191, 0, 191), (191, 0, 0), (0, 0, 191), (0, 0, 0)]
# Forms with few bits are further from the colors.
TOLERANCE = {"RGB1": 40, "YUVO": 24, "YUVP": 24, "Y444": 48}
GRAY = ("GREY", "Y10", "Y12", "Y14", "Y16", "Y16-BE")


def results(path):
    found, name = {}, None
    for line in open(path, encoding="utf-8", errors="replace").read().replace("\r", "").split("\n"):
        if line.startswith("=== "):
            _, name, status = line.split(" ")
            found[name] = (int(status), [])
        elif name and line:
            found[name][1].append(line)
    return found


def luma(color):
    """What the driver makes of a color where there is luma alone: the weights of BT.709, in full range."""
    return 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]


def check_picture(code, lines):
    picture = Image.open(io.BytesIO(base64.b64decode("".join(lines)))).convert("RGB")
    if picture.size != (320, 180):
        return f"the picture has {picture.size}"
    worst = 0
    for bar, color in enumerate(BARS):
        expected = (luma(color),) * 3 if code in GRAY else color
        pixel = picture.getpixel((320 * (2 * bar + 1) // 16, 165))
        worst = max(worst, max(abs(a - b) for a, b in zip(pixel, expected)))
    tolerance = TOLERANCE.get(code, 12 if "12" in code and len(code) == 4 or code == "R444" else 6)
    return None if worst <= tolerance else f"a bar is {worst:.0f} steps from its color"


def main():
    found = results(sys.argv[1])
    problems, passed = [], 0

    def expect(holds, text):
        nonlocal passed
        if holds:
            passed += 1
        else:
            problems.append(text)

    def result(name):
        if name not in found:
            problems.append(f"{name}: no result")
            return (-1, [""])
        status, lines = found[name]
        return status, lines or [""]

    def summary(name):
        try:
            return json.loads(result(name)[1][-1])["summary"]
        except (ValueError, KeyError):
            problems.append(f"{name}: no summary: {result(name)[1][-1][:200]}")
            return {"frames": 0, "answered": 0, "restarts": 0, "damaged": 0}

    for name in found:
        expect(not name.startswith("insmod"), name)
    status, lines = result("cameras-json")
    camera = {"formats": [], "controls": [], **(json.loads(lines[0]) if status == 0 else {})}
    codes = [form["code"] for form in camera["formats"]]
    names = {control["name"]: control for control in camera["controls"]}
    expect(camera.get("driver") == "vivid", f"the camera's driver is {camera.get('driver')}")
    expect({"brightness", "contrast", "horizontal_flip"} <= set(names), f"controls: {sorted(names)}")

    read, unread = [], []
    for code in codes:
        status, lines = result(f"format-{code}")
        if status != 0 and "are not read" in lines[-1]:
            unread.append(code)
            continue
        read.append(code)
        expect(status == 0, f"{code}: status {status}: {lines[-1][:200]}")
        if status == 0:
            expect(summary(f"format-{code}")["answered"] == 2, f"{code}: not two frames")
            problem = check_picture(code, result(f"picture-{code}")[1])
            expect(problem is None, f"{code}: {problem}")

    expect(summary("automatic")["answered"] == 2, "automatic: not two frames")
    expect(summary("sizes")["answered"] == 10, "sizes: not ten frames")
    expect(result("set")[0] == 0, f"set: {result('set')[1][-1][:200]}")
    status, lines = result("set-seen")
    seen = json.loads(lines[0]) if status == 0 else {}
    after = {control["name"]: control.get("value") for control in seen.get("controls", [])}
    expect(after.get("brightness") == 100 and after.get("horizontal_flip") == 1, f"set: {after}")
    for name, text in [
        ("unknown-control", "brightness"), ("unknown-format", "it has"), ("no-camera", "/dev/video7"), ("busy", "used by apus"),
    ]:
        status, lines = result(name)
        expect(1 <= status < 64 and text in lines[-1] and len(lines) == 1, f"{name}: {status}, {lines[-1][:200]}")
    expect(result("interrupted")[0] == 0 and summary("interrupted")["answered"] > 0, "interrupted")
    before = int(result("away")[1][0] or 0)
    status, lines = result("unplugged")
    expect(status == 0 and before > 0 and int(lines[0] or 0) > before + 5, f"unplugged: {status}, {before}, {lines[0]}")
    expect(summary("unplugged")["restarts"] > 0, "unplugged: no restart")
    expect("end" in found, "the machine did not come to its end")

    print(f"{len(read)} of {len(codes)} forms are read; not read: {', '.join(unread) or 'none'}")
    for problem in problems:
        print("FAILED", problem)
    print(f"{passed} checks passed, {len(problems)} failed")
    sys.exit(1 if problems else 0)


main()
