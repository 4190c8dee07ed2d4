"""simt_program_test: a whole CUDA program as a test that runs on the CPU, with every memory access checked."""

load("@local_config_clang//:defs.bzl", "require_clang")

def _impl(ctx):
    require_clang(ctx.label)
    program = ctx.actions.declare_file(ctx.label.name + ".simt")
    root = ctx.label.workspace_root or "."
    folders = [root] + ["/".join([root, ctx.label.package, folder]) for folder in ctx.attr.includes]
    args = ctx.actions.args()
    args.add("--output", program)
    args.add("--std", ctx.attr.std)
    args.add_joined("--include_dirs", folders, join_with = ",")
    if ctx.attr.defines:
        args.add_joined("--defines", ctx.attr.defines, join_with = ",")
    if ctx.attr.link_flags:
        args.add("--link_flags", ctx.attr.link_flags)
    args.add_all(ctx.files.srcs)
    simt_run = ctx.attr._simt_run[DefaultInfo].files_to_run
    ctx.actions.run(
        executable = simt_run,
        arguments = [args],
        env = {
            "PATH": "/usr/bin:/bin",
            "RUNFILES_DIR": simt_run.executable.path + ".runfiles",
        },
        inputs = ctx.files.srcs + ctx.files.hdrs,
        outputs = [program],
        mnemonic = "SimtProgram",
        progress_message = "Compiling %s for the host executor" % ctx.label,
    )
    return [DefaultInfo(
        executable = program,
        runfiles = ctx.runfiles(files = ctx.files.srcs, collect_data = True),
    )]

_ATTRS = {
    "data": attr.label_list(allow_files = True, doc = "Files that the program reads."),
    "defines": attr.string_list(doc = "Macros, NAME or NAME=VALUE."),
    "hdrs": attr.label_list(allow_files = True, doc = "The headers that the sources include."),
    "includes": attr.string_list(doc = "Folders with headers, relative to the package; the workspace's root is one, too."),
    "link_flags": attr.string(doc = "More for the linker, separated by blanks."),
    "srcs": attr.label_list(allow_files = [".cu", ".cpp", ".cc"], mandatory = True, doc = "The sources, as they are."),
    "std": attr.string(default = "c++17", values = ["c++14", "c++17", "c++20"], doc = "The C++ standard."),
    # Of the target's configuration, as it links the program with a library that it carries.
    "_simt_run": attr.label(cfg = "target", default = "//common/executor/run:simt_run", executable = True),
}

# Compiles a CUDA program, main() included, with simt_run. It needs neither CUDA nor a GPU, and reports as simt_run does when it ends.
simt_program = rule(implementation = _impl, attrs = _ATTRS, executable = True)

# Runs such a program with `args` as a test, which fails where the program does and where the host executor finds something.
simt_program_test = rule(implementation = _impl, attrs = _ATTRS, test = True)
