# SPDX-License-Identifier: LGPL-2.1-or-later
"""Grad modes, double backward and checkpoints."""
import threading
import warnings

from harness import of_kind, order_of, row, text_of
from notation import order


def leaf(torch, *values):
    return torch.tensor(list(values) or [1., 2.], requires_grad=True)


def looking(torch, seen):
    """A function that notes the grad mode it runs backward in."""
    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(['forward', torch.is_grad_enabled()])
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(['backward', torch.is_grad_enabled(), (g * 2).requires_grad])
            return g * 2
    return Look.apply


@row('R-01')
def mode_inside_nodes(torch):
    """It is create_graph, whatever the caller's mode, which stays."""
    seen, x = [], leaf(torch)
    apply = looking(torch, seen)
    g = torch.ones(2, requires_grad=True)
    for caller in (True, False):
        for create_graph in (False, True):
            y = apply(x)
            with torch.set_grad_enabled(caller):
                torch.autograd.grad(y, x, g, create_graph=create_graph)
                seen.append(torch.is_grad_enabled())
    return seen


@row('R-01')
def mode_of_hooks_and_leaves(torch):
    seen, x = [], leaf(torch)
    x.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
    y = x * 2
    y.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
    y.sum().backward(retain_graph=True)
    torch.autograd.grad((y * y).sum(), x, create_graph=True, retain_graph=True)
    with torch.no_grad():
        y.sum().backward()
    return seen


def kept(events):
    return [[bool(event['keep_graph']), bool(event['create_graph'])] for event in of_kind(events, 'graph_task_begin')]


@row('R-02', tape=kept, expect_tape=[[True, True], [False, True], [True, False], [False, False]])
def create_graph_keeps(torch):
    x = leaf(torch)
    torch.autograd.grad((x * x).sum(), x, create_graph=True)
    torch.autograd.grad((x * x).sum(), x, create_graph=True, retain_graph=False)
    torch.autograd.grad((x * x).sum(), x, retain_graph=True)
    torch.autograd.grad((x * x).sum(), x)


@row('R-03', tape=order, expect=[[12.], [12.], [6.], True])
def gradient_of_gradient(torch):
    x = leaf(torch, 2.)
    first, = torch.autograd.grad(x ** 3, x, create_graph=True)
    second, = torch.autograd.grad(first, x, create_graph=True)
    third, = torch.autograd.grad(second, x, retain_graph=True)
    return [first.tolist(), second.tolist(), third.tolist(), first.requires_grad]


@row('R-04', process=True)
def grad_with_history(torch):
    x = leaf(torch, 2.)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        (x ** 3).backward(create_graph=True)
        first = x.grad
        (x ** 2).backward(create_graph=True)
    seen = [first.requires_grad, first.tolist(), x.grad is first, x.grad.tolist()]
    second, = torch.autograd.grad(x.grad, x)
    x.grad = None
    return seen + [second.tolist()]


@row('R-04', process=True)
def cycles_are_warned_of_at_the_end(torch):
    """So the gradients are there if the warning is an error. Processes warn once."""
    x = leaf(torch, 1., 2.)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        text = text_of(lambda: (x * x).sum().backward(create_graph=True))
    return [(text or '')[:64], x.grad.tolist()]


@row('R-05')
def hessian_times_vector(torch):
    x, y = torch.full((2, 2), 1., requires_grad=True), torch.full((2, 2), 2., requires_grad=True)
    z = x ** 2 + y * x + y ** 2
    gx, gy = torch.autograd.grad(z.sum(), [x, y], create_graph=True)
    hx, hy = torch.autograd.grad((2 * gx + gy).sum(), [x, y])
    return [gx.tolist(), gy.tolist(), hx.tolist(), hy.tolist()]


def lists(value):
    return [lists(one) for one in value] if isinstance(value, tuple) else value.tolist()


def cubic(a):
    return (a ** 3).sum() * a[0]


@row('R-05')
def functional_products_with_hessians(torch):
    f, x, y = torch.autograd.functional, torch.tensor([1., 2.]), torch.tensor([3., 4.])
    seen = [f.hvp(cubic, x, y), f.vhp(cubic, x, y), f.hvp(lambda a, b: (a * b * b).sum(), (x, y), (y, x))]
    return [lists(one) for one in seen]


@row('R-03')
def functional(torch):
    """torch.autograd.functional, which differentiates twice in several ways."""
    f, x, y = torch.autograd.functional, torch.tensor([1., 2.]), torch.tensor([3., 4.])
    w = x.clone().requires_grad_()
    jacobian = f.jacobian(lambda a: a ** 3, w, create_graph=True)
    seen = [f.jacobian(lambda a, b: (a * b, a.sum()), (x, y)), f.jacobian(lambda a: torch.ones(1), x), jacobian,
            torch.autograd.grad(jacobian.sum(), w), f.hessian(cubic, x), f.hessian(lambda a, b: (a * b).sum() ** 2, (x, y)),
            f.vjp(lambda a: a ** 2, x, y), f.vjp(lambda a: (a ** 2).sum(), x), f.jvp(lambda a, b: (a * b, b), (x, y), (y, x))]
    refused = [lambda: f.vjp(lambda a: a ** 2, x), lambda: f.vjp(lambda a: a ** 2, x, torch.ones(3)),
               lambda: f.vjp(lambda a: a ** 2, x, (y, y)), lambda: f.hessian(lambda a: a, x), lambda: f.vjp(lambda a: a, 3)]
    return [lists(one) for one in seen] + [text_of(call) for call in refused]


@row('R-03')
def gradients_beside_differences(torch):
    from torch.autograd import gradcheck, gradgradcheck

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3
    a = torch.tensor([.5, 1.5], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([2., .3], dtype=torch.float64, requires_grad=True)
    return [gradcheck(lambda a, b: (a * b, a.sin()), (a, b)), gradgradcheck(lambda a, b: a * b.exp(), (a, b)),
            gradcheck(Wrong.apply, a, raise_exception=False), text_of(lambda: gradcheck(Wrong.apply, a)).split(',')[0],
            a.tolist(), a.grad]


def run_checkpoint(torch, function, *args, **options):
    from torch.utils.checkpoint import checkpoint
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return checkpoint(function, *args, **options)


def body(a):
    return (a * 2).exp() * a


@row('R-06', in_1_13='another text')
def refused_checkpoints(torch):
    x = leaf(torch, .5, 1.)

    def output():
        return run_checkpoint(torch, body, x, use_reentrant=True).sum()
    return [text_of(lambda: torch.autograd.grad(output(), x)), text_of(lambda: output().backward(inputs=[x]))]


@row('R-06')
def validity_is_stacked(torch):
    """What is nested in a pass of chosen gradients is not valid, however deep."""
    seen, x = [], leaf(torch)
    engine = torch.autograd.Variable._execution_engine

    class Nest(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(engine.is_checkpoint_valid())
            with torch.enable_grad():
                y = leaf(torch, 1.)
                y.register_hook(lambda g: seen.append(engine.is_checkpoint_valid()))
                (y * 2).backward()
                if seen[0]:
                    z = leaf(torch, 1.)
                    m = z * 2
                    m.register_hook(lambda g: seen.append(engine.is_checkpoint_valid()))
                    torch.autograd.grad(m * 1, z)
            seen.append(engine.is_checkpoint_valid())
            return g
    Nest.apply(x).sum().backward()
    middle = list(seen)
    del seen[:]
    torch.autograd.grad(Nest.apply(x).sum(), x)
    return [middle, seen, engine.is_checkpoint_valid()]


@row('R-07', tape=lambda events: [order_of(events), max(e['depth'] for e in of_kind(events, 'graph_task_begin'))])
def reentrant_checkpoint(torch):
    calls, x, y = [], leaf(torch, .5, 1.), leaf(torch, .5, 1.)

    def counted(a):
        calls.append(torch.is_grad_enabled())
        return body(a)
    run_checkpoint(torch, counted, x, use_reentrant=True).sum().backward()
    body(y).sum().backward()
    return [calls, x.grad.tolist(), y.grad.tolist()]


@row('R-07')
def checkpoints_of_both_kinds(torch):
    seen = []
    for reentrant in (True, False):
        a, b = leaf(torch, 1., 2.), leaf(torch, 3., 4.)
        product, total, number = run_checkpoint(torch, lambda p, q, n: (p * q, p + q, n), a, b, 5, use_reentrant=reentrant)
        (product.sum() + total.sum()).backward()
        x = leaf(torch, .5)
        run_checkpoint(torch, lambda v: run_checkpoint(torch, lambda w: w.exp(), v * 3, use_reentrant=reentrant).sin() * 2,
                       x, use_reentrant=reentrant).backward()
        constant = run_checkpoint(torch, body, torch.ones(1), use_reentrant=reentrant)
        y = run_checkpoint(torch, body, leaf(torch, .5), use_reentrant=reentrant).sum()
        y.backward(retain_graph=True)
        y.backward()
        seen.append([a.grad.tolist(), b.grad.tolist(), number, x.grad.tolist(), constant.requires_grad,
                     text_of(y.backward)[:60]])
    return seen


@row('R-07')
def checkpoints_and_random_numbers(torch):
    seen = []
    for reentrant in (True, False):
        x = torch.ones(8, requires_grad=True)
        torch.manual_seed(1)
        y = run_checkpoint(torch, lambda a: a * torch.rand(8), x, use_reentrant=reentrant)
        between = torch.rand(2)
        y.sum().backward()
        seen.append([y.tolist() == x.grad.tolist(), between.tolist(), torch.rand(2).tolist()])
    return seen


@row('R-07', in_1_13='the function runs once more')
def checkpoint_unpacked_twice(torch):
    """A backward function takes its saved tensors twice: PyTorch 1.x runs the function once more, 2.x refuses."""
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            (x, _), (_, y) = ctx.saved_tensors, ctx.saved_tensors
            return g * y, g * x
    x = leaf(torch, .5, 1.)
    y = run_checkpoint(torch, lambda a: Product.apply(a.exp(), a.sin()), x, use_reentrant=False).sum()
    refused = text_of(y.backward)
    return [refused, None if x.grad is None else x.grad.tolist()]


@row('R-07', since='2.0')
def checkpoint_without_nesting(torch):
    """It can be differentiated twice, takes keywords, stops early, and says what changed."""
    x, marks = leaf(torch, .5, 1.), []
    y = run_checkpoint(torch, lambda a, power: a ** power, x, power=3, use_reentrant=False).sum()
    first, = torch.autograd.grad(y, x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)

    def marked(a):
        b = a.exp().sin()
        marks.append('saved')
        b = b.exp()
        marks.append('end')
        return b
    run_checkpoint(torch, marked, x, use_reentrant=False).sum().backward()
    calls = []

    def changing(a):
        calls.append(1)
        return a.exp() if len(calls) == 1 else torch.cat([a, a]).exp()

    def failing(a):
        calls.append(1)
        if len(calls) > 3:
            raise ValueError('again')
        return a.exp()
    changed = text_of(run_checkpoint(torch, changing, x, use_reentrant=False).sum().backward)
    failed = text_of(run_checkpoint(torch, failing, x, use_reentrant=False).sum().backward)
    return [first.tolist(), second.tolist(), marks, changed.split('\n')[:4], failed]


@row('R-08', expect=['RuntimeError: trying to differentiate twice a function that was marked with @once_differentiable',
                     [2., 4.], 'RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn'])
def once_differentiable(torch):
    from torch.autograd.function import once_differentiable as once

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]
    x, g = leaf(torch), torch.ones(2, requires_grad=True)
    refused, = torch.autograd.grad(Square.apply(x), x, g, create_graph=True)
    plain, = torch.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    return [text_of(refused.sum().backward), plain.tolist(), text_of(plain.sum().backward)]


@row('R-09')
def staged_backward(torch):
    leaves = [torch.full((2,), float(i), requires_grad=True) for i in range(4)]
    middles = [value * (i + 1) for i, value in enumerate(leaves)]
    loss = sum(v * i * i for i, v in enumerate(middles)).sum()
    grads = torch.autograd.grad(loss, middles)
    torch.autograd.backward(middles, grads)
    return [value.grad.tolist() for value in leaves]


@row('R-10')
def what_cuts_the_history(torch):
    x = leaf(torch)
    y = x * 2
    d = y.detach()
    with torch.no_grad():
        n, t = x * 2, torch.tensor([1.], requires_grad=True)
        with torch.enable_grad():
            e = x * 2
        alias = x.view(2)
    w = torch.cat([d.exp(), d])
    seen = [[v.requires_grad, v.grad_fn is None, v.is_leaf] for v in (d, n, t, e, alias, w)]
    (y + d * 5).sum().backward()
    return seen + [x.grad.tolist(), d.data_ptr() == y.data_ptr()]


@row('R-10')
def grad_modes(torch):
    """As contexts, as decorators with and without call, of generators; each thread has its own."""
    seen = []

    def look(*args):
        seen.append([torch.is_grad_enabled(), *args])

    @torch.no_grad()
    def decorated(value, keyword=0):
        look(value, keyword)
        return value

    @torch.no_grad()
    def generator():
        look('first')
        got = yield 1
        look('got', got)
        yield 2

    decorated(1, keyword=2)
    steps = generator()
    next(steps)
    look('between')
    steps.send('x')
    steps.close()
    try:
        with torch.no_grad():
            raise ValueError
    except ValueError:
        look('after an error')
    previous = torch.set_grad_enabled(False)
    look('off')
    thread = threading.Thread(target=look, args=['thread'])
    thread.start()
    thread.join()
    with torch.enable_grad():
        look('on')
        with torch.set_grad_enabled(False):
            look('inner')
        look('restored')
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(previous is None):
        look('argument')
    look('end')
    return [seen, decorated.__name__]


@row('R-10', since='2.0')
def bare_decorators(torch):
    @torch.no_grad
    def bare():
        return torch.is_grad_enabled()

    @torch.enable_grad
    def other():
        return torch.is_grad_enabled()
    setter = torch.set_grad_enabled(False)(lambda: torch.is_grad_enabled())
    after = torch.is_grad_enabled()
    with torch.no_grad():
        return [bare(), other(), bare.__name__, setter(), after]
