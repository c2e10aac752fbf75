# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows E about one node: what it gives back, and what becomes of it on the way to the next."""
from harness import of_kind, order_of, row, text_of


def leaf(torch, *values):
    return torch.tensor(values or [1., 1.], requires_grad=True)


def giving(torch, make):
    """A custom function of one tensor whose backward returns make(grad)."""
    class BadBackward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return make(grad)
    BadBackward.__name__ = 'Bad'
    return BadBackward


@row('E-03', tape=order_of)
def undefined_satisfies(torch):
    x = leaf(torch)
    seen = []
    y = x * 2
    y.grad_fn.register_hook(lambda outputs, inputs: seen.append([outputs[0], inputs[0]]))
    giving(torch, lambda grad: None).apply(y).sum().backward()
    return [seen, x.grad]


@row('E-03')
def undefined_beside_defined(torch):
    x = leaf(torch)
    y = x * 2
    (giving(torch, lambda grad: None).apply(y) + y * 3).sum().backward()
    return x.grad.tolist()


@row('E-04', expect=[1.0, 0.0])
def order_of_the_sum(torch):
    def sum_of(*factors):
        x = leaf(torch, 1.)
        parts = [x * factor for factor in factors]
        (parts[0] + parts[1] + parts[2]).backward()
        return x.grad.item()
    return [sum_of(1., 1e8, -1e8), sum_of(-1e8, 1e8, 1.)]


def address_seen(torch, seen):
    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            seen.append(grad.data_ptr())
            made = grad * 2
            seen.append(made.data_ptr())
            return made
    return Look


@row('E-05', expect=[True, True])
def first_is_moved(torch):
    """One consumer: what it made is what its child sees, and what .grad becomes."""
    seen, x = [], leaf(torch)
    look = address_seen(torch, seen)
    look.apply(look.apply(x)).sum().backward()
    return [seen[1] == seen[2], x.grad.data_ptr() == seen[3]]


@row('E-06', in_1_13='the sum is always a new tensor', expect=[True, [3.0, 3.0]], expect_1_13=[False, [3.0, 3.0]])
def where_the_sum_is(torch):
    made, seen = [], []

    class Make(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            result = grad * 1.5
            made.append(result.data_ptr())
            return result
    x = leaf(torch)
    y = x * 1
    y.register_hook(lambda grad: seen.append(grad.data_ptr()))
    (Make.apply(y) + Make.apply(y)).sum().backward()
    return [seen[0] == made[0], x.grad.tolist()]


@row('E-06')
def the_sum_under_create_graph(torch):
    x = leaf(torch)
    y = x * 1
    grad, = torch.autograd.grad((y * x + y * 2).sum(), x, create_graph=True)
    return [grad.requires_grad, grad.tolist(), [t.tolist() for t in torch.autograd.grad(grad.sum(), x)]]


@row('E-07')
def given_gradients_stay(torch):
    x = leaf(torch)
    y, given = x * 1, torch.full((2,), 5.)
    torch.autograd.backward([y, y + 1, x], [given, given, given])
    (x * 1).backward(given)
    return [given.tolist(), x.grad.tolist(), x.grad.data_ptr() == given.data_ptr()]


@row('E-08', expect=[34.0, 17.0])
def one_object_along_two_edges(torch):
    x, y = torch.tensor(2., requires_grad=True), torch.tensor(2., requires_grad=True)
    a = x + y
    (a * 16 + a + x * 17).backward()
    return [x.grad.item(), y.grad.item()]


@row('E-08', tape=order_of)
def an_add_shares_its_gradient(torch):
    """add gives the same object to both sides; the sum below must not change it for the other."""
    x, y = leaf(torch), leaf(torch)
    a, b = x * 2, y * 3
    (a + b + a * 5 + b * 7).sum().backward()
    return [x.grad.tolist(), y.grad.tolist()]


@row('E-09')
def reduced_to_the_input(torch):
    def grad_of(shape, returned):
        x = torch.ones(shape, requires_grad=True)
        giving(torch, lambda grad: torch.ones(returned)).apply(x).sum().backward()
        return [list(x.grad.shape), x.grad.sum().item(), list(x.grad.stride())]
    return [grad_of((2,), (3, 2)), grad_of((1, 2), (3, 2)), grad_of((2, 1), (4, 2, 5)), grad_of((), (2, 2)),
            grad_of((1,), (7,))]


@row('E-09')
def reduced_with_history(torch):
    """What is summed down under create_graph keeps its history."""
    x, w = torch.ones(2, requires_grad=True), torch.full((3, 2), 2., requires_grad=True)

    class Wide(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(w)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            w, = ctx.saved_tensors
            return grad * w * w, None
    grad, = torch.autograd.grad(Wide.apply(x, w).sum(), x, create_graph=True)
    grad.sum().backward()
    return [grad.tolist(), grad.requires_grad, w.grad.tolist()]


@row('E-09')
def reduced_by_the_engine_alone(torch):
    """Under create_graph the engine's sums are nodes, made after all formulas; a view only if dimensions go away."""
    def names(operation, *shapes):
        inputs = [torch.ones(shape, requires_grad=True) for shape in shapes]
        gradients = torch.autograd.grad((operation(*inputs) ** 2).sum(), inputs, create_graph=True)
        return [[grad.grad_fn.name(), grad.grad_fn.next_functions[0][0].name()] for grad in gradients]
    return [names(torch.mul, (3, 1), (2,)), names(torch.mul, (3, 2), ()), names(torch.div, (1, 2), (3, 1)),
            names(torch.addmm, (2,), (3, 4), (4, 2)), names(torch.maximum, (3, 1), (2,))]


@row('E-10')
def wrong_shape(torch):
    def text(shape, returned):
        x = torch.ones(shape, requires_grad=True)
        return text_of(giving(torch, lambda grad: torch.ones(returned)).apply(x).sum().backward)
    return [text((2, 2), (10,)), text((2, 2), (2,)), text((3,), (2,)), text((2,), ()), text((2, 3), (3, 2)),
            text((2, 1), (2, 3, 4))]


@row('E-10')
def wrong_shape_of_a_root(torch):
    """Root gradients have no name before the text; the front end's own check comes first."""
    return text_of(lambda: (leaf(torch) * 1).backward(torch.ones(3)))


@row('E-11')
def wrong_dtype(torch):
    def grad_of(dtype, returned):
        x = torch.ones(2, dtype=dtype, requires_grad=True)
        giving(torch, lambda grad: torch.ones(2, dtype=returned)).apply(x).sum().backward()
        return [str(x.grad.dtype), x.grad.tolist()]
    return [grad_of(torch.float32, torch.float64), grad_of(torch.float64, torch.float32),
            grad_of(torch.float32, torch.int64)]


@row('E-11')
def cast_with_history(torch):
    x, w = torch.ones(2, requires_grad=True), torch.full((2,), 3., dtype=torch.float64, requires_grad=True)

    class Wide(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(w)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            w, = ctx.saved_tensors
            return w * w, None
    grad, = torch.autograd.grad(Wide.apply(x, w).sum(), x, create_graph=True)
    grad.sum().backward()
    return [str(grad.dtype), grad.tolist(), w.grad.tolist()]


@row('E-12')
def complex_for_real(torch):
    x = leaf(torch)
    return [text_of(giving(torch, lambda grad: torch.ones(n, dtype=torch.complex64)).apply(x).sum().backward)
            for n in (2, 3)]


def one_piece(torch, n=2):
    return torch.sparse_coo_tensor(torch.tensor([[1]]), torch.tensor([5.]), (n,))


@row('E-14')
def sparse_for_dense(torch):
    x = leaf(torch)
    giving(torch, lambda grad: one_piece(torch)).apply(x).sum().backward()
    return [x.grad.is_sparse, x.grad.to_dense().tolist(),
            text_of(giving(torch, lambda grad: one_piece(torch, 3)).apply(x).sum().backward)]


@row('E-14', in_1_13='a dense gradient for a sparse tensor is refused')
def dense_for_sparse(torch):
    x = one_piece(torch).requires_grad_()
    y = x.clone()
    return [text_of(lambda: y.backward(torch.ones(2))), x.grad if x.grad is None else x.grad.tolist()]


@row('E-13')
def wrong_device(torch):
    x = leaf(torch)
    return text_of(giving(torch, lambda grad: torch.ones(2, device='meta')).apply(x).sum().backward)


def drops(events):
    """Dependencies and buffers by node."""
    return [[event['event'], event['node_name']] for event in of_kind(events, 'dependency_dec', 'buffer_add', 'node_begin')]


@row('E-16', tape=drops)
def dropped_where_excluded(torch):
    x, w = leaf(torch), leaf(torch)
    y = x.sin()
    z = y * (w * 2).cos()
    z.sum().backward(inputs=[y])
    return [x.grad, w.grad, y.grad.tolist()]


def spans(events):
    """Begins and ends of nodes' functions."""
    return [[event['event'], event['node_name']] for event in of_kind(events, 'node_begin', 'node_end')]


@row('E-20', tape=spans)
def name_and_span(torch):
    x = leaf(torch)
    y = x + x * 2
    names = []
    y.grad_fn.register_hook(lambda outputs, inputs: names.append(y.grad_fn.name()))
    y.sum().backward()
    return names
