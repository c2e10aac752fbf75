"""Two branches on two devices, joined on the CPU: three ready queues and three threads. The devices are those of the
back end in the library that FAKE_DEVICE names."""
import os
import types

import torch

torch.ops.load_library(os.environ['FAKE_DEVICE'])
KIND = 'privateuseone'
if hasattr(torch.utils, 'rename_privateuse1_backend'):  # PyTorch 2 wants a name for the kind of device, and a module
    KIND = 'fake'
    torch.utils.rename_privateuse1_backend(KIND)
    torch._register_device_module(KIND, types.SimpleNamespace(
        is_available=lambda: True, device_count=lambda: 2, current_device=lambda: 0,
        manual_seed_all=lambda seed: None, _is_in_bad_fork=lambda: False))
first, second = torch.device(KIND, 0), torch.device(KIND, 1)

torch.manual_seed(9)
x = torch.randn(8, 8)
w0 = torch.randn(8, 8).to(first).requires_grad_()
w1 = torch.randn(8, 8).to(second).requires_grad_()
w2 = torch.randn(8, 8, requires_grad=True)

for step in range(3):
    a, b = x.to(first), x.to(second)
    for _ in range(4):
        a = torch.tanh(torch.mm(a, w0))
        b = torch.sigmoid(torch.mm(b, w1))
    loss = (a.to('cpu') * b.to('cpu') * w2).mean()
    loss.backward()
    print(f'step {step} loss {loss.item():.6f}', [round(w.grad.to('cpu').norm().item(), 6) for w in (w0, w1, w2)])

crossed = torch.mm(torch.mm(x.to(first), w0).to(second), w1)
print('from one to the other', round(torch.autograd.grad(crossed.sum(), w0)[0].to('cpu').norm().item(), 6))
