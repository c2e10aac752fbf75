# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch tutorials, knowledge distillation"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)
teacher = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 4))
student = nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 4))
inputs, labels = torch.randn(32, 10), torch.randint(0, 4, (32,))
ce_loss, optimizer = nn.CrossEntropyLoss(), torch.optim.Adam(student.parameters(), lr=0.01)
teacher.eval()
student.train()
T, soft_target_loss_weight, ce_loss_weight = 2, 0.25, 0.75
for epoch in range(4):
    optimizer.zero_grad()
    with torch.no_grad():
        teacher_logits = teacher(inputs)
    student_logits = student(inputs)
    soft_targets = nn.functional.softmax(teacher_logits / T, dim=-1)
    soft_prob = nn.functional.log_softmax(student_logits / T, dim=-1)
    soft_targets_loss = torch.sum(soft_targets * (soft_targets.log() - soft_prob)) / soft_prob.size()[0] * (T ** 2)
    loss = soft_target_loss_weight * soft_targets_loss + ce_loss_weight * ce_loss(student_logits, labels)
    loss.backward()
    optimizer.step()
    print(epoch, f'{loss.item():.4f}')
cosine = nn.CosineEmbeddingLoss()
print(f'{cosine(student_logits, teacher_logits, target=torch.ones(32)).item():.4f}')
print(f'{F.kl_div(soft_prob, soft_targets, reduction="batchmean").item():.4f}')
