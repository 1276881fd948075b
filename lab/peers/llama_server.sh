#!/bin/sh
# Unpacks llama.cpp's llama-server from the packages of Debian unstable into a folder, beside the system, for tests with a real one.
#
#   TANDEM_LLAMA_SERVER=$(lab/peers/llama_server.sh DIR) go test -run LlamaServer ./model/remote ./node ./cmd/edge
#
# Prints the program's path and changes nothing outside DIR. Needs Debian on amd64, with its mirror in /etc/apt.
set -eu
if [ $# -ne 1 ]; then
	echo "usage: $0 DIR" >&2
	exit 2
fi
mkdir -p "$1/lists/partial" "$1/cache/archives/partial" "$1/debs" "$1/root"
dir=$(cd "$1" && pwd)
# The system's own mirror and keys, with unstable in place of its release.
sed -n '/^Types:/,/^$/{s/^Suites:.*/Suites: unstable/;p}' /etc/apt/sources.list.d/debian.sources | sed '/^$/q' >"$dir/unstable.sources"
apt() {
	apt-get -qq -o Dir::State::Lists="$dir/lists" -o Dir::Cache="$dir/cache" -o Dir::Etc::SourceList=/dev/null \
		-o Dir::Etc::SourceParts="$dir/parts" -o APT::Sandbox::User= "$@" >&2
}
mkdir -p "$dir/parts"
mv "$dir/unstable.sources" "$dir/parts"
apt update
cd "$dir/debs"
rm -f ./*.deb
# What llama-server loads, down to the C library and its loader: that of the system may be older.
apt download llama.cpp-tools libllama0 libggml0 libc6 libgcc-s1 libstdc++6 libssl3t64 zlib1g libzstd1 libgomp1
for deb in ./*.deb; do
	dpkg-deb -x "$deb" "$dir/root"
done
lib=$dir/root/usr/lib/x86_64-linux-gnu
# ggml looks for the kernels of processors beside the program that runs, which is the loader.
(cd "$lib" && ln -sf ggml/backends*/*.so .)
cat >"$dir/llama-server" <<EOF
#!/bin/sh
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib:$lib/llama" "$dir/root/usr/bin/llama-server" "\$@"
EOF
chmod +x "$dir/llama-server"
"$dir/llama-server" --version >&2
echo "$dir/llama-server"
