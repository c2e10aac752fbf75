# SPDX-License-Identifier: LGPL-2.1-or-later
"""More rows of dtype_cases.py: every operation of the module that computes with a tensor, by name. compare_dtypes.py
checks that no name is missing.

x, y and p have six elements: p is between 0 and 1. m and n are matrices of x and y, 2 by 3 and 3 by 2, q is 2 by 2, and
c has two channels of 4 by 4. b is a mask, i and j are indices, 0 and 2, of lines and of rows of m.
"""

# Methods and functions of a tensor alone, and of tensors of one dtype. For name(...) there is a row for name_(...) too,
# if tensors have it.
METHODS = '''
x.abs() | x.absolute() | p.acos() | p.arccos() | x.acosh() | x.arccosh() | x.angle() | x.add(y) | x.add(2) | x.addcdiv(y, p) | x.addcmul(y, p) | q.addmm(m, n) | x[:2].addmv(m, y[:3])
q.addr(x[:2], y[:2]) | x.all() | m.all(1) | x.allclose(y) | m.amax(0) | m.amin(0) | m.aminmax(dim=1)[0] | m.any(0) | p.arcsin() | x.arcsinh() | x.arctan() | x.arctan2(y)
p.arctanh() | x.argmax() | x.argmin() | x.argsort() | x.argwhere() | m.as_strided((2, 2), (1, 2)) | p.asin() | x.asinh() | x.atan() | x.atan2(y) | p.atanh() | q[None].baddbmm(m[None], n[None])
x.bincount() | x.bitwise_and(y) | x.bitwise_left_shift(2) | x.bitwise_not() | x.bitwise_or(y) | x.bitwise_right_shift(1) | x.bitwise_xor(y) | m[None].bmm(n[None])
x.bool() | x.byte() | x.char() | x.short() | x.half() | x.bfloat16() | x[:3].broadcast_to((2, 3)) | x.cdouble() | x.ceil() | x.cfloat() | x.chunk(2)[0] | x.clamp(-1, 1) | x.clamp(min=1) | x.clamp(max=1) | x.clamp(y) | x.clamp_max(1) | x.clamp_min(1) | x.clip(-1, 1)
x.clone() | x.conj() | x.contiguous() | x.copysign(y) | m.corrcoef() | x.cos() | x.cosh() | x.count_nonzero() | m.cov() | x[:3].cross(y[:3], dim=0) | x.cummax(0)[0] | m.cummax(1)[1]
x.cummin(0)[0] | m.cummin(0)[1] | x.cumprod(0) | m.cumprod(1) | x.cumsum(0) | m.cumsum(0) | x.deg2rad() | x.detach() | x.diag() | x.diag_embed() | x.diagflat() | m.diagonal()
x.diff() | p.digamma() | x.div(y) | x.div(y, rounding_mode='floor') | x.div(y, rounding_mode='trunc') | x.divide(y) | x.dot(y) | x.double() | c.dsplit(2)[0] | x.eq(y) | x.equal(y)
x.erf() | x.erfc() | p.erfinv() | p.exp() | p.exp2() | x[:3].expand(2, 3) | x[:3].expand_as(m) | p.expm1() | x.clone().fill_(2) | x.clone().fill_(y[0]) | q.fill_diagonal_(3)
x.fix() | m.flatten() | m.flip(0) | m.fliplr() | m.flipud() | x.float() | p.float_power(2) | x.floor() | x.floor_divide(y) | x.floor_divide(2) | x.fmax(y) | x.fmin(y) | x.fmod(y)
x.frac() | m.gather(1, j) | x.ge(y) | x.ger(y) | x.greater(y) | x.greater_equal(y) | x.gt(y) | x.hardshrink() | x.heaviside(y) | x.histc(4) | m.hsplit(3)[0]
x.hypot(y) | m.index_add(0, i[:1], m[:1]) | m.index_copy(0, i[:1], m[1:]) | x.index_fill(0, i, 3) | x.index_put((i,), y[:2]) | x.index_put((i,), y[:2], accumulate=True)
m.index_select(1, i) | x.inner(y) | x.int() | x.is_complex() | x.is_floating_point() | x[0].is_nonzero() | x.is_same_size(y) | x.is_signed() | x.isclose(y) | x.isfinite()
torch.isin(x, y) | x.isinf() | x.isnan() | x.isneginf() | x.isposinf() | x.isreal() | x[1].item() | q.kron(q) | x.kthvalue(2)[0] | m.kthvalue(2, 1)[1] | x.ldexp(y) | x.le(y) | x.lerp(y, 0.3)
x.lerp(y, p) | x.less(y) | x.less_equal(y) | p.lgamma() | p.log() | p.log10() | p.log1p() | p.log2() | m.log_softmax(1) | x.logaddexp(y) | x.logcumsumexp(0) | x.logical_and(y)
x.logical_not() | x.logical_or(y) | x.logical_xor(y) | p.logit() | p.logit(0.2) | m.logsumexp(0) | x.long() | x.lt(y) | x.masked_fill(b, 2) | x.masked_fill(b, y[0])
x.masked_scatter(b, y) | x.masked_select(b) | m.matmul(n) | q.matrix_power(2) | q.matrix_power(3) | x.max() | m.max(0)[0] | m.max(1)[1] | x.max(y) | x.maximum(y) | x.mean() | m.mean(1)
x.median() | m.median(1)[0] | m.median(0)[1] | x.min() | m.min(1)[0] | x.minimum(y) | m.mm(n) | x.mode()[0] | m.mode(1)[1] | m.moveaxis(0, 1) | m.movedim(1, 0) | m.msort() | x.mul(y)
x.multiply(y) | m.mv(y[:3]) | x.nan_to_num() | x.nan_to_num(1, 2, 3) | x.nanmean() | m.nanmean(1) | x.nansum() | m.nansum(0) | m.narrow(1, 0, 2) | x.ne(y) | x.neg() | x.negative()
x.new_empty((0,)) | x.new_full((2,), 3) | x.new_ones(2) | x.new_tensor([1, 2]) | x.new_zeros(2) | x.nextafter(y) | x.nonzero() | m.norm() | m.norm(1) | m.norm(3, dim=1) | m.norm(0) | m.norm(float('inf'))
x.not_equal(y) | x.numpy().tolist() | str(x.numpy().dtype) | x.outer(y) | m.permute(1, 0) | p.polygamma(1) | x.positive() | p.pow(2) | p.pow(1.2 - 0.3j) | (1 + 1j) ** p | p.pow(y) | p.pow(0.5) | x.prod() | m.prod(1) | x.quantile(0.5) | m.quantile(0.25, dim=1)
x.rad2deg() | m.ravel() | p.reciprocal() | x.relu() | x.remainder(y) | x.remainder(2) | m.renorm(2, 0, 1) | x.repeat(2) | x.repeat_interleave(2) | x.reshape(3, 2) | m.reshape_as(n) | x.clone().resize_(4)
m.roll(1) | m.rot90() | x.round() | p.rsqrt() | torch.rsub(x, 2) | m.scatter(1, j, m) | m.scatter(1, j, 2) | m.scatter_add(1, j, m) | m.select(0, 1) | m.select_scatter(m[0], 0, 1)
x.sgn() | x.sigmoid() | x.sign() | x.signbit() | x.sin() | x.sinc() | x.sinh() | x.slice_scatter(y[:2], 0, 0, 2) | m.softmax(1) | x.sort()[0] | m.sort(1, descending=True)[0] | m.sort(0)[1]
x.split(2)[1] | x.split_with_sizes([2, 4])[1] | p.sqrt() | x.square() | m[None].squeeze() | x.std() | m.std(1) | x.sub(y) | x.subtract(y) | x.sum() | m.sum(0) | m.sum_to_size(1, 3) | m.swapaxes(0, 1)
m.swapdims(0, 1) | m.t() | x.take(i) | m.take_along_dim(j, 1) | x.tan() | x.tanh() | m.tensor_split(3, 1)[2] | x.tile(2) | x.to_dense() | x.tolist() | x.topk(2)[0] | m.topk(1, 0, largest=False)[1]
m.trace() | m.transpose(0, 1) | m.tril() | m.triu() | x.true_divide(y) | x.trunc() | x.type('torch.FloatTensor') | x.type() | x.type_as(y) | m.unbind()[0] | x.unflatten(0, (2, 3)) | x.unfold(0, 2, 2)
x.unique() | x.unique(return_counts=True)[1] | m.unique(dim=0) | torch.tensor([7, -7, 1]).to(x.dtype).div(torch.tensor([2]).to(x.dtype), rounding_mode='floor')
torch.tensor([7, -7, 1]).to(x.dtype).div(torch.tensor([2]).to(x.dtype), rounding_mode='trunc') | x.unique_consecutive() | x.unsafe_chunk(2)[0] | x.unsqueeze(0) | x.var() | m.var(0) | x.vdot(y) | x.view(2, 3) | m.view_as(n) | m.vsplit(2)[0]
x.where(b, y) | x.where(b, 2) | p.xlogy(y) | x.clone().zero_() | x.clone().copy_(y) | x.exp() | x.log() | x.sqrt() | x.reciprocal() | x.rsqrt() | x.element_size() | x.is_contiguous() | x.stride() | x.size() | x.dim()
x.sum(dtype=torch.float64) | m.sum(1, dtype=torch.int64) | x.nansum(dtype=torch.float64) | m.nansum(1, dtype=torch.float32) | x.mean(dtype=torch.float64) | x.prod(dtype=torch.float32) | x.cumsum(0, dtype=torch.float32)
x.cumprod(0, dtype=torch.float32) | m.softmax(1, dtype=torch.float32) | m.log_softmax(1, dtype=torch.float64) | x.is_nonzero() | x.ravel() | x.data_ptr() > 0 | x.ndimension() | x.nelement() | x.numel() | x.storage_offset()
x.untyped_storage().nbytes() | x.requires_grad_() | x.apply_(abs) | x.resize_as_(m) | x.diag(1) | m.diag() | x.conj().is_contiguous() | x.cpu() | x.get_device() | x.is_coalesced() | x.is_inference() | x.is_pinned()
x.is_conj() | x.is_neg() | x.resolve_conj() | x.resolve_neg() | x.nanmedian() | m.nanmedian(1)[0] | x.unsafe_split(2)[1] | x.unsafe_split_with_sizes([2, 4])[0] | x.clone().set_(y)
m.scatter_reduce(1, j, m, 'sum') | m.scatter_reduce(1, j, m, 'amax') | m.scatter_reduce(1, j, m, 'mean') | m.index_reduce(0, i[:1], m[:1], 'prod') | m.index_reduce(0, i[:1], m[:1], 'mean')
q.det() | q.logdet() | q.slogdet()[1] | q.inverse() | q.pinverse() | q.qr()[1].abs() | q.svd()[1] | q.matrix_exp() | q.adjoint() | q.lu_solve(*torch.linalg.lu_factor(q)) | torch.lu_unpack(*torch.linalg.lu_factor(q))[2] | torch.vander(x)
torch.svd_lowrank(q, 2)[1] | torch.pca_lowrank(q, 2)[1]
torch.eye(2).to(x.dtype).cholesky() | torch.eye(2).to(x.dtype).cholesky_inverse() | q.cholesky_solve(torch.eye(2).to(x.dtype))
x.is_shared() | x.new(x.tolist()) | x.coalesce() | x.indices() | x.values() | x.retain_grad() | x.register_hook(print)
'''

MODULE = '''
torch.arange(0, 3, dtype=x.dtype) | torch.asarray(x) | torch.as_tensor(x) | torch.atleast_1d(x[0]) | torch.atleast_2d(x) | torch.atleast_3d(x) | torch.block_diag(q, q) | torch.broadcast_tensors(x[:3], m)[0]
torch.bucketize(x, x.sort()[0]) | torch.can_cast(x.dtype, torch.int16) | torch.cartesian_prod(x[:2], y[:2]) | torch.cat([x, y]) | torch.cdist(m, m) | torch.cdist(m, m, p=1) | torch.celu(x) | torch.chain_matmul(m, n)
torch.column_stack((x, y)) | torch.combinations(x[:3]) | torch.complex(x, y) | torch.concat((x, y)) | torch.concatenate((x, y)) | torch.polar(x, y) | torch.pow(2.0, p) | torch.pow(1j, p) | torch.full((2,), x[1].item()) | x.masked_fill(b, 2j) if x.is_complex() else x | 2j - p.float() | 2j / p.float() | bool(x[0].conj() - x[0].conj().real) if x.is_complex() else x | torch.dist(x, y) | torch.dropout(x, 0.0, True) | torch.dstack((x, y)) | torch.einsum('ij,jk->ik', m, n)
torch.einsum('ij->j', m) | torch.embedding(m, i[:1]) | torch.empty(0, dtype=x.dtype) | torch.empty_like(x[:0]) | torch.empty_strided((0, 2), (2, 1), dtype=x.dtype) | torch.eye(2, dtype=x.dtype) | torch.from_numpy(x.numpy())
torch.frombuffer(bytearray(16), dtype=x.dtype) | torch.unravel_index(i, (3, 3))[0] | torch.full((2,), 3, dtype=x.dtype) | torch.full_like(x, 3) | torch.hann_window(4, dtype=x.dtype) | torch.hamming_window(4, dtype=x.dtype) | torch.blackman_window(4, dtype=x.dtype)
torch.hstack((x, y)) | torch.is_tensor(x) | torch.linspace(0, 3, 4, dtype=x.dtype) | torch.logspace(0, 1, 3, dtype=x.dtype) | torch.meshgrid(x, y, indexing='ij')[0] | torch.ones(2, dtype=x.dtype) | torch.ones_like(x)
torch.promote_types(x.dtype, torch.int16) | torch.range(0, 3, dtype=x.dtype) | torch.result_type(x, 0.5) | torch.row_stack((x, y)) | torch.scalar_tensor(3, dtype=x.dtype) | torch.searchsorted(x.sort()[0], y) | torch.selu(x)
torch.stack((x, y)) | torch.std_mean(x) | torch.var_mean(m, 1)[0] | torch.tensor(x.tolist(), dtype=x.dtype) | torch.tensordot(m, n, 1) | torch.threshold(x, 0.5, 2) | torch.trapezoid(x) | torch.trapz(x, y)
torch.vstack((x, y)) | torch.zeros(2, dtype=x.dtype) | torch.zeros_like(x) | torch.sparse_coo_tensor(i[None], x[:2], (4,)).to_dense() | torch.linalg.norm(m) | torch.linalg.vector_norm(m) | torch.linalg.vector_norm(m, 1, dim=1)
torch.tril_indices(2, 2, dtype=x.dtype) | torch.triu_indices(2, 2, dtype=x.dtype) | torch.where(b, x, 0.5) | torch.where(b, 1, y) | torch.where(x) | torch.where(x, y, y) | torch.max(x, y) | torch.clamp(x, max=y)
torch.mul(x, x[0]) | torch.add(x[0], y[0]) | torch.sum(m, (0, 1)) | torch.concat((x, p.float())) | torch.nn.utils.rnn.pack_padded_sequence(m[:, :, None], [3, 2], batch_first=True).data | torch.index_select(c, 2, i)
torch.real(x) | torch.imag(x) | torch.view_as_real(x) | torch.view_as_complex(n) | saved(x) | pickled(x) | copied(x) | repr(m) | repr(x[0]) | f'{x[0]}' | bool(x[0]) | int(x[1]) | float(x[1]) | complex(x[1]) | [0, 1, 2, 3][x[3]] | 1 in x | len(x) | x[i] | x[b] | x[..., None] | x[x.argsort()] | torch.arange(9)[x]
set_item(x, i, 3) | set_item(x, b, y[:1]) | set_item(x, 0, y[1]) | set_item(x, slice(0, 4, 2), y[:2]) | set_item(x, i, p.float()[:2])
'''

LAYERS = '''
F.adaptive_avg_pool1d(m[None], 2) | F.adaptive_avg_pool2d(c, 2) | F.adaptive_avg_pool2d(c, 1) | F.adaptive_max_pool1d(m[None], 2) | F.adaptive_max_pool2d(c, 2) | F.alpha_dropout(x, 0.5, False) | F.avg_pool1d(m[None], 2)
F.avg_pool2d(c, 2) | F.batch_norm(n, None, None, training=True) | F.batch_norm(m, p[:3], p[3:]) | F.bilinear(m, m, x.repeat(3).reshape(2, 3, 3)) | F.binary_cross_entropy(p, p)
F.binary_cross_entropy(p, p, y) | F.binary_cross_entropy_with_logits(x, p) | F.binary_cross_entropy_with_logits(x, p, pos_weight=p) | F.celu(x) | F.celu(x, 0.5) | F.channel_shuffle(c, 2)
F.conv1d(m[None], w[:, :, 0]) | F.conv2d(c, w) | F.conv2d(c, w, x[:2], padding=1) | F.conv2d(c, w[:, :1], groups=2) | F.conv_transpose1d(m[None], w[:, :, 0]) | F.conv_transpose2d(c, w, stride=2) | F.cosine_embedding_loss(m, m, x[:2])
F.cosine_similarity(m, n.reshape(2, 3)) | F.cross_entropy(m, t) | F.cross_entropy(m, m.softmax(1)) | F.cross_entropy(m, t, p[:3], label_smoothing=0.1) | F.dropout(x, 0.5, False) | F.dropout(x, 1.0) | F.dropout1d(m, 0.5, False) | F.dropout2d(c, 0.5, False)
F.dropout3d(c, 0.5, False) | F.elu(x) | F.elu_(x) | F.embedding(t, m) | F.embedding(t, n, max_norm=1.0) | F.embedding_bag(t, n, t[1:] * 0) | F.embedding_bag(t[None], n, mode='sum') | F.embedding_bag(t[None], n, mode='max')
F.embedding_bag(t[None], n, mode='sum', per_sample_weights=x[None, :2]) | F.feature_alpha_dropout(c, 0.5, False) | F.gaussian_nll_loss(x, y, p + 1) | F.gelu(x) | F.gelu(x, approximate='tanh') | F.glu(x) | F.group_norm(c, 2)
F.hardshrink(x) | F.hardsigmoid(x) | F.hardswish(x) | F.hardtanh(x) | F.hardtanh_(x) | F.hinge_embedding_loss(x, y) | F.huber_loss(x, y) | F.instance_norm(c) | F.interpolate(c, scale_factor=2) | F.interpolate(c, size=3, mode='bilinear')
F.kl_div(x, p) | F.kl_div(x, p, reduction='batchmean', log_target=True) | F.l1_loss(x, y) | F.layer_norm(m, (3,), y[:3], x[:3]) | F.leaky_relu(x) | F.leaky_relu_(x) | F.linear(m, m, x[:2]) | F.linear(m, m) | F.local_response_norm(c, 2)
F.log_softmax(m, 1) | F.logsigmoid(x) | F.margin_ranking_loss(x, y, p) | F.max_pool1d(m[None], 2) | F.max_pool2d(c, 2) | F.max_pool2d(c, 3, padding=1, return_indices=True)[1] | F.mish(x) | F.mse_loss(x, y) | F.mse_loss(x, y, reduction='none')
F.multi_margin_loss(m, t) | F.multilabel_soft_margin_loss(m, m) | F.nll_loss(m, t) | F.nll_loss(m, t, p[:3]) | F.normalize(m) | F.one_hot(x) | F.pad(m, (1, 2)) | F.pad(m, (1, 1), value=3) | F.pad(m[None], (1, 1), mode='reflect')
F.pad(m[None], (2, 1), mode='replicate') | F.pad(m[None], (1, 1), mode='circular') | F.pairwise_distance(m, n.reshape(2, 3)) | F.pixel_shuffle(c.repeat(1, 2, 1, 1), 2) | F.pixel_unshuffle(c, 2) | F.poisson_nll_loss(x, p) | F.prelu(m, x[:1])
F.relu(x) | F.relu_(x) | F.relu6(x) | F.rms_norm(m, (3,)) | F.rms_norm(m, (3,), y[:3]) | F.rrelu(x) | F.scaled_dot_product_attention(m[None], m[None], m[None]) | F.selu(x) | F.selu_(x) | F.sigmoid(x) | F.silu(x) | F.smooth_l1_loss(x, y)
F.soft_margin_loss(x, y) | F.softmax(m, 1) | F.softmin(m, 1) | F.softplus(x) | F.softplus(x, 2, 1) | F.softshrink(x) | F.softsign(x) | F.tanh(x) | F.tanhshrink(x) | F.threshold(x, 0.5, 2) | F.threshold_(x, 0.5, 2)
F.triplet_margin_loss(m, n.reshape(2, 3), m) | F.triplet_margin_with_distance_loss(m, n.reshape(2, 3), m) | F.upsample(c, scale_factor=2) | F.upsample_nearest(c, scale_factor=2) | F.upsample_bilinear(c, scale_factor=2)
F.affine_grid(m[None], (1, 1, 2, 2), align_corners=False) | F.grid_sample(c, p[:4].reshape(1, 1, 2, 2), align_corners=False) | F.avg_pool3d(c, 2) | F.max_pool3d(c, 2) | F.max_pool3d_with_indices(c, 2)[1]
F.conv3d(c[None], w[:1][None]) | F.conv_transpose3d(c[None], w[:1][None]) | F.ctc_loss(c.reshape(16, 1, 2), torch.tensor([[1]]), (16,), (1,)) | F.fold(c.reshape(1, 8, 4), (3, 3), 2)
F.lp_pool1d(m[None], 2, 2) | F.lp_pool2d(c, 2, 2) | F.max_unpool1d(*F.max_pool1d(m[None].float(), 2, return_indices=True), 2) | F.max_unpool2d(*F.max_pool2d(c.float(), 2, return_indices=True), 2)
F.gumbel_softmax(m).shape | torch.nn.Linear(3, 2, dtype=x.dtype).weight.dtype | torch.nn.Conv2d(2, 2, 3, dtype=x.dtype).weight.dtype | torch.nn.Embedding(3, 2, dtype=x.dtype).weight.dtype | torch.nn.LSTM(3, 2, dtype=x.dtype).weight_ih_l0.dtype
torch.nn.Linear(3, 2).to(x.dtype)(m).dtype | torch.nn.BatchNorm1d(2).to(x.dtype)(n).dtype | torch.nn.LSTM(3, 2).to(x.dtype)(m)[0].dtype | torch.nn.GRU(3, 2).to(x.dtype)(m)[0].dtype | torch.nn.MultiheadAttention(3, 1).to(x.dtype)(m, m, m)[0].dtype
torch.nn.utils.rnn.pad_sequence([x, y[:2]]) | torch.nn.init.zeros_(m.clone()) | torch.nn.init.xavier_uniform_(m.clone()).dtype | torch.nn.init.orthogonal_(m.clone()).dtype
'''

# Draws: the generators of halves and of integers are compared too.
DRAWS = '''
x.bernoulli() | p.bernoulli() | x.clone().bernoulli_() | x.clone().bernoulli_(0.3) | x.clone().cauchy_() | x.clone().exponential_() | x.clone().geometric_(0.3) | x.clone().log_normal_() | p.multinomial(2) | p.multinomial(3, True)
x.clone().normal_() | x.clone().random_() | x.clone().random_(5) | x.clone().random_(2, 7) | x.clone().uniform_() | torch.normal(x, p) | torch.normal(x, 1.0) | torch.normal(0.0, p) | torch.poisson(p) | torch.rand(3, dtype=x.dtype)
torch.rand_like(x) | torch.randint(5, (4,), dtype=x.dtype) | torch.randint_like(x, 5) | torch.randn(3, dtype=x.dtype) | torch.randn(20, dtype=x.dtype) | torch.randn_like(x) | torch.randperm(5, dtype=x.dtype) | F.dropout(x, 0.5)
F.alpha_dropout(x, 0.5) | F.dropout2d(c, 0.5) | F.feature_alpha_dropout(c, 0.5) | F.rrelu(x, training=True) | F.gumbel_softmax(m)
'''

# Each way to train a parameter of the dtype once.
OPTIMIZERS = '''
SGD(lr=0.1) | SGD(lr=0.1, momentum=0.9, nesterov=True) | SGD(lr=0.1, weight_decay=0.1) | Adam(lr=0.1) | Adam(lr=0.1, amsgrad=True) | AdamW(lr=0.1) | RMSprop(lr=0.1) | Adagrad(lr=0.1) | Adadelta() | Adamax(lr=0.1) | NAdam(lr=0.1) | RAdam(lr=0.1)
'''
