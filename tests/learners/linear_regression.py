# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small programs: linear regression in every style"""
import torch
from torch import nn

torch.manual_seed(42)
X = torch.arange(0, 1, 0.02).unsqueeze(dim=1)
y = 0.7 * X + 0.3
split = int(0.8 * len(X))
X_train, y_train, X_test, y_test = X[:split], y[:split], X[split:], y[split:]


class LinearRegressionModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.randn(1, dtype=torch.float), requires_grad=True)
        self.bias = nn.Parameter(torch.randn(1, dtype=torch.float), requires_grad=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weights * x + self.bias


model_0 = LinearRegressionModel()
print(list(model_0.parameters()), model_0.state_dict())
with torch.inference_mode():
    print(model_0(X_test)[:3])
loss_fn, optimizer = nn.L1Loss(), torch.optim.SGD(params=model_0.parameters(), lr=0.01)
for epoch in range(60):
    model_0.train()
    loss = loss_fn(model_0(X_train), y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        model_0.eval()
        with torch.inference_mode():
            print(f'Epoch: {epoch} | MAE Train Loss: {loss} | MAE Test Loss: {loss_fn(model_0(X_test), y_test)} ')
print(torch.linalg.lstsq(torch.cat([X, torch.ones_like(X)], 1), y).solution.squeeze())
