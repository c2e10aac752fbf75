"""A transformer that trains: a custom Function inside, and hooks of all kinds that the versions of PyTorch share."""
import torch
from torch import nn

torch.manual_seed(11)


class Straight(torch.autograd.Function):
    """Rounds, and lets the gradient pass."""
    @staticmethod
    def forward(ctx, x):
        return (x * 8).round() / 8

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0) for _ in range(2))
        self.head = nn.Linear(16, 20)

    def forward(self, words):
        x = self.embedding(words)
        for layer in self.layers:
            x = Straight.apply(layer(x))
        x.register_hook(halve)
        x.retain_grad()
        self.features = x
        return self.head(x)


def halve(gradient):
    seen.append('tensor')
    return gradient / 2


seen = []
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.head.weight.register_hook(lambda gradient: seen.append('leaf'))
model.layers[0].register_full_backward_hook(lambda module, inputs, outputs: seen.append('module'))
words = torch.randint(0, 20, (6, 3))
for step in range(2):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(words[:-1]).flatten(0, 1), words[1:].flatten())
    loss.grad_fn.register_hook(lambda inputs, outputs: seen.append('node'))
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4), round(model.features.grad.norm().item(), 4), seen)
    seen.clear()
