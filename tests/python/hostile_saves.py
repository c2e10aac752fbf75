# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_save.py runs on Tapedeck's engine: loads files that were made to harm, and damaged ones.

    hostile_saves.py FOLDER
"""
import io
import os
import pickle
import random
import resource
import struct
import sys
import zipfile

import torch

HARMLESS = (RuntimeError, pickle.UnpicklingError, EOFError)
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def archive(data, records=()):
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w') as made:
        for name, content in {'data.pkl': data, 'version': b'3\n', **dict(records)}.items():
            made.writestr('a/' + name, content)
    return file.getvalue()


def must_fail(name, content, **options):
    try:
        loaded = torch.load(io.BytesIO(content), **options)
    except HARMLESS as problem:
        return str(problem)
    raise AssertionError(f'{name} was loaded: {loaded!r}')


class Call:
    def __init__(self, function, *arguments):
        self.reduced = function, arguments

    def __reduce__(self):
        return self.reduced


def tensor(size, stride, offset=0, count=4, kind='FloatStorage', key='0'):
    """A pickle of one tensor over a record of 16 bytes."""
    def numbers(values):
        return b'(' + b''.join(b'\x8a\x08' + struct.pack('<q', value) for value in values) + b't'

    return (b'\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storage' + f'ctorch\n{kind}\n'.encode() +
            b'X\x01\0\0\0' + key.encode() + b'X\x03\0\0\0cpu\x8a\x08' + struct.pack('<q', count) + b'tQ\x8a\x08' +
            struct.pack('<q', offset) + numbers(size) + numbers(stride) + b'\x89ccollections\nOrderedDict\n)RtR.')


def code():
    marker = os.path.join(sys.argv[1], 'marker')
    for function, *arguments in ((os.system, f'touch {marker}'), (eval, f'open({marker!r}, "w")'), (exec, 'import this'),
                                 (getattr, 'torch', 'load'), (io.open, marker, 'w'), (type, 'x', (), {}),
                                 (bytearray, 10 ** 13)):
        for weights_only in (True, False):
            text = must_fail(function.__name__, archive(pickle.dumps(Call(function, *arguments), 2)),
                             weights_only=weights_only)
            assert 'Unsupported global' in text, text
    assert not os.path.exists(marker)


def bad_pickles():
    deep = b'\x80\x02}' + b')' + b'\x85' * 1000000 + b'K\1s.'
    bombs = {'deep key': deep, 'deep item': b'\x80\x04\x8f(' + b')' + b'\x85' * 1000000 + b'\x90.',
             'array': b'\x80\x05\x96' + struct.pack('<Q', 1 << 40) + b'.', 'far memo': b'\x80\x02Kar\xff\xff\xff\xff0.',
             'long text': b'\x80\x04\x8d' + struct.pack('<Q', 1 << 50) + b'x.', 'no object': b'\x80\x02.', 'nothing': b'',
             'strange': b'\x80\x02(i__main__\nX\n.', 'new': b'\x80\x02ctorch\nTensor\n)\x81.',
             'call of a tensor': b'\x80\x02ctorch\nTensor\n)R.', 'codec': b'\x80\x02c_codecs\nencode\nX\1\0\0\0aX\3\0\0\0bz2\x86R.'}
    for name, data in bombs.items():
        if name != 'far memo':  # it is harmless
            must_fail(name, archive(data))
    must_fail('far memo', archive(bombs['far memo']))


def bad_tensors():
    records = {'data/0': bytes(16)}
    fine = torch.load(io.BytesIO(archive(tensor([4], [1]), records)))
    assert fine.tolist() == [0., 0., 0., 0.]
    far = 1 << 62
    for arguments in (([5], [1]), ([4], [2]), ([4], [-1]), ([-4], [1]), ([4], [1], 1), ([4], [1], -1), ([far], [far]),
                      ([2, far], [0, 4]), ([4], [1, 1]), ([1] * 70, [1] * 70), ([4], [1], far), ([4], [1], 0, far),
                      ([4], [1], 0, 5), ([4], [1], 0, -4), ([4], [1], 0, 4, 'DoubleStorage'), ([2], [1], 0, 4, 'Thing'),
                      ([4], [1], 0, 4, 'FloatStorage', '1')):
        must_fail(arguments, archive(tensor(*arguments), records))
    truths = torch.load(io.BytesIO(archive(tensor([4], [1], 0, 4, 'BoolStorage'), {'data/0': b'\0\1\2\xff'})))
    assert truths.tolist() == [False, True, True, True]


def damage():
    """A file with any byte changed, or cut off anywhere, loads or fails."""
    file = io.BytesIO()
    torch.save({'x': torch.arange(5.), 'y': [torch.ones(2, 2).t(), 'text', (1, 2.)]}, file)
    whole, chance, n_failed = file.getvalue(), random.Random(1), 0
    for number in range(1500):
        content = bytearray(whole)
        for _ in range(chance.choice((1, 1, 2, 5))):
            content[chance.randrange(len(content))] = chance.randrange(256)
        content = bytes(content) if number % 3 else whole[:chance.randrange(len(whole))]
        try:
            torch.load(io.BytesIO(content), weights_only=bool(number % 2))
        except HARMLESS:
            n_failed += 1
    assert n_failed > 400, n_failed


def bomb():
    """Many records lie over each other."""
    names = [f'data/{i:04}' for i in range(1000)]
    content = bytearray(archive(b'\x80\x02].', {'data/big': bytes(1 << 20), **dict.fromkeys(names, b'')}))
    assert torch.load(io.BytesIO(bytes(content))) == []
    with zipfile.ZipFile(io.BytesIO(content)) as made:
        big = made.getinfo('a/data/big')
    for name in names:
        entry = content.rindex(b'a/' + name.encode()) - 46
        content[entry + 20:entry + 28] = struct.pack('<II', big.file_size, big.file_size)
        content[entry + 42:entry + 46] = struct.pack('<I', big.header_offset)
    from torch.serialization._archive import Reader
    records = Reader(io.BytesIO(bytes(content)))
    try:
        for name in names:
            records.read(name)
    except RuntimeError:
        return
    raise AssertionError('the bomb went off')


if __name__ == '__main__':
    for check in (code, bad_pickles, bad_tensors, damage, bomb):
        check()
    print('fine')
