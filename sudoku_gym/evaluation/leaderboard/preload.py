"""What the processes of policies share, imported once before they are forked.

Torch takes most of the time that such a process needs to start. Where it is not installed, or can't
be loaded, only the policies that need it are told so.
"""

from contextlib import suppress
from importlib import import_module

with suppress(Exception):
    import_module("torch")
