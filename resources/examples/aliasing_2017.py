"""A defect of 2016: gradients kept by reference. Try --scheduler 2017, then 2017-fifo, then neither."""
import torch

x = torch.ones(2, requires_grad=True)
y = torch.ones(2, requires_grad=True)
a, b, c = x + 2, y + 2, x + 2

# An addition hands one and the same gradient to both of its operands: here to a, b and c, where it waits.
short = (a + b) + c

# Then a second gradient arrives at each of the three and is added in place: into all of them at once.
for _ in range(4):
    a, b, c = a * 2, b * 2, c * 2
long = (a + b) + c

(long + short).backward(torch.ones(2))
print('x.grad', x.grad.tolist(), 'should be [34.0, 34.0]: 16 and 1 from a, 16 and 1 from c')
print('y.grad', y.grad.tolist(), 'should be [17.0, 17.0]: 16 and 1 from b')
