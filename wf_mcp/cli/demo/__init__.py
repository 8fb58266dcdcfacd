"""`wf demo`: the main job on real input, offline.

`command` tells the story on the terminal. `worker` is the process that runs the workflow, and gets killed.
"""

from wf_mcp.cli.demo.command import app

__all__ = ["app"]
