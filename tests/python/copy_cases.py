# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_cases.py compares: tensors in copy.copy, copy.deepcopy and pickle."""
import copy
import os
import pickle
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))

import torch
from torch import nn
from seen_cases import case, case_since_2, error_of, main


def related():
    x = torch.arange(6.).reshape(2, 3)
    return {'whole': x, 'turned': x.t(), 'row': x[1], 'again': x}


@case
def sharing():
    """Deep copies share memory among each other, and none with the originals."""
    seen = []
    originals = related()
    for make in (copy.deepcopy, copy.copy):
        copies = make(originals)
        copies['whole'][1, 0] = 50
        seen.append([copies, copies['turned'].stride(), copies['row'].storage_offset(), copies['again'] is copies['whole'],
                     originals['whole'].tolist()])
    return seen


@case
def pickles():
    x = torch.arange(24.).reshape(2, 3, 4)
    seen = []
    for tensor in (x, x.t() if x.dim() == 2 else x.transpose(0, 2), x[1], x[:, 1:, ::2], x[0, 0, 0], x[:0], torch.tensor(3),
                   torch.tensor([True, False]), torch.tensor([float('nan'), 1e-45]), torch.tensor([2 ** 53 + 1]),
                   torch.ones(2, dtype=torch.complex64)):
        for protocol in (2, 4, 5):
            again = pickle.loads(pickle.dumps(tensor, protocol))
            seen.append([again, again.stride(), again.dtype == tensor.dtype])
    return seen + pickle.loads(pickle.dumps([str(torch.float32), torch.Size([2]), torch.device('cpu').type, torch.float64]))[:3]


@case_since_2
def what_leaves_keep():
    x = torch.ones(2, requires_grad=True)
    x.label, x.grad = ['mine'], torch.full((2,), 3.)
    deep, flat, pickled = copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))
    return [[y.label, y.label is x.label, y.requires_grad, y.is_leaf, y is x, y.data_ptr() == x.data_ptr()]
            for y in (deep, flat, pickled)] + [deep.grad, pickled.grad is None]


@case
def handles_of_hooks():
    """A module's handle is copied with its hooks. The copy takes away the copied hook, not the first one."""
    net, x = nn.Linear(2, 2), torch.ones(2, requires_grad=True)
    net.handle = net.register_forward_hook(print)
    other = copy.deepcopy(net)
    other.handle.remove()
    seen, y = [len(net._forward_hooks), len(other._forward_hooks)], x * 2
    for handle in (x.register_hook(lambda g: g * 3), y.grad_fn.register_hook(lambda gi, go: (gi[0] * 5, *gi[1:]))):
        again = copy.deepcopy(handle)
        seen.append([type(again).__name__, again.id == handle.id])
        again.remove()
    y.sum().backward()
    return [*seen, x.grad]


@case
def modules():
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    other = copy.deepcopy(net)
    other[0].weight.data.zero_()
    tied = copy.deepcopy([net[0].weight, net[0].weight])
    return net[0].weight, other[0].weight, type(other[0].weight).__name__, tied[0] is tied[1], other(torch.ones(1, 2))


@case
def refusals():
    x = torch.ones(2, requires_grad=True) * 2
    return (error_of(lambda: copy.deepcopy(x)) or '').partition('.')[0], pickle.loads(pickle.dumps(x.detach()))


if __name__ == '__main__':
    main()
