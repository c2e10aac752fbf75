# SPDX-License-Identifier: LGPL-2.1-or-later
"""Inference mode beside everything else that autograd does."""
import threading

from harness import row, text_of


def inference(torch, *shape):
    with torch.inference_mode():
        return torch.ones(*shape or (2, 2))


def kinds(torch, tensors):
    """Per tensor: is it an inference tensor, does it require grad, is it a leaf, a view."""
    return [[t.is_inference(), t.requires_grad, t.is_leaf, t._is_view()] for t in tensors]


@row('R-11')
def what_is_made_inside(torch):
    x = torch.ones(2, 2, requires_grad=True)
    n = torch.ones(2, 2)
    with torch.inference_mode():
        made = [torch.ones(2), torch.ones(2, requires_grad=True), x * 2, n * 2, x[0], n[0], x.view(4), x.detach(), n.data, x.clone(),
                x.reshape(4), n.t(), n.exp()[0]]
        inside = kinds(torch, made)
        modes = [torch.is_inference_mode_enabled(), torch.is_grad_enabled()]
    return [inside, kinds(torch, made), modes, torch.is_inference_mode_enabled(), torch.is_grad_enabled(), x.is_inference()]


@row('R-11')
def inference_tensors_outside(torch):
    i = inference(torch)
    x = torch.ones(2, 2, requires_grad=True)
    made = [i, i * 2, i[0], i.view(4), i.clone(), i.detach(), i.data, i + x, i.sum(), torch.cat([i, i]), i.t(), i.contiguous()]
    return [kinds(torch, made), (i + x).grad_fn.name(), i[0]._base is None]


@row('R-11')
def versions(torch):
    i, n = inference(torch), torch.ones(2, 2)
    with torch.inference_mode():
        n.add_(1)
        n[0].mul_(2)
        i.add_(1)
        inside = [n._version, text_of(lambda: i._version), i.tolist()]
    n.add_(1)
    return [inside, n._version, text_of(lambda: i._version), text_of(lambda: i[0]._version)]


@row('R-11')
def writes(torch):
    i, r = inference(torch), torch.ones(2, 2, requires_grad=True)
    v = i[0]
    refused = [text_of(call) for call in (
        lambda: i.add_(1), lambda: i.mul_(r), lambda: v.zero_(), lambda: i.view(4).copy_(torch.ones(4)), lambda: i.__setitem__(0, 1.),
        lambda: i.fill_(2), lambda: torch.add(torch.ones(2, 2), 1, out=i))]
    fine = torch.zeros(2, 2)
    fine.copy_(i.clone())
    with torch.no_grad():
        refused.append(text_of(lambda: i.add_(1)))
    i.clone().add_(1)
    return [refused, fine._version, fine.is_inference()]


@row('R-11')
def writes_inside(torch):
    """Nothing is tracked: leaves that require grad and views of them may be written into."""
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 2
    v = y[0]
    with torch.inference_mode():
        x.add_(1)
        y.mul_(2)
        v.add_(1)
        w = y[1]
        w.zero_()
        inside = [x.is_leaf, y.grad_fn.name(), w.is_inference(), w._is_view()]
    return [inside, x._version, y._version, v._version, x.tolist(), y.tolist(), v.grad_fn.name(), y.grad_fn.name(),
            text_of(lambda: w.add_(1))]


@row('R-11')
def requires_grad(torch):
    i = inference(torch)

    def assign():
        i.requires_grad = True
    texts = [text_of(i.requires_grad_), text_of(assign)]
    with torch.inference_mode():
        i.requires_grad_()
    return texts + [i.requires_grad, text_of(lambda: i * 2), i.clone().requires_grad, text_of(lambda: i.requires_grad_(False))]


@row('R-11', in_1_13='a shorter text for what cannot be saved')
def in_a_graph(torch):
    i = inference(torch)
    x = torch.ones(2, 2, requires_grad=True)
    y = x + i  # nothing is saved
    y.sum().backward()
    z = x * i.clone()
    z.sum().backward()
    with torch.no_grad():
        u = x * i
    return [x.grad.tolist(), x.grad.is_inference(), u.requires_grad, text_of(lambda: x * i), text_of(lambda: x @ i),
            text_of(lambda: x / i), text_of(lambda: (x * 2).exp().mul_(i))]


@row('R-11')
def backward_inside(torch):
    x = torch.ones(2, 2, requires_grad=True)
    y = x.exp()
    s = y.sum()
    with torch.inference_mode():
        texts = [text_of(lambda: y.sum().backward())]
        s.backward()
        found = [x.grad.is_inference(), x.grad.requires_grad]
    return [texts, found, x.grad.tolist()]


@row('R-11')
def nested_modes(torch):
    x = torch.ones(2, requires_grad=True)
    found = []

    def look(name):
        y = x * 2
        found.append([name, torch.is_inference_mode_enabled(), torch.is_grad_enabled(), y.requires_grad, y.is_inference()])
    with torch.inference_mode():
        look('in')
        with torch.inference_mode(False):
            look('out again')
            with torch.inference_mode():
                look('in again')
        with torch.enable_grad():
            look('grad')
        with torch.no_grad():
            look('no grad')
        look('in')
    with torch.no_grad():
        with torch.inference_mode(False):
            look('not at all')
        look('no grad')
    with torch.inference_mode(False):
        look('off')
    look('outside')
    return found


@row('R-11')
def as_decorator(torch):
    x = torch.ones(2, requires_grad=True)

    @torch.inference_mode()
    def inside(t):
        return t * 2

    @torch.inference_mode(mode=False)
    def outside(t):
        return t * 2

    with torch.inference_mode():
        other = outside(x)
    return kinds(torch, [inside(x), other]) + [torch.is_inference_mode_enabled()]


@row('R-11')
def mode_after_an_error(torch):
    def fail():
        with torch.inference_mode():
            raise ValueError('no')
    return [text_of(fail), torch.is_inference_mode_enabled(), torch.is_grad_enabled()]


@row('R-11')
def mode_is_a_threads_own(torch):
    found = []
    with torch.inference_mode():
        thread = threading.Thread(target=lambda: found.append([torch.is_inference_mode_enabled(), torch.ones(2).is_inference()]))
        thread.start()
        thread.join()
    return found


@row('R-11')
def views_of_ordinary_tensors(torch):
    """A view that is made inside of a tensor from outside is no inference tensor, and remembers where it was made."""
    x = torch.ones(2, 2, requires_grad=True).clone()
    n = torch.ones(2, 2)
    with torch.inference_mode():
        v, w = x.view(4), n[0]
        u = v[1:]
    found = kinds(torch, [v, w, u]) + [w._base is n, u._base is x]
    w.add_(1)
    return found + [w._version, text_of(lambda: v.add_(1)), text_of(lambda: u.add_(1)), text_of(lambda: w.add_(x[0])),
                    (v * 2).requires_grad]
