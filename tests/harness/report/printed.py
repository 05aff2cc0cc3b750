"""A ladder in the forms that people read."""

import io

from rich.console import Console

from weigh.harness.report.render import text
from weigh.harness.report.render.markdown import markdown_sections
from weigh.harness.report.sections.ladder_table import ladder_sections


def plain_lines(ladder):
    return text.plain_lines(ladder_sections(ladder))


def markdown(ladder):
    return markdown_sections(ladder_sections(ladder))


def printed(ladder, width, encoding="utf-8"):
    out = io.StringIO()
    made = text.renderable(ladder_sections(ladder, width), width, encoding)
    Console(file=out, width=width, force_terminal=False).print(made)
    return out.getvalue()
