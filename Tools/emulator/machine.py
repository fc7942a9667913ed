#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what the emulated machine starts from: boot.rom, low.img, kernel.img.

There is no BIOS and no boot loader: the emulator puts the kernel, uncompressed, and the file tree into memory, and
the first instructions go straight to 64-bit mode and the kernel's entry (Documentation/x86/boot.rst, 64-bit protocol).
Usage: machine.py <vmlinuz> <folder> <memory MiB> <size of the file tree> <command line>
"""
import struct, subprocess, sys, os

vmlinuz, folder, mebibytes, tree_size, command_line = sys.argv[1:]
memory, tree_size = int(mebibytes) << 20, int(tree_size)
LOW, KERNEL, TREE = 0x10000, 0x1000000, 0x6000000

image = open(vmlinuz, "rb").read()
setup_sectors = image[0x1F1] or 4
kernel = f"{folder}/kernel.img"
entry_file = kernel + ".entry"
if not os.path.exists(entry_file):
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    packed = image[start:start + length - 4]  # The last four bytes are the length unpacked.
    elf = subprocess.run(["lz4", "-dc"], input=packed, stdout=subprocess.PIPE, check=False).stdout
    assert elf[:4] == b"\x7fELF"
    entry, table = struct.unpack_from("<QQ", elf, 24)
    size, count = struct.unpack_from("<HH", elf, 54)
    flat = bytearray()
    for i in range(count):
        kind, _, at, _, physical, file_size, memory_size, _ = struct.unpack_from("<IIQQQQQQ", elf, table + i * size)
        if kind != 1: continue
        print(f"segment {physical:#x} {file_size:#x} {memory_size:#x}", file=sys.stderr)
        begin = physical - KERNEL
        flat.extend(bytes(max(0, begin + memory_size - len(flat))))
        flat[begin:begin + file_size] = elf[at:at + file_size]
    assert KERNEL + len(flat) < TREE, hex(len(flat))
    open(kernel, "wb").write(flat)
    open(entry_file, "w").write(str(entry))
entry = int(open(entry_file).read())

# Low memory from 0x10000: page tables that map 4 GiB onto itself, the descriptor table, parameters, command line.
low = bytearray(0xA000)
PML4, PDPT, PD, GDT, PARAMETERS, TEXT = 0x10000, 0x11000, 0x12000, 0x16000, 0x17000, 0x18000
def put(format, address, *values): struct.pack_into(format, low, address - LOW, *values)
put("<Q", PML4, PDPT | 3)
for i in range(4):
    put("<Q", PDPT + 8 * i, (PD + 0x1000 * i) | 3)
    for j in range(512): put("<Q", PD + 0x1000 * i + 8 * j, (i << 30 | j << 21) | 0x83)
put("<QQQQ", GDT, 0, 0, 0x00AF9B000000FFFF, 0x00CF93000000FFFF)  # 0x10: code, 0x18: data
header_end = 0x202 + image[0x201]
low[PARAMETERS - LOW + 0x1F1:PARAMETERS - LOW + header_end] = image[0x1F1:header_end]
put("<B", PARAMETERS + 0x210, 0xFF)  # type_of_loader
put("<B", PARAMETERS + 0x211, 1)  # loadflags
put("<II", PARAMETERS + 0x218, TREE, tree_size)
put("<I", PARAMETERS + 0x228, TEXT)
regions = [(0, 0x9FC00, 1), (0x9FC00, 0x400, 2), (0xF0000, 0x10000, 2), (0x100000, memory - 0x100000, 1)]
put("<B", PARAMETERS + 0x1E8, len(regions))
for i, region in enumerate(regions): put("<QQI", PARAMETERS + 0x2D0 + 20 * i, *region)
text = command_line.encode() + b"\0"
assert len(text) < 2000
low[TEXT - LOW:TEXT - LOW + len(text)] = text
open(f"{folder}/low.img", "wb").write(low)

# The first instructions. The descriptor table is named by six bytes in the ROM.
rom = bytearray(b"\xF4" * 0x10000)
code = bytes.fromhex("FA FC")                       # cli; cld
code += bytes.fromhex("66 2E 0F 01 16 F0 FE".replace("2E", "2E"))  # o32 lgdt cs:[0xFEF0]
code += bytes.fromhex("0F 20 E0 66 83 C8 20 0F 22 E0")  # cr4 |= PAE
code += b"\x66\xB8" + struct.pack("<I", PML4) + bytes.fromhex("0F 22 D8")  # cr3 = tables
code += b"\x66\xB9" + struct.pack("<I", 0xC0000080) + bytes.fromhex("0F 32 66 0D 00 01 00 00 0F 30")  # EFER.LME
code += bytes.fromhex("0F 20 C0 66 0D 01 00 00 80 0F 22 C0")  # cr0 |= PG | PE
LONG = 0xF100
code += b"\x66\xEA" + struct.pack("<IH", 0xFFFF0000 + LONG, 0x10)  # jmp 0x10:long
rom[0xF000:0xF000 + len(code)] = code
rom[0xFEF0:0xFEF6] = struct.pack("<HI", 31, GDT)
code = bytes.fromhex("66 B8 18 00 8E D8 8E C0 8E D0 8E E0 8E E8")  # ds, es, ss, fs, gs = 0x18
code += b"\xBC" + struct.pack("<I", 0x90000) + b"\xBE" + struct.pack("<I", PARAMETERS)  # rsp, rsi
code += b"\x48\xB8" + struct.pack("<Q", entry) + b"\xFF\xE0"  # jmp entry
rom[LONG:LONG + len(code)] = code
rom[0xFFF0:0xFFF3] = b"\xE9" + struct.pack("<h", 0xF000 - 0xFFF3)
open(f"{folder}/boot.rom", "wb").write(rom)
