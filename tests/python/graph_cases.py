# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases of layers for which PyTorch has nodes of its own: recurrent ones, attention, activations in place. Each tells the graph
with its edges, the order in which the nodes ran, and the numbers; some do so for the second derivative too."""
import itertools
import warnings

from cases import case, main, text_of

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

IS_FIRST = torch.__version__.startswith('1.')


def some(*shape, shift=0, scale=1 / 8):
    """Numbers that both engines have, around zero."""
    n = torch.Size(shape).numel()
    return torch.tensor([(((7 * i + 3 * shift) % 23) - 11) * scale + 0.01 * i / n + 0.003 for i in range(n)]).view(shape)


def watched(root):
    """The graph as text, and a list that gets the name of each node when it has run."""
    seen, ran = {}, []

    def tree(node):
        if node is None:
            return '-'
        name = node.name().split('::')[-1]
        if name == 'AccumulateGrad':
            return 'A' + 'x'.join(map(str, node.variable.shape))
        if node in seen:
            return f'#{seen[node]}'
        seen[node] = len(seen)
        node.register_hook(lambda *_, label=f'{name} #{seen[node]}': ran.append(label))
        below = (tree(child) + (f':{number}' if number else '') for child, number in node.next_functions)
        return f'{name}({",".join(below)})'
    return tree(root), ran


def facts_of(loss, leaves, second=False):
    graph, ran = watched(loss.grad_fn)
    grads = torch.autograd.grad(loss, leaves, allow_unused=True, create_graph=second)
    ran = list(ran)  # the hooks stay for the next pass
    if not second:
        return [graph, ran, grads]
    total = sum((grad * some(*grad.shape, shift=i)).sum() for i, grad in enumerate(grads) if grad is not None)
    return [graph, ran, grads, *facts_of(total, leaves)]


def weighed(*tensors):
    return sum((x * some(*x.shape, shift=i).to(x.dtype)).sum() for i, x in enumerate(tensors))


# Recurrent layers.

def filled(net):
    for i, p in enumerate(net.parameters()):
        p.data.copy_(some(*p.shape, shift=i) / 3)
    return net


def recurrent(name, kind, shape, n_states=0, lengths=None, dtype=torch.float32, train=True, second=False, **options):
    """With `lengths` the input is packed; n_states: how many first states are given."""
    def run():
        torch.manual_seed(0)
        net = filled(kind(3, 2, **options)).to(dtype).train(train)
        x = some(*shape).to(dtype).requires_grad_()
        batch = [] if len(shape) == 2 else [shape[0 if options.get('batch_first') else 1]]
        states = [some(n_states, *batch, 2, shift=i).to(dtype).requires_grad_() for i in range(2 if kind is nn.LSTM else 1)]
        states = tuple(states) if n_states else ()
        packed = lengths and pack_padded_sequence(x, lengths, options.get('batch_first', False),
                                                  enforce_sorted=lengths == sorted(lengths, reverse=True))
        warnings.filterwarnings('ignore', 'LSTM with projections')  # tells where in PyTorch's source
        out, last = net(packed or x, *([states if kind is nn.LSTM else states[0]] if states else []))
        out = out.data if isinstance(out, PackedSequence) else out
        last = last if isinstance(last, tuple) else (last,)
        return [out, last, out.is_contiguous(), *facts_of(weighed(out, *last), [x, *net.parameters(), *states], second)]
    case(run, f'recurrent: {name}')


for KIND in nn.LSTM, nn.GRU, nn.RNN:
    NAME = KIND.__name__
    recurrent(NAME, KIND, (3, 2, 3))
    recurrent(f'{NAME} of states', KIND, (3, 2, 3), 1)
    recurrent(f'{NAME} without bias', KIND, (3, 2, 3), 1, bias=False)
    recurrent(f'{NAME} both ways', KIND, (3, 2, 3), 4, bidirectional=True, num_layers=2)
    recurrent(f'{NAME} of batches', KIND, (2, 3, 3), 1, batch_first=True)
    recurrent(f'{NAME} of one sequence', KIND, (3, 3), 1)
    recurrent(f'{NAME} of one sequence, of batches', KIND, (3, 3), batch_first=True)
    recurrent(f'{NAME} with dropout', KIND, (3, 2, 3), dropout=0.5, num_layers=2)
    recurrent(f'{NAME} in evaluation', KIND, (3, 2, 3), dropout=0.5, num_layers=2, train=False)
    recurrent(f'{NAME} of float64', KIND, (2, 3, 3), 1, batch_first=True, dtype=torch.float64)
    recurrent(f'{NAME} packed', KIND, (3, 2, 3), 1, [3, 1])
    recurrent(f'{NAME} packed in another order', KIND, (2, 3, 3), 1, [1, 3], batch_first=True)
    recurrent(f'{NAME} packed both ways', KIND, (3, 2, 3), 4, [3, 1], bidirectional=True, num_layers=2)
    recurrent(f'{NAME} twice', KIND, (3, 2, 3), 1, second=True)
    recurrent(f'{NAME} twice, both ways', KIND, (3, 2, 3), bias=False, bidirectional=True, second=True)


for KIND in nn.LSTMCell, nn.GRUCell, nn.RNNCell:
    def cell(kind=KIND):
        found = []
        for shape in (2, 3), (3,):
            net, x = filled(kind(3, 2)), some(*shape).requires_grad_()
            state = net(x, None) if shape == (3,) else net(x, net(x))
            state = state if isinstance(state, tuple) else (state,)
            found.append([state, *facts_of(weighed(*state), [x, *net.parameters()])])
        return found
    case(cell, f'recurrent: {KIND.__name__}')


for OPTIONS in {}, {'batch_first': True, 'bidirectional': True, 'num_layers': 2}, {'bias': False}:
    recurrent(f'projected {OPTIONS}', nn.LSTM, (3, 2, 3), proj_size=1, **OPTIONS)
recurrent('projected and packed', nn.LSTM, (3, 2, 3), lengths=[3, 1], proj_size=1)


@case
def recurrent_texts():
    """The words of PyTorch 2. Packed LSTMs check nothing there."""
    zeros, pack = torch.zeros, nn.utils.rnn.pack_sequence
    options = {'proj_size': 4}, {'proj_size': -1}, {'dropout': 2}, {'dropout': True}, {'num_layers': 0}
    found = [repr(nn.LSTM(3, 4, 2, False, True, 0.5, True, 2)), list(nn.LSTM(3, 4, proj_size=2).state_dict())]
    for kind in nn.LSTM, nn.GRU, nn.RNN:
        def run(*sizes, kind=kind, states=None, of=torch.float32):
            states = states and (zeros(*states), zeros(*states))
            return kind(3, 4)(zeros(*sizes, dtype=of), *([states if kind is nn.LSTM else states[0]] if states else []))
        found += [text_of(lambda o=o: kind(3, 4, **o)) for o in options] + [text_of(lambda: kind(3, 0))]
        found += [text_of(lambda: run(5)), text_of(lambda: run(1, 1, 5, 3)), text_of(lambda: run(5, 1, 2)), text_of(lambda: run(5, 2)),
                  text_of(lambda: run(0, 1, 3)), text_of(lambda: run(2, 0, 3)), text_of(lambda: run(5, 1, 3, of=torch.float64)),
                  text_of(lambda: run(5, 3, states=(1, 1, 4))), text_of(lambda: run(5, 1, 3, states=(1, 4))),
                  text_of(lambda: run(5, 1, 3, states=(1, 2, 4))), text_of(lambda: run(5, 1, 3, states=(2, 1, 4))),
                  text_of(lambda: run(5, 1, 3, states=(1, 1, 5)))]
        if kind is not nn.LSTM:
            found.append(text_of(lambda: kind(3, 4)(pack([zeros(2, 2)]))))
    for kind in nn.LSTMCell, nn.GRUCell, nn.RNNCell:
        def step(*sizes, states=None, kind=kind):
            states = states and (zeros(*states), zeros(*states))
            return kind(3, 4)(zeros(*sizes), *([states if kind is nn.LSTMCell else states[0]] if states else []))
        found += [text_of(lambda: step(5, 2)), text_of(lambda: step(3)), text_of(lambda: step(1, 5, 3)),
                  text_of(lambda: step(5, 3, states=(4, 4))), text_of(lambda: step(5, 3, states=(5, 3))),
                  text_of(lambda: step(5, 3, states=(1, 5, 4)))]
    return found if not IS_FIRST else None


@case
def precision():
    """Layers of float32, which may be one node, give what the steps of float64 give."""
    far = []
    for shape, both, bias, layers in itertools.product(((1, 1, 3), (4, 3, 3), (2, 5, 3)), (False, True), (False, True), (1, 2)):
        net = nn.LSTM(3, 4, layers, bias=bias, bidirectional=both)
        wide = nn.LSTM(3, 4, layers, bias=bias, bidirectional=both).double()
        wide.load_state_dict(net.state_dict())
        x = some(*shape)
        results = [net(x), wide(x.double())]
        grads = [torch.autograd.grad(weighed(out, *last), list(of.parameters()))
                 for of, (out, last) in zip((net, wide), results)]
        far.append(max(((a - b).abs() / (1 + b.abs())).max().item() for a, b in zip(*grads)))
    return [error < 1e-5 for error in far]


def lstm():
    x = some(3, 2, 3).requires_grad_()
    return x, filled(nn.LSTM(3, 2))


@case
def parts_of_an_lstm():
    """Each result alone, frozen weights, and nothing to go back to."""
    x, net = lstm()
    found = [facts_of(weighed(part(net(x))), [x]) for part in (lambda r: r[0], lambda r: r[1][0], lambda r: r[1][1])]
    for p in net.parameters():
        p.requires_grad_(False)
    found.append(facts_of(weighed(net(x)[0]), [x]))
    return [found, net(x.detach())[0].requires_grad]


@case
def writes_into_an_lstm():
    def after(write):
        x, net = lstm()
        x = x * 1
        out, (h, c) = net(x)
        loss = weighed(out, h, c)
        with torch.no_grad():
            write(x, out, net)
        loss.backward()

    def twice():
        x, net = lstm()
        out = net(x)[0].sum()
        out.backward()
        out.backward()
    return [text_of(lambda w=w: after(w)) for w in (lambda x, out, net: x.mul_(2), lambda x, out, net: out.mul_(2),
                                                   lambda x, out, net: net.weight_hh_l0.mul_(2))] + [text_of(twice)]


def saved_by(call):
    """The sizes of what is saved, in order, but for the workspace of a library."""
    sizes = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: (sizes.append(list(x.shape)), x)[1], lambda x: x):
        call()
    return sizes


@case
def saved():
    n = some(4).requires_grad_()
    found = [saved_by(lambda f=f: f(n.clone())) for f in (F.leaky_relu_, F.elu_, F.celu_, F.selu_)]
    if not IS_FIRST:
        x, net = lstm()
        found.append(saved_by(lambda: net(x))[:10])
        q = some(2, 3, 5, 4).requires_grad_()
        found.append([saved_by(lambda m=m: F.scaled_dot_product_attention(q, q, q, m)) for m in (None, some(5, 5))])
    return found


# Activations in place.

def in_place(name, call, second=True):
    def run():
        torch.manual_seed(0)
        x = some(3, 5).requires_grad_()
        whole, part = x * 1, x * 1
        graphs = facts_of(weighed(call(whole)), [x], second)
        call(part[1:])
        return [whole, part, *graphs, *facts_of(weighed(part), [x])]
    case(run, f'in place: {name}')


in_place('leaky_relu', F.leaky_relu_)
in_place('leaky_relu of 0.3', lambda x: F.leaky_relu(x, 0.3, True))
in_place('elu', lambda x: F.elu(x, 1.3, True))
in_place('celu', lambda x: F.celu(x, 1.3, True))
in_place('selu', F.selu_)
in_place('threshold', lambda x: F.threshold_(x, 0.1, 5.0))
in_place('relu', F.relu_)
in_place('hardtanh', F.hardtanh_, second=False)
in_place('rrelu', F.rrelu_, second=False)


@case
def writes_into_activations():
    def run(call, write=False):
        x = some(4).requires_grad_()
        out = call(x * 1)
        if write:
            out.mul_(2)
        out.sum().backward()
        return x.grad
    calls = F.leaky_relu_, F.elu_, F.celu_, F.selu_
    negative = (lambda x: F.leaky_relu_(x, -0.1), lambda x: F.elu_(x, -1.0), lambda x: F.celu_(x, -1.0))
    return [[text_of(lambda c=c: run(c, True)) for c in calls], [text_of(lambda c=c: run(c)) for c in negative],
            run(lambda x: F.threshold_(x, 0.1, 5.0), True), run(lambda x: F.leaky_relu_(x, 0.0))]


# Attention.

def attention(name, *shapes, second=False, make=lambda x: x, mask=None, **options):
    def run():
        torch.manual_seed(0)
        inputs = [some(*shape, shift=i).requires_grad_() for i, shape in enumerate(shapes)]
        out = F.scaled_dot_product_attention(*map(make, inputs), mask, **options)
        leaves = inputs + ([mask] if mask is not None and mask.requires_grad else [])
        return [out, out.stride(), facts_of(weighed(out), leaves), [x.stride() for x in torch.autograd.grad(
            weighed(F.scaled_dot_product_attention(*map(make, inputs), mask, **options)), inputs)]]
    case(run, f'attention: {name}')


Q, LONG = (2, 3, 5, 4), (2, 3, 7, 4)
BELOW = torch.ones(5, 5).tril() > 0
if not IS_FIRST:
    attention('plain', Q, Q, Q)
    attention('causal', Q, Q, Q, is_causal=True)
    attention('other lengths', Q, LONG, LONG)
    attention('causal of other lengths', Q, LONG, LONG, is_causal=True)
    attention('one query', (2, 3, 1, 4), Q, Q)
    attention('other values', Q, Q, (2, 3, 5, 6))
    attention('two dimensions', (5, 4), (5, 4), (5, 4))
    attention('three dimensions', (3, 5, 4), (3, 5, 4), (3, 5, 4))
    attention('three dimensions, causal', (3, 5, 4), (3, 5, 4), (3, 5, 4), is_causal=True)
    attention('three dimensions, a mask', (3, 5, 4), (3, 5, 4), (3, 5, 4), mask=some(5, 5))
    attention('three dimensions, masks', (3, 5, 4), (3, 5, 4), (3, 5, 4), mask=some(3, 5, 5))
    attention('three dimensions, a mask of interest', (3, 5, 4), (3, 5, 4), (3, 5, 4), mask=some(5, 5).requires_grad_())
    attention('five dimensions', (1, *Q), (1, *Q), (1, *Q))
    attention('booleans', Q, Q, Q, mask=BELOW)
    attention('booleans of all', Q, Q, Q, mask=BELOW.expand(2, 3, 5, 5))
    attention('booleans of heads', Q, Q, Q, mask=BELOW.expand(3, 5, 5))
    attention('nothing seen', Q, Q, Q, mask=torch.arange(5)[:, None].expand(5, 5) > 1)
    attention('a mask', Q, Q, Q, mask=some(5, 5))
    attention('a mask of the batch', Q, Q, Q, mask=some(2, 1, 1, 5))
    attention('a mask of interest', Q, Q, Q, mask=some(5, 5).requires_grad_())
    attention('dropout', Q, Q, Q, dropout_p=0.5)
    attention('a batch of one', Q, (1, 3, 5, 4), (1, 3, 5, 4))
    attention('shared keys', (2, 4, 5, 4), (2, 2, 5, 4), (2, 2, 5, 4), enable_gqa=True)
    attention('shared keys, dropout', (2, 4, 5, 4), (2, 2, 5, 4), (2, 2, 5, 4), enable_gqa=True, dropout_p=0.5)
    attention('transposed', (2, 5, 3, 4), (2, 5, 3, 4), (2, 5, 3, 4), make=lambda x: x.transpose(1, 2))
    attention('permuted', (5, 2, 3, 4), (5, 2, 3, 4), (5, 2, 3, 4), make=lambda x: x.permute(1, 2, 0, 3))
    attention('columns', (2, 3, 4, 5), (2, 3, 4, 5), (2, 3, 4, 5), make=lambda x: x.transpose(2, 3))
    attention('a scale', Q, Q, Q, scale=0.3)

    @case
    def attention_texts():
        def second():
            q = some(*Q).requires_grad_()
            grad, = torch.autograd.grad(F.scaled_dot_product_attention(q, q, q).sin().sum(), q, create_graph=True)
            grad.sum().backward()
        x, f = some(*Q), F.scaled_dot_product_attention
        return [text_of(call) for call in (
            second, lambda: f(some(4), some(4), some(4)), lambda: f(x, x.double(), x), lambda: f(x, x, x, some(5, 5).double()),
            lambda: f(x, some(2, 2, 5, 4), x), lambda: f(x, some(2, 2, 5, 4), some(2, 2, 5, 4), enable_gqa=True),
            lambda: f(x, x, x, some(5, 5), is_causal=True) and None)]

    for P, WEIGHTS, FIRST in itertools.product((0.0, 0.5), (False, True), (False, True)):
        def heads(p=P, weights=WEIGHTS, first=FIRST):
            torch.manual_seed(0)
            net = filled(nn.MultiheadAttention(6, 2, p, batch_first=first))
            x = some(3, 3, 6).requires_grad_()
            mask = nn.Transformer.generate_square_subsequent_mask(3)
            return [facts_of(weighed(net(x, x, x, attn_mask=m, need_weights=weights)[0]), [x]) for m in (None, mask)]
        case(heads, f'attention: heads, dropout {P}, weights {WEIGHTS}, batch first {FIRST}')


if __name__ == '__main__':
    main()
