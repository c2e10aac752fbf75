# SPDX-License-Identifier: LGPL-2.1-or-later
"""The script that test_models.py runs on PyTorch and on Tapedeck: writes what it saw to a JSON file.

    model_cases.py all|first OUT.json FOLDER_OF_EXAMPLES

With "first", no second derivatives, whose graphs PyTorch makes of other operations; nor what has no graph.
"""
import copy
import json
import os
import runpy
import sys

import torch
from torch import nn
from torch.nn import functional as F

ZOO = ('mlp_dropout', 'resnet18', 'lstm_cells', 'lstm', 'gpt_mini', 'vae', 'transformer_encoder', 'embedding_bag',
       'gan_generator', 'views_in_place')


def graph_facts(root):
    """How many nodes, the longest path, the most edges into one node, joins, and how often each kind is there."""
    edges, kinds, depth, waiting, seen = {}, {}, {}, [(root, False)], set()
    while waiting:
        node, children_done = waiting.pop()
        children = [child for child, _ in node.next_functions if child is not None]
        if children_done:
            depth[node] = max((depth[child] + 1 for child in children), default=0)
        elif node not in seen:
            seen.add(node)
            name = node.name().split('::')[-1]  # PyTorch says torch::autograd::AccumulateGrad
            kinds[name] = kinds.get(name, 0) + 1
            waiting.append((node, True))
            waiting.extend((child, False) for child in children)
            for child in children:
                edges[child] = edges.get(child, 0) + 1
    return {'nodes': len(seen), 'longest_path': depth[root], 'most_edges': max(edges.values()),
            'joins': sum(n > 1 for n in edges.values()), 'kinds': kinds}


def dense(tensor):
    return tensor.to_dense() if tensor.is_sparse else tensor


def zoo(folder):
    """Facts, loss, and .grad of every leaf in the order of a walk that is the same on all engines."""
    seen = {}
    for name in ZOO:
        torch.manual_seed(0)
        example = runpy.run_path(os.path.join(folder, name + '.py'))
        loss = example['loss'](*[example['model']()] if 'model' in example else [])
        seen[name] = {**graph_facts(loss.grad_fn), 'loss': loss.item()}
        leaves, waiting, met = [], [loss.grad_fn], set()
        while waiting:
            node = waiting.pop()
            if node is None or node in met:
                continue
            met.add(node)
            leaves += [node.variable] if node.name().endswith('AccumulateGrad') else []
            waiting += [child for child, _ in node.next_functions]
        loss.backward()
        seen[name]['gradients'] = sorted([dense(leaf.grad).double().abs().sum().item() for leaf in leaves])
    return seen


# Each layer: what makes it, and the sizes of its inputs.
LAYERS = {
    'conv2d': (lambda: nn.Conv2d(4, 6, 3, stride=2, padding=(1, 2), dilation=(1, 2), groups=2), [(2, 4, 7, 8)]),
    'conv2d 1x1': (lambda: nn.Conv2d(4, 3, 1, bias=False), [(2, 4, 5, 4)]),
    'conv2d 1x1 apart': (lambda: nn.Conv2d(4, 3, 1, stride=2), [(2, 4, 5, 4)]),
    'conv2d of one image': (lambda: nn.Conv2d(3, 2, (3, 2)), [(3, 5, 4)]),
    'conv2d depthwise': (lambda: nn.Conv2d(4, 8, 3, padding=1, groups=4), [(2, 4, 5, 5)]),
    'conv2d wide': (lambda: nn.Conv2d(3, 4, 3, padding=1), [(1, 3, 20, 20)]),
    'conv1d': (lambda: nn.Conv1d(4, 6, 3, 2, 1, dilation=2, groups=2), [(2, 4, 11)]),
    'conv_transpose2d': (lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
                         [(2, 4, 4, 5)]),
    'conv_transpose2d dilated': (lambda: nn.ConvTranspose2d(2, 3, 2, stride=1, dilation=2, bias=False), [(1, 2, 3, 3)]),
    'conv_transpose1d': (lambda: nn.ConvTranspose1d(2, 3, 3, stride=2), [(2, 2, 5)]),
    'max_pool2d': (lambda: nn.MaxPool2d(3, 2, 1), [(2, 3, 7, 6)]),
    'max_pool2d ceil': (lambda: nn.MaxPool2d((2, 3), 2, (0, 1), dilation=(2, 1), ceil_mode=True), [(1, 2, 8, 7)]),
    'avg_pool2d': (lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True), [(2, 2, 6, 7)]),
    'avg_pool2d inside': (lambda: nn.AvgPool2d(2, 1, 1, count_include_pad=False), [(2, 2, 4, 4)]),
    'avg_pool2d divisor': (lambda: nn.AvgPool2d(2, divisor_override=3), [(2, 4, 4)]),
    'adaptive_avg_pool2d': (lambda: nn.AdaptiveAvgPool2d((2, 3)), [(2, 2, 5, 7)]),
    'adaptive_avg_pool2d to one': (lambda: nn.AdaptiveAvgPool2d(1), [(2, 2, 5, 7)]),
    'batch_norm2d': (lambda: nn.BatchNorm2d(3), [(4, 3, 3, 2)]),
    'batch_norm2d eval': (lambda: nn.BatchNorm2d(3).eval(), [(4, 3, 3, 2)]),
    'batch_norm2d plain': (lambda: nn.BatchNorm2d(3, affine=False, track_running_stats=False), [(4, 3, 3, 2)]),
    'batch_norm1d': (lambda: nn.BatchNorm1d(5, momentum=None), [(6, 5)]),
    'layer_norm': (lambda: nn.LayerNorm((3, 4)), [(2, 5, 3, 4)]),
    'layer_norm plain': (lambda: nn.LayerNorm(4, elementwise_affine=False), [(2, 4)]),
    'group_norm': (lambda: nn.GroupNorm(2, 4), [(2, 4, 3)]),
    'linear': (lambda: nn.Linear(4, 3), [(2, 5, 4)]),
    'sequential': (lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(),
                                         nn.Linear(12, 2)), [(3, 2, 4, 4)]),
    'lstm': (lambda: nn.LSTM(3, 4, 2, bidirectional=True), [(5, 2, 3)]),
    'lstm unbatched': (lambda: nn.LSTM(3, 4, bias=False), [(5, 3)]),
    'gru': (lambda: nn.GRU(3, 4, 2), [(5, 2, 3)]),
    'rnn relu': (lambda: nn.RNN(3, 4, nonlinearity='relu'), [(5, 2, 3)]),
    'lstm_cell': (lambda: nn.LSTMCell(3, 4), [(2, 3)]),
    'gru_cell': (lambda: nn.GRUCell(3, 4), [(2, 3)]),
    'rnn_cell': (lambda: nn.RNNCell(3, 4), [(2, 3)]),
    'attention': (lambda: nn.MultiheadAttention(8, 2), [(3, 2, 8)] * 3),
    'encoder': (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, norm_first=True), 2),
                [(3, 2, 8)]),
    'leaky relu': (lambda: nn.LeakyReLU(0.2), [(2, 3)]),
    'gelu': (lambda: nn.GELU(), [(2, 3)]),
    'dropout': (lambda: nn.Dropout(0.3), [(5, 7)]),
}


def first_tensor(value):
    return first_tensor(value[0]) if isinstance(value, (tuple, list)) else value


def numbers(tensors):
    return [None if t is None else t.tolist() for t in tensors]


def run_layer(make, sizes, second):
    """Parameters, output, gradients, gradients of a function of the gradients, and what the layer remembers."""
    torch.manual_seed(1)
    layer = make()
    inputs = [torch.randn(size, requires_grad=True) for size in sizes]
    if len(inputs) == 3:
        inputs = inputs[:1] * 3  # of attention: query, key and value are one
    output = first_tensor(layer(*inputs))
    wanted = [inputs[0], *layer.parameters()]
    kinds = sorted(graph_facts(output.grad_fn)['kinds'].items())
    seeds = torch.tensor([i % 5 - 1.5 for i in range(output.numel())]).view(output.shape)
    grads = torch.autograd.grad(output, wanted, seeds, create_graph=second, allow_unused=True)
    seen = {'repr': repr(layer), 'parameters': numbers(layer.parameters()), 'output': output.tolist(),
            'kinds': kinds, 'gradients': numbers(grads), 'buffers': numbers(layer.buffers())}
    loss = sum((g * g).sum() for g in grads if g is not None and g.requires_grad)
    if second and isinstance(loss, torch.Tensor):
        try:
            seen['second'] = numbers(torch.autograd.grad(loss, wanted, allow_unused=True))
        except RuntimeError as error:
            seen['second'] = str(error).splitlines()[0]
    return seen


def products():
    """Matrix products of operands that lie in memory in every way."""
    def ways(rows, columns, dtype):
        big = torch.tensor([[(7 * i + 3 * j) % 11 - 5 for j in range(2 * max(rows, columns))]
                            for i in range(2 * max(rows, columns))]).to(dtype)
        return {'rows': big[:rows, :columns].contiguous(), 'pieces of rows': big[:rows, 1:1 + columns],
                'columns': big[:columns, :rows].t(), 'apart': big[:2 * rows:2, :2 * columns:2],
                'one row': big[:1, :columns].expand(rows, columns), 'one column': big[:rows, :1].expand(rows, columns),
                'one number': big[:1, :1].expand(rows, columns)}
    seen = {}
    for dtype in torch.float32, torch.float64, torch.int64:
        for n, k, m in (3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1), (2, 0, 3):
            left, right = ways(n, k, dtype), ways(k, m, dtype)
            seen[f'{dtype} {n} {k} {m}'] = [a.mm(b).tolist() for a in left.values() for b in right.values()]
    return seen


OPTIMIZERS = {
    'SGD': lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    'SGD dampening': lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.5, dampening=0.3),
    'Adam': lambda p: torch.optim.Adam(p, lr=0.05, weight_decay=0.1),
    'Adam amsgrad': lambda p: torch.optim.Adam(p, lr=0.05, amsgrad=True),
    'AdamW': lambda p: torch.optim.AdamW(p, lr=0.05),
    'RMSprop': lambda p: torch.optim.RMSprop(p, lr=0.02, momentum=0.5, centered=True),
    'Adagrad': lambda p: torch.optim.Adagrad(p, lr=0.1, lr_decay=0.1),
}


def run_optimizer(make):
    torch.manual_seed(2)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x, y = torch.randn(6, 3), torch.randn(6, 2)
    optimizer = make(net.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    rates = []
    for _ in range(5):
        optimizer.zero_grad()
        F.mse_loss(net(x), y).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        schedule.step()
        rates.append(schedule.get_last_lr()[0])
    return {'parameters': numbers(net.parameters()), 'rates': rates}


def module_hooks():
    """The order of hooks around a module, what full backward hooks see, and that they can change it."""
    torch.manual_seed(4)
    net, seen = nn.Sequential(nn.Linear(3, 2), nn.Tanh()), []
    net.register_forward_pre_hook(lambda module, args: seen.append('before') or (args[0] * 2,))
    net.register_forward_hook(lambda module, args, output: seen.append('after') or output * 3)
    net[0].register_full_backward_hook(
        lambda module, grad_in, grad_out: seen.append(numbers(grad_in) + numbers(grad_out)) or (grad_in[0] * 10,))
    handle = net.register_full_backward_hook(lambda *args: seen.append('removed'))
    handle.remove()
    x = torch.randn(2, 3, requires_grad=True)
    y = net(x)
    names = sorted(graph_facts(y.grad_fn)['kinds'].items())
    y.sum().backward()
    return [seen, names, x.grad.tolist()]


def hook_without_input_gradient():
    net, seen = nn.Linear(2, 1), []
    net.register_full_backward_hook(lambda module, grad_in, grad_out: seen.append([len(grad_in), numbers(grad_out)]))
    net(torch.ones(1, 2)).sum().backward()
    return seen


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(2, 2)
        self.again = self.shared
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer('count', torch.zeros(1))
        self.register_buffer('scratch', torch.zeros(1), persistent=False)
        self.list = nn.ModuleList([nn.ReLU(), nn.Linear(2, 1, bias=False)])
        self.dict = nn.ModuleDict({'norm': nn.LayerNorm(2)})

    def forward(self, x):
        return self.list[1](self.list[0](self.dict['norm'](self.again(self.shared(x)) * self.scale)))


def odd_module():
    torch.manual_seed(5)
    net = Odd()
    other = copy.deepcopy(net)
    other.load_state_dict({name: value + 1 for name, value in net.state_dict().items()})
    net.eval()
    return [list(net.state_dict()), [name for name, _ in net.named_parameters()],
            [name for name, _ in net.named_modules()], [name for name, _ in net.named_buffers()],
            [m.training for m in net.modules()], other.list[1].weight.tolist(), net(torch.ones(1, 2)).tolist(),
            nn.utils.parameters_to_vector(net.parameters()).tolist()]


def text_of(call):
    try:
        call()
    except Exception as error:
        return f'{type(error).__name__}: {str(error).splitlines()[0]}'
    return None


def texts():
    x = torch.ones(1, 4, 5, 5)
    weight = torch.ones(2, 3, 3, 3)
    return {
        'channels': text_of(lambda: F.conv2d(x, weight)),
        'groups': text_of(lambda: F.conv2d(x, torch.ones(3, 2, 3, 3), groups=2)),
        'kernel': text_of(lambda: F.conv2d(x, torch.ones(2, 4, 7, 7))),
        'bias': text_of(lambda: F.conv2d(x, torch.ones(2, 4, 3, 3), torch.ones(3))),
        'stride': text_of(lambda: F.conv2d(x, torch.ones(2, 4, 3, 3), stride=0)),
        'transposed channels': text_of(lambda: F.conv_transpose2d(x, weight)),
        'image': text_of(lambda: F.conv2d(torch.ones(4, 5), torch.ones(2, 4, 3, 3))),
        'one value per channel': text_of(lambda: nn.BatchNorm1d(3)(torch.ones(1, 3))),
        'channels of a norm': text_of(lambda: nn.BatchNorm2d(3)(x)),
        'dimensions of a norm': text_of(lambda: nn.BatchNorm2d(3)(torch.ones(2, 3))),
        'layer_norm': text_of(lambda: F.layer_norm(x, (4,))),
        'group_norm': text_of(lambda: nn.GroupNorm(2, 3)),
        'dropout': text_of(lambda: nn.Dropout(1.5)),
        'forward': text_of(lambda: nn.Module()(x)),
        'before init': text_of(lambda: setattr(nn.Module.__new__(nn.Module), 'weight', nn.Parameter(x))),
        'not a parameter': text_of(lambda: setattr(nn.Linear(2, 2), 'weight', 3)),
        'missing key': text_of(lambda: nn.Linear(2, 2).load_state_dict({'weight': torch.ones(2, 2)})),
        'no parameters': text_of(lambda: torch.optim.SGD([], lr=0.1)),
        'negative rate': text_of(lambda: torch.optim.Adam([torch.ones(1, requires_grad=True)], lr=-1.0)),
        'not a leaf': text_of(lambda: torch.optim.SGD([torch.ones(1, requires_grad=True) * 2], lr=0.1)),
    }


if __name__ == '__main__':
    torch.set_num_threads(1)
    mode, out, folder = sys.argv[1:]
    seen = {'zoo': zoo(folder),
            'layers': {name: run_layer(*layer, mode == 'all') for name, layer in LAYERS.items()}}
    if mode == 'all':
        seen.update({
            'engine': 'tapedeck' if hasattr(torch, '_tapedeck') else 'torch',
            'optimizers': {name: run_optimizer(make) for name, make in OPTIMIZERS.items()},
            'modules': {'hooks': module_hooks(), 'hook at an end': hook_without_input_gradient(), 'odd': odd_module(),
                        'repr': repr(Odd())},
            'products': products(),
            'texts': texts()})
    with open(out, 'w') as file:
        json.dump(seen, file)
