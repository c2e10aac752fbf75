# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mistakes that people reported, and what Tapedeck must say first of each. `programs` has those that are rebuilt here, each with
its address. Others are given: a folder outside of the repository has them."""
import collections
import os

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs')

# `words`: what the first finding must say (a regular expression over its title, text, advice and line). `partly`: what helps, though
# the cause is not in it. `least`: the oldest PyTorch that can run it, `most` the newest that has
# the mistake. `arguments` of the program. `spawns`: it starts processes.
# `hangs`: it does, and `attach` is asked, not `findings`: a tuple of arguments for each process that is started.
NEVER = '(?!)'  # matches nothing
Case = collections.namedtuple('Case', 'name words partly least arguments spawns hangs most', defaults=(NEVER, '', (), False, (), ''))

OWN = (
    Case('where_log', r'NaN was born.*Log2Backward0|Log2Backward0.*NaN was born'),
    Case('padded_row', r'NaN was born.*Softmax.*-Inf alone'),
    Case('labels_ignored', r'NllLoss|NaN was born'),
    Case('spread_of_one', r'(Std|Var)Backward0'),
    Case('state_kept', r'second time.*An earlier one, backward pass 1 \(graph task 0\), ran it'),
    Case('sigmoid_item', r'SigmoidBackward0 .*version.*copy_.*sigmoid_item\.py:8'),
    Case('skip_in_place', r'ConvolutionBackward0 .*version.*add_ wrote into it.*skip_in_place\.py'),
    Case('total_loss', r'graphs of \d+ earlier passes are still there.*list of losses'),
    Case('outputs_of_epoch', r'graphs of \d+ earlier passes are still there, from that of MeanBackward0'),
    Case('short_for_ctc', r'CtcLossBackward0'),
    Case('chosen_class', r'coarse\.weight, coarse\.bias had no gradient.*argmax\(\).*chosen_class\.py:18'),
    Case('number_in_loss', r'policy\.weight, policy\.bias had no gradient.*item\(\).*number_in_loss\.py'),
    Case('penalty_graph', r'graphs of \d+ earlier passes.*passes were calls of backward\(create_graph=True\)'),
    Case('angle_of_equal', r'AcosBackward0'),
    Case('zero_to_the_power', r'PowBackward0'),
    Case('entropy_of_zero', r'NaN was born in the forward pass.*MulBackward0.*MaskedFillBackward0.*0 times Inf'),
    Case('epoch_of_gradients', r'Gradients are not cleared.*zero_grad'),
    Case('variance_overflows', r'DivBackward0|PowBackward0|ExpBackward0'),
    Case('predictions_kept', r'results of SoftmaxBackward0.*no_grad'),
    Case('copied_embedding', r'No optimizer has .*weight.*replaced'),
    Case('cleared_early', r'Gradients are cleared before the step.*zero_grad'),
    Case('no_step', r'An optimizer makes no step.*\(Adam\)'),
    Case('layers_in_list', r'No optimizer has Net\.layers\[.*list or dict'),
    Case('index_in_loss', r'no graph.*argmax\(\).*index_in_loss\.py:12.*index_in_loss\.py:14'),
    Case('weight_written', r'leaf Variable.*torch\.no_grad\(\).*weight_written\.py:10'),
    Case('weight_made_anew', r'NoneType.*w = w - lr \* w\.grad makes w such a result.*weight_made_anew\.py:10'),
    Case('root_of_clamped', r'born in SqrtBackward0.*sqrt\(\) was 0 there.*root_of_clamped\.py:15'),
    Case('own_cross_entropy', r'Inf was born in the forward pass.*LogBackward0.*own_cross_entropy\.py:14.*log\(\) of 0'),
    Case('empty_selection', r'NaN was born in the forward pass.*MeanBackward0.*no elements|The loss was NaN in 1 of 6 passes'),
    Case('half_steps', r'in the leaf of AccumulateGrad\(w\).*eps', r'The loss was NaN', least='2.1'),
    Case('rounded_code', r'All gradients.*zero.*derivative of RoundBackward0'),
    Case('mask_of_comparison', r'0\.weight.*comparison.*mask_of_comparison\.py:13'),
    Case('softmax_twice', r'cross-entropy, whose softmax got the result of another softmax'),
    Case('sigmoid_twice', r'applies a sigmoid, got the result of another sigmoid'),
    Case('nll_of_softmax', r'negative log likelihood, got the result of SoftmaxBackward0'),
    Case('column_and_line', r'\[50, 50\] values.*\[50, 1\] results'),
    Case('context_keeps', r'contexts of ExpBackward keep the result.*context_keeps\.py:7'),
    Case('frozen_drifts', r'frozen.*0\.(weight|bias).*\.grad from before'),
    Case('once_only', r'once_differentiable'),
    Case('function_gives_none', r'factor.*ScaleBackward.*returned none'),
    Case('rate_too_large', r'Inf was born.*MseLossBackward0.*learning rate', r'The loss was NaN'),
    Case('nan_in_batch', r'NaN came with the data.*Linear.*nan_in_batch\.py:14'),
    Case('scaled_before', r'non-leaf.*result of an operation.*scaled_before\.py:10'),
    Case('loss_of_each', r'scalar outputs.*mean\(\) or sum\(\).*loss_of_each\.py:10'),
    Case('inference_features', r'inference_mode\(\).*no_grad\(\).*inference_features\.py:14'),
    Case('zero_vector', r'DivBackward0.*0 divided by 0.*zero_vector\.py:14'),
)

# One of four passes is left out: what comes of it shows in the fourth.
LATE = r'Rank 1 is late: it has ended 3 passes and begun no other.*Rank 0 is in its 4th pass'

# Each is written from the program and its report alone.
GIVEN = (
    Case('01_eigh_equal', r'NaN was born in LinalgEigh.*equal.*01_eigh_equal\.py:12', r'NaN was born in .*Eigh'),
    Case('02_grad_written', r'LeakyClipBackward.*wrote into the gradient'),
    Case('04_zero_grad_softmax', r'All gradients .*zero.*SoftmaxBackward0', r'All gradients .*zero.*softmax over one'),
    Case('05_half_overflow', r'cast.*float16.*65504', least='2.3'),
    Case('06_gan_step', r'version.*step.*06_gan_step\.py:14', r'version'),
    Case('07_prealloc', r'MulBackward0.*version.*wrote into it.*07_prealloc\.py:7', r'version'),
    Case('09_hidden_retained', r'graphs of \d+ earlier passes.*state'),
    Case('11_rank_skips', LATE, arguments=('29731',), spawns=True, hangs=(('29731',),)),
    Case('12_slices', r'400 gradients .*S(elect|lice)Backward0.*unbind'),
    Case('13_gil', r'GIL.*13_gil\.py:1[23]', r'GIL'),
    Case('15_lora_checkpoint', r'blocks\.0\.down\.weight.*checkpoint\(\) with use_reentrant.*15_lora_checkpoint\.py:22'),
    Case('16_autocast_cache', r'ToCopyBackward0.*autocast'),
    Case('16b_autocast_nograd', r'teacher\..*autocast.*no_grad', r'teacher\..*no_grad', most='1.13'),
    Case('17_ddp_twice', r'(marked.*ready|ready only once).*(block|checkpoint)', arguments=('29733',), spawns=True),
    Case('18_no_zero_grad', r'not cleared.*zero_grad'),
    Case('19_linear_second', r'no path leads.*second derivative of a linear'),
    Case('20_stale_optimizer', r'No optimizer has 0\.weight'),
    Case('21_numpy_cut', r'by_data.*\.data\b.*21_numpy_cut\.py:11', r'by_\w+\.weight had no gradient.*(tolist|\.data|argmax)'),
    Case('22_eval_kept', r'results of MeanBackward0.*no_grad.*22_eval_kept\.py:14', r'results of MeanBackward0.*no_grad'),
    Case('23_hook_relu', r'in.?place.*23_hook_relu\.py:6', r'(?i)in.?place'),
    Case('siblings/11s', LATE, hangs=(('spawn', '29741'),), spawns=True),
    Case('siblings/s2', r'hook.*wrote into the gradient'),
    Case('siblings/s3a_log', r'born in the forward pass.*LogBackward0.*s3a_log\.py:3', r'LogBackward0'),
    Case('siblings/s3b_exp', r'Inf was born in the forward pass.*ExpBackward0.*s3b_exp\.py:3', r'DivBackward0'),
    Case('siblings/s3c_acos', r'born in the forward pass.*AcosBackward0.*s3c_acos\.py:5', r'AcosBackward0'),
    Case('siblings/s4', r'ridden.*custom torch\.autograd\.Function|(decorated|switched).*no_grad|inferred.*inference_mode'),
    Case('siblings/s5', r'0\.weight.*zero'),
    Case('siblings/s5cast', r'cast.*float32'),
    Case('siblings/s5cast_half', r'cast.*float16'),
    Case('siblings/s6', r'version.*(renorm|Embedding|s6\.py:7)', r'version'),
    Case('siblings/s6b', r'version.*step.*s6b\.py:6', r'version'),
    Case('siblings/s7b', r'other ranks', hangs=(('0', '29751', 'ddp'), ('1', '29751', 'ddp')), spawns=True),
    Case('siblings/s12', r'No optimizer has', least='2.1'),
    Case('siblings/s14', r'aux.*had a gradient at first'),
    Case('siblings/s16', r'ToCopyBackward0.*old value'),
    # It fails: the step wrote into what the cached weight was made of.
    Case('siblings/s16b', r'version.*The step of an optimizer wrote into it.*uses an old value again.*cached', r'version.*The step of an optimizer wrote into it', least='2.1'),
    Case('siblings/s18', r'not cleared.*zero_grad'),
)


def path_of(case, given):
    return os.path.join(given if case in GIVEN else HERE, case.name + '.py')
