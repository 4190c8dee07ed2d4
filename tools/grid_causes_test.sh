#!/bin/sh
# Tests grid_causes.sh in a bundle whose sweep is a script that ends as it is told to.

tools=$(dirname "$0")
[ -z "${TEST_SRCDIR:-}" ] || tools=$TEST_SRCDIR/$TEST_WORKSPACE/tools
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
bundle="$work/a bundle"
mkdir -p "$bundle/benchmarks"
cp "$tools/cuda_libraries.sh" "$tools/grid_causes.sh" "$bundle"
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# A sweep that notes its peer and arguments. A file `dies` or `wrong` names the kind: alone, peer, both or float.
cat >"$bundle/benchmarks/transpose_sweep" <<'SCRIPT'
#!/bin/sh
kind=both
case ${STRIDEWISE_CUBLASMP:-} in */no_cublasmp) kind=alone ;; esac
for arg in "$@"; do
  case $arg in
    --csv=*) csv=${arg#*=} ;;
    --implementations=cublasmp) kind=peer ;;
    --types=float) kind=float ;;
  esac
done
echo "$kind $*" >>calls
[ "$kind" != "$(cat dies 2>/dev/null)" ] || kill -ABRT $$
[ "$kind" != "$(cat wrong 2>/dev/null)" ] || exit 1
[ -f skips ] || status=ok
printf 'implementation,status,rows\nx,%s,1\n' "${status:-skipped}" >"$csv"
SCRIPT
chmod +x "$bundle/benchmarks/transpose_sweep"

# expect CODE OUTPUT ARGUMENTS...: runs the script; its output in $work/out.
expect() {
  want=$1
  folder=$2
  shift 2
  (cd "$work" && sh "$bundle/grid_causes.sh" --output="$folder" "$@") >"$work/out" 2>&1 </dev/null
  got=$?
  [ "$got" = "$want" ] || fail "grid_causes.sh $* returned $got, not $want: $(cat "$work/out")"
}
says() { grep -q -e "$1" "$work/out" || fail "no '$1' in: $(cat "$work/out")"; }

for bad in --nonsense --rounds=x --rounds=0 --size=; do
  expect 2 bad $bad
  [ "$(wc -l <"$work/out")" = 1 ] && says "${bad%%=*}"
done
[ ! -e "$work/bad" ] || fail "bad arguments made a folder"

# All four rows, each with its own peer.
expect 0 good --size=64 --rounds=2
says 'cause: none found in 2 round'
for kind in alone peer both float; do
  [ "$(grep -c "^$kind --gpus=1x2 --sizes=64 " "$work/good/calls")" -ge 2 ] || fail "$kind: $(cat "$work/good/calls")"
done

for kind in alone peer both float; do
  for what in dies wrong; do
    mkdir -p "$work/$what$kind"
    echo $kind >"$work/$what$kind/$what"
    expect 1 "$what$kind" --rounds=3
    [ "$(grep -c '^peer ' "$work/$what$kind/calls")" -le 2 ] || fail "another round follows one that $what"
    case $kind in
      alone) says 'cause: exchange_direct' ;;
      peer) says 'cause: cuBLASMp' ;;
      both) says 'cause: only both' ;;
      float) says 'cause: none of the three' ;;
    esac
  done
done

# What was not measured is no proof.
mkdir "$work/skips" && touch "$work/skips/skips"
expect 3 skips
! grep -q cause "$work/out" || fail "a cause of nothing: $(cat "$work/out")"

[ "$failures" = 0 ] && echo "all passed"
exit "$failures"
