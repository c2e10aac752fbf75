# SPDX-License-Identifier: LGPL-2.1-or-later
"""Saved tensors and versions."""
import threading

from harness import of_kind, row, text_of

TEXTS = "1.13's texts name the node, not the operation, and hint without check_nan"


def conflict(torch, make):
    """What backward says after make(y) used y = x + 1 and wrote into it."""
    x = torch.tensor([1., 2.], requires_grad=True)
    return text_of(lambda: make(x + 1).sum().backward())


@row('O-01', in_1_13=TEXTS, expect='RuntimeError: one of the variables needed for gradient computation has been modified by '
     'an inplace operation: [torch.FloatTensor [2]], which is output 0 of Add, is at version 1; expected version 0 instead. '
     'Hint: enable anomaly detection to find the operation that failed to compute its gradient, with '
     'torch.autograd.set_detect_anomaly(True, check_nan=False).')
def saved_input_was_written(torch):
    def square(y):
        z = y * y
        y += 1
        return z
    return conflict(torch, square)


@row('O-01', in_1_13=TEXTS)
def makers_by_name(torch):
    """Leaves and constants have none; CopySlices and copies have their own names; custom functions too."""
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def sliced(x):
        y = x.clone()
        y[0].mul_(2)
        return y

    def part(x):
        y = x.clone()[0]
        y.mul_(2)
        return y
    leaf = torch.ones(2, 2, requires_grad=True)
    made = [lambda: torch.ones(2, 2), lambda: leaf.detach().requires_grad_(), lambda: sliced(leaf), lambda: part(leaf),
            lambda: leaf.clone().copy_(leaf), lambda: Double.apply(leaf), lambda: leaf.exp()[1]]
    texts = []
    for make in made:
        y = make()
        z = y * y * leaf
        with torch.no_grad():
            y.add_(1)
        texts.append(text_of(lambda: z.sum().backward()))
    return texts


@row('O-01', only='who wrote is on no tape of PyTorch',
     expect=[['MulBackward0', 0, 1], [['add_', 1, True]]],
     tape=lambda events: [[[e['node_name'], e['saved'], e['found']] for e in of_kind(events, 'version_conflict')][0],
                          [[e['operation'], e['version'], 'rows_saved_tensors.py:' in e['stack']] for e in of_kind(events, 'tensor_write')]])
def conflict_on_tape(torch):
    conflict(torch, lambda y: (y * y, y.add_(1))[0])


@row('O-01', only='without a pass, no node of PyTorch is on a tape',
     expect=[['MulBackward0', 0, 0, False, 8, '[2]', 'float32'],
             ['MulBackward0', 1, 0, False, 8, '[2]', 'float32'],
             ['ExpBackward0', 0, 0, True, 8, '[2]', 'float32']],
     tape=lambda events: [[e['node_name'], e['number'], e['version'], e['is_output'], e['bytes'], e['shape'],
                           e['dtype']]
                          for e in of_kind(events, 'saved_tensor') if e['bytes'] == 8])
def saved_on_tape(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    (x * x).exp()


@row('O-01', only='who wrote is on no tape of PyTorch',
     expect=[['CopySlices', 1, 2], [['exp_', 1, 'CopySlices'], ['add_', 2, 'CopySlices']]],
     tape=lambda events: [[[e['node_name'], e['saved'], e['found']] for e in of_kind(events, 'version_conflict')][0],
                          [[e['operation'], e['version'], e.get('node_name')] for e in of_kind(events, 'tensor_write')][:2]])
def conflict_in_a_view_on_tape(torch):
    """What operations in place on a view save, their CopySlices keeps."""
    def write(y):
        v = y[:1]
        v.exp_()
        v.add_(1)
        return y
    conflict(torch, write)


@row('O-02', in_1_13=TEXTS)
def saved_output_was_written(torch):
    def written(operation):
        def make(y):
            z = operation(y)
            z += 1
            return z
        return make
    return [conflict(torch, written(operation)) for operation in
            (lambda y: y.exp(), lambda y: y.tanh(), lambda y: y.sigmoid(), lambda y: y.sqrt(), lambda y: y.relu())]


@row('O-02', in_1_13=TEXTS)
def result_in_place_was_written(torch):
    """What an operation in place saved of its result is the tensor itself, on a view too."""
    def whole(y):
        y.exp_()
        return y.add_(1)

    def part(y):
        v = y[:1]
        v.exp_()
        v.add_(1)
        return y

    def itself(y):
        return y.mul_(y)
    return [conflict(torch, make) for make in (whole, part, itself)]


@row('O-03', in_1_13=TEXTS, process=True)
def hint_in_anomaly_mode(torch):
    with torch.autograd.set_detect_anomaly(True):
        return conflict(torch, lambda y: (y * y, y.add_(1))[0])


@row('O-04')
def not_saved_not_checked(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x * 2
    z = y + 3
    y += 1
    w = -y
    y -= 4
    c = torch.tensor([5., 5.])
    u = x * c  # c is kept for x, x is not kept for c
    with torch.no_grad():
        x.mul_(3)
    (z.sum() + w.sum() + u.sum()).backward()
    return [x.grad.tolist(), y._version, x._version]


@row('O-05', expect=[0, 2, [3, 3], [5, 5, 5, 5], [0, 5], [0, 0], 7])
def counters(torch):
    x = torch.ones(2, 2)
    found = [x._version]
    x.add_(1)
    x.mul_(2)
    found.append(x._version)
    view = x[0]
    view.zero_()
    found.append([x._version, view._version])
    detached, twice = x.detach(), view.view(2).detach()
    detached.add_(1)
    x[1] = 3
    found.append([x._version, view._version, detached._version, twice._version])
    found.append([x.data._version, x._version])
    data = x.data
    data.add_(1)  # two .data of one tensor do not know each other
    found.append([x.data._version, torch.ones(2)._version])
    x += 1
    with torch.no_grad():
        x.fill_(0)
    return found + [x._version]


@row('O-05')
def every_operation_counts(torch):
    """Each writes once into a tensor that has had one write."""
    def after(write):
        x = torch.rand(2, 2).add_(0.1)
        write(x)
        return x._version
    one = torch.ones(2, 2)
    return [after(write) for write in (
        lambda x: x.add_(1), lambda x: x.sub_(one), lambda x: x.mul_(2), lambda x: x.div_(one), lambda x: x.pow_(2),
        lambda x: x.pow_(one), lambda x: x.neg_(), lambda x: x.exp_(), lambda x: x.log_(), lambda x: x.sqrt_(),
        lambda x: x.sigmoid_(), lambda x: x.tanh_(), lambda x: x.relu_(), lambda x: x.abs_(), lambda x: x.sin_(),
        lambda x: x.cos_(), lambda x: x.reciprocal_(), lambda x: x.zero_(), lambda x: x.fill_(3), lambda x: x.copy_(one),
        lambda x: x.fill_(torch.tensor(2.)), lambda x: x.uniform_(), lambda x: x.normal_(), lambda x: x.detach_(),
        lambda x: x.requires_grad_(), lambda x: x.__setitem__(0, 1.), lambda x: x.__iadd__(1), lambda x: x.__ipow__(2),
        lambda x: x.__setitem__((slice(None), 1), one[0]))]


@row('O-05')
def gradients_count_too(torch):
    x = torch.ones(2, requires_grad=True)
    versions = []
    for _ in range(3):
        (x * 2).sum().backward()
        versions.append(x.grad._version)
    return versions


@row('O-06', in_1_13=TEXTS)
def without_grad_mode(torch):
    def make(y):
        z = y * y
        with torch.no_grad():
            y.mul_(2)
        return z
    return conflict(torch, make)


@row('O-07')
def second_pass(torch):
    """The text, at the first node that saved something, by backward and grad; and for custom functions."""
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]
    x = torch.tensor([1., 2.], requires_grad=True)
    texts = []
    for y in (x.exp(), x * x, Square.apply(x), (x * 2).exp() + 1):
        y.sum().backward()
        texts.append(text_of(lambda: y.sum().backward()))
        texts.append(text_of(lambda: torch.autograd.grad(y.sum(), x)))
    return texts


@row('O-08', expect=[3., 3.])
def second_pass_without_saved_values(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x + 1).sum()
    for _ in range(3):
        y.backward()
    return x.grad.tolist()


@row('O-09')
def freed_attributes(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    y, z = x.exp(), x * x
    found = [y.grad_fn._saved_result.tolist(), z.grad_fn._saved_self is x, z.grad_fn._saved_other is x,
             (x * 2.).grad_fn._saved_self]
    (y + z).sum().backward()
    return found + [text_of(lambda: y.grad_fn._saved_result), text_of(lambda: z.grad_fn._saved_self)]


@row('O-09')
def saved_by_name(torch):
    x = torch.tensor([[.5, .25], [.75, .3]], requires_grad=True)
    w = torch.tensor([[.1, .2], [.3, .4]], requires_grad=True)
    made = [x.abs(), torch.bmm(x[None], w[None]), x.cos(), x / w, x.exp(), x.log(), torch.log_softmax(x, 1), x.max(), x @ w,
            torch.nn.functional.mse_loss(x, w), x * w, torch.dot(x[0], w[0]), x**2, x**w, x.reciprocal(), x.relu(), x.sigmoid(),
            x.sin(), torch.softmax(x, 1), x.sqrt(), x.tanh(), torch.where(x > .4, x, w), torch.addmm(w, x, w)]
    found = []
    for y in made:
        saved = [getattr(y.grad_fn, '_saved_' + name, None) for name in
                 ('self', 'other', 'result', 'exponent', 'mat1', 'mat2', 'target', 'tensor', 'condition')]
        found.append([type(y.grad_fn).__name__, [s.tolist() if hasattr(s, 'tolist') else None for s in saved]])
    return found


@row('O-10', in_1_13='an internal assertion',
     expect='Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please '
            'use out-of-place `.detach()` instead')
def detached_in_place(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x * 2
    z = y * y
    y.detach_()
    return text_of(lambda: z.sum().backward()).replace('RuntimeError: ', '').split('a bug to PyTorch. ')[-1]


@row('O-10')
def detached_results(torch):
    """A saved result has its node for a maker, so the backward of what was detached still works; leaves stay leaves."""
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x.exp()
    node, z = y.grad_fn, y * 2
    y.detach_()
    z.sum().backward()
    w = x * x
    x.detach_()
    return [x.grad.tolist(), w.requires_grad, x.requires_grad, text_of(lambda: w.sum().backward()), y.requires_grad, y.grad_fn,
            text_of(lambda: node._saved_result)]


def counting(torch):
    """Hooks that count, and what they counted."""
    counts = [0, 0]

    def pack(tensor):
        counts[0] += 1
        return tensor

    def unpack(tensor):
        counts[1] += 1
        return tensor
    return torch.autograd.graph.saved_tensors_hooks(pack, unpack), counts


@row('O-11', expect=[[3, 0], [3, 3], [3, 6]])
def packs_and_unpacks(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    hooks, counts = counting(torch)
    with hooks:
        y = (x * x).exp()
    z = y * 2
    found = [list(counts)]
    z.sum().backward(retain_graph=True)
    found.append(list(counts))
    z.sum().backward()
    return found + [list(counts)]


@row('O-11')
def what_hooks_see(torch):
    """Leaves and inputs come as they are; an unpacked leaf is no more the leaf, but its gradient goes to it."""
    x = torch.tensor([1., 2.], requires_grad=True)
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (seen.append([t is x, t.requires_grad, t.is_leaf]), t)[1],
                                                  lambda t: t):
        y = (x * 2).exp()
        z = y.sin() * 3
        w = x.cos()
    node = w.grad_fn
    saved = node._saved_self
    g, = torch.autograd.grad(w.sum() + z.sum(), x, create_graph=True)
    g.sum().backward()
    return [seen, saved is x, saved.requires_grad, saved.is_leaf, y.grad_fn._saved_result.grad_fn is y.grad_fn,
            g.tolist(), x.grad.tolist()]


@row('O-11')
def other_values(torch):
    """What unpack returns is what backward computes with; what pack returns may be anything."""
    x = torch.tensor([1., 2.], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), lambda v: torch.tensor(v) + 1):
        y = x * x
    y.sum().backward()
    with torch.autograd.graph.save_on_cpu():
        z = x * x
    z.sum().backward()
    return [x.grad.tolist(), y.grad_fn.name()]


@row('O-11', in_1_13='an exception of a pack hook becomes a RuntimeError')
def failing_hooks(torch):
    x = torch.tensor([1., 2.], requires_grad=True)

    def fail(_):
        raise ValueError('no')
    hooks = torch.autograd.graph.saved_tensors_hooks

    def with_hooks(pack, unpack):
        with hooks(pack, unpack):
            y = x * x
        y.sum().backward()
    texts = [text_of(lambda: with_hooks(fail, lambda t: t)), text_of(lambda: with_hooks(lambda t: t, fail)),
             text_of(lambda: with_hooks(lambda t: t, lambda t: 3))]
    return [text if text is None else text.split('\n')[0] for text in texts] + [(x * x).grad_fn.name()]


@row('O-12')
def no_check_with_hooks(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x * 2
        z = y * y
        w = z.exp()
    y += 1
    w += 1
    w.sum().backward()
    return x.grad.tolist()


@row('O-13', in_1_13='"can not"')
def pack_hook_writes(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x * 2

    def write(tensor):
        return tensor.add_(1)
    z = y * y
    texts = [text_of(lambda: z.grad_fn._raw_saved_self.register_hooks(write, lambda t: t))]
    with torch.autograd.graph.saved_tensors_hooks(write, lambda t: t):
        texts.append(text_of(lambda: y * y))
    return texts


@row('O-14')
def hooks_of_one_tensor(torch):
    x = torch.tensor([1., 2.], requires_grad=True)

    def same(tensor):
        return tensor
    y = x.exp()
    raw = y.grad_fn._raw_saved_result
    raw.register_hooks(lambda t: (t.tolist(), t.grad_fn is None), lambda v: torch.tensor(v[0]) * 2)
    found = [type(raw).__name__, text_of(lambda: raw.register_hooks(same, same)), y.grad_fn._saved_result.tolist()]
    y.sum().backward()
    z = x.exp()
    z.sum().backward()
    none = (x * 2.).grad_fn._raw_saved_self
    return found + [x.grad.tolist(), text_of(lambda: z.grad_fn._raw_saved_result.register_hooks(same, same)),
                    text_of(lambda: none.register_hooks(same, same))]


@row('O-14')
def what_cannot_be_saved_is_not_written(torch):
    def run(at, write):
        x, count = torch.tensor([1., 2.], requires_grad=True), []

        def pack(tensor):
            count.append(None)
            return 1 / (len(count) != at) and tensor
        y = x.clone()
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            text = text_of(lambda: write(y, torch.tensor([3., 4.], requires_grad=True)))
        y.sum().backward()
        return [text is None, y.tolist(), y._version, x.grad.tolist()]
    return [run(at, write) for at in (1, 2)
            for write in (lambda y, w: y.mul_(w), lambda y, w: y.div_(w), lambda y, w: y[:1].mul_(w[:1]))]


@row('O-15')
def default_hooks(torch):
    """Per thread, the innermost pair."""
    x = torch.tensor([1., 2.], requires_grad=True)
    outer, outer_counts = counting(torch)
    inner, inner_counts = counting(torch)

    def other_thread():
        (x * x).sum().backward()
    with outer:
        y = x.exp()
        with inner:
            y = y.sin()
            thread = threading.Thread(target=other_thread)
            thread.start()
            thread.join()
        y = y.sin()
    y = y.sin()
    y.sum().backward()
    return [outer_counts, inner_counts, x.grad.tolist()]


@row('O-15')
def hooks_in_backward(torch):
    """What a pass with create_graph saves is packed too, where the pass runs."""
    x = torch.tensor([1., 2.], requires_grad=True)
    hooks, counts = counting(torch)
    y = x.exp()
    with hooks:
        g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    return [counts[0] > 0, counts[1] > 0, x.grad.tolist()]


@row('O-15')
def disabled_hooks(torch):
    graph = torch.autograd.graph
    x = torch.tensor([1., 2.], requires_grad=True)

    def use():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return (x * x).tolist()

    def disable(message):
        with graph.disable_saved_tensors_hooks(message):
            return text_of(use)

    def disable_inside():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            with graph.disable_saved_tensors_hooks('inside'):
                pass

    def nested():
        with graph.disable_saved_tensors_hooks('first'):
            with graph.disable_saved_tensors_hooks('second'):
                texts = [text_of(use)]
            return texts + [text_of(use)]
    return [disable('not here'), text_of(use), text_of(disable_inside), nested(), text_of(use)]


@row('O-16', in_1_13='a shorter text')
def saved_inference_tensor(torch):
    with torch.inference_mode():
        i = torch.ones(2)
    x = torch.ones(2, requires_grad=True)

    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, None
    return [text_of(lambda: x * i), text_of(lambda: Keep.apply(x, i)), (x + i).tolist(), text_of(lambda: x * i.clone())]


@row('O-17')
def originals_and_copies(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x * 2
    z = y * x
    e = y.exp()
    saved = e.grad_fn._saved_result
    return [z.grad_fn._saved_self is y, z.grad_fn._saved_other is x, saved is e, saved.grad_fn is e.grad_fn,
            saved.data_ptr() == e.data_ptr(), saved._version == e._version, saved.output_nr, saved.requires_grad]


@row('O-17')
def node_and_result_do_not_hold_each_other(torch):
    """Dropping the tensor frees the node, without a collector of cycles."""
    import gc
    import weakref
    x = torch.tensor([1., 2.], requires_grad=True)
    freed = []

    class Note(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.note = note = type('Note', (), {})()
            weakref.finalize(note, freed.append, 1)
            y = x * 2
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g
    gc.disable()
    try:
        Note.apply(x)
        Note.apply(x).exp().exp_()
        found = [len(freed)]
        y = Note.apply(x).clone()
        y.exp_()
        y[0].tanh_()
        y.mul_(2)
        del y
        return found + [len(freed)]
    finally:
        gc.enable()


@row('O-18', expect=[[6 * 2.718282, 6 * 14.778112], None])
def kept_graph(torch):
    x = torch.tensor([1., 2.], requires_grad=True)
    y = (x * 1).exp()
    for _ in range(5):
        (y * x.detach()).sum().backward(retain_graph=True)
    text = text_of(lambda: (y * x.detach()).sum().backward())
    return [x.grad.tolist(), text]


def saved_by_functions(events):
    """What nodes of custom functions keep on the tape, and when they let go of it."""
    found, nodes = [], []
    for event in events:
        if event['event'] in ('saved_tensor', 'release') and event['node_name'] == 'KeepBackward':
            nodes += [event['node']] * (event['node'] not in nodes)
            found.append([event['event'], nodes.index(event['node']), event.get('number'), event.get('version'),
                          event.get('is_output')])
    return found


@row('O-01', tape=saved_by_functions)
def saved_by_a_custom_function(torch):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            ctx.save_for_backward(*tensors)
            return tensors[0] * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2, *[None] * (len(ctx.saved_tensors) - 1)
    x = torch.tensor([1., 2.], requires_grad=True)
    for n in (1, 3, 0, 2):
        others = [torch.ones(2).add_(i) for i in range(n)]
        Keep.apply(x, *others).sum().backward()
    return x.grad.tolist()
