"""What tests of execution share with those of the stores."""

from tests.wf_artifacts.conftest import memory_folder

__all__ = ["memory_folder"]
