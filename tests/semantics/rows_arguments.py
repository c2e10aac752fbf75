# SPDX-License-Identifier: LGPL-2.1-or-later
"""Argument checks: exact texts, of the functions and of the engine below them."""
import warnings

from harness import row, text_of

INDEX_IN_TEXT = 'the text does not tell the index'
QUOTES = 'the text quotes names otherwise'


def leaf(torch):
    return torch.tensor([1., 2.], requires_grad=True)


def run_backward(torch, tensors, grads, inputs=(), accumulate_grad=True, allow_unreachable=True):
    engine = torch.autograd.Variable._execution_engine
    return engine.run_backward(tensors, grads, False, False, inputs, allow_unreachable=allow_unreachable,
                               accumulate_grad=accumulate_grad)


def warned(call):
    """Categories and beginnings of the warnings of a call, and its error."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        error = text_of(call)
    return [[w.category.__name__, str(w.message)[:80]] for w in seen], error


@row('D-01', expect=['RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn',
                     'RuntimeError: element 1 of tensors does not require grad and does not have a grad_fn'])
def root_without_grad(torch):
    c, s = torch.tensor(1.), leaf(torch).sum()
    return [text_of(c.backward), text_of(lambda: torch.autograd.backward([s, c]))]


@row('D-02')
def implicit_gradient(torch):
    x = leaf(torch)
    one_element = torch.ones(1, 1, requires_grad=True)
    (one_element * 3).backward()
    return [text_of((x * 2).backward), text_of(lambda: torch.autograd.grad(x * 2, x)),
            text_of((torch.ones(0, requires_grad=True) * 2).backward), one_element.grad.tolist()]


@row('D-03')
def shape_of_gradient(torch):
    x = leaf(torch)
    shapes = [(3,), (2, 2), (1, 2), (1,), ()]
    return [text_of(lambda: (x * 2).backward(torch.ones(shape))) for shape in shapes]


@row('D-04')
def input_without_grad(torch):
    x, c = leaf(torch), torch.ones(2)
    return [text_of(lambda: torch.autograd.grad(x.sum(), c)), text_of(lambda: torch.autograd.grad(x.sum(), [x, c])),
            text_of(lambda: x.sum().backward(inputs=[c]))]


@row('D-05', in_1_13=INDEX_IN_TEXT)
def unused_input(torch):
    x, other = leaf(torch), leaf(torch)
    allowed = torch.autograd.grad(x.sum(), [x, other], allow_unused=True)
    return [text_of(lambda: torch.autograd.grad(x.sum(), other)),
            text_of(lambda: torch.autograd.grad(x.sum(), [x, other])), allowed[0].tolist(), allowed[1]]


@row('D-06', in_1_13=QUOTES)
def no_inputs_of_backward(torch):
    return text_of(lambda: leaf(torch).sum().backward(inputs=[]))


@row('D-07', in_1_13='ValueError: grad requires non-empty inputs.')
def no_inputs_of_grad(torch):
    return text_of(lambda: torch.autograd.grad(leaf(torch).sum(), []))


@row('D-09')
def batched_gradients(torch):
    x = leaf(torch)

    def batched(outputs, grads):
        return text_of(lambda: torch.autograd.grad(outputs, x, grads, is_grads_batched=True))
    return [batched(x * 2, torch.ones(2, 3)), batched(x * 2, torch.tensor(1.)), batched(x * 2, None),
            batched([x * 2, x.sum()], [torch.ones(2, 2), torch.ones(3)]), batched(x.sum(), None)]


@row('D-10')
def engine_level(torch):
    """The engine looks again at the tuples that run_backward gets."""
    s = leaf(torch).sum()
    cases = [((s,), ()), ([s], ()), ((s,), []), ((s,), (3,)), ((), ())]
    return [text_of(lambda: run_backward(torch, *case)) for case in cases]


@row('D-13')
def no_gradient_for_a_root_without_history(torch):
    return text_of(lambda: run_backward(torch, (torch.ones(1),), (None,)))


@row('D-13')
def no_gradient_for_root(torch):
    s = leaf(torch).sum()
    return text_of(lambda: run_backward(torch, (s,), (None,))).split('gradients tuple')[1]


@row('D-10', in_1_13='there are no GradientEdges')
def engine_level_types(torch):
    s = leaf(torch).sum()
    return [text_of(lambda: run_backward(torch, (3,), (None,))),
            text_of(lambda: run_backward(torch, (s,), (torch.tensor(1.),), (3,))),
            text_of(lambda: run_backward(torch, (s,), (torch.tensor(1.),), (leaf(torch),), False, False))]


@row('D-11')
def surplus_gradients(torch):
    x = leaf(torch)
    torch.autograd.backward([x.sum()], [None, torch.ones(7)])
    missing = text_of(lambda: torch.autograd.backward([x.sum(), x.sum()], [None]))
    return [x.grad.tolist(), missing, text_of(lambda: torch.autograd.backward([x * 2, x.sum()], torch.ones(2)))]


@row('D-12')
def dtype_of_gradient(torch):
    seen = []
    for dtype in (torch.float64, torch.int64):
        x = leaf(torch)
        (x * 2).backward(torch.ones(2, dtype=dtype))
        seen.append([str(x.grad.dtype), x.grad.tolist()])
    return seen


@row('D-14', process=True)
def warning_of_create_graph(torch):
    """Once for backward, however often it is called; not for grad."""
    x = leaf(torch)
    return [warned(lambda: torch.autograd.grad((x * x).sum(), x, create_graph=True)),
            warned(lambda: (x * x).sum().backward(create_graph=True)),
            warned(lambda: (x * x).sum().backward(create_graph=True)), x.grad.tolist()]


@row('D-17')
def requires_grad_of_non_leaf(torch):
    y = leaf(torch) * 2
    return [text_of(lambda: y.requires_grad_(False)), text_of(lambda: setattr(y, 'requires_grad', False)),
            text_of(lambda: y.requires_grad_(True))]


@row('D-18', in_1_13=QUOTES + ', and the warning is a UserWarning')
def old_name_of_gradients(torch):
    x = leaf(torch)
    one = torch.tensor(1.)
    seen = [warned(lambda: torch.autograd.backward(x.sum(), grad_variables=one)),
            warned(lambda: torch.autograd.backward(x.sum(), one, grad_variables=one)),
            warned(lambda: torch.autograd.grad(x.sum(), x, only_inputs=False))]
    return [seen, x.grad.tolist()]


@row('D-19', since='2.1')
def materialize_grads(torch):
    x, other = leaf(torch), torch.ones(3, requires_grad=True)
    grads = torch.autograd.grad(x.sum(), [x, other], materialize_grads=True)
    edge = torch.autograd.graph.get_gradient_edge(other)
    return [text_of(lambda: torch.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True)),
            [g.tolist() for g in grads], grads[1].requires_grad,
            text_of(lambda: torch.autograd.grad(x.sum(), [edge], materialize_grads=True))]


@row('D-20', since='2.2')
def edges_for_tensors(torch):
    edge_of = torch.autograd.graph.get_gradient_edge
    x = leaf(torch)
    y = x * 2
    edge = edge_of(y)
    seen = [type(edge).__name__, edge.output_nr, edge.node is y.grad_fn, edge_of(x).node is y.grad_fn.next_functions[0][0]]
    seen += [g.tolist() for g in torch.autograd.grad((y * y).sum(), [edge, x, edge_of(x)], retain_graph=True)]
    seen += [g.tolist() for g in torch.autograd.grad(edge, [x], torch.ones(2))]
    torch.autograd.backward([edge_of((x * 3).sum()), x.sum()])
    (x * 5).sum().backward(inputs=edge_of(x))
    return seen + [x.grad.tolist()]


@row('D-20', since='2.2')
def edge_before_write_in_place(torch):
    x = leaf(torch)
    y = x.clone()
    edge = torch.autograd.graph.get_gradient_edge(y)
    y.mul_(3)
    return [g.tolist() for g in torch.autograd.grad((y * y).sum(), [edge, y])]


@row('D-20', since='2.2')
def texts_of_edges(torch):
    graph, s = torch.autograd.graph, leaf(torch).sum()
    x = leaf(torch)
    edge = graph.get_gradient_edge(x * 2)
    return [text_of(lambda: graph.get_gradient_edge(torch.ones(1))), text_of(lambda: torch.autograd.backward(edge)),
            text_of(lambda: torch.autograd.backward(edge, torch.ones(3))),
            text_of(lambda: torch.autograd.grad(s, graph.GradientEdge(None, 0)))]


@row('D-10', since='2.2')
def dictionaries_of_inputs(torch):
    x = leaf(torch)
    grads = torch.autograd.grad(x.sum(), {'a': x})
    x.sum().backward(inputs={'a': x})
    return [list(grads), grads['a'].tolist(), x.grad.tolist()]


@row('D-10')
def kinds_of_arguments(torch):
    x = leaf(torch)
    s = x.sum()
    cases = [lambda: torch.autograd.backward(s, 3), lambda: torch.autograd.backward(x * 2, [3]),
             lambda: torch.autograd.backward(3), lambda: torch.autograd.grad(s, 3), lambda: s.backward(3),
             lambda: torch.autograd.backward(None), lambda: torch.autograd.backward([])]
    return [text_of(case) for case in cases]


@row('D-08')
def complex_and_real(torch):
    """A gradient must be complex where its output is, and only there; there is no implicit one for a complex output."""
    x = leaf(torch)
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    real, imaginary = torch.ones(2), torch.ones(2, dtype=torch.complex64)
    (z * 2).backward(imaginary)
    return [text_of(lambda: (x * 2).backward(imaginary)), text_of(lambda: (z * 2).backward(real)),
            str(z.grad.dtype)]


@row('D-08', since='2.2')
def no_implicit_complex_gradient(torch):
    z = torch.ones(1, dtype=torch.complex64, requires_grad=True)
    return text_of((z * 2).backward)


@row('D-16')
def integers_have_no_gradients(torch):
    whole, fine = torch.tensor([1, 2]), torch.tensor([1., 2.], dtype=torch.float64)
    cases = [lambda: torch.tensor([1], requires_grad=True), lambda: torch.ones(2, dtype=torch.int64, requires_grad=True),
             lambda: torch.tensor([True], requires_grad=True), lambda: setattr(whole, 'requires_grad', True)]
    return [text_of(case) for case in cases] + [fine.requires_grad_().requires_grad, whole.requires_grad,
                                                 (leaf(torch) > 1).requires_grad, leaf(torch).long().requires_grad]


@row('D-15', only='in PyTorch C++ alone can ask so', expect=['RuntimeError: The autograd engine was called while holding the GIL. If you '
     'are using the C++ API, the autograd engine is an expensive operation that does not require the GIL to be held so you '
     "should release it with 'pybind11::gil_scoped_release no_gil;'. If you are not using the C++ API, please report a bug "
     'to the pytorch team.', True])
def called_with_the_gil(torch):
    """By C code that calls the engine with the GIL held, which its nodes may wait for."""
    refused = text_of(torch._C._backward_with_gil)
    return [refused, text_of(leaf(torch).sum().backward) is None]
