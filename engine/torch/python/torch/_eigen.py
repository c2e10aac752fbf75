# SPDX-License-Identifier: LGPL-2.1-or-later
"""Eigenvalues of any square matrix, the exponential of one, and approximations of low rank. g stands for the gradient of a
result."""
import math

from torch import _C
from torch.autograd import Function
from torch._decompositions import qr, svd
from torch._equations import NOT_CONVERGED, _h, check_info, solve_ex
from torch.nn._named_function import node
from torch._refused import checked


@node('LinalgEigBackward0')
class _Eig(Function):
    @staticmethod
    def forward(ctx, a):
        values, vectors, info = _C._eig(a)
        check_info('linalg.eig', info, NOT_CONVERGED.format('eigenvalues'))
        ctx.is_real = not a.is_complex()
        ctx.save_for_backward(values, vectors)
        ctx.set_materialize_grads(False)
        return values, vectors

    @staticmethod
    def backward(ctx, g_values, g_vectors):
        """V^-H (diag g_w + (V^H g_V - V^H V diag(Re(V^H g_V))) / E^*) V^H, with E_ij = w_j - w_i. Boeddeker et al. 2017."""
        w, v = ctx.saved_tensors
        if g_values is None and g_vectors is None:
            return None
        if g_vectors is None:
            inner = g_values.unsqueeze(-1) * _h(v)
        else:
            inner = _Eig.of_vectors(w, v, g_vectors)
            inner = (inner if g_values is None else inner + g_values.diag_embed()) @ _h(v)
        result = solve_ex(_h(v), inner)[0]
        return result.real if ctx.is_real else result

    @staticmethod
    def of_vectors(w, v, g_vectors):
        turned = _h(v) @ g_vectors
        diagonal = turned.diagonal(0, -2, -1)
        if (diagonal.imag.abs() > 1e-2).any():
            raise RuntimeError('linalg_eig_backward: The eigenvectors in the complex case are specified up to multiplication by '
                               'e^{i phi}. The specified loss function depends on this quantity, so it is ill-defined.')
        inner = turned - (_h(v) @ v) * diagonal.real.unsqueeze(-2)
        apart = (w.unsqueeze(-2) - w.unsqueeze(-1)).conj().clone()
        apart.diagonal(0, -2, -1).fill_(1)
        return inner / apart


def eig(a):
    return _Eig.apply(a)


# Higham 2005, table 2.3: the numerator of the approximation of Padé of order 13, and the largest norm that it is good for.
_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1)
_LARGEST_NORM = 5.371920351148152


def _pade(a):
    """The approximation of exp(a): (V - U)^-1 (V + U), with U the odd powers and V the even ones."""
    unit = _C.zeros(a.shape, dtype=a.dtype)
    unit.diagonal(0, -2, -1).fill_(1)
    two = a @ a
    four = two @ two
    six = four @ two
    powers = (unit, two, four, six)

    def part(first):
        low = sum(powers[i] * float(_PADE[first + 2 * i]) for i in range(4))
        high = sum(powers[i] * float(_PADE[first + 6 + 2 * i]) for i in range(1, 4))
        return six @ high + low
    odd, even = a @ part(1), part(0)
    return _C._solve(even - odd, even + odd)[0]


def _exponential(a):
    norm = a.abs().sum(-2).max().item() if a.numel() else 0.0
    if not math.isfinite(norm):
        return _C.cat([_exponential(one).unsqueeze(0) for one in a.flatten(0, -3)]).reshape(a.shape) if a.dim() > 2 else a * math.nan
    n_squarings = max(0, math.ceil(math.log2(norm / _LARGEST_NORM))) if norm > _LARGEST_NORM else 0
    result = _pade(a.to(_C.float64) * 2.0 ** -n_squarings)
    for _ in range(n_squarings):
        result = result @ result
    return result.to(a.dtype)


@node('LinalgMatrixExpBackward0')
class _Exponential(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return _exponential(a)

    @staticmethod
    def backward(ctx, g):
        """The upper right block of exp [[A^H, g], [0, A^H]]."""
        a, = ctx.saved_tensors
        n, turned = a.size(-1), _h(a)
        both = _C.cat([_C.cat([turned, g], -1), _C.cat([_C.zeros(a.shape, dtype=a.dtype), turned], -1)], -2)
        return matrix_exp(both).narrow(-2, 0, n).narrow(-1, n, n)


def matrix_exp(a):
    return _Exponential.apply(a)


# Halko et al. 2009, algorithms 4.4 and 5.1.

_checked_qr = checked(qr)


def _basis(a, q, niter):
    """Orthonormal columns that span most of what a does."""
    dtype = a.dtype if a.dtype in (_C.float16, _C.float64) or a.is_complex() else _C.float32
    found = _checked_qr(a @ _C.randn(a.size(-1), q, dtype=dtype), False)[0]
    for _ in range(niter):
        found = _checked_qr(_h(a) @ found, False)[0]
        found = _checked_qr(a @ found, False)[0]
    return found


def svd_lowrank(A, q=6, niter=2, M=None):
    A = A if M is None else A - M
    is_wide = A.size(-2) < A.size(-1)
    a = _h(A) if is_wide else A
    basis = _basis(a, q, niter)
    u, s, vh = svd(_h(basis) @ a)
    u = basis @ u
    return (_h(vh), s, u) if is_wide else (u, s, _h(vh))


def pca_lowrank(A, q=None, center=True, niter=2):
    q = min(6, *A.shape[-2:]) if q is None else q
    if not 0 <= q <= min(A.shape[-2:]):
        raise ValueError(f'q(={q}) must be non-negative integer and not greater than min(m, n)={min(A.shape[-2:])}')
    return svd_lowrank(A - A.mean(-2, True) if center else A, q, niter)
