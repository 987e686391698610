"""Symbols of an object file: those that it needs from elsewhere, and those that it defines for others."""

import struct


def symbols_of(data):
    """(undefined, defined) names of a 64-bit little-endian ELF object, sorted. Defined are global and weak ones."""
    if data[:6] != b"\x7fELF\x02\x01":
        return [], []
    table, = struct.unpack_from("<Q", data, 0x28)
    each_size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * each_size) for i in range(count)]
    undefined, defined = set(), set()
    for _, kind, _, _, offset, size, link, _, _, entry in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        names = sections[link][4]
        for at in range(offset, offset + size, entry):
            name, about, _, section = struct.unpack_from("<IBBH", data, at)
            if name and (section == 0 or about >> 4 != 0):  # 0: STB_LOCAL
                start = names + name
                found = data[start:data.index(b"\0", start)].decode(errors="replace")
                (undefined if section == 0 else defined).add(found)
    return sorted(undefined), sorted(defined)
