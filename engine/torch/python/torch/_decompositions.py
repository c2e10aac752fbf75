# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decompositions of matrices, and what comes of them, with their gradients. A^T stands for A.mT, A^H for its conjugate, g for
the gradient of a result."""
from torch import _C
from torch.autograd import Function
from torch._equations import NOT_CONVERGED, _h, _t, check_info, solve_ex, solve_triangular
from torch.nn._named_function import node


def sign_and_log(lu, pivots):
    """Of the determinant of a matrix that was factored."""
    n = lu.size(-1)
    diagonal = lu.diagonal(0, -2, -1)
    swaps = (pivots != _C.arange(1, n + 1)).sum(-1)
    sign = diagonal.sign().prod(-1) * (1 - 2 * (swaps % 2)).to(lu.dtype)
    return sign, diagonal.abs().log().sum(-1)


def _diagonal_of(value, n):
    return _t(value.unsqueeze(-1).expand(*value.shape, n).diag_embed())


def _adjugate(a):
    """Of a singular matrix."""
    u, s, vh, _ = _C._svd(a, False)
    others = _C.stack([s.index_fill(-1, _C.tensor([i]), 1).prod(-1) for i in range(s.size(-1))], -1)
    signs = (_determinant(u) * _determinant(vh)).unsqueeze(-1).unsqueeze(-1)
    return signs * ((u * others.unsqueeze(-2)) @ vh)


def _determinant(a):
    lu, pivots, _ = _C._lu(a)
    swaps = (pivots != _C.arange(1, a.size(-1) + 1)).sum(-1)
    return lu.diagonal(0, -2, -1).prod(-1) * (1 - 2 * (swaps % 2)).to(a.dtype)


@node('LinalgDetBackward0')
class _Det(Function):
    @staticmethod
    def forward(ctx, a):
        result = _determinant(a)
        ctx.save_for_backward(a, result)
        return result

    @staticmethod
    def backward(ctx, g):
        a, result = ctx.saved_tensors
        if (result == 0).any():
            return g.unsqueeze(-1).unsqueeze(-1) * _adjugate(a.detach())
        return solve_ex(_t(a), _diagonal_of(g * result, a.size(-1)))[0]


def det(a):
    return _Det.apply(a)


@node('LinalgSlogdetBackward0')
class _Slogdet(Function):
    @staticmethod
    def forward(ctx, a):
        sign, log = sign_and_log(*_C._lu(a)[:2])
        ctx.save_for_backward(a)
        return sign, log

    @staticmethod
    def backward(ctx, _, g):
        a, = ctx.saved_tensors
        return solve_ex(_t(a), _diagonal_of(g, a.size(-1)))[0]


def slogdet(a):
    return _Slogdet.apply(a)


@node('LinalgCholeskyExBackward0')
class _Cholesky(Function):
    @staticmethod
    def forward(ctx, a):
        factor, info = _C._cholesky(a)
        ctx.save_for_backward(factor)
        ctx.mark_non_differentiable(info)
        return factor, info

    @staticmethod
    def backward(ctx, g, _):
        """With S the symmetric matrix whose lower half is that of L^T g: L^-T S L^-1 / 2."""
        factor, = ctx.saved_tensors
        half = (_t(factor) @ g).tril()
        both = _C._mul_number(half + _t(half.tril(-1)), 0.5)
        return solve_triangular(factor, solve_triangular(_t(factor), both, True), False, False)


def cholesky_ex(a):
    return _Cholesky.apply(a)


@node('LinalgQrBackward0')
class _Qr(Function):
    @staticmethod
    def forward(ctx, a, full):
        q, r = _C._qr(a, full)
        ctx.save_for_backward(q, r)
        ctx.set_materialize_grads(False)
        return q, r

    @staticmethod
    def backward(ctx, g_q, g_r):
        """Q (M + M^T - diag M) with M the upper half of g_R R^T - Q^T g_Q, and g_Q, times R^-T."""
        q, r = ctx.saved_tensors
        more = r.size(-1) - r.size(-2)
        if more < 0:
            raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols")
        if more > 0:
            return _Qr.of_wide(q, r, g_q, g_r, more), None
        return _Qr.of_square(q, r, g_q, g_r), None

    @staticmethod
    def of_square(q, r, g_q, g_r):
        if g_q is None and g_r is None:
            return None
        inner = None if g_r is None else g_r @ _t(r)
        if g_q is not None:
            inner = -(_t(q) @ g_q) if inner is None else inner - _t(q) @ g_q
        upper = inner.triu()
        total = q @ (upper + _t(upper.triu(1)))
        total = total if g_q is None else total + g_q
        return solve_triangular(_t(r), total, False, False)

    @staticmethod
    def of_wide(q, r, g_q, g_r, more):
        """A = [X Y] = Q [U V]: Y is Q V, so that the gradients of Y and of V lead to Q as well."""
        k = r.size(-2)
        if g_r is None:
            of_x = _Qr.of_square(q, r.narrow(-1, 0, k), g_q, None)
            return _C.cat([of_x, _C.zeros((*of_x.shape[:-1], more), dtype=of_x.dtype)], -1)
        y, g_v = q @ r.narrow(-1, k, more), g_r.narrow(-1, k, more)
        more_q = y @ _t(g_v)
        of_x = _Qr.of_square(q, r.narrow(-1, 0, k), more_q if g_q is None else g_q + more_q, g_r.narrow(-1, 0, k))
        return _C.cat([of_x, q @ g_v], -1)


def qr(a, full):
    return _Qr.apply(a, full)


@node('LinalgEighBackward0')
class _Eigh(Function):
    @staticmethod
    def forward(ctx, a):
        values, vectors, info = _C._eigh(a)
        check_info('linalg.eigh', info, NOT_CONVERGED.format('eigenvalues'))
        ctx.save_for_backward(values, vectors)
        ctx.set_materialize_grads(False)
        return values, vectors

    @staticmethod
    def backward(ctx, g_values, g_vectors):
        """V (diag g_w + (V^H g_V) / E) V^H, with E_ij = w_j - w_i."""
        w, v = ctx.saved_tensors
        if g_vectors is None:
            return (v * g_values.unsqueeze(-2)) @ _h(v)
        apart = (w.unsqueeze(-2) - w.unsqueeze(-1)).clone()
        apart.diagonal(0, -2, -1).fill_(1)
        inner = _h(v) @ g_vectors / apart
        inner = inner - inner.diagonal(0, -2, -1).diag_embed()
        inner = inner if g_values is None else inner + g_values.diag_embed()
        return v @ inner @ _h(v)


def eigh(a):
    return _Eigh.apply(a)


@node('LinalgSvdBackward0')
class _Svd(Function):
    @staticmethod
    def forward(ctx, a, full):
        u, s, vh, info = _C._svd(a, full)
        check_info('linalg.svd', info, NOT_CONVERGED.format('singular values'))
        ctx.save_for_backward(u, s, vh)
        ctx.set_materialize_grads(False)
        return u, s, vh

    @staticmethod
    def backward(ctx, g_u, g_s, g_vh):
        u, s, vh = ctx.saved_tensors
        k = s.size(-1)
        if u.size(-1) > k:
            u, g_u = u.narrow(-1, 0, k), g_u if g_u is None else g_u.narrow(-1, 0, k)
        if vh.size(-2) > k:
            vh, g_vh = vh.narrow(-2, 0, k), g_vh if g_vh is None else g_vh.narrow(-2, 0, k)
        return _Svd.gradient(u, s, vh, g_u, g_s, g_vh), None

    @staticmethod
    def gradient(u, s, vh, g_u, g_s, g_vh):
        """U (skew(U^T g_U) / E S + S skew(V^T g_V) / E + diag g_S) V^T with E_ij = s_j^2 - s_i^2, and what of g_U and g_V is
        outside the spaces of U and V."""
        if g_u is None and g_s is None and g_vh is None:
            return None
        if g_u is None and g_vh is None:
            return (u * g_s.unsqueeze(-2)) @ vh
        squares = s * s
        apart = (squares.unsqueeze(-2) - squares.unsqueeze(-1)).clone()
        apart.diagonal(0, -2, -1).fill_(1)
        inner = _C.zeros(apart.shape, dtype=s.dtype) if g_s is None else g_s.diag_embed()
        rest = None
        if g_u is not None:
            skew = _t(u) @ g_u
            inner = inner + (skew - _t(skew)) / apart * s.unsqueeze(-2)
            rest = ((g_u - u @ skew) / s.unsqueeze(-2)) @ vh
        if g_vh is not None:
            skew = vh @ _t(g_vh)
            inner = inner + s.unsqueeze(-1) * ((skew - _t(skew)) / apart)
            more = u @ ((g_vh - _t(skew) @ vh) / s.unsqueeze(-1))
            rest = more if rest is None else rest + more
        return u @ inner @ vh + rest


def svd(a, full=False):
    return _Svd.apply(a, full)


def _pseudo_inverse(a, rtol, atol=0.0):
    u, s, vh, _ = _C._svd(a, False)
    kept = s > (rtol * s.amax(-1, True)).clamp(min=atol) if s.size(-1) else s > 0
    return _t(vh) @ (_C.where(kept, 1 / s, _C.zeros_like(s)).unsqueeze(-1) * _t(u))


def _pinv_backward(g, pinv, a):
    """Golub and Pereyra 1973, (4.12)."""
    g, turned = _t(g), _t(pinv)
    k = g @ pinv
    both = k @ turned
    return -_t(pinv @ k) + both - (a @ pinv) @ both + (turned @ pinv) @ (g - k @ a)


@node('LinalgPinvBackward0')
class _Pinv(Function):
    @staticmethod
    def forward(ctx, a, rtol, atol, hermitian):
        result = _pseudo_inverse(a.tril() + a.tril(-1).mH if hermitian else a, rtol, atol)
        ctx.save_for_backward(a, result)
        return result

    @staticmethod
    def backward(ctx, g):
        a, result = ctx.saved_tensors
        return _pinv_backward(g, result, a), None, None, None


def pinv(a, rtol, atol=0.0, hermitian=False):
    """Of a Hermitian matrix only the lower triangle is read."""
    return _Pinv.apply(a, rtol, atol, hermitian)


@node('LinalgLstsqBackward0')
class _Lstsq(Function):
    @staticmethod
    def forward(ctx, a, b, rtol):
        ctx.rtol = rtol
        ctx.save_for_backward(a, b)
        return _pseudo_inverse(a, rtol) @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        inverse = pinv(a, ctx.rtol)
        return _pinv_backward(g @ _t(b), inverse, a), _t(inverse) @ g, None


def lstsq(a, b, rtol):
    return _Lstsq.apply(a, b, rtol)
