#!/bin/bash
# archive_test.sh ARCHIVE VERSION FILE...
# Unpacks //:dist, looks at what its libraries need and export, and builds and runs the examples as their users do. On a
# machine without a GPU each example must say so, and exit with 77. As root on Debian, builds one in a root that has only
# g++, too.

set -u
archive=$PWD/$1 version=$2
shift 2
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/archive.XXXXXX") && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
tar --extract --file="$archive" || exit 1
root=$work/stridewise-$version-linux-x86_64
lib=$root/lib

for file in LICENSE README.md include/stridewise.h lib/libstridewise.so lib/libstridewise.so.0 lib/libstridewise.a \
  lib/cmake/Stridewise/StridewiseConfig.cmake lib/pkgconfig/stridewise.pc examples/matmul.c examples/transpose.cc "$@"; do
  [[ -s $root/$file ]] || fail "$file is missing, or empty"
done
grep -q "@[A-Z_]*@" -r "$lib/cmake" "$lib/pkgconfig" "$root/README.md" && fail "a template has a name that was not filled in"

header_version=$(sed -n 's/^#define STRIDEWISE_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' "$root/include/stridewise.h" | paste -sd.)
[[ $header_version == "$version" ]] || fail "stridewise.h is of version $header_version, the archive of $version"

# Everything but the C library is inside, and nothing but the interface is visible.
needed=$(objdump -p "$lib/libstridewise.so" | sed -n 's/^ *NEEDED *//p' | sort | paste -sd' ')
allowed='^(ld-linux-x86-64\.so\.2|lib(c|m|dl|pthread|rt)\.so\.[0-9]+)$'
for library in $needed; do
  [[ $library =~ $allowed ]] || fail "libstridewise.so needs $library"
done
objdump -p "$lib/libstridewise.so" | grep -q 'SONAME *libstridewise\.so\.0$' || fail "libstridewise.so has another soname"
exported=$(nm --dynamic --extern-only --defined-only --format=posix "$lib/libstridewise.so" | cut -d' ' -f1)
[[ $exported == *stridewise_matmul* ]] || fail "libstridewise.so does not export stridewise_matmul"
others=$(grep -v '^stridewise_' <<<"$exported") && fail "libstridewise.so exports $others"
# Unique symbols (u) have no other linkage.
others=$(nm --extern-only --defined-only --format=posix "$lib/libstridewise.a" |
  awk 'NF >= 3 && $2 != "u" && $1 !~ /^stridewise_/ {print $1}')
[[ -z $others ]] || fail "libstridewise.a exports $others"
declared=$(sed -n 's/.*[ *]\(stridewise_[a-z_]*\)(.*/\1/p' "$root/include/stridewise.h" | grep -v '_defaults$' | sort -u)
for function in $declared; do
  grep -qx "$function" <<<"$exported" || fail "$function is declared, and not exported"
done
for library in libstridewise.so libstridewise.a; do
  bytes=$(stat --dereference --format=%s "$lib/$library")
  ((bytes < 64 << 20)) || fail "$library has $bytes bytes; allowed is less than 64 MiB"
done

has_gpu() {
  [[ -e /proc/driver/nvidia/version ]]
}

# run PROGRAM: it must be right where there is a GPU, and say so where there is none.
run() {
  local output status
  output=$("$@" 2>&1)
  status=$?
  if has_gpu; then
    [[ $status == 0 && $output == *correct* ]] || fail "$* exits with $status: $output"
  else
    [[ $status == 77 && $output == "no_device: no NVIDIA driver" ]] || fail "$* exits with $status: $output"
  fi
}

export LC_ALL=C
cmake -S "$root/examples" -B cmake -DCMAKE_PREFIX_PATH="$root" >cmake.log 2>&1 && cmake --build cmake >>cmake.log 2>&1 || {
  cat cmake.log
  fail "cmake"
}
run cmake/matmul
run cmake/transpose

cp -r "$root/examples" make
PKG_CONFIG_PATH=$lib/pkgconfig make -C make >make.log 2>&1 || {
  cat make.log
  fail "make with pkg-config"
}
run make/matmul
run make/transpose

flags=(-Wall -Wextra -Werror -pedantic "-I$root/include")
gcc -std=c99 "${flags[@]}" "$root/examples/matmul.c" "-L$lib" -lstridewise -o plain_shared || fail "gcc with libstridewise.so"
run env LD_LIBRARY_PATH="$lib" ./plain_shared
g++ -std=c++11 "${flags[@]}" "$root/examples/transpose.cc" "$lib/libstridewise.a" -ldl -lpthread -lrt -o plain_static ||
  fail "g++ with libstridewise.a"
run ./plain_static

# make_root FOLDER: a Debian in which nothing is installed but g++ and what its packages need.
make_root() {
  local packages installed
  packages=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances g++ libc6-dev | grep '^[a-z0-9]' | sort -u)
  # shellcheck disable=SC2086
  installed=$(dpkg-query --show --showformat='${binary:Package} ${db:Status-Status}\n' $packages 2>/dev/null |
    sed -n 's/ installed$//p')
  for folder in bin sbin lib lib64; do
    mkdir -p "$1/usr/$folder"
    ln -s "usr/$folder" "$1/$folder"
  done
  # shellcheck disable=SC2086
  dpkg -L $installed | grep -v '^/usr/share' | while read -r file; do
    [[ ! -f $file && ! -L $file ]] || sed -E 's:^/(s?bin|lib|lib64)/:/usr/\1/:' <<<"$file"
  done | sort -u | tar --create --files-from=- 2>/dev/null | tar --extract --directory="$1"
}

# In such a root the archive alone builds and runs an example.
if ((EUID == 0)) && command -v apt-cache >/dev/null && [[ -L /lib ]]; then
  make_root "$work/root"
  cp -r "$root" "$work/root/stridewise"
  /usr/sbin/chroot "$work/root" /usr/bin/g++ -std=c++11 -I/stridewise/include /stridewise/examples/transpose.cc \
    /stridewise/lib/libstridewise.a -ldl -lpthread -lrt -o /transpose || fail "g++ in a root of its own"
  # The kernel says whether there is a GPU; the driver's library is not in this root.
  output=$(/usr/sbin/chroot "$work/root" /transpose 2>&1)
  [[ $? == 77 && $output == no_device:* ]] || fail "in a root of its own: $output"
else
  echo "skipped: the root with nothing but g++ needs Debian, and root's rights"
fi

((failures == 0)) && echo "The archive is complete."
exit $((failures > 0))
