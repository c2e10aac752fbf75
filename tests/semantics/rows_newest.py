# SPDX-License-Identifier: LGPL-2.1-or-later
"""What PyTorch 2.14 and 2.15 changed and added."""
from harness import row, text_of


def older(why):
    return dict.fromkeys(('in_1_13', 'in_2_13'), why)


def tree(node):
    """Names of a node and of those below it."""
    return [node.name().replace('torch::autograd::', ''), *(below and tree(below) for below, _ in node.next_functions)]


@row('A-20', **older('the result is a view'))
def linear_of_several_dimensions(torch):
    linear = torch.nn.functional.linear
    weight, bias = torch.ones(5, 4, requires_grad=True), torch.ones(5, requires_grad=True)
    inputs = [torch.ones(size, requires_grad=True) for size in ((2, 4), (3, 2, 4), (1, 3, 2, 4))]
    return [tree(linear(x, weight, bias).grad_fn) for x in inputs]


@row('J-21', **older('texts about matrices do not name the operation'))
def texts_about_matrices(torch):
    def ones(*size):
        return torch.ones(*size)
    linear = torch.nn.functional.linear
    return [text_of(call) for call in (
        lambda: ones(2, 3) @ ones(2, 3), lambda: torch.mm(ones(2), ones(2, 2)), lambda: torch.mm(ones(2, 2), ones(2)),
        lambda: torch.mm(ones(2, 2, 2), ones(2, 2)), lambda: torch.addmm(ones(2, 2), ones(2, 3), ones(2, 3)),
        lambda: torch.addmm(ones(2, 2), ones(2), ones(2, 3)), lambda: torch.addmm(ones(2, 2), ones(2, 2), ones(2)),
        lambda: linear(ones(2, 3), ones(2, 2)), lambda: linear(ones(2, 3), ones(2, 2), ones(2)),
        lambda: linear(ones(2, 2, 3), ones(2, 2), ones(2)), lambda: ones(3) @ ones(2, 2))]


@row('J-21', **older('a RuntimeError'))
def no_means_of_integers(torch):
    whole = torch.ones(2, dtype=torch.int64)
    return [text_of(call) for call in (whole.mean, whole.var, whole.std, lambda: torch.ones(2, 2, dtype=torch.bool).mean(0))]


@row('P-06', since='2.0', in_2_13='a number becomes a tensor first, which is copied or put')
def numbers_written(torch):
    """x[key] = number: nodes, versions and gradients."""
    rows = torch.tensor([1, 0])
    keys = {'row': 0, 'all': slice(None), 'some': slice(0, 1), 'rows': rows, 'twice': (rows, rows),
            'columns': (slice(None), rows), 'negative': torch.tensor([-1]), 'table': torch.tensor([[0, 1], [1, 1]]),
            'mask': torch.tensor([True, False]), 'masked': torch.tensor([[True, False], [False, False]]),
            'column mask': (slice(None), torch.tensor([False, True])), 'in a row': (0, rows), 'number': torch.tensor(1)}
    found = {}
    for name, key in keys.items():
        for value in (5, 2.5, True):
            x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
            y = x * 1
            y[key] = value
            y.square().sum().backward()
            found[f'{name} {value}'] = [tree(y.grad_fn), y.tolist(), y._version, x.grad.tolist()]
    refused = [text_of(lambda: (x * 1).__setitem__(key, 5)) for key in
               (torch.tensor([2]), torch.tensor([True]), (slice(None), torch.tensor([True, False, True])))]
    return found, refused


# Node creation hooks

def bare(node):
    return node.name().replace('torch::autograd::', '')


def noting(torch):
    """A list, and a context in which it gets the names of new nodes."""
    names = []
    return names, torch.autograd.graph.node_creation_hook(lambda node: names.append(bare(node)))


def leaf(torch, value=2.):
    return torch.full((3,), value, requires_grad=True)


def creation_hooks_of(events):
    return [event['node_name'] for event in events if event['event'] == 'hook_begin' and event['kind'] == 'creation']


@row('H-25', since='2.14', tape=creation_hooks_of)
def created_by_operations(torch):
    """Every node once: leaves first, CopySlices after the view's new node."""
    names, context = noting(torch)
    x, w = leaf(torch), leaf(torch)
    with context:
        y = (x * w + w).sin()
        torch.nn.functional.linear(torch.ones(2, 4, 3), torch.ones(2, 3, requires_grad=True), torch.ones(2))
        a, b, _ = y.unbind()
        torch.stack([a, b])
        y.mul_(2)
        base = x * 1
        view, other = base[:2], base[1:]
        view.mul_(2)
        names.append(bare(other.grad_fn))
        zeros = torch.zeros(5)
        zeros[:3] = x
        with torch.no_grad():
            x * 3
    x * 4
    return names


@row('H-25', since='2.14', tape=creation_hooks_of)
def created_leaf_nodes(torch):
    """A leaf's node as long as it lives."""
    names, context = noting(torch)
    x = leaf(torch)
    kept = x * 1
    with context:
        y, z = x * 2, x * 3
    del kept, y, z
    names.append('-')
    with context:
        y = x * 2
        x.register_hook(lambda gradient: None)
    return names


@row('H-25', since='2.14', tape=creation_hooks_of)
def created_is_whole(torch):
    """What a hook sees of the node, and which nodes it sees."""
    seen, x = [], leaf(torch)

    def look(node):
        below = node.next_functions
        saved = getattr(node, '_saved_result', None)
        seen.append([bare(node), node, saved is not None and saved.tolist(), [bare(at) for at, _ in below]])
    with torch.autograd.graph.node_creation_hook(look):
        y = x.exp()
    return [entry[:1] + entry[2:] for entry in seen], seen[1][1] is y.grad_fn, seen[0][1] is y.grad_fn.next_functions[0][0]


@row('H-25', since='2.14', tape=creation_hooks_of)
def created_inside_others(torch):
    """All hooks of a thread, the outermost first; another thread has none."""
    import threading
    names, x = [], leaf(torch)
    graph = torch.autograd.graph
    with graph.node_creation_hook(lambda node: names.append('outer ' + bare(node))):
        with graph.node_creation_hook(lambda node: names.append('inner ' + bare(node))):
            y = x * 2
            thread = threading.Thread(target=lambda: x * 5)
            thread.start()
            thread.join()
        y * 2
    return names


@row('H-25', since='2.14', tape=creation_hooks_of)
def created_by_functions(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                (x.detach().requires_grad_() * 2).sum()
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2 * ctx.saved_tensors[0]

    class Written(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, gradient):
            return gradient
    seen, x = [], leaf(torch)
    y = x * 1

    def look(node):
        seen.append([bare(node), len(getattr(node, 'saved_tensors', ())), len(node.next_functions)])
    with torch.autograd.graph.node_creation_hook(look):
        Square.apply(x)
        Written.apply(y)
    return seen


@row('H-25', since='2.14', tape=creation_hooks_of)
def created_in_passes(torch):
    """Passes of the thread have its hooks, on whatever thread they run."""
    checkpoint = torch.utils.checkpoint.checkpoint
    names, context = noting(torch)
    x = leaf(torch)
    y = x.exp().sum()
    with context:
        torch.autograd.grad(y, x, create_graph=True)
        for reentrant in (True, False):
            names.append(f'reentrant {reentrant}')
            z = checkpoint(lambda x: (x * 2).exp(), x, use_reentrant=reentrant)
            names.append('backward')
            z.sum().backward()
        z = checkpoint(lambda x: (x * 2).exp(), x, use_reentrant=True).sum()
    z.backward()
    torch.autograd.backward([(x * 2).sum(), (x * 3).sum()])
    return names


@row('H-25', since='2.14')
def creation_hooks_that_register(torch):
    order, x = [], leaf(torch)

    def note(node):
        name = bare(node)
        node.register_prehook(lambda gradients: order.append('before ' + name))
        node.register_hook(lambda inputs, outputs: order.append('after ' + name))
        node.metadata['name'] = name
    with torch.autograd.graph.node_creation_hook(note):
        y = (x * 2).sum()
    y.backward()
    return order, y.grad_fn.metadata


@row('H-26', since='2.14')
def creation_hooks_that_fail(torch):
    """The operation fails; nothing is called after that."""
    names, x = [], leaf(torch)

    def fails(node):
        names.append(bare(node))
        raise ValueError('no ' + bare(node))
    graph = torch.autograd.graph
    with graph.node_creation_hook(fails), graph.node_creation_hook(lambda node: names.append('later')):
        texts = [text_of(x.exp) for _ in range(2)]
    y = (x ** 3).sum()
    with graph.node_creation_hook(fails):
        texts.append(text_of(lambda: torch.autograd.grad(y, x, create_graph=True)))
    with graph.node_creation_hook(lambda node: 5):
        texts.append(text_of(x.exp))
    texts.append(text_of(lambda: graph.node_creation_hook(5).__enter__()).splitlines())
    return names, texts, (x * 2).tolist()


@row('H-26', since='2.14')
def creation_hooks_that_make_nodes(torch):
    graph, x, other = torch.autograd.graph, leaf(torch), leaf(torch)
    loss, found = (other * 2).sum(), []

    def plain(node):
        with torch.no_grad():
            found.append((other * 2).sum().item())

    def nested(node):
        with graph.node_creation_hook(lambda node: found.append('never')):
            pass
    for hook in (lambda node: other * 2, lambda node: loss * 2, lambda node: graph.get_gradient_edge(leaf(torch)) and None,
                 lambda node: loss.backward(retain_graph=True), plain, nested):
        with graph.node_creation_hook(hook):
            found.append(text_of(x.exp))
    return found, other.grad.tolist()


@row('I-09', since='2.15')
def callbacks_by_their_public_name(torch):
    graph, x, done = torch.autograd.graph, leaf(torch), []
    x.register_hook(lambda gradient: graph.queue_callback(lambda: done.append(x.grad is not None)))
    (x * 2).sum().backward()
    return done, text_of(lambda: graph.queue_callback(lambda: None))


# Dtypes of gradients

def declaring(torch, dtypes, outputs=lambda x: (x.sin(), x.cos()), others=(), materialize=True):
    """A function that declares these, and the dtypes that its backward got."""
    seen = []

    class Declares(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            found = outputs(x)
            ctx.set_output_grad_dtype(*dtypes)
            ctx.set_materialize_grads(materialize)
            ctx.mark_non_differentiable(*(found[i] for i in others))
            return found

        @staticmethod
        def backward(ctx, *gradients):
            seen.append([None if gradient is None else str(gradient.dtype) for gradient in gradients])
            return torch.ones(3)
    return seen, Declares.apply


@row('A-19', since='2.15')
def declared_dtypes(torch):
    """float64 for float32, the output's own, none; one output, gradients that are sums, captured or missing."""
    single, double = torch.float32, torch.float64
    found = []
    for dtypes in ((double, None), (single, single), (None, double), (None, None)):
        seen, call = declaring(torch, dtypes)
        a, b = call(leaf(torch))
        torch.autograd.backward([a, b], [torch.ones(3, dtype=double), torch.ones(3)])
        a, b = call(leaf(torch))
        ((a * 2).sum() + (a.double() * 3).sum()).backward()
        found.append(seen)
    for materialize in (True, False):
        seen, call = declaring(torch, (double, double), materialize=materialize)
        call(leaf(torch))[0].sum().backward()
        found.append(seen)
    seen, call = declaring(torch, (double,), outputs=lambda x: x.sin())
    y = call(leaf(torch))
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    gradient, = torch.autograd.grad((y * 2).sum(), y)
    seen_one, call = declaring(torch, (double, None), outputs=lambda x: (x.sin(), 'no tensor'))
    call(leaf(torch))[0].sum().backward()
    return found, seen, str(y.grad.dtype), str(gradient.dtype), seen_one


@row('A-19', since='2.15')
def declarations_that_are_refused(torch):
    double = torch.float64
    calls = [declaring(torch, (double,)), declaring(torch, (double,) * 3), declaring(torch, (5, None)),
             declaring(torch, (None, double), outputs=lambda x: (x.sin(), 'no tensor')),
             declaring(torch, (None, double), others=[1]),
             declaring(torch, (None, double), outputs=lambda x: (x.sin(), x.long()))]
    texts = [text_of(lambda: call(leaf(torch))) for _, call in calls]
    with torch.no_grad():
        texts.append(text_of(lambda: calls[0][1](leaf(torch))))

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_output_grad_dtype(None)
            ctx.set_output_grad_dtype(None)
            return x * 1

    class Listed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.output_grad_dtypes = [double]
            return x * 1
    return texts + [text_of(lambda: kind.apply(leaf(torch))) for kind in (Twice, Listed)]
