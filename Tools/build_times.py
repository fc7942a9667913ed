#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a build and prints the compiler's processor time by module.

  Tools/build_times.py swift build -c release --build-tests

Compilers of other builds on the machine count as well. Times are those of /proc, read twice a second, so that a module's last half second
may be missing.
"""
import os
import subprocess
import sys
import time

TICKS = os.sysconf("SC_CLK_TCK")


def compilers():
    """The module and processor time, in seconds, of each Swift compiler that runs, by its process and start."""
    found = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                arguments = file.read().split(b"\0")
            with open(f"/proc/{process}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if not arguments[0].endswith(b"swift-frontend") or b"-module-name" not in arguments:
            continue
        module = arguments[arguments.index(b"-module-name") + 1].decode()
        found[process, fields[19]] = (module, (int(fields[11]) + int(fields[12])) / TICKS)
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    start, times = time.monotonic(), {}
    build = subprocess.Popen(sys.argv[1:])
    while build.poll() is None:
        times.update(compilers())
        time.sleep(0.5)
    elapsed, modules = time.monotonic() - start, {}
    for module, seconds in times.values():
        modules[module] = modules.get(module, 0) + seconds
    for module, seconds in sorted(modules.items(), key=lambda item: -item[1]):
        print(f"{seconds:7.1f} s  {module}")
    print(f"{sum(modules.values()):7.1f} s  of {os.cpu_count()} processors in {elapsed:.0f} s")
    sys.exit(build.returncode)


if __name__ == "__main__":
    main()
