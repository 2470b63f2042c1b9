"""The build backend for `pip install .` at the top of the repository: maturin, run here.

A second pyproject.toml with all metadata would be a copy that grows out of date.
"""

import os

os.chdir(os.path.dirname(os.path.abspath(__file__)))

from maturin import (  # noqa: E402, F401
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)
