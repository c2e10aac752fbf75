# SPDX-License-Identifier: LGPL-2.1-or-later
"""Rows F: AccumulateGrad."""
import threading

from harness import of_kind, row, text_of


def leaf(torch, n=2):
    return torch.ones(n, requires_grad=True)


def accumulator(tensor):
    return tensor.grad_fn.next_functions[0][0]


def making(torch, make, held=None):
    """A function of one tensor that gives make(grad) back, and keeps it if held is a list."""
    class Make(torch.autograd.Function):
        addresses = []

        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            made = make(grad)
            Make.addresses.append(made.data_ptr())
            if held is not None:
                held.append(made)
            return made
    return Make


def is_stolen(torch, x, make, held=None):
    function = making(torch, make, held)
    function.apply(x).sum().backward()
    return x.grad.data_ptr() == function.addresses[0]


def modes(events):
    return [event['mode'] for event in of_kind(events, 'accumulate')]


def double(grad):
    return grad * 2


@row('F-01', tape=modes, expect=True, expect_tape=['steal'])
def stolen(torch):
    return is_stolen(torch, leaf(torch), double)


@row('F-02', tape=modes, expect=[False, [2.0, 2.0], [2.0, 2.0]], expect_tape=['copy'])
def held_elsewhere(torch):
    x, held = leaf(torch), []
    stolen = is_stolen(torch, x, double, held)
    return [stolen, x.grad.tolist(), held[0].tolist()]


@row('F-02', differs='PyTorch steals a view of memory that somebody else still holds, and the next += writes there',
     expect=[False, [0.0, 0.0, 0.0, 0.0]])
def storage_held_elsewhere(torch):
    x, held = leaf(torch), []

    def make(grad):
        held.append(torch.zeros(4))
        return held[-1][1:3]
    stolen = is_stolen(torch, x, make)
    x.grad.add_(1)
    return [stolen, held[0].tolist()]


@row('F-03', expect=[True, [[2.0, 2.0]]])
def stolen_with_post_hook(torch):
    x, seen = leaf(torch), []
    y = x.view(2)
    function = making(torch, double)
    z = function.apply(x)
    accumulator(z).register_hook(lambda outputs, inputs: seen.append(inputs[0].tolist()))
    z.sum().backward()
    del y
    return [x.grad.data_ptr() == function.addresses[0], seen]


@row('F-04', tape=modes)
def leaf_as_root(torch):
    x, given = leaf(torch), torch.full((2,), 3.)
    x.backward(given)
    return [x.grad.data_ptr() == given.data_ptr(), x.grad.tolist()]


@row('F-05', tape=modes, expect=[True, [6.0, 6.0]])
def added_in_place(torch):
    x = leaf(torch)
    y = (x * 3).sum()
    y.backward(retain_graph=True)
    grad, address = x.grad, x.grad.data_ptr()
    y.backward()
    return [x.grad is grad and x.grad.data_ptr() == address, grad.tolist()]


@row('F-06', tape=modes)
def replaced_under_create_graph(torch):
    x = leaf(torch)
    (x * x).sum().backward()
    grad = x.grad
    (x * x).sum().backward(create_graph=True)
    result = [x.grad is grad, grad.tolist(), x.grad.tolist(), x.grad.requires_grad]
    x.grad = None
    return result


def matrix_case(torch, sparse_before, sparse, create_graph):
    """Whether .grad is the object it was, after a gradient came to it: T:test_accumulate_grad_tensor_reference."""
    def grad_like(is_sparse, value):
        dense = torch.full((2, 2), value)
        if not is_sparse:
            return dense
        return torch.sparse_coo_tensor(torch.tensor([[0, 1]]), dense, (2, 2))
    x = torch.zeros(2, 2, requires_grad=True)
    x.grad = grad_like(sparse_before, 1.)
    grad = x.grad
    x.backward(grad_like(sparse, 1.5), create_graph=create_graph)
    total = x.grad.to_dense() if x.grad.is_sparse else x.grad
    return [x.grad is grad, x.grad.is_sparse, total.detach().tolist()]


@row('F-07', tape=modes)
def dense_onto_dense(torch):
    return [matrix_case(torch, False, False, create_graph) for create_graph in (False, True)]


@row('F-07')
def with_sparse(torch):
    return [matrix_case(torch, before, now, create_graph) for before, now in ((False, True), (True, False), (True, True))
            for create_graph in (False, True)]


@row('F-08')
def strides_of_the_leaf(torch):
    x = leaf(torch)
    x.expand(2, 2).sum().backward()
    found = [list(x.grad.stride())]
    y = torch.ones(2, 3).t().detach().requires_grad_()
    (y * 2).sum().backward()
    found.append(list(y.grad.stride()))
    z = torch.ones(3, 1, 2, requires_grad=True)
    making(torch, lambda grad: torch.ones(2, 1, 3).permute(2, 1, 0)).apply(z).sum().backward()
    found.append(list(z.grad.stride()))
    w = torch.ones(4)[::2].detach().requires_grad_()
    (w * 3).sum().backward()
    return found + [list(w.stride()), list(w.grad.stride()), w.grad.tolist()]


@row('F-09', expect=[False, True, [True, False]])
def contiguous_and_not(torch):
    x = torch.ones(3, 2, requires_grad=True)
    transposed = is_stolen(torch, x, lambda grad: torch.ones(2, 3).t())
    y = torch.ones(2, 3).t().detach().requires_grad_()
    obeys = is_stolen(torch, y, lambda grad: torch.ones(2, 3).t())

    class Alias(torch.autograd.Function):
        addresses = []

        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            made = grad * 2
            Alias.addresses.append(made.data_ptr())
            return made, made
    a, b = leaf(torch), leaf(torch)
    Alias.apply(a, b).sum().backward()
    stolen = [t.grad.data_ptr() == Alias.addresses[0] for t in (a, b)]
    assert a.grad.data_ptr() != b.grad.data_ptr()
    return [transposed, obeys, sorted(stolen, reverse=True)]


@row('F-10', tape=modes)
def sparse_embedding(torch):
    weight = torch.ones(5, 2, requires_grad=True)
    rows = torch.nn.functional.embedding(torch.tensor([1, 1, 3]), weight, sparse=True)
    (rows * torch.tensor([[1.], [2.], [3.]])).sum().backward()
    grad = weight.grad
    return [grad.is_sparse, grad.is_coalesced(), grad._indices().tolist(), grad._values().tolist(),
            grad.to_dense().tolist()]


@row('F-10')
def sparse_embedding_twice(torch):
    weight = torch.ones(4, 1, requires_grad=True)
    kept = []
    for index in ([1, 2], [2, 0]):
        torch.nn.functional.embedding(torch.tensor(index), weight, sparse=True).sum().backward()
        kept.append(weight.grad)
    return [kept[0] is kept[1], weight.grad.coalesce().indices().tolist(), weight.grad.to_dense().tolist()]


@row('F-11')
def sparse_and_dense_into_one_leaf(torch):
    def run(sparse_first):
        x = torch.ones(3, 3, requires_grad=True)
        seen = []
        picked = torch.gather(x, 0, torch.tensor([[0, 1, 2]]), sparse_grad=True)
        if sparse_first:
            parts = [picked, x.clone()]
        else:
            parts = [x.clone(), torch.gather(x, 0, torch.tensor([[0, 1, 2]]), sparse_grad=True)]
        x.register_hook(lambda grad: seen.append(grad.is_sparse))
        given = [torch.full(part.shape, 2.) for part in parts]
        torch.autograd.backward(parts, given)
        return [x.grad.is_sparse, x.grad.tolist(), seen, [g.sum().item() for g in given]]
    return [run(True), run(False)]


@row('F-12', tape=modes)
def switched_off(torch):
    x, w = leaf(torch), leaf(torch)
    y = (x * w).sum()
    x.requires_grad_(False)
    y.backward()
    return [x.grad, w.grad.tolist()]


@row('F-13')
def moved_into_the_graph(torch):
    x = torch.ones(2)
    x.requires_grad_()
    y = x * 2
    with torch.no_grad():
        z = x.detach()
    x.requires_grad_(False)
    x.mul_(leaf(torch))
    return [text_of(y.sum().backward), z.tolist(), x.is_leaf]


@row('F-14')
def without_elements(torch):
    x, y = torch.ones(4, 0, requires_grad=True), torch.ones(4, 1, requires_grad=True)
    (x + y).backward(torch.ones(4, 0))
    return [list(x.grad.shape), list(y.grad.shape), y.grad.tolist()]


@row('F-15', expect=[60.0, 60.0])
def many_threads(torch):
    x = leaf(torch)

    def work():
        for _ in range(3):
            (x * 2).sum().backward()
    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return x.grad.tolist()


def assigning(torch, x, value):
    def assign():
        x.grad = value
    return text_of(assign)


@row('F-16', in_1_13='the texts do not tell what differs')
def assigned(torch):
    x = leaf(torch)
    other = torch.ones(2)
    texts = [assigning(torch, x, value) for value in (torch.ones(3), torch.ones(2, 1), torch.ones(2, dtype=torch.float64),
                                                      torch.ones(2, dtype=torch.int64), x, None, 5, [1.],
                                                      torch.ones(2, device='meta'), other)]
    return texts + [x.grad is other]


@row('F-16')
def deleted(torch):
    x = leaf(torch)
    x.sum().backward()
    del x.grad
    return [x.grad, text_of(lambda: (x * 2).sum().backward()), x.grad.tolist()]


@row('F-17')
def data_of_another_type(torch):
    x = leaf(torch)
    first = accumulator(x * 2)
    x.data = torch.full((2,), 2.)
    same = accumulator(x * 2)
    x.data = torch.full((2,), 3., dtype=torch.float64)
    second = accumulator(x * 2)
    (x * 2).sum().backward()
    return [same is first, second is first, str(x.grad.dtype), x.grad.tolist()]
