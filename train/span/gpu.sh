#!/bin/bash
# gpu.sh WORK WORDS.gguf OUT: prose, then questions, on a GPU that is lent for minutes: PROSE (4.5) of the one, ASKED (4) of the other.
# WORK has shards and types.npz (shards.py), docs.pkl, train.pkl, development.pkl (prepare.py) and lexicon.pkl (lexicon.py); shards may still
# come while it runs. Processes make questions from the first second on, so that the GPU never waits for them. OUT gets the checkpoints, in
# 16 bits and in pieces of 15 MB, after each stage and every 100 seconds, and the logs: take them home before anything else is tried.
set -u
work=$1 words=$2 out=$3
: "${DEVICE:=cuda}" "${WINDOWS:=640}" "${PROSE:=4.5}" "${ASKED:=4}" "${WORKERS:=13}" "${TOKENS:=80000}" "${POOL:=/dev/shm/pool}"
export OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1
mkdir -p "$out" "$POOL"

# keep copies what there is, in pieces; a file that is being written has another name.
keep() {
	for f in "$work"/lent*.pt; do
		[[ $f == *.resume.pt ]] || split -b 15000000 -d -a 1 "$f" "$out/$(basename "$f" .pt)."
	done
	cp "$work"/lent*.log "$out"
}

nice python3 -m train.span feed --work "$work" --words "$words" --pool "$POOL" --workers "$WORKERS" --gigabytes 45 --minutes 15 --tokens "$TOKENS" \
	--races .45 --mix cloze=.07,sets=.3,layouts=.43,notes=.2 >"$work/lent-feed.log" 2>&1 &
feed=$!
nvidia-smi --query-gpu=timestamp,utilization.gpu,memory.used,power.draw --format=csv,noheader -l 5 >"$work/lent-gpu.log" &
watch=$!
while sleep 100; do keep; done &
keeper=$!
trap 'pkill -P $feed; kill $feed $watch $keeper 2>/dev/null; rm -rf "$POOL"' EXIT
python3 -m train.span.pretrain "$work" --words "$words" --device "$DEVICE" --windows "$WINDOWS" --out lent-prose --minutes "$PROSE" 2>&1 | tee "$work/lent-prose.log"
keep
timeout 900 python3 -m train.span questions --work "$work" --words "$words" --pool "$POOL" --device "$DEVICE" --start "$work/lent-prose" --minutes "$ASKED" \
	--every 1.5 --out lent --average .999 --frozen --decay .9 --rate .001 --drop .1 2>&1 | tee "$work/lent-asked.log"
python3 - "$work/lent" <<'END'
import sys
from train.span import export, pretrain
pretrain.split(sys.argv[1], export.loaded(sys.argv[1] + ".pt")[1]["model"])
END
rm "$work/lent.pt"
keep
