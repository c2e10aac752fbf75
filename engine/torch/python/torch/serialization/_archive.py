# SPDX-License-Identifier: LGPL-2.1-or-later
"""Archives of records in PyTorch's format: a zip file without compression, whose records begin at multiples of 64.

A reader trusts nothing in a file. It reads no byte outside of it.
"""
import io
import os
import struct
import zipfile

_ALIGNMENT = 64
_LOCAL_HEADER = 30
_NO_ARCHIVE = 'PytorchStreamReader failed reading zip archive: failed finding central directory'


class Writer:
    """Writes records into a file that is open for writing."""

    def __init__(self, file, name):
        self._zip, self._name = zipfile.ZipFile(file, 'w', zipfile.ZIP_STORED), name

    def write(self, name, data):
        info = zipfile.ZipInfo(f'{self._name}/{name}', (1980, 1, 1, 0, 0, 0))
        begin = self._zip.start_dir + _LOCAL_HEADER + len(info.filename.encode()) + 4
        padding = -begin % _ALIGNMENT
        info.extra = b'FB' + struct.pack('<H', padding) + b'Z' * padding
        with self._zip.open(info, 'w', force_zip64=len(data) >= 1 << 31) as record:
            record.write(data)

    def close(self):
        self._zip.close()


def _bytes_of(file):
    """The whole of a file, by its path or as an object."""
    if isinstance(file, (str, os.PathLike)):
        with open(file, 'rb') as opened:
            return opened.read()
    if not hasattr(file, 'read') or not hasattr(file, 'seek'):
        raise AttributeError(f"'{type(file).__name__}' object has no attribute 'seek'. You can only torch.load from a file "
                             'that is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load '
                             'from it instead.')
    return file.read()


class Reader:
    """The records of an archive."""

    def __init__(self, file):
        self._bytes = memoryview(_bytes_of(file))
        self._left = len(self._bytes)  # records of a bomb lie over each other
        if not self._bytes:
            raise EOFError('Ran out of input')
        if self._bytes[:4] != b'PK\3\4':
            raise RuntimeError(_NO_ARCHIVE + '; files of the time before PyTorch 1.6 are not supported')
        try:
            with zipfile.ZipFile(io.BytesIO(self._bytes)) as archive:
                self._records = {info.filename.partition('/')[2]: info for info in archive.infolist()}
        except (zipfile.BadZipFile, struct.error, UnicodeError, ValueError, IndexError, OverflowError,
                NotImplementedError, OSError) as problem:
            raise RuntimeError(f'{_NO_ARCHIVE} ({problem})') from None

    def has(self, name):
        return name in self._records

    def read(self, name):
        """The bytes of a record, not copied."""
        info = self._records.get(name)
        if info is None:
            raise RuntimeError(f'PytorchStreamReader failed locating file {name}: file not found')
        header = self._bytes[info.header_offset:info.header_offset + _LOCAL_HEADER]
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or len(header) < _LOCAL_HEADER or \
                header[:4] != b'PK\3\4' or info.header_offset < 0:
            raise RuntimeError(f'PytorchStreamReader failed reading file {name}: file read failed')
        begin = info.header_offset + _LOCAL_HEADER + sum(struct.unpack('<HH', header[26:]))
        data = self._bytes[begin:begin + info.file_size]
        self._left -= info.file_size
        if len(data) != info.file_size or self._left < 0:
            raise RuntimeError(f'PytorchStreamReader failed reading file {name}: file read failed')
        return data
