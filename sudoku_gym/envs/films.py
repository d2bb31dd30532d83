"""Films of an episode: GIF with Pillow alone, MP4 with moviepy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sudoku_gym import plugins
from sudoku_gym.storage.atomic import atomic_write


def save_film(frames: Iterable[NDArray[np.uint8]], path: str | Path, fps: float = 4) -> None:
    """Save a film of frames in the format that the file's suffix names, `.gif` or `.mp4`.

    Args:
        frames: uint8 `[H, W, 3]` each, all of one size; H and W even for MP4.
        path: is overwritten, once the film is complete.
        fps: frames a second.

    Raises:
        ValueError: if there is no frame, `fps` is not positive, or the suffix is another.
        ModuleNotFoundError: if MP4 is asked for and moviepy is missing.
    """
    savers = {".gif": save_gif, ".mp4": save_mp4}
    suffix = Path(path).suffix.lower()
    if suffix not in savers:
        raise ValueError(f"a film in {str(path)!r}: use a name that ends in .gif or .mp4")
    savers[suffix](frames, path, fps)


def save_gif(frames: Iterable[NDArray[np.uint8]], path: str | Path, fps: float = 4) -> None:
    """Save a film of frames as an endless GIF; the last one stays for two seconds.

    Args:
        frames: uint8 `[H, W, 3]` each, all of one size.
        path: is overwritten, once the film is complete.
        fps: frames a second.

    Raises:
        ValueError: if there is no frame or `fps` is not positive.
    """
    images = [Image.fromarray(frame) for frame in _checked(frames, path, fps)]
    durations = [round(1000 / fps)] * (len(images) - 1) + [2000]
    options = {"save_all": True, "append_images": images[1:], "duration": durations, "loop": 0}
    with atomic_write(path) as temporary:
        images[0].save(temporary, "GIF", **options)


def save_mp4(frames: Iterable[NDArray[np.uint8]], path: str | Path, fps: float = 4) -> None:
    """Save a film of frames as MP4; the last one stays for two seconds.

    Args and errors are those of `save_film`.
    """
    shown = _checked(frames, path, fps)
    with plugins.naming_the_extra("a film as MP4"):
        from moviepy import ImageSequenceClip  # type: ignore[import-untyped]
    shown += shown[-1:] * int(2 * fps)
    film = ImageSequenceClip(shown, fps=fps)
    with atomic_write(path) as temporary:
        film.write_videofile(str(temporary), audio=False, logger=None)


def _checked(
    frames: Iterable[NDArray[np.uint8]], path: str | Path, fps: float
) -> list[NDArray[np.uint8]]:
    shown = list(frames)
    if not shown:
        raise ValueError(f"no frame to save in {path}: render the environment at least once")
    if fps <= 0:
        raise ValueError(f"fps={fps}: use a number above 0")
    return shown
