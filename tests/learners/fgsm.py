# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, adversarial examples: the fast gradient sign"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10), nn.LogSoftmax(dim=1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
data, target = torch.rand(20, 1, 10, 10), torch.arange(20) % 10
for _ in range(15):
    optimizer.zero_grad()
    F.nll_loss(model(data), target).backward()
    optimizer.step()
model.eval()


def fgsm_attack(image, epsilon, data_grad):
    perturbed_image = image + epsilon * data_grad.sign()
    return torch.clamp(perturbed_image, 0, 1)


for epsilon in [0, .05, .1, .2]:
    correct = 0
    for i in range(20):
        image, label = data[i:i + 1].clone(), target[i:i + 1]
        image.requires_grad = True
        output = model(image)
        init_pred = output.max(1, keepdim=True)[1]
        if init_pred.item() != label.item():
            continue
        loss = F.nll_loss(output, label)
        model.zero_grad()
        loss.backward()
        output = model(fgsm_attack(image, epsilon, image.grad.data))
        correct += output.max(1, keepdim=True)[1].item() == label.item()
    print(f'Epsilon: {epsilon}\tTest Accuracy = {correct} / 20')
