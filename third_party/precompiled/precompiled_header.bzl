"""precompiled_header: headers of the system that GCC parses once, in place of once in each file.

A C++ file here spends half of its compilation on headers of the standard library, Abseil and GoogleTest. The rules of
third_party/bazel4 include `library.h` or `tests.h` (BUILD) before the first line of each file; beside it lies what GCC
made of it, once for each level of optimisation. Objects are the same with and without, but for
the constructor of <iostream>, which Abseil's status.h includes.
--define=precompiled_headers=no does without. Then a file must include what it uses, which tools/check_includes.py checks.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

# GCC sees this text where it rejects what was precompiled. While it precompiles, the level is 0.
_HEADER = """\
#if __INCLUDE_LEVEL__ != 0
#error "This file has other flags than the precompiled header (-H says which): --define=precompiled_headers=no"
#endif
{includes}
"""

# GCC takes the optimised one from -O1 on.
_VARIANTS = {
    "optimised": [],
    "not_optimised": ["-O0", "-U_FORTIFY_SOURCE"],  # As .bazelrc has it in --per_file_copt.
}

def _precompiled_header_impl(ctx):
    cc_toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    context = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context

    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(header, _HEADER.format(includes = "\n".join(["#include " + name for name in ctx.attr.headers])))
    precompiled = []
    for variant in ctx.attr.variants:
        # GCC tries every file of a folder with this name.
        output = ctx.actions.declare_file("%s.h.gch/%s" % (ctx.label.name, variant))
        precompiled.append(output)
        command_line = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = "c++-compile",
            variables = cc_common.create_compile_variables(
                feature_configuration = features,
                cc_toolchain = cc_toolchain,
                system_include_directories = context.system_includes,
                user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + _VARIANTS[variant],
            ),
        )
        ctx.actions.run(
            executable = cc_common.get_tool_for_action(
                feature_configuration = features,
                action_name = "c++-compile",
            ),
            arguments = command_line + ["-x", "c++-header", "-c", header.path, "-o", output.path],
            env = {"PATH": "/usr/bin:/bin"},
            inputs = depset([header], transitive = [context.headers, cc_toolchain.all_files]),
            outputs = [output],
            mnemonic = "PrecompileHeader",
            progress_message = "Precompiling %s, %s" % (header.short_path, variant),
        )
    own = CcInfo(compilation_context = cc_common.create_compilation_context(headers = depset([header] + precompiled)))
    return [
        DefaultInfo(files = depset(precompiled)),
        cc_common.merge_cc_infos(cc_infos = [own] + [dep[CcInfo] for dep in ctx.attr.deps]),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "headers": attr.string_list(
            mandatory = True,
            doc = "Headers of the system alone: a change of one of ours would compile everything again.",
        ),
        "variants": attr.string_list(default = _VARIANTS.keys()),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def without_precompiled(headers):
    """Returns the headers that compilers other than GCC read, a list."""
    return [header for header in headers.to_list() if header.owner.package != "third_party/precompiled"]
