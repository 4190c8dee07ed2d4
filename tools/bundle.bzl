"""gpu_bundle: tests and benchmarks in one tar, to be run where there is a GPU but neither Bazel nor a compiler."""

load("//third_party/cuda:device_code.bzl", "needs_device_code")

def _package_and_name(label):
    if not label.startswith("//") or ":" not in label:
        fail("Write %s as //package:name." % label)
    return label[len("//"):].split(":")

def gpu_bundle(name, tests, benchmarks, runfiles = {}, **kwargs):
    """Makes NAME.tar; its one folder NAME holds tests/, benchmarks/, run_gpu_tests.sh, measure_all.sh, grid_causes.sh and
    COMMIT.

    The same binaries and the same commit make the same bytes. Without a CUDA toolkit the bundle is skipped, as are the
    targets in it.

    Args:
      name: Name of the target.
      tests: cc_test targets, as //package:name. In the bundle they are called package_name.
      benchmarks: cc_binary targets, as //package:name. In the bundle they are called name.
      runfiles: {"name": [...]}: source files of the workspace that a benchmark reads, as filegroups. They lie where the
        program looks for them: beside it, in name.runfiles.
      **kwargs: common attributes.
    """
    copies = []
    for label in tests:
        package, target = _package_and_name(label)
        copies.append(("tests/%s_%s" % (package.replace("/", "_"), target), label))
    for label in benchmarks:
        copies.append(("benchmarks/" + _package_and_name(label)[1], label))
    seen = {}
    for copy, label in copies:
        if copy in seen:
            fail("%s and %s would both be %s in the bundle." % (seen[copy], label, copy))
        seen[copy] = label

    sources = []
    copy_sources = []
    for benchmark, labels in runfiles.items():
        root = "$$bundle/benchmarks/%s.runfiles/stridewise" % benchmark
        copy_sources.append("mkdir -p " + root)
        for label in labels:
            copy_sources.append("cp --parents $(locations %s) %s" % (label, root))
            sources.append(label)

    scripts = ["//tools:" + script for script in [
        "count_tests.sh",
        "cuda_libraries.sh",
        "grid_causes.sh",
        "measure_all.sh",
        "ncu_check.py",
        "run_gpu_tests.sh",
    ]]

    native.genrule(
        name = name,
        testonly = True,
        srcs = tests + benchmarks + sources + scripts,
        outs = [name + ".tar"],
        cmd = "\n".join([
            "set -e",
            "work=$$(mktemp -d)",
            "trap 'rm -rf \"$$work\"' EXIT",
            "bundle=$$work/" + name,
            "mkdir -p $$bundle/tests $$bundle/benchmarks",
            "cp %s $$bundle" % " ".join(["$(location %s)" % script for script in scripts]),
            "sed -n 's/^STABLE_GIT_COMMIT //p' bazel-out/stable-status.txt > $$bundle/COMMIT",
        ] + [
            "cp $(location %s) $$bundle/%s" % (label, copy)
            for copy, label in copies
        ] + copy_sources + [
            "tar --create --file=$@ --directory=$$work --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner" +
            " --mode=u=rwX,go=rX " + name,
        ]),
        message = "Bundling",
        # Undocumented, and what makes bazel-out/stable-status.txt an input.
        stamp = True,
        target_compatible_with = needs_device_code(),
        **kwargs
    )
