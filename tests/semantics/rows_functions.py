# SPDX-License-Identifier: LGPL-2.1-or-later
"""Custom functions in full: what forward may return and mark, what backward sees, what ctx and node are."""
import warnings

from harness import row, text_of


def leaf(torch):
    return torch.tensor([1., 2.], requires_grad=True)


def function(torch, forward, backward=lambda ctx, *g: g[0], name='MyFn', **others):
    names = {key: staticmethod(value) for key, value in {'forward': forward, 'backward': backward, **others}.items()}
    return type(name, (torch.autograd.Function,), names)


def outcome(call):
    """What a call returns, or its error's type and text."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            return call()
        except Exception as problem:
            return f'{type(problem).__name__}: {problem}'


def gradient(output, x):
    x.grad = None
    output.sum().backward()
    return x.grad.tolist()


@row('A-16')
def inputs_that_come_back(torch):
    """As views of themselves, each time another one, whether gradients are wanted or not."""
    x, c, y = leaf(torch), torch.ones(2), leaf(torch)
    same = function(torch, lambda ctx, a: a, lambda ctx, g: g * 3).apply
    o, plain = same(x), same(c)
    seen = [o is x, o._base is x, o.data_ptr() == x.data_ptr(), gradient(o, x), plain is c, plain.requires_grad]
    a, b = function(torch, lambda ctx, a, b: (a, b), lambda ctx, g, h: (g, h)).apply(x, c)
    seen += [b is c, a.requires_grad, b.requires_grad]
    p, q = function(torch, lambda ctx, a: (a, a), lambda ctx, g, h: g + 10 * h).apply(x)
    seen += [p is q, p.output_nr, q.output_nr, gradient(p + 2 * q, x)]
    with torch.no_grad():
        n = same(x)
    seen += [n is x, n.requires_grad, n.is_leaf]
    r, s = function(torch, lambda ctx, a, b: (b, a + b), lambda ctx, g, h: (h, g + h)).apply(x * 1, y)
    return seen + [r is y, y.is_leaf, r.requires_grad, s.output_nr]


@row('A-16')
def outputs_of_all_kinds(torch):
    x, seen, got = leaf(torch), [], []

    def note(ctx, *grads):
        got.append([g if g is None else [str(g.dtype), g.tolist()] for g in grads])
        return grads[0]

    def apply(forward):
        return function(torch, forward, note).apply(x)

    def twice(ctx, a):
        b = a * 2
        return b, b
    for forward in (lambda ctx, a: 3, lambda ctx, a: None, lambda ctx, a: [a * 2, a * 3], lambda ctx, a: (a * 2,)):
        seen.append(type(apply(forward)).__name__)
    mixed = apply(lambda ctx, a: (a * 2, None, 5))
    seen += [[type(o).__name__ for o in mixed], gradient(mixed[0], x)]
    integer = apply(lambda ctx, a: (a * 2, torch.tensor([1])))
    seen += [integer[1].requires_grad, gradient(integer[0], x)]
    same = apply(twice)
    return seen + [same[0] is same[1], same[0].output_nr, same[1].output_nr, gradient(same[0], x), got]


@row('A-16')
def marks_for_outputs(torch):
    x, got = leaf(torch), []

    def note(ctx, g, h):
        got.append([None if v is None else [str(v.dtype), v.tolist()] for v in (g, h)])
        return g

    def masked(materialize):
        def forward(ctx, a):
            mask, other = a > 1, a * 3
            ctx.mark_non_differentiable(mask, other)
            ctx.set_materialize_grads(materialize)
            return a * 2, other
        return function(torch, forward, note).apply(x)
    seen = []
    for materialize in (True, False):
        o, other = masked(materialize)
        seen += [other.requires_grad, other.is_leaf, o.output_nr, gradient(o, x)]
    back = function(torch, lambda ctx, a: ctx.mark_non_differentiable(a) or a).apply(x)
    return seen + [got, back is x, back.requires_grad, x.requires_grad,
                   function(torch, lambda ctx, a: ctx.mark_non_differentiable(a) or a * 2).apply(x).requires_grad]


def tripled(ctx, a):
    a.mul_(3)
    ctx.mark_dirty(a)
    return a


@row('A-16')
def inputs_changed_in_place(torch):
    """They are the outputs, with the node for history, one version more."""
    x, c = leaf(torch), torch.ones(2)
    apply = function(torch, tripled, lambda ctx, g: g * 3).apply
    a, b = x * 1, torch.zeros(2)
    o = apply(a)
    seen = [o is a, a._version, type(a.grad_fn).__name__, type(a.grad_fn.next_functions[0][0]).__name__, gradient(o, x)]
    seen += [apply(c).requires_grad, c._version, c.requires_grad]

    def added(ctx, p, q):
        p.add_(q)
        ctx.mark_dirty(p)
        return p
    r = function(torch, added, lambda ctx, g: (None, g * 2)).apply(b, x)
    seen += [r is b, b.requires_grad, b._version, gradient(r, x)]

    def saved(ctx, p):
        p.exp_()
        ctx.mark_dirty(p)
        ctx.save_for_backward(p)
        return p
    kept = function(torch, saved, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x * 1)
    return seen + [gradient(kept, x)]


@row('P-20')
def views_changed_in_place(torch):
    """They are the outputs too, and so their bases change; beside another output they are refused."""
    def two(ctx, p):
        p.mul_(3)
        ctx.mark_dirty(p)
        return p, p * 2
    x = leaf(torch)
    base = x.clone()
    view = base[:1]
    changed = function(torch, tripled, lambda ctx, g: g * 3).apply(view)
    return [changed is view, type(view.grad_fn).__name__, gradient(base, x),
            text_of(lambda: function(torch, two).apply(x.clone()[:1]))]


@row('A-16')
def refused_changes_in_place(torch):
    x = leaf(torch)

    def forget(ctx, p):
        ctx.mark_dirty(p)
        return p * 2
    cases = [lambda: function(torch, tripled).apply(x), lambda: function(torch, forget).apply(x * 1),
             lambda: function(torch, lambda ctx, a: setattr(ctx, 'to_save', 3) or ctx.save_for_backward(a, 3) or a * 2).apply(x)]
    return [text_of(case) for case in cases]


@row('P-11', in_1_13='texts name the node, not the operation')
def views_of_functions(torch):
    """May not be changed in place, nor their bases."""
    y = leaf(torch) * 2
    cases = [lambda a: a.view(2, 1), lambda a: a, lambda a: (a[:1], a[1:]), lambda a: (a, a * 2)]
    seen = []
    for forward in cases:
        out = function(torch, lambda ctx, a: forward(a)).apply(y)
        out = out[0] if isinstance(out, tuple) else out
        seen.append([out._base is y, text_of(lambda: out.mul_(2))])
    out = function(torch, lambda ctx, a: a).apply(y)
    y.mul_(3)
    return seen + [text_of(lambda: out.grad_fn)]


@row('A-16')
def what_ctx_is(torch):
    x, seen = leaf(torch), []

    def forward(ctx, a, n):
        seen.append([type(ctx).__name__, list(ctx.needs_input_grad), list(ctx.saved_tensors), torch.is_grad_enabled()])
        ctx.save_for_backward(a, None)
        ctx.note = n
        return a * 2

    def backward(ctx, g):
        seen.append([ctx.name(), len(ctx.next_functions), list(ctx.needs_input_grad), ctx.note,
                     isinstance(ctx, kind._backward_cls)])
        return g * ctx.note, None
    kind = function(torch, forward, backward)
    o = kind.apply(x, 5)
    node = o.grad_fn
    seen += [node is o.grad_fn, isinstance(node, kind._backward_cls), node._forward_cls is kind, node.note,
             node.saved_tensors[0] is x, node.saved_tensors[1]]
    node.note = 7
    node.register_hook(lambda ins, outs: seen.append([ins[0].tolist(), outs[0].tolist()]))
    seen += [gradient(o, x), text_of(lambda: node.saved_tensors), text_of(lambda: node.missing),
             kind.__mro__[1] is torch.autograd.Function, type('Sub', (kind,), {})._backward_cls.__name__]
    a, b = torch.ones(1, requires_grad=True), torch.ones(1)
    function(torch, lambda ctx, p, q: p * q, lambda ctx, g: seen.append(list(ctx.needs_input_grad)) or (g, None)).apply(
        a, b).backward()
    return seen


@row('A-16')
def what_functions_save(torch):
    x = leaf(torch)

    def result(ctx, a):
        r = a.exp()
        ctx.save_for_backward(r)
        return r
    o = function(torch, result, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    saved = o.grad_fn.saved_tensors[0]
    seen = [saved is o, saved.grad_fn is o.grad_fn or saved.grad_fn == o.grad_fn, gradient(o, x)]
    cube = function(torch, lambda ctx, a: ctx.save_for_backward(a) or a ** 3,
                    lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2).apply
    first, = torch.autograd.grad(cube(x).sum(), x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)
    y = x * 1
    changed = cube(y)
    y.add_(1)
    again = cube(x)
    again.sum().backward()
    several = function(torch, lambda ctx, a: ctx.save_for_backward(a) or ctx.save_for_backward(a, a) or a * 2).apply(x)
    return seen + [first.tolist(), second.tolist(), text_of(changed.sum().backward)[:80], text_of(again.sum().backward)[:40],
                   len(several.grad_fn.saved_tensors)]


@row('A-16')
def static_checks(torch):
    x, base = leaf(torch), torch.autograd.Function
    kind = function(torch, lambda ctx, a: a * 2)
    nested = function(torch, lambda ctx, a: a[0] * 2).apply([x])
    none = function(torch, lambda ctx: torch.ones(2)).apply()
    return [outcome(lambda: kind()(x)), outcome(lambda: base.apply(x)), outcome(lambda: base.forward(None, x)),
            outcome(lambda: base.backward(None, None)), outcome(lambda: kind.jvp(None, None)), nested.requires_grad,
            none.requires_grad, outcome(lambda: function(torch, lambda ctx: 3).apply(x))[-60:]]


@row('A-16', since='2.0')
def separate_setup(torch):
    """forward without ctx, then setup_context with the arguments, their defaults too; keywords are arguments."""
    x, seen = leaf(torch), []

    def setup(ctx, inputs, output):
        seen.append([len(inputs), inputs[1], output.tolist(), torch.is_grad_enabled(), type(ctx).__name__])
        ctx.save_for_backward(inputs[0])
    kind = function(torch, lambda a, k=5: a * k, lambda ctx, g: (g * ctx.saved_tensors[0], None), setup_context=setup)
    seen += [gradient(kind.apply(x), x), gradient(kind.apply(x, k=2), x)]
    plain = function(torch, lambda ctx, a, k=1: a * k, lambda ctx, g: (g, None)).apply(x, k=3)
    o = kind.apply(x)
    node = o.grad_fn
    del o
    return seen + [plain.tolist(), node.name(), type(node.next_functions[0][0]).__name__,
                   text_of(lambda: torch.autograd.Function.setup_context(None, None, None)),
                   text_of(lambda: torch.autograd.Function.vmap(None, None))]


@row('A-16', in_1_13='apply takes no arguments by name')
def arguments_by_name(torch):
    """They take the places of forward's parameters. Defaults are not filled in: forward has them."""
    x = leaf(torch)

    def forward(ctx, x, y=3, z=4):
        return x * y * z

    def backward(ctx, g):
        return tuple(g * 2 if wanted else None for wanted in ctx.needs_input_grad)
    apply = function(torch, forward, backward).apply
    by_name = outcome(lambda: [gradient(apply(x=x), x), gradient(apply(x, y=x * 1), x), gradient(apply(y=5, x=x), x)])
    return [by_name, outcome(lambda: apply(x, z=5)), outcome(lambda: apply(y=5)), outcome(lambda: apply(x, 5, x=5)),
            outcome(lambda: apply(x, w=5))]
