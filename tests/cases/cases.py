# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mistakes that people reported, and what Tapedeck must say first of each. `programs` has those that are rebuilt here, each with
its address. Others are given: a folder outside of the repository has them."""
import collections
import os

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs')

# `words`: what the first finding must say (a regular expression over its title, text, advice and line). `partly`: what helps, though
# the cause is not in it. `least`: the oldest PyTorch that can run it. `arguments` of the program. `spawns`: it starts processes.
NEVER = '(?!)'  # matches nothing
Case = collections.namedtuple('Case', 'name words partly least arguments spawns', defaults=(NEVER, '', (), False))

OWN = (
    Case('where_log', r'NaN was born.*Log2Backward0|Log2Backward0.*NaN was born'),
    Case('padded_row', r'NaN was born.*Softmax', r'Inf came with the data.*BaddbmmBackward0'),
    Case('labels_ignored', r'NllLoss|NaN was born'),
    Case('spread_of_one', r'(Std|Var)Backward0'),
    Case('state_kept', r'second time.*Graph task 0 ran it before'),
    Case('sigmoid_item', r'SigmoidBackward0 .*version.*copy_.*sigmoid_item\.py:8'),
    Case('skip_in_place', r'ConvolutionBackward0 .*version.*add_ wrote into it.*skip_in_place\.py'),
    Case('total_loss', r'graphs of \d+ earlier passes are still there'),
    Case('outputs_of_epoch', r'graphs of \d+ earlier passes are still there, from that of MeanBackward0'),
    Case('short_for_ctc', r'CtcLossBackward0'),
    Case('chosen_class', r'coarse\.weight, coarse\.bias had no gradient.*Not known why.*argmax'),
    Case('number_in_loss', r'policy\.weight, policy\.bias had no gradient.*item\(\).*number_in_loss\.py'),
    Case('penalty_graph', r'graphs of \d+ earlier passes.*create_graph', least='2.0'),
    Case('angle_of_equal', r'AcosBackward0'),
    Case('zero_to_the_power', r'PowBackward0'),
    Case('entropy_of_zero', r'NaN was born.*MulBackward0', r'MaskedFillBackward0'),
    Case('epoch_of_gradients', r'Gradients are not cleared.*zero_grad'),
    Case('variance_overflows', r'DivBackward0|PowBackward0|ExpBackward0'),
    Case('predictions_kept', r'results of SoftmaxBackward0.*no_grad'),
    Case('copied_embedding', r'No optimizer has .*weight.*replaced'),
)

GIVEN = (
    Case('01_eigh_equal', r'Eigh.*equal'),
    Case('02_grad_written', r'LeakyClipBackward.*wrote into the gradient'),
    Case('04_zero_grad_softmax', r'All gradients .*zero.*softmax over one'),
    Case('05_half_overflow', r'float16.*65504', least='2.3'),
    Case('06_gan_step', r'version.*(optimizer|step)'),
    Case('07_prealloc', r'SigmoidBackward0|version.*07_prealloc\.py'),
    Case('09_hidden_retained', r'graphs of \d+ earlier passes'),
    Case('12_slices', r'400 gradients .*SelectBackward0.*unbind'),
    Case('15_lora_checkpoint', r'checkpoint\(\) with use_reentrant'),
    Case('16_autocast_cache', r'ToCopyBackward0.*autocast'),
    Case('16b_autocast_nograd', r'no_grad\(\)|autocast'),
    Case('17_ddp_twice', r'marked.*ready|ready only once', arguments=('29733',), spawns=True),
    Case('18_no_zero_grad', r'zero_grad'),
    Case('19_linear_second', r'second derivative of a linear'),
    Case('20_stale_optimizer', r'No optimizer has 0\.weight'),
    Case('21_numpy_cut', r'(?!)', r'by_data\.weight, by_argmax\.weight had no gradient.*Not known why.*argmax\(\), or the program took its \.data'),
    Case('22_eval_kept', r'results of MeanBackward0.*no_grad'),
    Case('23_hook_relu', r'(?i)in.?place'),
    Case('siblings/s2', r'hook.*wrote into the gradient'),
    Case('siblings/s3a_log', r'LogBackward0'),
    Case('siblings/s3b_exp', r'ExpBackward0|DivBackward0'),
    Case('siblings/s3c_acos', r'AcosBackward0'),
    Case('siblings/s4', r'ridden.*custom torch\.autograd\.Function|decorated.*no_grad|switched'),
    Case('siblings/s5', r'0\.weight.*zero'),
    Case('siblings/s5cast', r'cast|float32'),
    Case('siblings/s5cast_half', r'cast|float16'),
    Case('siblings/s6', r'version|renorm|Embedding'),
    Case('siblings/s6b', r'version.*(step|optimizer)'),
    Case('siblings/s12', r'No optimizer has'),
    Case('siblings/s14', r'aux.*had a gradient at first'),
    Case('siblings/s16', r'ToCopyBackward0.*old value'),
    Case('siblings/s16b', r'old value'),
    Case('siblings/s18', r'zero_grad'),
)


def path_of(case, given):
    return os.path.join(given if case in GIVEN else HERE, case.name + '.py')
