"""cuda_library: a cc_library whose .cu sources are compiled by nvcc."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@local_config_cuda//:defs.bzl", "NVCC")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//third_party:compile.bzl", "COMPILE_ATTR", "compile")
load("//third_party/precompiled:precompiled_header.bzl", "without_precompiled")

BuildSettingInfo = provider(doc = "The value of a flag.", fields = ["value"])

def _string_list_flag_impl(ctx):
    return BuildSettingInfo(value = ctx.build_setting_value)

string_list_flag = rule(
    implementation = _string_list_flag_impl,
    build_setting = config.string_list(flag = True),
)

def _string_flag_impl(ctx):
    value = ctx.build_setting_value
    if value not in ctx.attr.values:
        fail("%s is '%s'; allowed is %s" % (ctx.label, value, " and ".join(ctx.attr.values)))
    return BuildSettingInfo(value = value)

string_flag = rule(
    implementation = _string_flag_impl,
    attrs = {"values": attr.string_list(mandatory = True)},
    build_setting = config.string(flag = True),
)

_MODE_FLAGS = {
    "dbg": ["-O0", "-g", "-G"],
    "fastbuild": ["-O1"],
    "opt": ["-O3", "-DNDEBUG"],
}

def _nvcc_flags(ctx, host_compiler, context):
    """The command line up to, but without, the source and the object."""
    args = ctx.actions.args()
    args.add_all(["-x", "cu", "-std=c++17", "-ccbin", host_compiler, "-Xcompiler=-fPIC"])
    args.add("-objtemp")  # Not /tmp/tmpxft_<pid>: no clashes, and the same object every time.
    args.add_all(_MODE_FLAGS[ctx.var["COMPILATION_MODE"]])
    for arch in ctx.attr._archs[BuildSettingInfo].value:
        if arch.startswith("ptx:"):
            arch = arch[len("ptx:"):]
            args.add("-gencode=arch=compute_%s,code=compute_%s" % (arch, arch))
        else:
            args.add("-gencode=arch=compute_%s,code=sm_%s" % (arch, arch))

    # --copt and --cxxopt reach the host half of a .cu file: this is how sanitizers get there. Warnings are left to
    # the host files: nvcc's generated code is not ours to mend. -fPIC is there already.
    for flag in ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts:
        if not flag.startswith(("-std=", "-W", "-fPIC", "-fno-semantic-interposition")):
            args.add("-Xcompiler=" + flag)
    args.add_all(context.defines, format_each = "-D%s")
    args.add_all(context.quote_includes, before_each = "-I")
    args.add_all(context.includes, before_each = "-I")
    args.add_all(context.system_includes, before_each = "-isystem")
    args.add_all(ctx.attr._copts[BuildSettingInfo].value)
    args.add_all(ctx.attr.copts)
    return args

def _cuda_library_impl(ctx):
    cc_toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    host_compiler = cc_common.get_tool_for_action(
        feature_configuration = features,
        action_name = "c++-compile",
    )
    deps = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    own = CcInfo(compilation_context = cc_common.create_compilation_context(
        headers = depset(ctx.files.hdrs),
        quote_includes = depset([ctx.label.workspace_root or ".", ctx.bin_dir.path]),
    ))
    context = cc_common.merge_cc_infos(cc_infos = [own, deps]).compilation_context

    flags = _nvcc_flags(ctx, host_compiler, context)
    headers = [src for src in ctx.files.srcs if src.extension != "cu"] + without_precompiled(context.headers)
    objects = []
    for src in ctx.files.srcs:
        if src.extension != "cu":
            continue
        object = ctx.actions.declare_file("_objs/%s/%s.o" % (ctx.label.name, src.basename))
        objects.append(object)
        compile(
            ctx,
            compiler = [NVCC],
            flags = flags,
            src = src,
            object = object,
            headers = headers,
            inputs = cc_toolchain.all_files,
            mnemonic = "CudaCompile",
            message = "Compiling " + src.short_path,
        )

    linking, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        feature_configuration = features,
        cc_toolchain = cc_toolchain,
        compilation_outputs = cc_common.create_compilation_outputs(
            objects = depset(objects),
            pic_objects = depset(objects),  # -fPIC objects serve both.
        ),
        linking_contexts = [deps.linking_context],
        disallow_dynamic_library = True,
    )
    return [
        DefaultInfo(files = depset(objects)),
        CcInfo(compilation_context = context, linking_context = linking),
    ]

_cuda_library = rule(
    implementation = _cuda_library_impl,
    attrs = {
        "copts": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
        "hdrs": attr.label_list(allow_files = [".h", ".cuh", ".inc"]),
        "srcs": attr.label_list(allow_files = [".cu", ".h", ".cuh"]),
        "_archs": attr.label(default = "//third_party/cuda:archs"),
        "_copts": attr.label(default = "//third_party/cuda:copts"),
        "_compile": COMPILE_ATTR,
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def cuda_library(name, deps = [], **kwargs):
    """Compiles CUDA C++ into a library that cc_* targets can depend on.

    Skipped, as is everything that depends on it, where there is no CUDA toolkit.

    Args:
      name: Name of the target.
      deps: cc_library or cuda_library targets; the CUDA runtime is added to them.
      **kwargs: srcs (.cu and private headers), hdrs, copts (for nvcc), and common attributes.
    """
    _cuda_library(
        name = name,
        deps = deps + ["@local_config_cuda//:cudart"],
        **kwargs
    )
