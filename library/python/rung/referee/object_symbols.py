"""Symbols that an object file needs from elsewhere."""

import struct


def undefined(data):
    """The names of undefined symbols of a 64-bit little-endian ELF object, sorted."""
    if data[:6] != b"\x7fELF\x02\x01":
        return []
    table, = struct.unpack_from("<Q", data, 0x28)
    each_size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * each_size) for i in range(count)]
    found = set()
    for _, kind, _, _, offset, size, link, _, _, entry in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        names = sections[link][4]
        for at in range(offset, offset + size, entry):
            name, _, _, section = struct.unpack_from("<IBBH", data, at)
            if section == 0 and name:
                start = names + name
                found.add(data[start:data.index(b"\0", start)].decode(errors="replace"))
    return sorted(found)
