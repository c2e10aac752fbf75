# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows H-01 to H-11: which hooks are called, in which order, and what they give back."""
from harness import of_kind, row, text_of
from shapes import accumulator, leaf


def hooks_of(events):
    """Where hooks are called, as node and kind. PyTorch tells all hooks of one tensor as one, and of PyTorch 1 it cannot be
    seen which of a node's hooks are a tensor's."""
    told = []
    for event in of_kind(events, 'hook_begin'):
        kind = 'before' if event['kind'] in ('tensor_pre', 'pre') else event['kind']
        if told[-1:] != [[event['node_name'], kind]]:
            told.append([event['node_name'], kind])
    return told


# H-01 to H-05: order and counts

@row('H-01', since='2.1', expect=[3.0, 3.0])
def order_of_all_kinds(torch):
    x = leaf(torch)
    y = x.clone()
    node = accumulator(y)
    seen = []
    x.register_hook(lambda grad: grad - 2)
    node.register_prehook(lambda grads: (grads[0] / 5,))
    x.register_post_accumulate_grad_hook(lambda p: [p.grad.add_(0.5)] and None)
    node.register_hook(lambda outputs, inputs: (seen.append(x.grad.clone()), x.grad.mul_(10), None)[2])
    y.sum().backward()
    return x.grad.tolist()


@row('H-01', since='2.1')
def order_by_names(torch):
    x = leaf(torch)
    y = x.clone()
    node, order = accumulator(y), []
    node.register_hook(lambda outputs, inputs: order.append('post'))
    x.register_post_accumulate_grad_hook(lambda p: order.append('post accumulate'))
    node.register_prehook(lambda grads: order.append('pre'))
    x.register_hook(lambda grad: order.append('tensor'))
    y.register_hook(lambda grad: order.append('y tensor'))
    y.retain_grad()
    y.sum().backward()
    return [order, y.grad.tolist()]


@row('H-02', in_1_13='tensor hooks and pre-hooks are one list; a leaf calls its own inside AccumulateGrad',
     expect_1_13=['b.pre', 'b.tensor1', 'b.tensor2', 'b.post', 'acc.pre', 'a.tensor', 'acc.post'],
     expect=['b.tensor1', 'b.tensor2', 'b.pre', 'b.post', 'a.tensor', 'acc.pre', 'acc.post'], tape=hooks_of)
def order_of_one_list(torch):
    a = leaf(torch)
    b = a * 2
    node, order = accumulator(b), []
    b.grad_fn.register_prehook(lambda grads: order.append('b.pre'))
    b.register_hook(lambda grad: order.append('b.tensor1'))
    b.register_hook(lambda grad: order.append('b.tensor2'))
    b.grad_fn.register_hook(lambda outputs, inputs: order.append('b.post'))
    node.register_prehook(lambda grads: order.append('acc.pre'))
    a.register_hook(lambda grad: order.append('a.tensor'))
    node.register_hook(lambda outputs, inputs: order.append('acc.post'))
    b.sum().backward()
    return order


def mixed(torch, backward):
    order = []
    a = leaf(torch)
    b = a * 2
    b.register_hook(lambda grad: order.append('b 1'))
    b.grad_fn.register_prehook(lambda grads: order.append('b node 1'))
    b.retain_grad()
    b.register_hook(lambda grad: order.append('b 2'))
    b.grad_fn.register_prehook(lambda grads: order.append('b node 2'))
    a.register_hook(lambda grad: order.append('a 1'))
    accumulator(b).register_prehook(lambda grads: order.append('a node 1'))
    a.register_hook(lambda grad: order.append('a 2'))
    backward(b.sum(), a, b)
    return order


@row('H-03', in_1_13='tensor hooks and pre-hooks are one list')
def mixed_registrations(torch):
    return mixed(torch, lambda loss, a, b: loss.backward())


@row('H-04', in_1_13='a captured gradient is taken before hooks')
def hooks_of_a_wanted_leaf(torch):
    return [
        mixed(torch, lambda loss, a, b: torch.autograd.grad(loss, a)),
        mixed(torch, lambda loss, a, b: torch.autograd.grad(loss, b)),
        mixed(torch, lambda loss, a, b: torch.autograd.grad(loss, (a, b)))]


@row('H-05', in_1_13='hooks of captured tensors do not run')
def counts_with_inputs(torch):
    """Tensor hook, pre-hook and post hook of the leaf's node, and of the node above."""
    def counts(run):
        seen = [0] * 5

        def count(i):
            def hook(*unused):
                seen[i] += 1
            return hook
        x = leaf(torch)
        y = x * 2
        node = accumulator(y)
        x.register_hook(count(0))
        node.register_prehook(count(1))
        node.register_hook(count(2))
        y.register_hook(count(3))
        y.grad_fn.register_prehook(count(4))
        run(y.sum(), x, y)
        return seen
    return [counts(lambda loss, x, y: torch.autograd.grad(loss, x)),
            counts(lambda loss, x, y: torch.autograd.grad(loss, y)),
            counts(lambda loss, x, y: torch.autograd.grad(loss, (x, y))),
            counts(lambda loss, x, y: loss.backward(inputs=[x])),
            counts(lambda loss, x, y: loss.backward(inputs=[y])),
            counts(lambda loss, x, y: loss.backward())]


# H-06 to H-11: what hooks give back

@row('H-06', expect=[[2, 3], [2.0, 2.0]])
def none_keeps_value_replaces(torch):
    x, order = leaf(torch), []
    first = x.register_hook(lambda grad: order.append(1))
    x.register_hook(lambda grad: (order.append(2), grad * 2)[1])
    x.register_hook(lambda grad: order.append(3))
    first.remove()
    (x * 1).sum().backward()
    return [order, x.grad.tolist()]


@row('H-06')
def pre_and_post_replace(torch):
    x = leaf(torch)
    y = x * 3
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    y.grad_fn.register_prehook(lambda grads: None)
    y.grad_fn.register_prehook(lambda grads: (grads[0] + 1,))
    seen = []

    def post(outputs, inputs):
        seen.append([[None if t is None else t.tolist() for t in outputs], [t.tolist() for t in inputs]])
        return tuple(None if t is None else t * 10 for t in outputs)
    y.grad_fn.register_hook(post)
    y.grad_fn.register_hook(lambda outputs, inputs: (outputs[0] + 1, None))
    y.sum().backward()
    return [seen, x.grad.tolist()]


@row('H-07')
def remove_while_running(torch):
    x, order, handles = leaf(torch), [], {}

    def first(grad):
        order.append('first')
        handles['first'].remove()
        handles['second'].remove()
        handles['late'] = x.register_hook(lambda grad: order.append('late'))
    handles['first'] = x.register_hook(first)
    handles['second'] = x.register_hook(lambda grad: order.append('second'))
    for _ in range(2):
        (x * 1).sum().backward()
        order.append('|')
    handles['late'].remove()
    handles['late'].remove()
    (x * 1).sum().backward()
    return order


@row('H-07')
def remove_node_hooks(torch):
    x, counter = leaf(torch), [0]
    y = x * 2

    def count(*unused):
        counter[0] += 1
        handle.remove()
    handle = y.grad_fn.register_prehook(count)
    with y.grad_fn.register_hook(lambda outputs, inputs: counter.append('with')):
        y.sum().backward(retain_graph=True)
    y.sum().backward()
    return counter


def nothing(torch):
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return None
    return Nothing


@row('H-08', in_1_13="a leaf's hooks are not called without a gradient",
     expect=[[['y', None], ['x', None]], None], expect_1_13=[[['y', None]], None])
def undefined_gradient(torch):
    seen = []
    x = leaf(torch)
    y = x * 2
    x.register_hook(lambda grad: seen.append(['x', grad]))
    y.register_hook(lambda grad: seen.append(['y', grad]))
    nothing(torch).apply(y).sum().backward()
    return [seen, x.grad]


@row('H-08', since='2.0')
def undefined_gradient_is_not_retained(torch):
    y = leaf(torch) * 2
    y.retain_grad()
    nothing(torch).apply(y).sum().backward()
    return [y.grad]


def after_hook(torch, hook, kind='tensor'):
    x = leaf(torch)
    y = x * 2
    if kind == 'tensor':
        y.register_hook(hook)
    elif kind == 'leaf':
        x.register_hook(hook)
    elif kind == 'pre':
        y.grad_fn.register_prehook(hook)
    else:
        y.grad_fn.register_hook(hook)
    return text_of(y.sum().backward)


@row('H-09')
def results_of_tensor_hooks(torch):
    def wider(grad):
        return torch.ones(5)

    class Named:
        def __call__(self, grad):
            return torch.ones(5)
    return [after_hook(torch, hook, kind) for kind in ('tensor', 'leaf')
            for hook in (wider, Named(), lambda grad: grad.double(), lambda grad: 5, lambda grad: (grad,))]


@row('H-09')
def tensor_hook_for_none(torch):
    y = leaf(torch) * 2
    y.register_hook(lambda grad: torch.ones(2))
    return text_of(nothing(torch).apply(y).sum().backward)


@row('H-10')
def results_of_node_hooks(torch):
    ones = torch.ones(2)
    pre = [after_hook(torch, lambda grads: result, 'pre')
           for result in (ones, [ones], (ones, ones), (1,), (ones.double(),), (torch.ones(3),), (None,), (ones,))]
    post = [after_hook(torch, lambda outputs, inputs: result, 'post')
            for result in (ones, [ones, None], (ones,), (ones, ones), (5, None), (None, None), (torch.ones(3), None))]
    return [pre, post]


@row('H-11')
def tensor_without_grad(torch):
    return [text_of(lambda: torch.ones(2).register_hook(print)),
            text_of(lambda: leaf(torch).detach().register_hook(print))]
