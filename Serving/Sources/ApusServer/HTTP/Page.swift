// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusShapes
import ApusVision
import NIOCore

/// The page at `/`: the models, and a place to drop a picture and see what is found in it.
///
/// Plain HTML and script, with nothing from elsewhere; it asks the same paths as any other client.
enum Page {
  /// The page.
  static let html = ByteBuffer(
    string: source.replacing(
      "<!-- tasks -->", with: VisionTaskKind.allCases.map { "<option>\($0.rawValue)</option>" }.joined()))

  /// The picture that the page offers to try.
  static let sample = ByteBuffer(bytes: EmbeddedShapes.pictureBytes)

  /// The content security policy: the page may load and run itself alone.
  static let policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' blob:; "
    + "connect-src 'self'; base-uri 'none'; form-action 'none'"

  private static let source = #"""
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Apus server</title>
    <style>
      :root { color-scheme: light dark; --line: #8886; --accent: #0a6; --soft: #8881; }
      * { box-sizing: border-box; }
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
      header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem 1rem; }
      h1 { font-size: 1.6rem; margin: 0; }
      h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
      .controls { display: flex; flex-wrap: wrap; gap: .75rem 1.25rem; align-items: end; margin: 1rem 0; }
      .controls > * { min-height: 2.4rem; }
      .controls label { display: grid; gap: .2rem; font-size: .85rem; }
      select, input, button { font: inherit; height: 2.6rem; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: .4rem; }
      button { cursor: pointer; background: var(--soft); }
      :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
      #drop { display: grid; place-items: center; width: 100%; min-height: 9rem; border: 2px dashed var(--line);
        border-radius: .8rem; background: var(--soft); text-align: center; padding: 1rem; cursor: pointer; }
      #drop.over { border-color: var(--accent); }
      #drop:focus-within { outline: 3px solid var(--accent); outline-offset: 2px; }
      #file { position: absolute; opacity: 0; width: 1px; height: 1px; }
      .view { display: grid; grid-template-columns: minmax(0, 2fr) minmax(16rem, 1fr); gap: 1.5rem; margin-top: 1rem; }
      @media (max-width: 50rem) { .view { grid-template-columns: 1fr; } }
      figure { margin: 0; position: relative; align-self: start; }
      figure img { display: block; width: 100%; height: auto; border-radius: .4rem; }
      figure svg { position: absolute; inset: 0; width: 100%; height: 100%; }
      table { border-collapse: collapse; width: 100%; margin-bottom: 1.2rem; }
      caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
      th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
      td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
      tr.lit { background: #0a62; }
      .swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .5em; }
      #status { min-height: 1.5em; }
      #status.bad { color: #c22; font-weight: 600; }
      code { font-size: .9em; overflow-wrap: anywhere; }
      [hidden] { display: none !important; }
    </style>
    <body>
    <header><h1>Apus</h1><span id="server">inference server</span></header>
    <main>
      <div class="controls">
        <label>Model <select id="model"></select></label>
        <label>Task <select id="task"><!-- tasks --></select></label>
        <label>Minimum score <input id="threshold" type="number" min="0" max="1" step="0.05" placeholder="default"></label>
        <label id="tokenField" hidden>Token <input id="token" type="password" autocomplete="off"></label>
        <button id="sample" type="button">Try a sample picture</button>
      </div>
      <label id="drop"><input id="file" type="file" accept="image/jpeg,image/png,image/bmp">
        <span><strong>Drop a picture here</strong>, paste it, or choose a file</span></label>
      <p id="status" role="status" aria-live="polite"></p>
      <div class="view" id="view" hidden>
        <figure><img id="picture" alt=""><svg id="boxes" aria-hidden="true"></svg></figure>
        <div>
          <table id="results"><caption>Results</caption><thead><tr><th scope="col">What</th>
            <th scope="col" class="number">Score</th></tr></thead><tbody></tbody></table>
          <table id="timings"><caption>Milliseconds</caption><tbody></tbody></table>
          <details><summary>Answer as JSON</summary><pre><code id="json"></code></pre></details>
        </div>
      </div>
      <h2 id="modelsTitle">Models</h2>
      <table aria-labelledby="modelsTitle"><thead><tr><th scope="col">Name</th><th scope="col">Inputs</th>
        <th scope="col">Outputs</th></tr></thead><tbody id="models"></tbody></table>
    </main>
    <script>
    'use strict';
    const at = id => document.getElementById(id);
    const colors = ['#e6194b', '#3cb44b', '#4363d8', '#f58231', '#911eb4', '#008080', '#9a6324', '#f032e6', '#808000', '#000075'];
    let turn = 0, last = null;

    function make(name, text, parent, kind) {
      const element = document.createElement(name);
      if (text !== undefined) element.textContent = text;
      if (kind) element.className = kind;
      if (parent) parent.append(element);
      return element;
    }
    function say(text, isBad) {
      at('status').textContent = text;
      at('status').className = isBad ? 'bad' : '';
    }
    async function ask(path, options = {}) {
      const headers = at('token').value ? { Authorization: 'Bearer ' + at('token').value } : {};
      const answer = await fetch(path, { ...options, headers });
      if (answer.status === 401) at('tokenField').hidden = false;
      const value = await answer.json();
      if (!answer.ok) throw new Error(value.error || answer.statusText);
      return value;
    }
    async function listModels() {
      try {
        const server = await ask('/v2');
        at('server').textContent = server.name + ' ' + server.version;
        const index = await ask('/v2/repository/index', { method: 'POST', body: '{}' });
        const names = [...new Set(index.filter(entry => entry.state === 'READY').map(entry => entry.name))];
        at('model').replaceChildren(...names.map(name => make('option', name)));
        at('models').replaceChildren();
        for (const name of names) {
          const model = await ask('/v2/models/' + encodeURIComponent(name));
          const row = make('tr', undefined, at('models'));
          make('th', name, row).scope = 'row';
          for (const tensors of [model.inputs, model.outputs]) {
            const cell = make('td', undefined, row);
            for (const tensor of tensors) {
              make('code', `${tensor.name} ${tensor.datatype} [${tensor.shape.join(', ')}]`, make('div', undefined, cell));
            }
          }
        }
      } catch (error) { say(error.message, true); }
    }
    function outline(box, text, color, row, view) {
      const space = 'http://www.w3.org/2000/svg';
      const group = document.createElementNS(space, 'g');
      const rect = document.createElementNS(space, 'rect');
      for (const [key, value] of Object.entries({ x: box.x, y: box.y, width: Math.max(0, box.width),
        height: Math.max(0, box.height), fill: color + '22', stroke: color, 'stroke-width': view / 250 })) {
        rect.setAttribute(key, value);
      }
      const label = document.createElementNS(space, 'text');
      label.textContent = text;
      const size = view / 46;
      for (const [key, value] of Object.entries({ x: box.x + size * .2, y: Math.max(size, box.y + size), fill: '#fff',
        stroke: color, 'stroke-width': size / 4, 'paint-order': 'stroke', 'font-size': size, 'font-weight': 600 })) {
        label.setAttribute(key, value);
      }
      group.append(rect, label);
      group.addEventListener('pointerenter', () => row.classList.add('lit'));
      group.addEventListener('pointerleave', () => row.classList.remove('lit'));
      at('boxes').append(group);
    }
    function show(answer, total) {
      const found = answer.detections || answer.faces || answer.hands || answer.classes || answer.poses
        || (answer.heads || []).flatMap(head => head.classes);
      const size = Math.max(answer.width || 0, answer.height || 0) || Math.max(at('picture').naturalWidth, 1);
      at('boxes').setAttribute('viewBox',
        `0 0 ${answer.width || at('picture').naturalWidth} ${answer.height || at('picture').naturalHeight}`);
      at('boxes').replaceChildren();
      const body = at('results').tBodies[0];
      body.replaceChildren();
      found.forEach((item, position) => {
        const name = item.label || item.handedness || (item.index === undefined ? 'item ' + (position + 1) : 'class ' + item.index);
        const color = colors[(item.index || 0) % colors.length];
        const row = make('tr', undefined, body);
        const cell = make('td', undefined, row);
        make('span', undefined, cell, 'swatch').style.background = color;
        cell.append(name);
        const score = item.score === undefined ? item.share : item.score;
        make('td', score === undefined ? '' : (score * 100).toFixed(1) + ' %', row, 'number');
        if (item.box) outline(item.box, `${name} ${(score * 100).toFixed(0)} %`, color, row, size);
      });
      const timings = at('timings').tBodies[0];
      timings.replaceChildren();
      const stages = ['preprocess', 'inference', 'postprocess'].filter(name => answer.milliseconds?.[name] !== undefined);
      for (const [name, value] of [...stages.map(name => [name, answer.milliseconds[name]]), ['there and back', total]]) {
        const row = make('tr', undefined, timings);
        make('th', name, row).scope = 'row';
        make('td', value.toFixed(2), row, 'number');
      }
      at('json').textContent = JSON.stringify(answer, null, 1);
      at('view').hidden = false;
      const names = found.slice(0, 20).map(item => item.label || item.handedness || (item.index === undefined ? 'item' : 'class ' + item.index)).join(', ');
      if (answer.kind) return say(`${answer.kind === 'picture' ? 'A picture' : 'One number for each pixel'} of ${answer.width} × ${answer.height}, from ${answer.minimum} to ${answer.maximum}`);
      if (answer.embeddings) return say('An embedding of ' + answer.embeddings[0].length + ' numbers');
      say(found.length ? `${found.length} found: ${names}` : 'Nothing found');
    }
    async function showMade(file, query, mine) {
      const headers = at('token').value ? { Authorization: 'Bearer ' + at('token').value } : {};
      const made = await fetch(`/v1/transform?${query}&output=png`, { method: 'POST', body: file, headers });
      if (!made.ok || mine !== turn) return;
      const old = at('picture').src;
      at('picture').src = URL.createObjectURL(await made.blob());
      at('picture').alt = 'The picture that the model made';
      if (old.startsWith('blob:')) URL.revokeObjectURL(old);
    }
    async function run(file) {
      if (!file) return;
      last = file;
      const mine = ++turn;
      say('Working…');
      const old = at('picture').src;
      at('picture').src = URL.createObjectURL(file);
      at('picture').alt = 'The picture ' + (file.name || 'that was pasted');
      at('boxes').replaceChildren();
      if (old.startsWith('blob:')) URL.revokeObjectURL(old);
      const query = new URLSearchParams({ model: at('model').value });
      if (at('threshold').value) query.set('score_threshold', at('threshold').value);
      const start = performance.now();
      try {
        await at('picture').decode().catch(() => {});
        const answer = await ask(`/v1/${at('task').value}?${query}`, { method: 'POST', body: file });
        if (mine !== turn) return;
        show(answer, performance.now() - start);
        if (answer.kind) await showMade(file, query, mine);
      } catch (error) {
        if (mine === turn) { at('view').hidden = true; say(error.message, true); }
      }
    }
    at('file').addEventListener('change', () => run(at('file').files[0]));
    for (const id of ['model', 'task', 'threshold']) at(id).addEventListener('change', () => run(last));
    at('token').addEventListener('change', listModels);
    at('sample').addEventListener('click', async () => {
      const answer = await fetch('/sample.jpg');
      const blob = await answer.blob();
      run(new File([blob], 'sample.jpg', { type: 'image/jpeg' }));
    });
    document.addEventListener('dragover', event => { event.preventDefault(); at('drop').classList.add('over'); });
    document.addEventListener('dragleave', () => at('drop').classList.remove('over'));
    document.addEventListener('drop', event => {
      event.preventDefault();
      at('drop').classList.remove('over');
      run(event.dataTransfer.files[0]);
    });
    document.addEventListener('paste', event => run(event.clipboardData.files[0]));
    listModels();
    </script>
    """#
}
