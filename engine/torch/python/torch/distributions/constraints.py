# SPDX-License-Identifier: LGPL-2.1-or-later
"""What parameters and samples of distributions must be."""


class Constraint:
    """check(value) is a tensor of truths. `event_dim` dimensions belong together."""

    is_discrete, event_dim = False, 0

    def check(self, value):
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__.lstrip('_') + '()'


class _Dependent(Constraint):
    """It depends on other parameters. Nobody checks it."""


class _Real(Constraint):
    def check(self, value):
        return value == value


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value):
        return value * (value - 1) == 0


class _Bounded(Constraint):
    def __init__(self, lower_bound, upper_bound=None):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def __repr__(self):
        bounds = [f'{name}={bound}' for name, bound in vars(self).items() if bound is not None]
        return f'{type(self).__name__.lstrip("_")}({", ".join(bounds)})'


class _GreaterThan(_Bounded):
    def check(self, value):
        return value > self.lower_bound


class _LessThan(_Bounded):
    def __init__(self, upper_bound):
        super().__init__(None, upper_bound)

    def check(self, value):
        return value < self.upper_bound


class _Interval(_Bounded):
    def check(self, value):
        return (value >= self.lower_bound).float() * (value <= self.upper_bound).float() == 1


class _IntegerInterval(_Interval):
    is_discrete = True

    def check(self, value):
        return (value % 1 == 0).float() * super().check(value).float() == 1


class _Simplex(Constraint):
    """Not negative along the last dimension, and 1 together."""

    event_dim = 1

    def check(self, value):
        small = (value.sum(-1) - 1).abs() < 1e-6
        return (value >= 0).float().amin(-1) * small.float() == 1


class _IndependentConstraint(Constraint):
    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value):
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        return result.reshape(tuple(result.shape[:kept]) + (-1,)).float().amin(-1) == 1

    def __repr__(self):
        return f'IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})'


dependent, real, boolean, simplex = _Dependent(), _Real(), _Boolean(), _Simplex()
real_vector = _IndependentConstraint(real, 1)
positive, unit_interval = _GreaterThan(0.), _Interval(0., 1.)
greater_than, less_than, interval, integer_interval = _GreaterThan, _LessThan, _Interval, _IntegerInterval
independent = _IndependentConstraint
