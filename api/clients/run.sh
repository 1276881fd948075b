#!/bin/sh
# Runs client libraries of others (of npm, and Go's in go/) against edge serve, and the inspector of the Model Context Protocol
# against edge mcp. The argument is the program edge. The exit status is 77 where npm, node or the packages are not to be had.
set -eu
edge=$(realpath "$1")
cd "$(dirname "$0")"
absent() { echo "SKIPPED: $*"; exit 77; }
for tool in npm node; do
	command -v $tool >/dev/null || absent "$tool is not installed"
done
go=$PWD/go
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill $server; rm -rf "$work"' EXIT
cp package.json package-lock.json clients.mjs "$work/"
cd "$work"
timeout 100 npm ci --silent --no-audit --no-fund --ignore-scripts >npm.txt 2>&1 || { tail -n 5 npm.txt; absent "npm could not fetch the clients"; }
mkdir home
run() { env -i PATH="$PATH" HOME="$work/home" "$@"; }
env -i PATH="$PATH" HOME="$work/home" "$edge" serve --http 127.0.0.1:0 --json >serve.json 2>serve.txt &
server=$!
for i in $(seq 100); do
	address=$(sed -n 's/.*"listening": *"\([^"]*\)".*/\1/p' serve.json)
	[ -z "$address" ] || break
	sleep 0.1
done
[ -n "$address" ] || { echo "FAILED: edge serve did not start"; exit 1; }
run timeout 60 node clients.mjs "http://$address"
if (cd "$go" && timeout 600 go build -o "$work/goclients" . 2>"$work/go.txt"); then
	run timeout 60 ./goclients "http://$address"
else
	tail -n 5 go.txt
	echo "SKIPPED: Go could not fetch or build the Go clients"
fi
said=$(run timeout 60 node_modules/.bin/mcp-inspector --cli "$edge" mcp --method tools/call --tool-name ask --tool-arg "question=When does the harbour museum open?" </dev/null)
case $said in
*9:30*) echo "ok mcp-inspector" ;;
*) echo "FAILED: mcp-inspector: $said"; exit 1 ;;
esac
