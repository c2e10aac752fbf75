# SPDX-License-Identifier: LGPL-2.1-or-later
"""E: input buffers: what is moved in, what is added to what, and what comes from the wrong device."""
from harness import row, text_of


def passing(torch, seen=None, give=lambda g: g):
    """x -> a copy; the gradient goes through as give(gradient) and is noted."""
    class Pass(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if seen is not None:
                seen.append(g.data_ptr())
            return give(g)
    return Pass.apply


@row('E-04', expect=[1.0, 0.0])
def sums_are_made_in_the_order_of_arrival(torch):
    def gradient(*factors):
        x = torch.ones(1, requires_grad=True)
        y = x * 1
        sum((y * factor for factor in factors), torch.zeros(1)).backward()
        return x.grad.item()
    return [gradient(1, 1e8, -1e8), gradient(-1e8, 1e8, 1)]


@row('E-05', expect=True)
def the_first_is_moved(torch):
    seen, made = [], []

    def give(g):
        made.append(torch.full(g.shape, 2.0))
        return made[-1]
    x = torch.ones(3, requires_grad=True)
    passing(torch, give=give)(passing(torch, seen)(x)).sum().backward()
    return seen == [made[0].data_ptr()]


def where_sums_are_made(torch, held):
    """Two gradients of one node: whose memory its sum is in. `held`: somebody else holds them too."""
    seen, kept, addresses = [], [], []

    def give(value):
        def gradient(g):
            made = torch.full(g.shape, value)
            addresses.append(made.data_ptr())
            if held:
                kept.append(made)
            return made
        return gradient
    x = torch.ones(1000, requires_grad=True)
    y = passing(torch, seen)(x)
    (passing(torch, give=give(2.0))(y) + passing(torch, give=give(3.0))(y)).sum().backward()
    return [seen[0] in addresses, x.grad[0].item(), [k[0].item() for k in kept]]


@row('E-06', expect=[True, 5.0, []], expect_1_13=[False, 5.0, []], in_1_13='sums are always new tensors')
def into_the_older_where_nobody_else_holds_it(torch):
    return where_sums_are_made(torch, held=False)


@row('E-06', expect=[False, 5.0, [3.0, 2.0]])
def not_where_somebody_does(torch):
    return where_sums_are_made(torch, held=True)


@row('E-06', expect=[[6.0], True])
def not_where_a_graph_is_recorded(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * x
    grad, = torch.autograd.grad(y * 1 + y * 2, x, create_graph=True)
    return [grad.tolist(), grad.requires_grad]


@row('E-07', expect=[[2.0, 2.0], [2.0, 2.0]])
def gradients_of_the_caller_stay_as_they_are(torch):
    x = torch.ones(2, requires_grad=True)
    out, given = x * 2, torch.full((2,), 2.0)
    torch.autograd.backward([out, out.clone(), out], [given, given, given])
    again = torch.full((2,), 2.0)
    torch.autograd.grad([x * 1, x * 1], x, [again, again])
    return [given.tolist(), again.tolist()]


@row('E-08', expect=[[34.0, 34.0], [17.0, 17.0]])
def one_gradient_along_two_edges(torch):
    """Upstream's test_backward_copy: add hands one tensor to both sides, and each is summed with another later."""
    x, y = (torch.ones(2, requires_grad=True) for _ in 'xy')
    a, b, c = x + 2, y + 2, x + 2
    both = a + b + c
    for _ in range(4):  # a long branch: the gradients of the short one wait in buffers
        a, b, c = a * 2, b * 2, c * 2
    (both + (a + b + c)).backward(torch.ones(2))
    return [x.grad.tolist(), y.grad.tolist()]


@row('E-13', expect=['RuntimeError: Function PassBackward returned an invalid gradient at index 0 - expected device cpu but '
                     'got meta', [3.0, 3.0]])
def a_gradient_on_another_device(torch):
    x = torch.ones(2, requires_grad=True)
    text = text_of(passing(torch, give=lambda g: torch.ones(2, device='meta'))(x).sum().backward)
    (x * 3).sum().backward()
    return [text, x.grad.tolist()]
