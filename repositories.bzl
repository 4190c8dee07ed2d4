"""What a WORKSPACE needs in order to use Stridewise: examples/bazel_workspace shows it.

    load("@stridewise//:repositories.bzl", "stridewise_repositories", "stridewise_toolchains")

    stridewise_repositories()
    stridewise_toolchains()

Nothing is downloaded: Abseil, GoogleTest, Eigen, Highway, Boost and Python's headers are Debian's packages, and CUDA is the machine's.
"""

load("//third_party/clang:clang_configure.bzl", "clang_configure")
load("//third_party/cuda:cuda_configure.bzl", "cuda_configure")
load("//third_party/system:system_libraries.bzl", "system_libraries")

# A file of this repository's root, by which its folder is found.
_ROOT_FILE = Label("//:WORKSPACE")

# Bazel 4 would fetch these before its first build; the small stand-ins of third_party/bazel4 serve it instead.
_STAND_INS = ["rules_cc", "rules_java", "remote_coverage_tools"]

def _stand_in_impl(ctx):
    source = ctx.path(_ROOT_FILE).dirname.get_child("third_party").get_child("bazel4").get_child(ctx.attr.folder)
    for entry in source.readdir():
        if entry.basename != "cc":
            ctx.symlink(entry, entry.basename)
            continue
        for part in entry.readdir():
            if part.basename != "home.bzl":
                ctx.symlink(part, "cc/" + part.basename)
        ctx.file("cc/home.bzl", "IS_HOME = False\n")

_stand_in = repository_rule(
    implementation = _stand_in_impl,
    attrs = {"folder": attr.string(mandatory = True)},
    configure = True,
    local = True,
)

def stridewise_repositories():
    """Defines the repositories that Stridewise's packages name, unless the workspace has them already."""
    for name in _STAND_INS:
        if not native.existing_rule(name):
            _stand_in(name = name, folder = name)
    if not native.existing_rule("local_config_clang"):
        clang_configure(name = "local_config_clang")
    if not native.existing_rule("local_config_cuda"):
        cuda_configure(name = "local_config_cuda")
    system_libraries()

def stridewise_toolchains():
    """Registers the Python that sees Debian's packages, for Stridewise's Python programs."""
    native.register_toolchains(str(Label("//third_party/python:toolchain")))
