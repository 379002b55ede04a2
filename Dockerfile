# ccn with CUDA's run time, in a virtual environment at /opt/ccn that is on PATH:
#
#   docker build -t ccn .
#   docker run --rm --gpus all -v "$PWD:/data" ccn cccompile adam.ccn --run
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git python3-pip
# Without CUDA's headers the wheel would run programs on CPUs only.
COPY --from=nvidia/cuda:13.0.1-devel-ubuntu24.04 /usr/local/cuda/targets/x86_64-linux/include /usr/local/cuda/include
COPY . /src
WORKDIR /src
RUN tools/setup && python3 -m pip wheel . --no-deps --config-settings=build=build --wheel-dir /wheels

# NVRTC and cuBLASLt are in it; the driver comes from the host.
FROM nvidia/cuda:13.0.1-runtime-ubuntu24.04
RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*
RUN --mount=from=build,source=/wheels,target=/wheels \
    python3 -m venv /opt/ccn && /opt/ccn/bin/pip install --no-cache-dir numpy /wheels/*.whl
ENV PATH=/opt/ccn/bin:$PATH
WORKDIR /data
CMD ["cccompile", "--help"]
