# One image for both sides: the static programs edge and cloud, nothing else, no root.
#
#   docker build -t tandem .
#   docker run --rm tandem edge ask "What is the wifi password of the lake cabin, and when does the harbour museum open?"

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
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
COPY --from=build --chown=65532:65532 /out/ /
USER 65532:65532
ENV HOME=/data
ENV PATH=/usr/bin
WORKDIR /data
EXPOSE 4433/udp
