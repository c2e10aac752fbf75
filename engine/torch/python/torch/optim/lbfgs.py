# SPDX-License-Identifier: LGPL-2.1-or-later
"""The quasi-Newton method L-BFGS. All parameters are one vector."""
from torch import _C
from torch.autograd import enable_grad, no_grad
from torch.optim._by_parameter import check_rate, number
from torch.optim._line_search import strong_wolfe
from torch.optim.optimizer import Optimizer

_KEPT = ('d', 't', 'old_dirs', 'old_stps', 'ro', 'H_diag', 'prev_flat_grad', 'prev_loss')


class LBFGS(Optimizer):
    """The state of the first parameter is that of all."""

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
                 history_size=100, line_search_fn=None):
        check_rate(lr)
        super().__init__(params, dict(lr=lr, max_iter=max_iter,
                                      max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
                                      tolerance_grad=tolerance_grad, tolerance_change=tolerance_change,
                                      history_size=history_size, line_search_fn=line_search_fn))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def _gradient(self):
        return _C.cat([(_C.zeros(p.numel(), dtype=p.dtype) if p.grad is None else
                        (p.grad.to_dense() if p.grad.is_sparse else p.grad).reshape(-1)) for p in self._params()])

    def _move(self, size, direction):
        at = 0
        for p in self._params():
            p.add_(direction[at:at + p.numel()].view_as(p), alpha=number(size))
            at += p.numel()

    def _back_to(self, places):
        for p, place in zip(self._params(), places):
            p.copy_(place)

    @no_grad()
    def step(self, closure):
        """closure() computes the gradients and returns the loss, several times in a step."""
        group, closure = self.param_groups[0], enable_grad()(closure)
        run = _Run(self, group, closure, self.state[group['params'][0]])
        first = run.begin()
        if not run.is_flat():
            run.iterate()
        return first


class _Run:
    """One call of step. What the next call needs is kept in `state`."""

    def __init__(self, optimizer, group, closure, state):
        self.optimizer, self.group, self.closure, self.state = optimizer, group, closure, state
        state.setdefault('func_evals', 0)
        state.setdefault('n_iter', 0)
        for name in _KEPT:
            setattr(self, name, state.get(name))

    def begin(self):
        first = self.closure()
        self.loss, self.n_evals = float(first), 1
        self.state['func_evals'] += 1
        self.grad = self.optimizer._gradient()
        return first

    def is_flat(self):
        return bool(self.grad.abs().max() <= self.group['tolerance_grad'])

    def iterate(self):
        for i in range(1, self.group['max_iter'] + 1):
            self.state['n_iter'] += 1
            self.d = self.direction()
            if self.prev_flat_grad is None:
                self.prev_flat_grad = self.grad.clone()
            else:
                self.prev_flat_grad.copy_(self.grad)
            self.prev_loss, lr = self.loss, self.group['lr']
            self.t = min(1.0, 1.0 / self.grad.abs().sum()) * lr if self.state['n_iter'] == 1 else lr
            slope = self.grad.dot(self.d)
            if slope > -self.group['tolerance_change']:
                break
            n_evals = self.go(slope, i == self.group['max_iter'])
            self.n_evals += n_evals
            self.state['func_evals'] += n_evals
            if i == self.group['max_iter'] or self.is_done():
                break
        self.state.update({name: getattr(self, name) for name in _KEPT})

    def direction(self):
        """Minus the product of the gradient and the inverse Hessian, as past steps tell it."""
        if self.state['n_iter'] == 1:
            self.old_dirs, self.old_stps, self.ro, self.H_diag = [], [], [], 1
            return self.grad.neg()
        self.remember(self.grad.sub(self.prev_flat_grad), self.d.mul(self.t))
        n, weights = len(self.old_dirs), self.state.setdefault('al', [None] * self.group['history_size'])
        q = self.grad.neg()
        for i in reversed(range(n)):
            weights[i] = self.old_stps[i].dot(q) * self.ro[i]
            q.add_(self.old_dirs[i], alpha=number(-weights[i]))
        d = q.mul(self.H_diag)
        for i in range(n):
            d.add_(self.old_stps[i], alpha=number(weights[i] - self.old_dirs[i].dot(d) * self.ro[i]))
        return d

    def remember(self, change, step):
        """How the gradient changed in the last step, if the function curves upward there."""
        curvature = change.dot(step)
        if not curvature > 1e-10:
            return
        if len(self.old_dirs) == self.group['history_size']:
            for past in (self.old_dirs, self.old_stps, self.ro):
                past.pop(0)
        self.old_dirs.append(change)
        self.old_stps.append(step)
        self.ro.append(1.0 / curvature)
        self.H_diag = curvature / change.dot(change)

    def go(self, slope, is_last):
        """Moves the parameters. Returns how often it called closure()."""
        if self.group['line_search_fn'] is None:
            self.optimizer._move(self.t, self.d)
            if is_last:
                return 0
            self.loss = float(self.closure())
            self.grad = self.optimizer._gradient()
            return 1
        if self.group['line_search_fn'] != 'strong_wolfe':
            raise RuntimeError("only 'strong_wolfe' is supported")
        start = [p.clone() for p in self.optimizer._params()]

        def look(t):
            self.optimizer._move(t, self.d)
            loss = float(self.closure())
            grad = self.optimizer._gradient()
            self.optimizer._back_to(start)
            return loss, grad
        self.loss, self.grad, self.t, n_evals = strong_wolfe(look, self.t, self.d, self.loss, self.grad, slope,
                                                             self.group['max_eval'] - self.n_evals)
        self.optimizer._move(self.t, self.d)
        return n_evals

    def is_done(self):
        tolerance = self.group['tolerance_change']
        return (self.n_evals >= self.group['max_eval'] or self.is_flat()
                or bool(self.d.mul(self.t).abs().max() <= tolerance) or abs(self.loss - self.prev_loss) < tolerance)
