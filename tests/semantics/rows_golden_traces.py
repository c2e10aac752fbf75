# SPDX-License-Identifier: LGPL-2.1-or-later
"""Golden traces: graphs whose every step is known from PyTorch itself. Each is held to the order of evaluation with
numbers, as name[sequence_nr,topological_nr]^depth with M for a leaf; the dependency counts; exec_info; what waits in not_ready
when each node begins; what is left when the pass ends; and the gradients."""
import collections

from harness import of_kind, row, text_of
from notation import counts, order, short


def waiting(events):
    """What lies in not_ready when each node begins: the index of the node in the order, and the names; empty ones left out."""
    parked, found, n_begun = collections.OrderedDict(), [], 0
    for event in of_kind(events, 'buffer_new', 'buffer_ready', 'node_begin'):
        if event['event'] == 'buffer_new':
            parked[event['node']] = short(event['node_name'])
        elif event['event'] == 'buffer_ready':
            parked.pop(event['node'], None)
        else:
            if parked:
                found.append([n_begun, ' '.join(parked.values())])
            n_begun += 1
    return found


def exec_info(events):
    return sorted([short(event['node_name']), bool(event['needed']), event['captures']]
                  for event in of_kind(events, 'exec_info'))


def left(events):
    """Tasks outstanding at the end of each pass, and how it ended."""
    last, ends = {}, []
    for event in of_kind(events, 'outstanding', 'graph_task_end'):
        if event['event'] == 'outstanding':
            last[event['graph_task']] = event['value']
        else:
            ends.append([last.get(event['graph_task']), event['status']])
    return ends


def trace(events):
    return {'order': order(events), 'counts': counts(events), 'waiting': waiting(events), 'exec_info': exec_info(events),
            'left': left(events)}


def golden(name, order, counts, expect, waiting=(), exec_info=(), left=((0, 'ok'),), **more):
    """A row of a trace; counts as 'name count', comma-separated."""
    words = sorted(count.strip() for count in counts.split(',') if count)
    expected = {'order': order, 'counts': words, 'waiting': waiting, 'exec_info': exec_info, 'left': left}
    return row(name, tape=trace, expect=expect, expect_tape=expected, **more)


def leaf(torch, *numbers):
    return torch.tensor(numbers, requires_grad=True)


@golden('GT-1', 'Sub[3,3] Pow[2,1] Leaf[M,0] Mul[1,2] Pow[0,1] Leaf[M,0]', 'Pow 1, Pow 1, Leaf 1, Leaf 1, Mul 1',
        [[36., 81.], [-12., -8.]])
def polynomial(torch):
    a, b = leaf(torch, 2., 3.), leaf(torch, 6., 4.)
    (3 * a ** 3 - b ** 2).backward(torch.ones(2))
    return [a.grad.tolist(), b.grad.tolist()]


def fork(torch, n_linears):
    """A net whose hidden layer goes two ways; the gradients of what is summed, without a random number in it."""
    x = torch.ones(1, 1, requires_grad=True)
    linears = [torch.nn.Linear(1, 1) for _ in range(n_linears)]
    with torch.no_grad():
        for i, parameter in enumerate(p for linear in linears for p in linear.parameters()):
            parameter.fill_(i + 2.)
    h = linears[0](x)
    z = torch.relu(h)
    y = linears[-1](h)
    (z + y)[0].backward()
    return [x.grad.tolist(), [p.grad.flatten().tolist() for linear in linears for p in linear.parameters()]]


@golden('GT-2', 'Select[6,5] Add[5,4] Addmm[4,3] Leaf[M,0] T[3,1] Leaf[M,0] Relu[2,3] Addmm[1,2] Leaf[M,0] Leaf[M,0] '
        'T[0,1] Leaf[M,0]', 'Add 1, Addmm 1, Addmm 2, Leaf 1, Leaf 1, Leaf 1, Leaf 1, Leaf 1, T 1, T 1, Relu 1',
        [[[10.]], [[5.], [5.], [5.], [1.]]], waiting=[[i, 'Addmm'] for i in (3, 4, 5, 6)])
def seed_net(torch):
    return fork(torch, 2)


@golden('GT-3', 'Select[6,5] Add[5,4] Addmm[4,3] T[3,1] Relu[2,3] Addmm[1,2] Leaf[M,0] Leaf[M,0] T[0,1] Leaf[M,0]',
        'Add 1, Addmm 1, Addmm 2, Leaf 1, Leaf 2, Leaf 2, T 1, T 1, Relu 1', [[[6.]], [[8.], [4.]]],
        waiting=[[3, 'Leaf Addmm'], [4, 'Leaf Addmm Leaf'], [5, 'Leaf Leaf'], [6, 'Leaf'], [7, 'Leaf'], [8, 'Leaf']])
def seed_net_shared(torch):
    return fork(torch, 1)


@golden('GT-4', 'Add[3,3] Sin[2,2] Mul[1,2] Mul[0,1] Leaf[M,0]', 'Sin 1, Mul 1, Mul 2, Leaf 1', None,
        waiting=[[2, 'Mul']])
def diamond(torch):
    x = leaf(torch, 1., 2.)
    y = x * 2
    (3 * y + y.sin()).backward(torch.ones(2))
    return x.grad.tolist()


@golden('GT-5', 'GraphRoot[2,2] Sin[1,1] Mul[0,1] Leaf[M,0]', 'Mul 1, Sin 1, Leaf 2', None, waiting=[[2, 'Leaf']])
def two_roots(torch):
    x = leaf(torch, 1.)
    torch.autograd.backward([2 * x, x.sin()])
    return x.grad.tolist()


def reentry(torch):
    class Plain(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    class Again(torch.autograd.Function):
        """Its backward makes a graph of its own and calls backward on that, down to depth 0."""
        @staticmethod
        def forward(ctx, x):
            ctx.x = x.detach()
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                x = ctx.x.requires_grad_()
                if float(x) > 0:
                    Again.apply(x - 1).backward()
            return g
    return Plain, Again


@golden('GT-6', 'Mul[2,2] Again[1,1] Again[4,2]^1 Again[6,2]^2 Sub[5,1]^2 Leaf[M,0]^2 Sub[3,1]^1 Leaf[M,0]^1 Leaf[M,0] '
        'Plain[0,1] Leaf[M,0]', 'Plain 1, Again 1, Leaf 1, Leaf 1, Sub 1, Leaf 1, Sub 1, Leaf 1', [[2.], [6.]], left=[[0, 'ok']] * 3)
def reentrant_priority(torch):
    plain, again = reentry(torch)
    a, b = leaf(torch, 6.), leaf(torch, 2.)
    x = plain.apply(a)
    (x * again.apply(b)).backward()
    return [a.grad.tolist(), b.grad.tolist()]


@golden('GT-7', 'Sum[3,4] Add[2,3] Relu[1,2] Mm[0,1] Leaf[M,0] Leaf[M,0]', 'Add 1, Relu 1, Mm 1, Leaf 1, Leaf 2', None,
        waiting=[[2, 'Leaf'], [3, 'Leaf']])
def residual_block(torch):
    x = torch.arange(6.).view(2, 3).requires_grad_()
    w = (torch.arange(9.).view(3, 3) - 4).requires_grad_()
    (x + torch.relu(x @ w)).sum().backward()
    return [x.grad.tolist(), w.grad.tolist()]


@golden('GT-10', 'Sum[12,10] Tanh[11,9] Add[10,8] Mm[9,7] Mm[8,1] Tanh[7,6] Add[6,5] Mm[5,4] Mm[4,1] Tanh[3,3] Add[2,2] '
        'Mm[1,1] Mm[0,1] Leaf[M,0]', 'Tanh 1, Tanh 1, Tanh 1, Add 1, Add 1, Add 1, Mm 1, Mm 1, Mm 1, Mm 1, Mm 1, Mm 1, Leaf 6',
        None, waiting=[[i, 'Leaf'] for i in range(4, 13)])
def recurrent(torch):
    w = (torch.arange(4.).view(2, 2) / 16).requires_grad_()
    h, xs = torch.ones(1, 2), [torch.ones(1, 2) * (t + 1) for t in range(3)]
    for x in xs:
        h = torch.tanh(x @ w + h @ w)
    h.sum().backward()
    return w.grad.tolist()


@golden('GT-11', 'NllLoss[6,6] LogSoftmax[5,5] Addmm[4,4] Leaf[M,0] T[3,1] Leaf[M,0] Relu[2,3] Addmm[1,2] Leaf[M,0] T[0,1] '
        'Leaf[M,0]', 'LogSoftmax 1, Addmm 1, Addmm 1, Leaf 1, Leaf 1, Leaf 1, Leaf 1, T 1, T 1, Relu 1', None)
def cross_entropy(torch):
    torch.manual_seed(5)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    torch.nn.functional.cross_entropy(net(torch.randn(5, 4)), torch.tensor([0, 1, 2, 0, 1])).backward()
    return [p.grad.tolist() for p in net.parameters()]


@golden('GT-12', 'Mul[2,2] Cos[1,1] Leaf[M,0] Sin[0,1] Leaf[M,0]', 'Cos 1, Sin 1, Leaf 1, Leaf 1', None)
def sine_times_cosine(torch):
    p, q = leaf(torch, 1.), leaf(torch, 2.)
    c = q.sin()
    d = p.cos()
    (c * d).backward()
    return [p.grad.tolist(), q.grad.tolist()]


@golden('GT-13', 'Add[4,3] Add[3,2] Boom[2,1]', 'Add 1, My 1, Boom 1, Boom 1, Leaf 3', ['RuntimeError: second', None],
        left=[[2, 'error']])
def two_failing_nodes(torch):
    class My(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    class Boom(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, text):
            ctx.text = text
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise RuntimeError(ctx.text)
    x = leaf(torch, 1.)
    l, r, r0 = My.apply(x), Boom.apply(x, 'first'), Boom.apply(x, 'second')
    failed = text_of(((l + r0) + r).backward)
    return [failed, x.grad]


@golden('GT-14', 'Sum[1,2] Exp[0,1] Leaf[M,0]', 'Exp 1, Leaf 1', None)
def exp_sum(torch):
    x = leaf(torch, 0., 1.)
    torch.exp(x).sum().backward()
    return x.grad.tolist()


@golden('GT-15', 'Sum[2,3] Exp[1,2] Mul[0,1] Leaf[M,0]', 'Exp 1, Mul 1, Leaf 1, Leaf 1', [[0.1051, 1.7676], None],
        exec_info=[['Exp', True, 0], ['Leaf', True, 0], ['Mul', True, 0], ['Sum', True, 0]])
def exp_sum_of_one_input(torch):
    x, y = leaf(torch, 0.5, 0.75), leaf(torch, 0.1, 0.9)
    torch.exp(x * y).sum().backward(inputs=[x])
    return [[round(g, 4) for g in x.grad.tolist()], y.grad]


def sum_of_three(torch, *factors):
    x = leaf(torch, 1.)
    y = x * 1.
    a, b, c = [y * factor for factor in factors]
    ((a + b) + c).backward()
    return x.grad.tolist()


THREE = 'Add[5,4] Add[4,3] Mul[3,2] Mul[2,2] Mul[1,2] Mul[0,1] Leaf[M,0]', 'Add 1, Mul 1, Mul 1, Mul 1, Mul 3, Leaf 1'


@golden('GT-16', *THREE, [1.], waiting=[[3, 'Mul'], [4, 'Mul']])
def order_in_the_bits(torch):
    return sum_of_three(torch, 1., 1e8, -1e8)


@golden('GT-16', *THREE, [0.], waiting=[[3, 'Mul'], [4, 'Mul']])
def order_in_the_bits_reversed(torch):
    return sum_of_three(torch, -1e8, 1e8, 1.)
@golden('GT-8', 'Sum[5,3] CopySlices[3,2] Clone[0,1] Leaf[M,0]', 'CopySlices 1, Clone 1, Leaf 1', [[2., 2.], [1., 1.]])
def write_into_a_view(torch):
    root = torch.ones(2, 2, requires_grad=True)
    x = root.clone()
    view = x.narrow(0, 0, 1)
    view.mul_(2)
    x.sum().backward()
    return root.grad.tolist()


@golden('GT-9', 'Sum[1,2] Embedding[0,1] Leaf[M,0]', 'Embedding 1, Leaf 1', [True, False, [[1, 1, 3]], [[1., 1.]] * 3])
def sparse_embedding(torch):
    table = torch.nn.Embedding(4, 2, sparse=True)
    table(torch.tensor([1, 1, 3])).sum().backward()
    gradient = table.weight.grad
    return [gradient.is_sparse, gradient.is_coalesced(), gradient._indices().tolist(), gradient._values().tolist()]


