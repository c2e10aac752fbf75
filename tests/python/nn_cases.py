# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases of layers and of nn.functional for test_nn.py: values, gradients, the graph, the text."""
from cases import case, graph_of, main, text_of

import copy

import torch
from torch import nn
from torch.nn import functional as F


def some(*shape, shift=0):
    """Numbers that both engines have, around zero."""
    n = torch.Size(shape).numel()
    return torch.tensor([(((7 * i + 3 * shift) % 23) - 11) / 8 + 0.01 * i / n + 0.003 for i in range(n)]).view(shape)


def leaf(*shape, shift=0):
    return some(*shape, shift=shift).requires_grad_()


def seen_of(call, inputs, with_graph=True):
    """Of call(*inputs): the value, the graph, and the gradients of all inputs."""
    torch.manual_seed(5)
    result = call(*inputs)
    result = result[0] if isinstance(result, tuple) else result
    seeds = torch.tensor([i % 5 - 1.5 for i in range(result.numel())]).view(result.shape)
    grads = torch.autograd.grad(result, [x for x in inputs if x.requires_grad], seeds, allow_unused=True)
    return [result, graph_of(result) if with_graph else None, grads, torch.rand(2)]


def function(name, call, *inputs, graph=True):
    case(lambda: seen_of(call, [x() if callable(x) else x for x in inputs], graph), f'F: {name}')


def layer(name, make, *shapes, graph=True):
    def run():
        torch.manual_seed(5)
        net = make()
        inputs = [leaf(*shape, shift=i) for i, shape in enumerate(shapes)]
        seen = seen_of(lambda *args: net(*inputs), [*inputs, *net.parameters()], graph)
        return [repr(net), list(net.parameters()), *seen, net.state_dict()]
    case(run, f'layer: {name}')


X2, X3, X4 = (lambda: leaf(4, 6)), (lambda: leaf(2, 4, 6)), (lambda: leaf(2, 4, 6, 6))
T = some(4, 6, shift=2)
LABELS, SIGNS = torch.tensor([1, 0, 3, 2]), torch.tensor([1.0, -1, 1, -1])

for NAME in ('relu relu6 leaky_relu elu celu selu gelu silu mish softplus hardtanh hardsigmoid hardswish hardshrink softshrink softsign '
             'tanhshrink logsigmoid glu tanh sigmoid').split():
    function(NAME, getattr(F, NAME), X2)
for NAME in 'relu relu6 leaky_relu elu celu selu hardtanh hardsigmoid hardswish silu mish'.split():
    function(NAME + ' in place', lambda x, f=getattr(F, NAME): f(x * 1, inplace=True), X2)
function('threshold', lambda x: F.threshold(x, 0.1, 5.0), X2)
function('prelu', F.prelu, X3, lambda: leaf(1))
function('prelu of channels', F.prelu, X3, lambda: leaf(4))
function('prelu of vectors', F.prelu, X2, lambda: leaf(6))
function('rrelu', F.rrelu, X2)
function('softmax', lambda x: F.softmax(x, 1), X2)
function('log_softmax', lambda x: F.log_softmax(x, -1, dtype=torch.float64), X2, graph=False)
function('softmin', lambda x: F.softmin(x, 1), X2)
function('implicit', F.softmax, X2)
function('glu of rows', lambda x: F.glu(x, 0), X2)
function('dropout', lambda x: F.dropout(x, 0.3), X2)
function('dropout in place', lambda x: F.dropout(x * 1, 0.3, True, True), X2, graph=False)
function('no dropout', lambda x: F.dropout(x * 1, 0.3, False), X2)
function('dropout1d', F.dropout1d, X3)
function('dropout2d', lambda x: F.dropout2d(x, 0.4), X4)
function('dropout3d', F.dropout3d, lambda: leaf(2, 4, 2, 2, 2))
function('alpha_dropout', lambda x: F.alpha_dropout(x, 0.4, True), X2)
function('feature_alpha_dropout', lambda x: F.feature_alpha_dropout(x, 0.4, True), X4)

for MODE, RANK in (('nearest', 1), ('nearest', 2), ('nearest', 3), ('linear', 1), ('bilinear', 2), ('trilinear', 3), ('bicubic', 2),
                   ('nearest-exact', 2)):
    SHAPE = (2, 3, 4, 5, 3)[:2 + RANK]
    function(f'interpolate {MODE} {RANK} by 2', lambda x, m=MODE: F.interpolate(x, scale_factor=2, mode=m), lambda s=SHAPE: leaf(*s))
    function(f'interpolate {MODE} {RANK} to 3', lambda x, m=MODE: F.interpolate(x, size=3, mode=m), lambda s=SHAPE: leaf(*s))
    if MODE in ('bilinear', 'linear', 'bicubic'):
        function(f'interpolate {MODE} aligned', lambda x, m=MODE: F.interpolate(x, size=7, mode=m, align_corners=True),
                 lambda s=SHAPE: leaf(*s))
function('interpolate by parts', lambda x: F.interpolate(x, scale_factor=(1.5, 0.5), mode='bilinear'), X4)
function('interpolate area', lambda x: F.interpolate(x, size=3, mode='area'), X4)
function('pixel_shuffle', lambda x: F.pixel_shuffle(x, 2), X4)
function('pixel_unshuffle', lambda x: F.pixel_unshuffle(x, 2), X4)
function('channel_shuffle', lambda x: F.channel_shuffle(x, 2), X4)
function('adaptive_avg_pool1d', lambda x: F.adaptive_avg_pool1d(x, 4), X3)
function('adaptive_max_pool1d', lambda x: F.adaptive_max_pool1d(x, 4), X3)
function('adaptive_max_pool2d', lambda x: F.adaptive_max_pool2d(x, (4, 3)), X4)
function('avg_pool1d', lambda x: F.avg_pool1d(x, 2), X3)
function('max_pool1d', lambda x: F.max_pool1d(x, 3, 2, 1), X3)

function('instance_norm', F.instance_norm, X3)
function('rms_norm', lambda x, w: F.rms_norm(x, (6,), w), X2, lambda: leaf(6), graph=False)
function('local_response_norm', lambda x: F.local_response_norm(x, 3), X4, graph=False)
function('normalize', F.normalize, X2)
function('bilinear', F.bilinear, X2, lambda: leaf(4, 3), lambda: leaf(2, 6, 3), lambda: leaf(2))

for REDUCTION in 'mean', 'sum', 'none':
    for NAME in 'mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss'.split():
        function(f'{NAME} {REDUCTION}', lambda x, f=getattr(F, NAME), r=REDUCTION: f(x, T, reduction=r), X2)
    function(f'kl_div {REDUCTION}', lambda x, r=REDUCTION: F.kl_div(x, T.softmax(1), reduction=r), X2)
    function(f'poisson {REDUCTION}', lambda x, r=REDUCTION: F.poisson_nll_loss(x, T.abs() * 2, full=True, reduction=r), X2, graph=False)
    function(f'gaussian {REDUCTION}', lambda x, v, r=REDUCTION: F.gaussian_nll_loss(x, T, v.abs(), reduction=r), X2, X2)
    function(f'hinge {REDUCTION}', lambda x, r=REDUCTION: F.hinge_embedding_loss(x, T.sign(), reduction=r), X2)
    function(f'ranking {REDUCTION}', lambda a, b, r=REDUCTION: F.margin_ranking_loss(a, b, SIGNS, 0.3, reduction=r), lambda: leaf(4),
             lambda: leaf(4, shift=2))
    function(f'triplet {REDUCTION}', lambda a, b, c, r=REDUCTION: F.triplet_margin_loss(a, b, c, reduction=r), X2,
             lambda: leaf(4, 6, shift=1), lambda: leaf(4, 6, shift=2))
    function(f'cosine {REDUCTION}', lambda a, b, r=REDUCTION: F.cosine_embedding_loss(a, b, SIGNS, 0.1, reduction=r), X2,
             lambda: leaf(4, 6, shift=1))
    function(f'multilabel_soft_margin_loss {REDUCTION}',
             lambda x, r=REDUCTION: F.multilabel_soft_margin_loss(x, (T > 0).float(), reduction=r), X2)
    function(f'multi_margin_loss {REDUCTION}', lambda x, r=REDUCTION: F.multi_margin_loss(x, LABELS, reduction=r), X2)
    function(f'multi_margin_loss squared {REDUCTION}',
             lambda x, r=REDUCTION: F.multi_margin_loss(x, LABELS, 2, 0.5, weight=T[0].abs(), reduction=r), X2)
    function(f'cross_entropy {REDUCTION}', lambda x, r=REDUCTION: F.cross_entropy(x, LABELS, reduction=r), X2)
    function(f'cross_entropy of parts {REDUCTION}',
             lambda x, r=REDUCTION: F.cross_entropy(x, LABELS, T[0].abs(), ignore_index=3, label_smoothing=0.1, reduction=r), X2)
    function(f'cross_entropy of probabilities {REDUCTION}',
             lambda x, r=REDUCTION: F.cross_entropy(x, T.softmax(1), T[0].abs(), label_smoothing=0.1, reduction=r), X2, graph=False)
function('kl_div batchmean', lambda x: F.kl_div(x, T, reduction='batchmean', log_target=True), X2)
function('triplet swapped', lambda a, b, c: F.triplet_margin_loss(a, b, c, swap=True), X2, lambda: leaf(4, 6, shift=1), lambda: leaf(4, 6, shift=2))
function('triplet of a distance', lambda a, b, c: F.triplet_margin_with_distance_loss(a, b, c), X2, lambda: leaf(4, 6, shift=1),
         lambda: leaf(4, 6, shift=2), graph=False)
function('weighted mse_loss', lambda x: F.mse_loss(x, T, weight=T.abs()), X2)
function('weighted l1_loss', lambda x: F.l1_loss(x, T, weight=T.abs()), X2)
function('pairwise_distance', F.pairwise_distance, X2, lambda: leaf(4, 6, shift=1))
function('cosine_similarity', F.cosine_similarity, X2, lambda: leaf(4, 6, shift=1))
function('cosine_similarity of one', F.cosine_similarity, X2, lambda: leaf(1, 6, shift=1), graph=False)
function('old arguments', lambda x: F.mse_loss(x, T, size_average=False), X2)
function('other sizes', lambda x: F.mse_loss(x, T[:1]), X2)

Q = lambda: leaf(2, 3, 5, 4)  # noqa: E731
K = lambda: leaf(2, 3, 5, 4, shift=1)  # noqa: E731
V = lambda: leaf(2, 3, 5, 4, shift=2)  # noqa: E731
function('attention', F.scaled_dot_product_attention, Q, K, V)
function('causal attention', lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), Q, K, V)
function('masked attention', lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.ones(5, 5).tril() > 0, scale=0.3), Q, K, V)
function('causal and masked attention', lambda q, k, v: F.scaled_dot_product_attention(q, k, v, some(5, 5), is_causal=True), Q, K, V)
function('attention of three dimensions', F.scaled_dot_product_attention, lambda: leaf(3, 5, 4), lambda: leaf(3, 5, 4), lambda: leaf(3, 5, 4), graph=False)


@case
def indices():
    return [F.one_hot(torch.tensor([[0, 2], [1, 1]])), F.one_hot(torch.tensor([1]), 4), str(F.one_hot(torch.tensor([1])).dtype),
            F.adaptive_max_pool2d(some(1, 1, 4, 4), 2, return_indices=True), F.adaptive_max_pool1d(some(1, 1, 4), 2, return_indices=True),
            F.max_pool1d(some(1, 1, 6), 2, return_indices=True)]


@case
def gumbel():
    torch.manual_seed(1)
    soft, hard = F.gumbel_softmax(some(3, 4)), F.gumbel_softmax(some(3, 4), hard=True)
    return [soft.shape, soft.sum(1).round().tolist(), sorted(set(hard.view(-1).round().tolist()))]


@case
def embeddings():
    table = nn.Embedding.from_pretrained(some(4, 3), freeze=False)
    short = nn.Embedding(4, 3, max_norm=1.0, padding_idx=1)
    with torch.no_grad():
        short.weight.copy_(some(4, 3))
    out = short(torch.tensor([0, 3]))
    return [table(torch.tensor([1, 1])), repr(nn.Embedding(4, 3, 1, 2.0, 1.0, True, True)), repr(nn.EmbeddingBag(4, 3, mode='sum')), out,
            short.weight, nn.Embedding.from_pretrained(some(2, 2)).weight.requires_grad, text_of(lambda: nn.Embedding(2, 2, padding_idx=3))]


for NAME in ('ReLU ReLU6 Tanh Sigmoid SiLU Mish GELU ELU CELU SELU GLU LeakyReLU Softplus Hardtanh Hardsigmoid Hardswish Hardshrink Softshrink '
             'Softsign Tanhshrink LogSigmoid PReLU RReLU Dropout').split():
    layer(NAME, lambda n=NAME: getattr(nn, n)(), (4, 6))
layer('in place', lambda: nn.Sequential(nn.Linear(6, 3), nn.ReLU(True), nn.Linear(3, 3), nn.ReLU6(True), nn.Hardswish(True), nn.SiLU(inplace=True)), (4, 6))
layer('Threshold', lambda: nn.Threshold(0.1, 2.0), (4, 6))
layer('Softmax', lambda: nn.Softmax(dim=1), (4, 6))
layer('Softmin', lambda: nn.Softmin(dim=1), (4, 6))
layer('Softmax2d', lambda: nn.Softmax2d(), (2, 3, 2, 2))
layer('PReLU 4', lambda: nn.PReLU(4, init=0.1), (2, 4, 6))
layer('Dropout1d', lambda: nn.Dropout1d(0.4), (2, 4, 6))
layer('Dropout2d', lambda: nn.Dropout2d(0.4), (2, 4, 6, 6))
layer('Dropout3d', lambda: nn.Dropout3d(0.4), (2, 4, 2, 2, 2))
layer('AlphaDropout', lambda: nn.AlphaDropout(0.4), (4, 6))
layer('Dropout eval', lambda: nn.Sequential(nn.Linear(6, 2), nn.Dropout2d().eval(), nn.AlphaDropout().eval()), (4, 6))
layer('BatchNorm1d', lambda: nn.BatchNorm1d(6, bias=False), (4, 6))
layer('BatchNorm3d', lambda: nn.BatchNorm3d(4, momentum=None), (2, 4, 2, 3, 2))
layer('InstanceNorm1d', lambda: nn.InstanceNorm1d(4), (2, 4, 6))
layer('InstanceNorm2d', lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True), (2, 4, 3, 3))
layer('InstanceNorm2d eval', lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True).eval(), (2, 4, 3, 3))
layer('InstanceNorm3d', lambda: nn.InstanceNorm3d(4), (2, 4, 2, 2, 2))
layer('LayerNorm', lambda: nn.LayerNorm(6, bias=False), (4, 6))
layer('GroupNorm', lambda: nn.GroupNorm(2, 4), (2, 4, 6))
layer('RMSNorm', lambda: nn.RMSNorm(6), (4, 6), graph=False)
layer('LocalResponseNorm', lambda: nn.LocalResponseNorm(2), (2, 4, 3, 3), graph=False)
layer('PixelShuffle', lambda: nn.PixelShuffle(2), (2, 4, 3, 3))
layer('PixelUnshuffle', lambda: nn.PixelUnshuffle(3), (2, 4, 3, 3))
layer('Upsample', lambda: nn.Upsample(scale_factor=2), (2, 4, 3, 3))
layer('Upsample bilinear', lambda: nn.Upsample(size=(4, 5), mode='bilinear', align_corners=True), (2, 4, 3, 3))
layer('UpsamplingBilinear2d', lambda: nn.UpsamplingBilinear2d(scale_factor=2), (2, 4, 3, 3))
layer('AvgPool1d', lambda: nn.AvgPool1d(3, 2, 1), (2, 4, 6))
layer('AdaptiveAvgPool1d', lambda: nn.AdaptiveAvgPool1d(4), (2, 4, 6))
layer('AdaptiveMaxPool2d', lambda: nn.AdaptiveMaxPool2d((2, None)), (2, 4, 5, 3))
layer('Unflatten', lambda: nn.Unflatten(1, (2, 3)), (4, 6))
layer('Bilinear', lambda: nn.Bilinear(6, 3, 2), (4, 6), (4, 3))
layer('Conv2d', lambda: nn.Conv2d(2, 3, 3, 1, 'valid', bias=False, dtype=torch.float32), (1, 2, 5, 5))
layer('ConvTranspose2d', lambda: nn.ConvTranspose2d(2, 3, 3, stride=2), (1, 2, 3, 3))
layer('Linear', lambda: nn.Linear(6, 2, device='cpu', dtype=torch.float32), (4, 6))
layer('TripletMarginLoss', lambda: nn.TripletMarginLoss(margin=0.5, swap=True), (4, 6), (4, 6), (4, 6))
layer('CosineSimilarity', lambda: nn.CosineSimilarity(dim=-1), (4, 6), (4, 6))
layer('PairwiseDistance', lambda: nn.PairwiseDistance(p=1), (4, 6), (4, 6))
layer('MultiheadAttention', lambda: nn.MultiheadAttention(6, 2), *[(3, 2, 6)] * 3)
layer('MultiheadAttention of others', lambda: nn.MultiheadAttention(6, 2, kdim=4, vdim=5, add_bias_kv=True, add_zero_attn=True, batch_first=True),
      (2, 3, 6), (2, 4, 4), (2, 4, 5), graph=False)
layer('TransformerEncoderLayer', lambda: nn.TransformerEncoderLayer(6, 2, 8, 0.0, 'gelu', bias=False), (3, 2, 6))
layer('TransformerDecoderLayer', lambda: nn.TransformerDecoderLayer(6, 2, 8, 0.0, norm_first=True), (3, 2, 6), (4, 2, 6), graph=False)
layer('Transformer', lambda: nn.Transformer(6, 2, 1, 2, 8, 0.0, batch_first=True), (2, 4, 6), (2, 3, 6), graph=False)


@case
def attention_options():
    torch.manual_seed(2)
    net = nn.MultiheadAttention(6, 2, batch_first=True)
    x, mask = some(2, 3, 6), nn.Transformer.generate_square_subsequent_mask(3)
    padding = torch.tensor([[False, False, True], [False, False, False]])
    return [mask, net(x, x, x, attn_mask=mask), net(x, x, x, key_padding_mask=padding, average_attn_weights=False),
            net(x, x, x, attn_mask=mask, need_weights=False, is_causal=True)[0], net(x[0], x[0], x[0]),
            text_of(lambda: net(x, x, x, is_causal=True)), text_of(lambda: nn.MultiheadAttention(5, 2)), text_of(lambda: nn.MultiheadAttention(0, 2)),
            text_of(lambda: nn.TransformerEncoderLayer(4, 2, activation='a'))]


@case
def recurrent_details():
    net, cell = nn.LSTM(2, 3, 2, dtype=torch.float64), nn.GRUCell(2, 3, device='cpu')
    net.flatten_parameters()
    relu = nn.RNN(2, 3, 1, 'relu')
    return [[len(weights) for weights in net.all_weights], str(net.weight_hh_l1.dtype), relu.nonlinearity, repr(relu), repr(cell),
            isinstance(nn.Conv2d(1, 1, 1), nn.modules.conv._ConvNd), text_of(lambda: nn.RNN(2, 3, nonlinearity='a'))]


def loss(name, make, *inputs):
    case(lambda: [repr(make()), make()(*[x() if callable(x) else x for x in inputs]), list(make().state_dict())], f'loss: {name}')


P = lambda: some(4, 6).sigmoid()  # noqa: E731
loss('CrossEntropyLoss', lambda: nn.CrossEntropyLoss(T[0].abs(), ignore_index=3, label_smoothing=0.1), X2, LABELS)
loss('NLLLoss', lambda: nn.NLLLoss(reduction='sum'), X2, LABELS)
loss('BCELoss', lambda: nn.BCELoss(T.abs()), P, P)
loss('BCEWithLogitsLoss', lambda: nn.BCEWithLogitsLoss(pos_weight=T[0].abs()), X2, P)
loss('SmoothL1Loss', lambda: nn.SmoothL1Loss(beta=0.5), X2, T)
loss('HuberLoss', lambda: nn.HuberLoss('sum', 0.5), X2, T)
loss('KLDivLoss', lambda: nn.KLDivLoss(reduction='batchmean', log_target=True), X2, T)
loss('PoissonNLLLoss', lambda: nn.PoissonNLLLoss(False), P, P)
loss('GaussianNLLLoss', lambda: nn.GaussianNLLLoss(full=True), X2, T, P)
loss('HingeEmbeddingLoss', lambda: nn.HingeEmbeddingLoss(0.5), X2, T.sign())
loss('MarginRankingLoss', lambda: nn.MarginRankingLoss(margin=0.5), some(4), some(4, shift=1), SIGNS)
loss('CosineEmbeddingLoss', lambda: nn.CosineEmbeddingLoss(margin=0.5), X2, T, SIGNS)
loss('MultiMarginLoss', lambda: nn.MultiMarginLoss(p=2), X2, LABELS)
loss('SoftMarginLoss', lambda: nn.SoftMarginLoss(), X2, T.sign())
loss('MultiLabelSoftMarginLoss', lambda: nn.MultiLabelSoftMarginLoss(T[0].abs()), X2, P)
loss('TripletMarginWithDistanceLoss', lambda: nn.TripletMarginWithDistanceLoss(), X2, T, P)


@case
def lazy():
    torch.manual_seed(0)
    net = nn.Sequential(nn.LazyConv2d(4, 3, padding=1), nn.LazyBatchNorm2d(), nn.LazyInstanceNorm2d(), nn.LazyConvTranspose2d(2, 2, stride=2),
                        nn.Flatten(), nn.LazyLinear(3), nn.LazyLinear(2, bias=False))
    before = [repr(net), str(list(net.parameters())), net[0].has_uninitialized_params(), text_of(lambda: net[0].weight.shape),
              text_of(lambda: net[0].bias.numel()), text_of(lambda: nn.init.xavier_uniform_(net[5].weight))]
    parameters = torch.optim.SGD(net.parameters(), lr=0.1).param_groups[0]['params']
    net(some(2, 3, 4, 4)).sum().backward()
    loaded, copied = nn.LazyLinear(3), copy.deepcopy(nn.LazyLinear(2))
    loaded.load_state_dict(net[5].state_dict())
    copied(some(1, 5))
    return [*before, repr(net), [p.detach() for p in parameters], [p.grad is None for p in parameters], len(net[0]._forward_pre_hooks), loaded.weight.detach(),
            tuple(copied.weight.shape), type(net[0].weight).__name__, tuple(net[1].running_mean.shape)]


@case
def texts():
    x = some(2, 3)
    return [text_of(call) for call in (
        lambda: F.dropout2d(x, 2.0), lambda: F.dropout1d(some(1, 2, 3, 4)), lambda: nn.Dropout3d(-1), lambda: F.glu(some(3)), lambda: F.prelu(x, some(2)),
        lambda: F.interpolate(some(1, 1, 2), size=2, scale_factor=2), lambda: F.interpolate(some(1, 1, 2)),
        lambda: F.interpolate(some(1, 1, 2), size=2, mode='nearest', align_corners=True), lambda: F.interpolate(some(1, 1, 2), size=(2, 3)),
        lambda: F.pixel_shuffle(some(1, 3, 2, 2), 2), lambda: F.pixel_shuffle(some(1), 2), lambda: F.pixel_unshuffle(some(1, 3, 3, 2), 2),
        lambda: F.instance_norm(some(1, 2, 1)), lambda: F.rms_norm(x, (4,)), lambda: F.one_hot(x), lambda: F.one_hot(torch.tensor([-1])),
        lambda: F.one_hot(torch.tensor([3]), 2), lambda: F.binary_cross_entropy(x, some(2)), lambda: F.binary_cross_entropy_with_logits(x, some(2)),
        lambda: F.hardtanh(x, 1, -1), lambda: nn.TripletMarginLoss(margin=0), lambda: F.multi_margin_loss(x, LABELS[:2], p=3),
        lambda: F.gaussian_nll_loss(x, x, -x.abs()), lambda: F.margin_ranking_loss(some(1), some(1), x), lambda: nn.MultiMarginLoss(p=3),
        lambda: nn.Conv2d(3, 2, 3, groups=2), lambda: nn.Conv2d(1, 1, 1, stride=2, padding='same'),
        lambda: nn.ConvTranspose2d(1, 1, 1, padding_mode='reflect'), lambda: nn.ReLU(1, 2), lambda: nn.Softmax2d()(x), lambda: nn.BatchNorm3d(1)(x),
        lambda: nn.InstanceNorm1d(2, affine=True)(some(1, 3, 2)), lambda: nn.GroupNorm(2, 3), lambda: nn.Transformer(4, 2, 1, 1, 4)(x, x))]


if __name__ == '__main__':
    main()
