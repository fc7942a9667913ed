#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies object files and archives so that a linker can leave out what nothing refers to: unretained.py FOLDER FILE…

Swift marks each public function of a library as retained (SHF_GNU_RETAIN), for programs that look for it when they run. In a library that
exports few functions nobody can: without the mark, `--gc-sections` drops the ones that are not called. What Swift's runtime looks for in
sections of its own, such as conformances, stays marked. @FILE stands for the paths in a file, quoted as for a shell. Prints the copies' paths
in that form.
"""

import pathlib
import shlex
import struct
import sys

RETAINED = 1 << 21
CODE_AND_DATA = (".text", ".rodata", ".data", ".bss")


def unmark(data, start):
    """Takes the mark from the sections of code and data of the ELF file that begins at a place of `data`."""
    if data[start : start + 6] != b"\x7fELF\x02\x01":
        return
    headers = start + struct.unpack_from("<Q", data, start + 40)[0]
    stride, count, names = struct.unpack_from("<HHH", data, start + 58)
    # Files with many sections keep both numbers in the first section's header.
    count = count or struct.unpack_from("<Q", data, headers + 32)[0]
    names = names if names != 0xFFFF else struct.unpack_from("<I", data, headers + 40)[0]
    texts = start + struct.unpack_from("<Q", data, headers + names * stride + 24)[0]
    for header in range(headers, headers + count * stride, stride):
        name, flags = texts + struct.unpack_from("<I", data, header)[0], struct.unpack_from("<Q", data, header + 8)[0]
        if flags & RETAINED and data[name : data.index(0, name)].startswith(tuple(map(str.encode, CODE_AND_DATA))):
            struct.pack_into("<Q", data, header + 8, flags & ~RETAINED)


def unmarked(data):
    """The bytes of an object file or archive without the marks."""
    data = bytearray(data)
    if not data.startswith(b"!<arch>\n"):
        unmark(data, 0)
        return data
    member = 8
    while member + 60 <= len(data):
        size = int(data[member + 48 : member + 58])
        unmark(data, member + 60)
        member += 60 + size + size % 2
    return data


def main(folder, *paths):
    paths = [p for a in paths for p in (shlex.split(pathlib.Path(a[1:]).read_text()) if a[0] == "@" else [a])]
    for number, path in enumerate(map(pathlib.Path, paths)):
        # Objects of two modules may have the same name.
        copy = pathlib.Path(folder) / ("%d-%s" % (number, path.name))
        copy.write_bytes(unmarked(path.read_bytes()))
        print(shlex.quote(str(copy)))


if __name__ == "__main__":
    main(*sys.argv[1:])
