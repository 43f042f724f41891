"""The documentation site: `make site`. Sphinx with furo: both are long-lived, and MyST reads the pages as they are."""

from babelscope import __version__

project, author, version, release = "Babelscope", "The Babelscope authors", __version__, __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["results/rows"]
html_theme = "furo"
html_title = f"Babelscope {__version__}"
html_show_sphinx = False
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # pages that the code writes may begin at the second level
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
add_module_names = False
default_role = "code"  # as in Markdown
