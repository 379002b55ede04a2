"""What the wheel has to know of libraries and programs, and change in them: files in ELF, of 64 bits, little endian."""

import mmap
import re
import struct

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NULL, _DT_STRTAB, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 0, 5, 14, 15, 29
_DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(6) == b"\x7fELF\2\1"


class Elf:
    """The dynamic section of a file, which may be changed in place."""

    def __init__(self, path, writes=False):
        self._file = open(path, "r+b" if writes else "rb")
        self._data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_WRITE if writes else mmap.ACCESS_READ)
        table, = struct.unpack_from("<Q", self._data, 32)
        size, count = struct.unpack_from("<HH", self._data, 54)
        self._segments, self._entries = [], []
        for at in range(table, table + size * count, size):
            kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", self._data, at)
            if kind == _PT_LOAD:
                self._segments.append((address, offset, length))
            elif kind == _PT_DYNAMIC:
                for place in range(offset, offset + length, 16):
                    tag, value = struct.unpack_from("<QQ", self._data, place)
                    if tag == _DT_NULL:
                        break
                    self._entries.append((tag, value, place))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._data.close()
        self._file.close()

    def _offset(self, address):
        for begin, offset, length in self._segments:
            if begin <= address < begin + length:
                return address - begin + offset
        raise ValueError(f"expected an address in the file, found {address:#x}")

    def _find(self, wanted):
        return next((value for tag, value, _ in self._entries if tag == wanted), None)

    def _text(self, place):
        begin = self._offset(self._find(_DT_STRTAB)) + place
        return self._data[begin:self._data.find(b"\0", begin)].decode()

    @property
    def soname(self):
        place = self._find(_DT_SONAME)
        return None if place is None else self._text(place)

    @property
    def run_path(self):
        """Where the loader looks for what this file needs; "" if it says nothing of that."""
        place = self._find(_DT_RUNPATH)
        place = self._find(_DT_RPATH) if place is None else place
        return "" if place is None else self._text(place)

    def pass_run_path_on(self):
        """Makes the run path one that is also used for what the needed libraries need: an RPATH of a RUNPATH."""
        for tag, _, place in self._entries:
            if tag == _DT_RUNPATH:
                struct.pack_into("<Q", self._data, place, _DT_RPATH)

    def needed_glibc(self):
        """The newest version of glibc that it needs, (2, 36); (0, 0) if none."""
        newest = (0, 0)
        at = self._find(_DT_VERNEED)
        at = None if at is None else self._offset(at)
        for _ in range(self._find(_DT_VERNEEDNUM) or 0):
            _, count, _, first, after = struct.unpack_from("<HHIII", self._data, at)
            own = at + first
            for _ in range(count):
                _, _, _, name, step = struct.unpack_from("<IHHII", self._data, own)
                found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", self._text(name))
                if found:
                    newest = max(newest, (int(found[1]), int(found[2])))
                own += step
            at += after
        return newest
