"""Stories: the installed programs as real processes, over real upstream servers, through a real client."""

import pytest

# They assert too, and say as much as a test when they fail.
pytest.register_assert_rewrite("tests.stories.workplace", "tests.stories.upstreams")
