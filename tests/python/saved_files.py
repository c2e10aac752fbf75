# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_save.py runs on every engine.

    saved_files.py write FOLDER          saves files there
    saved_files.py read OUT FOLDER...    writes into a file of JSON what the files of the folders contain
"""
import collections
import io
import json
import os
import sys

import torch
from torch import nn


def shared():
    """Views of one storage, other strides, and tensors that are one object."""
    x = torch.arange(12.).reshape(3, 4)
    return {'whole': x, 'turned': x.t(), 'row': x[1], 'column': x[:, 2], 'again': x, 'spread': x[:1].expand(5, 4)}


def kinds():
    dtypes = [getattr(torch, name) for name in ('float32', 'float64', 'int64', 'int32', 'bool', 'complex64', 'complex128')]
    return {**{str(dtype): torch.ones(3).to(dtype) for dtype in dtypes}, 'empty': torch.empty(0), 'number': torch.tensor(3.),
            'asks': torch.ones(2, requires_grad=True), 'none': torch.empty(2, 0, 3)}


def plain():
    return {'numbers': [1, -5, 2 ** 40, 2.5, True, None, 1 + 2j], 'text': 'ä', 'bytes': b'\x00\xff', 'set': {1, 2},
            'tuple': (1, (2, 'three')), 'ordered': collections.OrderedDict(b=1, a=2), 'size': torch.Size([2, 3]),
            'dtype': torch.float64, 'device': torch.device('cpu'), 'deep': {'a': [{'b': torch.ones(1)}]}, 5: 'five'}


def parameters():
    weight = nn.Parameter(torch.ones(2, 2))
    return {'weight': weight, 'fixed': nn.Parameter(torch.zeros(1), requires_grad=False), 'list': [weight, weight]}


def trained(kind, **options):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = kind(model.parameters(), **options)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(5, 3)).sum().backward()
        optimizer.step()
    return {'model': model.state_dict(), 'epoch': 3, 'optimizer': optimizer.state_dict()['state']}


FILES = {'shared': shared, 'kinds': kinds, 'plain': plain, 'parameters': parameters,
         'sgd': lambda: trained(torch.optim.SGD, lr=0.1, momentum=0.9),
         'adam': lambda: trained(torch.optim.Adam, lr=0.01)}


def describe(seen):
    if isinstance(seen, torch.Tensor):
        return [type(seen).__name__, str(seen.dtype), list(seen.shape), list(seen.stride()), seen.storage_offset(),
                seen.requires_grad, repr(seen.detach().tolist())]
    if isinstance(seen, dict):
        return [type(seen).__name__, [[repr(key), describe(value)] for key, value in seen.items()]]
    if isinstance(seen, (list, tuple)):
        return [type(seen).__name__, [describe(part) for part in seen]]
    return repr(seen)


def sharing(seen):
    """A write into one of them is seen in the others."""
    seen['whole'].fill_(7)
    return describe(seen), seen['again'] is seen['whole']


def write(folder):
    for name, make in FILES.items():
        torch.save(make(), os.path.join(folder, name + '.pt'))
    with open(os.path.join(folder, 'open.pt'), 'wb') as file:
        torch.save([torch.ones(2)], file)
    torch.save({'x': torch.ones(2)}, os.path.join(folder, 'new.pt'), pickle_protocol=4)


def knows(name):
    """Whether this engine reads the file with weights_only. PyTorch 1.13 knows few opcodes then."""
    return name in ('shared', 'kinds', 'parameters') or name != 'new' and not torch.__version__.startswith('1.')


def read(out, folders):
    seen = {}
    for folder in folders:
        for name in [*FILES, 'open', 'new']:
            path = os.path.join(folder, name + '.pt')
            with open(path, 'rb') as file:
                memory = io.BytesIO(file.read())
            options = {'weights_only': knows(name)}
            seen[f'{folder} {name}'] = [describe(torch.load(memory, **options)), describe(torch.load(path, **options)),
                                        describe(torch.load(path, map_location='cpu', **options)),
                                        describe(torch.load(path, map_location=lambda storage, location: storage, **options)),
                                        sharing(torch.load(path)) if name == 'shared' else None]
    with open(out, 'w') as file:
        json.dump(seen, file)


if __name__ == '__main__':
    if sys.argv[1] == 'write':
        write(sys.argv[2])
    else:
        read(sys.argv[2], sys.argv[3:])
