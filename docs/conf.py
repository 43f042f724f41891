"""The documentation site: `make site`. Sphinx with furo: both are long-lived, and MyST reads the pages as they are."""

import re
from html import escape

from docutils.nodes import paragraph

from babelscope import __version__

project, version, release = "Babelscope", __version__, __version__
author = copyright = "the Babelscope developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["results/rows"]
html_theme = "furo"
html_title = f"Babelscope {__version__}"
html_favicon = "favicon.svg"
html_show_sphinx = False
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # pages that the code writes may begin at the second level
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
add_module_names = False
default_role = "code"  # as in Markdown


_FOR_KEYBOARD_AND_READERS = {
    "furo_navigation_tree": [('role="heading"', 'role="heading" aria-level="2"')],
    "body": [("<pre>", '<pre tabindex="0">'), ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper')],
}
"""By part of a page, what is replaced in it: headings of the sidebar lack a level, and what scrolls takes no focus."""


def _make_accessible(app, page, template, context, doctree):
    for part, changes in _FOR_KEYBOARD_AND_READERS.items():
        for before, after in changes if part in context else ():
            context[part] = context[part].replace(before, after)


_INTERVAL = re.compile(r"\[([^\[\]<> ]+), ([^\[\]<> ]+)\]")
"""Such as [0.1, 0.2] and [1,409, 1,955]."""


def _keep_intervals_whole(app, page, template, context, doctree):
    """In narrow columns lines are to break before an interval, and not inside."""
    if "body" in context:
        context["body"] = _INTERVAL.sub(r"[\1,&nbsp;\2]", context["body"])


def _describe(app, page, template, context, doctree):
    """For search engines: how the page begins."""
    begin = next((each.astext() for each in doctree.findall(paragraph)), "") if doctree else ""
    if begin:
        text = escape(" ".join(begin.split())[:300])
        context["metatags"] = context.get("metatags", "") + f'<meta name="description" content="{text}" />'


def setup(app):
    """After furo has made the sidebar."""
    app.connect("html-page-context", _describe)
    app.connect("html-page-context", _keep_intervals_whole)
    app.connect("html-page-context", _make_accessible, priority=900)
