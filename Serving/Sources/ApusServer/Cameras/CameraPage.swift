// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The pages of cameras: plain HTML and script, with nothing from elsewhere; they ask the same paths as any other client.
enum CameraPage {
  /// The page at `/cameras`: what cameras there are.
  static let list = ByteBuffer(string: begin("Cameras") + listBody)
  /// The page at `/cameras/NAME`: a camera's picture, counts and events.
  static let camera = ByteBuffer(string: begin("Camera") + cameraBody)

  private static func begin(_ title: String) -> String {
    #"""
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\#(title)</title>
    <style>
      :root { color-scheme: light dark; --line: #8886; --accent: #0a6; }
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 0 auto; padding: 1.5rem; }
      header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem 1rem; }
      h1 { font-size: 1.6rem; margin: 0; }
      h2 { font-size: 1.15rem; margin: 1.2rem 0 .4rem; }
      button { font: inherit; padding: .4rem .8rem; border: 1px solid var(--line); border-radius: .4rem; cursor: pointer; }
      :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
      .view { display: grid; grid-template-columns: minmax(0, 2fr) minmax(16rem, 1fr); gap: 1.5rem; margin-top: 1rem; }
      @media (max-width: 50rem) { .view { grid-template-columns: 1fr; } }
      figure { margin: 0; position: relative; align-self: start; }
      figure img { display: block; width: 100%; height: auto; border-radius: .4rem; background: #8883; min-height: 4rem; }
      figure svg { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; }
      svg polygon, svg line { fill: #fd02; stroke: #fd0; stroke-width: .004; }
      table { border-collapse: collapse; width: 100%; }
      caption { text-align: left; font-weight: 600; }
      th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); }
      td.number { text-align: right; font-variant-numeric: tabular-nums; }
      #events { list-style: none; margin: 0; padding: 0; max-height: 20rem; overflow: auto; }
      .bad { color: #c22; font-weight: 600; }
      [hidden] { display: none !important; }
    </style>
    <body>

    """#
  }

  private static let listBody = #"""
    <header><h1>Cameras</h1><a href="/">Models</a></header>
    <main><table><thead><tr><th scope="col">Camera</th><th scope="col">Model</th><th scope="col">State</th>
      <th scope="col">Frames a second</th></tr></thead><tbody id="cameras"></tbody></table></main>
    <script>
      "use strict";
      const cell = (row, text) => { const cell = row.insertCell(); cell.textContent = text; return cell; };
      async function show() {
        const cameras = await (await fetch("/cameras", {headers: {Accept: "application/json"}})).json();
        const body = document.getElementById("cameras");
        body.replaceChildren();
        for (const camera of cameras) {
          const row = body.insertRow(), link = document.createElement("a");
          link.href = "/cameras/" + camera.name; link.textContent = camera.name;
          cell(row, "").append(link);
          cell(row, camera.model);
          cell(row, camera.state + (camera.reason ? ": " + camera.reason : ""));
          cell(row, camera.fps.toFixed(1));
        }
      }
      show(); setInterval(show, 3000);
    </script>
    </html>

    """#

  private static let cameraBody = #"""
    <header><h1 id="name">Camera</h1><a href="/cameras">All cameras</a><span id="state" role="status" aria-live="polite"></span></header>
    <main class="view">
      <figure><img id="picture" alt="The camera's newest picture with the objects that were found"><svg id="places" viewBox="0 0 1 1"
        preserveAspectRatio="none" aria-hidden="true"></svg></figure>
      <div>
        <button id="pause" type="button" aria-pressed="false">Pause</button>
        <table><caption>Now</caption><tbody id="now"></tbody></table>
        <h2>Counts</h2>
        <table><tbody id="counts"></tbody></table>
        <h2 id="heading">Events</h2>
        <p id="missing" role="status" hidden>Waiting for events</p>
        <ul id="events" role="log" aria-live="polite" aria-labelledby="heading"></ul>
      </div>
    </main>
    <script>
      "use strict";
      const name = decodeURIComponent(location.pathname.split("/")[2]), base = "/cameras/" + encodeURIComponent(name);
      const at = id => document.getElementById(id);
      at("name").textContent = document.title = name;
      function rows(table, entries) {
        table.replaceChildren();
        for (const [head, value] of entries) {
          const row = table.insertRow(), first = document.createElement("th");
          first.scope = "row"; first.textContent = head; row.append(first);
          const last = row.insertCell(); last.className = "number"; last.textContent = value;
        }
      }
      let isPaused = false;
      // A browser has few connections to a server, and each stream takes one: tabs that are not seen have none.
      function play() {
        if (document.hidden) at("picture").removeAttribute("src");
        else at("picture").src = isPaused ? base + "/snapshot.jpg?any_age=true&" + Date.now() : base + "/stream?" + Date.now();
      }
      at("pause").onclick = () => {
        isPaused = !isPaused;
        at("pause").setAttribute("aria-pressed", isPaused);
        at("pause").textContent = isPaused ? "Go on" : "Pause";
        play();
      };
      at("picture").onerror = () => setTimeout(play, 2000);
      play();
      let drawn = "";
      function draw(places) {
        if (drawn === JSON.stringify(places)) return;
        drawn = JSON.stringify(places);
        at("places").replaceChildren(...Object.values(places).map(points => {
          const shape = document.createElementNS("http://www.w3.org/2000/svg", points.length === 2 ? "line" : "polygon");
          if (points.length === 2) {
            [["x1", points[0][0]], ["y1", points[0][1]], ["x2", points[1][0]], ["y2", points[1][1]]].forEach(pair => shape.setAttribute(...pair));
          } else { shape.setAttribute("points", points.map(point => point.join(",")).join(" ")); }
          return shape;
        }));
      }
      async function look() {
        const cameras = await (await fetch("/cameras", {headers: {Accept: "application/json"}})).json();
        const camera = cameras.find(camera => camera.name === name);
        if (!camera) return;
        at("state").textContent = camera.state + (camera.reason ? ": " + camera.reason : "");
        at("state").className = camera.state === "failed" ? "bad" : "";
        draw(camera.places);
        rows(at("counts"), [
          ["frames a second", camera.fps.toFixed(1)], ["frames", camera.frames], ["looked at", camera.answered], ["without an answer", camera.failed],
          ["dropped for newer ones", camera.dropped], ["damaged", camera.damaged], ["late", camera.late], ["restarts", camera.restarts],
          ["newest picture", camera.last_picture ? new Date(camera.last_picture).toLocaleTimeString() : "none"],
          ...Object.entries(camera.lines).map(([line, counts]) => [line, counts.in + " in, " + counts.out + " out"]),
          ...Object.entries(camera.zones).map(([zone, counts]) => [zone, counts.occupancy + " now, " + counts.entries + " in all"])]);
      }
      look().catch(() => {}); setInterval(() => look().catch(() => {}), 1000);
      let last = 0, source;
      function listen() {
        source?.close();
        if (document.hidden) return;
        const own = source = new EventSource(base + "/events");
        own.onmessage = show;
        own.onopen = () => at("missing").hidden = true;
        // A browser tries again after a lost connection, but not after an answer that is no stream.
        own.onerror = () => {
          at("missing").hidden = false;
          if (own.readyState === EventSource.CLOSED) setTimeout(() => { if (source === own) listen(); }, 2000);
        };
      }
      document.addEventListener("visibilitychange", () => { play(); listen(); });
      function show(message) {
        const line = JSON.parse(message.data);
        if (line.missed) {
          const entry = document.createElement("li");
          entry.textContent = line.missed + " frames and events are missing here";
          at("events").prepend(entry);
        } else if (line.event) {
          const entry = document.createElement("li");
          entry.textContent = line.time.toFixed(1) + " s: " + (line.label ?? "object") + " " + line.track + " " + line.event + " "
            + (line.line ?? line.zone) + (line.direction ? " (" + line.direction + ")" : "")
            + (line.dwell > 0 ? " after " + line.dwell.toFixed(1) + " s" : "");
          at("events").prepend(entry);
          while (at("events").childElementCount > 50) at("events").lastElementChild.remove();
        } else if (performance.now() - last > 200) {
          last = performance.now();
          const counts = {};
          for (const found of line.detections) { const label = found.label ?? "class " + found.index; counts[label] = (counts[label] ?? 0) + 1; }
          rows(at("now"), Object.keys(counts).length ? Object.entries(counts).sort() : [["nothing", ""]]);
        }
      }
      listen();
    </script>
    </html>

    """#
}
