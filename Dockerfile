# syntax=docker/dockerfile:1
# Three stages: build the one-file bundle on the builder's own architecture, take nothing else, run it without a shell.
# Build for both architectures with:
#   docker buildx build --platform linux/amd64,linux/arm64 --sbom=true --provenance=mode=max -t inference-probe-exporter .
# --sbom attaches the list of what is inside; docs/image.md says how to read and to verify it.

# The bundle is plain JavaScript: built once, whatever the architecture of the image.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts/build.mjs scripts/build.mjs
COPY scripts/bundle scripts/bundle
COPY src src
ARG REVISION=unknown
RUN INFERENCE_PROBE_REVISION="$REVISION" node scripts/build.mjs

FROM gcr.io/distroless/nodejs24-debian12:nonroot
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="inference-probe-exporter" \
      org.opencontainers.image.description="Prometheus exporter for LLM inference endpoints: streaming probes that time every token" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/inference-probe/inference-probe-exporter" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
WORKDIR /app
COPY --from=build /build/dist/ ./
COPY LICENSE ./
USER 65532:65532
EXPOSE 20061
# The resident size is what a sidecar costs. A small young generation, because the program allocates little; one heap of
# the C library that gives back what the compilers of V8 leave free, instead of one for each of its threads (13 MiB).
ENV NODE_ENV=production \
    NODE_OPTIONS="--max-semi-space-size=1 --max-old-space-size=128" \
    MALLOC_ARENA_MAX=1 \
    MALLOC_TRIM_THRESHOLD_=131072
# Exec form: Node is PID 1, installs its own signal handlers and stops within seconds. There is no shell in the image.
# Without --enable-source-maps, which reads the whole map at the start (9 MiB); NODE_OPTIONS can bring it in.
ENTRYPOINT ["/nodejs/bin/node", "/app/inference-probe.mjs"]
CMD ["serve"]
# Kubernetes ignores this; Docker and Compose do not. Without a shell or curl, Node asks.
HEALTHCHECK --interval=20s --timeout=5s --start-period=10s --retries=6 \
    CMD ["/nodejs/bin/node", "-e", "fetch('http://127.0.0.1:20061/-/healthy').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))"]
