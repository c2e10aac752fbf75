# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases of Module for test_nn.py."""
import collections
import copy
import warnings

from cases import case, graph_of, main, plain, text_of

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.again = self.first
        self.inner = nn.Sequential(collections.OrderedDict(a=nn.Linear(3, 3), b=nn.ReLU(), norm=nn.BatchNorm1d(3)))
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer('count', torch.zeros(1))
        self.register_buffer('scratch', torch.zeros(1), persistent=False)
        self.register_parameter('nothing', None)
        self.tied = self.scale

    def forward(self, x, factor=1.0):
        return self.inner(self.first(x)) * self.scale * factor


@case
def names():
    net = Net()
    return [[n for n, _ in net.named_parameters()], [n for n, _ in net.named_parameters(remove_duplicate=False)],
            [n for n, _ in net.named_parameters('p', recurse=False)], [n for n, _ in net.named_buffers()],
            [n for n, _ in net.named_modules()], [n for n, _ in net.named_modules(remove_duplicate=False)],
            [n for n, _ in net.named_children()], len(list(net.children())), len(list(net.modules())), list(net.state_dict()),
            list(net.state_dict(prefix='p.')), repr(net), 'first' in dir(net), type(net.parameters()).__name__]


@case
def by_name():
    net = Net()
    net.set_submodule('inner.b', nn.Tanh())
    net.set_submodule('other', nn.ReLU())
    return [repr(net.get_submodule('inner.a')), net.get_submodule('') is net, net.get_parameter('inner.a.bias') is net.inner.a.bias,
            net.get_buffer('inner.norm.running_var'), repr(net), *map(text_of, (
                lambda: net.get_submodule('inner.x'), lambda: net.get_submodule('scale'), lambda: net.get_parameter('count'),
                lambda: net.get_buffer('scale'), lambda: net.set_submodule('', nn.ReLU()), lambda: net.set_submodule('a', 3),
                lambda: net.set_submodule('scale', nn.ReLU()), lambda: net.set_submodule('nope', nn.ReLU(), strict=True)))]


@case
def attributes():
    net, seen = Net(), []

    def tell(call):
        seen.append([text_of(call), sorted(net._parameters), sorted(net._buffers), sorted(net._modules)])
    tell(lambda: setattr(net, 'scale', torch.ones(3)))
    tell(lambda: setattr(net, 'scale', None))
    tell(lambda: setattr(net, 'first', 3))
    tell(lambda: setattr(net, 'first', nn.ReLU()))
    tell(lambda: setattr(net, 'count', 'a'))
    tell(lambda: setattr(net, 'count', torch.ones(2)))
    tell(lambda: setattr(net, 'count', nn.Parameter(torch.ones(2))))
    tell(lambda: setattr(net, 'plain', 3))
    tell(lambda: setattr(net, 'plain', nn.Parameter(torch.ones(1))))
    tell(lambda: setattr(net, 'kept', nn.Buffer(torch.ones(1))))
    tell(lambda: setattr(net, 'lost', nn.Buffer(torch.ones(1), persistent=False)))
    tell(lambda: delattr(net, 'plain'))
    tell(lambda: delattr(net, 'inner'))
    tell(lambda: delattr(net, 'nope'))
    tell(lambda: net.nope)
    tell(lambda: net.register_buffer('a.b', None))
    tell(lambda: net.register_buffer('', None))
    tell(lambda: net.register_buffer(3, None))
    tell(lambda: net.register_buffer('b', 3))
    tell(lambda: net.register_buffer('forward', None))
    tell(lambda: net.register_parameter('a.b', None))
    tell(lambda: net.register_parameter('p', torch.ones(1)))
    tell(lambda: net.register_parameter('first', None))
    tell(lambda: net.add_module('a.b', None))
    tell(lambda: net.add_module('m', 3))
    tell(lambda: net.add_module('scale', nn.ReLU()))
    tell(lambda: net.add_module('more', nn.ReLU()))
    tell(lambda: nn.Module(3))
    tell(lambda: nn.Module(a=3))
    tell(lambda: net.train(3))
    tell(lambda: nn.Module()(3))
    return [*seen, list(net.state_dict())]


class Early(nn.Module):
    def __init__(self, what):
        self.a = what


@case
def before_init():
    return [text_of(lambda: Early(what)) for what in (nn.Parameter(torch.ones(1)), nn.ReLU(), 3)]


@case
def states():
    net, other = Net(), Net()
    keys = other.load_state_dict(net.state_dict())
    state = net.state_dict()
    seen = [repr(keys), plain(other.state_dict()) == plain(state), [v.requires_grad for v in net.state_dict(keep_vars=True).values()],
            {k: dict(v) for k, v in state._metadata.items()}, type(state).__name__]
    short = {k: v for k, v in state.items() if 'norm' not in k}
    seen += [text_of(lambda: other.load_state_dict(short)), list(other.load_state_dict(short, strict=False)),
             repr(other.load_state_dict({**state, 'more': 1, 'inner.x.y': 2}, strict=False))]
    try:
        other.load_state_dict({**short, 'scale': torch.ones(4), 'more': torch.ones(1), 'count': 3})
    except RuntimeError as error:
        seen.append(str(error))
    state['count'] = torch.tensor(3.0)
    seen += [text_of(lambda: other.load_state_dict(state)), text_of(lambda: other.load_state_dict(3))]
    mine = other.first.weight
    other.load_state_dict(net.state_dict(), assign=True)
    return [*seen, other.first.weight is mine, other.first.weight.requires_grad, other.state_dict(prefix='a.', keep_vars=True)]


@case
def state_hooks():
    net, seen = Net(), []
    net.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append(['pre', prefix, keep]))
    net.register_state_dict_post_hook(lambda module, state, prefix, local: seen.append(['post', len(state), prefix, dict(local)]))
    net.inner.register_load_state_dict_pre_hook(lambda module, state, prefix, *rest: seen.append(['load', prefix, sorted(state)]))
    net.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    net.load_state_dict({k: v for k, v in net.state_dict().items() if k != 'count'})
    return seen


class Extra(nn.Module):
    def get_extra_state(self):
        return {'a': 1}

    def set_extra_state(self, state):
        self.got = state


@case
def extra_state():
    net = nn.Sequential(Extra(), nn.Linear(1, 1))
    state = net.state_dict()
    net.load_state_dict(state)
    del state['0._extra_state']
    return [list(net.state_dict()), net[0].got, text_of(lambda: net.load_state_dict(state)),
            text_of(lambda: nn.Linear(1, 1).load_state_dict({'weight': torch.ones(1, 1), 'bias': torch.ones(1), '_extra_state': 3}))]


@case
def conversions():
    net = Net()
    weight = net.first.weight
    net(torch.ones(2, 2)).sum().backward()
    grad = weight.grad
    seen = []
    for convert in (lambda: net.double(), lambda: net.to(torch.float32), lambda: net.to('cpu', torch.float64), lambda: net.float(),
                    lambda: net.to(torch.ones(1, dtype=torch.float64)), lambda: net.to(dtype=torch.float32, device='cpu'), lambda: net.cpu(),
                    lambda: net.type(torch.float64)):
        seen += [convert() is net, net.first.weight is weight, net.again is net.first, net.tied is net.scale, str(weight.dtype),
                 str(weight.grad.dtype), str(net.inner.norm.num_batches_tracked.dtype), str(net.count.dtype), weight.is_leaf]
    return [*seen, text_of(lambda: net.to(torch.int64)), grad.shape, net(torch.ones(2, 2, dtype=torch.float64)).dtype]


@case
def optimizer_survives_a_move():
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    net.to('cpu')
    before = net.weight.sum().item()
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return [before, net.weight.sum()]


@case
def modes():
    net = Net()
    net.inner.eval()
    seen = [m.training for m in net.modules()]
    net.train()
    net.requires_grad_(False)
    frozen = [p.requires_grad for p in net.parameters()]
    order = []
    net.apply(lambda module: order.append(type(module).__name__))
    net.requires_grad_()
    net(torch.ones(2, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    zeros = [p.grad.abs().sum() for p in net.parameters() if p.grad is not None]
    net.zero_grad()
    return [seen, frozen, order, zeros, [p.grad for p in net.parameters()]]


@case
def copies():
    net = Net()
    other = copy.deepcopy(net)
    return [other.tied is other.scale, other.again is other.first, plain(other.state_dict()) == plain(net.state_dict()),
            other.first.weight is net.first.weight, repr(other) == repr(net)]


@case
def forward_hooks():
    net, seen = Net(), []
    x = torch.ones(2, 2)
    with torch.no_grad():
        for p in net.parameters():
            p.fill_(0.5)
    handles = [net.register_forward_pre_hook(lambda m, args: seen.append('pre')),
               net.register_forward_pre_hook(lambda m, args, kwargs: (args, {**kwargs, 'factor': 3.0}), with_kwargs=True),
               net.register_forward_pre_hook(lambda m, args: seen.append('first'), prepend=True),
               net.register_forward_hook(lambda m, args, out: seen.append(out.sum().item())),
               net.register_forward_hook(lambda m, args, kwargs, out: seen.append(sorted(kwargs)) or out * 2, with_kwargs=True),
               net.register_forward_hook(lambda m, args, out: seen.append('always'), always_call=True, prepend=True)]
    seen.append(net(x, factor=1.0))
    seen.append(text_of(lambda: net(x, 1.0, 2.0)))
    for handle in handles:
        handle.remove()
    seen += [len(net._forward_hooks), len(net._forward_pre_hooks_with_kwargs)]
    with net.register_forward_pre_hook(lambda m, args: 3):
        seen.append(text_of(lambda: net(x)))
    net.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    return [*seen, text_of(lambda: net(x))]


@case
def hooks_of_all_modules():
    from torch.nn.modules import module as m
    seen = []
    handles = [m.register_module_forward_pre_hook(lambda mod, args: seen.append(['pre', type(mod).__name__])),
               m.register_module_forward_hook(lambda mod, args, out: seen.append(['post', type(mod).__name__])),
               m.register_module_full_backward_pre_hook(lambda mod, grad: seen.append(['back', type(mod).__name__])),
               m.register_module_full_backward_hook(lambda mod, gi, go: seen.append(['backward', type(mod).__name__])),
               m.register_module_parameter_registration_hook(lambda mod, name, p: seen.append([name])),
               m.register_module_buffer_registration_hook(lambda mod, name, p: seen.append([name])),
               m.register_module_module_registration_hook(lambda mod, name, child: seen.append([name]))]
    x = torch.ones(1, 2, requires_grad=True)
    out = nn.Sequential(nn.Linear(2, 1), nn.Tanh())(x)
    out.sum().backward()
    nn.BatchNorm1d(2)
    for handle in handles:
        handle.remove()
    nn.Linear(1, 1)(torch.ones(1, 1))
    return [seen, graph_of(out)]


@case
def backward_hooks():
    net, seen = nn.Sequential(nn.Linear(2, 2), nn.Tanh()), []
    net.register_full_backward_pre_hook(lambda m, go: seen.append('pre') or (go[0] * 2,))
    net[0].register_full_backward_hook(lambda m, gi, go: seen.append('second'))
    net[0].register_full_backward_hook(lambda m, gi, go: seen.append('first'), prepend=True)
    net[1].register_backward_hook(lambda m, gi, go: seen.append([len(gi), len(go)]))
    out = net(torch.ones(1, 2, requires_grad=True))
    out.sum().backward()
    return [seen, text_of(lambda: net[1].register_full_backward_hook(print)), text_of(lambda: net[0].register_backward_hook(print))]


@case
def backward_hooks_without_gradients():
    net, seen = nn.Linear(2, 2), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append(gi[0] is None))
    with torch.no_grad():
        quiet = net(torch.ones(1, 2, requires_grad=True)).requires_grad
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter('always')
        net(torch.ones(1, 2)).sum().backward()
    return [quiet, seen, [str(w.message)[:60] for w in told]]


@case
def backward_hooks_that_return_no_tuple():
    net, x = nn.Tanh(), torch.ones(3, 2, requires_grad=True)
    errors = []
    for register in (net.register_full_backward_hook, net.register_full_backward_pre_hook):
        handle = register(lambda m, *grads: grads[0][0])
        errors.append(text_of(lambda: net(x).sum().backward()))
        handle.remove()
    return errors


@case
def lists():
    items = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])
    items += [nn.Tanh()]
    items.insert(1, nn.Sigmoid())
    items[0] = nn.Linear(2, 1)
    del items[-1]
    items.append(nn.Tanh()).extend([nn.ReLU(), nn.ReLU()])
    more = items + nn.ModuleList([nn.GELU()])
    popped = items.pop(0)
    return [repr(items), len(more), repr(more), repr(popped), repr(items[1:]), repr(items[-1]), nn.ReLU in map(type, items), repr(nn.ModuleList()),
            repr(nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])), text_of(lambda: items[9]), text_of(lambda: items.extend(3)),
            text_of(lambda: items.append(3)), text_of(lambda: items(3)), [n for n, _ in items.named_modules()]]


@case
def sequentials():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    net.append(nn.Tanh()).extend([nn.ReLU()]).insert(0, nn.Sigmoid())
    del net[1]
    both = net + nn.Sequential(nn.GELU())
    net *= 2
    return [repr(net), repr(both), repr(net * 2), repr(net[1:3]), repr(net[-1]), len(net), text_of(lambda: net.insert(99, nn.ReLU())),
            text_of(lambda: net[100]), text_of(lambda: net + 3), list(both.state_dict())]


@case
def dicts():
    items = nn.ModuleDict({'a': nn.ReLU(), 'b': nn.Linear(1, 1)})
    items['c'] = nn.Tanh()
    items.update({'d': nn.ReLU(), 'a': nn.GELU()})
    items.update([['e', nn.ReLU()]])
    del items['c']
    popped = items.pop('d')
    return [repr(items), list(items), list(items.keys()), [type(v).__name__ for v in items.values()], [k for k, _ in items.items()],
            'a' in items, len(items), repr(popped), text_of(lambda: items.update(3)), text_of(lambda: items.update([[1, 2, 3]])),
            items.clear(), len(items)]


@case
def parameter_lists():
    items = nn.ParameterList([torch.ones(2), nn.Parameter(torch.ones(1, 2))])
    items += [nn.Parameter(torch.zeros(1))]
    items.append(torch.ones(3)).extend([torch.ones(1)])
    items[0] = nn.Parameter(torch.zeros(2))
    table = nn.ParameterDict({'a': torch.ones(2), 'b': nn.Parameter(torch.ones(1))})
    table['c'] = torch.ones(3)
    table.update({'d': torch.zeros(1)})
    del table['a']
    other = table.copy()
    return [repr(items), len(items), items[0], items[-1], repr(items[1:3]), list(items.state_dict()), repr(table), list(table), len(other),
            'b' in table, [k for k, _ in table.items()], list(table.state_dict()), table.get('x'), table.get('b'), table.pop('b'),
            list(table.keys()), text_of(lambda: items[9]), table.setdefault('z', torch.ones(1)), repr(table | nn.ParameterDict({'y': torch.ones(1)})),
            isinstance(items[0], nn.Parameter)]


if __name__ == '__main__':
    main()
