# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random programs for fuzz_run.py. The generator knows the shapes of its variables, so that most steps work; what does
not is compared by its error text."""
import random

UNARY = ('neg sin cos tanh sigmoid relu abs exp sqrt log square clone contiguous').split()
BINARY = 'add sub mul safe_div where'.split()
FINE_FUNCTIONS = 'double nested nested_grad nested_deep nested_failing callback'.split()
ODD_FUNCTIONS = 'fail none too_many wrong_shape wrong_class single constant'.split()
SHAPES = [[2, 3], [2, 3], [3, 3], [3], [1], [2, 1], []]


def size(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def broadcast(a, b):
    """The shape of a + b, or None."""
    a, b = [1] * (len(b) - len(a)) + a, [1] * (len(a) - len(b)) + b
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):
        return None
    return [max(x, y) for x, y in zip(a, b)]


class Generator:
    def __init__(self, seed, shared=None):
        self.random = random.Random(seed)
        self.steps, self.shapes, self.leaves, self.hooks = [], {}, [], []
        self.n = 0 if shared is None else 1000 * (1 + seed % 7)
        if shared:
            self.shapes.update(shared.shapes)
            self.leaves = list(shared.leaves)

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, fits=lambda shape: True):
        """A variable whose shape fits, the later the likelier; or None."""
        names = [name for name, shape in self.shapes.items() if fits(shape)]
        if not names:
            return None
        return names[max(self.random.randrange(len(names)), self.random.randrange(len(names)))]

    def emit(self, do, names, shapes=(), **more):
        """Adds a step; `shapes` are its results'."""
        out = f's{self.n}'
        self.n += 1
        step = {'do': do, 'in': list(names), 'out': out, **more}
        if self.chance(0.03) and do not in ('backward', 'grad', 'leaf'):
            step['no_grad'] = True
        self.steps.append(step)
        if len(shapes) == 1:
            self.shapes[out] = shapes[0]
        for i, shape in enumerate(shapes if len(shapes) > 1 else ()):
            self.shapes[f'{out}.{i}'] = shape
        return out

    def leaf(self, shape=None):
        shape = self.random.choice(SHAPES) if shape is None else shape

        def data(shape):
            if not shape:
                return self.random.choice([-1, 1]) * self.random.randint(1, 16) / 8
            return [data(shape[1:]) for _ in range(shape[0])]
        name = self.emit('leaf', [], [shape], data=data(shape), requires_grad=not self.chance(0.15),
                         single=self.chance(0.1))
        self.leaves.append(name)
        return name

    # Each adds a step or two.

    def unary(self):
        a = self.pick()
        self.emit(self.random.choice(UNARY), [a], [self.shapes[a]])

    def scalar(self):
        a = self.pick()
        self.emit(self.random.choice(['add_scalar', 'mul_scalar', 'rsub', 'div_scalar']), [a], [self.shapes[a]],
                  value=self.random.choice([2, 0.5, -1, 3]))

    def binary(self):
        a = self.pick()
        b = self.pick(lambda shape: broadcast(self.shapes[a], shape) is not None)
        if self.chance(0.02):
            b = self.pick()
        shape = broadcast(self.shapes[a], self.shapes[b])
        self.emit(self.random.choice(BINARY), [a, b], [] if shape is None else [shape])

    def reduce(self):
        a = self.pick()
        shape = self.shapes[a]
        if not shape or self.chance(0.4):
            return self.emit(self.random.choice(['sum', 'mean']), [a], [[]])
        dim, keep = self.random.randrange(len(shape)), self.chance(0.5)
        if self.chance(0.2):
            return self.emit('softmax', [a], [shape], dim=dim)
        reduced = shape[:dim] + ([1] if keep else []) + shape[dim + 1:]
        self.emit('sum_dim', [a], [reduced], dim=dim, keep=keep)

    def shape(self):
        a = self.pick()
        shape, what = self.shapes[a], self.random.choice(
            ['reshape', 'view', 't', 'unsqueeze', 'squeeze', 'expand', 'select', 'slice', 'narrow', 'transpose'])
        if what in ('t', 'transpose') and len(shape) == 2:
            self.emit(what, [a], [shape[::-1]])
        elif what in ('view', 'reshape'):
            self.emit(what, [a], [[size(shape)]], shape=[size(shape)])
        elif what == 'unsqueeze' and len(shape) < 3:
            self.emit(what, [a], [[1] + shape], dim=0)
        elif what == 'squeeze':
            self.emit(what, [a], [[d for d in shape if d != 1]])
        elif what == 'expand' and len(shape) < 3:
            self.emit(what, [a], [[2] + shape], shape=[2] + shape)
        elif what == 'select' and shape:
            self.emit(what, [a], [shape[1:]], index=self.random.randrange(shape[0]))
        elif what == 'slice' and shape and shape[0] > 1:
            self.emit(what, [a], [[shape[0] - 1] + shape[1:]], **{'from': 1, 'to': shape[0]})
        elif what == 'narrow' and shape:
            self.emit(what, [a], [[1] + shape[1:]], dim=0, start=shape[0] - 1, length=1)

    def join(self):
        a = self.pick(lambda shape: len(shape) > 0)
        if a is None:
            return
        b = self.pick(lambda shape: shape == self.shapes[a])
        shape = self.shapes[a]
        if self.chance(0.5):
            self.emit('cat', [a, b], [[shape[0] * 2] + shape[1:]])
        else:
            self.emit('stack', [a, b], [[2] + shape])

    def product(self):
        a = self.pick(lambda shape: len(shape) == 2)
        b = a and self.pick(lambda shape: len(shape) == 2 and shape[0] == self.shapes[a][1])
        if b:
            self.emit('mm', [a, b], [[self.shapes[a][0], self.shapes[b][1]]])

    def several(self):
        a = self.pick(lambda shape: len(shape) > 0 and shape[0] > 1)
        if not a:
            return
        shape = self.shapes[a]
        what = self.random.choice(['chunk', 'split', 'unbind', 'two', 'two_plain'])
        half = -(-shape[0] // 2)
        results = {'chunk': [[half] + shape[1:], [shape[0] - half] + shape[1:]], 'split': [[1] + shape[1:]] * shape[0],
                   'unbind': [shape[1:]] * shape[0]}.get(what, [shape, shape])
        self.emit(what, [a], results)

    def function(self):
        a = self.pick()
        if self.chance(0.2):
            b = self.pick(lambda shape: shape == self.shapes[a])
            return self.emit('product', [a, b], [self.shapes[a]])
        self.emit(self.random.choice(FINE_FUNCTIONS), [a], [self.shapes[a]])

    def odd_function(self):
        a = self.pick()
        self.emit(self.random.choice(ODD_FUNCTIONS), [a], [self.shapes[a]])

    def write(self):
        a = self.pick(lambda shape: True)
        what = self.random.choice(['add_', 'mul_', 'add_scalar_', 'mul_scalar_', 'zero_', 'fill_', 'copy_', 'relu_', 'tanh_',
                                   'set_item', 'write'])
        shape = self.shapes[a]
        if what in ('add_', 'mul_', 'copy_'):
            b = self.pick(lambda other: broadcast(shape, other) == shape)
            self.emit(what, [a, b])
        elif what == 'set_item':
            b = self.pick(lambda other: bool(shape) and broadcast(shape[1:], other) == shape[1:])
            if b:
                self.emit(what, [a, b], index=self.random.randrange(shape[0]))
        elif what == 'write':
            self.emit(what, [a], [shape])
        else:
            self.emit(what, [a], value=self.random.choice([2, 0.5, -1]))

    def view_write(self):
        """A view of something that is not a leaf, and a write into one of the two."""
        a = self.pick(lambda shape: len(shape) > 0)
        if not a:
            return
        base = self.emit('mul_scalar', [a], [self.shapes[a]], value=2)
        shape = self.shapes[a]
        view = self.emit('slice', [base], [[1] + shape[1:]], **{'from': 0, 'to': 1})
        for _ in range(self.random.randint(1, 2)):
            target = self.random.choice([base, view, view])
            self.emit(self.random.choice(['mul_scalar_', 'add_scalar_']), [target], value=3)

    def hook(self):
        a = self.pick()
        kind = self.random.choice(['tensor_hook'] * 4 + ['post_hook', 'pre_hook', 'accumulate_hook', 'multi_hook',
                                                        'leaf_hook_backward', 'retain_grad', 'remove_hook'])
        if kind == 'accumulate_hook':
            a = self.random.choice(self.leaves)
        if kind == 'remove_hook':
            if self.hooks:
                self.emit(kind, [], hook=self.random.choice(self.hooks))
            return
        names = [a, self.pick()] if kind == 'multi_hook' else [a]
        returns = self.random.choice(['none', 'none', 'none', 'twice', 'twice', 'same'] +
                                     (['wrong', 'raise'] if self.chance(0.2) else []))
        out = self.emit(kind, names, returns=returns)
        if kind != 'retain_grad':
            self.hooks.append(out)

    def change_leaf(self):
        leaf = self.random.choice(self.leaves)
        if self.chance(0.5):
            self.emit('clear_grad', [leaf])
        else:
            self.emit('requires_grad_', [self.pick()], value=self.chance(0.7))

    def other(self):
        a = self.pick()
        what = self.random.choice(['detach', 'detach_', 'float', 'double', 'grad_of', 'checkpoint'])
        if what == 'detach_':
            return self.emit(what, [a])
        if what == 'grad_of':
            a = self.random.choice(self.leaves)
        self.emit(what, [a], [self.shapes[a]], reentrant=self.chance(0.5))

    def roots(self):
        names = [self.pick() for _ in range(self.random.choice([1, 1, 1, 2]))]
        gradients = [None if not self.shapes[name] and self.chance(0.8) else self.random.choice([1, 2]) for name in names]
        if self.chance(0.03):
            gradients[0] = None
        return names, gradients

    def inputs(self):
        return [self.pick() if self.chance(0.3) else self.random.choice(self.leaves)
                for _ in range(self.random.randint(1, 2))]

    def keep(self):
        return {'retain': True} if self.chance(0.5) else {'create': True} if self.chance(0.2) else {}

    def backward(self):
        names, gradients = self.roots()
        more = self.keep()
        if self.chance(0.15):
            more['inputs'] = self.inputs()
        self.emit('backward', names, gradients=gradients, **more)

    def grad(self):
        names, gradients = self.roots()
        inputs = self.inputs()
        out = self.emit('grad', names, gradients=gradients, inputs=inputs, unused=self.chance(0.7), **self.keep())
        for i, name in enumerate(inputs if self.steps[-1].get('create') else ()):
            self.shapes[f'{out}.{i}'] = self.shapes[name]


WEIGHTS = [('unary', 8), ('scalar', 6), ('binary', 10), ('reduce', 4), ('shape', 6), ('join', 2), ('product', 2),
           ('several', 3), ('function', 4), ('odd_function', 0.6), ('write', 2.5), ('view_write', 1.5), ('hook', 5),
           ('change_leaf', 1), ('other', 1.5), ('backward', 2.5), ('grad', 2)]


def steps_of(generator, n):
    names, weights = zip(*WEIGHTS)
    for _ in range(n):
        getattr(generator, generator.random.choices(names, weights)[0])()
    for _ in range(generator.random.randint(1, 2)):
        generator.backward()
    return generator.steps


def program(seed):
    """The program of that seed, always the same."""
    shared = Generator(seed)
    for _ in range(shared.random.randint(1, 3)):
        shared.leaf()
    is_threaded = shared.random.random() < 0.1
    for leaf in shared.leaves if is_threaded else ():  # whose AccumulateGrads are there from now on, whoever comes first
        shared.emit('mul_scalar', [leaf], value=2)
    first, shared.steps = shared.steps, []
    if is_threaded:
        threads = [steps_of(Generator(seed * 8 + i, shared), shared.random.randint(3, 8)) for i in range(3)]
        return {'seed': seed, 'shared': first, 'threads': [outcome_alone(steps, shared) for steps in threads]}
    return {'seed': seed, 'shared': first, 'threads': [steps_of(shared, shared.random.randint(3, 20))]}


# What a thread must not do to a shared leaf, lest the outcome be a matter of luck.
UNSHARED = ('clear_grad', 'requires_grad_', 'remove_hook', 'tensor_hook', 'accumulate_hook', 'multi_hook', 'detach_',
            'leaf_hook_backward', 'grad_of', 'set_item', 'write', 'retain_grad')


def outcome_alone(steps, shared):
    """The steps without those that make the outcome a matter of luck: a view of a shared leaf is as shared as the leaf."""
    for step in steps:
        if step['do'] in ('backward', 'grad') and step.pop('create', False):
            step['retain'] = True  # create_graph in several threads at one leaf: PyTorch can deadlock
    return without(steps, shared.leaves, lambda word: word in UNSHARED or word.endswith('_'))


def without(steps, shared, is_meant):
    """The steps without those whose word `is_meant`, and that take one of the tensors `shared` or a view of one."""
    tainted, kept = set(shared), []
    for step in steps:
        touches = any(name in tainted for name in step['in'])
        if touches and is_meant(step['do']):
            continue
        kept.append(step)
        if touches and step['do'] in VIEWS:
            tainted.update([step['out'], *(f'{step["out"]}.{i}' for i in range(8))])
    return kept


VIEWS = ('view reshape t transpose unsqueeze squeeze expand select slice narrow chunk split unbind contiguous detach float double '
         'to write').split()

# Programs for the sanitizers: the outcome may be a matter of luck, but no thread may write elements that another one reads.

DEVICES = [None, 'sim:0', 'sim:1', None]  # where the threads work


def concurrent(seed):
    """A program of threads that run passes through one graph at once, on several devices; always the same."""
    shared = Generator(seed)
    for _ in range(shared.random.randint(1, 2)):
        shared.leaf()
    for _ in range(shared.random.randint(2, 6)):
        getattr(shared, shared.random.choice(['unary', 'binary', 'function', 'scalar', 'several', 'hook']))()
    return {'seed': seed, 'shared': shared.steps, 'switch_interval': 1e-4, 'threads': [
        elements_alone(worker(Generator(seed * 8 + i, shared), device), shared)
        for i, device in enumerate(DEVICES[:shared.random.randint(2, 4)])]}


def worker(generator, device):
    """The steps of a thread that works on the results of the shared graph, as they are or moved to a device."""
    moved = [name for name in generator.shapes if device and name not in generator.leaves]
    for name in moved:
        generator.emit('to', [name], [generator.shapes.pop(name)], device=device)
    return steps_of(generator, generator.random.randint(3, 10))


def elements_alone(steps, shared):
    """The steps without those that write elements of a shared tensor, or read a shared gradient while a pass adds to it."""
    return without(steps, shared.shapes, lambda word: word in ('set_item', 'write', 'grad_of') or
                   word.endswith('_') and word != 'requires_grad_')
