#!/bin/sh
# Tries the composition on a container engine: builds, pairs, asks, emulates a network, kills the cloud during an answer, and
# answers from other documents. The exit status is 77 if there is no engine.
#
#   examples/containers.sh
#   COMPOSE="podman compose" examples/containers.sh
set -eu
cd "$(dirname "$0")/.."

absent() { echo "SKIPPED: $*"; exit 77; }
die() { echo "FAILED: $*"; exit 1; }
if [ -z "${COMPOSE:-}" ]; then
	docker version >/dev/null 2>&1 || absent "no container engine answers"
	if docker compose version >/dev/null 2>&1; then
		COMPOSE="docker compose"
	elif command -v docker-compose >/dev/null; then
		COMPOSE=docker-compose
	else
		absent "neither docker compose nor docker-compose is installed"
	fi
fi
own=$(mktemp -d)
export COMPOSE_PROJECT_NAME=tandem-try CLOUD_PORT="${CLOUD_PORT:-44330}"
compose() { $COMPOSE --env-file "$own/env" "$@"; }
ask() { compose run --rm -T edge ask --seed 5 --wait 60s "$@"; }
end() { compose --profile netem down -v >/dev/null 2>&1 || true; rm -rf "$own"; }
trap end EXIT
question="What is the wifi password of the lake cabin, and when does the harbour museum open?"
whole() { case $1 in *tumbral-5827*9:30*) ;; *) die "$2: the answer lacks a half: $1" ;; esac; }

echo "== build, pair and ask"
: >"$own/env"
compose build
compose up -d cloud
first=$(ask "$question")
whole "$first" "the samples"

echo "== over an emulated network"
printf 'VIA=netem\nNETEM_DELAY=150ms\nNETEM_LOSS=0.01\n' >"$own/env"
compose --profile netem up -d netem
[ "$(ask "$question")" = "$first" ] || die "another text over the emulated network"

echo "== the cloud dies in mid-answer, and returns"
ask "$question" >"$own/answer" &
asking=$!
sleep 2
compose kill cloud
compose up -d cloud
wait $asking || die "no answer while the cloud died"
grep -q tumbral-5827 "$own/answer" || die "the edge's half is lost: $(cat "$own/answer")"
whole "$(ask "$question")" "after the restart"

echo "== documents of one's own"
mkdir "$own/handbook"
echo "The otter pool closes at 17:45." >"$own/handbook/zoo.md"
chmod -R o+rX "$own"
printf 'HANDBOOK=%s/handbook\n' "$own" >"$own/env"
compose up -d cloud
answer=$(ask "When does the otter pool close?")
case $answer in *17:45*) ;; *) die "not from the folder: $answer" ;; esac

echo "All of it worked."
