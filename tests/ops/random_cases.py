# SPDX-License-Identifier: LGPL-2.1-or-later
"""The script that compare_random.py runs on each engine: what is drawn for each kind of random number. It prints all."""
import torch

generator = torch.Generator()


def show(name, result):
    print(name, result.dtype, result.tolist())


def refused(call):
    try:
        return call()
    except (RuntimeError, ValueError, TypeError) as error:
        return f'{type(error).__name__}: {error}'


def fill(dtype):
    for name, *args in (('exponential_',), ('exponential_', 2), ('geometric_', 0.3), ('log_normal_',), ('cauchy_', 1, 2),
                        ('bernoulli_', 0.4), ('random_',), ('random_', 10), ('random_', -5, 7), ('uniform_', -1, 2),
                        ('normal_', 1, 3)):
        for n in (7, 40):
            show(name, getattr(torch.empty(n, dtype=dtype), name)(*args, generator=generator))


def sample(dtype):
    few, many = torch.tensor([1., 2, 3], dtype=dtype), torch.tensor([.1, .2, .3] * 7, dtype=dtype)
    show('bernoulli', torch.bernoulli(many, generator=generator))
    show('bernoulli_', torch.empty(21).bernoulli_(many, generator=generator))
    show('poisson', torch.poisson(torch.tensor([0., .5, 3, 9, 11, 30, 200] * 5, dtype=dtype), generator=generator))
    show('normal', torch.normal(many * 10, many, generator=generator))
    show('normal', torch.normal(few, 2., generator=generator))
    show('normal', torch.normal(1., few, generator=generator))
    show('normal', torch.normal(1., 2., (3,), generator=generator, dtype=dtype))
    weights = torch.tensor([.1, .2, .0, 3, .4, .5], dtype=dtype)
    rows = torch.stack([weights, weights * 2])
    for args in ((weights, 3), (weights, 1), (weights, 20, True), (rows, 5), (rows, 7, True)):
        show('multinomial', torch.multinomial(*args, generator=generator))
    show('rand', torch.rand(size=(17, 2), generator=generator, dtype=dtype))
    show('randn', torch.randn(3, 7, generator=generator, dtype=dtype))


def integers():
    for dtype in (torch.int64, torch.int32, torch.bool):
        show('random_', torch.empty(5, dtype=dtype).random_(generator=generator))
    show('randperm', torch.randperm(13, generator=generator))
    for args in ((7, (5,)), (-7, 7, (5, 2)), (0, 2**40, (5,)), (2**27, (3,)), (2**29, (3,))):
        show('randint', torch.randint(*args, generator=generator))
    show('randint', torch.randint(low=0, high=9, size=(5,), generator=generator, dtype=torch.float32))
    torch.manual_seed(4)
    show('randint_like', torch.randint_like(torch.zeros(4), 5))
    show('dropout', torch.nn.functional.dropout(torch.ones(20), .4))


def state():
    before = generator.get_state()
    drawn = torch.rand(700, generator=generator).tolist()
    print(generator.set_state(before) is generator or 'returns itself from PyTorch 1.13 on')
    print(drawn == torch.rand(700, generator=generator).tolist(), generator.device)
    print(before.numel(), before.tolist() == generator.get_state().tolist())
    torch.randn(1, generator=generator.manual_seed(1))
    print(generator.get_state().tolist())
    with torch.random.fork_rng():
        torch.rand(5)
    show('rand', torch.rand(2))
    print(torch.manual_seed(5) is torch.default_generator, torch.initial_seed(), generator.initial_seed())
    print(torch.manual_seed(-2).initial_seed(), torch.seed() == torch.initial_seed())


CALLS = '''
torch.randint(5, 2, (2,)) | torch.multinomial(torch.tensor([1., -1]), 1) | torch.multinomial(torch.tensor([0., 0]), 1) | torch.multinomial(torch.tensor([1., 1]), 3)
torch.multinomial(torch.tensor([1, 1]), 1) | torch.multinomial(torch.tensor([1., 1]), 0) | torch.multinomial(torch.tensor(1.), 1) | torch.empty(2).bernoulli_(3.)
torch.normal(torch.zeros(2), -1.) | torch.empty(2).normal_(0, -1) | torch.empty(2).uniform_(2, 1) | torch.empty(2).random_(3, 3) | torch.empty(2).random_(0)
torch.normal(torch.zeros(2), torch.ones(3)) | torch.poisson(torch.tensor([-1.])) | torch.randperm(-1) | generator.set_state(torch.zeros(4))
'''
NODES = '''
torch.bernoulli(x) | torch.normal(x, 1.) | torch.normal(x, x) | torch.normal(0., x) | torch.poisson(x) | x.clone().exponential_() | x.clone().bernoulli_() | x.clone().random_()
x.clone().bernoulli_(x) | x.clone().geometric_(.5) | x.clone().cauchy_() | x.clone().log_normal_() | x.clone().random_(3) | x.clone().random_(1, 3) | x.clone().uniform_() | x.clone().normal_()
'''


def nodes(call):
    x = torch.full((3,), .5, requires_grad=True)
    result = eval(call, {**globals(), 'x': x})
    result.sum().backward()
    print(call, result.grad_fn.name(), [node and node.name().split('::')[-1] for node, _ in result.grad_fn.next_functions], x.grad)


print(generator.initial_seed())
for kind in (torch.float32, torch.float64):
    generator.manual_seed(3)
    fill(kind)
    sample(kind)
integers()
state()
for row in CALLS.replace('\n', ' | ').split(' | '):
    if row:
        print(row, refused(lambda: eval(row)))
for row in NODES.replace('\n', ' | ').split(' | '):
    if row:
        nodes(row)
