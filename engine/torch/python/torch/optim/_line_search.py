# SPDX-License-Identifier: LGPL-2.1-or-later
"""A search along a line for a point at which the function is low enough and flat enough: the strong Wolfe conditions.
Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6."""
import collections

_ENOUGH, _FLAT = 1e-4, 0.9  # the conditions' constants

Point = collections.namedtuple('Point', ['t', 'value', 'grad', 'slope'])


def _lowest_of_cubic(a, b, bounds=None):
    """Where the cubic through two points with their slopes is lowest, within bounds."""
    low, high = bounds or ((a.t, b.t) if a.t <= b.t else (b.t, a.t))
    d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t)
    square = d1 ** 2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    if not a.t <= b.t:
        a, b = b, a
    d2 = square.sqrt()
    t = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(t, low), high)


class _Search:
    def __init__(self, look, t, d, value, grad, slope, max_evals, tolerance):
        self.look, self.d, self.max_evals, self.tolerance, self.n = look, d, max_evals, tolerance, 0
        self.start = Point(0, value, grad.clone(), slope)
        self.new = self.at(t)

    def at(self, t):
        value, grad = self.look(t)
        return Point(t, value, grad, grad.dot(self.d))

    def too_high(self, point):
        return point.value > self.start.value + _ENOUGH * point.t * self.start.slope

    def is_flat(self, point):
        return bool(abs(point.slope) <= -_FLAT * self.start.slope)

    def bracket(self):
        """One good point; or two, between which one lies."""
        previous = self.start
        while self.n < self.max_evals:
            new = self.new
            if self.too_high(new) or (self.n > 1 and new.value >= previous.value):
                return [previous, new]
            if self.is_flat(new):
                return [new]
            if new.slope >= 0:
                return [previous, new]
            t = _lowest_of_cubic(previous, new, (new.t + 0.01 * (new.t - previous.t), new.t * 10))
            previous, self.new = new, self.at(t)
            self.n += 1
        return [self.start, self.new]

    def between(self, ends):
        """The next place to look at. It keeps away from an end that was near twice."""
        t, low, high = _lowest_of_cubic(*ends), min(p.t for p in ends), max(p.t for p in ends)
        margin = 0.1 * (high - low)
        if not min(high - t, t - low) < margin:
            self.was_near = False
        elif self.was_near or t >= high or t <= low:
            t = high - margin if abs(t - high) < abs(t - low) else low + margin
            self.was_near = False
        else:
            self.was_near = True
        return t

    def zoom(self, ends):
        best = 0 if len(ends) == 1 or ends[0].value <= ends[1].value else 1
        largest, done, self.was_near = self.d.abs().max(), len(ends) == 1, False
        while not done and self.n < self.max_evals and not abs(ends[1].t - ends[0].t) * largest < self.tolerance:
            new = self.at(self.between(ends))
            self.n += 1
            other = 1 - best
            if self.too_high(new) or new.value >= ends[best].value:
                ends[other] = new
                best = 0 if ends[0].value <= ends[1].value else 1
                continue
            done = self.is_flat(new)
            if not done and new.slope * (ends[other].t - ends[best].t) >= 0:
                ends[other] = ends[best]
            ends[best] = new
        return ends[best]


def strong_wolfe(look, t, d, value, grad, slope, max_evals=25, tolerance=1e-9):
    """look(t) gives value and gradient at t times d. Returns those of the point found, t, and how often it looked."""
    search = _Search(look, t, d, value, grad, slope, max_evals, tolerance)
    found = search.zoom(search.bracket())
    return found.value, found.grad, found.t, search.n + 1
