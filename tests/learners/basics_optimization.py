# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, Learn the Basics: optimization loop"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
images = torch.rand(96, 1, 6, 6)
labels = (images.sum(dim=(1, 2, 3)) > 18).long()
train, test = TensorDataset(images[:64], labels[:64]), TensorDataset(images[64:], labels[64:])
train_dataloader, test_dataloader = DataLoader(train, batch_size=16, shuffle=True), DataLoader(test, batch_size=16)
model = nn.Sequential(nn.Flatten(), nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-1)


def train_loop(dataloader, model, loss_fn, optimizer):
    size = len(dataloader.dataset)
    model.train()
    for batch, (X, y) in enumerate(dataloader):
        loss = loss_fn(model(X), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if batch % 2 == 0:
            loss, current = loss.item(), batch * 16 + len(X)
            print(f'loss: {loss:>7f}  [{current:>5d}/{size:>5d}]')


def test_loop(dataloader, model, loss_fn):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for X, y in dataloader:
            pred = model(X)
            test_loss += loss_fn(pred, y).item()
            correct += (pred.argmax(1) == y).type(torch.float).sum().item()
    print(f'Accuracy: {(100 * correct / len(dataloader.dataset)):>0.1f}%, Avg loss: {test_loss / len(dataloader):>8f} \n')


for t in range(4):
    print(f'Epoch {t + 1}\n-------------------------------')
    train_loop(train_dataloader, model, loss_fn, optimizer)
    test_loop(test_dataloader, model, loss_fn)
