# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: headless Chromium, driven by its own protocol.

The screenshot goes to the folder that APUS_SCREENSHOTS names, for people to look at.
"""

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
import websocket
from server import Server

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")


class Browser:
    """One tab of a headless browser."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--remote-debugging-port=0", f"--user-data-dir={folder}",
             "--window-size=1200,1000", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = Path(folder) / "DevToolsActivePort"
        wait(lambda: port.exists() and len(port.read_text().splitlines()) == 2, 60)
        number, path = port.read_text().splitlines()
        self.socket = websocket.create_connection(f"ws://127.0.0.1:{number}{path}", suppress_origin=True, timeout=60)
        self.count = 0
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.problems = []
        for domain in ("Page", "Runtime", "DOM", "Log", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.count:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            entry = answer.get("params", {}).get("entry", {})
            if answer.get("method") == "Runtime.exceptionThrown" or entry.get("level") in ("warning", "error"):
                self.problems.append(answer["params"])

    def value(self, expression):
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def choose(self, selector, file):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(file)])

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      text="\r" if key == "Enter" and kind == "keyDown" else "")

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(30)


def wait(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def shapes():
    with Server() as server:
        yield server


def status(browser):
    return browser.value("document.getElementById('status').textContent")


def test_a_picture_is_shown_with_its_boxes(browser, shapes, tmp_path):
    """The file that a person chooses has the boxes, labels and scores that the server found in it."""
    sample = shapes.request("/sample.jpg")[2]
    (tmp_path / "picture.jpg").write_bytes(sample)
    expected = shapes.json("/v1/detect", sample)[1]["detections"]
    browser.call("Page.navigate", url=f"http://{shapes.http}/")
    wait(lambda: browser.value("document.querySelectorAll('#model option').length") == 1)
    # The table follows the choice, when the server has described the model.
    wait(lambda: "shapes" in browser.value("document.getElementById('models').textContent"))
    browser.choose("#file", tmp_path / "picture.jpg")
    wait(lambda: "found" in status(browser))
    assert status(browser).startswith(f"{len(expected)} found: {expected[0]['label']}")
    assert browser.value("document.querySelectorAll('#results tbody tr').length") == len(expected)
    boxes = browser.value("[...document.querySelectorAll('#boxes rect')].map(r => ['x','y','width','height']"
                          ".map(k => Number(r.getAttribute(k))))")
    for box, found in zip(boxes, expected):
        assert box == pytest.approx([found["box"][side] for side in ("x", "y", "width", "height")], abs=1e-3)
    # The boxes lie over the picture: both have the same place and size on the screen.
    places = browser.value("['picture', 'boxes'].map(i => { const r = document.getElementById(i).getBoundingClientRect();"
                           " return [r.x, r.y, r.width, r.height].map(Math.round) })")
    assert places[0] == places[1] and places[0][2] > 300
    folder = os.environ.get("APUS_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, width in (("page", 1200), ("page-narrow", 420)):
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
            shot = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
            (Path(folder) / f"{name}.png").write_bytes(base64.b64decode(shot))
        browser.call("Emulation.clearDeviceMetricsOverride")
    assert browser.problems == []


def test_errors_are_shown(browser, shapes, tmp_path):
    (tmp_path / "text.jpg").write_bytes(b"no picture")
    browser.call("Page.navigate", url=f"http://{shapes.http}/")
    wait(lambda: browser.value("document.querySelectorAll('#model option').length") == 1)
    browser.choose("#file", tmp_path / "text.jpg")
    wait(lambda: browser.value("document.getElementById('status').className") == "bad")
    assert status(browser) == shapes.json("/v1/detect", b"no picture")[1]["error"]


def test_the_keyboard_is_enough(browser, shapes):
    """Tab reaches every control, and Enter on the last one finds the objects of the sample."""
    browser.call("Page.navigate", url=f"http://{shapes.http}/")
    wait(lambda: browser.value("document.querySelectorAll('#model option').length") == 1)
    reached = []
    for _ in range(6):
        browser.press("Tab", 9)
        reached.append(browser.value("document.activeElement.id"))
    assert reached[:5] == ["model", "task", "threshold", "sample", "file"], reached
    browser.value("document.getElementById('sample').focus()")
    browser.press("Enter", 13)
    wait(lambda: "found" in status(browser))


def test_screen_readers_have_names_for_everything(browser, shapes):
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    controls = {"button", "combobox", "spinbutton", "textbox", "image", "table", "heading", "status"}
    names = {}
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in controls and not node.get("ignored"):
            names.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    assert {"button", "combobox", "spinbutton", "table", "heading"} <= set(names)
    for role, found in names.items():
        assert role == "status" or all(found), (role, found)


def test_a_camera_has_a_page(browser):
    with Server("--camera", "door=test:testsrc2:640x360:600", "--camera-place", "door/gate:0.5,0,0.5,1",
                "--camera-place", "door/mat:0.1,0.6,0.4,0.6,0.4,0.9,0.1,0.9") as server:
        browser.problems.clear()
        browser.call("Page.navigate", url=f"http://{server.http}/cameras")
        wait(lambda: browser.value("document.querySelectorAll('#cameras a').length") == 1)
        assert browser.value("document.querySelector('#cameras a').textContent") == "door"
        browser.call("Page.navigate", url=f"http://{server.http}/cameras/door")
        wait(lambda: browser.value("document.getElementById('picture')?.naturalWidth") == 640)
        wait(lambda: browser.value("document.querySelectorAll('#places *').length") == 2)
        wait(lambda: browser.value("document.getElementById('now').rows.length") > 0)
        assert browser.value("document.querySelector('h1').textContent") == "door"
        wait(lambda: "gate" in browser.value("document.getElementById('counts').textContent"))
        folder = os.environ.get("APUS_SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            shot = browser.call("Page.captureScreenshot", format="png")["data"]
            (Path(folder) / "camera.png").write_bytes(base64.b64decode(shot))
        browser.value("document.getElementById('pause').click()")
        assert browser.value("document.getElementById('pause').getAttribute('aria-pressed')") == "true"
        wait(lambda: "snapshot.jpg" in browser.value("document.getElementById('picture').src"))
        nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
        named = {node["role"]["value"]: node.get("name", {}).get("value", "") for node in nodes if not node.get("ignored") and "role" in node}
        assert named.get("button") == "Go on" and named.get("image") and named.get("log") == "Events"
        assert browser.problems == []
        browser.call("Page.navigate", url="about:blank")
        assert server.stop() == 0


def test_a_page_of_a_camera_waits_for_a_place_and_leaves_it_while_it_is_not_seen(browser):
    """A browser opens six connections to a host: pages that are not seen must not keep two of them each."""
    from test_cameras import Events, takes_a_viewer

    with Server("--camera", "door=test:testsrc2:64x48:600") as server:
        viewers = [Events(server, "/cameras/door/stream") for _ in range(16)]
        for viewer in viewers:
            viewer.read(lambda data: b"--frame" in data)
        browser.call("Page.navigate", url=f"http://{server.http}/cameras/door")
        wait(lambda: browser.value("document.getElementById('missing')?.hidden === false"))
        assert browser.value("document.getElementById('now').rows.length") == 0
        for viewer in viewers:
            viewer.socket.close()
        wait(lambda: browser.value("document.getElementById('missing').hidden && document.getElementById('now').rows.length > 0"))

        def see(is_seen):
            hidden = "false" if is_seen else "true"
            browser.value("Object.defineProperty(document, 'hidden', {configurable: true, get: () => " + hidden + "});"
                          "document.dispatchEvent(new Event('visibilitychange'))")

        see(False)
        assert not browser.value("document.getElementById('picture').hasAttribute('src')")
        takes_a_viewer(server, "/cameras/door/stream", 20)
        # All places are free.
        end, free = time.monotonic() + 20, 0
        while free < 16 and time.monotonic() < end:
            viewers = [Events(server, "/cameras/door/stream") for _ in range(16)]
            free = sum(b"200 OK" in viewer.read(lambda data: b"\r\n\r\n" in data) for viewer in viewers)
            for viewer in viewers:
                viewer.socket.close()
            time.sleep(0.5)
        assert free == 16
        see(True)
        browser.value("document.getElementById('now').replaceChildren()")
        wait(lambda: browser.value("document.getElementById('now').rows.length > 0 && document.getElementById('picture').naturalWidth > 0"))
        browser.problems.clear()
        assert server.stop() == 0
