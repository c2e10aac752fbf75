# SPDX-License-Identifier: LGPL-2.1-or-later
"""The script that compare_dtypes.py runs on each engine: operations on every dtype, and on pairs of dtypes.

    dtype_cases.py OUT.json STEP

For every STEP-th row: the dtype, the sizes and the values of the result, or what was printed, or the text of the error. `exact` are
the rows whose texts of errors are compared too, `names` the functions and methods that there are. The standard error names each row before it runs.
"""
import copy
import io
import json
import os
import pickle
import sys
import warnings

import torch
from torch.nn import functional as F  # noqa: F401 (the rows use it)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dtype_rows

warnings.simplefilter('ignore')
FLOATING = 'float32 float64 float16 bfloat16'.split()
DTYPES = FLOATING + 'uint8 int8 int16 int32 int64 bool'.split()
COMPLEX = ['complex64', 'complex128']
STEP = int(sys.argv[2])
NUMBERS = [[1.25, -2.5, 0.3, 3.7, -0.75, 2.0], [0.5, 1.5, -3.3, 2.2, 0.9, -1.1], [0.7, 0.2, 0.9, 0.4, 0.6, 0.1]]


def numbers(dtype, which):
    if dtype in COMPLEX:
        parts = [torch.tensor(NUMBERS[i % 3], dtype=torch.float64) for i in (which, which + 1)]
        return torch.complex(*parts).to(getattr(torch, dtype))
    if dtype == 'bool':
        return torch.tensor([x > 0.6 for x in NUMBERS[which]])
    return torch.tensor(NUMBERS[which]).to(getattr(torch, dtype))


# x and y have six elements, m and n are the same as matrices; p has numbers between 0 and 1.
EACH = '''
-x | x.abs() | x.sign() | x.floor() | x.ceil() | x.round() | x.trunc() | x.frac() | p.exp() | p.log() | p.sqrt() | x.sin() | x.cos() | p.tan() | p.asin()
x.tanh() | x.sigmoid() | x.relu() | x.square() | x.erf() | p.reciprocal() | ~x | x.isnan() | x.any() | x.all() | x.sum() | m.sum(1) | x.mean() | m.mean(0)
x.max() | x.min() | x.argmax() | m.argmin(1) | m.amax(1) | m.max(1)[0] | x.prod() | m.prod(1) | x.norm() | m.norm(3) | x.std() | x.var() | x.cumsum(0)
m.logsumexp(1) | m.nansum(1) | x + y | x - y | x * y | x / y | x ** y | x == y | x < y | x.maximum(y) | x.minimum(y) | x.atan2(y) | x.fmod(y) | x.remainder(y) | x // y
x.nextafter(y) | x.heaviside(y) | x + 2 | x + 0.3 | x + True | x - 2 | x - 0.3 | x - True | x * 2 | x * 0.3 | x * True | x / 2 | x / 0.3 | x ** 2 | x ** 3
p ** 0.3 | x < 0.3 | 2 - x | 0.3 - x | 2 / p | 0.3 / p | x.clone().add_(0.3) | x.clone().sub_(2) | x.clone().mul_(0.3) | x.clone().div_(y) | x.clone().sub_(y)
torch.add(x, y, alpha=2) | torch.add(x, y, alpha=0.3) | torch.lerp(x, y, 0.3) | torch.addcmul(x, y, y, value=2) | x.clamp(0, 1) | x.clamp(-0.4, 1.1)
m @ n | torch.addmm(x[:2], m, n) | torch.addmm(x[:2], m, n, beta=2, alpha=3) | torch.bmm(m[None], n[None]) | m.mv(x[:3]) | x.dot(y) | torch.outer(x, y)
F.linear(m, m, x[:2]) | m.softmax(1) | m.softmax(0) | m.log_softmax(1) | m.log_softmax(0) | F.softplus(x) | F.silu(x) | F.gelu(x) | F.elu(x) | F.leaky_relu(x)
F.hardswish(x) | F.hardtanh(x.abs(), 0, 1) | F.mse_loss(x, y) | F.smooth_l1_loss(x, y) | F.binary_cross_entropy(p, p) | F.cross_entropy(m, torch.tensor([1, 0]))
F.layer_norm(m, (3,)) | F.layer_norm(m, (3,), y[:3], x[:3]) | F.group_norm(m[None], 1) | F.batch_norm(n, None, None, training=True)
torch.where(b, x, y) | x.gather(0, i) | x.scatter_add(0, i, y) | x.index_add(0, i, y[:2]) | x.index_select(0, i) | x[i] | x[b] | m.tril() | m.triu(1)
m.flip(0) | torch.cat([m, m]) | torch.cat([x, torch.ones(2, dtype=torch.int16)]) | x.masked_fill(b, 3) | F.embedding(i, m) | x[1].item() | x.tolist() | repr(x) | repr(m[:, :0])
x.dtype.itemsize | x.dtype.is_signed | x.dtype.is_floating_point | x.half() | x.bfloat16() | x.byte() | x.char() | x.short() | x.int() | x.long() | x.bool()
torch.full((2,), 300, dtype=x.dtype) | torch.full((2,), -1, dtype=x.dtype) | x.clone().fill_(300) | torch.tensor([300], dtype=x.dtype) | torch.ones(2, dtype=x.dtype)
torch.arange(3, dtype=x.dtype) | torch.zeros(300, dtype=x.dtype) + 1 | x.clone().requires_grad_().requires_grad | torch.zeros(2, 300, dtype=x.dtype)[:, ::2].sum(1)
torch.arange(6)[x] | torch.finfo(x.dtype) | torch.iinfo(x.dtype)
'''

# Of the two dtypes of x and y.
PAIRS = '''
x.to(y.dtype) | x + y | x * y[1] | x[1] * y | x[1] + y[1] | x.clone().add_(y) | x < y | torch.where(b, x, y) | x.clone().copy_(y) | m @ n
torch.promote_types(x.dtype, y.dtype) | torch.can_cast(x.dtype, y.dtype) | torch.result_type(x, y[0])
'''

# Whose gradients are compared, of halves too.
GRADIENTS = '''
p.exp() | p.log() | p.sqrt() | p.sin() | p.tanh() | p.sigmoid() | x.relu() | x.abs() | p.square() | p.erf() | x.norm() | x.mean() | x.sum() | m.amax(1) | m @ n
x * y | x / y | x ** 3 | m.softmax(1) * n.reshape(2, 3) | F.layer_norm(m, (3,), y[:3]) ** 2 | F.gelu(x) * y | x + y[0] | F.linear(m, m, y[:2]) ** 2 | x.float() * 2 + y.double()
F.conv2d(m[None, None], n.reshape(1, 1, 2, 3)[:, :, :, :2]) ** 2 | F.avg_pool2d(m[None], 2) | F.max_pool2d(m[None], 2) | F.mse_loss(x, y) | F.cross_entropy(m, torch.tensor([1, 0]))
'''


# Whose gradients are compared, of complex numbers. Also the names of their nodes are.
COMPLEX_GRADIENTS = '''
x.abs() | x.angle() | x.sgn() | x.exp() | x.exp2() | x.expm1() | x.log() | x.log2() | x.log10() | x.log1p() | x.sqrt() | x.rsqrt() | x.sin() | x.cos() | x.tan() | x.sinh()
x.cosh() | x.tanh() | x.asin() | x.acos() | x.atan() | x.asinh() | x.acosh() | x.atanh() | x.sigmoid() | x.reciprocal() | x.square() | -x | x.conj() | x.real | x.imag
x ** 3 | x ** 0.5 | x ** -2 | x ** 0 | x ** 1.7 | x ** (1.2 - 0.3j) | x ** y | x.abs() ** y | x ** y.abs() | 2 ** x | (1 + 1j) ** x | (1 + 1j) ** x.abs() | x / y | 1 / x | 2 - x
x.norm() | x.norm(1) | x.norm(3) | x.norm(0) | x.norm(float('inf')) | torch.linalg.vector_norm(m, dim=1) | torch.linalg.norm(x) | torch.linalg.matrix_norm(m)
x.mean() | x.prod() | m.prod(1) | (x * b).prod() | x.cumsum(0) | x.cumprod(0) | x.std() | x.var() | m.std(1) | m.var(0, unbiased=False) | torch.var_mean(x)[0] | torch.std_mean(m, 1)[1]
torch.polar(x.abs(), y.angle()) | torch.complex(x.real, y.imag) | x.abs().angle() | x.clone().exp_() | x.clone().tanh_() | x.clone().sgn_() | (x * b).abs() | (x * b).angle() | (x * b).sgn()
'''


def split(text):
    return [row.strip() for row in text.replace('\n', ' | ').split(' | ') if row.strip()][::STEP]


def told(out):
    if isinstance(out, torch.Tensor):
        return [str(out.dtype), list(out.shape), out.tolist()]
    return [type(out).__name__, str(out)]


def saved(x):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file)


def pickled(x):
    return pickle.loads(pickle.dumps(x))


def copied(x):
    return copy.deepcopy(x)


def set_item(x, key, new):
    x = x.clone()
    x[key] = new
    return x


def names(x, y, p):
    return dict(x=x, y=y, p=p, m=x.reshape(2, 3), n=y.reshape(3, 2), q=x[:4].reshape(2, 2), b=numbers('bool', 0),
                c=x.repeat(6)[:32].reshape(1, 2, 4, 4), w=y.repeat(6).reshape(2, 2, 3, 3),
                i=torch.tensor([0, 2]), j=torch.tensor([[0], [2]]), t=torch.tensor([1, 0]))


def value(expression, first, second):
    print(expression, first, second, file=sys.stderr)
    torch.manual_seed(7)
    try:
        return told(eval(expression, globals(), names(numbers(first, 0), numbers(second, 1), numbers(first, 2))))
    except Exception as problem:
        return ['raised', type(problem).__name__, str(problem).splitlines()[0]]


def trained(optimizer, dtype):
    name, arguments = optimizer.split('(')
    p = numbers(dtype, 0).requires_grad_()
    with_state = eval(f'torch.optim.{name}([p], {arguments}', {'torch': torch, 'p': p})
    for which in 1, 2, 1:
        p.grad = numbers(dtype, which)
        with_state.step()
    return told(p.detach())


def in_place(row):
    """x.name_(y), if the row is x.name(y)."""
    operand, name, arguments = (row.split('(', 1)[0].rpartition('.')[::2] + (row.split('(', 1)[-1],))
    known = operand in ('x', 'm', 'p', 'q') and hasattr(torch.Tensor, name + '_')
    return [f'changed({operand}, {name + "_"!r}, {arguments}'] if known else []


def changed(x, name, *arguments, **named):
    x = x.clone()
    getattr(x, name)(*arguments, **named)
    return x


def gradients(expression, dtype):
    leaves = [numbers(dtype, which).requires_grad_() for which in range(3)]
    eval(expression, globals(), names(*leaves)).sum().backward()
    return [None if leaf.grad is None else told(leaf.grad) for leaf in leaves]


def complex_gradients(expression, dtype):
    leaves = [numbers(dtype, which).requires_grad_() for which in range(3)]
    out = eval(expression, globals(), names(*leaves))
    (out * (0.3 - 0.2j)).sum().real.backward()
    return [told(out.detach()) + [type(out.grad_fn).__name__]] + [leaf.grad is not None and told(leaf.grad) for leaf in leaves]


def callables(owner):
    return {name for name in dir(owner) if not name.startswith('_') and callable(getattr(owner, name, None))
            and not isinstance(getattr(owner, name), type)}


methods = split(dtype_rows.METHODS)
every = methods + [row for method in methods for row in in_place(method)]
every += split(dtype_rows.MODULE) + split(dtype_rows.LAYERS) + split(dtype_rows.DRAWS)
rows = {f'{row}, {dtype}': value(row, dtype, dtype) for row in split(EACH) for dtype in DTYPES}
rows.update({f'{row}, {a}, {b}': value(row, a, b) for row in split(PAIRS) for a in DTYPES for b in DTYPES})
exact = list(rows)
rows.update({f'{row}, {dtype}': value(row, dtype, dtype) for row in every for dtype in DTYPES + COMPLEX})
rows.update({f'gradients of {row}, {dtype}': gradients(row, dtype) for row in split(GRADIENTS) for dtype in FLOATING})
rows.update({f'gradients of {row}, {dtype}': complex_gradients(row, dtype) for row in split(COMPLEX_GRADIENTS) for dtype in COMPLEX})
rows.update({f'{row}, {dtype}': trained(row, dtype) for row in split(dtype_rows.OPTIMIZERS) for dtype in FLOATING})
rows['exact'] = exact
rows['names'] = sorted(callables(torch.Tensor) | callables(torch) | callables(F))
with open(sys.argv[1], 'w') as file:
    json.dump(rows, file, default=lambda number: [number.real, number.imag])
