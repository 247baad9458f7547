# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of Sphinx for the pages that scripts/make_site.py writes."""

import os
from pathlib import Path

project = "Spanwise"
author = "The Spanwise Authors"
copyright = "2026, The Spanwise Authors"
release = version = os.environ.get("SPANWISE_VERSION", "")
extensions = ["myst_parser", "sphinx_copybutton"]
html_theme = "furo"
html_title = f"Spanwise {release}"
html_static_path = ["site.css", "versions.js"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# Classes of the same name in two modules, in signatures that give the name alone.
suppress_warnings = ["ref.python"]
add_module_names = False
python_display_short_literal_types = True
pygments_dark_style = "monokai"
maximum_signature_line_length = 90
