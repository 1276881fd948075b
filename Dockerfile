# One image for both sides: the static programs edge and cloud, nothing else, no root.
#
#   docker build -t tandem .
#   docker build -t tandem --build-arg VERSION=1.2.0 --build-arg SOURCE=https://example.net/tandem .
#   docker run --rm tandem edge ask "What is the wifi password of the lake cabin, and when does the harbour museum open?"

# The tools run on the builder's own processor. Builders that do not set BUILDPLATFORM build for it.
FROM --platform=${BUILDPLATFORM:-linux} golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ENV CGO_ENABLED=0
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH go build -tags static -ldflags="-s -w" -o /out/usr/bin/ ./cmd/edge ./cmd/cloud
# A new volume belongs to the owner of the folder on which it is mounted.
RUN mkdir -p /out/data /out/pairing /out/tmp

FROM scratch
ARG VERSION=devel
ARG SOURCE=
LABEL org.opencontainers.image.title="Tandem" org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" org.opencontainers.image.source="$SOURCE"
COPY --from=build --chown=65532:65532 /out/ /
USER 65532:65532
ENV HOME=/data
ENV PATH=/usr/bin
WORKDIR /data
EXPOSE 4433/udp
