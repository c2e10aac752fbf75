# SPDX-License-Identifier: LGPL-2.1-or-later
"""Systems of equations, inverses and cross products, with their gradients. g stands for the gradient of a result."""
from torch import _C
from torch.autograd import Function
from torch.nn._named_function import node
from torch._refused import checked


def _t(x):
    return x.transpose(-2, -1)


def _h(x):
    return _t(x).conj() if x.is_complex() else _t(x)


class LinAlgError(RuntimeError):
    """A matrix that a decomposition cannot take, such as a singular one."""


LinAlgError.__name__ = LinAlgError.__qualname__ = '_LinAlgError'
LinAlgError.__module__ = 'torch._C'


NOT_FINITE = 'The algorithm failed to converge because the input matrix contained non-finite values.'
NOT_CONVERGED = ('The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated {} '
                 '(error code: {{}}).')


def check_info(name, info, text):
    """Raises if a matrix failed: which one of several, and what the number in info means."""
    wrong = info.reshape(-1).nonzero().reshape(-1).tolist()
    if wrong:
        which = f'(Batch element {wrong[0]}): ' if info.dim() else ''
        number = info.reshape(-1)[wrong[0]].item()
        raise LinAlgError(f'{name}: {which}' + (text.format(number) if number > 0 else NOT_FINITE))


def solve_ex(a, b):
    """(X, info) with A X = B. B has columns, or is one."""
    return _Solve.apply(a, b)


@node('LinalgSolveExBackward0')
class _Solve(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.is_vector = b.dim() == a.dim() - 1
        x, info = _C._solve(a, b.unsqueeze(-1) if ctx.is_vector else b)
        x = x.squeeze(-1) if ctx.is_vector else x
        ctx.save_for_backward(a, x)
        ctx.mark_non_differentiable(info)
        return x, info

    @staticmethod
    def backward(ctx, g, _):
        a, x = ctx.saved_tensors
        of_b = solve_ex(_h(a), g.unsqueeze(-1) if ctx.is_vector else g)[0]
        columns = x.unsqueeze(-1) if ctx.is_vector else x
        of_a = -(of_b @ _h(columns)) if ctx.needs_input_grad[0] else None
        return of_a, of_b.squeeze(-1) if ctx.is_vector else of_b


@node('LinalgCrossBackward0')
class _Cross(Function):
    @staticmethod
    def forward(ctx, input, other, dim):
        ctx.save_for_backward(input, other)
        ctx.dim = dim
        a, b = input.unbind(dim), other.unbind(dim)
        return _C.stack([a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)], dim)

    @staticmethod
    def backward(ctx, g):
        input, other = (x.conj() if x.is_complex() else x for x in ctx.saved_tensors)
        return (cross(other, g, ctx.dim) if ctx.needs_input_grad[0] else None,
                cross(g, input, ctx.dim) if ctx.needs_input_grad[1] else None, None)


@checked
def cross(input, other, dim):
    if input.shape != other.shape:
        both = (_C.zeros(input.shape) + _C.zeros(other.shape)).shape
        input, other = input.expand(both), other.expand(both)
    return _Cross.apply(input, other, dim)


@node('LinalgInvExBackward0')
class _Inverse(Function):
    @staticmethod
    def forward(ctx, a):
        unit = _C.zeros(a.shape, dtype=a.dtype)
        unit.diagonal(0, -2, -1).fill_(1)
        x, info = _C._solve(a, unit)
        ctx.save_for_backward(x)
        ctx.mark_non_differentiable(info)
        return x, info

    @staticmethod
    def backward(ctx, g, _):
        x, = ctx.saved_tensors
        return -(_h(x) @ (g @ _h(x)))


def inv_ex(a):
    return _Inverse.apply(a)


@node('LinalgSolveTriangularBackward0')
class _SolveTriangular(Function):
    @staticmethod
    def forward(ctx, a, b, upper, left, unit):
        ctx.how = upper, left, unit
        x = (_C._triangular_solve(a, b, upper, unit) if left else
             _t(_C._triangular_solve(_t(a), _t(b), not upper, unit)).contiguous())
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    def backward(ctx, g):
        (a, x), (upper, left, unit) = ctx.saved_tensors, ctx.how
        of_b = _SolveTriangular.apply(_h(a), g, not upper, left, unit)
        if not ctx.needs_input_grad[0]:
            return None, of_b, None, None, None
        of_a = -(of_b @ _h(x) if left else _h(x) @ of_b)
        return of_a.triu(int(unit)) if upper else of_a.tril(-int(unit)), of_b, None, None, None


def solve_triangular(a, b, upper, left=True, unit=False):
    return _SolveTriangular.apply(a, b, upper, left, unit)
