# Babelscope in a container; the store and the data are folders of the host.
#   docker build -t babelscope .
#   docker run --rm -v "$PWD:/research" babelscope run first-look --with scale=small
# With CUDA, whose libraries torch brings along (the host has the driver, and runs it with --gpus all):
#   docker build -t babelscope:cuda --build-arg TORCH=https://download.pytorch.org/whl/cu130 .
FROM python:3.12-slim
ARG TORCH=https://download.pytorch.org/whl/cpu
WORKDIR /opt/babelscope
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
# torch first and pinned: with it in place no other package asks for another build.
RUN pip install --no-cache-dir --constraint constraints.txt --index-url "$TORCH" torch \
    && pip install --no-cache-dir --constraint constraints.txt ".[english,hub,cluster]" \
    && useradd --create-home --uid 1000 researcher
USER 1000
WORKDIR /research
ENV BABELSCOPE_STORE=/research/babelscope-store
ENTRYPOINT ["babelscope"]
CMD ["--help"]
