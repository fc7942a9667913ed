# SPDX-License-Identifier: Apache-2.0
"""Turns of threads: the calls of one interpreter come one after another."""

import threading
import time


class Turns:
    """A lock that a thread may take again while it has it: `with turns:` waits until no other thread is in a call of the interpreter.

    `callers` contains something while a call waits here or has its turn. The methods that the library makes take no turns, so that they cost
    nothing: they do nothing while there are callers, and a caller waits until the library is in none of them.
    """

    def __init__(self):
        self.callers = set()
        self._user = None
        self._lock = threading.RLock()
        self._turns = []
        self._last = None

    def watch(self, user):
        """Waits for calls of the library, too. The function says which thread is in one: 0 for none, 1 for another one, 2 for this one."""
        self._user = user

    def __enter__(self):
        turn = object()
        if self.callers and not self._turns and self._last == threading.get_ident():
            # Locks of Python's are not fair: a thread that calls again at once would keep those that wait from their turn.
            time.sleep(1e-4)
        self.callers.add(turn)
        try:
            with self._lock:
                if not self._turns:
                    self._wait()
                self._lock.acquire()
        except BaseException:
            self.callers.discard(turn)
            raise
        self._turns.append(turn)

    def __exit__(self, *error):
        self.callers.discard(self._turns.pop())
        self._last = threading.get_ident()
        self._lock.release()

    def _wait(self):
        """Waits until the library is in no call."""
        pause = 1e-5
        while self._user is not None:
            user = self._user()
            if user == 0:
                return
            if user == 2:
                raise RuntimeError("the interpreter is in a call of this thread, which must end first")
            time.sleep(pause)
            pause = min(2 * pause, 1e-3)
