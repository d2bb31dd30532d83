# docker build -t sudoku-gym .                                      # CPU; see docs/quick-start.md for a smaller torch
# docker run --init --rm -v "$PWD/runs:/home/gym/runs" sudoku-gym   # the demo, three to four minutes of one core
# docker run --init --rm -it sudoku-gym sudoku-gym watch hidden-singles --puzzles 9x9-hard
FROM python:3.11-slim-bookworm

# An index with CPU builds of torch makes the image some gigabytes smaller.
ARG PIP_EXTRA_INDEX_URL=
ENV OMP_NUM_THREADS=1 NUMBA_CACHE_DIR=/home/gym/numba PIP_NO_CACHE_DIR=1

RUN useradd --create-home --uid 1000 gym
COPY . /suite
RUN pip install --no-compile --constraint /suite/constraints.txt '/suite[agents]'

USER 1000
WORKDIR /home/gym
# What is compiled here is found by every container.
RUN mkdir runs && sudoku-gym compare naked-singles dlx --count 20
CMD ["python", "/suite/examples/demo.py"]
