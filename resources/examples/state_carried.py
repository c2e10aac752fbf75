"""The state of an RNN is carried to the next step without detach(): the second backward pass meets a graph that is gone."""
import torch
from torch import nn

torch.manual_seed(0)
cell = nn.Linear(8, 4)
state = torch.zeros(1, 4)
for step in range(3):
    state = torch.tanh(cell(torch.cat([torch.randn(1, 4), state], dim=1)))
    try:
        state.sum().backward()
    except RuntimeError as error:
        print(f'step {step}: {str(error).split(" (")[0]}')
        break
    # state = state.detach() is what is missing
