"""linear1, relu, linear2, and a sum of both branches: one node waits for two gradients."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(1, 1)
        self.relu = nn.ReLU()
        self.linear2 = nn.Linear(1, 1)

    def forward(self, x):
        h = self.linear1(x)
        z = self.relu(h)
        y = self.linear2(h)
        return (z + y)[0]


torch.manual_seed(0)
net = Net()
x = torch.tensor([[1.0]], requires_grad=True)
net(x).backward()

for name, parameter in net.named_parameters():
    print(name, parameter.grad)
print('x', x.grad)
