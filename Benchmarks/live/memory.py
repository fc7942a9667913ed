#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `apus watch` keeps its memory over many frames: resident memory after 5,000 frames, and at the end.

    Benchmarks/live/memory.py APUS [--frames 100000] [--film FILM] [OPTION OF WATCH…]

The frames are a test pattern of 64 × 48 pixels, as fast as they come, with tracks and a line; or those of a film, again and again, without
them. Status 1 if memory has grown by more than 4 MiB.
"""
import argparse
import json
import subprocess
import sys
import tempfile

LIMIT = 4096


def resident(process):
    for line in open(f"/proc/{process}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("apus")
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--film", help="what ffmpeg reads, for example a short film with one hand")
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        source = ["test:testsrc2:64x48", "--track", "bytetrack", "--line", "middle:0.5,0,0.5,1"]
        if arguments.film:
            source = [f"{folder}/long.mkv"]
            subprocess.run(
                ["ffmpeg", "-v", "error", "-stream_loop", "-1", "-i", arguments.film, "-an", "-c", "copy", "-frames:v",
                 str(arguments.frames), *source], check=True)
        return measured([arguments.apus, "watch", *source, "--frames", str(arguments.frames), "--json", *options])


def measured(command):
    watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    begin = end = most = count = 0
    for line in watch.stdout:
        if '"frame":' not in line:
            continue
        count += 1
        if count % 500 == 0 and (now := resident(watch.pid)):
            most = max(most, now)
            end = now
            if count == 5_000:
                begin = now
    if watch.wait():
        return 1
    print(f"{count} frames: {begin} KiB after 5,000, {end} KiB at the end, at most {most} KiB")
    return 0 if begin and end - begin <= LIMIT else 1


sys.exit(main())
