"""nn.LSTM of float64 with two layers over ten steps, in small operations: PyTorch 2 makes one node of a layer of float32."""
import torch
from torch import nn


def model():
    return nn.LSTM(16, 16, num_layers=2, batch_first=True, dtype=torch.float64)


def loss(lstm):
    output, _ = lstm(torch.randn(4, 10, 16, dtype=torch.float64))
    return output.sum()


if __name__ == '__main__':
    torch.manual_seed(0)
    value = loss(model())
    value.backward()
    print(f'sum {value.item():.4f}')
