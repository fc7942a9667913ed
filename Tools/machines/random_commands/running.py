# SPDX-License-Identifier: Apache-2.0
"""Runs commands with limits on time and memory, and says how they ended."""

import os
import select
import signal
import time

# Memory that no command of these needs.
ADDRESS_SPACE = 12 << 30
SECONDS = 40


class Ending:
    """How a command ended."""

    def __init__(self, status, signal, out, err, seconds, is_late, peak):
        self.status, self.signal, self.out, self.err = status, signal, out, err
        self.seconds, self.is_late, self.peak = seconds, is_late, peak


class Runner:
    """Runs an executable; `scratch` is a folder for what it prints."""

    def __init__(self, executable, scratch):
        self._executable = os.path.abspath(executable)
        self._out, self._err, self._in = (os.path.join(scratch, name) for name in ("stdout", "stderr", "stdin"))
        # A crash ends at once, without a report that takes seconds; help is as wide as in a terminal that does not say its width.
        self._environment = {**os.environ, "SWIFT_BACKTRACE": "enable=no", "LC_ALL": "C.UTF-8"}
        for name in ("COLUMNS", "APUS_KERNELS"):
            self._environment.pop(name, None)
        self.count = 0

    def run(self, words, folder, stdin=b"", environment=None, seconds=SECONDS):
        self.count += 1
        with open(self._in, "wb") as file:
            file.write(stdin)
        actions = [(os.POSIX_SPAWN_OPEN, 0, self._in, os.O_RDONLY, 0),
                   (os.POSIX_SPAWN_OPEN, 1, self._out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
                   (os.POSIX_SPAWN_OPEN, 2, self._err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
        here = os.getcwd()
        start = time.monotonic()
        os.chdir(folder)
        try:
            process = os.posix_spawn(self._executable, [self._executable, *words], {**self._environment, **(environment or {})},
                                     file_actions=actions, setpgroup=0)
        finally:
            os.chdir(here)
        handle = os.pidfd_open(process)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        is_late = not poll.poll(seconds * 1000)
        if is_late:
            os.killpg(process, signal.SIGKILL)
        os.close(handle)
        _, status, usage = os.wait4(process, 0)
        seconds = time.monotonic() - start
        out, err = (open(path, "rb").read() for path in (self._out, self._err))
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        return Ending(code, os.WTERMSIG(status) if os.WIFSIGNALED(status) else None, out, err, seconds, is_late,
                      usage.ru_maxrss << 10)
