"""Films of an episode: GIF with Pillow alone, MP4 with moviepy."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sudoku_gym import plugins
from sudoku_gym.storage.atomic import atomic_write, check_suffix

_LAST_FRAME = 2  # seconds that the last frame stays


def save_film(frames: Iterable[NDArray[np.uint8]], path: str | Path, fps: float = 4) -> None:
    """Save a film of frames; its format is the path's suffix, `.gif` (endless) or `.mp4`.

    Args:
        frames: uint8 `[H, W, 3]` each, all of one size; H and W even for MP4.
        path: output file, replaced once the film is complete.
        fps: frames per second, 0.1 to 1000; the last frame stays for two seconds.

    Raises:
        ValueError: if there is no frame, `fps` is out of range, or the suffix is another.
        ModuleNotFoundError: if MP4 is asked for and moviepy is missing.
        OSError: if the film can't be written whole, as on a full disk; an older one stays.
    """
    check_film(path)
    shown = list(frames)
    if not shown:
        raise ValueError(f"no frame to save in {path}: render the environment at least once")
    check_fps(fps)
    save = _save_gif if Path(path).suffix.lower() == ".gif" else _save_mp4
    save(shown, path, fps)


def check_film(path: str | Path) -> None:
    """Raise ValueError unless the path's suffix is that of a film."""
    check_suffix(path, "a film", ".gif", ".mp4")


def check_fps(fps: float) -> None:
    """Raise ValueError if frames per second are out of range."""
    if not 0.1 <= fps <= 1000:
        raise ValueError(f"fps={fps}: use a number from 0.1 to 1000")


def _save_gif(frames: list[NDArray[np.uint8]], path: str | Path, fps: float) -> None:
    images = [Image.fromarray(frame) for frame in frames]
    durations = [round(1000 / fps)] * (len(images) - 1) + [1000 * _LAST_FRAME]
    options = {"save_all": True, "append_images": images[1:], "duration": durations, "loop": 0}
    with atomic_write(path) as temporary:
        images[0].save(temporary, "GIF", **options)


def _save_mp4(frames: list[NDArray[np.uint8]], path: str | Path, fps: float) -> None:
    with plugins.suggest_extra("a film as MP4"):
        from imageio_ffmpeg import count_frames_and_secs  # type: ignore[import-untyped]
        from moviepy import ImageSequenceClip  # type: ignore[import-untyped]
    shown = frames + frames[-1:] * int(_LAST_FRAME * fps)
    with atomic_write(path) as temporary:
        ImageSequenceClip(shown, fps=fps).write_videofile(str(temporary), audio=False, logger=None)
        try:  # moviepy does not look at how ffmpeg ended; what it wrote last is the index
            count_frames_and_secs(str(temporary))
        except RuntimeError:
            reason = "the film could not be written whole (a full disk?)"
            raise OSError(errno.EIO, reason, str(path)) from None
