"""A pass through three devices: each has a thread and a ready queue of its own."""
import torch


def device(name):
    """The device if it is there, else the CPU."""
    try:
        return torch.zeros(1).to(name).device
    except RuntimeError:
        return torch.device('cpu')


first, second = device('sim:0'), device('sim:1')
x = torch.tensor([0.5], requires_grad=True)
w = torch.tensor([2.0]).to(second).requires_grad_()
a = x.to(first).sin()
b = a.to(second).exp() * w
loss = b.to('cpu') * 3
loss.backward()
print('x.grad', x.grad, 'w.grad', w.grad)
