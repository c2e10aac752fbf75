# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page for each command: what resources/docs/commands.md and its own help say, samples.txt run on recordings, and its JSON schema."""
import json
import pathlib
import re
import shlex
import shutil

import tables
from documents import inline
from template import escape, neighbours, steps, terminal

HERE = pathlib.Path(__file__).parent


def read_samples():
    """For each command: (line, caption, why it is not run)."""
    samples, caption, excuse = {}, "", ""
    for line in (HERE / "samples.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("> "):
            caption = line[2:]
        elif line.startswith("! "):
            excuse = line[2:]
        elif line.startswith("tapedeck "):
            samples.setdefault(line.split()[1], []).append((line, caption, excuse))
            caption = excuse = ""
    return samples


OVERWRITES = ("run", "export")  # a reader has no file of that name yet


def run_samples(tapes, samples):
    """What each line of the samples printed, by the line. They are run on copies of the recordings, in the order of the file."""
    program, folder, kept = tapes.program, tapes.work / "samples", tapes.work / "samples.json"

    def make():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for example in tapes.examples:
            shutil.copy(tapes.work / f'{example["name"]}.tape', folder)
        printed = {}
        for line in (line for group in samples.values() for line, _, excuse in group if not excuse):
            name, *rest = shlex.split(line)[1:]
            done = program.run(name, *(["--force"] if name in OVERWRITES else []), *rest, may_fail=True, folder=folder)
            printed[line] = program.without_paths(done.stdout + done.stderr)
        kept.write_text(json.dumps(printed), encoding="utf-8")

    tapes.make("samples", [HERE / "samples.txt", *(pathlib.Path(one["path"]) for one in tapes.examples)], make)
    return json.loads(kept.read_text(encoding="utf-8"))


def show_sample(site, tapes, sample, printed, links, place):
    line, caption, excuse = sample
    intro = f"<p>{inline(caption, links, place)}</p>\n" if caption else ""
    if excuse:
        return f'{intro}<pre tabindex="0"><span class="prompt">$ </span><b class="wraps">{escape(line)}</b></pre>\n<p class="dim">{inline(excuse, links, place)}</p>\n'
    arguments = shlex.split(line)[1:]
    made = terminal(line, printed[line])
    output = tapes.work / "samples" / arguments[arguments.index("-o") + 1] if "-o" in arguments else None
    if output and output.suffix == ".svg":
        shutil.copyfile(output, site.output / "commands" / output.name)
        made += f'<figure><img src="{output.name}" alt="The picture that this command drew"></figure>\n'
    elif output and output.suffix != ".tape":
        made += terminal(f"cat {output.name}", output.read_text(encoding="utf-8"), 24)
    return intro + made


def arguments_of(program, name):
    table = (program.source / "app" / "commands.def").read_text(encoding="utf-8")
    return re.search(rf'^TD_COMMAND\({name}, \w+, "(.*?)",', table, re.MULTILINE)[1]


def help_table(program, name):
    from make_man import OPTION_LINE, help_of
    lines = help_of(str(program.path), name).splitlines()
    usage = f"tapedeck {name} {arguments_of(program, name)}"
    rows = [match.groups() for match in map(OPTION_LINE.match, lines[2:]) if match]
    body = "".join(f"<tr><td><code>{escape(option)}</code></td><td>{escape(text or '')}</td></tr>\n" for option, text in rows)
    return f'<pre tabindex="0"><span class="wraps">{escape(usage)}</span></pre>\n<div class="table" tabindex="0"><table>\n<tr><th>Option</th><th>What it does</th></tr>\n{body}</table></div>\n'


def schemas(program, name):
    all_names = [line.split()[0] for line in program.text("schema").splitlines() if line.strip()]
    parts = []
    for schema in all_names:
        if schema == name or schema.startswith(f"{name}-"):
            text = json.dumps(json.loads(program.text("schema", schema)), indent=2, ensure_ascii=False)
            parts.append(f'<details id="schema-{schema}"><summary><code>tapedeck schema {schema}</code></summary>\n<pre tabindex="0">{escape(text)}</pre></details>\n')
    return f'<h2 id="json">Its JSON</h2>\n<p>The schema of what it prints with <code>--json</code>.</p>\n{"".join(parts)}' if parts else ""


def body(program, name, summary, about, shown, links):
    place = f"commands/{name}.html"
    rows = "".join(f"<tr><td>{inline(call, links, place)}</td><td>{inline(text, links, place, tables.COMMANDS)}</td></tr>\n" for call, text in about)
    called = f'<div class="table" tabindex="0"><table>\n<tr><th>How it is called</th><th>What it does</th></tr>\n{rows}</table></div>\n' if rows else ""
    return (f'<h1>tapedeck {name}</h1>\n<p class="lead">{escape(summary[0].upper() + summary[1:])}.</p>\n{called}'
            f'<h2 id="example">For example</h2>\n{shown}<h2 id="options">Options</h2>\n{help_table(program, name)}{schemas(program, name)}')


def write(site, tapes, links):
    program = tapes.program
    from make_man import commands_in, help_of
    commands, about, samples = commands_in(help_of(str(program.path))), tables.of_commands(program), read_samples()
    pages = [(f"{name}.html", name) for name, _ in commands]
    missing = [name for name, _ in commands if name not in samples]
    assert not missing, f"samples.txt has no line for {missing}"
    printed = run_samples(tapes, samples)
    for at, (name, summary) in enumerate(commands):
        place = f"commands/{name}.html"
        shown = "".join(show_sample(site, tapes, sample, printed, links, place) for sample in samples[name])
        site.write(place, f"tapedeck {name}", body(program, name, summary, about.get(name, []), shown, links) + steps(*neighbours(pages, at)))
    items = "".join(f'<li><a href="{name}.html"><code>{name}</code></a><span>{escape(summary)}</span></li>\n' for name, summary in commands)
    site.write("commands/index.html", "Commands", '<h1>Commands</h1>\n<p class="lead">Each page shows what the command prints, made by running it.</p>\n'
               f'<ul class="list">\n{items}</ul>\n')
