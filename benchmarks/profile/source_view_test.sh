#!/bin/sh
# source_view as its user sees it: the kernel's own source, from wherever it is called, and the page.

program=$PWD/benchmarks/profile/source_view
. "$PWD/benchmarks/harness/program_test.sh"

expect_refused --operation --operation=copy
expect_refused --kernel --kernel=nonsense
expect_refused --implementations --implementations=nonsense
expect_refused --kernels --kernels=nonsense
expect_refused --kernel --kernel=naive_row --implementations=naive_row
expect_refused --kernels --kernels=naive_row --implementations=naive_row
expect_refused --kernel --operation=matmul --kernel=tile_square
expect_refused --shape --shape=3
expect_refused --shape --shape=0x3
expect_refused --shape --shape=3x4,5x6
expect_refused --block --kernel=naive_row --block=64x32
expect_refused --block --kernel=tile_square --block=8x8
expect_refused --type --type=half
expect_refused --type --operation=matmul --type=u8
expect_refused bf16 --operation=matmul --kernel=wmma
expect_refused --layouts --layouts=tn
expect_refused lists --operation=matmul --kernel=stream_k_32x32 --layouts=nn,tn
expect_refused host.executor --kernel=cublas_geam
expect_refused --html --shape=32x32 --html=no_such_folder/view.html

# The tile's bank conflicts stand beside the line that has them: 2 blocks of 32 warps, 32 wavefronts each.
expect_exit 0 --kernel=tile_square --shape=32x64 --html=view.html
grep 'tile\[x\]\[y\]' out | grep -q 'global store *64 *256' || fail "no figures beside the line: $(cat out)"
grep -q 'shared load *64 *2048 *32.00' out || fail "no bank conflicts: $(cat out)"
grep -q 'Predicted for NVIDIA H200, not measured: 0.00' out || fail "no predicted time: $(cat out)"
grep -q 'predicted .*shared load, mostly bank conflicts' out || fail "no line of bank conflicts: $(cat out)"
expect_refused --machine --machine=h300
expect_exit 0 --kernel=tile_square --shape=32x64 --html=view.html --machine=gtx770m
grep -q 'Predicted for GeForce GTX 770M' out || fail "another machine: $(cat out)"
grep -q 'predicted for GeForce GTX 770M' view.html || fail "the page has no predicted time"
grep -q '<html' view.html || fail "view.html is no page"
grep -q 'tile\[x\]\[y\]' view.html || fail "view.html does not show the source"

expect_refused --access_html --shape=32x32 --access_html=no_such_folder/view.html
for index in '' 1 1,a 1,-1 1,2,3,4 1.5,0; do expect_refused --block_index --access_html=accesses.html --block_index="$index"; done
expect_refused --access_html --shape=32x32 --block_index=1,0
expect_refused --block_index --shape=32x64 --access_html=accesses.html --block_index=2,0
grep -q 'grid, 2x1x1' err || fail "the line does not say which blocks there are: $(cat err)"

# Block (1, 0): warp 0 reads the first row of the second tile, and writes it to out's row 32.
expect_exit 0 --kernel=tile_square --shape=32x64 --access_html=accesses.html --block_index=1,0
grep -q '"index":\[1,0,0\]' accesses.html || fail "the page is not of the block"
grep -q '"wavefronts":32,' accesses.html || fail "the page has no bank conflicts"
grep -q 'tile\[x\]\[y\]' accesses.html || fail "the page does not show the source"
# The one address in it is the name of SVG.
sed 's,http://www.w3.org/2000/svg,,' accesses.html | grep -q -e 'https*:' -e ' src=' -e '<link' -e '@import' &&
  fail "the page needs something else"

expect_exit 0 --operation=matmul --implementations=naive --shape=16x16x4 --block=8x8 --type=double
grep -q 'matmul/ladder/03_naive.cu' out || fail "not the kernel's source: $(cat out)"

# The kernel of most products stands in a header, and may take another type, precision or layout.
expect_exit 0 --operation=matmul --implementations=stream_k_32x32 --shape=32x32x32 --layouts=tn
grep -q 'matmul/device/stream_k.h' out || fail "not the header of the kernel: $(cat out)"
expect_exit 0 --operation=matmul --implementations=tensor_general --shape=16x16x16 --type=bf16 --epilogue=relu

expect_exit 0 --help
grep -q -e '--html' out || fail "--help does not tell of the flags"

finish
