# SPDX-License-Identifier: LGPL-2.1-or-later
"""A = P L U, and what the factors solve, with gradients. A^H stands for the conjugate of A.mT, g for the gradient of a
result."""
from torch import _C
from torch.autograd import Function
from torch._equations import _h, _t, solve_triangular
from torch.nn._named_function import node


def _order(pivots, n):
    """Where the rows of P^T A come from, in A: [..., n]."""
    orders = []
    for swaps in pivots.flatten(0, -2).tolist() if pivots.dim() > 1 else [pivots.tolist()]:
        order = list(range(n))
        for i, other in enumerate(swaps):
            order[i], order[other - 1] = order[other - 1], order[i]
        orders.append(order)
    return _C.tensor(orders, dtype=_C.int64).reshape(*pivots.shape[:-1], n)


def permutation(pivots, n, dtype):
    """P, a matrix [..., n, n]."""
    order = _order(pivots, n)
    return (order.unsqueeze(-2) == _C.arange(n).unsqueeze(-1)).to(dtype)


def _lower(packed):
    """L of both factors in one matrix: [..., m, k]."""
    k = min(packed.shape[-2:])
    lower = packed.narrow(-1, 0, k).tril(-1)
    lower.diagonal(0, -2, -1).fill_(1)
    return lower


def _upper(packed):
    return packed.narrow(-2, 0, min(packed.shape[-2:])).triu()


def _gradient(p, lower, upper, g_lower, g_upper):
    """Of A. If A is square: P L^-H (tril(L^H g_L, -1) + triu(g_U U^H)) U^-H. If it is not, the rest of L or of U belongs to
    the part that is square."""
    k = upper.size(-2)
    l, u = lower.narrow(-2, 0, k), upper.narrow(-1, 0, k)
    more_rows, more_columns = lower.size(-2) - k, upper.size(-1) - k
    inner_lower, inner_upper = _h(l) @ g_lower.narrow(-2, 0, k), g_upper.narrow(-1, 0, k) @ _h(u)
    if more_rows:
        below = g_lower.narrow(-2, k, more_rows)
        inner_upper = inner_upper - _h(lower.narrow(-2, k, more_rows)) @ below
    if more_columns:
        beside = g_upper.narrow(-1, k, more_columns)
        inner_lower = inner_lower - beside @ _h(upper.narrow(-1, k, more_columns))
    inner = inner_lower.tril(-1) + inner_upper.triu()
    result = solve_triangular(_h(u), solve_triangular(_h(l), inner, True, True, True), False, False)
    if more_columns:
        result = _C.cat([result, solve_triangular(_h(l), beside, True, True, True)], -1)
    if more_rows:
        result = _C.cat([result, solve_triangular(_h(u), below, False, False)], -2)
    return p @ result


@node('LinalgLuFactorExBackward0')
class _LuFactor(Function):
    @staticmethod
    def forward(ctx, a):
        packed, pivots, info = _C._lu(a)
        ctx.save_for_backward(packed, pivots)
        ctx.mark_non_differentiable(pivots, info)
        return packed, pivots, info

    @staticmethod
    def backward(ctx, g, _, __):
        packed, pivots = ctx.saved_tensors
        k = min(packed.shape[-2:])
        return _gradient(permutation(pivots, packed.size(-2), packed.dtype), _lower(packed), _upper(packed),
                         g.narrow(-1, 0, k).tril(-1), g.narrow(-2, 0, k).triu())


def lu_factor_ex(a):
    return _LuFactor.apply(a)


@node('LinalgLuBackward0')
class _Lu(Function):
    @staticmethod
    def forward(ctx, a):
        packed, pivots, _ = _C._lu(a)
        p, lower, upper = permutation(pivots, a.size(-2), a.dtype), _lower(packed), _upper(packed)
        ctx.save_for_backward(p, lower, upper)
        ctx.mark_non_differentiable(p)
        return p, lower, upper

    @staticmethod
    def backward(ctx, _, g_lower, g_upper):
        return _gradient(*ctx.saved_tensors, g_lower, g_upper)


def lu(a):
    return _Lu.apply(a)


@node('LuUnpackBackward0')
class _Unpack(Function):
    """Pivots come in a tuple here and below: what is no number has no edge."""
    @staticmethod
    def forward(ctx, packed, whole):
        pivots, = whole
        ctx.rest = packed.size(-2) - packed.size(-1)
        p = permutation(pivots, packed.size(-2), packed.dtype)
        ctx.mark_non_differentiable(p)
        return p, _lower(packed), _upper(packed)

    @staticmethod
    def backward(ctx, _, g_lower, g_upper):
        """Zeros take the place of what the smaller factor does not have."""
        g_lower, g_upper = g_lower.tril(-1), g_upper.triu()
        if ctx.rest > 0:
            g_upper = _C.cat([g_upper, g_lower.narrow(-2, 0, ctx.rest) * 0], -2)
        if ctx.rest < 0:
            g_lower = _C.cat([g_lower, g_upper.narrow(-1, 0, -ctx.rest) * 0], -1)
        return g_lower + g_upper, None


def lu_unpack(packed, pivots):
    return _Unpack.apply(packed, (pivots,))


@node('LinalgLuSolveBackward0')
class _LuSolve(Function):
    @staticmethod
    def forward(ctx, packed, whole, b, left, adjoint):
        """X A = B is A^H X^H = B^H; A^H = B^H is solved by the factors in the other order."""
        pivots, = ctx.whole = whole
        ctx.how, ctx.is_conjugate = (left, adjoint), left == adjoint
        right = b if left else _h(b)
        if not ctx.is_conjugate:
            x = _C._lu_solve(packed, pivots, right)
        else:
            x = solve_triangular(_h(_upper(packed)), right, False)
            x = solve_triangular(_h(_lower(packed)), x, True, True, True)
            x = permutation(pivots, packed.size(-1), packed.dtype) @ x
        x = x if left else _h(x)
        ctx.save_for_backward(packed, x)
        return x

    @staticmethod
    def backward(ctx, g):
        """With g_A the gradient of A: g_L = P^T g_A U^H, g_U = L^H P^T g_A."""
        (packed, x), (pivots,), (left, adjoint) = ctx.saved_tensors, ctx.whole, ctx.how
        of_b = _LuSolve.apply(packed, ctx.whole, g, left, not adjoint)
        if not ctx.needs_input_grad[0]:
            return None, None, of_b, None, None
        of_a = -(of_b @ _h(x) if left else _h(x) @ of_b)
        of_a = _h(of_a) if adjoint else of_a
        turned = _t(permutation(pivots, packed.size(-1), packed.dtype)) @ of_a
        return (turned @ _h(_upper(packed))).tril(-1) + (_h(_lower(packed)) @ turned).triu(), None, of_b, None, None


def lu_solve(packed, pivots, b, left, adjoint):
    return _LuSolve.apply(packed, (pivots,), b, left, adjoint)
