#!/bin/sh
# Builds ik_llama.cpp's llama-batched-bench from a checkout, for `lab engine --against ik_llama.cpp=PROGRAM`.
#
#   lab/peers/ik_llama.sh CHECKOUT BUILD [native|avx2]
#
# The program is BUILD/bin/llama-batched-bench. "native" compiles for this processor with all that it has, "avx2" for
# processors without AVX-512. Needs cmake and a C++ compiler; JOBS (default 1) compile at once, at 1 to 2 GB of memory each.
set -eu
if [ $# -lt 2 ] || [ ! -f "$1/ggml/CMakeLists.txt" ]; then
	echo "usage: $0 CHECKOUT BUILD [native|avx2]: CHECKOUT is a folder with the source of ik_llama.cpp" >&2
	exit 2
fi
case ${3:-native} in
native) cpu=-DGGML_NATIVE=ON ;;
avx2) cpu="-DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON" ;;
*)
	echo "$0: $3: unknown processor, use native or avx2" >&2
	exit 2
	;;
esac
# Its kernels for matrix products and flash attention are on by default; the measurement's caches are F16, so attention over
# other types need not be compiled.
cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Release $cpu -DGGML_IQK_FA_ALL_QUANTS=OFF -DGGML_CCACHE=OFF \
	-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF
cmake --build "$2" --target llama-batched-bench -j "${JOBS:-1}"
echo "$2/bin/llama-batched-bench"
