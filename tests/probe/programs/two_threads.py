"""Two threads that train at once, each its own net; and one that calls backward on a graph made by another."""
import threading

import torch
from torch import nn

losses = {}
start = threading.Barrier(2)


def train(name, seed, width):
    generator = torch.Generator().manual_seed(seed)
    weights = [torch.randn(8, width, generator=generator, requires_grad=True),
               torch.randn(width, 1, generator=generator, requires_grad=True)]
    x = torch.randn(32, 8, generator=generator)
    optimizer = torch.optim.SGD(weights, lr=0.01)
    losses[name] = []
    start.wait()
    for _ in range(6):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(torch.tanh(x @ weights[0]) @ weights[1], x[:, :1])
        loss.backward()
        optimizer.step()
        losses[name].append(round(loss.item(), 6))


threads = [threading.Thread(target=train, args=arguments) for arguments in (('left', 1, 16), ('right', 2, 24))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for name in sorted(losses):
    print(name, losses[name])

torch.manual_seed(6)
x = torch.randn(3, requires_grad=True)
y = (x.exp() * x).sum()
thread = threading.Thread(target=y.backward)
thread.start()
thread.join()
print('elsewhere', x.grad)
