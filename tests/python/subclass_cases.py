# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_cases.py compares: attributes of tensors, and classes that derive from Tensor."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'fixtures'))

import torch
from torch import nn
from torch.nn import functional as F
from seen_cases import case, error_of, main


def kind(value):
    return type(value).__name__


@case
def attributes():
    x = torch.ones(2, requires_grad=True)
    x.label, x.retain = 'mine', [1]
    torch.Tensor.shouted = lambda self: self.label.upper()
    return x.label, x.__dict__, hasattr(x.clone(), 'label'), x.shouted(), error_of(lambda: x.nothing_there) is not None


@case
def results_are_of_the_class():
    class Mine(torch.Tensor):
        pass

    x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
    t, plain = x.as_subclass(Mine), torch.ones(2, 2)
    y = (t * 2).sum()
    y.backward()
    return [kind(value) for value in (
        t, t + 1, 1 - t, 2 * t, t / t, -t, abs(t), t @ t, t ** 2, t == 1, t < 2, t[0], t.sum(), t.t(), t.T, t.data, t.detach(),
        plain + t, plain - t, plain * t, torch.add(t, 1), torch.relu(t), torch.cat([t, t]), torch.stack([plain, t]), F.relu(t),
        F.softmax(t, dim=0), t.max(), t.to(torch.float64), t.unbind()[0], x.grad, y.detach().clone(), t.reshape(4),
        t.shape, t.tolist())] + [plain - t, t.grad_fn.name(), y.grad_fn.name(), isinstance(t, torch.Tensor), x.grad]


@case
def constructors():
    class Mine(torch.Tensor):
        pass

    x = torch.ones(2, requires_grad=True)
    return [kind(Mine(x)), Mine(x).requires_grad, Mine(x).data_ptr() == x.data_ptr(), Mine([1., 2.]), list(Mine(3, 2).shape),
            list(Mine().shape), torch.Tensor([1, 2]), torch.Tensor([[1.5]]), list(torch.Tensor(2, 3).shape),
            list(torch.Tensor(torch.Size([4])).shape), kind(torch.Tensor._make_subclass(Mine, x)), repr(Mine([1., 2.])),
            repr(Mine([[1., 2.], [3., 4.]]))]


@case
def with_arguments():
    class Named(torch.Tensor):
        @staticmethod
        def __new__(cls, data, name):
            return torch.Tensor._make_subclass(cls, torch.as_tensor(data))

        def __init__(self, data, name):
            self.tag = name

        def hello(self):
            return f'{self.tag}: {self.sum().item()}'

    named = Named([1., 2.], 'two')
    return named.tag, named.hello(), kind(named + 1), hasattr(named + 1, 'tag')


@case
def protocol():
    class Logs(torch.Tensor):
        seen = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.seen.append((func.__name__, [one.__name__ for one in types], len(args)))
            return super().__torch_function__(func, types, args, kwargs)

    t = torch.ones(2, 2).as_subclass(Logs)
    Logs.seen.clear()
    results = [t + 1, t.sum(), 1 - t, t * t, t @ t, t[0], torch.exp(t), t.mean(dim=0), t.add_(1)]
    return list(Logs.seen), [kind(result) for result in results]


@case
def refusing_protocol():
    class Closed(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return 'nothing'

    t = torch.ones(2).as_subclass(Closed)
    return t + 1, t.sum(), torch.exp(t)


@case
def derived_twice():
    class First(torch.Tensor):
        pass

    class Second(First):
        pass

    a, b = torch.ones(2).as_subclass(First), torch.ones(2).as_subclass(Second)
    return kind(a + b), kind(b + a), kind(b * 2), isinstance(b, First)


@case
def parameters():
    class Mine(nn.Parameter):
        pass

    module = nn.Module()
    module.p = Mine(torch.ones(2))
    return [kind(module.p), kind(module.p + 1), module.p.requires_grad, [name for name, _ in module.named_parameters()],
            kind(nn.Parameter(torch.ones(1)) * 2), isinstance(module.p, nn.Parameter), kind(module.p.data)]


if __name__ == '__main__':
    main()
