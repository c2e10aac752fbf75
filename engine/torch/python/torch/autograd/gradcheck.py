# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares gradients with finite differences. fast_mode makes no difference: every element is compared."""
import warnings

from torch import _C
from torch._C import Tensor
from torch.autograd import enable_grad, grad
from torch.autograd._jacobians import (analytical, as_tuple, differentiable, forward_mode, get_analytical_jacobian,
                                       get_numerical_jacobian, numerical)

__all__ = ['GradcheckError', 'get_analytical_jacobian', 'get_numerical_jacobian', 'gradcheck', 'gradgradcheck']

_NONDETERMINISM = """

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""
_UNDEFINED = ('Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"')


class GradcheckError(RuntimeError):
    """A gradient is wrong."""


def _check_inputs(inputs):
    if not differentiable(inputs):
        raise ValueError('gradcheck expects at least one input tensor to require gradient, but none of them have '
                         'requires_grad=True.')
    for i, value in enumerate(inputs):
        if not isinstance(value, Tensor) or not value.requires_grad:
            continue
        if value.dtype not in (_C.float64, _C.complex128):
            warnings.warn(f'Input #{i} requires gradient and is not a double precision floating point or complex. This '
                          'check will likely fail if all the inputs are not of double precision floating point or '
                          'complex. ')
        if not value.is_sparse and any(n > 1 and s == 0 for n, s in zip(value.shape, value.stride())):
            raise RuntimeError(f'The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are '
                               'non-overlapping to be able to compute the numerical gradients correctly. You should call '
                               '.contiguous on the input before passing it to gradcheck.')


def _tensors(values):
    return [v for v in as_tuple(values) if isinstance(v, Tensor)]


def _check_outputs(outputs):
    if any(o.is_sparse for o in outputs):
        raise ValueError('Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the '
                         'output of fn for gradcheck.')


def _close(a, b, atol, rtol):
    return all(abs(x - y) <= atol + rtol * abs(y) for row, other in zip(a, b) for x, y in zip(row, other))


def _shown(rows):
    complex_ = any(isinstance(x, complex) for row in rows for x in row)
    return _C.tensor(rows, dtype=_C.complex128 if complex_ else _C.float64)


class _Check:
    """One function, its inputs, and how to compare."""

    def __init__(self, func, inputs, options):
        self.func, self.inputs, self.options = func, inputs, options
        self.wanted = differentiable(inputs)

    def outputs(self):
        return as_tuple(self.func(*self.inputs))

    def run(self):
        outputs, options = self.outputs(), self.options
        wanted = [output for output in outputs if output.requires_grad]
        _check_outputs(wanted)
        if not wanted:
            return self.check_constant()
        if options['check_backward_ad']:
            self.in_parts(outputs, self.check_backward)
        if options['check_forward_ad']:
            self.check_forward(outputs)
        if options['check_backward_ad']:
            self.check_zero_gradients(differentiable(outputs))
            if options['check_batched_grad']:
                self.check_batched(differentiable(outputs))
            if options['check_undefined_grad']:
                self.check_undefined()

    def check_constant(self):
        for tensor in self.wanted:
            for rows in numerical(self.func, self.inputs, tensor, self.options['eps']):
                if not _close(rows, [[0] * len(row) for row in rows], self.options['eps'], 0):
                    raise GradcheckError('Numerical gradient for function expected to be zero')

    def in_parts(self, outputs, check):
        """Calls check(func, how to say which part) for the function, or for both parts of its complex outputs."""
        if not any(o.is_complex() for o in outputs):
            return check(self.func, '')
        for name in ('imag', 'real'):
            def part(*inputs, name=name):
                return tuple(getattr(o, name) if o.is_complex() else o for o in _tensors(self.func(*inputs)))
            check(part, {'imag': 'While considering the imaginary part of complex outputs only, ',
                         'real': 'While considering the real part of complex outputs only, '}[name])

    def compare(self, found, expected, i, j, part, mode=''):
        if not _close(found, expected, self.options['atol'], self.options['rtol']):
            raise GradcheckError(f'{part}Jacobian {mode}mismatch for output {i} with respect to input {j},\n'
                                 f'numerical:{_shown(expected)}\nanalytical:{_shown(found)}\n')

    def check_backward(self, func, part):
        outputs = [(k, o) for k, o in enumerate(_tensors(func(*self.inputs))) if o.requires_grad]
        found = [self.gradients_of(output) for _, output in outputs]
        for j, tensor in enumerate(self.wanted):
            expected = numerical(func, self.inputs, tensor, self.options['eps'])
            for (k, _), rows in zip(outputs, found):
                self.compare(rows[j], expected[k], k, j, part)

    def gradients_of(self, output):
        """The rows for each input, if a second pass gives the same."""
        tolerance = self.options['nondet_tol']
        rows, sizes, kinds = analytical(output, self.wanted)
        if self.options['check_grad_dtypes'] and not kinds:
            raise GradcheckError('Gradient has dtype mismatch')
        if not sizes:
            raise GradcheckError('Analytical gradient has incorrect size')
        again = analytical(output, self.wanted)[0]
        if not all(_close(a, b, tolerance, 0) for a, b in zip(rows, again)):
            raise GradcheckError('Backward is not reentrant, i.e., running backward with same input and grad_output '
                                 'multiple times gives different values, although analytical gradient matches numerical '
                                 f'gradient.The tolerance for nondeterminism was {tolerance}.' + _NONDETERMINISM)
        return rows

    def check_forward(self, outputs):
        """The tangents of complex outputs by a real input are whole: only by a complex one their parts are compared."""
        for j, tensor in enumerate(self.wanted):
            def check(func, part, j=j, tensor=tensor):
                expected = numerical(func, self.inputs, tensor, self.options['eps'])
                for k, rows in enumerate(forward_mode(func, self.inputs, tensor)):
                    self.compare(rows, expected[k], k, j, part, 'computed with forward mode ')
            self.in_parts(outputs if tensor.is_complex() else [], check)

    def check_zero_gradients(self, outputs):
        zeros = [_C.zeros_like(o) for o in outputs]
        for gradient, tensor in zip(grad(outputs, self.wanted, zeros, True, allow_unused=True), self.wanted):
            if gradient is None:
                continue
            if gradient.layout != tensor.layout:
                raise GradcheckError(f'grad is incorrect layout ({gradient.layout} is not {tensor.layout})')
            values = gradient.to_dense() if gradient.is_sparse else gradient
            if not (values == 0).all():
                raise GradcheckError('backward not multiplied by grad_output')
            for what, a, b in (('type', gradient.dtype, tensor.dtype), ('device', gradient.device, tensor.device),
                               ('size', gradient.shape, tensor.shape)):
                if a != b:
                    raise GradcheckError(f'grad is incorrect {what}')

    def check_batched(self, outputs):
        for k, output in enumerate(outputs):
            vectors = [_C.randn_like(output) for _ in range(2)]
            each = [grad(output, self.wanted, v, True, allow_unused=True) for v in vectors]
            try:
                at_once = grad(output, self.wanted, _C.stack(vectors), True, allow_unused=True, is_grads_batched=True)
            except RuntimeError as problem:
                raise GradcheckError(f'While computing batched gradients, got: {problem}\n\n\ngradcheck or gradgradcheck '
                                     'failed while testing batched gradient computation.\n') from problem
            for j, rows in enumerate(at_once):
                if rows is not None and not all(_close([(a[j] - b).reshape(-1).tolist()], [[0] * b.numel()], 1e-8, 0)
                                                for a, b in zip(each, rows)):
                    raise GradcheckError(f'For output {k} and input {j}, batched gradients differ from single ones')

    def check_undefined(self):
        """Backward must take None for the gradient of any output, or of all."""
        undefined = _C._functions.UndefinedGrad()
        n = len(differentiable(self.outputs()))
        for which in [set(range(n)), *([{k} for k in range(n)] if n > 1 else [])]:
            outputs = [undefined(o) if k in which else o for k, o in enumerate(differentiable(self.outputs()))]
            self.check_undefined_outputs(outputs)

    def check_undefined_outputs(self, outputs):
        try:
            found = grad(outputs, self.wanted, [_C.zeros_like(o) for o in outputs], True, allow_unused=True)
        except RuntimeError as problem:
            _warn_undefined()
            raise GradcheckError('Expected backward function to handle undefined output grads. ' + _UNDEFINED) from problem
        if not all(g is None or ((g.to_dense() if g.is_sparse else g) == 0).all() for g in found):
            _warn_undefined()
            raise GradcheckError('Expected all input grads to be undefined or zero when all output grads are undefined or '
                                 'zero. ' + _UNDEFINED)


def _warn_undefined():
    warnings.warn('Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it '
                  'may break existing callers of this function. If this is true for you, you can call this function with '
                  '"check_undefined_grad=False" to disable the feature')


def _check_options(options):
    if not options['check_forward_ad'] and not options['check_backward_ad']:
        raise AssertionError('Expected at least one of check_forward_ad or check_backward_ad to be True')
    if options['check_batched_grad'] and not options['check_backward_ad']:
        raise AssertionError('Setting check_batched_grad=True requires check_backward_ad to be True')
    if options['check_batched_forward_grad'] and not options['check_forward_ad']:
        raise AssertionError('Setting check_batched_forward_grad=True requires check_forward_ad to be True')


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
              check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True, fast_mode=False,
              masked=None):
    """Compares the gradients of func, by the inputs that require one, with finite differences of step eps. Returns
    True if they agree; if not, raises GradcheckError or returns False."""
    options = dict(locals())
    _check_options(options)
    inputs = as_tuple(inputs)
    _check_inputs(inputs)
    try:
        _Check(func, inputs, options).run()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, gen_non_contig_grad_outputs=False, check_fwd_over_rev=False,
                  check_rev_over_rev=True, **options):
    """gradcheck of the gradients themselves, by the inputs and by the gradients of the outputs. Without grad_outputs
    these are random."""
    if not check_fwd_over_rev and not check_rev_over_rev:
        raise AssertionError('Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True')
    inputs = as_tuple(inputs)
    if grad_outputs is None:
        grad_outputs = [_C.randn_like(o).detach().requires_grad_() for o in differentiable(func(*inputs))]
    grad_outputs = as_tuple(grad_outputs)
    n = len(grad_outputs)

    @enable_grad()  # gradcheck computes differences without grad mode
    def gradients(*args):
        given, vectors = args[:-n], args[-n:]
        given = tuple(g.detach().requires_grad_() if isinstance(g, Tensor) and isinstance(i, Tensor) and i.requires_grad
                      and not g.requires_grad else g for g, i in zip(given, inputs))
        found = grad(differentiable(func(*given)), differentiable(given), vectors, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)
    return gradcheck(gradients, inputs + grad_outputs, check_forward_ad=check_fwd_over_rev,
                     check_backward_ad=check_rev_over_rev, **options)
