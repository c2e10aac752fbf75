"""Four branches, one of them built by another thread: sequence numbers decide the order."""
import threading

import torch

x = torch.tensor([0.5], requires_grad=True)
y = x * 2
branches = {}


def build_tanh():
    branches['tanh'] = y.tanh()


a = y.sin()
b = y.exp()
worker = threading.Thread(target=build_tanh, name='worker')
worker.start()
worker.join()
c = y.cos()
loss = torch.cat([a, c, branches['tanh'], b]).sum()
loss.backward()

first = x.sqrt()
second = x.sigmoid()
if hasattr(first.grad_fn, '_set_sequence_nr'):  # PyTorch 2.1 and newer
    first.grad_fn._set_sequence_nr(100)
(first + second).backward()
print('x.grad', x.grad)
