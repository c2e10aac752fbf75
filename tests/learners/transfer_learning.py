# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, transfer learning: a frozen body, a new head"""
import copy

import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim import lr_scheduler

torch.manual_seed(0)
body = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten())
model = nn.Sequential()
model.add_module('body', body)
for param in model.parameters():
    param.requires_grad = False
model.fc = nn.Linear(8, 2)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.fc.parameters(), lr=0.1, momentum=0.9)
scheduler = lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
inputs, labels = torch.randn(16, 3, 8, 8), torch.randint(2, (16,))
best, best_acc = copy.deepcopy(model.state_dict()), 0.0
for epoch in range(4):
    for phase in ['train', 'val']:
        model.train(phase == 'train')
        optimizer.zero_grad()
        with torch.set_grad_enabled(phase == 'train'):
            outputs = model(inputs)
            _, preds = torch.max(outputs, 1)
            loss = criterion(outputs, labels)
            if phase == 'train':
                loss.backward()
                optimizer.step()
        epoch_acc = torch.sum(preds == labels.data).double() / 16
        print(f'{phase} Loss: {loss.item():.4f} Acc: {epoch_acc:.4f}')
        if phase == 'val' and epoch_acc > best_acc:
            best_acc, best = epoch_acc, copy.deepcopy(model.state_dict())
    scheduler.step()
model.load_state_dict(best)
print(f'Best val Acc: {best_acc:4f}', scheduler.get_last_lr())
