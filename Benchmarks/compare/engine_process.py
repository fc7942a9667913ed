# SPDX-License-Identifier: Apache-2.0
"""An engine with one model in a process of its own."""

import json
import os
import pathlib
import subprocess
import sys
import threading

WORKER = pathlib.Path(__file__).with_name("worker.py")


class Failed(Exception):
    """The engine cannot run the model, or died of it."""


class EngineProcess:
    """A worker that is pinned to as many processors as it has threads."""

    def __init__(self, engine, model, threads, inputs, outputs, apus, timeout=300):
        self.engine = engine
        self._timeout = timeout
        if engine in ("apus", "apus-bfloat16"):
            command = [apus, "serve", model, "--threads", str(threads)]
            if engine == "apus-bfloat16":
                command += ["--precision", "bfloat16"]
            for entry in inputs:
                command += ["--input", entry["path"]]
        else:
            task = {
                "engine": engine,
                "model": model,
                "threads": threads,
                "inputs": inputs,
                "outputs": outputs,
            }
            command = [sys.executable, str(WORKER), json.dumps(task)]
        # The last processors: the first ones have the system's interrupts.
        processors = sorted(os.sched_getaffinity(0))[-threads:]
        self._process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, processors),
        )
        self._messages = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.started = self._answer()

    def ask(self, line):
        """The answer to a command."""
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            pass
        return self._answer()

    def close(self):
        try:
            self._process.stdin.close()
            self._process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()

    def _listen(self):
        for line in self._process.stderr:
            self._messages.append(line.strip())

    def _answer(self):
        timer = threading.Timer(self._timeout, self._process.kill)
        timer.start()
        try:
            # Libraries may talk on standard output, too: answers are objects and lists.
            for line in self._process.stdout:
                if line[:1] in "[{":
                    try:
                        return json.loads(line)
                    except json.JSONDecodeError:
                        continue
        finally:
            timer.cancel()
        self._process.wait()
        self._listener.join(1)
        # The end of a Python traceback says why, and so does our one line.
        said = [line for line in self._messages if line]
        reason = said[-1] if said else f"ended with status {self._process.returncode}"
        raise Failed(reason[:300])
