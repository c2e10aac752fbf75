# SPDX-License-Identifier: LGPL-2.1-or-later
"""waits_program.py KIND DEVICES LOG [SHARE]: backward passes whose nodes wait in known ways, on so many simulated devices. Each node
writes into LOG when its function ran, by the program's own clock: see waits_truth.py.
The functions take that share of their time."""
import hashlib
import json
import sys
import threading
import time

import torch

KIND, DEVICES, LOG = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SHARE = float(sys.argv[4]) if len(sys.argv) > 4 else 1
torch.set_num_threads(1)
log, n_made = [], 0


def sleep(ms):
    time.sleep(ms / 1e3)


def spin(ms):
    """Computes, and holds the GIL."""
    until = time.thread_time() + ms / 1e3
    while time.thread_time() < until:
        pass


def compute(ms):
    """Computes without the GIL."""
    until = time.thread_time() + ms / 1e3
    while time.thread_time() < until:
        hashlib.pbkdf2_hmac("sha256", b"word", b"salt", 400)


def nothing(ms):
    """Then the gradient goes on as it came."""


class Work(torch.autograd.Function):
    @staticmethod
    def forward(ctx, number, do, ms, *xs):
        ctx.number, ctx.do, ctx.ms, ctx.n = number, do, ms, len(xs)
        return sum(xs[1:], xs[0] * 1)

    @staticmethod
    def backward(ctx, g):
        begin = time.monotonic_ns()
        ctx.do(SHARE * ctx.ms)
        g = g if ctx.do is nothing else g * 1
        log.append((ctx.number, begin, time.monotonic_ns()))
        return (None, None, None, *[g] * ctx.n)


class Inner(torch.autograd.Function):
    """A node that calls backward itself."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            x = torch.ones(4, device=g.device, requires_grad=True)
            chain(3, x, sleep, 3).sum().backward()
        return g * 1


def work(device, do, ms, *before):
    """A node on a device that adds what others made. In the backward pass, these wait for it."""
    global n_made
    n_made += 1
    return Work.apply(n_made, do, ms, *[x.to(f"sim:{device % DEVICES}") for x in before])


def chain(n, x, do, ms, first=0):
    for i in range(n):
        x = work(first + i, do, ms, x)
    return x


def leaf():
    return torch.ones(4, device="sim:0", requires_grad=True)


def fan(do, ms):
    x = leaf()
    return work(0, do, ms, *[chain(4, x, do, ms, first=i) for i in range(2 * DEVICES)]).sum()


def hub():
    """Branches that end in one large weight: their gradients are added under the lock of the pass."""
    weight = torch.ones(2_000_000, device="sim:0", requires_grad=True)
    shared = weight * 1
    return work(0, sleep, 2, *[work(i, sleep, 2, shared) for i in range(2 * DEVICES)]).sum()


def bound():
    """A hub that has little else to do than sums."""
    weight = torch.ones(4_000_000, device="sim:0", requires_grad=True)
    shared = weight * 1
    return work(0, nothing, 0, *[work(i, nothing, 0, shared) for i in range(3 * DEVICES)]).sum()


def two():
    losses = [chain(12, leaf(), sleep, ms).sum() for ms in (6, 9)]
    start = threading.Barrier(2)
    def call(loss):
        start.wait()
        loss.backward()
    threads = [threading.Thread(target=call, args=(loss,)) for loss in losses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


KINDS = {
    "chain": lambda: chain(16, leaf(), sleep, 4).sum().backward(),
    "fan": lambda: fan(sleep, 4).backward(),
    "hub": lambda: hub().backward(),
    "lock-bound hub": lambda: bound().backward(),
    "two callers": two,
    "re-entrant": lambda: Inner.apply(chain(4, leaf(), sleep, 4)).sum().backward(),
    "GIL": lambda: fan(spin, 4).backward(),
    "spinning": lambda: fan(compute, 4).backward(),
}
KINDS[KIND]()
with open(LOG, "w") as file:
    json.dump(log, file)
