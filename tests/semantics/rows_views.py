# SPDX-License-Identifier: LGPL-2.1-or-later
"""Views, and operations in place."""
import gc
import threading

from harness import order_of, row, text_of

TEXTS = "1.13's texts name the node, not the operation"


def names(node, depth=9):
    """The graph above a node, as nested lists of names."""
    if node is None:
        return None
    kind = type(node).__name__
    below = [names(child, depth - 1) for child, _ in node.next_functions] if depth else ['...']
    return [kind, *below] if below else kind


def root(torch, *shape):
    shape = shape or (2, 2)
    n = 1
    for size in shape:
        n *= size
    return torch.arange(1., n + 1).reshape(*shape).requires_grad_()


@row('P-01', expect=[['CopySlices', ['CloneBackward0', 'AccumulateGrad'], None],
                     ['AsStridedBackward0', ['CopySlices', ['CloneBackward0', 'AccumulateGrad'], None]], [1, 1], [True, False],
                     True, [[2, 4], [3, 4]]])
def write_through_view(torch):
    x = root(torch).clone()
    v = x[:1]
    v.mul_(2)
    return [names(x.grad_fn), names(v.grad_fn), [x._version, v._version], [v._is_view(), x._is_view()], v._base is x, x.tolist()]


@row('P-01', since='2.1, which tells sequence numbers', expect=[0, 3, 4, 5])
def numbers_of_nodes(torch):
    """Clone, the view, the operation, CopySlices, AsStrided: one number each, in this order."""
    x = root(torch).clone()
    first = x.grad_fn._sequence_nr()
    v = x[:1]
    v.mul_(2)
    return [first, x.grad_fn._sequence_nr(), v.grad_fn._sequence_nr(), (x * 1).grad_fn._sequence_nr()]


@row('P-02', expect=[[2, 2], [1, 1]], tape=order_of,
     expect_tape=['SumBackward0', 'CopySlices', 'CloneBackward0', 'AccumulateGrad'])
def gradient_through_base(torch):
    x = root(torch)
    y = x.clone()
    y[:1].mul_(2)
    y.sum().backward()
    return x.grad.tolist()


@row('P-03', expect=[[2, 2], [0, 0]])
def gradient_through_other_view(torch):
    x = root(torch)
    y = x.clone()
    v1, v2 = y[:1], y[0]
    v1.mul_(2)
    v2.sum().backward()
    return x.grad.tolist()


@row('P-04', expect=[[1, 2], [1, 1]])
def view_of_view(torch):
    x = root(torch)
    y = x.clone()
    v = y[:1]
    w = v[:, 1:]
    w.mul_(2)
    assert w._base is y
    y.sum().backward()
    return x.grad.tolist()


@row('P-05')
def base_begins_to_require_grad(torch):
    x, r = torch.zeros(2, 2), torch.ones(2, 2, requires_grad=True)
    v, w = x[0], x.view(4)[1:3]
    before = [v.requires_grad, v.is_leaf, v.grad_fn]
    x.add_(r)
    found = [v.requires_grad, v.is_leaf, names(v.grad_fn), names(w.grad_fn)]
    (v.sum() + w.sum() * 2).backward()
    return [before, found, r.grad.tolist(), v._version]


@row('P-05')
def view_makes_base_require_grad(torch):
    x, r = torch.zeros(2, 2), torch.ones(2, requires_grad=True)
    v, w = x[0], x[1]
    v.add_(r)
    found = [x.requires_grad, x.is_leaf, names(x.grad_fn), names(w.grad_fn), w.requires_grad]
    (x * torch.tensor([[1., 2.], [3., 4.]])).sum().backward()
    return found + [r.grad.tolist(), v.tolist(), w.tolist()]


@row('P-06')
def chain_of_slices(torch):
    x = root(torch)
    y = x.clone()
    v = y[0]
    v.mul_(2)
    v.add_(1)
    y[1].mul_(v.clone())
    y[:, 0].exp_()
    graph = names(y.grad_fn, 4)
    (y * torch.tensor([[1., 2.], [3., 4.]])).sum().backward()
    return [graph, y.tolist(), x.grad.tolist(), y._version]


@row('P-07')
def leaves(torch):
    x = root(torch)
    one = torch.ones(2, 2)
    writes = (lambda: x.add_(1), lambda: x.mul_(one), lambda: x.zero_(), lambda: x.copy_(one), lambda: x.fill_(1),
              lambda: x.exp_(), lambda: x.clamp_(0, 1), lambda: x.pow_(2), lambda: x.uniform_(), lambda: x.__iadd__(1),
              lambda: x.__setitem__(Ellipsis, 1.), lambda: x.neg_())
    texts = [text_of(write) for write in writes]
    with torch.no_grad():
        x.add_(1)
    other = torch.zeros(2, 2)
    other.add_(x)  # a leaf that requires no grad may become an interior tensor
    return [texts, x._version, other.is_leaf, names(other.grad_fn)]


@row('P-08')
def views_of_leaves(torch):
    x = root(torch)
    writes = (lambda: x[0].add_(1), lambda: x.view(4).exp_(), lambda: x[0][1].fill_(1), lambda: x.__setitem__(0, 1.),
              lambda: x.__setitem__((slice(None), 1), torch.zeros(2)), lambda: x.t().mul_(2))
    texts = [text_of(write) for write in writes]
    plain = torch.zeros(2, 2)
    part = plain[0].requires_grad_()
    texts.append(text_of(lambda: part.mul_(2)))
    return [texts, plain.requires_grad, plain.mul_(2).tolist()]


@row('P-09', in_1_13=TEXTS)
def several_views(torch):
    y = root(torch).clone()
    a, b = y.split(1)
    texts = [text_of(lambda: a.mul_(2)), text_of(lambda: b[0].add_(1)), text_of(lambda: y.chunk(2, 1)[1].exp_())]
    y.mul_(2)  # and after a change of the base they cannot be used any more
    texts += [text_of(lambda: a.grad_fn), text_of(lambda: a * 2), text_of(lambda: b.sum()), a.requires_grad, a.tolist()]
    with torch.no_grad():
        c, d = root(torch).clone().split(1)
        c.mul_(2)  # nothing is tracked
    return texts + [text_of(lambda: c.mul_(root(torch)[0]))]


@row('P-10')
def views_made_without_grad_mode(torch):
    y = root(torch).clone()
    with torch.no_grad():
        v = y[0]
        w = y[1]
        w.mul_(2)
    found = [v.requires_grad, v.is_leaf, v.grad_fn, v._is_view(), y._version, v._version]
    found += [text_of(lambda: v.mul_(2)), text_of(lambda: v.add_(torch.ones(2, requires_grad=True)))]
    y.mul_(2)
    return found + [text_of(lambda: v.grad_fn), text_of(lambda: v * 2)]


@row('P-10')
def views_of_views_made_without_grad_mode(torch):
    y = root(torch).clone()
    with torch.no_grad():
        v = y[0]
    u = v.view(2)
    return [names(u.grad_fn), text_of(lambda: u.mul_(2)) is None, u.tolist()]


@row('P-10', since='2.0, where it is no failed assertion any more')
def text_for_views_of_views(torch):
    y = root(torch).clone()
    with torch.no_grad():
        v = y[0]
    u = v.view(2)
    return text_of(lambda: u.mul_(2))


@row('P-11', in_1_13=TEXTS)
def views_of_custom_functions(torch):
    def function(name, run, back):
        return type(name, (torch.autograd.Function,), {
            'forward': staticmethod(lambda ctx, a: run(a)), 'backward': staticmethod(lambda ctx, *g: back(*g))})
    flat = function('Flat', lambda a: a.view(-1), lambda g: g.view(2, 2))
    same = function('Same', lambda a: a, lambda g: g)
    rows = function('Rows', lambda a: (a[0], a[1]), lambda g, h: torch.stack([g, h]))
    texts = []
    for make in (flat.apply, same.apply, lambda y: rows.apply(y)[0]):
        y = root(torch).clone()
        v = make(y)
        texts += [v._is_view(), v._base is y, v is y, text_of(lambda: v.mul_(2))]
        y.add_(1)
        texts.append(text_of(lambda: v.grad_fn))
    return texts


@row('P-11')
def views_made_in_inference_mode(torch):
    y = root(torch).clone()
    with torch.inference_mode():
        v = y[0]
        v.mul_(2)
        y.add_(1)
    found = [v.is_inference(), v._is_view(), v.requires_grad, v.grad_fn, y._version,
             text_of(lambda: v.add_(torch.ones(2, requires_grad=True)))]
    y.mul_(2)
    return found + [text_of(lambda: v.grad_fn)]


@row('P-12')
def released_slices(torch):
    x = root(torch)
    y = x.clone()
    y[0].mul_(2)
    z = y + 0
    z.sum().backward(retain_graph=True)
    z.sum().backward()
    return [x.grad.tolist(), text_of(lambda: z.sum().backward()), x.grad.tolist()]


@row('P-13')
def undefined_gradient(torch):
    """Both edges get nothing; who is below runs with undefined gradients."""
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None
    x, r = root(torch), torch.ones(2, requires_grad=True)
    y = x.clone()
    y[0].mul_(r)
    Nothing.apply(y).sum().backward()
    return [x.grad, r.grad]


def run_all(n, call):
    problems = []

    def body():
        try:
            call()
        except Exception as problem:
            problems.append(f'{type(problem).__name__}: {problem}')
    threads = [threading.Thread(target=body) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return problems


@row('P-14', expect=[[], [[40, 40], [20, 20]], [20, 40]])
def threads_share_slices(torch):
    x, r = root(torch), torch.full((2,), 2., requires_grad=True)
    y = x.clone()
    y[0].mul_(r)
    problems = run_all(20, lambda: y.sum().backward(retain_graph=True))
    return [problems, x.grad.tolist(), r.grad.tolist()]


@row('P-14')
def threads_run_function_in_turns(torch):
    """Never two at once in the function that CopySlices runs."""
    import time
    inside, most = [0], [0]

    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.01)
            inside[0] -= 1
            return g * 2
    x = root(torch)
    y = x.clone()
    Slow.apply(y[0])
    problems = run_all(4, lambda: y.sum().backward(retain_graph=True))
    return [problems, most[0], x.grad.tolist()]


@row('P-15', tape=order_of, expect_tape=['SumBackward0', 'CopySlices', 'CloneBackward0', 'AccumulateGrad'])
def inner_function_is_no_node(torch):
    x = root(torch)
    y = x.clone()
    v = y[0]
    v.exp_()
    y.sum().backward()
    return [names(y.grad_fn), x.grad.tolist()]


@row('P-16')
def first_look_without_grad_mode(torch):
    x = root(torch)
    y = x.clone()
    v, w = y[0], y[1]
    v.mul_(2)
    with torch.no_grad():
        found = [names(w.grad_fn), names(v.grad_fn)]
        v.add_(1)  # not tracked, but a new version
        found += [names(w.grad_fn), names(y.grad_fn), y._version]
    (w.sum() + v.sum()).backward()
    return [found, x.grad.tolist()]


@row('P-17')
def chains_without_views(torch):
    x, r = root(torch), torch.full((2, 2), 2., requires_grad=True)
    y = x.clone()
    y += r
    y.mul_(r)
    y -= 1
    y.div_(r).neg_().exp_()
    y = y * 1
    y.tanh_()
    y = y + 0
    y **= 2
    y *= 3
    graph = names(y.grad_fn, 12)
    y.sum().backward()
    return [graph, y._version, y.tolist(), x.grad.tolist(), r.grad.tolist()]


def index(x):
    """The number of the second, on whichever engine x is of."""
    return (x.detach().flatten()[:1] * 0 + 1).long()


UNARY = ('abs_ cos_ exp_ log_ neg_ reciprocal_ relu_ sigmoid_ sin_ sqrt_ tanh_ zero_').split()
OTHER = {
    'add_': lambda x, r: x.add_(r, alpha=3), 'add_ number': lambda x, r: x.add_(2), 'add_ row': lambda x, r: x.add_(r[0]),
    'sub_': lambda x, r: x.sub_(r), 'mul_': lambda x, r: x.mul_(r), 'mul_ number': lambda x, r: x.mul_(2),
    'div_': lambda x, r: x.div_(r), 'div_ number': lambda x, r: x.div_(2), 'pow_ number': lambda x, r: x.pow_(2),
    'pow_': lambda x, r: x.pow_(r), 'fill_ number': lambda x, r: x.fill_(2), 'fill_': lambda x, r: x.fill_(r.sum()),
    'copy_': lambda x, r: x.copy_(r), 'copy_ row': lambda x, r: x.copy_(r[0]), 'copy_ constant': lambda x, r: x.copy_(r.detach()),
    'clamp_': lambda x, r: x.clamp_(1.5, 3.5), 'clamp_ below': lambda x, r: x.clamp_(min=1.5),
    'masked_fill_': lambda x, r: x.masked_fill_(x.detach() > 2, 7.),
    'masked_fill_ tensor': lambda x, r: x.masked_fill_(x.detach() > 2, r.sum()),
    'addcmul_': lambda x, r: x.addcmul_(r, r, value=2), 'addcdiv_': lambda x, r: x.addcdiv_(r, r * 3),
    'lerp_': lambda x, r: x.lerp_(r, 0.3), 'index_put_': lambda x, r: x.index_put_((index(x),), r[:1]),
    'index_put_ added': lambda x, r: x.index_put_((index(x),), r[:1], accumulate=True),
}
OTHER.update({name: lambda x, r, name=name: getattr(x, name)() for name in UNARY})


def gradients(torch, write, part):
    """Names, values and gradients, also twice, after a write into all of a tensor or a part of it."""
    x = (root(torch) / 2 + 0.3).detach().requires_grad_()
    r = torch.tensor([[1., 2.], [1.5, 0.5]], requires_grad=True)
    y = x * 1.5
    v = y if part is None else part(y)
    z = write(v, r if part is None else part(r).detach().requires_grad_())
    assert z is v
    weights = torch.tensor([[1., 2.], [3., 4.]])
    loss = (y * y * weights).sum()
    first = torch.autograd.grad(loss, (x, r), create_graph=True, allow_unused=True)
    second = torch.autograd.grad(sum((g * g).sum() for g in first if g is not None and g.requires_grad) + 0 * x.sum(), x)
    return [names(y.grad_fn, 1), y.tolist(), [g if g is None else g.tolist() for g in first], second[0].tolist()]


@row('P-17')
def every_operation_in_place(torch):
    return {name: gradients(torch, write, None) for name, write in OTHER.items()}


PARTS = {'row': lambda y: y[1], 'column': lambda y: y[:, 0], 'turned': lambda y: y.t(), 'flat': lambda y: y.view(4)[1:3]}


@row('P-06', since='2.0; where grad() goes through CopySlices, 1.13.1 says "could not compute gradients for some functions"')
def derivatives_of_every_operation_on_a_view(torch):
    return {name + ' ' + part: gradients(torch, write, take) for name, write in OTHER.items() for part, take in PARTS.items()
            if 'row' not in name}


@row('P-06')
def every_operation_on_a_view(torch):
    found = {}
    for name, write in OTHER.items():
        for part, take in PARTS.items():
            if 'row' in name:
                continue
            x = (root(torch) / 2 + 0.3).detach().requires_grad_()
            r = take(torch.tensor([[1., 2.], [1.5, 0.5]])).clone().requires_grad_()
            y = x * 1.5
            write(take(y), r)
            (y * y * torch.tensor([[1., 2.], [3., 4.]])).sum().backward()
            found[name + ' ' + part] = [names(y.grad_fn, 1), y.tolist(), x.grad.tolist(), None if r.grad is None else r.grad.tolist()]
    return found


TENSOR_FIRST = dict.fromkeys(('in_1_13', 'in_2_13'), 'a number becomes a tensor first, which is copied or put')


@row('P-06', **TENSOR_FIRST)
def what_is_written_by_index(torch):
    """x[key] = value: names and gradients."""
    keys = [0, -1, (0, 1), (slice(None), 0), slice(0, 1), Ellipsis, (Ellipsis, 1), (None, 0), (slice(None), slice(None)),
            slice(None, None, 2)]
    found = []
    for key in keys:
        for value in (lambda p, r: 3., lambda p, r: r.sum(), lambda p, r: p.detach() * 2 * r.sum(), lambda p, r: p.detach()):
            x, r = root(torch), torch.full((2,), 2., requires_grad=True)
            y = x * 1
            y[key] = value(y[key], r)
            (y * torch.tensor([[1., 2.], [3., 4.]])).sum().backward()
            found.append([type(y.grad_fn).__name__ if y.grad_fn and key != (slice(None), slice(None)) else None, y.tolist(), x.grad.tolist(), None if r.grad is None else r.grad.tolist(), y._version])
    return found


@row('P-06', **TENSOR_FIRST)
def what_is_written_by_tensors(torch):
    """x[rows] = value, x[mask] = value, and with slices beside them."""
    rows, mask = torch.tensor([1, 0]), torch.tensor([[True, False], [True, True]])
    keys = [rows, rows[:1], [0], [1, 1], mask, mask[0], (rows, rows), (slice(None), rows), (slice(0, 1), rows), (rows, 1),
            (Ellipsis, rows), (None, rows)]
    found = []
    for key in keys:
        for value in (lambda p, r: 3., lambda p, r: r.sum(), lambda p, r: p.detach() * 2 * r.sum(), lambda p, r: p.detach()[:1]):
            x, r = root(torch), torch.full((2,), 2., requires_grad=True)
            y = x * 1
            part = y[key]
            text = text_of(lambda: y.__setitem__(key, value(part, r)))
            (y * torch.tensor([[1., 2.], [3., 4.]])).sum().backward()
            name = None if isinstance(key, tuple) else type(y.grad_fn).__name__  # 1.13 makes views of whole dimensions
            found.append([text and text.split(':')[0], name, part.tolist(), y.tolist(), x.grad.tolist(),
                          None if r.grad is None else r.grad.tolist(), y._version])
    return found


@row('P-17')
def refused_writes(torch):
    x = torch.ones(2, 2)
    i = torch.ones(2, dtype=torch.int64)
    return [text_of(call) for call in (
        lambda: i.add_(1.5), lambda: i.exp_(), lambda: x[0].add_(torch.ones(2, 2)), lambda: x.expand(2, 2, 2).add_(1),
        lambda: torch.ones(2, 1).expand(2, 2).mul_(2), lambda: x.fill_(torch.ones(2)), lambda: i.copy_(torch.tensor([1.5, 2.5])),
        lambda: x.mul_(torch.ones(3)), lambda: x.div_(torch.ones(2, 2, dtype=torch.float64)))] + [i.tolist(), x.dtype == torch.float32]


@row('P-18')
def out_with_history(torch):
    x, o = root(torch), torch.zeros(2, 2)
    one = torch.ones(2, 2)
    texts = [text_of(lambda: torch.mul(x, 2, out=o)), text_of(lambda: torch.mul(one, 2, out=x)),
             text_of(lambda: torch.exp(x, out=o)), text_of(lambda: torch.add(x, x, out=o)), text_of(lambda: torch.mm(x, x, out=o)),
             text_of(lambda: torch.sum(x, dim=0, out=torch.zeros(2)))]
    same = torch.add(one, 2, out=o) is o
    with torch.no_grad():
        torch.mul(x, 2, out=o)
    return [texts, same, o.tolist(), o._version, o.requires_grad]


@row('P-19')
def detached_in_place(torch):
    y = root(torch).clone()
    v = y[0]
    texts = [text_of(v.detach_), text_of(root(torch)[0].detach_), text_of(torch.zeros(2, 2)[0].detach_),
             text_of(lambda: y.split(1)[0].detach_())]
    y.detach_()
    return [texts, y.requires_grad, y.grad_fn, y._version, v.requires_grad, names(v.grad_fn)]


def writer(torch, extra=False, gradient=lambda g: g * 2):
    class Write(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.mul_(2)
            return (x, x.clone()) if extra else x

        @staticmethod
        def backward(ctx, g, *more):
            return gradient(g)
    return Write


@row('P-20')
def function_that_writes_view(torch):
    """One result is fine; two are refused. Without a gradient from the function, none goes on to the base."""
    x = root(torch)
    y = x.clone()
    v = y[0]
    w = writer(torch).apply(v)
    found = [w is v, names(v.grad_fn, 1), names(y.grad_fn), y._version, y.tolist()]
    (y * torch.tensor([[1., 2.], [3., 4.]])).sum().backward()
    z = root(torch).clone()
    return found + [x.grad.tolist(), text_of(lambda: writer(torch, True).apply(z[0])), writer(torch, True).apply(z)[0] is z,
                    text_of(lambda: writer(torch).apply(root(torch)))]


@row('P-20', in_1_13='a view of a leaf was let through')
def function_that_writes_view_of_leaf(torch):
    return text_of(lambda: writer(torch).apply(root(torch)[0]))


@row('P-20', since='2.0, where it is no failed assertion any more')
def function_without_gradient_for_view(torch):
    x = root(torch)
    y = x.clone()
    writer(torch, gradient=lambda g: None).apply(y[0])
    y.sum().backward()
    return [x.grad, y.tolist()]


@row('P-21', expect=[[[0, 0], [0, 0]], [6, 4], 'torch.float64', [3, 3]])
def gradients_of_copies(torch):
    x = root(torch)
    s = torch.ones(2, dtype=torch.float64, requires_grad=True)
    i = torch.ones(2, requires_grad=True)
    y = x.clone()
    y.copy_(s)
    (y * torch.tensor([[1., 2.], [5., 2.]])).sum().backward()
    z = torch.zeros(3, 2)
    z.copy_(i)
    z.sum().backward()
    return [x.grad.tolist(), s.grad.tolist(), str(s.grad.dtype), i.grad.tolist()]


@row('P-21')
def copies_of_parts(torch):
    x, s = root(torch), torch.ones(2, requires_grad=True)
    y = x.clone()
    y[:, 1].copy_(s)
    y[0].copy_(y[1].clone())
    (y * torch.tensor([[1., 2.], [3., 4.]])).sum().backward()
    return [names(y.grad_fn, 3), x.grad.tolist(), s.grad.tolist(), y.tolist()]


@row('P-01')
def bases(torch):
    """What is a view of what; detach and .data are none; bases are never views."""
    x = torch.zeros(4, 4)
    views = [x[0], x[0][1:], x.view(16), x.t(), x.expand(2, 4, 4), x[:, None].squeeze(1), x.as_strided((2, 2), (1, 4), 1),
             x.permute(1, 0), x.split(2)[1], x.reshape(2, 8), x.flatten(), x.transpose(0, 1)]
    others = [x, x.detach(), x.data, x.clone(), x + 0, x.t().contiguous(), x.t().reshape(16), x[0].detach()]
    found = [[v._is_view(), v._base is x, v._base._is_view()] for v in views] + [[o._is_view(), o._base is None] for o in others]
    v = x[0][1:]
    del x, views
    gc.collect()
    return [found, v._base.tolist() == torch.zeros(4, 4).tolist()]


def hooks_of_a_view(torch, through_view):
    x, seen = root(torch), []
    base = x.clone()
    view = base[0:1]
    view.register_hook(lambda grad: seen.append('old'))
    (view if through_view else base).mul_(2)
    view.register_hook(lambda grad: seen.append('new'))
    (base.sum() + view.sum()).backward()
    return [seen, x.grad.tolist()]


@row('H-18', **dict.fromkeys(('in_1_13', 'in_2_13'), 'a later hook of a view is where the earlier ones are'))
def later_hooks_of_a_view_of_a_changed_base(torch):
    """Before, they are not in the graph any more."""
    return hooks_of_a_view(torch, False)


@row('H-18', in_1_13='all Python hooks of a tensor are on the node of the first')
def later_hooks_of_a_changed_view(torch):
    return hooks_of_a_view(torch, True)
