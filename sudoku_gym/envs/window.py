"""The window of `render_mode="human"`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from sudoku_gym.plugins import install_command

PYGAME_INSTALLED = find_spec("pygame") is not None


class Window:
    """Displays frames; DependencyNotInstalled if pygame is missing."""

    def __init__(self, title: str) -> None:
        try:
            import pygame
        except ModuleNotFoundError:
            raise DependencyNotInstalled(
                f"a window needs pygame: {install_command('render')}"
            ) from None
        self._pygame: Any = pygame
        pygame.display.init()
        self._title = title
        self._screen: Any = None
        self._clock = pygame.time.Clock()

    def show(self, frame: NDArray[np.uint8], fps: float) -> None:
        """Show uint8 `[H, W, 3]`, at most `fps` frames per second."""
        height, width = frame.shape[:2]
        if self._screen is None or self._screen.get_size() != (width, height):
            self._screen = self._pygame.display.set_mode((width, height))
            self._pygame.display.set_caption(self._title)
        self._pygame.event.pump()  # otherwise the OS marks the window as not responding
        surface = self._pygame.surfarray.make_surface(frame.transpose(1, 0, 2))
        self._screen.blit(surface, (0, 0))
        self._pygame.display.flip()
        self._clock.tick(fps)

    def close(self) -> None:
        """Close the window."""
        self._pygame.display.quit()
