#!/bin/sh
# Builds Weaviate's server from a checkout of version 1.39 or later, for tests with a real cluster.
#
#   TANDEM_WEAVIATE=$(lab/peers/weaviate.sh CHECKOUT PROGRAM) go test -v -run Real ./retrieval/search/weaviate
#
# PROGRAM is the file to write; if it is there, nothing is built. Needs only Go, about 10 minutes of a processor and 2 GB of memory.
set -eu
if [ $# -ne 2 ] || [ ! -d "$1/cmd/weaviate-server" ]; then
	echo "usage: $0 CHECKOUT PROGRAM: CHECKOUT is a folder with the source of Weaviate" >&2
	exit 2
fi
mkdir -p "$(dirname "$2")"
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
if [ ! -x "$program" ]; then
	(cd "$1" && CGO_ENABLED=0 go build -p "${JOBS:-1}" -buildvcs=false -ldflags '-s -w' -o "$program" ./cmd/weaviate-server)
fi
echo "$program"
