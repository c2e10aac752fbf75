# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page for each lesson of the course. The lesson itself is what `tapedeck lesson export` writes."""
import python_source
from template import escape, neighbours, player, steps


def body(site, tapes, lesson, number):
    name = lesson["name"]
    tapes.lesson(name, site.output / "lessons" / f"{name}.play.html")
    source = (tapes.program.source / "resources" / "lessons" / f"{name}.py").read_text(encoding="utf-8")
    return (f'<h1>Lesson {number}: {escape(lesson["title"])}</h1>\n<p class="lead">{escape(lesson["about"])}.</p>\n'
            f'<p>{lesson["steps"]} steps, {lesson["questions"]} questions, about five minutes. <kbd>N</kbd> and <kbd>P</kbd> go to the next and the previous step.</p>\n'
            f'{player(f"{name}.play.html", "The lesson: " + lesson["title"])}'
            f'<h2 id="source">The script</h2>\n<p>The lesson plays the tape of this script.</p>\n{python_source.to_html(source)}'
            f'<h2 id="elsewhere">In the window, and in a terminal</h2>\n<pre tabindex="0">build/app/tapedeck open --lesson {name}\nbuild/app/tapedeck lesson run {name}'
            '</pre>\n<p>The window has the lesson in Chinese too, if the desktop speaks it.</p>\n')


def write(site, tapes):
    lessons = tapes.lessons
    pages = [(f'{one["name"]}.html', f'{number}: {one["title"]}') for number, one in enumerate(lessons, 1)]
    for at, lesson in enumerate(lessons):
        title = f'Lesson {at + 1}: {lesson["title"]}'
        site.write(f'lessons/{lesson["name"]}.html', title, body(site, tapes, lesson, at + 1) + steps(*neighbours(pages, at)))
    items = "".join(f'<li><a href="{one["name"]}.html">{number}: {escape(one["title"])}</a><p>{escape(one["about"])}.</p></li>\n'
                    for number, one in enumerate(lessons, 1))
    site.write("lessons/index.html", "Lessons", '<h1>Lessons</h1>\n<p class="lead">How the engine schedules a backward pass, from a chain to re-entry and streams.</p>\n'
               '<p>Each takes five minutes, plays here in the browser, and asks. No installation is needed. Begin with the first.</p>\n'
               f'<ul class="cards">\n{items}</ul>\n')
