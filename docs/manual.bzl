"""The reference manual, made by Doxygen: see manual.md."""

def _manual_impl(ctx):
    files = ctx.actions.declare_file(ctx.label.name + "_files.txt")
    ctx.actions.write(files, "".join([file.path + "\n" for file in ctx.files.srcs]))
    if ctx.attr.format == "html":
        output = ctx.actions.declare_directory(ctx.attr.out)
    else:
        output = ctx.actions.declare_file(ctx.attr.out)
    ctx.actions.run(
        executable = ctx.file._make_manual,
        arguments = [ctx.attr.format, output.path, files.path],
        inputs = ctx.files.srcs + ctx.files._tools + [files],
        outputs = [output],
        mnemonic = "Doxygen",
        progress_message = "Making the reference manual (%s)" % ctx.attr.format,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

manual = rule(
    implementation = _manual_impl,
    attrs = {
        "format": attr.string(values = ["html", "pdf"], mandatory = True),
        "out": attr.string(mandatory = True, doc = "A folder of HTML, or a PDF."),
        "srcs": attr.label_list(allow_files = True, doc = "Headers, pages and the pages' images."),
        "_make_manual": attr.label(default = "//docs:doxygen/make_manual.sh", allow_single_file = True),
        "_tools": attr.label(default = "//docs:manual_tools"),
    },
)
