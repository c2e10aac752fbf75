# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: circles and spirals, logits and accuracy"""
import math

import torch
from torch import nn

torch.manual_seed(42)
angle = torch.rand(100) * 2 * math.pi
label = torch.arange(100) % 2
radius = torch.where(label == 1, 0.8, 1.0) + 0.03 * torch.randn(100)
X, y = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1), label.type(torch.float)
device = 'cuda' if torch.cuda.is_available() else 'cpu'


def accuracy_fn(y_true, y_pred):
    correct = torch.eq(y_true, y_pred).sum().item()
    return (correct / len(y_pred)) * 100


class CircleModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer_1 = nn.Linear(in_features=2, out_features=10)
        self.layer_2 = nn.Linear(in_features=10, out_features=10)
        self.layer_3 = nn.Linear(in_features=10, out_features=1)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.layer_3(self.relu(self.layer_2(self.relu(self.layer_1(x)))))


model = CircleModel().to(device)
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(42)
for epoch in range(40):
    model.train()
    y_logits = model(X).squeeze()
    y_pred = torch.round(torch.sigmoid(y_logits))
    loss, acc = loss_fn(y_logits, y), accuracy_fn(y_true=y, y_pred=y_pred)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.inference_mode():
            test_pred = torch.round(torch.sigmoid(model(X).squeeze()))
        print(f'Epoch: {epoch} | Loss: {loss:.5f}, Accuracy: {acc:.2f}%, after: {accuracy_fn(y, test_pred):.2f}%')
softmax_model = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3))
print(torch.softmax(softmax_model(X[:3]), dim=1).sum(dim=1), softmax_model(X[:5]).argmax(dim=1))
