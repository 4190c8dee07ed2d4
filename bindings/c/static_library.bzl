"""static_library: one archive of a library and everything that it depends on, with most names hidden.

Bazel's own archives hold one library each. This one holds a single object, linked from them and from the archives of
Abseil and of the CUDA runtime, in which only the names that match `exported` are visible: a program may use another
Abseil, or another CUDA runtime. The C and C++ libraries are left to the program.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _static_library_impl(ctx):
    cc_toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    compiler = cc_common.get_tool_for_action(
        feature_configuration = features,
        action_name = "c++-compile",
    )
    whole = []
    archives = []
    flags = []
    for input in ctx.attr.dep[CcInfo].linking_context.linker_inputs.to_list():
        for library in input.libraries:
            archive = library.static_library or library.pic_static_library
            if library.alwayslink:
                whole.append(archive)
            else:
                archives.append(archive)

        # -lm and the like stay for the program's own link.
        flags += [flag for flag in input.user_link_flags if flag.endswith(".a") and flag not in flags]

    object = ctx.actions.declare_file(ctx.label.name + ".o")
    archive = ctx.actions.declare_file(ctx.label.name + ".a")
    ctx.actions.run_shell(
        outputs = [object, archive],
        inputs = depset(whole + archives, transitive = [cc_toolchain.all_files]),
        command = " && ".join([
            "set -e; %s -r -nostdlib -o %s -Wl,--force-group-allocation" % (compiler, object.path) +
            " -Wl,--whole-archive %s -Wl,--no-whole-archive" % " ".join([file.path for file in whole]) +
            " -Wl,--start-group %s -Wl,--end-group" % " ".join([file.path for file in archives] + flags),
            "objcopy --wildcard %s --strip-unneeded %s" % (
                " ".join(["--keep-global-symbol='%s'" % name for name in ctx.attr.exported.split(" ")]),
                object.path,
            ),
            "rm -f %s" % archive.path,
            "ar rcsD %s %s" % (archive.path, object.path),
        ]),
        env = {"PATH": "/usr/bin:/bin"},
        mnemonic = "LinkStatic",
        progress_message = "Linking " + archive.short_path,
    )
    return [DefaultInfo(files = depset([archive]))]

static_library = rule(
    implementation = _static_library_impl,
    attrs = {
        "dep": attr.label(mandatory = True, providers = [CcInfo]),
        "exported": attr.string(mandatory = True, doc = "The names that are visible, with wildcards, separated by blanks."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
