# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: a vision transformer"""
import torch
import torch.nn as nn

torch.manual_seed(0)


class ViT(nn.Module):
    def __init__(self, image=8, patch=4, dim=16, depth=2, heads=2, classes=5):
        super().__init__()
        n = (image // patch) ** 2
        self.patch = nn.Conv2d(3, dim, patch, stride=patch)
        self.pos_embedding = nn.Parameter(torch.randn(1, n + 1, dim))
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 32, dropout=0.0, activation='gelu', batch_first=True, norm_first=True)
        self.transformer = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))

    def forward(self, img):
        x = self.patch(img).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embedding
        return self.head(self.transformer(x)[:, 0])


model = ViT()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=4)
images, labels = torch.randn(6, 3, 8, 8), torch.randint(5, (6,))
for step in range(4):
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    print(step, f'{loss.item():.4f} {optimizer.param_groups[0]["lr"]:.6f}')
