#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# A notebook with %%tapedeck, executed as nbconvert does it, and its page in a browser.
import base64
import html
import json
import os
import pathlib
import re
import subprocess

import skipping
import torches
from record_case import TAPEDECK, RecordCase

PACKAGE = str(pathlib.Path(os.environ['BUILD_ROOT']) / 'engine' / 'python')
OUTPUT = pathlib.Path(os.environ.get('TEST_OUTPUT', os.environ['BUILD_ROOT'] + '/test-output'))

CELLS = [
    '%load_ext tapedeck',
    'import torch\ntorch.manual_seed(3)\nnet = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))\n'
    'data = torch.randn(5, 4)',
    '%%tapedeck step.tape --stacks\nloss = net(data).pow(2).sum()\nloss.backward()\nloss.item() > 0',
    'print(len(_tape.passes), loss.item() > 0, net[0].weight.grad is not None)',
    '%%tapedeck\nx = torch.zeros(2, requires_grad=True)\n(x.sqrt() * 0).sum().backward()',
    '%%tapedeck --view timeline\nnet(data).sum().backward()',
    '%%tapedeck\nnet(data).sum().backward()\nraise KeyError("on purpose")',
    '%%tapedeck\n1 + 1',
    '%%tapedeck --level 2\n1',
    '%%tapedeck --pass 99\nnet(data).sum().backward()\n7',
    '%%tapedeck\nimport tapedeck\nnet(data).sum().backward()\ntapedeck.stop()\n8;',
    'import tapedeck\nwith tapedeck.record("inner.tape", overwrite=True):\n    net(data).sum().backward()',
]


def notebook(cells):
    made = [{'cell_type': 'code', 'metadata': {}, 'execution_count': None, 'outputs': [], 'source': cell, 'id': f'cell-{i}'}
            for i, cell in enumerate(cells)]
    return {'nbformat': 4, 'nbformat_minor': 5, 'metadata': {'kernelspec': {'name': 'python3', 'display_name': 'Python 3'}}, 'cells': made}


class Notebook(RecordCase):
    def setUp(self):
        super().setUp()
        bin_folder = os.path.dirname(torches.python_of('2.13.0', 'ipykernel', 'nbconvert'))
        self.environment |= {'PYTHONPATH': PACKAGE, 'TAPEDECK': TAPEDECK, 'PATH': f'{bin_folder}:{os.environ["PATH"]}',
                             'HOME': str(self.folder), 'JUPYTER_PLATFORM_DIRS': '1'}

    def convert(self, *options):
        done = self.run_in(torches.python_of('2.13.0', 'ipykernel', 'nbconvert'), '-m', 'nbconvert', *options)
        self.assertEqual(done.returncode, 0, done.stderr)

    def outputs(self, cells):
        (self.folder / 'a.ipynb').write_text(json.dumps(notebook(cells)))
        self.convert('--to', 'notebook', '--execute', '--allow-errors', '--output', 'done.ipynb', 'a.ipynb')
        return [cell['outputs'] for cell in json.loads((self.folder / 'done.ipynb').read_text())['cells']]

    def of_type(self, outputs, kind):
        return ''.join(''.join(output.get('data', {}).get(kind, '')) for output in outputs)

    def assert_plays(self, output):
        """The cell has the page that `export` writes, whole, and a notebook stays small."""
        frame = re.search("<iframe [^>]*srcdoc='([^']*)'></iframe>", output)
        self.assertTrue(frame, output[:300])
        run = subprocess.run([TAPEDECK, 'export', 'step.tape', '--to', 'html', '-o', 'step.html', '--force'], cwd=self.folder)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(html.unescape(frame[1]), (self.folder / 'step.html').read_text())
        self.assertLess(len(output), 300_000)
        print(f'a cell of {len(output)} characters, {len(frame[0])} of them the page that plays')

    def test_large_page(self):
        """A page that would swell the notebook is there only on demand."""
        many = 'x = torch.ones(1, requires_grad=True)\ny = x\nfor i in range(3000):\n    y = y * 1.5\ny.sum().backward()'
        outputs = self.outputs([CELLS[0], 'import torch', f'%%tapedeck\n{many}', f'%%tapedeck --play\n{many}'])
        without, with_page = (self.of_type(one, 'text/html') for one in outputs[2:])
        self.assertNotIn('<iframe', without)
        self.assertRegex(without, r'The page that plays has \d[.]\d MB')
        self.assertIn('<iframe', with_page)

    def test_cells(self):
        outputs = self.outputs(CELLS)
        page = self.of_type(outputs[2], 'text/html')
        self.assert_plays(page)
        self.assertEqual(base64.b64decode(re.search('data:image/png;base64,([^"]+)', page)[1])[:4], b'\x89PNG')
        picture = re.search('data:image/svg[+]xml;base64,([^"]+)', self.of_type(outputs[5], 'text/html'))[1]
        self.assertIn('<svg', base64.b64decode(picture).decode())
        for words in ('1 backward pass took', 'AddmmBackward0', 'PowBackward0'):
            self.assertIn(words, page)
        self.assertEqual(self.of_type(outputs[2], 'text/plain').endswith('>True'), True)  # the value of the last line
        self.assertEqual(''.join(outputs[3][0]['text']), '1 True True\n')
        self.assertEqual((len(self.info('step.tape')['graph_tasks']), self.info('step.tape')['source']), (1, 'notebook'))
        self.assertIn('NaN was born', self.of_type(outputs[4], 'text/html'))
        self.assertIn('timeline of the backward pass', self.of_type(outputs[5], 'text/html'))
        self.assertNotIn('<iframe', self.of_type(outputs[5], 'text/html'))
        errors = [output for output in outputs[6] if output['output_type'] == 'error']
        self.assertEqual([(error['ename'], 'on purpose' in error['evalue']) for error in errors], [('KeyError', True)])
        self.assertIn('AddmmBackward0', self.of_type(outputs[6], 'text/html'))
        self.assertIn('raise KeyError', '\n'.join(errors[0]['traceback']))
        self.assertEqual(self.of_type(outputs[7], 'text/plain'), '2')
        self.assertEqual(self.of_type(outputs[7], 'text/html'), '')
        self.assertIn('keeps it to its end', ''.join(outputs[8][0].get('text', '') or outputs[8][0].get('evalue', '')))
        self.assertEqual(self.of_type(outputs[9], 'text/plain'), '7')
        self.assertIn('%%tapedeck: ', ''.join(''.join(output.get('text', '')) for output in outputs[9]))
        self.assertEqual(outputs[10], [])
        self.assertEqual([output for output in outputs[11] if output['output_type'] == 'error'], [])

    def test_page(self):
        """What a reader of the notebook sees."""
        self.outputs([cell for cell in CELLS[:6]])
        self.convert('--to', 'html', '--output', 'page.html', 'done.ipynb')
        OUTPUT.mkdir(parents=True, exist_ok=True)
        shown = self.run_in('chromium', '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--virtual-time-budget=8000',
                            f'--user-data-dir={self.folder}/chromium', '--window-size=1000,2600',
                            f'--screenshot={OUTPUT}/notebook.png', f'file://{self.folder}/page.html')
        self.assertTrue((OUTPUT / 'notebook.png').exists(), shown.stderr[-2000:])


if __name__ == '__main__':
    torches.python_of('2.13.0', 'ipykernel', 'nbconvert')
    skipping.main()
