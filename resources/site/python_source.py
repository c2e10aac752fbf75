# SPDX-License-Identifier: LGPL-2.1-or-later
"""A Python source as HTML: a span for each line, with its number as place to link to, and colours."""
import html
import io
import keyword
import token
import tokenize

STRINGS = {token.STRING, getattr(token, "FSTRING_START", -1), getattr(token, "FSTRING_MIDDLE", -1), getattr(token, "FSTRING_END", -1)}


def kind_of(one):
    if one.type == tokenize.COMMENT:
        return "c"
    if one.type in STRINGS:
        return "s"
    if one.type == token.NUMBER:
        return "n"
    return "k" if one.type == token.NAME and keyword.iskeyword(one.string) else None


def spans_of(text):
    """(line, from, to, kind) of what has a colour; a token over several lines is one for each."""
    lines = text.split("\n")
    for one in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = kind_of(one)
        if not kind:
            continue
        for number in range(one.start[0], one.end[0] + 1):
            begin = one.start[1] if number == one.start[0] else 0
            end = one.end[1] if number == one.end[0] else len(lines[number - 1])
            yield number, begin, end, kind


def to_html(text):
    lines = text.rstrip("\n").split("\n")
    marks = [[] for _ in lines]
    for number, begin, end, kind in spans_of(text):
        marks[number - 1].append((begin, end, kind))
    made = []
    for number, (line, spans) in enumerate(zip(lines, marks), 1):
        parts, at = [], 0
        for begin, end, kind in spans:
            parts += [html.escape(line[at:begin]), f'<span class="{kind}">{html.escape(line[begin:end])}</span>']
            at = end
        made.append(f'<span class="line" id="L{number}">{"".join(parts)}{html.escape(line[at:])}</span>')
    return f'<pre class="source" tabindex="0"><code>{"".join(made)}</code></pre>\n'
