# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases of nn.init and nn.utils for test_nn.py."""
from cases import case, graph_of, main, text_of

import torch
from torch import nn
from torch.nn import init, utils
from torch.nn.utils import rnn

FILLED = {
    'uniform_': dict(a=-1.0, b=2.0), 'normal_': dict(mean=1.0, std=2.0), 'constant_': dict(val=3.0), 'ones_': {}, 'zeros_': {},
    'xavier_uniform_': dict(gain=2.0), 'xavier_normal_': {}, 'kaiming_uniform_': dict(a=0.3),
    'kaiming_normal_': dict(mode='fan_out', nonlinearity='relu'), 'trunc_normal_': {}, 'eye_': {}, 'sparse_': dict(sparsity=0.4),
}


def filled(name, settings):
    torch.manual_seed(3)
    function, seen = getattr(init, name), []
    for shape in ((5, 7), (4, 3, 3), (20, 30)):
        tensor = torch.empty(shape, requires_grad=True)
        if len(shape) == 3 and name in ('eye_', 'sparse_'):
            continue
        same = function(tensor, **settings) is tensor
        seen += [same, tensor.requires_grad, tensor.grad_fn, tensor]
    return [*seen, torch.rand(2)]


for NAME, SETTINGS in FILLED.items():
    case(lambda name=NAME, settings=SETTINGS: filled(name, settings), f'init: {NAME}')


@case
def truncated():
    seen = []
    for settings in (dict(mean=0.5, std=2.0), dict(std=0.02), dict(mean=0, std=1, a=1.5, b=3), dict(a=-0.1, b=0.1)):
        torch.manual_seed(3)
        seen += [init.trunc_normal_(torch.empty(40, 5), **settings), torch.rand(1)]
    return seen


@case
def dirac():
    return [init.dirac_(torch.empty(size), groups) for size, groups in (((4, 3, 3), 1), ((4, 2, 3, 4), 2), ((2, 2, 1, 3, 2), 1))]


@case
def orthogonal():
    return [init.orthogonal_(torch.empty(size), gain) for size, gain in (((5, 3), 1), ((3, 7), 2), ((4, 2, 3), 1), ((4, 4), 1))]


@case
def gains():
    names = ('linear', 'conv3d', 'sigmoid', 'tanh', 'relu', 'leaky_relu', 'selu', 'conv_transpose2d')
    return [*map(init.calculate_gain, names), init.calculate_gain('leaky_relu', 0.3)]


@case
def init_texts():
    x = torch.empty(3)
    return [text_of(call) for call in (
        lambda: init.xavier_uniform_(x), lambda: init.kaiming_normal_(x), lambda: init.eye_(x), lambda: init.dirac_(x),
        lambda: init.dirac_(torch.empty(3, 2, 2), 2), lambda: init.orthogonal_(x), lambda: init.sparse_(x, 0.1),
        lambda: init.calculate_gain('a'), lambda: init.calculate_gain('leaky_relu', 'a'),
        lambda: init.kaiming_uniform_(torch.empty(2, 2), mode='a'), lambda: init.kaiming_uniform_(torch.empty(0, 2)),
        lambda: init.trunc_normal_(x, mean=5.0), lambda: init.uniform(x))]


def with_gradients():
    params = [nn.Parameter(torch.zeros(n)) for n in (3, 5, 2)]
    for i, p in enumerate(params[:2]):
        p.grad = torch.arange(1.0, p.numel() + 1) * (i + 0.5)
    return params


@case
def clipped():
    seen = []
    for bound, p in ((1.0, 2.0), (100.0, 2), (1.0, 1.0), (1.0, float('inf')), (0.5, 3)):
        params = with_gradients()
        seen += [utils.clip_grad_norm_(params, bound, p), [p.grad for p in params]]
    params = with_gradients()
    utils.clip_grad_value_(params, 1.5)
    seen.append([p.grad for p in params])
    one = with_gradients()[0]
    seen += [utils.clip_grad_norm_(one, 1.0), one.grad, utils.clip_grad_norm_([], 1.0), utils.get_total_norm([torch.ones(3)])]
    utils.clip_grads_with_norm_(one, 0.1, torch.tensor(3.0))
    bad = with_gradients()
    bad[0].grad[0] = float('nan')
    return [*seen, one.grad, text_of(lambda: utils.clip_grad_norm_(bad, 1.0, error_if_nonfinite=True)),
            utils.clip_grad_norm_((p for p in ()), 1.0)]


@case
def vectors():
    net = nn.Linear(3, 2)
    vector = utils.parameters_to_vector(net.parameters())
    utils.vector_to_parameters(torch.arange(8.0), net.parameters())
    return [vector.shape, graph_of(vector), net.weight, net.bias, net.weight.is_leaf,
            text_of(lambda: utils.vector_to_parameters(3, []))]


def sequences():
    return [torch.arange(n * 2.0).view(n, 2).add(10 * n).requires_grad_() for n in (2, 4, 3)]


@case
def padded():
    seen = []
    for settings in ({}, dict(batch_first=True, padding_value=-1.0), dict(padding_side='left')):
        parts = sequences()
        result = rnn.pad_sequence(parts, **settings)
        (result * result).sum().backward()
        seen += [result, graph_of(result), [part.grad for part in parts]]
    back = rnn.unpad_sequence(rnn.pad_sequence(sequences()), torch.tensor([2, 4, 3]))
    return [*seen, back, text_of(lambda: rnn.pad_sequence([])), text_of(lambda: rnn.pad_sequence(3)),
            text_of(lambda: rnn.pad_sequence(sequences(), padding_side='a'))]


@case
def packed():
    seen = []
    for lengths, settings in (([4, 2, 2], {}), ([2, 4, 1], dict(enforce_sorted=False)),
                              (torch.tensor([4, 3, 3]), dict(batch_first=True)), ([1, 3, 3], dict(batch_first=True, enforce_sorted=False))):
        x = torch.arange(24.0).view((3, 4, 2) if settings.get('batch_first') else (4, 3, 2)).requires_grad_()
        pack = rnn.pack_padded_sequence(x, lengths, **settings)
        seen += [list(pack), graph_of(pack.data)]
        back, sizes = rnn.pad_packed_sequence(pack, settings.get('batch_first', False), padding_value=-1.0, total_length=5)
        seen += [back, graph_of(back), sizes]
        (back * back).sum().backward()
        seen.append(x.grad)
    pack = rnn.pack_sequence(sequences(), enforce_sorted=False)
    return [*seen, list(pack), rnn.unpack_sequence(pack), pack.double().data.dtype, type(pack).__name__]


@case
def packing_twice_differentiated():
    x = torch.arange(12.0).view(3, 2, 2).requires_grad_()
    data = rnn.pack_padded_sequence(x, [3, 1]).data
    grad, = torch.autograd.grad((data ** 3).sum(), x, create_graph=True)
    return [grad, torch.autograd.grad(grad.sum(), x)]


@case
def packing_texts():
    x = torch.ones(4, 3, 2)
    return [text_of(call) for call in (
        lambda: rnn.pack_padded_sequence(x, [2, 4, 1]), lambda: rnn.pack_padded_sequence(x, [4, 1]),
        lambda: rnn.pack_padded_sequence(x, [4, 1, 0]), lambda: rnn.pack_padded_sequence(torch.ones(4, 0, 2), []),
        lambda: rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [4, 2, 1]), total_length=2))]


def recurrent(make, bidirectional, initial):
    torch.manual_seed(1)
    net = make(2, 3, num_layers=2, bidirectional=bidirectional)
    x = torch.randn(4, 3, 2, requires_grad=True)
    pack = rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
    state = torch.randn(4 if bidirectional else 2, 3, 3, requires_grad=True)
    state = (state, state * 2) if make is nn.LSTM else state
    output, last = net(pack, state) if initial else net(pack)
    last = last if isinstance(last, tuple) else (last,)
    loss = (output.data ** 2).sum() + sum((h ** 2).sum() for h in last)
    grads = torch.autograd.grad(loss, [x, *net.parameters()])
    return [list(output), last, sorted(graph_of(loss)), grads]


for MAKE in nn.LSTM, nn.GRU, nn.RNN:
    for TWO in False, True:
        for INITIAL in False, True:
            case(lambda make=MAKE, two=TWO, initial=INITIAL: recurrent(make, two, initial),
                 f'recurrent: {MAKE.__name__} {TWO} {INITIAL}')


if __name__ == '__main__':
    main()
