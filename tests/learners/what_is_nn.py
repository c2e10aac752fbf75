# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, What is torch.nn really?"""
import math

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x_train = torch.rand(128, 64)
y_train = x_train[:, :4].argmax(1)
weights = torch.randn(64, 4) / math.sqrt(64)
weights.requires_grad_()
bias = torch.zeros(4, requires_grad=True)


def log_softmax(x):
    return x - x.exp().sum(-1).log().unsqueeze(-1)


def nll(input, target):
    return -input[range(target.shape[0]), target].mean()


def accuracy(out, yb):
    return (torch.argmax(out, dim=1) == yb).float().mean()


bs = 32
preds = log_softmax(x_train[0:bs] @ weights + bias)
print(preds[0], preds.shape)
print(nll(preds, y_train[0:bs]), accuracy(preds, y_train[0:bs]))
for epoch in range(2):
    for i in range((128 - 1) // bs + 1):
        xb, yb = x_train[i * bs:i * bs + bs], y_train[i * bs:i * bs + bs]
        loss = nll(log_softmax(xb @ weights + bias), yb)
        loss.backward()
        with torch.no_grad():
            weights -= weights.grad * 0.5
            bias -= bias.grad * 0.5
            weights.grad.zero_()
            bias.grad.zero_()
print(F.cross_entropy(x_train @ weights + bias, y_train))


class Mnist_Logistic(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(64, 4)

    def forward(self, xb):
        return self.lin(xb)


def loss_batch(model, loss_func, xb, yb, opt=None):
    loss = loss_func(model(xb), yb)
    if opt is not None:
        loss.backward()
        opt.step()
        opt.zero_grad()
    return loss.item(), len(xb)


model = Mnist_Logistic()
opt = optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
train_dl = DataLoader(TensorDataset(x_train, y_train), batch_size=bs, shuffle=True)
for epoch in range(3):
    model.train()
    for xb, yb in train_dl:
        loss_batch(model, F.cross_entropy, xb, yb, opt)
    model.eval()
    with torch.no_grad():
        losses, nums = zip(*[loss_batch(model, F.cross_entropy, xb, yb) for xb, yb in train_dl])
    print(epoch, f'{sum(a * b for a, b in zip(losses, nums)) / sum(nums):.4f}')


class Lambda(nn.Module):
    def __init__(self, func):
        super().__init__()
        self.func = func

    def forward(self, x):
        return self.func(x)


model = nn.Sequential(Lambda(lambda x: x.view(-1, 1, 8, 8)), nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ReLU(),
                      nn.Conv2d(4, 4, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                      Lambda(lambda x: x.view(x.size(0), -1)))
opt = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for xb, yb in train_dl:
    print(f'{loss_batch(model, F.cross_entropy, xb, yb, opt)[0]:.4f}')
