"""simt_library: a cc_library whose .cu sources are compiled for the host executor, which runs them on the CPU."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@local_config_clang//:defs.bzl", "CLANGXX", "NM", "OBJCOPY", "require_clang")
load("@rules_cc//cc:defs.bzl", "cc_test")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//third_party:compile.bzl", "COMPILE_ATTR", "compile")
load("//third_party/precompiled:precompiled_header.bzl", "without_precompiled")

_FLAGS = [
    # Kernels are plain C++; the shim's headers supply CUDA's names.
    "-xc++",
    "-std=c++17",
    "-fPIC",
    "-DSTRIDEWISE_HOST_EXECUTOR=1",
    "-include",
    "cuda_runtime.h",
    "-fdeclspec",  # For __declspec(property), which threadIdx is made of.
    "-Wall",
    "-Wno-unknown-pragmas",
    "-Wno-pass-failed",  # Where #pragma unroll cannot be followed.
    "-Wno-undefined-internal",  # `extern __shared__` in an anonymous namespace.
    "-Wno-unused-private-field",  # Barriers in shared memory, which only PTX looks into.
    "-Wno-unused-command-line-argument",  # What is included, when it has been.

    # Findings and profiles name lines, in every build mode, and relative to the workspace.
    "-gdwarf-4",  # GNU addr2line does not find all inlined calls in version 5's ranges.
    "-gline-tables-only",  # Without where variables lie, which is two thirds of a test program.
    "-fdebug-compilation-dir=.",

    # Close to what a GPU's compiler keeps of the source, so that one access of the source is one event: -O0 would
    # reload what stays in a register, more than -O1 would merge and split what a GPU does not.
    "-O1",
    "-fno-vectorize",  # No vectors over iterations,
    "-fno-slp-vectorize",  # nor over neighbouring statements.
    "-fno-unroll-loops",  # Unrolling splits a divergent loop's site into several. #pragma unroll is still followed.
    "-fno-builtin",  # A loop that copies is not replaced by a call of memcpy.
    "-fno-strict-aliasing",  # A kernel that reads float as float4 gets what it gets on a GPU.
    "-ffp-contract=off",  # fma() where the source says so and nowhere else: the same on every host.

    # __shared__ variables are thread-local ones that ask the runtime for their address.
    "-femulated-tls",

    # Every load and store calls the runtime, and so does the start of every basic block.
    "-fsanitize-coverage=bb,no-prune,trace-pc,trace-loads,trace-stores",
    # The copies of structures that the above passes over become calls of memcpy; nothing else of ThreadSanitizer.
    "-fsanitize=thread",
    "-mllvm",
    "-tsan-instrument-memory-accesses=0",
    "-mllvm",
    "-tsan-instrument-func-entry-exit=0",
    "-mllvm",
    "-tsan-instrument-atomics=0",
]

def _inner_namespace_header(ctx):
    """A header that moves what follows it into inner namespaces."""
    lines = []
    for outer, inner in ctx.attr.inner_namespace.items():
        # A qualified name, outer::X, finds X still where it was.
        lines.append("namespace %s::%s {" % (outer, inner))
        lines.append("using namespace ::%s;" % outer)
        lines.append("}")
        lines.append("#define %s %s::%s" % (outer, outer, inner))
    header = ctx.actions.declare_file("_objs/%s/inner_namespace.h" % ctx.label.name)
    ctx.actions.write(header, "\n".join(lines) + "\n")
    return header

def _forced_includes(ctx, deps):
    """What each source includes before its first line."""
    if not ctx.attr.inner_namespace:
        return []

    # The include guards of these leave nothing of them to be moved into the inner namespace.
    headers = []
    for dep in deps:
        headers += [
            header
            for header in dep[CcInfo].compilation_context.direct_public_headers
            if header.extension in ["h", "cuh"] and header.owner.workspace_root == ctx.label.workspace_root
        ]
    return headers + [_inner_namespace_header(ctx)]

def _clang_flags(ctx, context, forced_includes):
    """The command line up to, but without, the source and the object."""
    args = ctx.actions.args()
    args.add("-I" + ctx.files._shim[0].dirname)  # First: it hides a CUDA toolkit's headers.
    args.add_all(_FLAGS)
    args.add(ctx.file._uninstrumented, format = "-fsanitize-coverage-ignorelist=%s")
    if ctx.var["COMPILATION_MODE"] == "opt":
        args.add("-DNDEBUG")
    args.add_all(context.defines, format_each = "-D%s")
    args.add_all(context.quote_includes, before_each = "-I")
    args.add_all(context.includes, before_each = "-I")
    args.add_all(context.system_includes, before_each = "-isystem")
    args.add_all(forced_includes, before_each = "-include")
    args.add_all(ctx.attr.copts)
    return args

def _compile(ctx, src, flags, headers, inputs):
    base = "_objs/%s/%s" % (ctx.label.name, src.basename)
    compiled = ctx.actions.declare_file(base + ".compiled.o")
    object = ctx.actions.declare_file(base + ".o")
    compile(
        ctx,
        compiler = [ctx.executable._compile_kernel.path, CLANGXX, ctx.executable._rewrite_asm.path],
        tools = [ctx.executable._compile_kernel, ctx.executable._rewrite_asm],
        flags = flags,
        src = src,
        object = compiled,
        headers = headers,
        inputs = inputs,
        mnemonic = "SimtCompile",
        message = "Compiling %s for the host executor" % src.short_path,
    )
    ctx.actions.run(
        executable = ctx.executable._rename_symbols,
        arguments = [NM, OBJCOPY, compiled.path, object.path],
        env = {"PATH": "/usr/bin:/bin"},
        inputs = [compiled],
        outputs = [object],
        mnemonic = "SimtRename",
    )
    return object

def _simt_library_impl(ctx):
    require_clang(ctx.label)
    cc_toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    dep_targets = ctx.attr.deps + [ctx.attr._launch]
    deps = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in dep_targets])
    own = CcInfo(compilation_context = cc_common.create_compilation_context(
        headers = depset(ctx.files.hdrs),
        quote_includes = depset([ctx.label.workspace_root or ".", ctx.bin_dir.path]),
    ))
    context = cc_common.merge_cc_infos(cc_infos = [own, deps]).compilation_context

    forced_includes = _forced_includes(ctx, dep_targets)
    flags = _clang_flags(ctx, context, forced_includes)
    headers = [src for src in ctx.files.srcs if src.extension != "cu"] + without_precompiled(context.headers)
    inputs = depset([ctx.file._uninstrumented] + forced_includes + ctx.files._shim)
    objects = [_compile(ctx, src, flags, headers, inputs) for src in ctx.files.srcs if src.extension == "cu"]

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

# Compiles CUDA C++ into a library that cc_* targets can depend on, with common/gpu/launch.h, common/gpu/current_device.h and the
# host executor. Needs no CUDA.
simt_library = rule(
    implementation = _simt_library_impl,
    attrs = {
        "copts": attr.string_list(doc = "For clang++."),
        "deps": attr.label_list(providers = [CcInfo]),
        "hdrs": attr.label_list(allow_files = [".h", ".cuh", ".inc"]),
        "inner_namespace": attr.string_dict(
            doc = "{\"ours\": \"executor\"} puts what the sources define in `ours` into ours::executor, so that a " +
                  "program can hold the same kernels compiled by nvcc too. What the headers of `deps` declare stays " +
                  "where it is.",
        ),
        "srcs": attr.label_list(
            allow_files = [".cu", ".h", ".cuh"],
            doc = ".cu files and private headers.",
        ),
        "_compile": COMPILE_ATTR,
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_compile_kernel": attr.label(
            allow_single_file = True,
            cfg = "exec",
            default = "//common/executor:compile_kernel.sh",
            executable = True,
        ),
        "_launch": attr.label(default = "//common/gpu:launch_on_host_executor"),
        "_rename_symbols": attr.label(
            allow_single_file = True,
            cfg = "exec",
            default = "//common/executor:rename_symbols.sh",
            executable = True,
        ),
        "_rewrite_asm": attr.label(
            cfg = "exec",
            default = "//common/executor/ptx:rewrite_asm",
            executable = True,
        ),
        "_shim": attr.label(default = "//common/executor:shim"),
        "_uninstrumented": attr.label(allow_single_file = True, default = "//common/executor:uninstrumented.txt"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def simt_test(name, srcs, kernels, kernel_deps = [], deps = [], **kwargs):
    """A GoogleTest that runs kernels on the host executor.

    Args:
      name: Name of the target.
      srcs: The test, host code.
      kernels: .cu files, and the headers that declare their launchers.
      kernel_deps: What the kernels need; common/gpu/launch.h and the executor are added.
      deps: What the test needs; the kernels, the executor and GoogleTest are added.
      **kwargs: As of cc_test.
    """
    simt_library(
        name = name + "_kernels",
        testonly = True,
        srcs = [kernel for kernel in kernels if kernel.endswith(".cu")],
        hdrs = [kernel for kernel in kernels if not kernel.endswith(".cu")],
        deps = kernel_deps,
    )
    cc_test(
        name = name,
        srcs = srcs,
        deps = deps + [
            name + "_kernels",
            "@com_google_googletest//:gtest_main",
        ],
        **kwargs
    )
