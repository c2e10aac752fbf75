# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mistakes that raise nothing: a plain recording of PyTorch finds each, and nothing in programs that only look like it."""
import functools
import json
import os
import re
import subprocess
import tempfile
import unittest

import skipping
import together
import torches

TAPEDECK = os.environ["TAPEDECK"]

START = """
import torch
torch.manual_seed(0)
F = torch.nn.functional
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x, y = torch.randn(10, 4), torch.randn(10, 2)
"""

# The kind, a part of what is said, and the program.
MISTAKES = {
    "nan_in_every_gradient": ("loss_nonfinite", r"The loss was NaN in 2 of 4 passes .* The first of them began at SumBackward0", """
for step in range(4):
    optimizer.zero_grad()
    out = net(x)
    if step > 0: out = out * (out - out).sqrt().sum()
    out.sum().backward()
    optimizer.step()
"""),
    "nan_in_gradients_alone": ("nonfinite_stored", r"The last gradient of .* and 2 more has NaN", """
for step in range(4):
    optimizer.zero_grad()
    out = net(x)
    (out * (0 * out).sqrt().sum()).sum().backward()
"""),
    "nan_in_the_loss_alone": ("loss_nonfinite", r"The loss was NaN: a backward pass began at AddBackward0", """
for step in range(4):
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    if step == 3: loss = loss + torch.tensor(0.0) / 0.0
    loss.backward()
    optimizer.step()
"""),
    "inf_of_one_loss_of_two": ("loss_nonfinite", r"The loss was Inf in 5 of 5 passes", """
for step in range(5):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    (net(x).sum() + float("inf")).backward()
    optimizer.step()
"""),
    "hook_that_writes": ("gradient_written", r"hook .*register_hook|hook .* wrote into the gradient that it was given, for which .*MulBackward0.* still waited", """
a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
v = b * 5
u = a * 3
u.register_hook(lambda g: g.mul_(10))
((v + u) * 2).sum().backward()
"""),
    "function_that_writes": ("gradient_written", r"^.*ClipBackward.* wrote into the gradient that it was given, for which .*AddmmBackward0.* still waited", """
class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)
    @staticmethod
    def backward(ctx, grad):
        return grad.clamp_(-0.1, 0.1)
skip = torch.nn.Linear(4, 2)
((skip(x) + Clip.apply(net(x))) * 2).sum().backward()
"""),
    "auxiliary_loss_at_first": ("gradient_lost", r"(bias|weight), .*(bias|weight) had a gradient at first, but none at step 4", """
aux = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD([*net.parameters(), *aux.parameters()], lr=0.05)
for step in range(6):
    for p in [*net.parameters(), *aux.parameters()]: p.grad = None
    h = net[0](x)
    loss = F.mse_loss(net[2](net[1](h)), y)
    if step == 0: loss = loss + aux(h).square().mean()
    loss.backward()
    optimizer.step()
"""),
    "validation_with_graphs": ("graphs_unreached", r"it still had 20 results of MeanBackward0 whose graphs no backward pass reached", """
outputs = []
for step in range(3):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
for batch in range(20): outputs.append(net(torch.randn(5, 4)).mean())
"""),
    "inf_without_a_module": ("nonfinite_stored", "The last gradient of a leaf without a name has Inf|The last gradient of w has Inf", """
w = torch.zeros(3, requires_grad=True)
w.sqrt().sum().backward()
"""),
    "no_zero_grad": ("never_cleared", "at 4 of 4 steps", """
for step in range(6):
    F.mse_loss(net(x), y).backward()
    optimizer.step()
"""),
    "zero_grad_once_an_epoch": ("never_cleared", "at 7 of 8 steps", """
for epoch in range(2):
    optimizer.zero_grad()
    for batch in range(5):
        F.mse_loss(net(x), y).backward()
        optimizer.step()
"""),
    "softmax_over_one": ("all_zero", r"All gradients that were stored are zero, 4 times.* SoftmaxBackward0 .* made a result of shape \[10, 1\]", """
head = torch.nn.Sequential(net, torch.nn.Linear(2, 1), torch.nn.Softmax(dim=1))
for step in range(4):
    head.zero_grad()
    F.mse_loss(head(x), torch.ones(10, 1) / 2).backward()
    optimizer.step()
"""),
    "hook_that_returns_zeros": ("all_zero", r"in the first one <lambda> \(hook_that_returns_zeros\.py:\d+\), on AddmmBackward0.*If it returns zeros", """
for step in range(4):
    optimizer.zero_grad()
    result = net(x)
    result.register_hook(lambda g: torch.zeros_like(g))
    F.mse_loss(result, y).backward()
    optimizer.step()
"""),
    "hook_of_a_module": ("all_zero", r"in the first one mute \(.*Else a function", """
last = torch.nn.Tanh()
def mute(module, inputs, outputs): return tuple(torch.zeros_like(g) for g in inputs)
last.register_full_backward_hook(mute)
for step in range(4):
    optimizer.zero_grad()
    F.mse_loss(last(net(x)), y).backward()
    optimizer.step()
"""),
    "padding_alone": ("all_zero", r"padding_idx alone", """
words = torch.nn.Embedding(9, 4, padding_idx=0)
optimizer = torch.optim.SGD(words.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    words(torch.zeros(3, 5, dtype=torch.long)).square().sum().backward()
    optimizer.step()
"""),
    "autocast_around_the_loop": ("stale_node", r"ToCopyBackward0 .* was made of .*(weight|bias) once, and ran again after 3 or more later steps", """
with torch.autocast("cpu", dtype=torch.bfloat16):
    for step in range(5):
        optimizer.zero_grad()
        F.mse_loss(net(x).float(), y).backward()
        optimizer.step()
"""),
    "copy_before_the_loop": ("stale_node", "was made of .*weight once", """
copied = net[0].weight.double()
for step in range(5):
    optimizer.zero_grad()
    h = (x.double() @ copied.t()).float().tanh()
    F.mse_loss(net[2](h) + net[0].bias.sum(), y).backward()
    optimizer.step()
"""),
    "replaced_after_the_optimizer": ("other_parameters", "No optimizer has 0.weight", """
net[0].weight = torch.nn.Parameter(torch.randn(8, 4))
for step in range(4):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
"""),
    "state_with_its_graph": ("graphs_kept", r"graphs of 5 earlier passes .* ran \d+ of them again: .* carries a state on", """
state = torch.zeros(10, 2)
for step in range(8):
    optimizer.zero_grad()
    state = (state + net(x)).tanh()
    F.mse_loss(state, y).backward(retain_graph=True)
"""),
    "penalty_at_points": ("graphs_kept", r"6 of these passes were calls of backward\(create_graph=True\)", """
for step in range(8):
    points = torch.randn(5, 4, requires_grad=True)
    net(points).sum().backward(create_graph=True)
    optimizer.zero_grad()
    (points.grad.norm(dim=1) - 1).square().mean().backward()
    optimizer.step()
"""),
    "dead_units": ("dead_layer", r"All gradients of 0.(weight|bias), 0.(weight|bias) were zero, 5 times for each. ReluBackward0 .* passed nothing on", """
net[1] = torch.nn.ReLU()
with torch.no_grad(): net[0].bias.fill_(-100)
for step in range(5):
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)  # the graph of the step before lives until now
    loss.backward()
    optimizer.step()
"""),
    "lost_with_zeros": ("gradient_lost", r"both.aux.(weight|bias), both.aux.(weight|bias) had a gradient at first, but none at step 4", """
class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.aux = torch.nn.Linear(4, 2), torch.nn.Linear(2, 2)
both = Both()
optimizer = torch.optim.SGD(both.parameters(), lr=0.1)
for step in range(8):
    optimizer.zero_grad(set_to_none=False)
    h = both.body(x)
    (F.mse_loss(h, y) + (both.aux(h).sum() if step == 0 else 0)).backward()
    optimizer.step()
"""),
    "helper_that_keeps_the_gil": ("gil_kept", r"waited [\d.]+ ms for Python's GIL, which .* had when they began to wait: \d+ times", """
import threading, time
stop = False
def count():
    while not stop: sum(range(1000000))
for p in net.parameters(): p.register_hook(lambda g: time.sleep(0.001))
helper = threading.Thread(target=count)
helper.start()
for step in range(3):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
stop = True
helper.join()
"""),
    "second_derivative_of_a_line": ("result_unreached", "no path leads there from SumBackward0", """
point = torch.randn(5, 4, requires_grad=True)
force, = torch.autograd.grad(net[0](point).sum(), point, create_graph=True)
torch.autograd.grad(force.sum(), point)
"""),
    "gradients_left_off": ("program_failed", r"no graph. When the program ended, gradients were still switched off", """
for step in range(2):
    F.mse_loss(net(x), y).backward()
    torch.set_grad_enabled(False)
    print(F.mse_loss(net(x), y).item())
"""),
    "inf_and_then_nan": ("loss_nonfinite", r"The loss was NaN in 2 and Inf in 1 of 4 passes", """
for step in range(4):
    (net(x).sum() * (1.0, float("inf"), float("nan"), float("nan"))[step]).abs().backward()
"""),
    "nan_of_one_batch": ("loss_nonfinite", r"The loss was NaN in 1 of 5 passes .*, and an optimizer made a step after it", """
for step in range(5):
    optimizer.zero_grad()
    chosen = x[:, 0] > (9 if step == 2 else -9)
    F.mse_loss(net(x)[chosen], y[chosen]).backward()
    optimizer.step()
"""),
    "frozen_with_its_gradient": ("frozen_step", r"0.(weight|bias), 0.(weight|bias) required no gradient at step 4", """
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(9):
    optimizer.zero_grad(set_to_none=False)
    F.mse_loss(net(x), y).backward()
    optimizer.step()
    if step == 2: net[0].requires_grad_(False)
"""),
}
DIFFERS = """
from torch.utils.checkpoint import checkpoint
calls = []
def block(h):
    calls.append(1)
    return h.sin().cos() if len(calls) == 1 else h.sin()
F.mse_loss(checkpoint(block, net(x), use_reentrant=False), y).backward()
"""
BESIDE = {"nan_in_gradients_alone": {"optimizer_idle"}, "state_with_its_graph": {"optimizer_idle"},
          "inf_and_then_nan": {"optimizer_idle"}}  # kinds that the same mistake makes too
FAILS = {"second_derivative_of_a_line", "gradients_left_off"}

# Programs that do nothing wrong, though each looks like one of these.
RIGHT = {
    "a_loss_that_recovers": """
for step in range(5):
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y) * (float("inf") if step == 1 else 1.0)
    loss.backward()
    if all(p.grad.isfinite().all() for p in net.parameters()): optimizer.step()
""",
    "penalty_that_is_cleared": """
for step in range(8):
    for p in net.parameters(): p.grad = None
    F.mse_loss(net(x), y).backward(create_graph=True)
    optimizer.step()
for p in net.parameters(): p.grad = None
""",
    "penalty_by_grad": """
for step in range(8):
    points = torch.randn(5, 4, requires_grad=True)
    slope, = torch.autograd.grad(net(points).sum(), points, create_graph=True)
    optimizer.zero_grad()
    (F.mse_loss(net(x), y) + (slope.norm(dim=1) - 1).square().mean()).backward()
    optimizer.step()
""",
    "checkpoint_with_dropout": """
from torch.utils.checkpoint import checkpoint
for step in range(4):
    optimizer.zero_grad()
    F.mse_loss(checkpoint(lambda h: F.dropout(h.sin(), 0.5).cos(), net(x), use_reentrant=False), y).backward()
    optimizer.step()
""",
    "checkpoint_that_counts": """
from torch.utils.checkpoint import checkpoint
calls = []
def block(h):
    calls.append(1)
    return h.sin().cos()
for step in range(4):
    optimizer.zero_grad()
    F.mse_loss(checkpoint(block, net(x), use_reentrant=False), y).backward()
    optimizer.step()
""",
    "accuracy_by_argmax": """
for step in range(3):
    optimizer.zero_grad()
    out = net(x)
    right = (out.argmax(1) == y.argmax(1)).float().mean() + out.data.argmin(1).float().mean()
    F.mse_loss(out, y).backward()
    optimizer.step()
""",
    "values_by_data": """
for step in range(3):
    optimizer.zero_grad()
    out = net(x)
    seen = [out.data.norm(), *(p.data.norm() for p in net.parameters())]
    F.mse_loss(out, y + 0 * out.data).backward()
    optimizer.step()
""",
    "validation_in_the_autocast_of_the_step": """
for step in range(3):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = net(x)
        with torch.no_grad(): seen = net(x).float().mean()
        loss = F.mse_loss(out.float(), y)
    loss.backward()
    optimizer.step()
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad(): net(x)
""",
    "a_helper_that_sleeps": """
import threading, time
stop = threading.Event()
def watch():
    while not stop.wait(0.001): sum(range(100))
for p in net.parameters(): p.register_hook(lambda g: time.sleep(0.001))
helper = threading.Thread(target=watch)
helper.start()
for step in range(3):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
stop.set()
helper.join()
""",
    "threads_that_train_at_once": """
import threading, time
def train():
    mine = torch.nn.Linear(4, 2)
    for p in mine.parameters(): p.register_hook(lambda g: (time.sleep(0.001), sum(range(1000000)))[:0] or g)
    for step in range(4):
        mine.zero_grad()
        F.mse_loss(mine(x), y).backward()
threads = [threading.Thread(target=train) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""",
    "a_metric_that_is_nan": """
for step in range(4):
    optimizer.zero_grad()
    out = net(x)
    ratio = out.detach().sum() / 0.0 - out.detach().sum() / 0.0
    F.mse_loss(out, y).backward()
    optimizer.step()
""",
    "a_hook_that_writes_into_its_own": """
w = torch.ones(3, requires_grad=True)
for step in range(4):
    h = w * 3
    h.register_hook(lambda g: g.mul_(10))
    (h * 2).sum().backward()
    w.grad = None
""",
    "a_hook_that_clones": """
a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
for step in range(4):
    v, u = b * 5, a * 3
    u.register_hook(lambda g: g.clone().mul_(10))
    (v + u).sum().backward()
    a.grad = b.grad = None
""",
    "a_function_that_writes_last": """
class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clamp(min=0)
    @staticmethod
    def backward(ctx, grad):
        return grad.clamp_(-0.1, 0.1)
for step in range(4):
    optimizer.zero_grad()
    first = Clip.apply(net(x))
    ((first + net(x)) * 2).sum().backward()  # the other one runs before, and nobody waits
    optimizer.step()
""",
    "dead_at_first": """
net[1] = torch.nn.ReLU()
with torch.no_grad(): net[0].bias.fill_(-100)
for step in range(8):
    optimizer.zero_grad()
    if step == 4:
        with torch.no_grad(): net[0].bias.fill_(1)
    F.mse_loss(net(x), y).backward()
    optimizer.step()
""",
    "a_term_times_zero_behind_a_relu": """
aux = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD([*net.parameters(), *aux.parameters()], lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    (F.mse_loss(net(x), y) + 0.0 * aux(net[0](x)).sum()).backward()
    optimizer.step()
""",
    "one_layer_behind_a_dead_relu_and_elsewhere": """
net[1], shared = torch.nn.ReLU(), net[0]
with torch.no_grad(): shared.bias.fill_(-100)
for step in range(5):
    optimizer.zero_grad()
    (F.mse_loss(net(x), y) + (shared(x) + 100).square().mean()).backward()
    optimizer.step()
""",
    "inputs_of_zero_and_a_relu": """
net[1] = torch.nn.ReLU()
with torch.no_grad(): net[0].bias.fill_(1)
for step in range(5):
    optimizer.zero_grad()
    F.mse_loss(net(0 * x), y).backward()
    optimizer.step()
""",
    "frozen_later_with_zeros": """
for step in range(9):
    optimizer.zero_grad(set_to_none=False)
    F.mse_loss(net(x), y).backward()
    optimizer.step()
    if step == 1: net[0].requires_grad_(False)
""",
    "a_few_experts_with_zeros": """
experts = torch.nn.ModuleList(torch.nn.Linear(4, 2) for _ in range(4))
optimizer = torch.optim.SGD(experts.parameters(), lr=0.05)
for chosen in (0, 1, 2, 3, 1, 2, 3, 1, 2):
    optimizer.zero_grad(set_to_none=False)
    F.mse_loss(experts[chosen](x), y).backward()
    optimizer.step()
""",
    "frozen_later": """
for step in range(9):
    for p in net.parameters(): p.grad = None
    F.mse_loss(net(x), y).backward()
    optimizer.step()
    if step == 1: net[0].requires_grad_(False)
""",
    "a_few_experts": """
experts = torch.nn.ModuleList(torch.nn.Linear(4, 2) for _ in range(4))
optimizer = torch.optim.SGD(experts.parameters(), lr=0.05)
for chosen in (0, 1, 2, 3, 1, 2, 3, 1, 2):
    for p in experts.parameters(): p.grad = None
    F.mse_loss(experts[chosen](x), y).backward()
    optimizer.step()
""",
    "validation_without_graphs": """
outputs, kept = [], []
for step in range(3):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
with torch.no_grad():
    for batch in range(20): outputs.append(net(torch.randn(5, 4)).mean())
for batch in range(20): kept.append(net(torch.randn(5, 4)).mean().item())
last = net(x)
""",
    "results_that_passes_reached": """
results = []
for step in range(12):
    results.append(net(x).sum())
torch.stack(results).sum().backward()
""",
    "set_to_zero": """
for step in range(6):
    optimizer.zero_grad(set_to_none=False)
    F.mse_loss(net(x), y).backward()
    optimizer.step()
""",
    "gradient_accumulation": """
for step in range(5):
    optimizer.zero_grad()
    for micro in range(4):
        (F.mse_loss(net(x), y) / 4).backward()
    optimizer.step()
""",
    "gan": """
G, D = torch.nn.Linear(4, 4), torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.Sigmoid())
opt_G, opt_D = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
for step in range(6):
    fake = G(torch.randn(10, 4))
    opt_D.zero_grad()
    (-(D(x).log() + (1 - D(fake.detach())).log()).mean()).backward()
    opt_D.step()
    opt_G.zero_grad()
    (-D(fake).log().mean()).backward()  # leaves gradients in D too
    opt_G.step()
""",
    "rates_of_their_own": """
fast, slow = torch.optim.SGD(net[0].parameters(), lr=0.1), torch.optim.SGD(net[2].parameters(), lr=0.1)
for step in range(12):
    fast.zero_grad()
    if step % 3 == 0: slow.zero_grad()
    F.mse_loss(net(x), y).backward()
    fast.step()
    if step % 3 == 2: slow.step()
""",
    "head_alone": """
optimizer = torch.optim.SGD(net[2].parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()  # the trunk's gradients are never cleared, and never used
    F.mse_loss(net(x), y).backward()
    optimizer.step()
""",
    "closures": """
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=3)
def closure():
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    return loss
for step in range(4): optimizer.step(closure)
""",
    "scaled_too_much_at_first": """
scale = 1e39
for step in range(5):
    optimizer.zero_grad()
    (F.mse_loss(net(x), y).double() * scale).float().backward()
    if all(p.grad.isfinite().all() for p in net.parameters()): optimizer.step()
    else: scale = 1.0
""",
    "zeros_in_one_branch": """
aux = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD([*net.parameters(), *aux.parameters()], lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    (F.mse_loss(net(x), y) + 0.0 * aux(net[0](x)).sum()).backward()
    optimizer.step()
""",
    "zeros_at_first": """
up = torch.nn.Linear(2, 2, bias=False)
torch.nn.init.zeros_(up.weight)
optimizer = torch.optim.SGD([*net.parameters(), *up.parameters()], lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    F.mse_loss(up(net(x)), y).backward()
    optimizer.step()
""",
    "views_before_the_loop": """
turned = net[0].weight.t()
for step in range(5):
    optimizer.zero_grad()
    F.mse_loss(net[2]((x @ turned).tanh()) + net[0].bias.sum(), y).backward()
    optimizer.step()
""",
    "kept_and_owned_by_nobody": """
scale, optimizer = torch.nn.Linear(4, 8), torch.optim.SGD(net[2].parameters(), lr=0.1)
h = scale(x).tanh()
for step in range(5):
    optimizer.zero_grad()
    F.mse_loss(net[2](h), y).backward(retain_graph=True)
    optimizer.step()
""",
    "shared_weights": """
one = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(one.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    one(one(one(x))).square().mean().backward()
    optimizer.step()
""",
    "unused_and_allowed": """
point = torch.randn(5, 4, requires_grad=True)
force, = torch.autograd.grad(net[0](point).sum(), point, create_graph=True)
print(torch.autograd.grad(force.sum(), point, allow_unused=True))
""",
    "loops_inside": """
for step in range(4):
    optimizer.zero_grad()
    inner = net[0].weight
    for k in range(3):
        g, = torch.autograd.grad((x @ inner.t()).square().sum(), inner, create_graph=True)
        inner = inner - 0.01 * g
    (F.mse_loss(net(x), y) + (x @ inner.t()).square().mean()).backward()
    optimizer.step()
""",
    "zero_grad_after_the_step": """
for step in range(6):
    F.mse_loss(net(x), y).backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "spikes_left_out": """
for step in range(8):
    F.mse_loss(net(x), y).backward()
    if step in (1, 4): optimizer.zero_grad()
    optimizer.step()
    optimizer.zero_grad()
""",
    "optimizer_for_later": """
later = torch.optim.Adam(torch.nn.Linear(3, 3).parameters())
for step in range(5):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
""",
    "another_optimizer_steps": """
other = torch.optim.Adam(net.parameters())
for step in range(5):
    other.zero_grad()
    F.mse_loss(net(x), y).backward()
    other.step()
""",
    "updated_by_hand": """
del optimizer
for step in range(5):
    F.mse_loss(net(x), y).backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.1 * p.grad
            p.grad.zero_()
""",
    "steps_of_its_own": """
class Mine(torch.optim.Optimizer):
    def __init__(self, parameters): super().__init__(parameters, {})
    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]: p -= 0.05 * p.grad
        self.zero_grad()
mine = Mine(net.parameters())
for step in range(9):
    F.mse_loss(net(x), y).backward()
    mine.step()
""",
    "softmax_that_is_no_loss": """
labels, query = torch.randint(0, 2, (10,)), torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD([*net.parameters(), *query.parameters()], lr=0.05)
for step in range(5):
    optimizer.zero_grad()
    seen = torch.softmax(query(x) @ x.t(), 1) @ x
    scores = net(seen)
    gate = torch.sigmoid(scores)
    loss = F.cross_entropy(F.log_softmax(scores, 1), labels) + F.nll_loss(F.log_softmax(scores, 1), labels)
    (loss + F.binary_cross_entropy(gate, y.sigmoid()) + F.binary_cross_entropy_with_logits(scores * gate, y.sigmoid())).backward()
    optimizer.step()
""",
    "distances_of_all_pairs": """
line = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(line.parameters(), lr=0.05)
for step in range(5):
    optimizer.zero_grad()
    z = line(x)
    (F.mse_loss(z, y[:, :1]) + (z - z.t()).pow(2).mean() + F.mse_loss(z.expand(10, 2), y)).backward()
    optimizer.step()
""",
    "list_that_is_owned": """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [torch.nn.Linear(4, 4) for _ in range(2)]
        self.teacher = [torch.nn.Linear(4, 2).requires_grad_(False)]
        self.last = torch.nn.Linear(4, 2)
    def forward(self, x):
        for layer in self.layers: x = layer(x).tanh()
        return self.last(x) + self.teacher[0](x)
net = Net()
optimizer = torch.optim.SGD([*net.parameters(), *net.layers[0].parameters(), *net.layers[1].parameters()], lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
""",
    "frozen_by_hooks": """
for p in net[0].parameters(): p.register_hook(lambda g: g * 0)
optimizer = torch.optim.SGD([{"params": net[0].parameters()}, {"params": net[2].parameters()}], lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
""",
    "first_layers_muted_by_hooks": """
first = torch.optim.SGD(net[0].parameters(), lr=0.1)
last = torch.optim.SGD(net[2].parameters(), lr=0.1)
for p in net[0].parameters(): p.register_hook(lambda g: g * 0)
for step in range(9):
    first.zero_grad()
    last.zero_grad()
    F.mse_loss(net(x), y).backward()
    first.step()
    last.step()
""",
    "hooks_mend_nan": """
for p in net.parameters(): p.register_hook(lambda g: torch.nan_to_num(g, 0.1))
for step in range(5):
    optimizer.zero_grad()
    out = net(x)
    (F.mse_loss(out, y) + (out * 0).abs().sqrt().sum()).backward()
    optimizer.step()
""",
    "frozen_for_the_step": """
D = torch.nn.Linear(2, 1)
judge = torch.optim.Adam(D.parameters())
for step in range(9):
    judge.zero_grad()
    optimizer.zero_grad()
    D.requires_grad_(True)
    D(net(x).detach()).mean().backward()
    D.requires_grad_(False)
    D(net(x)).mean().backward()
    optimizer.step()
    judge.step()
""",
    "context_that_saves": """
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        result = x.exp() * factor
        ctx.save_for_backward(result)
        ctx.source, ctx.factor = x.detach(), factor
        return result
    @staticmethod
    def backward(ctx, grad): return grad * ctx.saved_tensors[0], None
for step in range(12):
    optimizer.zero_grad()
    Exp.apply(net(x), 1.0).mean().backward()
    optimizer.step()
""",
    "accuracy_in_between": """
for step in range(5):
    optimizer.zero_grad()
    result = net(x)
    F.mse_loss(result, y).backward()
    optimizer.step()
    print((result.argmax(1) == y.argmax(1)).float().mean().item(), (result > 0).long().sum().item())
""",
    "error_that_is_caught": """
for step in range(4):
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
try: torch.ones(3).sum().backward()
except RuntimeError as error: print(error)
""",
    "rounded_straight_through": """
for step in range(5):
    optimizer.zero_grad()
    z = net(x)
    F.mse_loss(z + (torch.round(z) - z).detach(), y).backward()
    optimizer.step()
""",
    "nan_that_is_left_out": """
for step in range(5):
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y) * (float("nan") if step == 2 else 1.0)
    loss.backward()
    if loss.isfinite(): optimizer.step()
""",
}

FUNCTION_FIRST = """
import torch
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return 3 * x.detach() ** 2 * grad.detach()
x = torch.tensor([2.0], requires_grad=True)
grad, = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
torch.autograd.grad(grad, x)
"""


@functools.cache
def recorded_together(python):
    """The programs of both tables, in one process of this PyTorch that forks for each: {name: how it ended}, and their folder."""
    folder = tempfile.TemporaryDirectory()
    programs = {**{name: mistake[2] for name, mistake in MISTAKES.items()}, **RIGHT}
    scripts = {name: [os.path.join(folder.name, name + ".py")] for name in programs}
    for name, program in programs.items():
        with open(*scripts[name], "w") as file:
            file.write(START + program)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return together.run(python, scripts, folder.name, environment, (TAPEDECK, "record")), folder

ZEROS_BESIDE_OTHERS = """
import torch
w = torch.ones(3, requires_grad=True)
class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, q): return p + q
    @staticmethod
    def backward(ctx, g): return g, g * 0
for _ in range(4):
    Two.apply(w * 0, w * 3).sum().backward()
"""


class SilentMistakes(unittest.TestCase):
    def findings(self, tape):
        done = subprocess.run([TAPEDECK, "findings", tape, "--json"], capture_output=True, text=True, timeout=100)
        told = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1 if told["findings"] else 0)
        return told["findings"]

    def each(self, names, look):
        for python in torches.of_test(self):
            ended = recorded_together(python)[0]
            for name in names:
                with self.subTest(name=name, python=python):
                    look(name, ended[name])

    def look_at_mistake(self, name, end):
        self.assertEqual(end.returncode != 0, name in FAILS, end.stderr)
        kind, words, _ = MISTAKES[name]
        found = self.findings(end.tape)
        self.assertEqual({one["kind"] for one in found}, {kind} | BESIDE.get(name, set()), found)
        first, = [one for one in found if one["kind"] == kind]
        self.assertRegex(f'{first["text"]} {first["advice"]}', words)
        self.assertTrue(first["advice"])

    def look_at_nothing(self, name, end):
        self.assertEqual(end.returncode, 0, end.stderr)
        self.assertEqual(self.findings(end.tape), [])

    def test_mistakes(self):
        self.each(MISTAKES, self.look_at_mistake)

    def test_nothing(self):
        self.each(RIGHT, self.look_at_nothing)

    def test_checkpoint_that_differs(self):
        """It fails. The advice says what to look for."""
        with tempfile.TemporaryDirectory() as folder:
            script, tape = os.path.join(folder, "one.py"), os.path.join(folder, "one.tape")
            with open(script, "w") as file:
                file.write(START + DIFFERS)
            subprocess.run([TAPEDECK, "record", "-o", tape, "--", torches.python_of("2.13.0"), script], capture_output=True, timeout=300)
            one, = self.findings(tape)
            self.assertEqual(one["kind"], "error")
            self.assertIn("did other operations than at first", one["advice"])

    def test_function_before_all(self):
        """Recording begins within the first operation of a program. If that is a custom function, the forward of it is no no_grad()."""
        with tempfile.TemporaryDirectory() as folder:
            script, tape = os.path.join(folder, "one.py"), os.path.join(folder, "one.tape")
            with open(script, "w") as file:
                file.write(FUNCTION_FIRST)
            for python in torches.of_test(self):
                subprocess.run([TAPEDECK, "record", "--force", "-o", tape, "--", python, script], capture_output=True, timeout=300)
                one, = self.findings(tape)
                self.assertEqual(one["kind"], "program_failed")
                self.assertIn("Not known why", one["advice"])

    def find_with_numbers(self, program):
        """The finding of a program, recorded with --stats full on each PyTorch."""
        with tempfile.TemporaryDirectory() as folder:
            script, tape = os.path.join(folder, "one.py"), os.path.join(folder, "one.tape")
            with open(script, "w") as file:
                file.write(program)
            for python in torches.of_test(self):
                subprocess.run([TAPEDECK, "record", "--force", "--stats", "full", "-o", tape, "--", python, script], capture_output=True, timeout=300)
                one, = self.findings(tape)
                yield one

    def test_first_zeros(self):
        """With numbers of gradients on the tape, the first node that gave out zeros is named, and no other recording is asked for."""
        for one in self.find_with_numbers(START + MISTAKES["hook_that_returns_zeros"][2]):
            self.assertRegex(one["advice"], r"The first node that gave out zeros alone, .* is AddmmBackward0")
            self.assertNotIn("record --stats", one["advice"])

    def test_zeros_beside_others(self):
        """A node whose second output alone is zero does not give out zeros alone."""
        for one in self.find_with_numbers(ZEROS_BESIDE_OTHERS):
            self.assertRegex(one["advice"], r"The first node that gave out zeros alone, .* is MulBackward0")

    def test_lines(self):
        """With --stacks, results that no pass reached have a line. Without, people are told how to get it."""
        with tempfile.TemporaryDirectory() as folder:
            script, tape = os.path.join(folder, "one.py"), os.path.join(folder, "one.tape")
            with open(script, "w") as file:
                file.write(START + MISTAKES["validation_with_graphs"][2])
            python = torches.of_test(self)[-1]
            for options, line in (((), None), (("--stacks",), "one.py:14")):
                subprocess.run([TAPEDECK, "record", "--force", *options, "-o", tape, "--", python, script], capture_output=True, timeout=300)
                one, = self.findings(tape)
                self.assertEqual((one["kind"], one["line"]), ("graphs_unreached", line))
                text = subprocess.run([TAPEDECK, "findings", tape], capture_output=True, text=True, timeout=100).stdout
                self.assertEqual("record --stacks does" in text, line is None, text)

    def assert_answers(self, tape, lines):
        """A recording says of each topic what `answers` says: one answer with its title."""
        told = json.loads(subprocess.run([TAPEDECK, "answers", tape, "--json"], capture_output=True, text=True, timeout=100).stdout)["answers"]
        for topic, title in (("time", "Where the time goes"), ("waits", "Who waits"), ("memory", "What holds memory"), ("unlooked", "What was not looked for")):
            line, = (line for line in lines if line.startswith(f"tapedeck: {title}: "))
            of_topic = [answer for answer in told if answer["topic"] == topic]
            most = max(of_topic, key=lambda answer: (answer["share"] or 0, (answer["ns"] or answer["bytes"] or 0) > 0, -of_topic.index(answer)))
            self.assertTrue(line.startswith(f"tapedeck: {title}: {most['text']}"), (line, of_topic))
            self.assertEqual(f"{100 * (most['share'] or 0):.0f} %" in line, most["share"] is not None, line)

    def test_words(self):
        """A program that failed is not told that nothing is wrong, and a recording ends with what it found."""
        with tempfile.TemporaryDirectory() as folder:
            script, tape = os.path.join(folder, "one.py"), os.path.join(folder, "one.tape")
            for python in torches.of_test(self):
                for program, found, told in (
                        ("x.sum().requires_grad_().backward()\nraise SystemExit(3)", "no findings", "no findings, and the program ended with status 3"),
                        (MISTAKES["no_zero_grad"][2], "1 finding, the first: Gradients are not cleared", "1 finding")):
                    with open(script, "w") as file:
                        file.write(START + program)
                    done = subprocess.run([TAPEDECK, "record", "--force", "-o", tape, "--", python, script], capture_output=True, text=True, timeout=300)
                    *answers, last = done.stderr.splitlines()
                    self.assertIn(f"recorded {tape}; {found}; see it with", last)
                    self.assert_answers(tape, answers)
                    text = subprocess.run([TAPEDECK, "findings", tape], capture_output=True, text=True, timeout=100).stdout
                    self.assertRegex(text.splitlines()[0], re.escape(told) + "$")
                    self.assertIn("not for where they are born: tapedeck record --anomaly nonfinite does.", text)


if __name__ == "__main__":
    skipping.main()
