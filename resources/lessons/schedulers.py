"""Three ready nodes, and three orders of the ready queue: each pops another node first."""
import threading

import torch

x = torch.tensor([0.5], requires_grad=True)
y = x * 2
a = y.sin()
b = y.cos()
c = y.exp()
loss = torch.cat([a, c, b]).sum()
loss.backward()


def work():
    x.tanh().backward()


worker = threading.Thread(target=work, name='worker')
worker.start()
worker.join()
print('x.grad', x.grad)
