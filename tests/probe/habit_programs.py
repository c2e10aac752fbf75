# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of different habits: habit_programs.py NAME runs one, habit_programs.py alone lists their names. A line without a
time or an address says what came out. tests/probe/habits.py measures what recording costs each."""
import cProfile
import gc
import io
import os
import signal
import sys
import threading

import torch
from torch import nn


def net(width=64, depth=4):
    torch.manual_seed(0)
    return nn.Sequential(*(layer for _ in range(depth) for layer in (nn.Linear(width, width), nn.Tanh())))


def train(model, steps, each=lambda loss: None, width=64, batch=64):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    torch.manual_seed(1)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(torch.randn(batch, width)) ** 2).mean()
        loss.backward()
        each(loss)
        optimizer.step()
    return round(loss.item(), 4)


def plain():
    return train(net(256), 300, width=256)


def item_each_step():
    seen = []
    result = train(net(256), 300, lambda loss: seen.append(loss.item()), width=256)
    return result, len(seen)


def item_in_forward():
    x, total = torch.ones(64, requires_grad=True), 0.0
    y = x
    for _ in range(1500):
        y = torch.tanh(y * 1.01)
        total += y.sum().item()
    y.sum().backward()
    return round(total, 2)


def many_hooks():
    model, calls = net(), [0]

    def hook(*_):
        calls[0] += 1
    for parameter in model.parameters():
        for _ in range(20):
            parameter.register_hook(hook)
    for module in model:
        module.register_forward_hook(hook)
        module.register_full_backward_hook(hook)
    return train(model, 100), calls[0]


def tiny_tensors():
    parameters = [torch.ones(2, requires_grad=True) for _ in range(3000)]
    for _ in range(20):
        sum((parameter * 2).sum() for parameter in parameters).backward()
    return parameters[0].grad.tolist()


def hundred_threads():
    results = [None] * 100

    def work(i):
        x = torch.full((200,), float(i), requires_grad=True)
        for _ in range(10):
            (x * x).sum().backward()
        results[i] = x.grad[0].item()
    threads = [threading.Thread(target=work, args=(i,)) for i in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(results)


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, i):
        return torch.full((64,), float(i))


def loader_workers():
    model, total = net(), 0.0
    for batch in torch.utils.data.DataLoader(Numbers(), batch_size=20, num_workers=2):
        loss = model(batch / 400).sum()
        loss.backward()
        total += loss.item()
    return round(total, 2)


def big_views():
    x = torch.ones(1 << 20, requires_grad=True)
    for _ in range(20):
        x.unfold(0, 64, 1)[:, 0].sum().backward()
        x.view(1024, 1024).t()[::2].sum().backward()
        x[:1].expand(1 << 22).sum().backward()
    return x.grad[0].item()


def inplace_large():
    x, target = torch.ones(1000, requires_grad=True), torch.zeros(1 << 22)
    for i in range(40):
        y = target.clone()
        y[i * 1000:(i + 1) * 1000] = x
        y.index_copy_(0, torch.arange(1000), x * 2)
        y[:2000].sum().backward()
    return x.grad[0].item()


def detached_window():
    rows = torch.zeros(1 << 22)
    x = torch.ones(256, requires_grad=True)
    for i in range(300):
        rows[i * 256:(i + 1) * 256] = x.detach() * i
        (x * rows[:256]).sum().backward()
    return rows.sum().item()


def collector_storm():
    class Cycle:
        def __init__(self, loss):
            self.me, self.loss = self, loss
    gc.set_threshold(50, 2, 2)
    return train(net(), 200, Cycle)


def alarms():
    rings = [0]

    def ring(*_):
        rings[0] += 1
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    result = train(net(), 300)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return result, rings[0] > 0


def alarms_that_raise():
    class Late(Exception):
        pass

    def ring(*_):
        raise Late
    signal.signal(signal.SIGALRM, ring)
    model, caught = net(), 0
    for _ in range(100):
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.05)  # again, where Python itself drops one in a callback
            while True:
                train(model, 1)
        except Late:
            signal.setitimer(signal.ITIMER_REAL, 0)
            caught += 1
    return caught


def python_profiler():
    profiler = cProfile.Profile()
    profiler.enable()
    result = train(net(), 200)
    profiler.disable()
    return result


def own_profiler():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        result = train(net(), 50)
    return result, len(profiler.key_averages()) > 10


def tracer():
    lines = [0]

    def trace(frame, event, argument):
        lines[0] += frame.f_code.co_filename == __file__
        return trace
    sys.settrace(trace)
    result = train(net(), 50)
    sys.settrace(None)
    return result, lines[0]


def custom_functions():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.name = ctx.variable = factor
            return x * factor

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.name, None
    x = torch.ones(100, requires_grad=True)
    for _ in range(30):
        y = x
        for _ in range(100):
            y = Scale.apply(y, 1.01)
        y.sum().backward()
    return round(x.grad[0].item(), 4)


def checkpoints():
    from torch.utils.checkpoint import checkpoint
    model = net(depth=8)
    x = torch.ones(64, 64, requires_grad=True)
    for _ in range(60):
        y = x
        for layer in model:
            y = checkpoint(layer, y, use_reentrant=True)
        y.sum().backward()
    return round(x.grad.sum().item(), 3)


def double_backward():
    model = net()
    for _ in range(60):
        x = torch.ones(64, 64, requires_grad=True)
        gradient, = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        (gradient ** 2).sum().backward()
    return round(model[0].weight.grad.sum().item(), 3)


def deep_graph():
    x = torch.ones(8, requires_grad=True)
    for _ in range(3):
        y = x
        for _ in range(20000):
            y = y + 1
        y.sum().backward()
    return x.grad[0].item()


def forks():
    x, statuses = torch.ones(10, requires_grad=True), []
    for i in range(10):
        (x * 2).sum().backward()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            (x * 2).sum().backward()
            os._exit(i)
        statuses.append(os.waitpid(child, 0)[1] >> 8)
    return statuses


def saved_and_loaded():
    model, steps = net(), []
    for _ in range(30):
        steps.append(train(model, 5))
        buffer = io.BytesIO()
        torch.save(model.state_dict(), buffer)
        buffer.seek(0)
        model = net()
        model.load_state_dict(torch.load(buffer))
    return steps[-1]


HABITS = {name: value for name, value in list(globals().items())
          if callable(value) and getattr(value, "__module__", "") == __name__ and name not in ("net", "train", "Numbers")}

if __name__ == "__main__":
    torch.set_num_threads(1)
    print(HABITS[sys.argv[1]]() if len(sys.argv) > 1 else "\n".join(HABITS))
